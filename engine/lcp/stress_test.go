package lcp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// problem of a test, with what is known about it beforehand.
type problem struct {
	name string
	n    int
	m, q []float64
}

func (p problem) String() string { return fmt.Sprintf("%s n=%d\nM=%v\nq=%v", p.name, p.n, p.m, p.q) }

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }

// relative natural residual, computed here and not in the package
func natural(p problem, z []float64) float64 {
	worst, big := 0.0, 0.0
	for i, w := range p.q {
		big = max(big, math.Abs(w))
		for j, zj := range z {
			w += p.m[i*p.n+j] * zj
		}
		e := math.Abs(min(z[i], w))
		if math.IsNaN(e) {
			return e
		}
		worst = max(worst, e)
	}
	return worst / (1 + big)
}

// proves tells whether u ≥ 0, Mᵀu ≤ 0 within rounding, qᵀu < 0.
func proves(p problem, u []float64) bool {
	if len(u) != p.n {
		return false
	}
	qu := 0.0
	for j := range p.n {
		if u[j] < 0 {
			return false
		}
		v, size := 0.0, 0.0
		for i := range p.n {
			v += p.m[i*p.n+j] * u[i]
			size += math.Abs(p.m[i*p.n+j] * u[i])
		}
		if v > 1e-11*size {
			return false
		}
		qu += p.q[j] * u[j]
	}
	return qu < 0
}

// honest checks that the status is what the numbers say, whatever it is.
func honest(t *testing.T, p problem, s *Solver, r Result, z []float64) {
	t.Helper()
	switch {
	case r.Status.OK():
		if e := natural(p, z); !(e <= 1e-9) {
			t.Errorf("%v: called %v with a residual of %g (%+v)", p, r.Status, e, r)
		}
		for i, v := range z {
			if v < 0 {
				t.Errorf("%v: z[%d] = %g", p, i, v)
			}
		}
	case r.Status == RayInfeasible:
		if !proves(p, s.Certificate()) {
			t.Errorf("%v: certificate %v proves nothing", p, s.Certificate())
		}
	default:
		for i, v := range z {
			if v != 0 {
				t.Errorf("%v: %v, but z[%d] = %g", p, r.Status, i, v)
			}
		}
	}
	if r.NoSolution && (r.Status != RayUnknown || r.Method != Branch) {
		t.Errorf("%v: %+v", p, r)
	}
	if r.Status != RayInfeasible && s.Certificate() != nil {
		t.Errorf("%v: certificate with %v", p, r.Status)
	}
}

func run(t *testing.T, p problem) Result {
	t.Helper()
	s, z := NewSolver(p.n), make([]float64, p.n)
	r := s.Solve(p.m, p.q, z)
	honest(t, p, s, r, z)
	return r
}

// tally runs k problems and counts statuses and methods.
func tally(t *testing.T, k int, draw func(r *rand.Rand) problem) (count map[Status]int) {
	t.Helper()
	count = map[Status]int{}
	by, pivots := map[Method]int{}, 0
	for i := range k {
		r := run(t, draw(source(uint64(i))))
		count[r.Status]++
		by[r.Method]++
		pivots = max(pivots, r.Pivots)
	}
	t.Logf("%d problems: %v by %v, at most %d pivots", k, count, by, pivots)
	return count
}

