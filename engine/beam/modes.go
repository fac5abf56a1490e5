package beam

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Modes are the lowest natural modes of a beam, the first k. With q ≈ Σ φ_i·η_i each obeys η″ + 2ζω·η′ + ω²·η = φ_iᵀ·P, mass 1.
type Modes struct {
	Omega []float64   // rad/s  rising; 0: a motion without strain
	Zeta  []float64   // damping ratio; 0 where Omega is 0
	Rate  []float64   // 1/s    2ζω = α + β·ω²
	Phi   [][]float64 // mode, free coordinate: φᵀ·M·φ = 1
	rest  []float64   // m/N    N×N, K⁻¹ − Σ φφᵀ/ω²; nil: K has no inverse
	n     int
}

// Frequencies are all natural frequencies (Hz), without damping, rising.
func (b *Beam) Frequencies() ([]float64, error) {
	m, err := b.Modes(b.N)
	if err != nil {
		return nil, err
	}
	f := make([]float64, b.N)
	for i, w := range m.Omega {
		f[i] = w / (2 * math.Pi)
	}
	return f, nil
}

// Modes solves K·φ = ω²·M·φ; for set-up, it allocates. A slow motion of a beam without hold counts as one without strain when ω² is
// below rounding, 1e-12 of the largest.
func (b *Beam) Modes(k int) (*Modes, error) {
	n := b.N
	if k < 1 || k > n {
		return nil, fmt.Errorf("beam: %d modes of a beam with %d coordinates, want 1 to %d", k, n, n)
	}
	// with M = L·Lᵀ and y = Lᵀ·φ: L⁻¹·K·L⁻ᵀ·y = ω²·y
	dense := func(m *Band) *mat.SymDense {
		s := mat.NewSymDense(n, nil)
		for r := range n {
			for c := max(0, r-width); c <= r; c++ {
				s.SetSym(c, r, m.At(r, c))
			}
		}
		return s
	}
	var chol mat.Cholesky
	if !chol.Factorize(dense(&b.M)) {
		return nil, fmt.Errorf("beam: the mass matrix is not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var li mat.Dense
	if err := li.Inverse(&l); err != nil {
		return nil, fmt.Errorf("beam: mass matrix: %w", err)
	}
	var a, lk mat.Dense
	lk.Mul(&li, dense(&b.K))
	a.Mul(&lk, li.T())
	sym := mat.NewSymDense(n, nil)
	for r := range n {
		for c := range r + 1 {
			sym.SetSym(c, r, (a.At(r, c)+a.At(c, r))/2)
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(sym, true) {
		return nil, fmt.Errorf("beam: the eigenvalues of %d coordinates did not converge", n)
	}
	values := eig.Values(nil)
	var vec, phi mat.Dense
	eig.VectorsTo(&vec)
	phi.Mul(li.T(), &vec)

	m := &Modes{n: n}
	for i := range k {
		w2 := values[i]
		if w2 < 1e-12*values[n-1] {
			w2 = 0
		}
		w := math.Sqrt(w2)
		rate := b.p.Damping.Mass + b.p.Damping.Stiffness*w2
		var zeta float64
		if w > 0 {
			zeta = rate / (2 * w)
		}
		m.Omega, m.Zeta, m.Rate = append(m.Omega, w), append(m.Zeta, zeta), append(m.Rate, rate)
		m.Phi = append(m.Phi, mat.Col(nil, i, &phi))
	}
	if b.firm {
		m.rest = make([]float64, n*n)
		col := make([]float64, n)
		for c := range n {
			clear(col)
			col[c] = 1
			b.stiffnessFactor.Solve(col)
			for r := range n {
				m.rest[r*n+c] = col[r]
				for i, w := range m.Omega {
					m.rest[r*n+c] -= m.Phi[i][r] * m.Phi[i][c] / (w * w)
				}
			}
		}
	}
	return m, nil
}

// At writes φ_i at a point to phi: the force on mode i of a unit force there, and its share of the deflection there.
func (m *Modes) At(p *Place, phi []float64) {
	for i := range m.Phi {
		phi[i] = p.Of(&p.N, m.Phi[i])
	}
}

// Correction is what the modes that are left out add to the deflection at a point for a unit force at another (m/N), taken as
// static: with it a slow load deflects the reduced beam as much as the whole one. False: the supports do not hold the beam.
func (m *Modes) Correction(at, load *Place) (float64, bool) {
	if m.rest == nil {
		return 0, false
	}
	sum := 0.0
	for r, i := range at.I {
		for c, j := range load.I {
			if i >= 0 && j >= 0 {
				sum += at.N[r] * m.rest[i*m.n+j] * load.N[c]
			}
		}
	}
	return sum, true
}

// Deflection at a point (m) of the modal coordinates eta under a force f (N) at load, static correction included where there is one.
func (m *Modes) Deflection(eta []float64, at, load *Place, f float64) (w float64) {
	for i := range m.Phi {
		w += eta[i] * at.Of(&at.N, m.Phi[i])
	}
	if c, ok := m.Correction(at, load); ok {
		w += c * f
	}
	return w
}

// Fastest is the rate (1/s) at which the stiffest mode swings or, where it is damped more than critically, decays: what bounds the step of
// an explicit method. By power iteration, within a few per cent.
func (b *Beam) Fastest() float64 {
	x, y := make([]float64, b.N), make([]float64, b.N)
	for i := range x {
		x[i] = 1 - 2*float64(i%2) + 0.1*float64(i%3) // the stiffest mode changes its sign from coordinate to coordinate
	}
	mass := NewBand(b.N)
	mass.Sum(1, &b.M, 0, &b.M)
	if !mass.Factor() {
		return math.Inf(1)
	}
	w2 := 0.0
	for range 200 {
		b.K.Mul(x, y)
		mass.Solve(y)
		top := 0.0
		for _, v := range y {
			top = math.Max(top, math.Abs(v))
		}
		if top == 0 {
			return 0
		}
		w2 = b.K.Form(y, y) / b.M.Form(y, y)
		for i := range x {
			x[i] = y[i] / top
		}
	}
	c := (b.p.Damping.Mass + b.p.Damping.Stiffness*w2) / 2
	if c*c > w2 {
		return c + math.Sqrt(c*c-w2)
	}
	return math.Sqrt(w2)
}
