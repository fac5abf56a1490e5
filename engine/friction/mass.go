package friction

import (
	"math"

	"hilrig/engine"
)

// Load is everything that acts on a mass besides the friction law.
type Load interface {
	// Mean returns the mean force over the step (N) when the mean velocity of the step is w (m/s), and its derivative
	// with respect to w (N·s/m). A spring k seen from position x gives u − k·(x + h·w/2) and −k·h/2.
	Mean(w float64) (force, slope float64)
}

// MassStep is the result of one step of a mass under friction.
type MassStep struct {
	W      float64 // m/s  mean velocity of the step; Δx = h·W
	V      float64 // m/s  velocity at the end
	Z      float64 // m    bristle deflection at the end
	F      float64 // N    mean friction over the step
	Load   float64 // N    mean force of the load over the step
	Evals  int     // evaluations of the residual
	Status engine.Status
}

const (
	maxEvals = 60   // halving a bracket of any size down to the tolerance takes fewer
	wRel     = 1e-9 // relative tolerance of w; the Newton step is quadratic, so the error left is its square
)

// StepMass advances a mass m (kg) at velocity v (m/s) with bristle deflection z (m) by h (s): the mean-force midpoint.
// It finds the mean velocity w of the step with
//
//	R(w) = 2·m·(w − v)/h − load(w) + F̄(z; Δx = h·w) = 0,
//
// F̄ the exact mean force of StepDx, and continues with v⁺ = 2w − v. The work balance is then exact for any h,
// ½m(v⁺² − v²) = (load − F̄)·Δx, so the sampled system is passive whenever the law is; the order is two. It does not damp
// the bristle mode numerically: far beyond ω0·h = 1, ω0 = √(σ0/m), v alternates with a small amplitude around the w of the
// steps, and w is the number to report.
//
// The root is unique for h < 2m·vs/(0.858·(Fs − Fc)), 0.858/vs being the steepest slope of the Gaussian. Newton's method
// is kept inside a bracket of sign changes, and its number of evaluations is capped: at the cap the best w is used and the
// status is NotConverged. A non-finite input leaves the state as it was, with the status NonFinite.
func (p *LuGre) StepMass(h, m, v, z float64, load Load) MassStep {
	var (
		w      = v
		lo, hi = math.Inf(-1), math.Inf(1)
		reach  = max(math.Abs(v), p.Vs) // first stride when there is no bracket yet
		status = engine.NotConverged
		n      = 0
	)
	for n < maxEvals {
		n++
		u, du := load.Mean(w)
		f, df := p.meanForce(z, w, h)
		r, dr := 2*m*(w-v)/h-u+f, 2*m/h-du+df
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return MassStep{W: v, V: v, Z: z, Evals: n, Status: engine.NonFinite}
		}
		// converged? asked before the bracket: after the last useful step w is itself an end of the bracket
		step := -r / dr
		if r == 0 || dr > 0 && math.Abs(step) <= wRel*(math.Abs(w)+1e-3*p.Vs) {
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
	u, _ := load.Mean(w)
	zn, _, f := p.StepDx(z, h*w, h)
	return MassStep{W: w, V: 2*w - v, Z: zn, F: f, Load: u, Evals: n, Status: status}
}

// meanForce is F̄ of StepDx for Δx = h·w and its derivative with respect to w.
func (p *LuGre) meanForce(z, w, h float64) (f, df float64) {
	r := w / p.Vs
	bell := (p.Fs - p.Fc) * math.Exp(-r*r)
	g := p.Fc + bell
	dg := -2 * r / p.Vs * bell
	s1, ds1 := p.Sigma1, 0.0
	if p.Vd > 0 {
		q := w / p.Vd
		s1 *= math.Exp(-q * q)
		ds1 = -2 * q / p.Vd * s1
	}
	s, dx := 1.0, h*w
	if w < 0 {
		s = -1
	}
	a := p.Sigma0 * math.Abs(dx) / g
	da := h * p.Sigma0 * (s - math.Abs(w)*dg/g) / g
	e, p1, p2 := phi(a)
	d1, d2 := dphi(a, e, p1, p2)

	mean := z*p1 + dx*p2
	dmean := (z*d1+dx*d2)*da + h*p2
	rate := (dx*p1 - z*e) / h
	drate := ((dx*d1-z*(1-e))*da + h*p1) / h
	f = p.Sigma0*mean + s1*rate + p.Sigma2*w + p.Offset
	return f, p.Sigma0*dmean + ds1*rate + s1*drate + p.Sigma2
}
