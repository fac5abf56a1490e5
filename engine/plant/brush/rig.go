package brush

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// MachineSpec describes a motor with its brushes.
type MachineSpec struct {
	Name           string // of the axis, in front of its signals; "": plant
	Params         Params
	Scheme         contact.MoreauOptions // Step is set by the machine
	SubStep        float64               // s     longest step of the brush; default 20 µs
	MaxSubSteps    int                   //       most sub-steps in one step; default 50
	Pair           bool                  //       both brushes are simulated; otherwise the second does what the first does
	AlwaysAveraged bool                  //       the averaged contact at every speed
	Bearing        friction.Model        // N·m   of the bearings; nil: none

	LoadJ           float64    // kg·m²
	LoadTorque      float64    // N·m  constant, opposing positive motion
	Supply          [2]float64 // V  of the drive; both zero: no limit
	Freewheel       float64    // V    of the diodes that take the current when the supply is off; default 24
	Window          float64    // s    mean of the face force; default and least 0.1 ms
	MinInterruption float64    // s    shortest gap that counts as an interruption; default 0.5 ms
	Thermal         plant.Thermal
}

func (s *MachineSpec) setDefaults() error {
	def := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&s.SubStep, 20e-6)
	def(&s.Freewheel, 24)
	def(&s.Window, minWindow)
	def(&s.MinInterruption, 5e-4)
	if s.MaxSubSteps == 0 {
		s.MaxSubSteps = 50
	}
	if s.Name == "" {
		s.Name = "plant"
	}
	var all []error
	want := func(ok bool, name string, v float64, unit, rule string) {
		if !ok || math.IsInf(v, 0) {
			all = append(all, fmt.Errorf("brush machine: %s: %g %s, want %s", name, v, unit, rule))
		}
	}
	want(s.SubStep > 0, "sub-step", s.SubStep, "s", "> 0")
	want(s.MaxSubSteps > 0, "sub-steps", float64(s.MaxSubSteps), "", "> 0")
	want(s.LoadJ >= 0, "load inertia", s.LoadJ, "kg·m²", "≥ 0")
	want(!math.IsNaN(s.LoadTorque), "load torque", s.LoadTorque, "N·m", "a number")
	want(s.Supply == [2]float64{} || s.Supply[0] <= 0 && s.Supply[1] > 0, "supply", s.Supply[1], "V", "low ≤ 0 < high")
	want(s.Freewheel > 0, "freewheel voltage", s.Freewheel, "V", "> 0")
	want(s.Window >= minWindow, "window", s.Window, "s", "≥ 1e-4")
	want(s.MinInterruption >= minWindow, "long gap", s.MinInterruption, "s", "≥ 1e-4")
	want(s.Thermal.Capacity >= 0, "thermal capacity", s.Thermal.Capacity, "J/K", "≥ 0")
	want(s.Thermal.Capacity == 0 || s.Thermal.Resistance > 0, "thermal resistance", s.Thermal.Resistance, "K/W", "> 0")
	want(!math.IsNaN(s.Thermal.Ambient), "ambient temperature", s.Thermal.Ambient, "degC", "a number")
	if err := s.Params.Validate(); err != nil {
		all = append(all, err)
	}
	if s.Bearing != nil {
		if err := s.Bearing.Validate(); err != nil {
			all = append(all, fmt.Errorf("brush machine: bearing: %w", err))
		}
	}
	if s.Supply == [2]float64{} {
		s.Supply = [2]float64{math.Inf(-1), math.Inf(1)}
	}
	return errors.Join(all...)
}

const (
	minWindow = 1e-4   // s
	memory    = 0.05   // s   over which the published loss is a mean
	blend     = 0.01   // s   in which the torque passes from one contact model to the other
	zeroC     = 273.15 // K
)

