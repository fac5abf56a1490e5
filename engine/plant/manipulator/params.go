// Package manipulator is a planar chain of bodies whose tip slides on an elastic beam [Lip]: a tree of joints and a beam of finite
// elements (engine/beam), joined by one constraint with the multiplier λ,
//
//	M_b(q_b)·q_b″ + h(q_b, q_b′) + J_Rᵀ·λ = τ,   M_c·q_c″ + D·q_c′ + K·q_c + Nᵀ·λ = P,   w(x) − y = 0
//
// Joints that are driven follow a given motion, and τ is what their drives have to give. Two formulations are integrated offline
// (Run): the whole system with its multiplier, and the source's partition, which eliminates one joint coordinate and λ. In real time
// (Machine) an implicit step of third order is taken, whose unknowns are those of the joints alone.
//
// The equations are the source's with its misprints set right; docs/evidence/differences.md lists them. λ > 0 presses on the beam from
// above. The contact is bilateral as in the source unless Params.Unilateral is set.
package manipulator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/beam"
	"hilrig/engine/friction"
)

// What Joint.Kind may be.
const (
	Revolute  = "revolute"  // the body turns about the joint
	Prismatic = "prismatic" // it moves along the x axis of the body before
)

// MostJoints bounds a chain.
const MostJoints = 6

// Joint is a joint of the chain and the body that it moves. Body axes have their origin in the joint; those of the ground are x along
// the beam and y upwards. Units are those of a revolute joint; a prismatic one has m for rad and N for N·m.
type Joint struct {
	Kind     string
	Location [2]float64 // m  where the joint sits on the body before, at coordinate zero
	Mass     float64    // kg
	Inertia  float64    // kg·m²  about the centre of mass
	Center   [2]float64 // m  centre of mass, in axes of the body
	Spring   float64    // N·m/rad
	Rest     float64    // rad  coordinate at which the spring is relaxed
	Damping  float64    // N·m·s/rad
	Drive    *Drive     // nil: the joint is free
}

// Drive is the motion that a driven joint is given: from Start it is brought to Rate within Ramp, by the polynomial
// 10x³ − 15x⁴ + 6x⁵ of the speed, and keeps it. With Ramp = 0 the speed is there at once, and an impulse starts the rest.
type Drive struct {
	Start float64 // rad
	Rate  float64 // rad/s
	Ramp  float64 // s
}

// At is coordinate, speed and acceleration at t (s).
func (d *Drive) At(t float64) (q, v, a float64) {
	switch {
	case t <= 0 && d.Ramp > 0:
		return d.Start, 0, 0
	case t >= d.Ramp:
		return d.Start + d.Rate*(t-d.Ramp/2), d.Rate, 0
	}
	x := t / d.Ramp
	return d.Start + d.Rate*d.Ramp*x*x*x*x*(2.5-x*(3-x)), d.Rate * x * x * x * (10 - x*(15-6*x)),
		d.Rate / d.Ramp * 30 * x * x * (1 - x) * (1 - x)
}

// Params describe chain, beam and contact. The tip is a point of the last body.
type Params struct {
	Joints     []Joint
	Tip        [2]float64 // m  in axes of the last body
	Beam       beam.Params
	Gravity    float64        // m/s²  on chain and beam
	Unilateral bool           // the contact opens where it would have to pull
	Friction   friction.Model // on the beam, with the contact force as its normal load; nil: none
}

// Paper is the example of the source, with what it leaves open chosen as in the theory of this program: base, drive from −120° with a ramp
// of 0.1 s to rate (rad/s), clamped beam.
func Paper(rate float64) Params {
	arm := func(kind string, at, center float64) Joint {
		return Joint{Kind: kind, Location: [2]float64{at}, Mass: 1, Inertia: 0.1, Center: [2]float64{center}}
	}
	first := arm(Revolute, 0.5, 0.15)
	first.Location[1] = 0.68
	first.Drive = &Drive{Start: -2 * math.Pi / 3, Rate: rate, Ramp: 0.1}
	slider := Joint{Kind: Revolute, Location: [2]float64{0.3}, Mass: 0.5, Inertia: 0.01, Spring: 4, Damping: 0.04}
	third, fourth := arm(Prismatic, 0, -0.15), arm(Revolute, 0, 0.15)
	third.Spring, third.Rest, third.Damping = 15, 0.25, 0.8
	fourth.Spring, fourth.Damping = 4, 0.04
	return Params{Joints: []Joint{first, slider, third, fourth}, Tip: [2]float64{0.3}, Beam: beam.Paper()}
}

