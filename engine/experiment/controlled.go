package experiment

import (
	"fmt"
	"math"

	"hilrig/engine/control"
	"hilrig/engine/friction"
)

// Control is the controller of a ControlledMass; the input of the experiment is its reference.
type Control struct {
	control.PID
	Speed  bool    // the reference is a velocity: gains act on its error, in N·s/m and N/m; there is no derivative gain
	Period float64 // s  from sample to sample of a controller that holds its force between them; 0: continuous
}

// Check lists what does not make sense with steps of h (s).
func (c *Control) Check(h float64, scheme friction.Scheme) (bad []error) {
	for _, g := range []struct {
		name string
		v    float64
	}{{"kp", c.Kp}, {"ki", c.Ki}, {"kd", c.Kd}, {"limit", c.Limit}, {"dead_zone", c.DeadZone}, {"period", c.Period}} {
		if !(g.v >= 0) || math.IsInf(g.v, 0) {
			bad = append(bad, fmt.Errorf("control.%s: %g, want a finite number ≥ 0", g.name, g.v))
		}
	}
	if c.Kp+c.Ki+c.Kd == 0 {
		bad = append(bad, fmt.Errorf("control: all gains are zero, so nothing moves the mass; want kp, ki or kd"))
	}
	if c.Speed && c.Kd != 0 {
		bad = append(bad, fmt.Errorf("control.kd: %g, want 0: a velocity controller has no derivative gain here; the mass does what it would",
			c.Kd))
	}
	if n := c.Period / h; math.Abs(n-math.Round(n)) > 1e-6 || c.Period > 0 && n < 0.5 {
		bad = append(bad, fmt.Errorf("control.period: %g s is no whole number of steps of %g s", c.Period, h))
	}
	if scheme >= friction.Explicit {
		bad = append(bad, fmt.Errorf("scheme: %v asks for forces half a step before a controller can give them; want midpoint or implicit",
			scheme))
	}
	return bad
}

// error is the error at position x and velocity v under the reference y with the rate dy, and its rate.
func (c *Control) error(y, dy, x, v float64) (e, de float64) {
	if c.Speed {
		return y - v, 0
	}
	return y - x, dy - v
}

// feedback is a controller under way. A continuous one integrates the error over a step by the trapezoidal rule, so that it
// is as exact as the scheme that asks it.
type feedback struct {
	control.Loop           // its integral belongs to the beginning of the step
	period         float64 // s    from sample to sample
	sampleSteps, k int     // steps from sample to sample, 0: continuous; steps begun
	heldForce      float64 // N    force since the last sample
	growth         float64 // N/s  of the integral at the beginning of the step
}

func newFeedback(s *Spec) feedback {
	return feedback{Loop: control.Loop{PID: s.Control.PID}, period: s.Control.Period, sampleSteps: int(math.Round(s.Control.Period / s.Step))}
}

// begin starts a step at the error e with the rate de.
func (f *feedback) begin(e, de float64) {
	if f.sampleSteps == 0 {
		f.growth = f.Growth(e)
		return
	}
	if f.k%f.sampleSteps == 0 {
		f.heldForce = f.Clamp(f.Step(e, de, f.period))
	}
	f.k++
}

// force is the force (N) at tau (s) after the beginning of the step, with its derivatives with respect to e and de.
func (f *feedback) force(tau, e, de float64) (u, ue, ude float64) {
	if f.sampleSteps > 0 {
		return f.heldForce, 0, 0
	}
	i, slope := f.integral(tau, e)
	u = f.Kp*e + i + f.Kd*de
	if top := f.Clamp(u); top != u {
		return top, 0, 0
	}
	return u, f.Kp + slope, f.Kd
}

// integral is the integral (N) at tau, and its derivative with respect to e.
func (f *feedback) integral(tau, e float64) (i, slope float64) {
	g := f.Growth(e)
	i = f.Integral + tau/2*(f.growth+g)
	if top := f.Clamp(i); top != i {
		return top, 0
	}
	if g != 0 {
		slope = tau / 2 * f.Ki
	}
	return i, slope
}

// end closes a step of h (s) at the error e.
func (f *feedback) end(h, e float64) {
	if f.sampleSteps == 0 {
		f.Integral, _ = f.integral(h, e)
	}
}