// Numbers of the outputs of a Machine behind those of a plant.Axis, whose friction is here that of both brushes on the commutator,
// and whose effort is that of the armature, both as means of the step.
const (
	OutTilt        = iota + plant.Outputs // rad  of the first brush
	OutForce                              // N    on its face, mean of the step or of the window, whichever is longer
	OutDrop                               // V    of one brush, mean of the step; 0 with the supply off
	OutLoss                               //      share of the time without face force
	OutAveraged                           //      1: the averaged contact is in force
	OutDegraded                           //      steps of the brush that were not verified, since the start
	OutSparking                           // A    broken when the last bar left
	OutInterrupted                        //      long gaps since the start
	outputs
)

// Machine is a commutator motor with two brushes as an engine.System: the brush in small steps of Moreau's scheme, bar by bar
// commutation, circuit and shaft,
//
//	J·dω/dt = T_e − τ_1 − τ_2 − bearing − k_w·ω|ω| − load,   dθ/dt = ω
//
// Inputs u = [voltage, enable], with Motor.Frequency > 0 the effective value of the alternating supply. x = [θ | ω | i, T,
// brush q, u (twice with Pair), state of the bearing]; the first four are where plant.Sensors looks for them.
//
// One step is cut into ⌈dt/SubStep⌉ sub-steps, at most MaxSubSteps, so the work is bounded. In a sub-step the brush sees ω from its
// beginning, the circuit the face force as the mean of a window and the speed half a sub-step ahead, the shaft the mean
// torques of both. The staggering is stable because the brush's inertia on the shaft is small against the rotor's; each
// part keeps its own energy balance.
//
// A rigid point has to see the surface: from v·h = l_c/5 on the step no longer resolves it, and the averaged contact takes
// over until v·h falls below nine tenths of that. Torque is continuous through either change. Meanwhile the brush stands still
// in its state. Outputs say which model is in force. A brush step that is refused because something was not finite starts
// the brush anew, and is counted.
//
// Not for concurrent use: circuits, windows, coils and warm starts are remembered from step to step.
type Machine struct {
	Counts MachineCounts

	s      MachineSpec
	supply [2]float64 // V  in force
	inputs [2]float64 // inputs of the step, within the supply
	side   []*brushSide
	mean   Averaged
	comm   *Commutation
	circ   Circuit
	line   Supply
	mass   *friction.Mass // nil: no bearing
	xm     []float64
	j      float64

	averagedActive bool
	fullTorque     float64 // N·m  torque of one brush by the full model, low-passed
	switchAge      float64 // s    since the model changed
	accel          float64 // rad/s²
	drive          float64 // N·m  held torque of the sub-step
}

// Warnings names what makes results doubtful, as Brush.Warnings does, at the last speed of a run.
func (m *Machine) Warnings() []string { return m.side[0].b.Warnings(m.s.SubStep) }

// MachineCounts counts since the start.
type MachineCounts struct {
	Steps, Sub, AveragedSubSteps int // steps, sub-steps, sub-steps with the averaged contact
	Switches                     int // changes between full and averaged
	Degraded, Restarts           int // brush steps not verified; brushes started anew
}

// brushSide is one simulated brush.
type brushSide struct {
	b        *Brush
	m        *contact.Moreau
	win      Window
	subForce float64 // N    face force of the sub-step
	force    float64 // N    mean of the window
	gap      float64 // m    length of an arc; 0 while the mean is not 0
	torque   float64 // N·m  of the sub-step
	q0, u0   [dof]float64
}

// NewMachine checks the description and builds all parts.
func NewMachine(s MachineSpec) (*Machine, error) {
	if err := s.setDefaults(); err != nil {
		return nil, err
	}
	p := &s.Params
	m := &Machine{s: s, supply: s.Supply, mean: NewAveraged(p), circ: p.Circuit(), line: Supply{Frequency: p.Motor.Frequency},
		j: p.Motor.Inertia + s.LoadJ, averagedActive: s.AlwaysAveraged}
	var err error
	if m.comm, err = p.Commutation(); err != nil {
		return nil, err
	}
	n := 1
	if s.Pair {
		n = 2
	}
	for range n {
		side := &brushSide{win: Window{Span: s.Window, MinInterruption: s.MinInterruption, Memory: memory}}
		if side.b, err = New(*p); err != nil {
			return nil, err
		}
		opt := s.Scheme
		opt.Step, opt.MaxContacts = s.SubStep, maxContacts
		if side.m, err = contact.NewMoreau(side.b, opt); err != nil {
			return nil, err
		}
		side.b.Drive(0, 0, 0)
		if err = side.b.Start(side.q0[:], side.u0[:]); err != nil {
			return nil, fmt.Errorf("brush: %w", err)
		}
		m.side = append(m.side, side)
	}
	m.switchAge = math.Inf(1)
	if s.Bearing != nil {
		if m.mass, err = friction.NewMass(m.j, s.Bearing, friction.Midpoint); err != nil {
			return nil, fmt.Errorf("brush machine: %w", err)
		}
		m.xm = m.mass.NewState()
	}
	return m, nil
}

