package machine

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/multibody"
)

// Energies are what went in and was lost since the start, and what is stored (J). Input less Loss less the change of StoredEnergy is
// what the step misses.
type Energies struct {
	Input, Loss, StoredEnergy float64
	startEnergy               float64 // J  stored at the start
	leadPower                 float64 // W  of the motions that are told, at the end of the step before
}

// BalanceError is what the energies of the machine do not account for (J).
func (e *Energies) BalanceError() float64 { return e.Input - e.Loss - (e.StoredEnergy - e.startEnergy) }

// start begins the balance at the state x.
func (s *Stepper) start(t float64, x []float64) {
	for k := range s.movers {
		s.movers[k].f = 0
	}
	s.Energies = Energies{}
	if s.o.Audited {
		s.Forces(t, 0, x)
		s.startEnergy = s.StoredEnergy
	}
}

// energyOf is the energy (J) of a state.
func (s *Stepper) energyOf(q, v, z []float64) (kinetic, stored float64) {
	m := s.M
	m.setAxes(q, v)
	for k, p := range m.Parts {
		stored += p.StoredEnergy(m.q, m.partStates(k, z))
	}
	for k := range s.passive { // springs between frames are with the bodies
		if l := &s.passive[k]; l.k != 0 {
			d := q[l.q] - l.x
			stored += l.k * d * d / 2
		}
	}
	multibody.Velocities(m.Model, m.Data, q, v)
	kinetic, potential := multibody.Energy(m.Model, m.Data, q, v)
	return kinetic, stored + potential
}

// keepEnergy is setEnergy at the end of a part of h (s) that began with the energy before: constraints that stand still do no work. Where
// the way bends sharply the midpoint rule misses some of it, which the machine would keep.
func (s *Stepper) keepEnergy(h, before float64) {
	audited := s.Energies
	s.Energies = Energies{}
	s.spend(h, s.meanSpeeds)
	before += s.Input - s.Loss
	s.Energies = audited
	s.setEnergy(s.q1, s.v1, s.z1, before)
}

// setEnergy scales velocities by so much that the energy is that, unless it is far from it.
func (s *Stepper) setEnergy(q, v, z []float64, energy float64) {
	kinetic, stored := s.energyOf(q, v, z)
	if missed := (energy - stored - kinetic) / kinetic; math.Abs(missed) < paceEnergy {
		for i := range v {
			v[i] *= math.Sqrt(1 + missed)
		}
	}
}

// spend adds the means of the step at the speeds w.
func (s *Stepper) spend(h float64, w []float64) {
	for _, p := range s.powers {
		s.Input += h * p.Input
		s.Loss += h * p.Loss
	}
	for k := range s.passive {
		e := &s.passive[k]
		s.Loss += h * e.c * w[e.index] * w[e.index]
	}
	for k := range s.elastic {
		e := &s.elastic[k]
		rate := s.p[e.index].velocity(w)
		s.Loss += h * e.c * rate * rate
	}
	for i, f := range s.base {
		s.Input += h * f * w[i]
	}
	for i, f := range s.M.thrust {
		s.Input += h * f * w[i]
	}
	for k := range s.movers {
		b := &s.movers[k]
		if work := h * b.f * b.w; b.isFriction {
			s.Loss -= work
		} else {
			s.Input += work
		}
	}
}

// Forces takes accelerations and multipliers of the instant t (s), at the end of a step that led to x, with the motions that are told;
// those of movers without a curve are the means of the step. They stay in the Data of the machine, whose Lambda they are. It keeps the
// balance of the motions that are told and of what is stored.
func (s *Stepper) Forces(t, h float64, x []float64) multibody.Status {
	m := s.M
	q, v, z := m.split(x)
	s.externalTorques(t)
	clear(m.force)
	if len(m.cuts) > 0 {
		multibody.Positions(m.Model, m.Data, q)
		m.direct()
	}
	m.setAxes(q, v)
	for k, p := range m.Parts {
		if _, st := p.Flow(t, m.q, m.v, m.partStates(k, z), m.partStates(k, s.z1), m.force); st != engine.OK {
			s.failedMover = p.Name() + ": " + st.String()
			return multibody.NonFinite
		}
	}
	for k := range m.axes {
		m.axes[k].push(m.force[k], s.base)
	}
	for k := range s.passive {
		e := &s.passive[k]
		s.base[e.index] += e.pull(q[e.q], v[e.index])
	}
	for k := range s.movers {
		b, a := &s.movers[k], &m.axes[s.movers[k].axis]
		f := b.f
		if smooth, ok := b.Mover.(*smoothed); ok {
			f = -smooth.bearing.Friction(a.velocity(v))
		}
		a.push(f, s.base)
	}
	m.drive(t)
	m.tie(t, x)
	m.apply(t, q)
	st := multibody.Accelerate(m.Model, m.Data, q, v, s.base)
	if len(m.rows.rated) > 0 && st == multibody.OK {
		st = m.rated(func() multibody.Status { return multibody.Reaccelerate(m.Model, m.Data, q, v, s.base) })
	}
	if s.o.Audited && (st == multibody.OK || st == multibody.Singular) {
		leads := 0.0
		for k := range s.ledMotions {
			l := &s.ledMotions[k]
			leads += m.Data.Lambda[l.row] * v[m.axes[l.axis].iv]
		}
		for _, r := range m.rows.list {
			leads += m.Data.Lambda[r.eq] * dot(r.x, v)
		}
		s.Input += h / 2 * (s.leadPower + leads)
		s.leadPower = leads
		kinetic, stored := s.energyOf(q, v, z)
		s.StoredEnergy = kinetic + stored
	}
	return st
}
