package lcp

import "math"

// SolveEased solves v = D·p + b + c with c on the normal rows (one number per contact), where c is what a time step adds to
// the velocities for restitution and for giving back penetration, −ε·v_N(before) + … ≤ 0. Contacts on opposite sides of a
// body may ask for velocities that exclude each other: a brush squeezed between both walls of its holder cannot leave both.
// Then no p solves the problem, with friction as soon as two contacts lie in each other's friction cones. b = Wᵀu alone asks for
// nothing of the kind. Without a solution the contacts that press against each other go without their c, first these, then
// all; Eased is their number, and Verified then refers to b + c without it.
func (f *Frictional) SolveEased(d, b, c, mu []float64, state []State, p []float64) FrictionResult {
	n := len(mu)
	switch {
	case n > f.max:
		panic("lcp: Frictional: more contacts than NewFrictional has room for")
	case len(d) != 4*n*n:
		panic("lcp: Frictional: d has not 2n×2n numbers")
	case len(b) != 2*n || len(p) != 2*n || len(state) != n || len(c) != n:
		panic("lcp: Frictional: b, c, state or p is not of the size of mu")
	}
	if n == 0 {
		return FrictionResult{}
	}
	sum := f.sum[:2*n]
	copy(sum, b)
	for i, x := range c {
		sum[2*i] += x
	}
	if !f.start(d, sum, mu, state, p) {
		clear(p)
		return FrictionResult{Status: Failed, Method: BySafe, Residual: math.Inf(1)}
	}
	var r FrictionResult
	for try := 0; ; try++ {
		f.chain(&r)
		if r.Status == Verified || r.Eased == n {
			break
		}
		// the impulses of a clash show who takes part
		low := 0.0
		if r.Clash && try < maxEase {
			low = 1e-3 * f.huge()
		}
		eased := 0
		for i := range n {
			if f.keep[2*i]*f.keep[2*i]*f.dg[2*i] >= low*low*f.sig2 && sum[2*i] != b[2*i] {
				sum[2*i] = b[2*i]
				eased++
			}
		}
		if eased == 0 {
			if low == 0 {
				break
			}
			for i := range n {
				sum[2*i] = b[2*i]
			}
			eased = n - r.Eased
		}
		r.Eased += eased
		for i, x := range p {
			f.keep[i] = x
			f.st[i/2] = state[i/2] & 3
		}
		f.take(d, sum, mu)
	}
	if r.Status != Verified {
		f.safe(&r)
	}
	f.finish(state, p)
	return r
}

// maxEase is the number of times that only those contacts are eased which clash.
const maxEase = 3
