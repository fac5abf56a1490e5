package models

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/hil"
)

// MachineSpec is what a model of kind machine is built from.
type MachineSpec struct {
	// Stepper makes the machine with a fixed step, and its state at the start; it has the Voltage of Joints for sources.
	Stepper func(o machine.StepOptions) (s *machine.Stepper, x []float64, err error)
	Joints  []Following
	Outputs []string // numbers of the machine by name; none: all of them
	Audit   bool     // powers are shown
}

// Following is a joint that does what an axis does.
type Following struct {
	Joint         string
	Axis          int
	Source        FollowBy
	Ratio, Offset float64       // position of the joint = Ratio·position of the axis + Offset (rad, m)
	K             float64       // N·m/A  effort of the axis per current
	Voltage       *circuit.Held // ByCommand: where the command is the voltage of a motor on the joint; nil: it is a current or an effort
}

// FollowBy is what a joint takes from its axis.
type FollowBy uint8

const (
	ByMotion  FollowBy = iota // the estimated motion: what that takes, and what it does to the loops, is computed
	ByCurrent                 // the torque of the measured current
	ByEffort                  // the measured torque
	ByCommand                 // the command as it left
)

// Words are the ways by number.
func (FollowBy) Words() []string { return []string{"motion", "current", "effort", "command"} }

func (b FollowBy) String() string { return b.Words()[b] }

// Status of the machine in a tick; hil.ModelStatusTexts has the words.
const (
	MachineOK        = iota
	MachineSingular  // singular position: the forces are those of least norm
	MachineLost      // the loops cannot be closed where the axes are, or it would leap there; it waits where it was and begins anew from there
	MachineUnmet     // the equations of a step were not met; the result is the best so far
	MachineNonFinite // a motion of an axis is no finite number; it waits where it was
	MachinePlaced    // it is on its way to where the axes are
	_                // of a chain
	MachineUndecided // a singular position from which more than one motion is possible: it waits there until a drive is switched on
)

// Machine is a machine of bodies, loops, motors and a drive train beside the rig. Joints that follow the motion of an axis are led along
// it, and the torque that this takes and the forces of the loops are shown (inverse dynamics of what hangs on them). Joints that follow
// an effort are pushed by it, and the machine moves by itself; what its position differs from that of the axis is shown.
//
// It begins where the axes are, and begins anew there when their drives are switched on. The way from its start goes in small parts, so
// that loops stay in the branch in which the file has them.
type Machine struct {
	s            MachineSpec
	step         *machine.Stepper
	place        *machine.Stepper // the same with all joints of the list led, to be brought to where the axes are
	watch        *machine.Watch
	signals      []engine.Signal
	roles        []hil.ChannelRole
	x            []float64
	ledJoints    []int // of Joints, in the order of step
	pushedJoints []int
	stateIndex   [][2]int // of Joints: position and velocity in x
	freeJoints   []int    // of Joints that differ from their axis
	t            float64  // s
	initialised  bool
	energised    bool
	status       int
}

const (
	placeStep  = 0.02 // rad, m  longest part of the way to where the axes are
	placeParts = 10   // of them in a tick
	stepsMost  = 20   // ticks that were left out and are made up for
)