// Check tells all that is wrong with the parameters.
func (p *Params) Check() []engine.Problem {
	var errs []error
	add := func(path, format string, a ...any) { errs = append(errs, engine.Problemf(path, format, a...)) }
	if n := len(p.Joints); n == 0 || n > MostJoints {
		add("joints", "%d, want 1 to %d", n, MostJoints)
	}
	finite := func(path string, x ...float64) {
		for _, v := range x {
			if v-v != 0 {
				add(path, "%g, want a finite number", v)
				return
			}
		}
	}
	notBelow := func(path string, v float64, unit string) {
		if !(v >= 0) || math.IsInf(v, 0) {
			add(path, "%g %s, want >= 0", v, unit)
		}
	}
	free := 0
	for i := range p.Joints {
		j, at := &p.Joints[i], fmt.Sprintf("joints[%d]", i)
		if j.Kind != Revolute && j.Kind != Prismatic {
			add(at+".kind", "%q, want %s or %s", j.Kind, Revolute, Prismatic)
		}
		finite(at+".at", j.Location[:]...)
		finite(at+".center", j.Center[:]...)
		finite(at+".rest", j.Rest)
		notBelow(at+".mass", j.Mass, "kg")
		notBelow(at+".inertia", j.Inertia, "kg·m²")
		notBelow(at+".spring", j.Spring, engine.UnitOn(j.Kind != Prismatic, "N/m"))
		notBelow(at+".damping", j.Damping, engine.UnitOn(j.Kind != Prismatic, "N·s/m"))
		if j.Drive == nil {
			free++
			continue
		}
		finite(at+".drive.start", j.Drive.Start)
		finite(at+".drive.rate", j.Drive.Rate)
		notBelow(at+".drive.ramp", j.Drive.Ramp, "s")
	}
	if free == 0 && len(p.Joints) > 0 {
		add("joints", "every joint is driven: one at least has to give way to the beam")
	}
	finite("tip", p.Tip[:]...)
	finite("gravity", p.Gravity)
	for _, bad := range p.Beam.Check() {
		add("beam."+bad.Path, "%s", bad.Text)
	}
	if p.Friction != nil {
		if err := p.Friction.Validate(); err != nil {
			add("friction", "%v", err)
		}
		if _, ok := p.Friction.(friction.Flow); !ok {
			add("friction", "this law has a stick mode of its own and moves a mass itself; on the beam a law with a differential form is "+
				"wanted: %v", flowing())
		}
	}
	return engine.Problems(errors.Join(errs...))
}

// flowing are the names of the laws that the contact can have.
func flowing() (names []string) {
	for _, info := range friction.Laws() {
		if _, ok := info.NewLaw().(friction.Flow); ok {
			names = append(names, info.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Model is built once, then constant and shared.
type Model struct {
	p            Params
	beam         *beam.Beam
	n            int       // joints
	freeJoints   []int     // those that are free
	drivenJoints []int     // those that are driven
	weight       []float64 // N, N·m  of the beam, in its coordinates
}

// New checks the parameters; the error joins *engine.Problem. A chain that a free joint can move without inertia is refused.
func New(p Params) (*Model, error) {
	var errs []error
	for _, bad := range p.Check() {
		errs = append(errs, &bad)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	b, err := beam.New(p.Beam)
	if err != nil {
		return nil, err
	}
	p.Joints = slices.Clone(p.Joints)
	m := &Model{p: p, beam: b, n: len(p.Joints), weight: make([]float64, b.N)}
	b.AddWeight(p.Gravity, m.weight)
	for i := range p.Joints {
		if p.Joints[i].Drive == nil {
			m.freeJoints = append(m.freeJoints, i)
		} else {
			m.drivenJoints = append(m.drivenJoints, i)
		}
	}
	// a joint moves itself and all behind it: their mass must not vanish
	last := m.freeJoints[len(m.freeJoints)-1]
	mass, inertia := 0.0, 0.0
	for _, j := range p.Joints[last:] {
		mass, inertia = mass+j.Mass, inertia+j.Inertia+j.Mass*(j.Center[0]*j.Center[0]+j.Center[1]*j.Center[1])
	}
	if p.Joints[last].Kind == Prismatic && mass == 0 || p.Joints[last].Kind == Revolute && inertia == 0 {
		return nil, engine.Problemf(fmt.Sprintf("joints[%d]", last), "nothing behind this free joint has %s: give the last bodies some",
			map[string]string{Prismatic: "mass", Revolute: "mass off the joint, or inertia"}[p.Joints[last].Kind])
	}
	return m, nil
}

// Beam is that of the model.
func (m *Model) Beam() *beam.Beam { return m.beam }

// Params are those it was built of.
func (m *Model) Params() Params { return m.p }
