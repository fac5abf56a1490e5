// Package machine puts a machine together: bodies, joints and loops of package multibody, the drive train and circuit of packages
// drivetrain and circuit, torques and prescribed motions as functions of time. All of it is one system of differential equations,
//
//	dq/dt = v,   H(q)·dv/dt + h(q, v) = τ(t, q, v, z) + Jacᵀ·λ,   dz/dt = f(t, q, v, z),   Jac·dv/dt = −bias,
//
// with the state x = [q | v | z], z the currents, voltages and bristles of the parts. Parts act on axes: joints with one coordinate, in
// the order of the bodies. The forces of the parts need speeds and currents only, so one solution of the equations of motion follows
// from their sum.
//
// Run integrates it adaptively and brings the state back to the constraints after each step, by the shortest way [E98]. The energies of
// every part are integrated beside the state: sources in = losses + stored, which is what Audit says.
package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// Spec describes a machine.
type Spec struct {
	multibody.Spec
	Motions  []reference.Generator // of Drives, in their order
	Efforts  []Effort
	Forces   []Force
	Friction []Friction
	Rows     []Row
	// Parts makes the drive train and the circuit; axis tells the number of a joint with one coordinate, axes how many there are.
	Parts func(axis func(joint string) (int, error), axes int) ([]drivetrain.Part, error)

	stepped bool // by a Stepper, which follows friction with a smoothed sign inside a step: it is no part
}

// Effort is a torque (N·m) or force (N) on a joint with one coordinate, from outside the machine.
type Effort struct {
	Joint     string
	Generator reference.Generator
}

// Machine is a machine that New has checked, and its workspace. Not for concurrent use.
type Machine struct {
	Model          *multibody.Model
	Data           *multibody.Data
	Parts          []drivetrain.Part
	axes           []axis
	efforts        []effort
	forces         []force
	thrust         []float64 // nv  what the forces are along the velocities
	jacobian       []float64 // 6×nv
	motions        []motion
	damped         []damped // velocities
	springs        []spring // those with a damper
	dryJoints      []dry
	cuts           []int // axes
	bearings       []*drivetrain.Bearing
	followed       []*drivetrain.Bearing // of them those that are no parts
	loads          []*loaded
	solver         loadSolver
	frozen         bool      // loads stay as they are
	slippery       bool      // friction that sticks is left out
	stickingJoints []int     // scratch of hold
	holdRHS        []float64 //
	loose          []float64 //
	freeTorque     []float64 // torques without what holds
	answer         []float64 // dry×nv

	states       []engine.Signal // of z
	stateOffsets []int           // where the states of each part begin in z
	q, v         []float64       // of the axes
	force        []float64       // of the axes
	tau          []float64       // of the velocities
	powers       []circuit.Power // of the lines of the audit but the last
	partValues   []float64       // of a part, to be shown
	rows         rows
	lines        []string
	fault        string // of the part that had no solution at the last Flow
}

type effort struct {
	axis      int
	generator reference.Generator
}

type motion struct {
	row, axis int
	generator reference.Generator
}

// damped is the friction of a joint that package multibody takes itself.
type damped struct {
	v                int
	viscous, coulomb float64
}

// spring is one between two frames, whose damper package multibody takes itself.
type spring struct {
	a, b int
	c    float64 // N·s/m
}

