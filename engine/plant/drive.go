package plant

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// DriveSpec describes a motor with its load.
type DriveSpec struct {
	Motor      Motor
	LoadJ      float64        // kg·m²  added to the motor's inertia
	Friction   friction.LuGre // of all bearings and brushes, at 20 °C
	Cogging    float64        // N·m    amplitude of the cogging torque
	CoggingN   int            // periods per turn
	LoadTorque float64        // N·m    constant, opposing positive motion
	Freewheel  float64        // V      the diodes clamp the winding to this when the drive is off; 0: 24 V
	Thermal    Thermal
}

// Thermal is one lump of heat. Without Capacity the temperature stays at Ambient.
type Thermal struct {
	Resistance float64 // K/W  to ambient
	Capacity   float64 // J/K
	CopperTC   float64 // 1/K  relative change of the resistance
	FrictionTC float64 // 1/K  relative change of friction
	Ambient    float64 // °C
}

const t20 = 20.0 // °C  the parameters of motor and friction belong to this temperature

// State of a MotorDrive, x = [θ | ω | i, z, T].
const (
	Theta       = iota // rad    shaft angle, not wrapped
	Omega              // rad/s  speed
	Current            // A      armature current
	Bristle            // rad    mean bristle deflection
	Temperature        // °C     winding and bearing
	driveStates
)

// MotorDrive is the motor as an engine.System. Inputs u = [voltage V, enable]; with enable = 0 the winding is open and the
// current dies through the freewheeling diodes. Outputs y = [θ, ω, i, friction, T]. Not for concurrent use: it keeps the
// means of its last step.
type MotorDrive struct {
	s    DriveSpec
	j    float64
	last Means

	// the step under way, for Mean
	h, r, u, i0, theta float64
	on                 bool
	prescribed         float64 // A  mean current when the drive is off
	mean               float64 // A  mean current that belongs to the last w
}

// Means are the mean values of the last step, which carry its energy balance.
type Means struct {
	W        float64 // rad/s
	I        float64 // A
	Friction float64 // N·m
	R        float64 // Ω  resistance in force
}

