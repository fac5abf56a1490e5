// Package control is the feedback of an axis: a PID with a limited integral. The loop of a rig and a simulated axis ask the
// same one.
package control

import "math"

// PID is a controller: a force from an error. Units are those of a rotary axis; on a linear one read N for N·m, m for rad.
type PID struct {
	Kp       float64 `yaml:"kp" unit:"N·m/rad" want:">=0 <=1e9" doc:"proportional gain"`
	Ki       float64 `yaml:"ki" unit:"N·m/(rad·s)" want:">=0 <=1e9" doc:"integral gain"` // 0: PD
	Kd       float64 `yaml:"kd" unit:"N·m·s/rad|N·m·s" want:">=0 <=1e9" doc:"derivative gain, on the estimated velocity"`
	Limit    float64 `yaml:"limit" auto:"to be given" unit:"N·m" want:">=0 <=1e9" doc:"largest torque or force asked for"` // 0: no limit
	DeadZone float64 `yaml:"dead_zone" unit:"rad" want:">=0" doc:"the integral rests inside it (no hunting)"`
}

// Growth is the rate (N·m/s) at which the integral grows under the error e (rad).
func (p *PID) Growth(e float64) float64 {
	if p.Ki > 0 && math.Abs(e) > p.DeadZone {
		return p.Ki * e
	}
	return 0
}

// Clamp holds a torque (N·m) within ±Limit.
func (p *PID) Clamp(u float64) float64 {
	if p.Limit > 0 {
		return min(p.Limit, max(-p.Limit, u))
	}
	return u
}

// Loop is a sampled PID with its integral (N·m), which never asks for more than the limit alone.
type Loop struct {
	PID
	Integral float64
}

// Reset empties the integral.
func (l *Loop) Reset() { l.Integral = 0 }

// Step takes the error e (rad) and its rate de (rad/s) of a sample dt (s) after the one before, and returns the torque (N·m),
// which may lie beyond the limit.
func (l *Loop) Step(e, de, dt float64) float64 {
	l.Integral = l.Clamp(l.Integral + l.Growth(e)*dt)
	return l.Kp*e + l.Integral + l.Kd*de
}
