package hil

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/estimator"
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

// compensator turns the friction model into a torque.
type compensator struct {
	CompSpec
	obs    *estimator.Observer
	wanted float64 // scale to go to
	scale  float64 // present scale
}

func newCompensator(s CompSpec, law friction.LuGre) (*compensator, error) {
	gain := s.Gain
	if s.Kind != CompObserver {
		gain = 0
	}
	obs, err := estimator.NewObserver(estimator.ObserverSpec{Law: law, Gain: gain})
	if err != nil {
		return nil, err
	}
	return &compensator{CompSpec: s, obs: obs, wanted: s.Scale}, nil
}

func (c *compensator) reset() {
	c.obs.Reset()
	c.scale = 0
}

// step gives the compensating torque: v estimated and vd desired speed, e tracking error x_d − x.
func (c *compensator) step(v, vd, e, dt float64) (torque float64, st engine.Status) {
	if c.Kind == CompNone {
		return 0, engine.OK
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
	f, st := c.obs.Step(dt, v*dt, -e)
	return c.scale * f, st
}