// NewMotorDrive checks the description.
func NewMotorDrive(s DriveSpec) (*MotorDrive, error) {
	errs := []error{s.Motor.Validate(), s.Friction.Validate()}
	th := s.Thermal
	for _, c := range []struct {
		name string
		v    float64
		unit string
	}{
		{"load inertia", s.LoadJ, "kg·m²"}, {"cogging", s.Cogging, "N·m"}, {"cogging periods", float64(s.CoggingN), "per turn"},
		{"freewheel voltage", s.Freewheel, "V"}, {"thermal resistance", th.Resistance, "K/W"}, {"thermal capacity", th.Capacity, "J/K"},
	} {
		if !(c.v >= 0) || math.IsInf(c.v, 0) {
			errs = append(errs, fmt.Errorf("motor drive: %s: %g %s, want ≥ 0", c.name, c.v, c.unit))
		}
	}
	if th.Capacity > 0 && th.Resistance == 0 {
		errs = append(errs, errors.New("motor drive: thermal resistance: 0 K/W with a thermal capacity, want > 0"))
	}
	if bad := s.LoadTorque + th.CopperTC + th.FrictionTC + th.Ambient; math.IsNaN(bad) || math.IsInf(bad, 0) {
		errs = append(errs, errors.New("motor drive: load torque, temperature coefficients and ambient temperature must be finite"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if s.Freewheel == 0 {
		s.Freewheel = 24
	}
	return &MotorDrive{s: s, j: s.Motor.J + s.LoadJ}, nil
}

// NewState is the drive at rest, relaxed, at ambient temperature.
func (d *MotorDrive) NewState() []float64 {
	x := make([]float64, driveStates)
	x[Temperature] = d.s.Thermal.Ambient
	return x
}

// Inertia is the total inertia (kg·m²), rotor and load.
func (d *MotorDrive) Inertia() float64 { return d.j }

// Last returns the means of the last step.
func (d *MotorDrive) Last() Means { return d.last }

// Layout names states, inputs and outputs.
func (d *MotorDrive) Layout() engine.Layout {
	return engine.Layout{
		NQ: 1, NV: 1, NA: 3,
		States: []engine.Signal{{Name: "plant.angle", Unit: "rad"}, {Name: "plant.velocity", Unit: "rad/s"}, {Name: "plant.current", Unit: "A"},
			{Name: "plant.bristle", Unit: "rad"}, {Name: "plant.temperature", Unit: "degC"}},
		Inputs: []engine.Signal{{Name: "plant.voltage", Unit: "V"}, {Name: "plant.enable"}},
		Outputs: []engine.Signal{{Name: "plant.angle", Unit: "rad"}, {Name: "plant.velocity", Unit: "rad/s"}, {Name: "plant.current", Unit: "A"},
			{Name: "plant.friction", Unit: "N·m"}, {Name: "plant.temperature", Unit: "degC"}},
	}
}

// Step advances x by dt (s) with u held. A non-finite input or state leaves x untouched and says so.
func (d *MotorDrive) Step(dt float64, x, u, y []float64) engine.Status {
	s := &d.s
	theta, omega, i, z, temp := x[Theta], x[Omega], x[Current], x[Bristle], x[Temperature]
	if sum := theta + omega + i + z + temp + u[0] + u[1]; !(dt > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		d.outputs(x, y)
		return engine.NonFinite
	}

	// parameters at this temperature
	d.r = s.Motor.R * max(0.1, 1+s.Thermal.CopperTC*(temp-t20))
	law := s.Friction.Scaled(d.warmth(temp))

	// both sides together: the load's Mean solves the electrical side for every trial of the mean speed
	d.h, d.u, d.i0, d.theta, d.on = dt, u[0], i, theta, u[1] != 0
	iEnd := 0.0
	if !d.on {
		d.prescribed, iEnd = d.coast(dt, i, omega)
	}
	r := law.StepMass(dt, d.j, omega, z, d)
	if r.Status == engine.NonFinite {
		d.outputs(x, y)
		return r.Status
	}
	if d.on {
		iEnd = 2*d.mean - i
	}
	d.last = Means{W: r.W, I: d.mean, Friction: r.F, R: d.r}
	x[Theta], x[Omega], x[Current], x[Bristle] = theta+dt*r.W, r.V, iEnd, r.Z
	x[Temperature] = d.warm(dt, temp, d.r*d.mean*d.mean+s.Motor.Drop(d.mean)*d.mean+math.Abs(r.F*r.W))
	d.outputs(x, y)
	return r.Status
}

// Mean is the driving torque of the step (N·m) when its mean speed is w, and its slope: the friction.Load of the shaft.
func (d *MotorDrive) Mean(w float64) (torque, slope float64) {
	m := &d.s.Motor
	if d.on {
		// midpoint of the winding: 2L(ī − i)/h = u − r·ī − K·w − drop(ī)
		var di float64
		d.mean, di = m.meanCurrent(d.h, d.r, d.u+2*m.L/d.h*d.i0-m.K*w)
		slope = -m.K * m.K * di
	} else {
		d.mean = d.prescribed
	}
	torque = m.K*d.mean - d.s.LoadTorque
	if d.s.Cogging > 0 {
		// mean of sin(Nθ) along the step, exactly, so that cogging stores energy and returns all of it
		n := float64(d.s.CoggingN)
		half := 0.5 * n * d.h * w
		sinc := 1 - half*half/6
		if math.Abs(half) > 1e-3 {
			sinc = math.Sin(half) / half
		}
		sin, cos := math.Sincos(n*d.theta + half)
		torque -= d.s.Cogging * sin * sinc
		slope -= d.s.Cogging * cos * sinc * 0.5 * n * d.h
	}
	return torque, slope
}

// coast is the winding with the drive off: the diodes hold −Freewheel against the current until it is zero; from then on
// it stays zero unless the back-emf exceeds the diodes' voltage. It returns the mean and the final current (A) of h
// seconds, exact for constant speed with the brush drop fully developed.
func (d *MotorDrive) coast(h, i, omega float64) (mean, end float64) {
	m := &d.s.Motor
	emf, block := m.K*omega, d.s.Freewheel+m.BrushDrop
	s := math.Copysign(1, i)
	if i == 0 {
		if math.Abs(emf) <= block {
			return 0, 0
		}
		s = -math.Copysign(1, omega)
	}
	tau, i1 := m.L/d.r, -(block+s*emf)/d.r // time constant; final value in the direction of s
	a := s*i - i1
	t := h
	if i1 < 0 {
		t = min(h, tau*math.Log(a/-i1))
	}
	q := -math.Expm1(-t / tau)
	if t == h {
		end = s * (i1 + a*(1-q))
	}
	return s * (i1*t + a*tau*q) / h, end
}

// warmth is the factor of all friction torques at a temperature (°C).
func (d *MotorDrive) warmth(temp float64) float64 {
	return max(0.1, 1+d.s.Thermal.FrictionTC*(temp-t20))
}

// warm is the temperature (°C) after h seconds of constant losses p (W), exactly.
func (d *MotorDrive) warm(h, temp, p float64) float64 {
	th := &d.s.Thermal
	if th.Capacity == 0 {
		return temp
	}
	end := th.Ambient + p*th.Resistance
	return temp + (end-temp)*-math.Expm1(-h/(th.Resistance*th.Capacity))
}

func (d *MotorDrive) outputs(x, y []float64) {
	law := d.s.Friction.Scaled(d.warmth(x[Temperature]))
	y[0], y[1], y[2], y[3], y[4] = x[Theta], x[Omega], x[Current], law.Force(x[Bristle], x[Omega]), x[Temperature]
}
