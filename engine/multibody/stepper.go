package multibody

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// Method is a way to step a machine in time.
type Method uint8

const (
	// Midpoint takes the accelerations in the middle of the step, with damping and springs of the joints and those between bodies
	// implicit there: order 2, stable for any of these. It carries friction laws, whose joints are solved together, each by the step of its law; the normal
	// load of a law is that at the beginning of the step.
	Midpoint Method = iota
	// RK4 is the classical method of Runge and Kutta: order 4, without friction laws.
	RK4
)

// Options of a Stepper.
type Options struct {
	Method   Method
	Friction map[string]friction.Model // law of a revolute or prismatic joint, of the tree or a cut
	Drives   []func(t float64) Motion  // of each Drive of the specification
	Start    float64                   // s  time of the first step
}

// Stepper is a machine as an engine.System with a fixed step: x = [q | v | states of the friction laws], u the torques of the joints,
// held over a step. The constraints are met by Project after every step. Outputs: multipliers, mean over the step with Midpoint and
// those of the last stage with RK4; friction of the joints with a law, mean over the step; kinetic and potential energy, |g| and
// |dg/dt| at the end. It belongs to one goroutine.
type Stepper struct {
	T         float64 // s  time at the end of the last step
	Last      Status  // of the last step, and how many were Singular
	Singulars int

	m      *Model
	d      *Data
	o      Options
	layout engine.Layout
	joints []frictionJoint
	na     int

	torque, q1, v1, mid []float64
	implicit            []float64
	springs             springSteps
	k                   [4][]float64 // slopes of RK4
	y                   []float64
}

// frictionJoint is a joint with a law; it is the law's load for a step.
type frictionJoint struct {
	name         string
	kind         Kind
	body, iq, iv int       // of a joint of the tree
	cut          int       // of a joint that closes a loop; −1: of the tree
	row          []float64 // of a cut: its speed is row·v
	rests        bool      // a cut: it rested at the end of the last step
	at           int       // of its states in the auxiliary states
	law          friction.Model
	mass         *friction.Mass
	f, w         float64   // mean friction and mean speed over the step
	u            float64   // load
	column       []float64 // response to its torque
	x            []float64
}

// along is what x (nv) does to the joint.
func (j *frictionJoint) along(x []float64) float64 {
	if j.cut < 0 {
		return x[j.iv]
	}
	return dot(j.row, x)
}

// rub takes its friction off the torques.
func (j *frictionJoint) rub(torque []float64) {
	if j.cut < 0 {
		torque[j.iv] -= j.f
		return
	}
	for i, x := range j.row {
		torque[i] -= j.f * x
	}
}

// Span and At are those of a constant load.
func (*frictionJoint) Span(tau, h, x float64) {}

func (j *frictionJoint) At(tau, x, v float64) (force, dx, dv float64) { return j.u, 0, 0 }