func normals(r *rand.Rand, k int) []float64 {
	v := make([]float64, k)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// gram is A·Aᵀ of an n×k matrix, of rank min(n, k).
func gram(r *rand.Rand, n, k int) []float64 {
	a, m := normals(r, n*k), make([]float64, n*n)
	for i := range n {
		for j := range n {
			for l := range k {
				m[i*n+j] += a[i*k+l] * a[j*k+l]
			}
		}
	}
	return m
}

// skewed adds B − Bᵀ.
func skewed(r *rand.Rand, n int, m []float64) []float64 {
	for i := range n {
		for j := range i {
			v := r.NormFloat64()
			m[i*n+j] += v
			m[j*n+i] -= v
		}
	}
	return m
}

// feasible q of M: q = w0 − M·z0 with w0, z0 ≥ 0, so that PSD problems are solvable.
func feasibleQ(r *rand.Rand, n int, m []float64) []float64 {
	q, z := make([]float64, n), make([]float64, n)
	for i := range z {
		if r.IntN(2) == 0 {
			z[i] = r.Float64()
		} else {
			q[i] = r.Float64()
		}
	}
	for i := range n {
		for j := range n {
			q[i] -= m[i*n+j] * z[j]
		}
	}
	return q
}

func TestPositiveDefinite(t *testing.T) {
	for _, n := range []int{1, 2, 5, 13, 25, 50, 100, 200} {
		count := tally(t, max(1, 2000/(n*n)+3), func(r *rand.Rand) problem {
			return problem{"P", n, skewed(r, n, gram(r, n, n)), normals(r, n)}
		})
		for st := range count {
			if !st.OK() {
				t.Errorf("n = %d: %v", n, st)
			}
		}
	}
}

func TestSemidefinite(t *testing.T) {
	for _, n := range []int{2, 4, 8, 20, 60, 200} {
		count := tally(t, max(2, 2000/(n*n)+2), func(r *rand.Rand) problem {
			m := gram(r, n, n/2)
			if r.IntN(2) == 0 {
				m = skewed(r, n, gram(r, n, 1))
			}
			return problem{"PSD, feasible", n, m, feasibleQ(r, n, m)}
		})
		for st := range count {
			if !st.OK() {
				t.Errorf("n = %d: %v", n, st)
			}
		}
	}
}

// PSD: infeasible means certificate, feasible means solution; nothing else may come out.
func TestSemidefiniteUnsolvable(t *testing.T) {
	bad := 0
	for _, n := range []int{2, 4, 8, 20, 60, 200} {
		count := tally(t, max(3, 4000/(n*n)), func(r *rand.Rand) problem {
			return problem{"PSD", n, gram(r, n, n/2), normals(r, n)}
		})
		bad += count[RayInfeasible]
		if count[RayUnknown]+count[PivotLimit]+count[Numeric] > 0 {
			t.Errorf("n = %d: %v", n, count)
		}
	}
	if bad == 0 {
		t.Error("none was infeasible")
	}
}

// strictly copositive: positive definite plus non-negative numbers; solvable for every q.
func TestCopositive(t *testing.T) {
	for _, n := range []int{2, 5, 13, 40, 120, 200} {
		count := tally(t, max(3, 4000/(n*n)), func(r *rand.Rand) problem {
			m := skewed(r, n, gram(r, n, n))
			for i := range m {
				m[i] += 3 * r.Float64()
			}
			return problem{"copositive", n, m, normals(r, n)}
		})
		for st := range count {
			if !st.OK() {
				t.Errorf("n = %d: %v", n, st)
			}
		}
	}
}

// Murty's lower triangular and Fathi's symmetric P matrix, q = −1: exponential paths for least-index and some covering vectors.
func TestMurtyFathi(t *testing.T) {
	for _, n := range []int{2, 4, 8, 16, 32, 64, 100, 200} {
		murty, fathi := make([]float64, n*n), make([]float64, n*n)
		q, steep := make([]float64, n), make([]float64, n)
		for i := range n {
			q[i] = -1
			steep[i] = -math.Ldexp(1, min(n-1-i, 40))
			for j := range i {
				murty[i*n+j] = 2
			}
			murty[i*n+i] = 1
		}
		for i := range n {
			for j := range n {
				for k := range n {
					fathi[i*n+j] += murty[i*n+k] * murty[j*n+k]
				}
			}
		}
		upper := make([]float64, n*n)
		for i := range n {
			for j := range n {
				upper[i*n+j] = murty[j*n+i]
			}
		}
		for _, p := range []problem{
			{"Murty", n, murty, q}, {"Murty, transposed", n, upper, q}, {"Fathi", n, fathi, q},
			{"Murty, steep", n, murty, steep}, {"Murty, transposed, steep", n, upper, steep}, {"Fathi, steep", n, fathi, steep},
		} {
			r := run(t, p)
			t.Logf("%s n=%d: %+v", p.name, n, r)
			if !r.Status.OK() {
				t.Errorf("%s n=%d: %+v", p.name, n, r)
			}
		}
	}
}

// contact problem of k contacts, theory n_N + 4n_H: bodies are points and rods with masses over three decades; every contact
// acts on one or two of them. All contacts stick or may stick, w̄ = 0 up to a consistent right side.
func contacts(r *rand.Rand, k int) problem {
	return contactsOn(r, k, 1+(2*k+2)/3+r.IntN(2))
}

func contactsOn(r *rand.Rand, k, bodies int) problem {
	dof := 3 * bodies
	inv := make([]float64, dof)
	h := normals(r, dof)
	for b := range bodies {
		mass := math.Pow(10, -3*r.Float64())
		l := 0.02 + 0.2*r.Float64()
		inv[3*b], inv[3*b+1], inv[3*b+2] = 1/mass, 1/mass, 12/(mass*l*l)
		h[3*b], h[3*b+1] = mass*10*r.NormFloat64(), mass*10*(r.NormFloat64()-1)
		h[3*b+2] = mass * l * 5 * r.NormFloat64()
	}
	wn, wt, mu := make([]float64, k*dof), make([]float64, k*dof), make([]float64, k)
	for c := range k {
		mu[c] = 0.1 + 0.9*r.Float64()
		a, b := r.IntN(bodies), r.IntN(bodies)
		phi := 2 * math.Pi * r.Float64()
		nx, ny := math.Cos(phi), math.Sin(phi)
		put := func(body int, sign float64) {
			rx, ry := 0.1*r.NormFloat64(), 0.1*r.NormFloat64()
			for _, d := range []struct {
				w      []float64
				dx, dy float64
			}{{wn, nx, ny}, {wt, ny, -nx}} {
				w := d.w[c*dof+3*body:]
				w[0], w[1], w[2] = sign*d.dx, sign*d.dy, sign*(rx*d.dy-ry*d.dx)
			}
		}
		put(a, 1)
		if b != a {
			put(b, -1)
		}
	}
	dot := func(a, b []float64, i, j int) (g float64) {
		for l := range dof {
			g += a[i*dof+l] * inv[l] * b[j*dof+l]
		}
		return g
	}
	n := 5 * k
	m, q := make([]float64, n*n), make([]float64, n)
	for i := range k {
		for l := range dof {
			q[i] += wn[i*dof+l] * inv[l] * h[l]
			q[k+i] += wt[i*dof+l] * inv[l] * h[l]
		}
		q[2*k+i] = -q[k+i]
		for j := range k {
			nn, nt, tn, tt := dot(wn, wn, i, j), dot(wn, wt, i, j), dot(wt, wn, i, j), dot(wt, wt, i, j)
			m[i*n+j], m[i*n+k+j], m[i*n+2*k+j] = nn, nt, -nt
			m[(k+i)*n+j], m[(k+i)*n+k+j], m[(k+i)*n+2*k+j] = tn, tt, -tt
			m[(2*k+i)*n+j], m[(2*k+i)*n+k+j], m[(2*k+i)*n+2*k+j] = -tn, -tt, tt
		}
		m[(k+i)*n+3*k+i], m[(2*k+i)*n+4*k+i] = 1, 1
		m[(3*k+i)*n+i], m[(3*k+i)*n+k+i] = mu[i], -1
		m[(4*k+i)*n+i], m[(4*k+i)*n+2*k+i] = mu[i], -1
	}
	return problem{fmt.Sprintf("%d contacts", k), n, m, q}
}

// someSlide is a problem of k contacts of which the last k−h slide already: n_N + 4n_H unknowns with n_N = k, n_H = h. Not
// copositive; with less friction (factor on μ of those that slide) more often solvable.
func someSlide(r *rand.Rand, k, h int, factor float64) problem {
	p := contacts(r, k)
	n := k + 4*h
	m, q := make([]float64, n*n), make([]float64, n)
	row := func(i int) int { // of the large problem
		if i < k {
			return i
		}
		return k + (i-k)/h*k + (i-k)%h
	}
	for i := range n {
		q[i] = p.q[row(i)]
		for j := range n {
			m[i*n+j] = p.m[row(i)*p.n+row(j)]
		}
		for j := h; j < k; j++ {
			mu := factor * p.m[(3*k+j)*p.n+j] * (1 - 2*float64(j%2))
			m[i*n+j] -= mu * p.m[row(i)*p.n+k+j]
		}
	}
	// bounds belong to those that stick
	for i := k + 2*h; i < n; i++ {
		for j := h; j < k; j++ {
			m[i*n+j] = 0
		}
	}
	return problem{fmt.Sprintf("%d contacts, %d stick", k, h), n, m, q}
}

func TestContacts(t *testing.T) {
	for k := 1; k <= 20; k++ {
		count := tally(t, 40, func(r *rand.Rand) problem { return contacts(r, k) })
		for st, c := range count {
			if !st.OK() {
				t.Errorf("%d contacts: %v %d times", k, st, c)
			}
		}
	}
}

// slim is the smaller equivalent of the same problem, theory n_N + 2n_H: x = (λ_N, s, g̈_H⁻), λ_H = s − μ·λ_N. It is not
// copositive.
func slim(p problem) problem {
	k := p.n / 5
	n := 3 * k
	m, q := make([]float64, n*n), make([]float64, n)
	for i := range k {
		q[i], q[k+i] = p.q[i], p.q[k+i]
		for j := range k {
			mu := p.m[(3*k+j)*p.n+j]
			for b := range 2 {
				from := p.m[(b*k+i)*p.n:]
				m[(b*k+i)*n+j], m[(b*k+i)*n+k+j] = from[j]-mu*from[k+j], from[k+j]
			}
		}
		m[(k+i)*n+2*k+i] = 1
		m[(2*k+i)*n+i], m[(2*k+i)*n+k+i] = 2*p.m[(3*k+i)*p.n+i], -1
	}
	return problem{p.name + ", slim", n, m, q}
}

// wedged is a single body, sometimes two, with many contacts: forces are far from unique.
func wedged(r *rand.Rand, k int) problem { return contactsOn(r, k, 1+r.IntN(2)) }

// Accelerations are unique as a rule when forces are not: both forms give the same, w_N and w_H⁺ of the slim form against those of
// the large one, through y_H⁺ − k⁺ = g̈_H.
func TestFormsAgree(t *testing.T) {
	worst, apart := 0.0, 0
	for i := range 400 {
		r := source(uint64(i))
		k := 1 + r.IntN(8)
		p := contacts(r, k)
		b := slim(p)
		zp, zb := make([]float64, p.n), make([]float64, b.n)
		if !NewSolver(p.n).Solve(p.m, p.q, zp).Status.OK() || !NewSolver(b.n).Solve(b.m, b.q, zb).Status.OK() {
			t.Errorf("seed %d: not solved", i)
			continue
		}
		size, diff := 1.0, 0.0
		for c := range 2 * k { // g̈_N, then g̈_H
			gp, gb := p.q[c], p.q[c]
			for j := range k {
				lb := zb[k+j] - p.m[(3*k+j)*p.n+j]*zb[j]
				row := p.m[c*p.n:]
				gp += row[j]*zp[j] + row[k+j]*(zp[k+j]-zp[2*k+j])
				gb += row[j]*zb[j] + row[k+j]*lb
			}
			size = max(size, math.Abs(gp), math.Abs(gb), math.Abs(p.q[c]))
			diff = max(diff, math.Abs(gp-gb))
		}
		if e := diff / size; e > 1e-8 {
			apart++
		} else {
			worst = max(worst, e)
		}
	}
	t.Logf("400 problems: %d with different accelerations, the others differ by %.1g at most", apart, worst)
	if apart > 40 {
		t.Error("too many differ")
	}
}

// trinkle is the form of Stewart and Trinkle with two directions of friction, [ST96] n = 4 per contact: forces along n, ±t, and the
// sliding speed.
func trinkle(p problem) problem {
	k := p.n / 5
	n := 4 * k
	m, q := make([]float64, n*n), make([]float64, n)
	for i := range 3 * k {
		copy(m[i*n:], p.m[i*p.n:i*p.n+3*k])
		q[i] = p.q[i]
	}
	for i := range k {
		m[(k+i)*n+3*k+i], m[(2*k+i)*n+3*k+i] = 1, 1
		m[(3*k+i)*n+i] = p.m[(3*k+i)*p.n+i]
		m[(3*k+i)*n+k+i], m[(3*k+i)*n+2*k+i] = -1, -1
	}
	return problem{p.name + ", Stewart and Trinkle", n, m, q}
}

// The stress set of 400 random contact problems of 1, 2, 5 and 8 contacts, in every form: all of them, nothing less.
func TestFourHundred(t *testing.T) {
	for name, form := range map[string]func(p problem) problem{
		"n_N + 4n_H": func(p problem) problem { return p }, "n_N + 2n_H": slim, "Stewart and Trinkle": trinkle,
	} {
		solved := 0
		for i := range 400 {
			if run(t, form(contacts(source(uint64(i)), []int{1, 2, 5, 8}[i%4]))).Status.OK() {
				solved++
			}
		}
		if solved < 400 {
			t.Errorf("%s: %d of 400", name, solved)
		}
	}
}

// Problems made infeasible, of any size and whatever M is: Mᵀu ≤ 0 and qᵀu < 0 for some u ≥ 0. All must come out with a proof.
func TestMadeInfeasible(t *testing.T) {
	for _, n := range []int{2, 5, 13, 25, 50, 100, 200} {
		count := tally(t, max(3, 2000/(n*n)), func(r *rand.Rand) problem {
			m, q, u := normals(r, n*n), normals(r, n), make([]float64, n)
			last := r.IntN(n)
			for i := range u {
				if u[i] = 0.1 + r.Float64(); i != last && r.IntN(2) == 0 {
					u[i] = 0
				}
			}
			sum := 0.0
			for i, ui := range u {
				sum += ui * q[i]
			}
			q[last] -= (sum + 1) / u[last]
			for j := range n {
				sum := 0.0
				for i, ui := range u {
					sum += ui * m[i*n+j]
				}
				m[last*n+j] -= (sum + r.Float64()) / u[last]
			}
			return problem{"infeasible", n, m, q}
		})
		if len(count) != 1 || count[RayInfeasible] == 0 {
			t.Errorf("n = %d: %v", n, count)
		}
	}
}

// Both forms, and both with redundant contacts.
func TestContactForms(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(r *rand.Rand, k int) problem
	}{{"slim", func(r *rand.Rand, k int) problem { return slim(contacts(r, k)) }},
		{"wedged", wedged},
		{"wedged, slim", func(r *rand.Rand, k int) problem { return slim(wedged(r, k)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := tally(t, 800, func(r *rand.Rand) problem { return c.draw(r, 1+r.IntN(20)) })
			for st, k := range count {
				if !st.OK() {
					t.Errorf("%v %d times", st, k)
				}
			}
		})
	}
}

func TestBimatrix(t *testing.T) {
	for _, k := range []int{1, 2, 3, 5, 10, 30, 100} {
		count := tally(t, max(4, 300/k), func(r *rand.Rand) problem {
			a, b := k, k
			if k > 1 && k < 100 {
				b += r.IntN(3) - 1
			}
			n := a + b
			m, q := make([]float64, n*n), make([]float64, n)
			for i := range q {
				q[i] = -1
			}
			whole := r.IntN(2) == 0 // small whole numbers: many ties
			for i := range a {
				for j := range b {
					x, y := 0.1+r.Float64(), 0.1+r.Float64()
					if whole {
						x, y = float64(1+r.IntN(3)), float64(1+r.IntN(3))
					}
					m[i*n+a+j], m[(a+j)*n+i] = x, y
				}
			}
			return problem{"game", n, m, q}
		})
		for st := range count {
			if !st.OK() {
				t.Errorf("%d strategies: %v", k, st)
			}
		}
	}
}
