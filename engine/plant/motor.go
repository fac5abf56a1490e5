// Package plant holds ready-made plants as engine.Systems, the sensors through which a controller sees them, and the script that
// disturbs both.
//
// A Plant has axes. Each has a drive, a friction law and what else acts on it alone; a Kind says how they hang together. For one
// axis on a voltage drive, a brushed motor with its load,
//
//	L·di/dt = u − R·i − K·ω − drop·tanh(i/i0)
//	J·dω/dt = K·i − F(ω, z) − cogging·sin(N·θ) − gravity·sin θ − load
//	C·dT/dt = losses − (T − Tamb)/Rth,   R = R20·(1 + α·(T − T20)),   F ∝ 1 + αf·(T − T20)
//
// F is any law of package friction, those with a stick mode included. Friction and load oppose positive motion. Torques are in
// N·m, angles in rad, temperatures in °C (only differences enter the equations); a linear axis has N and m. The other drives are
// said at Drive, end stops at Stops, the arm at TwoLink.
//
// Drive and mechanics are advanced together by one implicit midpoint step: the mean current ī and the mean speed w of the step
// are found so that both equations hold for the means. The scheme is second order, unconditionally stable in the current however
// small L/R is, and keeps the energy balance of every step exactly:
//
//	u·ī·h = R·ī²·h + drop·tanh(ī/i0)·ī·h + Δ(½Li²) + Δ(½Jω²) + F̄·w·h + load·w·h + Δ(potential of cogging, gravity and stops).
//
// Assumed: the command is constant within a step, the temperature changes little in it, winding and bearing share one
// temperature, and shafts and links are rigid.
package plant

import (
	"errors"
	"fmt"
	"math"
)

// Motor is what a controller knows about a brushed motor.
type Motor struct {
	R         float64 `yaml:"R" unit:"ohm" want:">0 <=10000" doc:"armature resistance"`
	L         float64 `yaml:"L" unit:"H" want:">0 <=10" doc:"armature inductance"`
	K         float64 `yaml:"K" unit:"N·m/A|V·s/rad" want:">0 <=100" doc:"torque and back-emf constant"`
	BrushDrop float64 `yaml:"brush_drop" unit:"V" want:">=0 <=10" doc:"voltage drop of both brushes"`
	DropScale float64 `yaml:"drop_current" unit:"A" want:">=0 <=100" doc:"current at which the brush drop is 76 % developed"`
	J         float64 `yaml:"J" unit:"kg·m²|N·m·s²/rad" want:">0 <=1000" doc:"inertia of rotor and load"`
}

// Voltage is the static inverse of the motor: the voltage (V) that holds the torque tau (N·m) at the speed omega (rad/s),
// u = R·τ/K + K·ω + drop·tanh(τ/(K·i0)).
func (m *Motor) Voltage(tau, omega float64) float64 {
	i := tau / m.K
	return m.R*i + m.K*omega + m.Drop(i)
}

// Drop is the voltage across the brushes (V) at the current i (A).
func (m *Motor) Drop(i float64) float64 {
	if m.BrushDrop == 0 {
		return 0
	}
	return m.BrushDrop * math.Tanh(i/m.DropScale)
}

// Validate reports every number outside its range at once.
func (m *Motor) Validate() error {
	var errs []error
	want := func(ok bool, name string, v float64, unit, rule string) {
		if !ok || math.IsInf(v, 0) {
			errs = append(errs, fmt.Errorf("motor: %s: %g %s, want %s", name, v, unit, rule))
		}
	}
	want(m.R > 0, "R", m.R, "Ω", "> 0")
	want(m.L > 0, "L", m.L, "H", "> 0")
	want(m.K > 0, "K", m.K, "N·m/A", "> 0")
	want(m.BrushDrop >= 0, "brush drop", m.BrushDrop, "V", "≥ 0")
	want(m.BrushDrop == 0 || m.DropScale > 0, "drop current", m.DropScale, "A", "> 0")
	want(m.J > 0, "J", m.J, "kg·m²", "> 0")
	return errors.Join(errs...)
}

// meanCurrent solves (2L/h + r)·x + drop·tanh(x/i0) = b for the mean current x (A) of a midpoint step. It also returns the
// derivative of x with respect to b. For b > 0 the left-hand side is increasing and concave, so Newton's method started
// below the root climbs to it without overshoot; three to five steps reach the last digit.
func (m *Motor) meanCurrent(h, r, b float64) (x, dx float64) {
	a := 2*m.L/h + r
	if m.BrushDrop == 0 {
		return b / a, 1 / a
	}
	c := math.Abs(b)
	slope := m.BrushDrop / m.DropScale
	x = max((c-m.BrushDrop)/a, c/(a+slope)) // tanh y ≤ 1 and tanh y ≤ y: both lie below the root
	for range 20 {
		t := math.Tanh(x / m.DropScale)
		da := a + slope*(1-t*t)
		step := (c - a*x - m.BrushDrop*t) / da
		x += step
		dx = 1 / da
		if !(step > 1e-10*x) {
			break
		}
	}
	return math.Copysign(x, b), dx
}
