package contact

import "hilrig/engine/lcp"

// side is what is known of the force along the tangent of a contact before it is solved for.
type side = lcp.Side

const (
	either   = lcp.Either
	forward  = lcp.Forward
	backward = lcp.Backward
	atLeast  = lcp.AtLeast
	atMost   = lcp.AtMost
)

// corner is the problem of unilateral contacts with Coulomb friction, for forces and accelerations as well
// as for impulses and velocities: with the normal parts P_N = base + x_N,
//
//	v = G·P + b,   0 ≤ x_N ⊥ v_N ≥ 0,   lower ≤ P_T ≤ upper,   v_T ≥ 0 at lower, ≤ 0 at upper, 0 between
//
// where the bounds of each contact are those of its side. G is WᵀM⁻¹W, row-major 2n×2n, in the order N0, T0, N1, T1, …
//
// lcp.Frictional solves it in these unknowns. Contacts that slide one way may have no solution, or one that its path does not come to.
// Where it finds none the problem is written as a linear complementarity problem, for which lcp.Solver decides whether there is one. The
// law along the tangent is then made of halves. Each has a force s ≥ 0 that grows from one bound until its slack towards the
// other is used up, after which the relative motion k ≥ 0 takes over:
//
//	σ·v_T + k ≥ 0 ⊥ s ≥ 0,   room − s ≥ 0 ⊥ k ≥ 0
//
// A contact that may stick has one half from the lower bound, P_T = s − μ·P_N with room 2μ·P_N: n_N + 2·n_H unknowns x = (x_N, s, k), after
// [SNB06] (14) and [PG96], with blocks of our own.
type corner struct {
	n       int       // contacts, at most that of newCorner
	mu      []float64 // as for the solution
	base, r []float64
	side    []side

	general int // problems that lcp.Frictional did not solve

	fric   *lcp.Frictional
	bound  []lcp.Bound
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
	n := 3 * contacts
	return &corner{
		mu: f(contacts), base: f(contacts), r: f(contacts), side: make([]side, contacts),
		fric: lcp.NewFrictional(contacts), bound: make([]lcp.Bound, contacts),
		solver: lcp.NewSolver(n), half: make([]half, 0, contacts), a: f(n * n), q: f(n), x: f(n),
		p0: f(2 * contacts), slope: f(contacts),
	}
}

// solve fills p with P. n, mu, base, r and side have been set.
func (c *corner) solve(g, b, p []float64) lcp.Result {
	for i := range c.n {
		c.bound[i] = lcp.Bound{Side: c.side[i], Base: c.base[i], R: c.r[i]}
	}
	r := c.fric.SolveBounded(g, b, c.mu[:c.n], c.bound[:c.n], p)
	res := lcp.Result{Status: lcp.Solved, Pivots: r.Pivots, Residual: r.Residual}
	switch r.Status {
	case lcp.Failed:
		res.Status = lcp.Numeric
	case lcp.Degraded:
		c.general++
		n := c.assemble(g, b)
		res = c.solver.Solve(c.a[:n*n], c.q[:n], c.x[:n])
		res.Pivots += r.Pivots
		c.forces(p)
	}
	return res
}

// assemble fills a and q, and returns the number of unknowns.
func (c *corner) assemble(g, b []float64) int {
	n, w := c.n, 2*c.n
	c.halves()
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

// halves lists the halves and fills p0 and slope.
func (c *corner) halves() {
	c.half = c.half[:0]
	for i, mu := range c.mu[:c.n] {
		kind, slope, t0 := c.side[i], -mu, -mu*c.base[i]
		switch {
		case kind == either && mu > 0:
			c.half = append(c.half, half{i, 1, 2 * mu, 0})
		case kind == backward:
			slope, t0 = mu, mu*c.base[i]
		case kind == atLeast:
			slope, t0 = 0, c.r[i]
			c.half = append(c.half, half{i, 1, mu, -c.r[i]})
		case kind == atMost:
			slope, t0 = 0, c.r[i]
			c.half = append(c.half, half{i, -1, mu, c.r[i]})
		}
		c.p0[2*i], c.p0[2*i+1], c.slope[i] = c.base[i], t0, slope
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
