package contact

import (
	"hilrig/engine/lcp"
	"hilrig/engine/numeric"
)

// side is what is known of the force along the tangent of a contact before it is solved for.
type side uint8

const (
	either   side = iota // −μ·P_N ≤ P_T ≤ μ·P_N: the contact may stick
	forward              // slides with ġ_T > 0: P_T = −μ·P_N
	backward             // slides with ġ_T < 0: P_T = +μ·P_N
	atLeast              // r ≤ P_T ≤ μ·P_N, r > 0
	atMost               // −μ·P_N ≤ P_T ≤ r, r < 0
)

// corner is the complementarity problem of unilateral contacts with Coulomb friction, for forces and accelerations as well
// as for impulses and velocities: with the normal parts P_N = base + x_N,
//
//	v = G·P + b,   0 ≤ x_N ⊥ v_N ≥ 0,   lower ≤ P_T ≤ upper,   v_T ≥ 0 at lower, ≤ 0 at upper, 0 between
//
// where the bounds of each contact are those of its side. G is WᵀM⁻¹W, row-major 2n×2n, in the order N0, T0, N1, T1, …
//
// The law along the tangent is made of halves. Each has a force s ≥ 0 that grows from one bound until its slack towards the
// other is used up, after which the relative motion k ≥ 0 takes over:
//
//	σ·v_T + k ≥ 0 ⊥ s ≥ 0,   room − s ≥ 0 ⊥ k ≥ 0
//
// In the large form a contact that may stick has two halves, P_T = s⁺ − s⁻ with room μ·P_N each: n_N + 4·n_H unknowns
// x = (x_N, s⁺, s⁻, k⁺, k⁻), after [SNB06] (14) and [PG96], with blocks of our own. Without sliding contacts the matrix is
// copositive, since xᵀAx = |M^−½·W·P|² + kᵀμ·x_N, so that Lemke's path finds a solution whenever the surfaces leave one. In the small
// form there is one half from the lower bound, P_T = s − μ·P_N with room 2μ·P_N: n_N + 2·n_H unknowns x = (x_N, s, k); less
// than a third of the work, but not copositive. Both have the same accelerations. Sides atLeast and atMost have one half in
// both forms.
type corner struct {
	n       int       // contacts, at most that of newCorner
	mu      []float64 // as for the solution
	base, r []float64
	side    []side

	small, large int // problems solved by one form and by the other

	solver *lcp.Solver
	half   []half
	a, q   []float64 // y = A·x + q
	x      []float64
	p0     []float64 // P at x = 0
	slope  []float64 // ∂P_T/∂x_N
}

// half is one half of a law along the tangent.
type half struct {
	i     int     // contact
	sigma float64 // ∂P_T/∂s
	room  float64 // ∂room/∂x_N; at x_N = 0 it is room·base + less
	less  float64
}

func newCorner(contacts int) *corner {
	f := func(k int) []float64 { return make([]float64, k) }
	n := 5 * contacts
	return &corner{
		mu: f(contacts), base: f(contacts), r: f(contacts), side: make([]side, contacts),
		solver: lcp.NewSolver(n), half: make([]half, 0, 2*contacts), a: f(n * n), q: f(n), x: f(n),
		p0: f(2 * contacts), slope: f(contacts),
	}
}

// solve fills p with P. n, mu, base, r and side have been set. Both forms are tried with Lemke's path alone, then with all
// that the solver knows; the status is that of the last one tried.
func (c *corner) solve(g, b, p []float64) lcp.Result {
	var res lcp.Result
	for try := range 4 {
		large := try%2 == 1
		c.solver.Quick = try < 2
		n := c.assemble(g, b, large)
		r := c.solver.Solve(c.a[:n*n], c.q[:n], c.x[:n])
		r.Pivots += res.Pivots
		if res = r; res.Status == lcp.Numeric && try == 0 && !(numeric.AllFinite(g...) && numeric.AllFinite(b...)) {
			break
		}
		if res.Status.OK() {
			if large {
				c.large++
			} else {
				c.small++
			}
			break
		}
	}
	c.forces(p)
	return res
}

// assemble fills a and q, and returns the number of unknowns.
func (c *corner) assemble(g, b []float64, large bool) int {
	n, w := c.n, 2*c.n
	c.halves(large)
	nh := len(c.half)
	size := n + 2*nh
	a, q := c.a[:size*size], c.q[:size]
	clear(a)
	// rows of motion: ġ_N, then ġ_T of every half
	for row := range n + nh {
		at, sigma := 2*row, 1.0
		if row >= n {
			h := c.half[row-n]
			at, sigma = 2*h.i+1, h.sigma
		}
		gr, to, v := g[at*w:at*w+w], a[row*size:row*size+size], b[at]
		for j, pj := range c.p0[:w] {
			v += gr[j] * pj
		}
		for j := range n {
			to[j] = sigma * (gr[2*j] + c.slope[j]*gr[2*j+1])
		}
		for k, h := range c.half {
			to[n+k] = sigma * h.sigma * gr[2*h.i+1]
		}
		q[row] = sigma * v
		if row >= n {
			to[row+nh] = 1
		}
	}
	// rows of room
	for k, h := range c.half {
		row := n + nh + k
		a[row*size+h.i], a[row*size+n+k] = h.room, -1
		q[row] = max(h.room*c.base[h.i]+h.less, 0)
	}
	return size
}

// halves lists the halves, those with σ = +1 first, and fills p0 and slope.
func (c *corner) halves(large bool) {
	c.half = c.half[:0]
	for pass := range 2 {
		for i := range c.n {
			mu, kind := c.mu[i], c.side[i]
			if kind == either && mu == 0 {
				kind = forward
			}
			plus := pass == 0
			if plus {
				t0, slope := 0.0, 0.0
				switch {
				case kind == forward || kind == either && !large:
					t0, slope = -mu*c.base[i], -mu
				case kind == backward:
					t0, slope = mu*c.base[i], mu
				case kind >= atLeast:
					t0 = c.r[i]
				}
				c.p0[2*i], c.p0[2*i+1], c.slope[i] = c.base[i], t0, slope
			}
			switch {
			case kind == either && !large && plus:
				c.half = append(c.half, half{i, 1, 2 * mu, 0})
			case kind == either && large && plus:
				c.half = append(c.half, half{i, 1, mu, 0})
			case kind == either && large:
				c.half = append(c.half, half{i, -1, mu, 0})
			case kind == atLeast && plus:
				c.half = append(c.half, half{i, 1, mu, -c.r[i]})
			case kind == atMost && !plus:
				c.half = append(c.half, half{i, -1, mu, c.r[i]})
			}
		}
	}
}

// forces makes P of x. Rounding must not put a force outside the cone of friction.
func (c *corner) forces(p []float64) {
	n := c.n
	for i := range n {
		p[2*i] = c.base[i] + c.x[i]
		p[2*i+1] = c.p0[2*i+1] + c.slope[i]*c.x[i]
	}
	for k, h := range c.half {
		p[2*h.i+1] += h.sigma * c.x[n+k]
	}
	for i := range n {
		top := c.mu[i] * p[2*i]
		p[2*i+1] = min(max(p[2*i+1], -top), top)
	}
}

// product fills v = G·p + b.
func product(g, p, b, v []float64) {
	w := len(b)
	for i, s := range b {
		for j, gij := range g[i*w : i*w+w] {
			s += gij * p[j]
		}
		v[i] = s
	}
}
