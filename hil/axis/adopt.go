package axis

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

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

// Change is a set that is ready to be adopted. What it holds belongs to the axis from then on.
type Change struct {
	motor plant.Motor
	law   friction.Model
	comp  *compensator
	model *estimator.Contact
	twin  twin
	most  float64         // N·m  residual that no friction explains
	est   *estimator.Axis // nil: that in force
}

// With is the specification with a set in place of law and motor.
func (s Spec) With(set *Set) (Spec, error) {
	if s.Law == nil {
		return s, errors.New("the file gives this axis no friction law, so there is none to replace")
	}
	var err error
	if s.Law, err = friction.Build(set.Law, set.Params); err != nil {
		return s, err
	}
	if len(set.Motor) > 0 {
		if s.Motor, err = edited(s.Motor, s.Drive, set.Motor); err != nil {
			return s, fmt.Errorf("motor: %w", err)
		}
	}
	s.Kalman.Motor = s.Motor
	if s.Mechanical.Inertia > 0 {
		s.Mechanical.Inertia = s.Motor.J
	}
	return s, nil
}

// edited is a motor with other numbers.
func edited(m plant.Motor, drive plant.DriveKind, values map[string]float64) (plant.Motor, error) {
	at := map[string]*float64{"J": &m.J, "K": &m.K}
	if drive == plant.VoltageDrive {
		at["R"], at["L"], at["brush_drop"], at["drop_current"] = &m.R, &m.L, &m.BrushDrop, &m.DropScale
	}
	for name, v := range values {
		known, drop := at[name], strings.HasPrefix(name, "brush") || strings.HasPrefix(name, "drop")
		switch {
		case known == nil:
			return m, fmt.Errorf("no number %s; there are %s", name, strings.Join(slices.Sorted(maps.Keys(at)), ", "))
		case !(v > 0) && !(drop && v == 0) || math.IsInf(v, 0):
			return m, fmt.Errorf("%s: %g, want a positive number", name, v)
		case *known == 0 && drive != plant.VoltageDrive:
			return m, fmt.Errorf("%s is not known in the file, and nothing uses it", name)
		}
		*known = v
	}
	return m, nil
}

// Prepare builds what a set needs, or without one the model of the specification again; filter says that the numbers of the motor are not those in force, and the filter is built anew. It is
// pure, may take its time, and refuses what the axis cannot run.
func (s Spec) Prepare(set *Set, filter bool) (*Change, error) {
	var err error
	if set != nil {
		if s, err = s.With(set); err != nil {
			return nil, err
		}
	}
	c := &Change{motor: s.Motor, law: s.Law, twin: twinOf(s.Motor.J, s.Law), most: unexplained * s.Law.Levels().Rest.Max()}
	if s.compensates() {
		if c.comp, err = newCompensator(s.Comp, s.Law, s.Motor.J, s.PID); err != nil {
			return nil, fmt.Errorf("compensation: %w", err)
		}
	}
	if c.model, err = estimator.NewContact(s.Law); err != nil {
		return nil, err
	}
	if filter {
		if c.est, err = s.estimate(); err != nil {
			return nil, fmt.Errorf("estimator: %w", err)
		}
	}
	return c, nil
}

// path is what makes a command of the wanted motion: law, inertia and the inverse of the drive. A new one and the one before run side by
// side while one fades into the other.
type path struct {
	comp  *compensator // nil: the axis is not compensated
	motor plant.Motor
}

// Fades tells whether a change still fades in: the next one has to wait.
func (a *Axis) Fades() bool { return a.old.comp != nil }

// Adopt puts a change in force at the edge of a tick. Under way the command goes from the old path to the new one over the ramp of the
// compensation, and nobody learns meanwhile; at rest it is in force at once.
func (a *Axis) Adopt(c *Change, on bool) {
	if c.comp != nil {
		was := a.now.comp
		c.comp.adopt(was.wanted, a.injected, a.pid.PID)
		c.comp.scale, c.comp.shaken, c.comp.rest = was.scale, was.shaken, was.rest
		if a.old, a.faded = (path{}), 0; on && was.Ramp > 0 {
			a.old = a.now
		}
		a.learns, _ = c.comp.law.(estimator.Learning)
	}
	a.now = path{comp: c.comp, motor: c.motor}
	a.s.Motor, a.s.Law, a.model, a.most = c.motor, c.law, c.model, c.most
	if a.frozen != nil {
		a.frozen.know(c.twin)
	}
	if c.est != nil {
		c.est.Inherit(a.est)
		a.est = c.est
	}
	if a.stall != nil {
		*a.stall = stall{twin: c.twin, noise: a.stall.noise}
	}
}

// weight of the new path (0 … 1): it begins and ends without a jump of its slope.
func (a *Axis) weight() float64 {
	x := min(1, a.faded/a.now.comp.Ramp)
	return x * x * (3 - 2*x)
}
