package engine

import (
	"math"

	"hilrig/engine/numeric"
)

// Implicit is a collocation Runge–Kutta method whose stages are solved by Newton's method: ImplicitMidpoint, RadauIIA3 and
// RadauIIA5. With Z_i = X_i − x the stages satisfy
//
//	Z = h·(A⊗I)·F(x + Z),   x⁺ = x + Σ d_i·Z_i,   dᵀ = bᵀA⁻¹,
//
// and a correction solves (I − h·A⊗J)·ΔZ = −Z + h·(A⊗I)·F(x + Z) with one Jacobian J for all stages [HW96 IV.8]. J comes
// from forward differences at the beginning of the step; when the iteration slows down it is taken again at the mean of
// the stages. The plain s·n system is factored, so the method is meant for small n (some tens).
type Implicit struct {
	Tol float64 // relative to max(|x_i|, the largest |Z_i|); default 1e-12

	n       int
	tab     *tableau
	z, r    []float64 // stages and residual, s·n
	y, f, g []float64 // one stage, its slope, slope of the shifted state
	noise   []float64 // rounding of h·f, below which a correction says nothing
	jac     []float64 // n×n
	lu      LU
}

// tableau holds the coefficients of a collocation method.
type tableau struct {
	c, a, d []float64 // nodes; s×s weights; weights of Z in x⁺
}

var sqrt6 = math.Sqrt(6)

// Coefficients from [HW96] IV.5 (5.3), tables 5.5 and 5.6. The last stage of the Radau methods is the end of the step.
var (
	gauss1 = tableau{c: []float64{0.5}, a: []float64{0.5}, d: []float64{2}}
	radau2 = tableau{
		c: []float64{1.0 / 3, 1},
		a: []float64{
			5.0 / 12, -1.0 / 12,
			3.0 / 4, 1.0 / 4},
		d: []float64{0, 1},
	}
	radau3 = tableau{
		c: []float64{(4 - sqrt6) / 10, (4 + sqrt6) / 10, 1},
		a: []float64{
			(88 - 7*sqrt6) / 360, (296 - 169*sqrt6) / 1800, (-2 + 3*sqrt6) / 225,
			(296 + 169*sqrt6) / 1800, (88 + 7*sqrt6) / 360, (-2 - 3*sqrt6) / 225,
			(16 - sqrt6) / 36, (16 + sqrt6) / 36, 1.0 / 9},
		d: []float64{0, 0, 1},
	}
)

// NewImplicitMidpoint makes x⁺ = x + h·f(t + h/2, (x + x⁺)/2) for n states: second order, A-stable, symplectic, keeps
// quadratic invariants; very stiff components alternate instead of decaying.
func NewImplicitMidpoint(n int) *Implicit { return newImplicit(n, &gauss1) }

// NewRadauIIA3 makes the two-stage Radau IIA method for n states: third order, L-stable.
func NewRadauIIA3(n int) *Implicit { return newImplicit(n, &radau2) }

// NewRadauIIA5 makes the three-stage Radau IIA method for n states: fifth order, L-stable; between second and fifth order
// on very stiff components.
func NewRadauIIA5(n int) *Implicit { return newImplicit(n, &radau3) }

func newImplicit(n int, tab *tableau) *Implicit {
	m := n * len(tab.c)
	v := make([]float64, 2*m+4*n+n*n)
	cut := func(k int) (part []float64) { part, v = v[:k:k], v[k:]; return part }
	return &Implicit{Tol: 1e-12, n: n, tab: tab,
		z: cut(m), r: cut(m), y: cut(n), f: cut(n), g: cut(n), noise: cut(n), jac: cut(n * n), lu: NewLU(m)}
}

const (
	newtonMax   = 30  // corrections in a step
	newtonSlow  = 0.1 // contraction above which J is renewed, if it is not fresh
	newtonStall = 4   // corrections without gain after which rounding has been reached, or nothing helps
)