// NewMachine checks the description.
func NewMachine(s *MachineSpec) (*Machine, error) {
	if s == nil {
		return nil, errors.New("machine: no description")
	}
	m := &Machine{s: *s}
	var o, all machine.StepOptions
	for k, j := range s.Joints {
		all.MotionJoints = append(all.MotionJoints, j.Joint)
		switch {
		case j.Source == ByMotion:
			o.MotionJoints, m.ledJoints = append(o.MotionJoints, j.Joint), append(m.ledJoints, k)
			continue
		case j.Voltage == nil:
			o.TorqueJoints, m.pushedJoints = append(o.TorqueJoints, j.Joint), append(m.pushedJoints, k)
		}
		m.freeJoints = append(m.freeJoints, k)
	}
	o.Audited = s.Audit
	var err error
	if m.place, _, err = s.Stepper(all); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	if m.step, m.x, err = s.Stepper(o); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	for _, j := range s.Joints {
		q, v, err := m.step.At(j.Joint)
		if err != nil {
			return nil, fmt.Errorf("machine: %w", err)
		}
		if j.Ratio == 0 || math.IsInf(j.Ratio, 0) || j.Ratio-j.Ratio != 0 || j.Offset-j.Offset != 0 {
			return nil, fmt.Errorf("machine: joint %q: ratio %g and offset %g, want finite numbers, the first not 0", j.Joint, j.Ratio, j.Offset)
		}
		m.stateIndex = append(m.stateIndex, [2]int{q, v})
	}
	if m.watch, err = m.step.Watch(s.Outputs...); err != nil {
		return nil, fmt.Errorf("machine: outputs: %w", err)
	}
	m.describe()
	if n := len(m.signals); n > hil.MaxSignals {
		return nil, fmt.Errorf("machine: %d numbers, a row holds %d with all others: choose some by outputs", n, hil.MaxSignals)
	}
	return m, nil
}

// describe names the signals and their roles.
func (m *Machine) describe() {
	add := func(name, unit string, role hil.ChannelRole) {
		m.signals, m.roles = append(m.signals, engine.Signal{Name: name, Unit: unit}), append(m.roles, role)
	}
	add("status", "", hil.RoleStatus)
	for _, k := range m.freeJoints {
		j := &m.s.Joints[k]
		add(j.Joint+".difference", m.step.M.Columns()[m.stateIndex[k][0]].Unit, hil.RoleError)
	}
	if m.s.Audit {
		for _, name := range []string{"power.in", "power.loss", "power.stored", "power.missing"} {
			add(name, "W", hil.RolePlain)
		}
	}
	for _, g := range m.watch.Signals {
		add(g.Name, g.Unit, roleOf[g.Unit])
	}
}

// roleOf is the role of a number of a machine by its unit.
var roleOf = map[string]hil.ChannelRole{
	"rad": hil.RolePosition, "m": hil.RolePosition, "rad/s": hil.RoleVelocity, "m/s": hil.RoleVelocity, "rad/s²": hil.RoleAcceleration,
	"m/s²": hil.RoleAcceleration,
	"N·m":  hil.RoleEffort, "N": hil.RoleEffort, "A": hil.RoleCurrent, "V": hil.RoleVoltage,
}

// Signals are status, differences and powers, then the numbers that were chosen.
func (m *Machine) Signals() []engine.Signal { return m.signals }

// Roles are theirs.
func (m *Machine) Roles() []hil.ChannelRole { return m.roles }

// motion is that of the axis of a joint, as the joint has it.
func (j *Following) motion(in *hil.ModelInput) multibody.Motion {
	a := &in.Axes[j.Axis]
	return multibody.Motion{X: j.Ratio*a.Position + j.Offset, V: j.Ratio * a.Velocity, A: j.Ratio * a.Acceleration}
}

// Step moves the machine by a tick.
func (m *Machine) Step(in *hil.ModelInput, y []float64) (engine.Status, uint8) {
	for k := range m.s.Joints {
		if x := m.s.Joints[k].motion(in); x.X-x.X+x.V-x.V+x.A-x.A != 0 {
			y[0] = MachineNonFinite
			return engine.NonFinite, 0
		}
	}
	on := false
	for _, k := range m.freeJoints {
		on = on || in.Axes[m.s.Joints[k].Axis].Energised
	}
	switched := on && !m.energised
	if switched || in.Skip > stepsMost {
		m.initialised = false
	}
	m.energised = on
	if !m.initialised && m.status == MachineUndecided && !switched {
		y[0] = MachineUndecided
		return engine.Lost, 0
	}
	if !m.initialised {
		m.approach(in)
		y[0] = float64(m.status)
		return engine.OK, 0
	}
	h := in.Dt * float64(1+in.Skip)
	before := m.step.Energies
	st := m.tick(in, h)
	if y[0] = float64(m.status); m.status == MachineLost || m.status == MachineUndecided {
		return st, 0
	}
	m.show(in, h, before, y[1:])
	return st, 0
}

