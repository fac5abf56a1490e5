package axis

import (
	"errors"
	"fmt"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// Set is what may take the place of the model of an axis while it runs: a friction law with all its parameters, and numbers of the motor.
// Numbers are in SI, in the units of the axis.
type Set struct {
	Law    string             `json:"law"`
	Params map[string]float64 `json:"params"`          // by name; those for v < 0 end in friction.Backward
	Motor  map[string]float64 `json:"motor,omitempty"` // R, L, K, J, brush_drop, drop_current: those that change
}

// SetOf is the law of an axis as a set.
func SetOf(law friction.Model) *Set {
	return &Set{Law: friction.NameOf(law), Params: friction.Values(law)}
}

// Change is a model that is ready to be adopted. What it holds belongs to the axis from then on, until two more were adopted after it.
type Change struct {
	motor         plant.Motor
	law           friction.Model
	comp          *compensator
	model         *estimator.Contact
	twin          twin
	residualLimit float64 // N·m  residual that no friction explains
	tuning        estimator.Tuning

	s          Spec                // that of the axis, with the motor
	cachedLaws map[uint64]*madeLaw // by Block.key
}

// madeLaw is a law with all that is made of it. Other numbers are filled in where they are.
type madeLaw struct {
	law                    friction.Model
	params, backwardParams []*float64 // its numbers, and those for v < 0; nil: those of the file
	model                  *estimator.Contact
	comp                   *compensator // nil: the axis is not compensated
}

// WithSet is the specification with a set in place of law and motor.
func (s Spec) WithSet(set *Set) (Spec, error) {
	if s.Law == nil {
		return s, errors.New("the file gives this axis no friction law, so there is none to replace")
	}
	var err error
	if s.Law, err = friction.Build(set.Law, set.Params); err != nil {
		return s, err
	}
	if s.Motor, err = Edited(s.Motor, s.Drive, set.Motor); err != nil {
		return s, fmt.Errorf("motor: %w", err)
	}
	s.setMotor(s.Motor)
	return s, nil
}

// setMotor tells a motor to the descriptions of the filter.
func (s *Spec) setMotor(m plant.Motor) {
	s.Motor, s.Kalman.Motor = m, m
	if s.Mechanical.Inertia > 0 {
		s.Mechanical.Inertia = m.J
	}
}

// Check builds all that a set needs, and refuses what the axis cannot run. nil: the model of the file, which it runs.
func (s Spec) Check(set *Set) error {
	if set == nil {
		return nil
	}
	s, err := s.WithSet(set)
	if err != nil {
		return err
	}
	if s.compensates() {
		if _, err := newCompensator(s.Comp, s.Law, s.Motor.J, s.PID); err != nil {
			return fmt.Errorf("compensation: %w", err)
		}
	}
	if _, err := estimator.NewContact(s.Law); err != nil {
		return err
	}
	if _, err := s.estimate(); err != nil {
		return fmt.Errorf("estimator: %w", err)
	}
	return nil
}

// Changes makes the changes of an axis ready, one after the other, each in the memory of one that is in force no more: a core collects no
// garbage, and one that is given a model every minute must not grow. Three places are enough: while one is made ready a second may be in
// force and a third fade out. What is made of a law is kept by the kind of law, so memory is taken the first time alone.
type Changes struct {
	s         *Spec
	axis      *Axis
	place     [3]Change
	nextPlace int
}

// NewChanges are those of an axis with its specification.
func NewChanges(s *Spec, a *Axis) *Changes {
	c := &Changes{s: s, axis: a}
	for i := range c.place {
		c.place[i].cachedLaws = map[uint64]*madeLaw{}
	}
	return c
}

// Prepare makes the model of a block ready. It may take its time, beside the tick. The numbers are not checked, Check does; only what is
// made the first time can be refused. The change before it has been adopted, or discarded.
func (p *Changes) Prepare(b *Block) (*Change, error) {
	c := &p.place[p.nextPlace]
	c.s, c.motor = *p.s, p.s.Motor
	b.edit(&c.motor)
	c.s.setMotor(c.motor)
	m := c.cachedLaws[b.key()]
	if m == nil {
		var err error
		if m, err = c.make(b); err != nil {
			return nil, err
		}
		c.cachedLaws[b.key()] = m
	} else {
		b.fill(m.params, m.backwardParams)
		m.model.Renew()
		if m.comp != nil {
			m.comp.renew(c.motor.J, c.s.PID)
		}
	}
	c.law, c.model, c.comp = m.law, m.model, m.comp
	c.twin, c.residualLimit = twinOf(c.motor.J, c.law), unexplained*c.law.Levels().Rest.Max()
	if c.s.Drive == plant.VoltageDrive {
		p.axis.est.TuneElectrical(&c.tuning, c.s.kalman())
	} else {
		p.axis.est.TuneMechanical(&c.tuning, c.s.mechanical(), c.s.Motor.K, c.s.effort(1))
	}
	p.nextPlace = (p.nextPlace + 1) % len(p.place)
	return c, nil
}

// Discard takes the change back that was prepared last: it is not adopted.
func (p *Changes) Discard() { p.nextPlace = (p.nextPlace + len(p.place) - 1) % len(p.place) }

// make makes all that belongs to the law of a block, the first time.
func (c *Change) make(b *Block) (m *madeLaw, err error) {
	m = &madeLaw{law: c.s.Law}
	if set := b.Set(); set != nil {
		if m.law, err = friction.Build(set.Law, set.Params); err != nil {
			return nil, err
		}
		if sided, ok := m.law.(interface {
			Sides() (fore, back friction.Model)
		}); ok {
			fore, back := sided.Sides()
			m.params, m.backwardParams = friction.Bind(fore), friction.Bind(back)
		} else {
			m.params = friction.Bind(m.law)
		}
	}
	if c.s.compensates() {
		if m.comp, err = newCompensator(c.s.Comp, m.law, c.motor.J, c.s.PID); err != nil {
			return nil, fmt.Errorf("compensation: %w", err)
		}
	}
	m.model, err = estimator.NewContact(m.law)
	return m, err
}

// path is what makes a command of the wanted motion: law, inertia and the inverse of the drive. A new one and the one before run side by
// side while one fades into the other.
type path struct {
	comp  *compensator // nil: the axis is not compensated
	motor plant.Motor
}

// Fades tells whether a change still fades in: the next one has to wait.
func (a *Axis) Fades() bool { return a.previousPath.comp != nil }

// Adopt puts a change in force at the edge of a tick. Under way the command goes from the old path to the new one over the ramp of the
// compensation, and nobody learns meanwhile; at rest it is in force at once.
func (a *Axis) Adopt(c *Change, on bool) {
	if c.comp != nil {
		was := a.activePath.comp
		c.comp.adopt(was.targetScale, a.injected, a.pid.PID)
		c.comp.scale, c.comp.shaken, c.comp.rest = was.scale, was.shaken, was.rest
		if a.previousPath, a.faded = (path{}), 0; on && was.Ramp > 0 {
			a.previousPath = a.activePath
		}
		a.learns, _ = c.comp.law.(estimator.Learning)
	}
	a.activePath = path{comp: c.comp, motor: c.motor}
	a.s.Motor, a.s.Law, a.model, a.residualLimit = c.motor, c.law, c.model, c.residualLimit
	if a.frozen != nil {
		a.frozen.know(c.twin)
	}
	if a.momentum != nil {
		a.momentum.forget()
	}
	a.est.Adopt(&c.tuning)
	if a.stall != nil {
		*a.stall = stall{twin: c.twin, noise: a.stall.noise}
	}
}

// weight of the new path (0 … 1): it begins and ends without a jump of its slope.
func (a *Axis) weight() float64 {
	x := min(1, a.faded/a.activePath.comp.Ramp)
	return x * x * (3 - 2*x)
}