// Step advances x.
func (s *Implicit) Step(f RHS, t, h float64, x []float64) Status {
	wantLen("Implicit", x, s.y)
	tab, n := s.tab, s.n
	clear(s.z)
	f(t, x, s.f)
	if !numeric.AllFinite(s.f...) || !s.prepare(f, t, h, x, s.f) {
		return NonFinite
	}
	var (
		status = NotConverged
		best   = math.Inf(1)
		last   = math.Inf(1)
		stall  = 0
		age    = 0 // corrections with this Jacobian
	)
	for range newtonMax {
		if !s.residual(f, t, h, x) {
			return NonFinite
		}
		s.lu.Solve(s.r)
		size := s.correct(x)
		if !numeric.Finite(size) {
			return NonFinite
		}
		if size <= s.Tol {
			status = OK
			break
		}
		age++
		// no gain for a while: rounding of f is reached if the corrections are small already
		if size < 0.5*best {
			best, stall = size, 0
		} else if stall++; stall >= newtonStall {
			if best <= 1e3*s.Tol {
				status = OK
			}
			break
		}
		if size > newtonSlow*last && age > 1 {
			// mean of the stages, the best single place for J
			for j := range n {
				s.y[j] = x[j]
				for i := range tab.c {
					s.y[j] += s.z[i*n+j] / float64(len(tab.c))
				}
			}
			f(t+h/2, s.y, s.f)
			if !numeric.AllFinite(s.f...) || !s.prepare(f, t+h/2, h, s.y, s.f) {
				return NonFinite
			}
			age = 0
		}
		last = size
	}
	for j := range n {
		s.y[j] = x[j]
		for i, d := range tab.d {
			s.y[j] += d * s.z[i*n+j]
		}
	}
	if !numeric.AllFinite(s.y...) {
		return NonFinite
	}
	copy(x, s.y)
	return status
}

// residual puts −Z + h·(A⊗I)·F(x+Z) into r.
func (s *Implicit) residual(f RHS, t, h float64, x []float64) bool {
	n, st := s.n, len(s.tab.c)
	for i := range s.r {
		s.r[i] = -s.z[i]
	}
	for k, c := range s.tab.c {
		for j := range n {
			s.y[j] = x[j] + s.z[k*n+j]
		}
		f(t+c*h, s.y, s.f)
		if !numeric.AllFinite(s.f...) {
			return false
		}
		for i := range st {
			w := h * s.tab.a[i*st+k]
			for j, fj := range s.f {
				s.r[i*n+j] += w * fj
			}
		}
	}
	return true
}

// correct adds the correction in r to the stages and returns its largest size relative to the state.
func (s *Implicit) correct(x []float64) (size float64) {
	n := s.n
	for j, xj := range x {
		scale, step := math.Abs(xj), 0.0
		for i := j; i < len(s.z); i += n {
			// the stages before and after: a correction that ends at zero is as large as it gets, not infinite
			scale = max(scale, math.Abs(s.z[i]))
			s.z[i] += s.r[i]
			scale, step = max(scale, math.Abs(s.z[i])), max(step, math.Abs(s.r[i]))
		}
		// a component that is zero up to rounding of its slope is converged
		if step > s.noise[j] {
			size = max(size, step/scale)
		}
	}
	return size
}

// prepare takes the Jacobian by forward differences at (t, x) with the slope f0 there, and factors I − h·A⊗J.
func (s *Implicit) prepare(f RHS, t, h float64, x, f0 []float64) bool {
	n, st := s.n, len(s.tab.c)
	y := s.r[:n] // r is free here
	copy(y, x)
	for j := range n {
		// increment after [HW96] IV.8: √(ε·max(1e-5, |x|))
		d := math.Sqrt(0x1p-52 * max(1e-5, math.Abs(x[j])))
		y[j] = x[j] + d
		d = y[j] - x[j]
		f(t, y, s.g)
		if !numeric.AllFinite(s.g...) { // the domain may end here: look the other way
			y[j] = x[j] - d
			d = y[j] - x[j]
			if f(t, y, s.g); !numeric.AllFinite(s.g...) {
				return false
			}
		}
		for i := range n {
			s.jac[i*n+j] = (s.g[i] - f0[i]) / d
		}
		y[j] = x[j]
	}
	for i := range n {
		s.noise[i] = 0
		for j := range n {
			s.noise[i] += 0x1p-50 * math.Abs(h*s.jac[i*n+j]*x[j])
		}
	}
	m := n * st
	for i := range st {
		for k := range st {
			w := -h * s.tab.a[i*st+k]
			for p := range n {
				row := s.lu.A[(i*n+p)*m+k*n:]
				for q := range n {
					row[q] = w * s.jac[p*n+q]
				}
				if i == k {
					row[p]++
				}
			}
		}
	}
	return s.lu.Factor()
}
