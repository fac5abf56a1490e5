package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// StepOptions say what acts on a machine from outside while it is stepped.
type StepOptions struct {
	Movers       map[string]Mover // joints that make their own step
	TorqueJoints []string         // joints on which a torque is held, set by Push
	MotionJoints []string         // joints whose motion is told, by SetMotion
	Audited      bool             // energies are added up
}

// Stepper moves a machine with a fixed step, as real time wants it. The means of the step, speeds w and accelerations a, are found so that
//
//	w = v + h·a/2,   H(q+hw/2)·a + h(q+hw/2, w) = τ̄(w) + Jacᵀ·λ,   Jac·a = −bias,   q⁺ = q + hw,   v⁺ = v + h·a,
//
// which is the implicit midpoint rule: order 2. q⁺ and v⁺ are then brought to the constraints by the shortest way. The forces of
// parts, of dampers, springs and movers are implicit. Dampers and springs of joints and of bending are linear in the acceleration of
// their velocity alone: h/2·c + h²/4·k is added to its inertia, and a tree is solved joint by joint, without H. What is left acts along
// few directions P: velocities, joints that close loops, springs between frames. The accelerations along P follow linearly from the
// forces along P with the loops closed, so what is solved again and again is as small as P. The forces of motion, and the loads of joints
// that act on their friction, are met by repetition.
//
// x is the state of a Machine. It belongs to one goroutine.
type Stepper struct {
	M          *Machine
	LastStatus multibody.Status // of the last step
	Energies

	o                StepOptions
	ledMotions       []leading
	torqueVelocities []int // velocities
	push             []float64
	elastic          []elastic // between frames
	passive          []elastic // of joints and of bending
	movers           []moving
	failedMover      string // had no solution in the last step

	crossing   *multibody.Crossing // over singular positions
	inSingular bool                // in one: it stays so until Begin or Resume
	paced      bool                // the loops are cuts, and nobody leads joints
	pace       pace

	p           []direction
	placeOfAxis []int // place in p by axis; −1: none
	spatial     bool  // rows or loads want the bodies

	// scratch: nv
	w, lastW, a, a0, meanSpeeds, v1 []float64
	base, passiveTorque, total      []float64 // torques from outside; with those of dampers and springs; with those along P
	q1, qm                          []float64 // nq
	z1                              []float64
	col                             []float64 // p×nv
	// n axes
	tau, slope, trialSpeeds []float64
	// p
	tp, sp, hat, d, wp, vp, ap []float64
	constantForces             []float64 // forces that do not depend on the speeds
	speed, missed              []float64 // of refine
	filled                     [][2]int  // of each row of sp: first and behind the last that is not zero
	sloped                     bool      // any of them is not zero
	c                          []float64 // p×p  accelerations along P by the forces along P
	lu                         engine.LU
	powers                     []circuit.Power
	samples                    bool               // controllers sample
	savedState                 []float64          // state at the beginning of a step that is cut
	goal, origin               []multibody.Motion // of the joints that are led
	guess                      guess
	square                     float64 // by how much Newton's method changed the speeds last: its square is what it leaves
}

// leading is a joint whose motion is told: that at the beginning of the step and at its end.
type leading struct {
	axis, row              int
	generator              reference.Generator // of the file; nil: told from outside
	startMotion, endMotion multibody.Motion
}

// direction is one in which forces are implicit: a velocity, or row·v.
type direction struct {
	iv     int       // −1: row
	axis   *axis     // a cut, which has the row
	spring int       // between frames; −1: none
	row    []float64 // nv
	x      float64   // m  by how much the spring is longer than relaxed, in the middle of the step
}

func (p *direction) velocity(v []float64) float64 {
	if p.iv >= 0 {
		return v[p.iv]
	}
	return dot(p.row, v)
}

func (p *direction) push(f float64, tau []float64) {
	if p.iv >= 0 {
		tau[p.iv] += f
		return
	}
	for i, x := range p.row {
		tau[i] += f * x
	}
}

// elastic is damper and spring of a joint or of a mode of bending, at the velocity index and the position q, or between frames, at a place
// in p.
type elastic struct {
	index, q int
	c, k, x  float64 // N·m·s/rad, N·m/rad, rad
}

