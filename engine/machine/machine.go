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
	Motions []reference.Generator // of Drives, in their order
	Efforts []Effort
	Dry     []Dry
	// Parts makes the drive train and the circuit; axis tells the number of a joint with one coordinate, axes how many there are.
	Parts func(axis func(joint string) (int, error), axes int) ([]drivetrain.Part, error)
}

// Effort is a torque (N·m) or force (N) on a joint with one coordinate, from outside the machine.
type Effort struct {
	Joint string
	By    reference.Generator
}

// Machine is a machine that New has checked, and its workspace. Not for concurrent use.
type Machine struct {
	Model   *multibody.Model
	Data    *multibody.Data
	Parts   []drivetrain.Part
	axes    []axis
	efforts []effort
	motions []motion
	damped  []damped // velocities
	springs []spring // those with a damper
	dry     []dry
	stuck   []int       // scratch of hold
	held    []float64   //
	holds   []engine.LU // by the number of joints that stick

	states []engine.Signal // of z
	at     []int           // where the states of each part begin in z
	q, v   []float64       // of the axes
	force  []float64       // of the axes
	tau    []float64       // of the velocities
	powers []circuit.Power // of the lines of the audit but the last
	lines  []string
	fault  string // of the part that had no solution at the last Flow
}

type axis struct {
	name   string
	linear bool
	iq, iv int
}

type effort struct {
	axis int
	by   reference.Generator
}