// tick moves the machine on by h (s).
func (m *Machine) tick(in *hil.ModelInput, h float64) engine.Status {
	for i, k := range m.ledJoints {
		m.step.SetMotion(i, m.s.Joints[k].motion(in))
	}
	for i, k := range m.pushedJoints {
		m.step.Push(i, m.s.Joints[k].torque(in))
	}
	for k := range m.s.Joints {
		if j := &m.s.Joints[k]; j.Voltage != nil {
			j.Voltage.Value = in.Axes[j.Axis].Command
		}
	}
	st := m.step.Step(m.t, h, m.x)
	last := m.step.LastStatus
	switch {
	case st == engine.Lost:
		m.initialised, m.status = false, MachineUndecided
		return st
	case st == engine.NonFinite || last == multibody.NotConverged:
		m.initialised, m.status = false, MachineLost
		return engine.NotConverged
	case st == engine.NotConverged:
		m.status = MachineUnmet
	case last == multibody.Singular:
		m.status = MachineSingular
	default:
		m.status = MachineOK
	}
	m.t += h
	if m.watch.Forces || m.s.Audit {
		if last := m.step.Forces(m.t, h, m.x); last == multibody.Singular {
			m.status = MachineSingular
		} else if last != multibody.OK {
			m.initialised, m.status = false, MachineLost
			return engine.NotConverged
		}
	}
	return st
}

// torque is that of the axis on the joint (N·m, N).
func (j *Following) torque(in *hil.ModelInput) float64 {
	a := &in.Axes[j.Axis]
	tau := a.Effort
	switch j.Source {
	case ByCurrent:
		tau = j.K * a.Current
	case ByCommand:
		tau = j.K * a.Command // of an effort K is 1
	}
	return tau / j.Ratio
}

// approach brings the machine nearer to where the axes are, and begins when it is there.
func (m *Machine) approach(in *hil.ModelInput) {
	q, v := m.x, m.x[m.step.M.Model.NQ():][:m.step.M.Model.NV()]
	for range placeParts {
		clear(v)
		far := 0.0
		for k, at := range m.stateIndex {
			far = max(far, math.Abs(m.s.Joints[k].motion(in).X-q[at[0]]))
		}
		share := 1.0
		if far > placeStep {
			share = placeStep / far
		}
		for k, at := range m.stateIndex {
			to := m.s.Joints[k].motion(in)
			to.X = q[at[0]] + share*(to.X-q[at[0]])
			if share < 1 {
				to.V, to.A = 0, 0
			}
			m.place.SetMotion(k, to)
		}
		if st := m.place.Place(m.x); st != multibody.OK && st != multibody.Singular {
			m.status = MachineLost
			return
		}
		if share == 1 {
			for i, k := range m.ledJoints {
				m.step.SetMotion(i, m.s.Joints[k].motion(in))
			}
			m.step.Resume(m.t, m.x)
			m.initialised, m.status = true, MachineOK
			return
		}
	}
	m.status = MachinePlaced
}

// show writes differences, powers and the numbers that were chosen.
func (m *Machine) show(in *hil.ModelInput, h float64, before machine.Energies, y []float64) {
	for i, k := range m.freeJoints {
		y[i] = m.x[m.stateIndex[k][0]] - m.s.Joints[k].motion(in).X
	}
	y = y[len(m.freeJoints):]
	if m.s.Audit {
		e := &m.step.Energies
		y[0], y[1], y[2] = (e.Input-before.Input)/h, (e.Loss-before.Loss)/h, (e.StoredEnergy-before.StoredEnergy)/h
		y[3] = y[0] - y[1] - y[2]
		y = y[4:]
	}
	m.watch.Read(m.step, m.x, y)
}