// pull is the force at the position x and the speed v.
func (e *elastic) pull(x, v float64) float64 { return -e.c*v - e.k*(x-e.x) }

// moving is a Mover at its joint.
type moving struct {
	Mover
	name           string
	axis, place    int // in p
	isFriction     bool
	rests          bool    // at the end of the last step
	startSpeed     float64 // rad/s  at the beginning of the step
	w, endSpeed, f float64 // rad/s, rad/s, N·m on the joint
	load, step     float64 // N·m  what the machine asks of it; by which f changed last
}

// At is the motion at the end of the step.
func (l *leading) At(float64) (pos, vel, acc float64) {
	return l.endMotion.X, l.endMotion.V, l.endMotion.A
}

// motionSuffix is what the torque of a motion that is told is called, behind the name of its joint.
const motionSuffix = ".motion"

// NewStepper checks a machine and what acts on it from outside. The error joins all that is wrong.
func NewStepper(spec Spec, o StepOptions) (*Stepper, error) {
	var errs []error
	s := &Stepper{o: o}
	movers := map[string]Mover{}
	for name, by := range o.Movers {
		movers[name] = by
	}
	// springs, dampers and friction of joints, and of flexible bodies, are implicit: they are taken out of the equations of motion
	spec.Bodies = slices.Clone(spec.Bodies)
	passive, bending := map[string]multibody.Joint{}, map[string]*multibody.Flex{}
	for i := range spec.Bodies {
		j := &spec.Bodies[i].Joint
		passive[spec.Bodies[i].Name] = *j
		if j.Coulomb > 0 {
			spec.Friction = append(slices.Clone(spec.Friction), Friction{Joint: spec.Bodies[i].Name, Law: &friction.Coulomb{Fc: j.Coulomb}})
		}
		j.Damping, j.Stiffness, j.Coulomb = 0, 0, 0
		if f := spec.Bodies[i].Flex; f != nil {
			bending[spec.Bodies[i].Name] = f
			spec.Bodies[i].Flex = &multibody.Flex{Nodes: f.Nodes, Stiffness: make([]float64, len(f.Stiffness))}
		}
	}
	dry := map[string]*sticking{}
	for _, f := range spec.Friction {
		if movers[f.Joint] != nil || dry[f.Joint] != nil {
			errs = append(errs, fmt.Errorf("joint %q: friction stands twice: in the machine and with what drives the joint", f.Joint))
			continue
		}
		if f.sticks() {
			by, err := newSticking(f.Law)
			if err != nil {
				errs = append(errs, fmt.Errorf("friction of joint %q: %w", f.Joint, err))
				continue
			}
			movers[f.Joint], dry[f.Joint] = by, by
		}
	}
	spec.Drives, spec.Motions = slices.Clone(spec.Drives), slices.Clone(spec.Motions)
	for _, joint := range o.MotionJoints {
		if slices.ContainsFunc(spec.Drives, func(d multibody.Drive) bool { return d.Joint == joint }) {
			errs = append(errs, fmt.Errorf("joint %q: its motion is prescribed already", joint))
			continue
		}
		spec.Drives, spec.Motions = append(spec.Drives, multibody.Drive{Name: joint + motionSuffix, Joint: joint}), append(spec.Motions, nil)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	spec.stepped = true
	m, err := New(spec)
	if err != nil {
		return nil, err
	}
	s.M = m
	for _, b := range m.followed {
		name := m.axes[b.Twist.A].name
		if movers[name] != nil {
			return nil, fmt.Errorf("joint %q: friction stands twice: in the machine and with what drives the joint", name)
		}
		movers[name] = &smoothed{b}
	}
	s.ledMotions = make([]leading, len(m.motions))
	for i := range m.motions {
		d := &m.motions[i]
		s.ledMotions[i] = leading{axis: d.axis, row: d.row, generator: d.generator}
		d.generator = &s.ledMotions[i] // the machine's own evaluations are those of the end of the step
	}
	for j := 1; j <= m.Model.Bodies(); j++ {
		name, kind, iq, iv := m.Model.JointOf(j)
		if is := passive[name]; is.Damping != 0 || is.Stiffness != 0 {
			for k := range kind.NV() {
				s.passive = append(s.passive, elastic{index: iv + k, q: iq, c: is.Damping, k: is.Stiffness, x: is.Rest})
			}
		}
		if f := bending[name]; f != nil {
			_, iq, iv := m.Model.Modes(j)
			for k, stiffness := range f.Stiffness {
				e := elastic{index: iv + k, q: iq + k, k: stiffness}
				if f.Damping != nil {
					e.c = f.Damping[k]
				}
				s.passive = append(s.passive, e)
			}
		}
	}
	for k := range m.Model.Springs() {
		stiffness, damping := m.Model.Spring(k)
		s.elastic = append(s.elastic, elastic{index: len(s.p), c: damping, k: stiffness})
		s.p = append(s.p, direction{iv: -1, spring: k, row: make([]float64, m.Model.NV())})
	}
	s.placeOfAxis = make([]int, len(m.axes))
	for k := range s.placeOfAxis {
		s.placeOfAxis[k] = -1
	}
	acts := func(k int) {
		switch a := &m.axes[k]; {
		case s.placeOfAxis[k] >= 0:
		case a.cutIndex < 0:
			s.placeOfAxis[k] = len(s.p)
			s.p = append(s.p, direction{iv: a.iv, spring: -1})
		default:
			s.placeOfAxis[k] = len(s.p)
			s.p = append(s.p, direction{iv: -1, axis: a, spring: -1, row: a.row})
		}
	}
	for _, k := range acted(m.Parts, len(m.axes)) {
		acts(k)
	}
	for _, joint := range o.TorqueJoints {
		k, err := m.Axis(joint)
		if err != nil {
			return nil, fmt.Errorf("torque from outside: %w", err)
		}
		s.torqueVelocities = append(s.torqueVelocities, m.axes[k].iv)
	}
	for k := range m.axes { // in their order: a map has none
		name := m.axes[k].name
		if by := movers[name]; by != nil {
			acts(k)
			_, smooth := by.(*smoothed)
			s.movers = append(s.movers, moving{Mover: by, name: name, axis: k, place: s.placeOfAxis[k], isFriction: dry[name] != nil || smooth})
			delete(movers, name)
		}
	}
	for _, l := range m.loads {
		if by := dry[m.axes[l.axis].name]; by != nil {
			by.load = l
		}
	}
	for joint := range movers {
		_, err := m.Axis(joint)
		return nil, fmt.Errorf("joint that moves by itself: %w", err)
	}
	s.spatial = len(m.loads) > 0 || slices.ContainsFunc(s.p, func(p direction) bool { return p.iv < 0 })
	s.room()
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *circuit.Circuit:
			p.Audited = o.Audited
		case interface{ Audit(on bool) }:
			p.Audit(o.Audited)
		}
	}
	return s, nil
}

