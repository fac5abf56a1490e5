package friction

import (
	"math"

	"hilrig/engine"
)

const (
	maxEvals = 60   // halving a bracket of any size down to the tolerance takes fewer
	wRel     = 1e-9 // relative tolerance of w; the last Newton step is quadratic, so the error left is far smaller
)

// solve finds the mean velocity w of a step of a smooth law (Midpoint), or its velocity at the end (Implicit), from
//
//	Midpoint   R(w) = 2M(w−v)/h − u(t+h/2, x+hw/2, w) + F̄(z; Δx = hw) = 0,   v⁺ = 2w − v
//	Implicit   R(w) =  M(w−v)/h − u(t+h,   x+hw,   w) + F(z⁺(w), w)   = 0,   v⁺ = w
//
// and x⁺ = x + hw. With the exact mean force F̄ the work balance of Midpoint is exact for any h, ½M(v⁺² − v²) = (ū − F̄)·Δx,
// so the sampled system is passive whenever the law is. It does not damp the bristle mode numerically: far beyond
// ω0·h = 1, ω0 = √(K/M), v alternates with a small amplitude around the w of the steps, and w is the number to report.
//
// Newton's method starts at w = v and is kept inside a bracket of sign changes; its number of evaluations is capped.
func (b *Mass) solve(tau, h float64, x []float64, load Load) MassStep {
	v, z := x[1], x[2:]
	// end of the step or its middle: share of h at which load is taken, weight of the inertia
	at, inertia := 0.5, 2*b.M/h
	if b.scheme == Implicit {
		at, inertia = 1, b.M/h
	}
	in := Input{Dt: h, N: b.N, I: b.I}
	var (
		w      = v
		lo, hi = math.Inf(-1), math.Inf(1)
		reach  = max(math.Abs(v), b.stiff.Speed) // first stride when there is no bracket yet
		status = engine.NotConverged
		n      = 0
	)
	for n < maxEvals {
		n++
		u, dx, dv := load.At(tau+at*h, x[0]+at*h*w, w)
		in.V = w
		f, df := b.smooth.Trial(b.scheme, z, b.zn, in)
		r, dr := inertia*(w-v)-u+f, inertia-at*h*dx-dv+df
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return MassStep{W: v, Evals: n, Parts: 1, Status: engine.NonFinite}
		}
		// converged? asked before the bracket: after the last useful step w is itself an end of the bracket
		step := -r / dr
		if r == 0 || dr > 0 && math.Abs(step) <= wRel*(math.Abs(w)+1e-3*b.stiff.Speed) {
			if r != 0 {
				w += step
			}
			status = engine.OK
			break
		}
		if r > 0 {
			hi = w
		} else {
			lo = w
		}
		// Newton inside the bracket, halving otherwise; without a bracket stride out until the sign changes
		next := w + step
		switch {
		case dr > 0 && next > lo && next < hi && n < maxEvals/2:
		case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
			next = 0.5 * (lo + hi)
		default:
			next = w - math.Copysign(reach, r)
			reach *= 4
		}
		if next == w { // the bracket has shrunk to neighbouring numbers
			status = engine.OK
			break
		}
		w = next
	}
	u, _, _ := load.At(tau+at*h, x[0]+at*h*w, w)
	in.V = w
	f, _ := b.smooth.Trial(b.scheme, z, b.zn, in)
	copy(z, b.zn)
	x[0] += h * w
	if b.scheme == Implicit {
		x[1] = w
	} else {
		x[1] = 2*w - v
	}
	return MassStep{W: w, F: f, Load: u, Work: f * h * w, Evals: n, Parts: 1, Status: status}
}
