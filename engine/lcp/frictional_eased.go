package lcp

import "math"

// SolveEased solves v = D·p + b + c, where c, in the order of b, is what a time step adds to the velocities for restitution and
// for giving back penetration; nil: nothing. Contacts on opposite sides of a body may then ask for velocities that exclude each
// other: a brush squeezed between both walls of its holder cannot leave both. No p solves such a problem, with friction
// as soon as two contacts lie in each other's friction cones. b = Wᵀu alone asks for nothing of the kind. Without a solution
// the contacts that press against each other go without their c, first these, then all; Eased is their number, and
// Verified then refers to b + c without it.
func (f *Frictional) SolveEased(d, b, c, mu []float64, state []State, p []float64) FrictionResult {
	n := len(mu)
	f.check(n, d, b, p)
	if len(state) != n || c != nil && len(c) != 2*n {
		panic("lcp: Frictional: c or state is not of the size of mu")
	}
	if n == 0 {
		return FrictionResult{}
	}
	sum := b
	if c != nil {
		sum = f.sum[:2*n]
		for i, x := range c {
			sum[i] = b[i] + x
		}
	}
	var r FrictionResult
	for try := range maxEase + 2 {
		if !f.start(d, sum, mu, state, p) {
			clear(p)
			return FrictionResult{Status: Failed, Method: BySafe, Residual: math.Inf(1)}
		}
		f.chain(&r)
		if r.Status == Verified {
			break
		}
		// the impulses of a clash show who takes part
		eased := 0
		if r.Clash && try < maxEase {
			eased = f.ease(b, 1e-3*f.huge())
		}
		if eased == 0 {
			eased = f.ease(b, 0)
		}
		if eased == 0 {
			break
		}
		r.Eased += eased
	}
	if r.Status != Verified {
		f.safe(&r)
	}
	f.finish(&r, state, p)
	return r
}

// maxEase is the number of times that only those contacts are eased which clash.
const maxEase = 3

// ease takes c from the contacts with impulses of at least low (in units of σ/√D_NN) and returns how many had one.
func (f *Frictional) ease(b []float64, low float64) (eased int) {
	for k := 0; k < 2*f.n; k += 2 {
		if f.guessImpulses[k]*f.guessImpulses[k]*f.dg[k] >= low*low*f.sig2 && (f.b[k] != b[k] || f.b[k+1] != b[k+1]) {
			f.b[k], f.b[k+1] = b[k], b[k+1]
			eased++
		}
	}
	return eased
}
