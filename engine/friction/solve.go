package friction

import (
	"math"

	"hilrig/engine"
)

const (
	maxEvals = 60    // a step at a reversal of a stiff contact takes about 30
	wRel     = 1e-9  // tolerance of w
	fRel     = 1e-12 // or of the forces: w = 0 is a solution too
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
// A law that creeps (starter) takes the step with Implicit where inertia has nothing to say: Midpoint would carry every trace
// of velocity from step to step with its sign turned, for ever.
//
// Newton's method starts at w = v and is kept inside a bracket of sign changes; its number of evaluations is capped. The
// step is taken with the last evaluation as it stands: force, deflection and displacement belong to the same w, so the work
// F̄·Δx of the law is exact. The last correction, below the tolerance, goes to the velocity alone: without it a force that
// changes v by less than the tolerance in a step would never be felt.
func (b *Mass) solve(r *MassStep, tau, h float64, x []float64, load Load) {
	v, x0, z := x[1], x[0], x[2:]
	// end of the step or its middle: share of h at which load is taken, weight of the inertia
	scheme, at, inertia := b.scheme, 0.5*h, 2*b.M/h
	if scheme == Implicit {
		at, inertia = h, b.M/h
	}
	var (
		u, dx, dv, f, df float64

		w      = v
		lo, hi = math.Inf(-1), math.Inf(1)
		reach  = max(math.Abs(v), b.stiffness.Speed) // first stride when there is no bracket yet
		last   float64                               // Newton step at the end
		before = math.Inf(1)                         // residual of the evaluation before
		status = engine.NotConverged
		n      = 0
	)
	if b.starter != nil {
		u, dx, dv = load.At(tau+at, x0+at*w, w)
		w = b.starter.start(z, inertia-at*dx-dv, v, u, Input{Dt: h, N: b.N, I: b.I})
		if scheme == Midpoint && b.starter.creeps(w, inertia, b.N) {
			scheme, at, inertia = Implicit, h, b.M/h
			u, dx, dv = load.At(tau+at, x0+at*w, w)
			w = b.starter.start(z, inertia-at*dx-dv, v, u, Input{Dt: h, N: b.N, I: b.I})
		}
	}
	for {
		n++
		u, dx, dv = load.At(tau+at, x0+at*w, w)
		if p := b.lugre; p != nil {
			f, df, b.zn[0] = p.trial(scheme, z[0], Input{Dt: h, V: w, N: b.N})
		} else {
			f, df = b.smoothLaw.Trial(scheme, z, b.zn, Input{Dt: h, V: w, N: b.N, I: b.I})
		}
		res, slope := inertia*(w-v)-u+f, inertia-at*dx-dv+df
		if math.IsNaN(res) || math.IsInf(res, 0) {
			*r = MassStep{W: v, Evals: n, Parts: 1, Status: engine.NonFinite}
			return
		}
		// converged? asked before the bracket: after the last useful step w is itself an end of the bracket
		step := -res / slope
		if slope > 0 && (math.Abs(step) <= wRel*math.Abs(w) || math.Abs(res) <= fRel*(math.Abs(u)+math.Abs(f))) {
			last, status = step, engine.OK
			break
		}
		if n == maxEvals {
			break
		}
		if res > 0 {
			hi = w
		} else {
			lo = w
		}
		// Newton inside the bracket as long as it halves the residual; else zero first, where friction is steepest, then
		// the middle; without a bracket stride out until the sign changes
		next := w + step
		switch {
		case slope > 0 && next > lo && next < hi && math.Abs(res) <= 0.5*before:
		case lo < 0 && hi > 0 && w != 0:
			next = 0
		case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
			next = 0.5 * (lo + hi)
		default:
			next = w - math.Copysign(reach, res)
			reach *= 4
		}
		before = math.Abs(res)
		if next == w { // the bracket has shrunk to neighbouring numbers
			status = engine.OK
			break
		}
		w = next
	}
	//lint:ignore S1001 a law has one or two numbers: the call behind copy would cost more
	for i, q := range b.zn {
		z[i] = q
	}
	x[0] = x0 + h*w
	work := f * h * w
	if scheme == Implicit {
		x[1] = w + last
		if b.scheme == Midpoint { // the balance of Midpoint: what the end of the step does not carry on has gone into friction
			work += 0.5 * b.M * (w - v) * (w - v)
		}
	} else {
		x[1] = 2*(w+last) - v
	}
	r.W, r.F, r.Load, r.Work, r.Evals, r.Parts, r.Status = w, f, u, work, n, 1, status
}