// New checks a machine. The error joins all that is wrong.
func New(s Spec) (*Machine, error) {
	relations, tied := relate(s.Rows)
	s.Relations = append(s.Relations[:len(s.Relations):len(s.Relations)], relations...)
	model, err := multibody.Build(s.Spec)
	if err != nil {
		return nil, err
	}
	m := &Machine{Model: model, Data: model.NewData(), tau: make([]float64, model.NV())}
	m.tree()
	var errs []error
	for i := range s.Friction {
		name := s.Friction[i].Joint
		_, none := model.Joint(name)
		if _, err := model.CutIndex(name); err != nil {
			continue
		}
		if none == nil {
			errs = append(errs, fmt.Errorf("friction: %q is a joint and a loop: give one of them another name", name))
		} else if err := m.close(name); err != nil {
			errs = append(errs, err)
		}
	}
	n := len(m.axes)
	m.q, m.v, m.force = make([]float64, n), make([]float64, n), make([]float64, n)
	for _, b := range s.Bodies {
		if b.Flex != nil && b.Flex.Damping != nil {
			j, _ := model.Joint(b.Name)
			_, _, iv := model.Modes(j)
			for k, c := range b.Flex.Damping {
				m.damped = append(m.damped, damped{iv + k, c, 0})
			}
		}
		if b.Joint.Kind == multibody.Fixed {
			continue
		}
		j, _ := model.Joint(b.Name)
		_, kind, _, iv := model.JointOf(j)
		for k := range kind.NV() {
			if b.Joint.Damping != 0 || b.Joint.Coulomb != 0 {
				m.damped = append(m.damped, damped{iv + k, b.Joint.Damping, b.Joint.Coulomb})
			}
		}
	}
	for _, k := range s.Springs {
		a, _ := model.Frame(k.A)
		b, _ := model.Frame(k.B)
		if k.Damping > 0 {
			m.springs = append(m.springs, spring{a, b, k.Damping})
		}
	}
	for _, e := range s.Efforts {
		k, err := m.Axis(e.Joint)
		if err != nil {
			errs = append(errs, fmt.Errorf("effort: %w", err))
		}
		m.efforts = append(m.efforts, effort{k, e.Generator})
	}
	errs = append(errs, m.placeForces(s.Forces)...)
	if len(errs) == 0 {
		errs = append(errs, m.addFriction(s.Friction))
	}
	m.stickingJoints, m.holdRHS, m.loose = make([]int, 0, len(m.dryJoints)), make([]float64, len(m.dryJoints)),
		make([]float64, len(m.dryJoints))
	m.freeTorque, m.answer = make([]float64, model.NV()), make([]float64, max(1, len(m.dryJoints))*model.NV())
	if len(s.Motions) != len(s.Drives) {
		panic("machine: want a motion for each drive")
	}
	for i, d := range s.Drives {
		k, err := m.Axis(d.Joint)
		if err != nil {
			errs = append(errs, fmt.Errorf("motion: %w", err))
		}
		m.motions = append(m.motions, motion{m.row(d.Name), k, s.Motions[i]})
	}
	var parts []drivetrain.Part
	if s.Parts != nil {
		parts, err = s.Parts(m.Axis, n)
		errs = append(errs, err)
	}
	for _, b := range m.bearings {
		if s.stepped && b.Speed > 0 && model.NC() == 0 && len(m.loads) == 0 {
			m.followed = append(m.followed, b)
		} else {
			parts = append(parts, b)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := m.addParts(parts); err != nil {
		return nil, err
	}
	for _, r := range tied {
		r.room(model.NV())
	}
	if err := m.tied(tied); err != nil {
		return nil, err
	}
	for _, p := range m.Parts {
		m.lines = append(m.lines, p.Name())
	}
	for k := range m.dryJoints {
		m.lines = append(m.lines, m.axes[m.dryJoints[k].axis].name+frictionSuffix)
	}
	m.lines = append(m.lines, jointsLine, effortsLine, motionsLine)
	for _, r := range tied {
		r.line = len(m.lines)
		m.lines = append(m.lines, r.Name)
	}
	m.powers = make([]circuit.Power, len(m.lines))
	m.partValues = make([]float64, len(m.partSignals()))
	return m, nil
}

// Lines of the audit beside those of the parts.
const (
	jointsLine    = "joints"  // their damping, that of springs between frames and of flexible bodies
	effortsLine   = "efforts" // torques and forces from outside, on joints and bodies
	motionsLine   = "motions" // what prescribed motions take
	mechanicsLine = "bodies"  // inertia, gravity, springs of joints, bending
)

// addParts checks the parts and lays out their states.
func (m *Machine) addParts(parts []drivetrain.Part) error {
	if len(parts) == 0 {
		return nil
	}
	if err := drivetrain.Check(max(1, len(m.axes)), parts); err != nil {
		return err
	}
	m.Parts = parts
	for _, p := range parts {
		m.stateOffsets = append(m.stateOffsets, len(m.states))
		m.states = append(m.states, p.States()...)
	}
	m.stateOffsets = append(m.stateOffsets, len(m.states))
	return nil
}

// row is the number of a constraint of one equation.
func (m *Machine) row(name string) int {
	for k, c := range m.Model.Constraints() {
		if c.Name == name {
			return k
		}
	}
	panic("machine: no constraint " + name)
}

// partStates are the states of part k in z.
func (m *Machine) partStates(k int, z []float64) []float64 {
	return z[m.stateOffsets[k]:m.stateOffsets[k+1]:m.stateOffsets[k+1]]
}

// split are the parts of a state.
func (m *Machine) split(x []float64) (q, v, z []float64) {
	nq, nv := m.Model.NQ(), m.Model.NV()
	return x[:nq], x[nq : nq+nv], x[nq+nv : nq+nv+len(m.states)]
}

// Size is the length of a state.
func (m *Machine) Size() int { return m.Model.NQ() + m.Model.NV() + len(m.states) }

// NewState is the machine with all joints at zero and at rest, the parts as they begin.
func (m *Machine) NewState() []float64 {
	x := make([]float64, m.Size())
	copy(x, m.Model.Neutral())
	_, _, z := m.split(x)
	for k, p := range m.Parts {
		p.Reset(m.partStates(k, z))
	}
	return x
}

// Assemble makes a state consistent with the constraints at the time t (s), as multibody.Assemble does.
func (m *Machine) Assemble(t float64, x []float64, how multibody.Assembly) (multibody.Assembled, error) {
	q, v, _ := m.split(x)
	m.drive(t)
	m.startRows(x)
	m.tie(t, x)
	return multibody.Assemble(m.Model, m.Data, q, v, how)
}

// Equilibrate moves a state to a static equilibrium under the efforts and parts at the time t (s): positions, currents and voltages of
// capacitors, all velocities zero. It tells whether it is unstable. Where friction can hold the machine as it is, that is one; otherwise
// it is that without friction that sticks.
func (m *Machine) Equilibrate(t float64, x []float64) (unstable bool, err error) {
	_, v, _ := m.split(x)
	clear(v)
	if err := m.equilibrateElectrical(t, x); err != nil {
		return false, err
	}
	if len(m.dryJoints) > 0 {
		dx := make([]float64, len(x))
		if st := m.begin(t, x, dx); st != multibody.OK && st != multibody.Singular {
			return false, errors.New(m.named(st))
		}
		const still = 1e-9 // rad/s², m/s²
		moves := func(a float64) bool { return !(math.Abs(a) <= still) }
		if _, dv, _ := m.split(dx); !slices.ContainsFunc(dv, moves) {
			return false, nil
		}
		m.slippery = true
		defer func() { m.slippery = false }()
	}
	return m.findEquilibrium(t, x)
}

// findEquilibrium is Equilibrate with the friction that sticks as it is set.
func (m *Machine) findEquilibrium(t float64, x []float64) (unstable bool, err error) {
	q, v, _ := m.split(x)
	clear(v)
	if err := m.equilibrateElectrical(t, x); err != nil {
		return false, err
	}
	at, dx := append([]float64(nil), x...), make([]float64, len(x))
	if st := m.Flow(t, x, dx); st != multibody.OK && st != multibody.Singular {
		return false, errors.New(m.named(st))
	}
	unstable, err = multibody.EquilibriumUnder(m.Model, m.Data, q, func(q, tau []float64) multibody.Status {
		to, _, _ := m.split(at)
		copy(to, q)
		if m.equilibrateElectrical(t, at) != nil {
			return multibody.NotConverged
		}
		st := m.Flow(t, at, dx)
		copy(tau, m.tau)
		return st
	})
	if err != nil {
		return unstable, err
	}
	return unstable, m.equilibrateElectrical(t, x)
}

// drive sets the prescribed motions for the time t.
func (m *Machine) drive(t float64) {
	for k := range m.motions {
		x, v, a := m.motions[k].generator.At(t)
		m.Data.Drive(k, multibody.Motion{X: x, V: v, A: a})
	}
}

// Flow writes dx/dt at the time t (s); the powers of the instant stay in the machine. The status is that of multibody.Dynamics, or
// NonFinite where a part has no solution, which fault names. Data holds the multipliers afterwards.
func (m *Machine) Flow(t float64, x, dx []float64) multibody.Status {
	q, v, z := m.split(x)
	dq, dv, dz := m.split(dx)
	multibody.Rates(m.Model, q, v, dq)
	m.drive(t)
	m.tie(t, x)
	m.fault = ""
	clear(m.tau)
	m.apply(t, q)
	st := multibody.Dynamics(m.Model, m.Data, q, v, m.tau)
	if st != multibody.OK && st != multibody.Singular {
		return st
	}
	m.direct()
	m.setAxes(q, v)
	for k := range m.dryJoints {
		b := &m.dryJoints[k]
		if a := &m.axes[b.axis]; a.cutIndex >= 0 {
			b.drift = m.Model.CutDrift(m.Data, a.cutIndex)
		}
	}
	loss := 0.0
	for _, d := range m.damped {
		loss += (d.viscous*math.Abs(v[d.v]) + d.coulomb) * math.Abs(v[d.v])
	}
	loss += m.springLoss()
	// the forces of joints depend on their friction, which depends on them
	if st := m.carry(t, q, v, z, dz); st != multibody.OK && st != multibody.Singular {
		return st
	}
	if st := m.rated(func() multibody.Status { return m.act(t, q, v, z, dz) }); st != multibody.OK && st != multibody.Singular {
		return st
	}
	copy(dv, m.Data.QDD)
	for k := range m.dryJoints {
		if b := &m.dryJoints[k]; b.dir == 0 && m.axes[b.axis].cutIndex < 0 {
			dv[m.axes[b.axis].iv] = 0 // to the last bit
		}
	}
	line := len(m.Parts) + len(m.dryJoints)
	m.powers[line] = circuit.Power{Loss: loss, Output: -loss}
	in := 0.0
	for _, d := range m.motions {
		in += m.Data.Lambda[d.row] * m.v[d.axis]
	}
	m.powers[line+2] = circuit.Power{Input: in, Output: in}
	m.pull(v, dz)
	return st
}

// act finds QDD and Lambda under all that acts on the machine, with the loads of joints as they are known, after Dynamics.
func (m *Machine) act(t float64, q, v, z, dz []float64) multibody.Status {
	clear(m.force)
	for k, p := range m.Parts {
		var st engine.Status
		if m.powers[k], st = p.Flow(t, m.q, m.v, m.partStates(k, z), m.partStates(k, dz), m.force); st != engine.OK {
			m.fault = p.Name() + ": " + st.String()
			return multibody.NonFinite
		}
	}
	line := len(m.Parts)
	for k := range m.dryJoints {
		b := &m.dryJoints[k]
		m.powers[line+k] = circuit.Power{}
		if b.dir != 0 && !m.slippery {
			b.force = b.slide(m.v[b.axis])
			m.force[b.axis] += b.force
			out := b.force * m.v[b.axis]
			m.powers[line+k] = circuit.Power{Loss: -out, Output: out}
		}
	}
	in := 0.0
	for _, e := range m.efforts {
		f, _, _ := e.generator.At(t)
		m.force[e.axis] += f
		in += f * m.v[e.axis]
	}
	in += m.thrusting()
	m.powers[line+len(m.dryJoints)+1] = circuit.Power{Input: in, Output: in}
	clear(m.tau)
	for k := range m.axes {
		m.axes[k].push(m.force[k], m.tau)
	}
	if st := m.hold(q, v); st != multibody.OK {
		return st
	}
	return multibody.Reaccelerate(m.Model, m.Data, q, v, m.tau)
}

// springLoss is what the dampers between frames turn into heat (W); Velocities must be valid.
func (m *Machine) springLoss() (loss float64) {
	for _, k := range m.springs {
		_, a := m.Model.FramePose(m.Data, k.a)
		_, b := m.Model.FramePose(m.Data, k.b)
		_, va := m.Model.FrameVelocity(m.Data, k.a)
		_, vb := m.Model.FrameVelocity(m.Data, k.b)
		if way := r3.Sub(b, a); r3.Norm(way) > 0 {
			rate := r3.Dot(r3.Unit(way), r3.Sub(vb, va))
			loss += k.c * rate * rate
		}
	}
	return loss
}

// energy is that of the bodies (J); Velocities must be valid.
func (m *Machine) energy(x []float64) (kinetic, potential float64) {
	q, v, _ := m.split(x)
	return multibody.Energy(m.Model, m.Data, q, v)
}
