package axis

import (
	"fmt"
	"math"

	"hilrig/engine/numeric"
)

// Param is a number that may change while the axis runs.
type Param struct {
	Name   string
	Unit   string
	Lo, Hi float64
	Start  float64 // as configured
	take   func(a *Axis, value float64)
}

// Check refuses a value that makes no sense.
func (p *Param) Check(v float64) error {
	if !numeric.Finite(v) || v < p.Lo || v > p.Hi {
		return fmt.Errorf("%s: %g %s, want a number from %g to %g", p.Name, v, p.Unit, p.Lo, p.Hi)
	}
	return nil
}

// Live are the parameters that may change while it runs.
func (s *Spec) Live() (out []Param) {
	add := func(name, linear string, lo, hi, start float64, take func(*Axis, float64)) {
		out = append(out, Param{name, s.unit(linear), lo, hi, start, take})
	}
	inf := math.Inf(1)
	if s.compensates() {
		add("control.kp", "N/m", 0, inf, s.PID.Kp, func(a *Axis, v float64) { a.pid.Kp = v })
		add("control.ki", "N/(m·s)", 0, inf, s.PID.Ki, func(a *Axis, v float64) { a.pid.Ki = v })
		add("control.kd", "N·s/m", 0, inf, s.PID.Kd, func(a *Axis, v float64) { a.pid.Kd = v })
		add("compensation.scale", "", 0, 1, s.Comp.Scale, func(a *Axis, v float64) { a.scale = v })
		add("compensation.gain", "1/s", 0, inf, s.Comp.Gain, func(a *Axis, v float64) { a.injected = v })
	}
	if s.Drive == DriveVelocity && s.Of == OfPosition {
		add("control.gain", "1/s", 0, inf, s.Gain, func(a *Axis, v float64) { a.gain = v })
	}
	if s.driven() {
		add("reference.scale", "", 0, 10, 1, func(a *Axis, v float64) { a.ref.wantScale = v })
		add("reference.offset", s.Of.signals(s.Drive)[0].Unit, math.Inf(-1), inf, 0, func(a *Axis, v float64) { a.ref.wantOffset = v })
	}
	return out
}

// Set takes values of all parameters, in the order of Live, at the edge of a tick. Gains act at once; reference and compensation move
// there smoothly.
func (a *Axis) Set(values []float64) {
	for i := range a.live {
		a.live[i].take(a, values[i])
	}
	a.tune()
}

// tune hands share and gains to the compensation.
func (a *Axis) tune() {
	if a.now.comp != nil {
		a.now.comp.adopt(a.scale, a.injected, a.pid.PID)
	}
}
