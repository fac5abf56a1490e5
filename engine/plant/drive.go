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
	Friction   friction.Model // of all bearings and brushes, at 20 °C, in N·m and rad
	Cogging    float64        // N·m    amplitude of the cogging torque
	CoggingN   int            // periods per turn
	LoadTorque float64        // N·m    constant, opposing positive motion
	Freewheel  float64        // V      the diodes clamp the winding to this when the drive is off; 0: 24 V
	Thermal    Thermal
}

// Thermal is one lump of heat. Without Capacity the temperature stays at Ambient.
type Thermal struct {
	Resistance float64 `yaml:"resistance" unit:"K/W" want:">0" doc:"winding to ambient"`
	Capacity   float64 `yaml:"capacity" unit:"J/K" want:">0" doc:"heat capacity of the winding"`
	CopperTC   float64 `yaml:"copper_tc" unit:"1/K" doc:"relative change of R per kelvin, 0.0039 for copper"`
	FrictionTC float64 `yaml:"friction_tc" unit:"1/K" doc:"relative change of friction per kelvin"`
	Ambient    float64 `yaml:"-"` // °C
}

const t20 = 20.0 // °C  the parameters of motor and friction belong to this temperature

// State of a MotorDrive, x = [θ | ω | i, T, state of the friction law].
const (
	Theta       = iota // rad    shaft angle, not wrapped
	Omega              // rad/s  speed
	Current            // A      armature current
	Temperature        // °C     winding and bearing
	Contact            //        first number of the friction law
)

// MotorDrive is the motor as an engine.System. Inputs u = [voltage V, enable]; with enable = 0 the winding is open and the
// current dies through the freewheeling diodes. Outputs y = [θ, ω, i, friction, T]. A friction law that asks for the current
// through the contact is told the armature current at the beginning of the step. Not for concurrent use: it keeps the means
// of its last step.
type MotorDrive struct {
	Normal float64 // N·m  normal load times its radius, for laws that ask; 0: their nominal one. May change between steps

	s    DriveSpec
	j    float64
	last Means
	mass *friction.Mass
	xm   []float64     // state of the mass: angle, speed, friction law
	flow friction.Flow // nil: the law has no differential form
	dz   []float64

	// the part of the step under way, for At
	h, tau     float64 // s  length and beginning of the part
	r, u       float64 // Ω, V
	i0         float64 // A  current at the beginning of the part
	theta      float64 // rad  angle there
	warm       float64 // factor of the friction
	on         bool
	prescribed float64 // A  mean current when the drive is off
	w, mean    float64 // rad/s, A  mean speed of the last trial, and the mean current that belongs to it
	charge     float64 // A·s  of the parts before this one
}

// Means are the mean values of the last step, which carry its energy balance.
type Means struct {
	W        float64 // rad/s
	I        float64 // A
	Friction float64 // N·m
	Work     float64 // J  done against friction
	R        float64 // Ω  resistance in force
	Evals    int     // evaluations of the friction law
}

// NewMotorDrive checks the description.
func NewMotorDrive(s DriveSpec) (*MotorDrive, error) {
	if s.Friction == nil {
		return nil, errors.New("motor drive: friction: no law")
	}
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
	d := &MotorDrive{s: s, j: s.Motor.J + s.LoadJ}
	var err error
	if d.mass, err = friction.NewMass(d.j, s.Friction, friction.Midpoint); err != nil {
		return nil, fmt.Errorf("motor drive: %w", err)
	}
	d.xm = d.mass.NewState()
	d.flow, _ = s.Friction.(friction.Flow)
	d.dz = make([]float64, s.Friction.StateDim())
	return d, nil
}

// NewState is the drive at rest, relaxed, at ambient temperature.
func (d *MotorDrive) NewState() []float64 {
	x := make([]float64, Contact+d.s.Friction.StateDim())
	x[Temperature] = d.s.Thermal.Ambient
	d.s.Friction.Reset(x[Contact:])
	return x
}

// Inertia is the total inertia (kg·m²), rotor and load.
func (d *MotorDrive) Inertia() float64 { return d.j }

// Last returns the means of the last step.
func (d *MotorDrive) Last() Means { return d.last }

// Layout names states, inputs and outputs.
func (d *MotorDrive) Layout() engine.Layout {
	states := []engine.Signal{{Name: "plant.angle", Unit: "rad"}, {Name: "plant.velocity", Unit: "rad/s"}, {Name: "plant.current", Unit: "A"},
		{Name: "plant.temperature", Unit: "degC"}}
	for _, s := range d.s.Friction.States() {
		states = append(states, engine.Signal{Name: "plant." + s.Name, Unit: engine.RotaryUnit(s.Unit)})
	}
	return engine.Layout{
		NQ: 1, NV: 1, NA: len(states) - 2,
		States: states,
		Inputs: []engine.Signal{{Name: "plant.voltage", Unit: "V"}, {Name: "plant.enable"}},
		Outputs: []engine.Signal{{Name: "plant.angle", Unit: "rad"}, {Name: "plant.velocity", Unit: "rad/s"}, {Name: "plant.current", Unit: "A"},
			{Name: "plant.friction", Unit: "N·m"}, {Name: "plant.temperature", Unit: "degC"}},
	}
}