// acted are the axes that parts act on.
func acted(parts []drivetrain.Part, n int) (axes []int) {
	add := func(list ...int) {
		for _, k := range list {
			if k >= 0 && !slices.Contains(axes, k) {
				axes = append(axes, k)
			}
		}
	}
	for _, p := range parts {
		switch p := p.(type) {
		case interface{ CoupledAxes() []int }: // a circuit, controllers
			add(p.CoupledAxes()...)
		case *drivetrain.Shaft:
			add(p.A, p.B)
		case *drivetrain.Belt:
			add(p.A, p.B)
		case *drivetrain.Contact:
			add(p.A, p.B)
		case *drivetrain.Bearing:
			add(p.A, p.B)
		default:
			for k := range n {
				add(k)
			}
		}
	}
	return axes
}

// room makes the workspace.
func (s *Stepper) room() {
	m := s.M
	n, nq, na := m.Model.NV(), m.Model.NQ(), len(m.axes)
	f := func(n int) []float64 { return make([]float64, n) }
	p := len(s.p)
	for _, x := range []*[]float64{&s.w, &s.lastW, &s.a, &s.a0, &s.meanSpeeds, &s.v1, &s.base, &s.passiveTorque, &s.total} {
		*x = f(n)
	}
	s.q1, s.qm = f(nq), f(nq)
	s.z1, s.push, s.col, s.tau, s.slope, s.trialSpeeds = f(len(m.states)), f(len(s.torqueVelocities)), f(p*n), f(na), f(na*na), f(na)
	s.tp, s.sp, s.hat, s.d, s.wp, s.vp, s.ap, s.c, s.lu = f(p), f(p*p), f(p), f(p*p), f(p), f(p), f(p), f(p*p), engine.NewLU(p)
	s.constantForces, s.speed, s.missed, s.filled = f(p), f(p), f(p), make([][2]int, p)
	s.powers = make([]circuit.Power, len(m.Parts))
	s.guess = newGuess(n)
	s.crossing = multibody.NewCrossing(m.Model, m.Data)
	s.paced = m.Model.Cuts() > 0 && len(s.ledMotions) == 0
	s.samples, s.savedState, s.goal, s.origin = m.sampling(), f(m.Size()), make([]multibody.Motion, len(s.ledMotions)),
		make([]multibody.Motion, len(s.ledMotions))
}

