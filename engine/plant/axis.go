package plant

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// AxisSpec describes one axis of a plant: what moves, what holds it back, and what drives it. In a linear axis rad reads m, N·m
// reads N and kg·m² reads kg.
type AxisSpec struct {
	Name   string // in front of its signals: "shaft" gives shaft.position; "": plant
	Linear bool   // m and N instead of rad and N·m
	Drive  Drive  // the zero value is a voltage on the motor
	// winding and inertia; of a current drive K alone is needed, and R and L where the supply limits the current
	Motor           Motor
	LoadJ           float64        // kg·m²  added to the motor's inertia
	Friction        friction.Model // of all bearings and brushes, at 20 °C, in N·m and rad
	Cogging         float64        // N·m    amplitude of the cogging torque
	CoggingN        int            // periods per turn (1/(2π rad))
	Gravity         float64        // N·m    largest torque of gravity on a pendulum, −Gravity·sin θ: at θ = 0 it hangs
	Stops           Stops
	LoadTorque      float64    // N·m    constant, opposing positive motion
	Supply          [2]float64 // V      of the drive; both zero: no limit
	Freewheel       float64    // V      the diodes clamp the winding to this when a voltage drive is off; 0: 24 V
	Thermal         Thermal
	ExternalInertia bool // the inertia of what it moves is not here but in a machine around it
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

// State of an Axis, x = [θ | ω | i, T, state of the friction law].
const (
	Theta       = iota // rad    position, not wrapped
	Omega              // rad/s  speed
	Current            // A      current of the drive; of a velocity drive the integral of its error of speed (rad)
	Temperature        // °C     winding and bearing
	Contact            //        first number of the friction law
)

// Outputs of an Axis. All but the friction of a law without differential form belong to the end of the step.
const (
	OutPosition    = iota // rad
	OutVelocity           // rad/s
	OutCurrent            // A     of a drive without a winding its effort divided by K; 0 without K
	OutFriction           // N·m
	OutTemperature        // °C
	OutEffort             // N·m   of the drive
	OutApplied            //       what the drive applied of its command, after its limits, in the unit of the command
	Outputs               //       number of them
)

// Axis is one axis as an engine.System. Inputs u = [command of the drive, enable]; see Drive for what happens with enable = 0. A
// friction law that asks for the current through the contact is told the one at the beginning of the step. Not for concurrent
// use: it keeps the means of its last step.
type Axis struct {
	Normal float64 // N·m  normal load times its radius, for laws that ask; 0: their nominal one. May change between steps

	s         AxisSpec
	supply    [2]float64 // V  in force
	j         float64
	lastMeans Means
	mass      *friction.Mass
	xm        []float64     // state of the mass: position, speed, friction law
	flow      friction.Flow // nil: the law has no differential form
	dz        []float64

	// the part of the step under way, for At
	h, tau         float64 // s  length and beginning of the part
	r, u           float64 // Ω; command within its limits
	i0             float64 // A  state of the drive at the beginning of the part …
	i1             float64 // A  … and at its end, as of the last trial
	theta          float64 // rad  position there
	inertia        float64 // kg·m²  of this step
	couplingTorque float64 // N·m  torque that is held over the step: of the other axes of the plant
	frictionFactor float64 // factor of the friction
	enabled        bool
	coasts         [2]float64 // A  mean and final current of the step when a voltage drive is off
	decay          float64    // of a current loop over the part, e^{−ωh} …
	lag            float64    // … and its mean over the part, (1 − e^{−ωh})/(ωh)
	w              float64    // rad/s  mean speed of the last trial, with what belongs to it:
	mean           float64    // A  mean current
	push           float64    // N·m  mean effort
	charge         float64    // A·s  of the parts before this one
	impulse        float64    // N·m·s
}

// Means are the mean values of the last step, which carry its energy balance.
type Means struct {
	W        float64 // rad/s
	I        float64 // A
	Effort   float64 // N·m  of the drive
	Friction float64 // N·m
	Work     float64 // J  done against friction
	R        float64 // Ω  resistance in force
	Evals    int     // evaluations of the friction law
}

// NewAxis checks the description.
func NewAxis(s AxisSpec) (*Axis, error) {
	if s.Name == "" {
		s.Name = "plant"
	}
	name := "axis " + s.Name
	if s.Friction == nil {
		return nil, fmt.Errorf("%s: friction: no law", name)
	}
	errs := []error{s.Friction.Validate(), s.Drive.validate(name)}
	if s.Drive.Kind == VoltageDrive {
		m := s.Motor
		if s.ExternalInertia {
			m.J = 1
		}
		errs = append(errs, m.Validate())
	}
	th := s.Thermal
	for _, c := range []struct {
		name string
		v    float64
		unit string
	}{
		{"load inertia", s.LoadJ, "kg·m²"}, {"cogging", s.Cogging, "N·m"}, {"cogging periods", float64(s.CoggingN), "per turn"},
		{"gravity", s.Gravity, "N·m"}, {"stiffness of the stops", s.Stops.Stiffness, "N·m/rad"}, {"loss of the stops", s.Stops.Loss, "s/rad"},
		{"freewheel voltage", s.Freewheel, "V"}, {"thermal resistance", th.Resistance, "K/W"}, {"thermal capacity", th.Capacity, "J/K"},
	} {
		if !(c.v >= 0) || math.IsInf(c.v, 0) {
			errs = append(errs, fmt.Errorf("%s: %s: %g %s, want ≥ 0", name, c.name, c.v, c.unit))
		}
	}
	if j := s.Motor.J + s.LoadJ; !(j > 0 || s.ExternalInertia && j == 0) || math.IsInf(j, 0) {
		errs = append(errs, fmt.Errorf("%s: inertia: %g kg·m², want > 0", name, j))
	}
	if th.Capacity > 0 && th.Resistance == 0 {
		errs = append(errs, fmt.Errorf("%s: thermal resistance: 0 K/W with a thermal capacity, want > 0", name))
	}
	if s.Stops.enabled() && !(s.Stops.Travel[0] < s.Stops.Travel[1] && s.Stops.Stiffness > 0) {
		errs = append(errs, fmt.Errorf("%s: end stops: from %g to %g with %g per unit of length, want low < high and a stiffness > 0",
			name, s.Stops.Travel[0], s.Stops.Travel[1], s.Stops.Stiffness))
	}
	if s.Supply == [2]float64{} {
		s.Supply = [2]float64{math.Inf(-1), math.Inf(1)}
	} else if !(s.Supply[0] <= 0 && s.Supply[1] > 0) {
		errs = append(errs, fmt.Errorf("%s: supply: %g to %g V, want low ≤ 0 < high", name, s.Supply[0], s.Supply[1]))
	}
	if bad := s.LoadTorque + th.CopperTC + th.FrictionTC + th.Ambient; math.IsNaN(bad) || math.IsInf(bad, 0) {
		errs = append(errs, fmt.Errorf("%s: load, temperature coefficients and ambient temperature must be finite", name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if s.Freewheel == 0 {
		s.Freewheel = 24
	}
	d := &Axis{s: s, j: s.Motor.J + s.LoadJ, supply: s.Supply}
	var err error
	mass := d.j
	if mass == 0 {
		mass = 1 // until the machine tells
	}
	if d.mass, err = friction.NewMass(mass, s.Friction, friction.Midpoint); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d.xm = d.mass.NewState()
	d.flow, _ = s.Friction.(friction.Flow)
	d.dz = make([]float64, s.Friction.StateDim())
	return d, nil
}

// NewState is the axis at rest, relaxed, at ambient temperature.
func (d *Axis) NewState() []float64 {
	x := make([]float64, d.states())
	x[Temperature] = d.s.Thermal.Ambient
	d.s.Friction.Reset(x[Contact:])
	return x
}

func (d *Axis) states() int { return Contact + d.s.Friction.StateDim() }

// Inertia is the total inertia (kg·m²), rotor and load.
func (d *Axis) Inertia() float64 { return d.j }

// Last returns the means of the last step.
func (d *Axis) Last() Means { return d.lastMeans }

// unit is that of a quantity on this axis, named by its rotary unit.
func (s *AxisSpec) unit(rotary string) string {
	if s.Linear {
		return engine.LinearUnit(rotary)
	}
	return engine.RotaryUnit(rotary)
}

// Outputs are those of the axis, by their numbers.
func (s *AxisSpec) Outputs() []engine.Signal {
	out := make([]engine.Signal, Outputs)
	for i, o := range [Outputs]engine.Signal{{Name: "position", Unit: "rad"}, {Name: "velocity", Unit: "rad/s"}, {Name: "current", Unit: "A"},
		{Name: "friction", Unit: "N·m"},
		{Name: "temperature", Unit: "degC"}, {Name: "effort", Unit: "N·m"}, {Name: "applied", Unit: s.Drive.Kind.Unit()}} {
		out[i] = engine.Signal{Name: s.Name + "." + o.Name, Unit: s.unit(o.Unit)}
	}
	return out
}

// Layout names states, inputs and outputs.
func (d *Axis) Layout() engine.Layout {
	out := d.s.Outputs()
	states := []engine.Signal{out[OutPosition], out[OutVelocity], out[OutCurrent], out[OutTemperature]}
	if d.s.Drive.Kind == VelocityDrive {
		states[Current] = engine.Signal{Name: d.s.Name + ".integral", Unit: d.s.unit("rad")}
	}
	for _, s := range d.s.Friction.States() {
		states = append(states, engine.Signal{Name: d.s.Name + "." + s.Name, Unit: d.s.unit(s.Unit)})
	}
	return engine.Layout{
		NQ: 1, NV: 1, NA: len(states) - 2,
		States:  states,
		Inputs:  []engine.Signal{{Name: d.s.Name + ".command", Unit: out[OutApplied].Unit}, {Name: d.s.Name + ".enable"}},
		Outputs: out,
	}
}

// Step advances x by dt (s) with u held. A non-finite input or state leaves x untouched and says so.
func (d *Axis) Step(dt float64, x, u, y []float64) engine.Status {
	if !d.begin(dt, x, u) {
		d.outputs(x, y)
		return engine.NonFinite
	}
	r := d.advance(dt, x)
	d.finish(dt, x, y, &r)
	return r.Status
}

// begin prepares a step; false: something is not finite.
func (d *Axis) begin(dt float64, x, u []float64) bool {
	s := &d.s
	sum := u[0] + u[1]
	for _, c := range x {
		sum += c
	}
	if !(dt > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}

	// parameters at this temperature; friction scaled by s is the same motion as inertia and torque divided by s
	i, temp := x[Current], x[Temperature]
	d.r = s.Motor.R * max(0.1, 1+s.Thermal.CopperTC*(temp-t20))
	d.frictionFactor = d.warmth(temp)
	d.inertia, d.couplingTorque = d.j, 0

	d.enabled = u[1] != 0 && s.Drive.Kind != NoDrive
	d.u = 0
	if d.enabled {
		d.u = d.limited(u[0])
	}
	if s.Drive.Kind == VoltageDrive && !d.enabled {
		d.coasts[0], d.coasts[1] = d.coast(dt, i, x[Omega])
	}
	return true
}

// advance makes the step from x, which it leaves alone: the new state of the mass is in xm, that of the drive in i0. It may be
// asked again with another inertia or held torque.
func (d *Axis) advance(dt float64, x []float64) friction.MassStep {
	// both sides together: the load solves the drive for every trial of the mean speed
	d.mass.M, d.mass.N, d.mass.I = d.inertia/d.frictionFactor, d.Normal, x[Current]
	d.i0 = x[Current]
	d.tau, d.h, d.charge, d.impulse = 0, 0, 0, 0
	d.xm[0], d.xm[1] = x[Theta], x[Omega]
	copy(d.xm[2:], x[Contact:])
	r := d.mass.Step(dt, d.xm, d)
	if r.Status != engine.NonFinite {
		d.close(dt, d.xm[0])
	}
	return r
}

// finish takes what advance made.
func (d *Axis) finish(dt float64, x, y []float64, r *friction.MassStep) {
	if r.Status == engine.NonFinite {
		d.outputs(x, y)
		return
	}
	s := &d.s
	d.lastMeans = Means{W: r.W, I: d.charge / dt, Effort: d.impulse / dt, Friction: d.frictionFactor * r.F, Work: d.frictionFactor * r.Work,
		R: d.r, Evals: r.Evals}
	x[Theta], x[Omega], x[Current] = d.xm[0], d.xm[1], d.i0
	copy(x[Contact:], d.xm[2:])
	x[Temperature] = d.heat(dt, x[Temperature], d.r*d.lastMeans.I*d.lastMeans.I+s.Motor.Drop(d.lastMeans.I)*d.lastMeans.I+math.Abs(d.lastMeans.Work/dt))
	d.outputs(x, y)
}

// Span begins a part of the step. The part before it, which may have ended early at an event, is closed.
func (d *Axis) Span(tau, h, theta float64) {
	d.close(tau, theta)
	d.tau, d.theta, d.w = tau, theta, math.NaN()
	d.setPart(h)
}

// setPart sets the length of the part.
func (d *Axis) setPart(h float64) {
	d.h = h
	if d.s.Drive.Kind == CurrentDrive {
		d.decay, d.lag = 0, 0
		if b := d.s.Drive.Bandwidth * h; b > 0 {
			d.decay = math.Exp(-b)
			d.lag = -math.Expm1(-b) / b
		}
	}
}

// close solves the drive over the part that ends at tau (s after the beginning of the step) and at the position theta, unless
// the last trial was that motion already, and moves its state on.
func (d *Axis) close(tau, theta float64) {
	h := tau - d.tau
	if !(h > 0) || !(d.h > 0) {
		return
	}
	if w := (theta - d.theta) / h; h != d.h || !(math.Abs(w-d.w) <= 1e-9*math.Abs(w)) {
		d.setPart(h)
		d.At(d.tau+h/2, theta-h*w/2, w)
	}
	d.charge += d.mean * h
	d.impulse += d.push * h
	d.i0 = d.i1
}

// At is the driving torque (N·m), divided by the warmth of the friction, at tau (s) after the beginning of the step and at the
// position theta, when the mean speed of the part is w: the friction.Load of the axis. In the middle of the part it is the mean
// over it, exactly.
func (d *Axis) At(tau, theta, w float64) (torque, dx, slope float64) {
	s := &d.s
	share := 0.5 // of the part that has passed
	if d.h > 0 {
		share = (tau - d.tau) / d.h
	}
	d.w = w
	torque, slope = d.effort(share, w)
	torque += d.couplingTorque - s.LoadTorque
	if s.Cogging > 0 {
		f, df := d.sine(s.Cogging, float64(s.CoggingN), share, theta)
		torque, dx = torque-f, dx-df
	}
	if s.Gravity > 0 {
		f, df := d.sine(s.Gravity, 1, share, theta)
		torque, dx = torque-f, dx-df
	}
	if s.Stops.enabled() {
		f, df, dv := s.Stops.Force(d.theta, theta, w, middle(share))
		torque, dx, slope = torque+f, dx+df, slope+dv
	}
	return torque / d.frictionFactor, dx / d.frictionFactor, slope / d.frictionFactor
}

// middle tells whether a share of a part is its middle, where the load stands for the mean.
func middle(share float64) bool { return math.Abs(share-0.5) < 1e-9 }

// sine is a·sin(nθ) and its derivative: in the middle of the part its mean along it, exactly, so that a potential stores energy
// and returns all of it.
func (d *Axis) sine(a, n, share, theta float64) (f, df float64) {
	sinc := 1.0
	if middle(share) {
		half := n * (theta - d.theta)
		sinc = 1 - half*half/6
		if math.Abs(half) > 1e-3 {
			sinc = math.Sin(half) / half
		}
	}
	sin, cos := math.Sincos(n * theta)
	return a * sin * sinc, a * cos * sinc * n
}

// warmth is the factor of all friction torques at a temperature (°C).
func (d *Axis) warmth(temp float64) float64 {
	return max(0.1, 1+d.s.Thermal.FrictionTC*(temp-t20))
}

// heat is the temperature (°C) after h seconds of constant losses p (W), exactly.
func (d *Axis) heat(h, temp, p float64) float64 {
	th := &d.s.Thermal
	if th.Capacity == 0 {
		return temp
	}
	end := th.Ambient + p*th.Resistance
	return temp + (end-temp)*-math.Expm1(-h/(th.Resistance*th.Capacity))
}

// outputs writes y. The friction is that of the end of the step where the law can tell it, else the mean of the step.
func (d *Axis) outputs(x, y []float64) {
	f := d.lastMeans.Friction
	if d.flow != nil {
		f = d.warmth(x[Temperature]) * d.flow.Flow(x[Contact:], d.dz, friction.Input{V: x[Omega], N: d.Normal, I: x[Current]})
	}
	y[OutPosition], y[OutVelocity], y[OutFriction], y[OutTemperature] = x[Theta], x[Omega], f, x[Temperature]
	y[OutCurrent], y[OutEffort], y[OutApplied] = d.s.atEnd(x, d.u, d.enabled)
}
