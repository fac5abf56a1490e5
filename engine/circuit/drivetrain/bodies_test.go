package drivetrain

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
)

// Looped is a Mechanics with closed loops, g(q) = 0. Each step offline holds them at the level of accelerations, each fixed step for its
// mean speeds; Project takes away what is left in positions and speeds.
type Looped interface {
	Mechanics
	Loops() int // equations; they may be redundant
	// Closed writes the Jacobian (Loops×n, rows first) at q and what is right of J·v′ = ρ at q, v.
	Closed(q, v, jac, rho []float64) engine.Status
	Project(q, v []float64) engine.Status
}

// Bodies is a multibody.Model as a Mechanics, with its loops. Springs of joints are in its energy; a damper of a joint takes energy
// that no line of the audit has: a Bearing in its place has one.
type Bodies struct {
	model *multibody.Model
	data  *multibody.Data
	names []engine.Signal
	zero  []float64
	known []float64 // q and v to which the terms in data belong
	speed []float64
}

// NewBodies takes a model whose joints all have one axis: the coordinates of parts are its joints, in the order of the bodies.
func NewBodies(m *multibody.Model) (*Bodies, error) {
	b := &Bodies{model: m, data: m.NewData(), zero: make([]float64, m.NV()), known: make([]float64, m.NV()), speed: make([]float64, m.NV())}
	b.forget()
	for j := 1; j <= m.Bodies(); j++ {
		name, kind, iq, iv := m.JointOf(j)
		unit := "rad"
		switch kind {
		case multibody.Revolute:
		case multibody.Prismatic:
			unit = "m"
		case multibody.Fixed:
			continue
		default:
			return nil, fmt.Errorf("joint %s: %v: parts act on joints with one axis", name, kind)
		}
		if iq != len(b.names) || iv != iq {
			return nil, fmt.Errorf("joint %s: coordinate %d, want %d", name, iq, len(b.names))
		}
		b.names = append(b.names, engine.Signal{Name: name + ".position", Unit: unit})
	}
	return b, nil
}

func (b *Bodies) forget() {
	for k := range b.known {
		b.known[k] = math.NaN()
	}
}

// Coordinates are the joints.
func (b *Bodies) Coordinates() []engine.Signal { return b.names }

// at finds the terms of the equations of motion at q, v unless they are known.
func (b *Bodies) at(q, v []float64) {
	if !slices.Equal(q, b.known) || !slices.Equal(v, b.speed) {
		multibody.Terms(b.model, b.data, q, v)
		copy(b.known, q)
		copy(b.speed, v)
	}
}

// Mass is the inertia matrix, armatures included.
func (b *Bodies) Mass(q, m []float64) {
	if !slices.Equal(q, b.known) {
		b.at(q, b.zero)
	}
	copy(m, b.data.H)
}

// Bias is what the joints need at constant speeds.
func (b *Bodies) Bias(q, v, c []float64) {
	b.at(q, v)
	copy(c, b.data.Tau)
}

// Energy is kinetic and potential.
func (b *Bodies) Energy(q, v []float64) float64 {
	multibody.Velocities(b.model, b.data, q, v)
	kinetic, potential := multibody.Energy(b.model, b.data, q, v)
	return kinetic + potential
}

// Loops is the number of equations of cuts, couplings and relations.
func (b *Bodies) Loops() int { return b.model.NC() }

// Closed takes Jacobian and bias of the loops.
func (b *Bodies) Closed(q, v, jac, rho []float64) engine.Status {
	b.at(q, v)
	copy(jac, b.data.Jac)
	for k, x := range b.data.Bias {
		rho[k] = -x
	}
	if !numeric.AllFinite(b.data.Tau...) || !numeric.AllFinite(rho...) {
		return engine.NonFinite
	}
	return engine.OK
}

// Project moves q and v to the loops.
func (b *Bodies) Project(q, v []float64) engine.Status {
	b.forget()
	switch multibody.Project(b.model, b.data, q, v) {
	case multibody.OK:
		return engine.OK
	case multibody.NotConverged:
		return engine.NotConverged
	}
	return engine.NonFinite
}
