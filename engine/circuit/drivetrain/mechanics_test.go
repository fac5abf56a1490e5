package drivetrain

import (
	"errors"
	"fmt"

	"hilrig/engine"
)

// Mechanics is a system of bodies with n coordinates: M(q)·v′ + c(q, v) = τ, v = q′.
type Mechanics interface {
	Coordinates() []engine.Signal  // names and units of q
	Mass(q, m []float64)           // M, n×n row-major, symmetric and positive definite
	Bias(q, v, c []float64)        // c: Coriolis forces and those of potentials
	Energy(q, v []float64) float64 // J  kinetic and potential
}

// Inertias are bodies that turn or slide one by one: M is diagonal and constant.
type Inertias []Inertia

// Inertia is one of them.
type Inertia struct {
	Name string
	J    float64 // kg·m², or kg where Linear
	// Pull is a constant force (N·m) that opposes positive motion: a weight on a drum. Its potential is Pull·q.
	Pull   float64
	Linear bool
}

// Coordinates are the angles or positions.
func (m Inertias) Coordinates() []engine.Signal {
	var s []engine.Signal
	for _, b := range m {
		unit := "rad"
		if b.Linear {
			unit = "m"
		}
		s = append(s, engine.Signal{Name: b.Name + ".position", Unit: unit})
	}
	return s
}

// Mass is diagonal.
func (m Inertias) Mass(q, a []float64) {
	clear(a)
	for k, b := range m {
		a[k*len(m)+k] = b.J
	}
}

// Bias is the constant forces.
func (m Inertias) Bias(q, v, c []float64) {
	for k, b := range m {
		c[k] = b.Pull
	}
}

// Energy is kinetic and that of the constant forces.
func (m Inertias) Energy(q, v []float64) (e float64) {
	for k, b := range m {
		e += b.J*v[k]*v[k]/2 + b.Pull*q[k]
	}
	return e
}

func (m Inertias) validate() error {
	var errs []error
	if len(m) == 0 {
		errs = append(errs, errors.New("mechanics: no inertias"))
	}
	for k, b := range m {
		name := b.Name
		if name == "" {
			name = fmt.Sprintf("inertia %d", k+1)
		}
		if err := atLeast("J", b.J, "kg·m²", true); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		if !isFinite(b.Pull) {
			errs = append(errs, fmt.Errorf("%s: pull: %g N·m, want a finite number", name, b.Pull))
		}
	}
	return errors.Join(errs...)
}