// NewState is the machine with all joints at zero and at rest.
func (s *Stepper) NewState() []float64 { return s.M.NewState() }

// SetMotion tells the motion of joint k of StepOptions.MotionJoints at the end of the next step.
func (s *Stepper) SetMotion(k int, x multibody.Motion) {
	s.ledMotions[len(s.ledMotions)-len(s.o.MotionJoints)+k].endMotion = x
}

// Push sets the torque (N·m, N) on joint k of StepOptions.TorqueJoints.
func (s *Stepper) Push(k int, torque float64) { s.push[k] = torque }

// Begin makes x consistent with the constraints at the time t (s), with the motions that were told, and forgets what came before.
func (s *Stepper) Begin(t float64, x []float64, how multibody.Assembly) (multibody.Assembled, error) {
	s.guess.forget()
	s.inSingular = false
	s.crossing.Clear()
	s.pace = pace{turning: math.Inf(1)}
	s.motions(t)
	q, v, _ := s.M.split(x)
	for k := range s.ledMotions {
		l, a := &s.ledMotions[k], &s.M.axes[s.ledMotions[k].axis]
		q[a.iq], v[a.iv] = l.endMotion.X, l.endMotion.V
	}
	done, err := s.M.Assemble(t, x, how)
	if err == nil {
		s.pace.leadsOverFlat = s.paced && s.crossing.Flattest(s.M.Data, q) < flatAngle
		s.start(t, x)
	}
	return done, err
}

// Place moves x to where the joints are led, the others by the shortest way, and its speeds to what they then are. It allocates nothing.
// x stays where the loops cannot be closed there.
func (s *Stepper) Place(x []float64) multibody.Status {
	q, v, _ := s.M.split(x)
	copy(s.q1, q)
	copy(s.v1, v)
	for k := range s.ledMotions {
		l, a := &s.ledMotions[k], &s.M.axes[s.ledMotions[k].axis]
		s.q1[a.iq], s.v1[a.iv] = l.endMotion.X, l.endMotion.V
		s.M.Data.Drive(k, l.endMotion)
	}
	st := multibody.Project(s.M.Model, s.M.Data, s.q1, s.v1)
	if st == multibody.OK {
		copy(q, s.q1)
		copy(v, s.v1)
	}
	return st
}

// Resume begins anew at the state x, which is consistent, at the time t (s): parts as they begin, energies from zero. It allocates nothing.
func (s *Stepper) Resume(t float64, x []float64) {
	m := s.M
	_, _, z := m.split(x)
	for k, p := range m.Parts {
		p.Reset(m.partStates(k, z))
	}
	s.guess.forget()
	s.inSingular = false
	s.crossing.Clear()
	s.pace = pace{leadsOverFlat: s.pace.leadsOverFlat, turning: math.Inf(1)}
	s.motions(t)
	s.start(t, x)
}

// motions sets the motions of the file for the end of the step, t (s); those from outside are told.
func (s *Stepper) motions(t float64) {
	for k := range s.ledMotions {
		if l := &s.ledMotions[k]; l.generator != nil {
			l.endMotion.X, l.endMotion.V, l.endMotion.A = l.generator.At(t)
		}
	}
}
