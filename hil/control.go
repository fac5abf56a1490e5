package hil

import (
	"math"

	"hilrig/engine/friction"
)

// PIDSpec is the position controller: torque from tracking error.
type PIDSpec struct {
	Kp       float64 // N·m/rad
	Ki       float64 // N·m/(rad·s); 0: PD
	Kd       float64 // N·m·s/rad
	Limit    float64 // N·m  largest torque asked for; 0: no limit
	DeadZone float64 // rad  the integral rests inside it: no hunting around the stick position
}

// pid is the controller with its integral, clamped so that it never asks for more than the limit alone.
type pid struct {
	PIDSpec
	integral float64 // N·m
}

func (p *pid) reset() { p.integral = 0 }

func (p *pid) step(e, de, dt float64) float64 {
	if p.Ki > 0 && math.Abs(e) > p.DeadZone {
		p.integral += p.Ki * e * dt
		if p.Limit > 0 {
			p.integral = min(p.Limit, max(-p.Limit, p.integral))
		}
	}
	return p.Kp*e + p.integral + p.Kd*de
}

// CompKind selects the friction compensation.
type CompKind uint8

const (
	CompNone        CompKind = iota
	CompFeedForward          // LuGre driven by the desired motion: no feedback path, cannot destabilise
	CompObserver             // LuGre observer driven by the estimated motion [C95]
)

// CompSpec is the friction compensation.
type CompSpec struct {
	Kind    CompKind
	Scale   float64 // share of the modelled friction that is compensated, ≤ 1
	Gain    float64 // 1/s  observer: correction of the bristle by the tracking error, per rad
	Inertia bool    // also feed J·α forward
	Ramp    float64 // s  time over which it fades in
}

// compensator turns the friction model into a torque. Its output never exceeds 1.2 times the break-away level plus the
// viscous part (theory §10.7).
type compensator struct {
	CompSpec
	b      bristle
	wanted float64 // scale to go to
	gain   float64 // 1/s
	scale  float64 // present scale
}

func newCompensator(s CompSpec, law friction.LuGre) *compensator {
	return &compensator{CompSpec: s, b: bristle{law: law}, wanted: s.Scale, gain: s.Gain}
}

func (c *compensator) reset() { c.b.z, c.scale = 0, 0 }

// step gives the compensating torque: v estimated and vd desired speed, e tracking error x_d − x.
func (c *compensator) step(v, vd, e, dt float64) float64 {
	if c.Kind == CompNone {
		return 0
	}
	if d := c.wanted - c.scale; c.Ramp > 0 {
		most := dt / c.Ramp
		c.scale += min(most, max(-most, d))
	} else {
		c.scale += d
	}
	if c.Kind == CompFeedForward {
		v = vd
	}
	f := c.b.step(v, dt)
	if c.Kind == CompObserver && c.gain > 0 {
		// ẑ˙ = … − k·(x − x_d) [C95]; e here is x_d − x
		top := c.b.law.Fs / c.b.law.Sigma0
		c.b.z = min(top, max(-top, c.b.z+c.gain*e*dt))
	}
	top := 1.2*c.b.law.Fs + c.b.law.Sigma2*math.Abs(v)
	return c.scale * min(top, max(-top, f))
}

// bristle is a LuGre law with its state, driven by a given motion: the exact step of theory §4.2.
type bristle struct {
	law friction.LuGre
	z   float64
}

// step advances by dt at speed v and returns the mean friction torque over the step.
func (b *bristle) step(v, dt float64) float64 {
	if !finite(v) {
		return 0
	}
	z := [1]float64{b.z}
	f := b.law.Step(z[:], friction.Input{Dt: dt, V: v})
	b.z = z[0]
	return f
}
