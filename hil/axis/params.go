package axis

import (
	"fmt"
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
)

// Param is a number that may change while the axis runs.
type Param struct {
	Name   string
	Unit   string
	Lo, Hi float64
	Start  float64 // as configured
	// Additive: a change by a factor says nothing of it: an offset, a share
	Additive bool
	apply    func(a *Axis, value float64)
}

// Check refuses a value that makes no sense.
func (p *Param) Check(v float64) error {
	if !numeric.IsFinite(v) || v < p.Lo || v > p.Hi {
		return fmt.Errorf("%s: %g %s, want a number from %g to %g", p.Name, v, p.Unit, p.Lo, p.Hi)
	}
	return nil
}

// LiveParams are the parameters that may change while it runs.
func (s *Spec) LiveParams() (out []Param) {
	add := func(name, linear string, lo, hi, start float64, take func(*Axis, float64)) {
		out = append(out, Param{Name: name, Unit: s.unit(linear), Lo: lo, Hi: hi, Start: start, apply: take})
	}
	inf := math.Inf(1)
	if s.compensates() {
		add("control.kp", "N/m", 0, inf, s.PID.Kp, func(a *Axis, v float64) { a.gains[gKp] = v })
		add("control.ki", "N/(m·s)", 0, inf, s.PID.Ki, func(a *Axis, v float64) { a.gains[gKi] = v })
		add("control.kd", "N·s/m", 0, inf, s.PID.Kd, func(a *Axis, v float64) { a.gains[gKd] = v })
		add("compensation.scale", "", 0, 1, s.Comp.Scale, func(a *Axis, v float64) { a.scale = v })
		add("compensation.gain", "1/s", 0, inf, s.Comp.Gain, func(a *Axis, v float64) { a.injected = v })
	}
	if s.Drive == plant.VelocityDrive && s.RefKind == OfPosition {
		add("control.gain", "1/s", 0, inf, s.Gain, func(a *Axis, v float64) { a.gains[gGain] = v })
	}
	if s.hasDrive() {
		add("reference.scale", "", 0, 10, 1, func(a *Axis, v float64) { a.ref.wantScale = v })
		add("reference.offset", s.RefKind.signals(s.Drive)[0].Unit, math.Inf(-1), inf, 0, func(a *Axis, v float64) { a.ref.wantOffset = v })
	}
	for i := range out {
		out[i].Additive = out[i].Name == "compensation.scale" || out[i].Name == "reference.offset"
	}
	return out
}

// Gains of the controller, by their place among those that glide.
const (
	gKp = iota
	gKi
	gKd
	gGain // of a velocity drive
	nGains
)

// Set takes values of all parameters, in the order of LiveParams, at the edge of a tick. At rest gains act at once. Under way they glide
// there over the ramp of the compensation, without a jump of their slope, as scale and offset of the reference do over its fade.
func (a *Axis) Set(values []float64, on bool) {
	for i := range a.liveParams {
		a.liveParams[i].apply(a, values[i])
	}
	if a.glides = on && a.s.Comp.Ramp > 0; !a.glides {
		for i := range a.gliding {
			a.gliding[i] = glide{x: a.gains[i]}
		}
	}
	a.tune()
}

// glide moves the gains towards those that are wanted, by a tick of dt (s).
func (a *Axis) glide(dt float64) {
	there := true
	for i := range a.gliding {
		g, want := &a.gliding[i], a.gains[i]
		g.follow(want, 6/a.s.Comp.Ramp, dt)
		if math.Abs(g.x-want) > 1e-9*want {
			there = false
		} else {
			*g = glide{x: want}
		}
	}
	a.glides = !there
	a.tune()
}

// tune hands the present gains to the controller, and gains and share to the compensation.
func (a *Axis) tune() {
	a.pid.Kp, a.pid.Ki, a.pid.Kd, a.gain = a.gliding[gKp].x, a.gliding[gKi].x, a.gliding[gKd].x, a.gliding[gGain].x
	if a.activePath.comp != nil {
		a.activePath.comp.adopt(a.scale, a.injected, a.pid.PID)
	}
}
