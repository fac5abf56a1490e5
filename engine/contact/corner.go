package contact

import "hilrig/engine/lcp"

// corner is the problem of unilateral contacts with friction, for forces and accelerations as well as for impulses and velocities, which
// lcp.Frictional solves: v = G·P + b with the bounds of lcp.Bound. G is WᵀM⁻¹W, row-major 2n×2n, in the order N0, T0, N1, T1, …
type corner struct {
	n     int // contacts, at most that of newCorner
	mu    []float64
	bound []lcp.Bound
	fric  *lcp.Frictional
}

func newCorner(contacts int) *corner {
	return &corner{mu: make([]float64, contacts), bound: make([]lcp.Bound, contacts), fric: lcp.NewFrictional(contacts)}
}

// set is Coulomb's law for contact i; one that slides already has a side.
func (c *corner) set(i int, mu float64, side lcp.Side) {
	c.mu[i], c.bound[i] = mu, lcp.Bound{Side: side}
}

// solve fills p with P; false when there is none, or none was found. n and the contacts have been set.
func (c *corner) solve(g, b, p []float64) (res lcp.FrictionResult, ok bool) {
	res = c.fric.SolveBounded(g, b, c.mu[:c.n], c.bound[:c.n], p)
	return res, res.Status == lcp.Verified
}

// sideOf is the side of a contact that slides with v_T of the sign sigma; 0: it may stick.
func sideOf(sigma float64) lcp.Side {
	switch {
	case sigma > 0:
		return lcp.Forward
	case sigma < 0:
		return lcp.Backward
	}
	return lcp.Either
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