// Calibrate takes force and loss of the averaged contact from a run of the full model at the sliding speed v (m/s).
func (m *Machine) Calibrate(v, force, loss float64) { m.mean.Calibrate(v, force, loss) }

// Brush q and u begin here in x.
const atBrush = plant.Contact

// NewState is the motor at rest, the brushes just above the commutator.
func (m *Machine) NewState() []float64 {
	x := make([]float64, atBrush, atBrush+2*dof*len(m.side)+len(m.xm))
	x[plant.Temperature] = m.s.Params.Material.Temperature - zeroC
	if m.s.Thermal.Capacity > 0 {
		x[plant.Temperature] = m.s.Thermal.Ambient
	}
	for _, s := range m.side {
		x = append(x, s.q0[:]...)
		x = append(x, s.u0[:]...)
	}
	if m.mass != nil {
		x = append(x, m.mass.NewState()[2:]...)
	}
	return x
}

// Layout names states, inputs and outputs.
func (m *Machine) Layout() engine.Layout {
	of := func(name, unit string) engine.Signal { return engine.Signal{Name: m.s.Name + "." + name, Unit: unit} }
	shaft := []engine.Signal{of("position", "rad"), of("velocity", "rad/s"), of("current", "A"), of("temperature", "degC")}
	states := slices.Clone(shaft)
	names := [dof]string{"x", "y", "tilt", "u1", "s1", "u2", "s2", "u3", "s3", "holder", "arm"}
	for k := range m.side {
		head := "brush."
		if k > 0 {
			head = "brush2."
		}
		for _, rate := range []string{"", "_rate"} {
			for i, n := range names {
				unit := "m"
				if i == 2 || i > 8 {
					unit = "rad"
				}
				if rate != "" {
					unit += "/s"
				}
				states = append(states, engine.Signal{Name: head + n + rate, Unit: unit})
			}
		}
	}
	if m.mass != nil {
		for _, s := range m.s.Bearing.States() {
			states = append(states, engine.Signal{Name: "bearing." + s.Name, Unit: engine.RotaryUnit(s.Unit)})
		}
	}
	return engine.Layout{
		NQ: 1, NV: 1, NA: len(states) - 2,
		States: states,
		Inputs: []engine.Signal{of("command", "V"), of("enable", "")},
		Outputs: []engine.Signal{shaft[plant.Theta], shaft[plant.Omega], shaft[plant.Current], of("friction", "N·m"), shaft[plant.Temperature],
			of("effort", "N·m"), of("applied", "V"), {Name: "brush.tilt", Unit: "rad"},
			{Name: "brush.face_force", Unit: "N"}, {Name: "brush.contact_drop", Unit: "V"}, {Name: "brush.loss"}, {Name: "brush.averaged"},
			{Name: "brush.degraded"}, {Name: "brush.sparking", Unit: "A"}, {Name: "brush.interruptions"}},
	}
}

// Settings are the supply, load and temperature.
func (m *Machine) Settings() []engine.Signal { return plant.Settings(false, m.s.Name) }

// Set changes a setting and returns what it was.
func (m *Machine) Set(k int, x []float64, v float64) (was float64) {
	switch k {
	case 0:
		was, m.supply = m.supply[1], plant.Supplied(m.s.Supply, v)
	case 1:
		was, m.s.LoadTorque = m.s.LoadTorque, v
	case 2:
		was, x[plant.Temperature] = x[plant.Temperature], v
	}
	return was
}