type motion struct {
	row, axis int
	by        reference.Generator
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
	model, err := multibody.Build(s.Spec)
	if err != nil {
		return nil, err
	}
	m := &Machine{Model: model, Data: model.NewData(), tau: make([]float64, model.NV())}
	for j := 1; j <= model.Bodies(); j++ {
		if name, kind, iq, iv := model.JointOf(j); kind.NV() == 1 {
			m.axes = append(m.axes, axis{name, kind == multibody.Prismatic, iq, iv})
		}
	}
	n := len(m.axes)
	m.q, m.v, m.force = make([]float64, n), make([]float64, n), make([]float64, n)
	for _, b := range s.Bodies {
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
	var errs []error
	for _, e := range s.Efforts {
		k, err := m.Axis(e.Joint)
		if err != nil {
			errs = append(errs, fmt.Errorf("effort: %w", err))
		}
		m.efforts = append(m.efforts, effort{k, e.By})
	}
	for _, b := range s.Dry {
		k, err := m.Axis(b.Joint)
		if err != nil {
			errs = append(errs, fmt.Errorf("friction: %w", err))
		}
		m.dry = append(m.dry, dry{axis: k, law: b.Law, rest: b.Law.Levels().Rest})
	}
	m.stuck, m.held = make([]int, 0, len(m.dry)), make([]float64, len(m.dry))
	for n := range len(m.dry) + 1 {
		m.holds = append(m.holds, engine.NewLU(n))
	}
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
	if s.Parts != nil {
		parts, err := s.Parts(m.Axis, n)
		if errs = append(errs, err); err == nil {
			errs = append(errs, m.take(parts))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, p := range m.Parts {
		m.lines = append(m.lines, p.Name())
	}
	for _, b := range s.Dry {
		m.lines = append(m.lines, b.Joint+".friction")
	}
	m.lines = append(m.lines, jointsLine, effortsLine, motionsLine)
	m.powers = make([]circuit.Power, len(m.lines))
	return m, nil
}

// Lines of the audit beside those of the parts.
const (
	jointsLine    = "joints"  // their damping, and that of springs between frames
	effortsLine   = "efforts" // torques and forces from outside
	motionsLine   = "motions" // what prescribed motions take
	mechanicsLine = "bodies"  // inertia, gravity, springs of joints
)

// take checks the parts and lays out their states.
func (m *Machine) take(parts []drivetrain.Part) error {
	if len(parts) == 0 {
		return nil
	}
	// the checks are those of a train with as many shafts
	shafts := make(drivetrain.Inertias, len(m.axes))
	for k, a := range m.axes {
		shafts[k] = drivetrain.Inertia{Name: a.name, J: 1}
	}
	if len(shafts) == 0 {
		shafts = drivetrain.Inertias{{Name: "none", J: 1}}
	}
	if _, err := drivetrain.New(shafts, parts, nil); err != nil {
		return err
	}
	m.Parts = parts
	for _, p := range parts {
		m.at = append(m.at, len(m.states))
		m.states = append(m.states, p.States()...)
	}
	m.at = append(m.at, len(m.states))
	return nil
}

// Axis is the number of a joint with one coordinate.
func (m *Machine) Axis(joint string) (int, error) {
	j, err := m.Model.Joint(joint)
	if err != nil {
		return 0, err
	}
	for k, a := range m.axes {
		if a.name == joint {
			return k, nil
		}
	}
	_, kind, _, _ := m.Model.JointOf(j)
	return 0, fmt.Errorf("joint %q is %v: want a revolute or prismatic one", joint, kind)
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

// own are the states of part k in z.
func (m *Machine) own(k int, z []float64) []float64 { return z[m.at[k]:m.at[k+1]:m.at[k+1]] }

// cut are the parts of a state.
func (m *Machine) cut(x []float64) (q, v, z []float64) {
	nq, nv := m.Model.NQ(), m.Model.NV()
	return x[:nq], x[nq : nq+nv], x[nq+nv : nq+nv+len(m.states)]
}

// Size is the length of a state.
func (m *Machine) Size() int { return m.Model.NQ() + m.Model.NV() + len(m.states) }

// NewState is the machine with all joints at zero and at rest, the parts as they begin.
func (m *Machine) NewState() []float64 {
	x := make([]float64, m.Size())
	copy(x, m.Model.Neutral())
	_, _, z := m.cut(x)
	for k, p := range m.Parts {
		p.Reset(m.own(k, z))
	}
	return x
}

// Assemble makes a state consistent with the constraints at the time t (s), as multibody.Assemble does.
func (m *Machine) Assemble(t float64, x []float64, how multibody.Assembly) (multibody.Assembled, error) {
	q, v, _ := m.cut(x)
	m.drive(t)
	return multibody.Assemble(m.Model, m.Data, q, v, how)
}

// Settle moves the positions of a state to a static equilibrium under the efforts and parts at the time t (s), all velocities zero.
func (m *Machine) Settle(t float64, x []float64) error {
	q, v, _ := m.cut(x)
	clear(v)
	if st := m.Flow(t, x, make([]float64, len(x))); st != multibody.OK && st != multibody.Singular {
		return errors.New(m.named(st))
	}
	return multibody.Equilibrium(m.Model, m.Data, q, m.tau)
}

// drive sets the prescribed motions for the time t.
func (m *Machine) drive(t float64) {
	for k := range m.motions {
		x, v, a := m.motions[k].by.At(t)
		m.Data.Drive(k, multibody.Motion{X: x, V: v, A: a})
	}
}

// Flow writes dx/dt at the time t (s); the powers of the instant stay in the machine. The status is that of multibody.Dynamics, or
// NonFinite where a part has no solution, which fault names. Data holds the multipliers afterwards.
func (m *Machine) Flow(t float64, x, dx []float64) multibody.Status {
	q, v, z := m.cut(x)
	dq, dv, dz := m.cut(dx)
	multibody.Rates(m.Model, q, v, dq)
	for k, a := range m.axes {
		m.q[k], m.v[k] = q[a.iq], v[a.iv]
	}
	clear(m.force)
	m.fault = ""
	for k, p := range m.Parts {
		var st engine.Status
		if m.powers[k], st = p.Flow(t, m.q, m.v, m.own(k, z), m.own(k, dz), m.force); st != engine.OK {
			m.fault = p.Name() + ": " + st.String()
			return multibody.NonFinite
		}
	}
	line := len(m.Parts)
	for k := range m.dry {
		b := &m.dry[k]
		if b.dir != 0 {
			b.force = b.slide(m.v[b.axis])
			m.force[b.axis] += b.force
			out := b.force * m.v[b.axis]
			m.powers[line+k] = circuit.Power{Loss: -out, Out: out}
		} else {
			m.powers[line+k] = circuit.Power{}
		}
	}
	line += len(m.dry)
	loss := 0.0
	for _, d := range m.damped {
		loss += (d.viscous*math.Abs(v[d.v]) + d.coulomb) * math.Abs(v[d.v])
	}
	in := 0.0
	for _, e := range m.efforts {
		f, _, _ := e.by.At(t)
		m.force[e.axis] += f
		in += f * m.v[e.axis]
	}
	m.powers[line+1] = circuit.Power{In: in, Out: in}
	clear(m.tau)
	for k, a := range m.axes {
		m.tau[a.iv] = m.force[k]
	}
	m.drive(t)
	if st := m.hold(q, v); st != multibody.OK {
		return st
	}
	st := multibody.Dynamics(m.Model, m.Data, q, v, m.tau)
	copy(dv, m.Data.QDD)
	for k := range m.dry {
		if b := &m.dry[k]; b.dir == 0 {
			dv[m.axes[b.axis].iv] = 0 // to the last bit
		}
	}
	loss += m.springLoss()
	m.powers[line] = circuit.Power{Loss: loss, Out: -loss}
	in = 0
	for _, d := range m.motions {
		in += m.Data.Lambda[d.row] * m.v[d.axis]
	}
	m.powers[line+2] = circuit.Power{In: in, Out: in}
	return st
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
	q, v, _ := m.cut(x)
	return multibody.Energy(m.Model, m.Data, q, v)
}
