package machine

import (
	"hilrig/engine"
	"hilrig/engine/multibody"
)

// Energies are what went in and was lost since the start, and what is stored (J). In less Loss less the change of Stored is what the step
// misses.
type Energies struct {
	In, Loss, Stored float64
	begun            float64 // J  stored at the start
	leads            float64 // W  of the motions that are told, at the end of the step before
}

// Missing is what the energies of the machine do not account for (J).
func (e *Energies) Missing() float64 { return e.In - e.Loss - (e.Stored - e.begun) }

// start begins the balance at the state x.
func (s *Stepper) start(t float64, x []float64) {
	for k := range s.movers {
		s.movers[k].f = 0
	}
	s.Energies = Energies{}
	if s.o.Audited {
		s.Forces(t, 0, x)
		s.begun = s.Stored
	}
}

// stored is the energy (J) of the state x.
func (s *Stepper) stored(x []float64) (e float64) {
	m := s.M
	q, v, z := m.cut(x)
	m.look(q, v)
	for k, p := range m.Parts {
		e += p.Stored(m.q, m.own(k, z))
	}
	for k := range s.passive { // springs between frames are with the bodies
		if l := &s.passive[k]; l.k != 0 {
			d := q[l.q] - l.x
			e += l.k * d * d / 2
		}
	}
	multibody.Velocities(m.Model, m.Data, q, v)
	kinetic, potential := m.energy(x)
	return e + kinetic + potential
}

// spend adds the means of the step at the speeds w.
func (s *Stepper) spend(h float64, w []float64) {
	for _, p := range s.powers {
		s.In += h * p.In
		s.Loss += h * p.Loss
	}
	for k := range s.passive {
		e := &s.passive[k]
		s.Loss += h * e.c * w[e.at] * w[e.at]
	}
	for k := range s.elastic {
		e := &s.elastic[k]
		rate := s.p[e.at].along(w)
		s.Loss += h * e.c * rate * rate
	}
	for i, f := range s.base {
		s.In += h * f * w[i]
	}
	for i, f := range s.M.thrust {
		s.In += h * f * w[i]
	}
	for k := range s.movers {
		b := &s.movers[k]
		if work := h * b.f * b.w; b.dry {
			s.Loss -= work
		} else {
			s.In += work
		}
	}
}

// Forces takes accelerations and multipliers of the instant t (s), at the end of a step that led to x, with the motions that are told;
// those of movers are the means of the step. They stay in the Data of the machine, whose Lambda they are. It keeps the balance of the
// motions that are told and of what is stored.
func (s *Stepper) Forces(t, h float64, x []float64) multibody.Status {
	m := s.M
	q, v, z := m.cut(x)
	s.outside(t)
	clear(m.force)
	if len(m.cuts) > 0 {
		multibody.Positions(m.Model, m.Data, q)
		m.direct()
	}
	m.look(q, v)
	for k, p := range m.Parts {
		if _, st := p.Flow(t, m.q, m.v, m.own(k, z), m.own(k, s.z1), m.force); st != engine.OK {
			s.who = p.Name() + ": " + st.String()
			return multibody.NonFinite
		}
	}
	for k := range m.axes {
		m.axes[k].push(m.force[k], s.base)
	}
	for k := range s.passive {
		e := &s.passive[k]
		s.base[e.at] += e.pull(q[e.q], v[e.at])
	}
	for k := range s.movers {
		b := &s.movers[k]
		m.axes[b.axis].push(b.f, s.base)
	}
	m.drive(t)
	m.tie(t, x)
	m.apply(t, q)
	st := multibody.Accelerate(m.Model, m.Data, q, v, s.base)
	if len(m.rows.rated) > 0 && st == multibody.OK {
		st = m.rated(func() multibody.Status { return multibody.Again(m.Model, m.Data, q, v, s.base) })
	}
	if s.o.Audited && (st == multibody.OK || st == multibody.Singular) {
		leads := 0.0
		for k := range s.led {
			l := &s.led[k]
			leads += m.Data.Lambda[l.row] * v[m.axes[l.axis].iv]
		}
		for _, r := range m.rows.list {
			leads += m.Data.Lambda[r.eq] * dot(r.x, v)
		}
		s.In += h / 2 * (s.leads + leads)
		s.leads = leads
		s.Stored = s.stored(x)
	}
	return st
}
