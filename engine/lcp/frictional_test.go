package lcp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"hilrig/engine/numeric"
)

// friction is a problem of two unknowns per contact.
type friction struct {
	d, b, mu []float64
}

// frictionOf makes D = WᵀM⁻¹W and b = Wᵀu + c of w, rows w_N, w_T of every contact, and a diagonal M⁻¹.
func frictionOf(w [][]float64, inv, u, c, mu []float64) friction {
	n2 := len(w)
	p := friction{d: make([]float64, n2*n2), b: make([]float64, n2), mu: mu}
	for i := range n2 {
		for l, x := range w[i] {
			p.b[i] += x * u[l]
		}
		if c != nil {
			p.b[i] += c[i]
		}
		for j := range n2 {
			for l, x := range w[i] {
				p.d[i*n2+j] += x * inv[l] * w[j][l]
			}
		}
	}
	return p
}

// rods draws k contacts of rigid bodies with masses over three decades, each between two bodies or a body and the ground.
func rods(r *rand.Rand, k, bodies int) friction {
	dof := 3 * bodies
	inv, u := make([]float64, dof), normals(r, dof)
	for b := range bodies {
		mass := math.Pow(10, -3*r.Float64())
		l := 0.02 + 0.2*r.Float64()
		inv[3*b], inv[3*b+1], inv[3*b+2] = 1/mass, 1/mass, 12/(mass*l*l)
		u[3*b+1] -= 1
		u[3*b+2] *= 5
	}
	w, mu := make([][]float64, 2*k), make([]float64, k)
	for c := range k {
		mu[c] = 0.1 + 0.9*r.Float64()
		w[2*c], w[2*c+1] = make([]float64, dof), make([]float64, dof)
		a, b := r.IntN(bodies), r.IntN(bodies)
		phi := 2 * math.Pi * r.Float64()
		nx, ny := math.Cos(phi), math.Sin(phi)
		put := func(body int, sign float64) {
			rx, ry := 0.1*r.NormFloat64(), 0.1*r.NormFloat64()
			for e, d := range [2][2]float64{{nx, ny}, {ny, -nx}} {
				to := w[2*c+e][3*body:]
				to[0], to[1], to[2] = sign*d[0], sign*d[1], sign*(rx*d[1]-ry*d[0])
			}
		}
		put(a, 1)
		if b != a {
			put(b, -1)
		}
	}
	return frictionOf(w, inv, u, nil, mu)
}

// misfit is the largest violation of the conditions by p in units of the largest b, with velocities in √D_ii and impulses
// in 1/√D_ii; computed here and not in the package, without any rounding of D·p + b.
func (q friction) misfit(p []float64) float64 {
	n2 := len(q.b)
	scale := func(i int) float64 { return math.Sqrt(max(q.d[i*n2+i], 1e-300)) }
	worst, sigma, most := 0.0, 0.0, 0.0
	v := q.exactly(p)
	if v == nil {
		return math.NaN()
	}
	for i := range n2 {
		sigma = max(sigma, math.Abs(q.b[i])/scale(i))
	}
	for c, mu := range q.mu {
		i := 2 * c
		pn, vn, vt := p[i]*scale(i), v[i]/scale(i), v[i+1]/scale(i+1)
		most = max(most, math.Hypot(pn, p[i+1]*scale(i+1)))
		worst = max(worst, math.Abs(min(vn, pn)))
		// p_T less its projection p_T − v_T onto the cone: v_T, but no more than what is left to either edge
		bound := mu * max(p[i], 0)
		low, high := (p[i+1]-bound)*scale(i+1), (p[i+1]+bound)*scale(i+1)
		worst = max(worst, math.Abs(min(max(vt, low), high)))
		if math.IsNaN(vn + vt + pn + low) {
			return math.NaN()
		}
	}
	if sigma == 0 {
		sigma = 1
	}
	return worst / (sigma + min(1e-4*most, 10*sigma))
}

// exactly is D·p + b, rounded once at the end; nil when a number is not finite.
func (q friction) exactly(p []float64) []float64 {
	n2 := len(q.b)
	v := make([]float64, n2)
	x, y, sum := new(big.Float), new(big.Float), new(big.Float).SetPrec(400)
	for i := range n2 {
		if !numeric.IsFinite(q.b[i]) {
			return nil
		}
		sum.SetFloat64(q.b[i])
		for j, pj := range p {
			if pj == 0 {
				continue
			}
			if !numeric.IsFinite(q.d[i*n2+j] * pj) {
				return nil
			}
			x.SetPrec(106).Mul(y.SetFloat64(q.d[i*n2+j]), new(big.Float).SetFloat64(pj))
			sum.Add(sum, x)
		}
		v[i], _ = sum.Float64()
	}
	return v
}

// inside tells whether every impulse is in its cone to the last bit.
func (q friction) inside(p []float64) bool {
	for c, mu := range q.mu {
		if !(p[2*c] >= 0 && math.Abs(p[2*c+1]) <= mu*p[2*c]) {
			return false
		}
	}
	return true
}

// solved runs the problem and checks that the status is the truth.
func (q friction) solved(t *testing.T, f *Frictional, st []State, p []float64) FrictionResult {
	t.Helper()
	r := f.Solve(q.d, q.b, q.mu, st, p)
	e := q.misfit(p)
	if r.Status == Verified && !(e <= 1.01e-10) {
		t.Errorf("called verified with a misfit of %g: %+v", e, r)
	}
	if !q.inside(p) {
		t.Errorf("impulses outside their cones: %v, %+v", p, r)
	}
	return r
}

func TestFrictionRandomContacts(t *testing.T) {
	for _, k := range []int{1, 2, 3, 5, 8, 12, 20} {
		by := map[FrictionMethod]int{}
		bad, worst := 0, 0.0
		f := NewFrictional(k)
		for i := range 400 {
			r := source(uint64(1000*k + i))
			q := rods(r, k, 1+(2*k+2)/3+r.IntN(2))
			st, p := make([]State, k), make([]float64, 2*k)
			res := q.solved(t, f, st, p)
			by[res.Method]++
			worst = max(worst, res.Residual)
			if res.Status != Verified {
				bad++
			}
		}
		t.Logf("%d contacts: %v, largest residual %.1e, %d not verified", k, by, worst, bad)
		if bad > 0 {
			t.Errorf("%d contacts: %d of 400 not verified", k, bad)
		}
	}
}

func BenchmarkFrictionWarm(b *testing.B) {
	for _, k := range []int{1, 2, 5, 6, 14} {
		b.Run(string(rune('0'+k/10))+string(rune('0'+k%10)), func(b *testing.B) {
			q := rods(source(7), k, 1+(2*k+2)/3)
			f, st, p := NewFrictional(k), make([]State, k), make([]float64, 2*k)
			f.Solve(q.d, q.b, q.mu, st, p)
			b.ReportAllocs()
			for b.Loop() {
				f.Solve(q.d, q.b, q.mu, st, p)
			}
		})
	}
}
