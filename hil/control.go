package hil

import "math"

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