// NewStepper checks the options. A joint of the model with a Coulomb level and no law gets the law of that name: a sign in the
// equations of motion would chatter.
func NewStepper(m *Model, o Options) (*Stepper, error) {
	s := &Stepper{m: m, d: m.NewData(), o: o, T: o.Start}
	var errs []error
	if len(o.Drives) != len(m.loops.drives) {
		errs = append(errs, fmt.Errorf("%d motions for %d drives", len(o.Drives), len(m.loops.drives)))
	}
	laws := map[int]friction.Model{}
	for j := 1; j < len(m.body); j++ {
		if fc := m.body[j].joint.Coulomb; fc > 0 {
			laws[j] = &friction.Coulomb{Fc: fc}
		}
	}
	cuts := map[int]friction.Model{}
	for name, law := range o.Friction {
		j, err := m.Joint(name)
		k, none := m.Cut(name)
		switch {
		case err == nil && none == nil:
			errs = append(errs, fmt.Errorf("friction: %q is a joint and a cut: give one of them another name", name))
		case none == nil && m.loops.cuts[k].free == Fixed:
			errs = append(errs, fmt.Errorf("friction: cut %q has no one axis: a law belongs to a revolute, point or prismatic one", name))
		case none == nil:
			cuts[k] = law
		case err != nil:
			errs = append(errs, fmt.Errorf("friction: %w; or that of a cut", err))
		case m.body[j].nv != 1:
			errs = append(errs, fmt.Errorf("friction: joint %q is %v: a law belongs to a revolute or prismatic one", name, m.body[j].kind))
		case laws[j] != nil:
			errs = append(errs, fmt.Errorf("friction: joint %q has a Coulomb level too: leave one out", name))
		default:
			laws[j] = law
		}
	}
	if len(laws)+len(cuts) > 0 && o.Method != Midpoint {
		errs = append(errs, errors.New("friction laws are stepped by the method Midpoint only"))
	}
	for j := 1; j < len(m.body); j++ {
		if law, b := laws[j], &m.body[j]; law != nil {
			errs = append(errs, s.lay(law, frictionJoint{name: b.name, kind: b.kind, body: j, iq: b.iq, iv: b.iv, cut: -1}))
		}
	}
	for k := range m.loops.cuts {
		if law, c := cuts[k], &m.loops.cuts[k]; law != nil {
			errs = append(errs, s.lay(law, frictionJoint{name: c.name, kind: c.free, cut: k, row: make([]float64, m.nv)}))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.layout = s.describe()
	n, nq := m.nv, m.nq
	s.torque, s.q1, s.v1, s.mid, s.implicit = make([]float64, n), make([]float64, nq), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range s.k {
		s.k[i] = make([]float64, nq+n)
	}
	s.y = make([]float64, nq+n)
	s.springs = newSpringSteps(m)
	return s, nil
}

// lay gives a joint its law.
func (s *Stepper) lay(law friction.Model, j frictionJoint) error {
	if err := law.Validate(); err != nil {
		return fmt.Errorf("friction of joint %q: %w", j.name, err)
	}
	mass, err := friction.NewMass(1, friction.Clone(law), friction.Midpoint)
	if err != nil {
		return fmt.Errorf("friction of joint %q: %w", j.name, err)
	}
	j.at, j.law, j.mass, j.column, j.x = s.na, law, mass, make([]float64, s.m.nv), mass.NewState()
	s.joints = append(s.joints, j)
	s.na += law.StateDim()
	return nil
}

// FrictionPower is what the laws took in the last step, mean over it (W).
func (s *Stepper) FrictionPower() (sum float64) {
	for i := range s.joints {
		sum += s.joints[i].f * s.joints[i].w
	}
	return sum
}

// Data is the scratch of the stepper: after a step, Positions and constraint values of its end.
func (s *Stepper) Data() *Data { return s.d }

// NewState is x for the positions q and velocities v, with relaxed friction. Redundant constraints are found there: what counts as
// Singular are fewer independent ones.
func (s *Stepper) NewState(q, v []float64) []float64 {
	s.drive(s.T)
	s.m.learn(s.d, q, v)
	x := append(append(slices.Clone(q), v...), make([]float64, s.na)...)
	for i := range s.joints {
		j := &s.joints[i]
		copy(x[len(q)+len(v)+j.at:], j.mass.NewState()[2:])
	}
	return x
}

// Step advances x by dt (s) under the torques u. With NonFinite x is left as it was.
func (s *Stepper) Step(dt float64, x, u, y []float64) engine.Status {
	m := s.m
	q, v, z := x[:m.nq], x[m.nq:m.nq+m.nv], x[m.nq+m.nv:]
	st := OK
	if s.o.Method == RK4 {
		st = s.runge(dt, q, v, u)
	} else {
		st = s.midpoint(dt, q, v, z, u)
	}
	if st == NonFinite || st == NotPositive {
		s.Last = st
		return engine.NonFinite
	}
	if st == Singular {
		s.Singulars++
	}
	s.drive(s.T + dt)
	if p := Project(m, s.d, s.q1, s.v1); p != OK {
		if s.Last = p; p != NotConverged {
			return engine.NonFinite
		}
		st = p
	}
	s.Last = st
	s.T += dt
	copy(q, s.q1)
	copy(v, s.v1)
	for i := range s.joints {
		j := &s.joints[i]
		copy(z[j.at:], j.x[2:])
		if j.rests = j.x[1] == 0; j.rests && j.cut < 0 && math.Abs(v[j.iv]) < still {
			v[j.iv] = 0 // stopped by its law: the rounding of the projection would set it loose
		}
	}
	s.outputs(q, v, y)
	if st == NotConverged {
		return engine.NotConverged
	}
	return engine.OK
}

func (s *Stepper) drive(t float64) {
	for k, f := range s.o.Drives {
		s.d.Drive(k, f(t))
	}
}

// elastic puts into torque what acts on the joints over h (s) from q, v, and into implicit what the acceleration changes of it.
func (s *Stepper) elastic(h float64, q, v, u []float64) {
	for j := 1; j < len(s.m.body); j++ {
		b := &s.m.body[j]
		t := &b.joint
		for i := b.iv; i < b.iv+b.nv; i++ {
			s.torque[i] = u[i] - t.Damping*v[i]
			s.implicit[i] = h / 2 * t.Damping
		}
		if k := t.Stiffness; k != 0 {
			s.torque[b.iv] -= k * (q[b.iq] + h/2*v[b.iv] - t.Rest)
			s.implicit[b.iv] += h * h / 4 * k
		}
		if f := b.flex; f != nil {
			for i := range f.n {
				k, c, a, da := f.k[i], f.c[i], q[f.iq+i], v[f.ia+i]
				s.torque[f.ia+i] = u[f.ia+i] - c*da - k*(a+h/2*da)
				s.implicit[f.ia+i] = h/2*c + h*h/4*k
			}
		}
	}
}

// half finds the mean acceleration over h from q, v with the equations of motion at qm, vm.
func (s *Stepper) half(h float64, q, v, z, u, qm, vm []float64) Status {
	m, d := s.m, s.d
	s.elastic(h, q, v, u)
	copy(d.Implicit, s.implicit)
	d.Springless = len(m.springs) > 0
	st := m.prepare(d, qm, vm)
	clear(d.Implicit)
	d.Springless = false
	if st != OK {
		return st
	}
	m.delassus(d)
	if st := s.springs.prepare(m, d, h, v); st != OK {
		return st
	}
	s.resolve()
	if len(s.joints) == 0 {
		return m.conclude(d)
	}
	for i := range s.joints {
		j := &s.joints[i]
		if j.cut < 0 {
			m.response(d, j.iv, j.column)
		} else {
			m.CutRow(d, j.cut, j.row)
			copy(j.column, j.row)
			m.answer(d, j.column)
		}
		s.springs.yield(j.column)
	}
	met := s.rub(h, q, v, z)
	for i := range s.joints {
		s.joints[i].rub(s.torque)
	}
	s.resolve()
	if st := m.conclude(d); st != OK || met {
		return st
	}
	return NotConverged
}

// resolve finds QDD and Lambda for torque, with the mean forces of the springs over the step.
func (s *Stepper) resolve() {
	copy(s.d.QDD, s.torque)
	s.m.resolve(s.d)
	if s.springs.pull(s.d) {
		copy(s.d.QDD, s.torque)
		s.springs.act(s.m, s.d)
		s.m.resolve(s.d)
	}
}

// still is the speed (m/s, rad/s) up to which joints that stick in one loop may disagree: the accuracy of the projection.
const still = 1e-10

// rub solves the friction of all joints over h, one joint after the other until none changes: each is a mass under its law, and the
// friction of the others a part of its load.
func (s *Stepper) rub(h float64, q, v, z []float64) bool {
	const most = 100
	for range most {
		change, size := 0.0, 0.0 // of the speeds
		for i := range s.joints {
			j := &s.joints[i]
			c, a, speed := j.along(j.column), j.along(s.d.QDD), j.along(v)
			for k := range s.joints {
				if k != i {
					a -= s.joints[k].f * j.along(s.joints[k].column)
				}
			}
			j.x[0], j.x[1] = 0, speed
			if j.cut < 0 {
				j.x[0] = q[j.iq]
			} else if j.rests && math.Abs(speed) < still {
				speed, j.x[1] = 0, 0
			}
			copy(j.x[2:], z[j.at:])
			if !(c > 1e-12*s.loosest(j)) {
				continue // held by the constraints
			}
			j.mass.M, j.u = 1/c, a/c
			r := j.mass.Step(h, j.x, j)
			f := j.u - j.mass.M*(j.x[1]-speed)/h // F of the step; of a law that stops a slow mass by decree what that takes
			change, size = math.Max(change, math.Abs(f-j.f)*c*h), math.Max(size, math.Abs(speed)+math.Abs(a)*h)
			j.f, j.w = f, r.W
			if r.Status == engine.NonFinite {
				return false
			}
		}
		if change <= still*(1+size) || len(s.joints) == 1 {
			return true
		}
	}
	return false
}

// loosest is the response of a joint without the constraints, at least.
func (s *Stepper) loosest(j *frictionJoint) float64 {
	if j.cut < 0 {
		return 1 / s.d.H[j.iv*s.m.nv+j.iv]
	}
	copy(s.d.y, j.row)
	s.m.halfSolve(s.d, s.d.y)
	return dot(s.d.y, s.d.y)
}

func (s *Stepper) midpoint(dt float64, q, v, z, u []float64) Status {
	m, d := s.m, s.d
	s.springs.begin(m, d, q)
	// to the middle
	s.drive(s.T)
	st := s.half(dt/2, q, v, z, u, q, v)
	if st != OK && st != Singular && st != NotConverged {
		return st
	}
	if len(s.joints) > 0 {
		for i := range s.joints {
			if j := &s.joints[i]; j.cut >= 0 {
				m.RubCut(d, j.cut, j.f)
			}
		}
		Loads(m, d, v)
		for i := range s.joints {
			j := &s.joints[i]
			load := 0.0
			if j.cut >= 0 {
				load = m.CutLoad(d, j.cut)
			} else {
				load = m.NormalLoad(d, j.body)
			}
			j.mass.N = math.Max(load, math.SmallestNonzeroFloat64) // 0 would be the nominal load
		}
	}
	for i := range v {
		s.mid[i] = v[i] + dt/4*d.QDD[i]
		s.v1[i] = v[i] + dt/2*d.QDD[i]
	}
	Integrate(m, q, s.mid, dt/2, s.q1)
	// and over the step
	s.drive(s.T + dt/2)
	if st = s.half(dt, q, v, z, u, s.q1, s.v1); st != OK && st != Singular && st != NotConverged {
		return st
	}
	for i := range v {
		s.mid[i] = v[i] + dt/2*d.QDD[i]
		s.v1[i] = v[i] + dt*d.QDD[i]
	}
	for i := range s.joints {
		if j := &s.joints[i]; j.cut < 0 {
			s.mid[j.iv] = j.w // a joint may have stopped within the step
		}
	}
	Integrate(m, q, s.mid, dt, s.q1)
	return st
}

func (s *Stepper) runge(dt float64, q, v, u []float64) Status {
	m, d, nq := s.m, s.d, s.m.nq
	worst := OK
	for k, c := range [4]float64{0, 0.5, 0.5, 1} {
		at, rate := s.y[:nq], s.y[nq:]
		copy(at, q)
		copy(rate, v)
		if k > 0 {
			for i, x := range s.k[k-1] {
				s.y[i] += c * dt * x
			}
		}
		s.drive(s.T + c*dt)
		st := Dynamics(m, d, at, rate, u)
		if st != OK && st != Singular {
			return st
		}
		worst = max(worst, st)
		Rates(m, at, rate, s.k[k][:nq])
		copy(s.k[k][nq:], d.QDD)
	}
	for i := range s.y {
		x := dt / 6 * (s.k[0][i] + 2*s.k[1][i] + 2*s.k[2][i] + s.k[3][i])
		if i < nq {
			s.q1[i] = q[i] + x
		} else {
			s.v1[i-nq] = v[i-nq] + x
		}
	}
	Normalise(m, s.q1)
	return worst
}

func (s *Stepper) outputs(q, v, y []float64) {
	n := copy(y, s.d.Lambda)
	for i := range s.joints {
		y[n] = s.joints[i].f
		n++
	}
	Velocities(s.m, s.d, q, v)
	y[n], y[n+1] = Energy(s.m, s.d, q, v)
	y[n+2], y[n+3] = s.d.Residual()
}