// Step advances x by dt (s) with u held. A non-finite input or state leaves x untouched and says so.
func (d *MotorDrive) Step(dt float64, x, u, y []float64) engine.Status {
	s := &d.s
	sum := u[0] + u[1]
	for _, c := range x {
		sum += c
	}
	if !(dt > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		d.outputs(x, y)
		return engine.NonFinite
	}

	// parameters at this temperature; friction scaled by s is the same motion as inertia and torque divided by s
	i, temp := x[Current], x[Temperature]
	d.r = s.Motor.R * max(0.1, 1+s.Thermal.CopperTC*(temp-t20))
	d.warm = d.warmth(temp)
	d.mass.M, d.mass.N, d.mass.I = d.j/d.warm, d.Normal, i

	// both sides together: the load solves the electrical side for every trial of the mean speed
	d.u, d.i0, d.on = u[0], i, u[1] != 0
	d.tau, d.h, d.charge = 0, 0, 0
	iEnd := 0.0
	if !d.on {
		d.prescribed, iEnd = d.coast(dt, i, x[Omega])
	}
	d.xm[0], d.xm[1] = x[Theta], x[Omega]
	copy(d.xm[2:], x[Contact:])
	r := d.mass.Step(dt, d.xm, d)
	if r.Status == engine.NonFinite {
		d.outputs(x, y)
		return r.Status
	}
	d.close(dt, d.xm[0])
	if d.on {
		iEnd = d.i0
	}
	d.last = Means{W: r.W, I: d.charge / dt, Friction: d.warm * r.F, Work: d.warm * r.Work, R: d.r, Evals: r.Evals}
	x[Theta], x[Omega], x[Current] = d.xm[0], d.xm[1], iEnd
	copy(x[Contact:], d.xm[2:])
	x[Temperature] = d.heat(dt, temp, d.r*d.last.I*d.last.I+s.Motor.Drop(d.last.I)*d.last.I+math.Abs(d.last.Work/dt))
	d.outputs(x, y)
	return r.Status
}

// Span begins a part of the step. The part before it, which may have ended early at an event, is closed.
func (d *MotorDrive) Span(tau, h, theta float64) {
	d.close(tau, theta)
	d.tau, d.h, d.theta, d.w = tau, h, theta, math.NaN()
}

// close solves the winding over the part that ends at tau (s after the beginning of the step) and at the angle theta, unless
// the last trial was that motion already, and moves the current on.
func (d *MotorDrive) close(tau, theta float64) {
	h := tau - d.tau
	if !(h > 0) || !(d.h > 0) {
		return
	}
	if w := (theta - d.theta) / h; d.on && (h != d.h || !(math.Abs(w-d.w) <= 1e-9*math.Abs(w))) {
		d.h = h
		d.At(d.tau+h/2, theta-h*w/2, w)
	}
	d.charge += d.mean * h
	if d.on {
		d.i0 = 2*d.mean - d.i0
	}
}

// At is the driving torque (N·m), divided by the warmth of the friction, at tau (s) after the beginning of the step and at the
// angle theta, when the mean speed of the part is w: the friction.Load of the shaft. In the middle of the part it is the mean
// over it, exactly.
func (d *MotorDrive) At(tau, theta, w float64) (torque, dx, slope float64) {
	m := &d.s.Motor
	share := 0.5 // of the part that has passed
	if d.h > 0 {
		share = (tau - d.tau) / d.h
	}
	i := d.prescribed
	if d.on {
		// midpoint of the winding: 2L(ī − i)/h = u − r·ī − K·w − drop(ī); the current of the scheme is a line through i and ī
		var di float64
		d.mean, di = m.meanCurrent(d.h, d.r, d.u+2*m.L/d.h*d.i0-m.K*w)
		i = d.i0 + 2*share*(d.mean-d.i0)
		slope = -m.K * m.K * di * 2 * share
	} else {
		d.mean = d.prescribed
	}
	d.w = w
	torque = m.K*i - d.s.LoadTorque
	if d.s.Cogging > 0 {
		n := float64(d.s.CoggingN)
		sinc := 1.0
		if math.Abs(share-0.5) < 1e-9 {
			// mean of sin(Nθ) along the part, exactly, so that cogging stores energy and returns all of it
			half := n * (theta - d.theta)
			sinc = 1 - half*half/6
			if math.Abs(half) > 1e-3 {
				sinc = math.Sin(half) / half
			}
		}
		sin, cos := math.Sincos(n * theta)
		torque -= d.s.Cogging * sin * sinc
		dx = -d.s.Cogging * cos * sinc * n / d.warm
	}
	return torque / d.warm, dx, slope / d.warm
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

// heat is the temperature (°C) after h seconds of constant losses p (W), exactly.
func (d *MotorDrive) heat(h, temp, p float64) float64 {
	th := &d.s.Thermal
	if th.Capacity == 0 {
		return temp
	}
	end := th.Ambient + p*th.Resistance
	return temp + (end-temp)*-math.Expm1(-h/(th.Resistance*th.Capacity))
}

// outputs writes y. The friction is that of the end of the step where the law can tell it, else the mean of the step.
func (d *MotorDrive) outputs(x, y []float64) {
	f := d.last.Friction
	if d.flow != nil {
		f = d.warmth(x[Temperature]) * d.flow.Flow(x[Contact:], d.dz, friction.Input{V: x[Omega], N: d.Normal, I: x[Current]})
	}
	y[0], y[1], y[2], y[3], y[4] = x[Theta], x[Omega], x[Current], f, x[Temperature]
}
