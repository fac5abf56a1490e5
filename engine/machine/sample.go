package machine

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/multibody"
)

// sampler is a part that changes its states at instants of its own: a controller that samples.
type sampler interface {
	NextSample(t float64) float64 // the first one after t (s)
	// Sample changes the states z of the part whose instant is t (s), to slack (s), where the axes are at q with the speeds v.
	Sample(t, slack float64, q, v, z []float64)
}

// shower is a part with numbers that are no states.
type shower interface {
	DerivedSignals() []engine.Signal
	Show(y []float64) (n int) // as they were at the last Flow or Trial; how many
}

// sampling tells whether a part samples at all.
func (m *Machine) sampling() bool {
	return !math.IsInf(m.nextSample(0), 1)
}

// nextSample is the first sample of any part after t (s).
func (m *Machine) nextSample(t float64) float64 {
	next := math.Inf(1)
	for _, p := range m.Parts {
		if s, ok := p.(sampler); ok {
			next = min(next, s.NextSample(t))
		}
	}
	return next
}

// sample lets the parts sample whose instant is t (s).
func (m *Machine) sample(t, slack float64, x []float64) {
	q, v, z := m.split(x)
	m.setAxes(q, v)
	for k, p := range m.Parts {
		if s, ok := p.(sampler); ok {
			s.Sample(t, slack, m.q, m.v, m.partStates(k, z))
		}
	}
}

// partSignals are the numbers of parts that are no states.
func (m *Machine) partSignals() (list []engine.Signal) {
	for _, p := range m.Parts {
		if s, ok := p.(shower); ok {
			list = append(list, s.DerivedSignals()...)
		}
	}
	return list
}

// show writes them and returns how many there are.
func (m *Machine) show(y []float64) (n int) {
	for _, p := range m.Parts {
		if s, ok := p.(shower); ok {
			n += s.Show(y[n:])
		}
	}
	return n
}

// Step moves x from t by h, both in s, and allocates nothing. Controllers sample at their instants: the step is cut there, unless there
// are Movers, whose owner cuts it with SubStep. Where something is NonFinite, or the loops cannot be closed, which is NotConverged with
// LastStatus the same, x stays as it was. Lost stays until Begin or Resume. StatusText says what is wrong.
func (s *Stepper) Step(t, h float64, x []float64) engine.Status {
	if !s.divided(h) {
		return s.stride(t, h, x)
	}
	copy(s.savedState, x)
	for k := range s.ledMotions {
		s.goal[k], s.origin[k] = s.ledMotions[k].endMotion, s.ledMotions[k].startMotion
	}
	slack := sampleSlack * h
	worst := engine.OK
	for at, left := t, h; ; {
		if s.samples {
			s.M.sample(at, slack, x)
		}
		d := left
		if len(s.o.Movers) == 0 {
			d = s.subStep(at, left, slack)
		}
		if d < left {
			s.halfway(at+d-t, h)
		} else {
			for k := range s.ledMotions {
				s.ledMotions[k].endMotion = s.goal[k]
			}
		}
		st := s.stride(at, d, x)
		if st == engine.NonFinite || s.LastStatus != multibody.OK && s.LastStatus != multibody.Singular {
			copy(x, s.savedState)
			for k := range s.ledMotions {
				s.ledMotions[k].endMotion = s.origin[k]
			}
			return st
		}
		worst = max(worst, st)
		if d == left {
			return worst
		}
		at, left = at+d, left-d
	}
}

// divided tells whether a step of which h (s) is left is cut.
func (s *Stepper) divided(h float64) bool {
	return h > 0 && (s.samples || s.paced && s.pace.part(h, s.crossing.Angle(), s.crossing.TimeToSingular()) < h)
}

// sampleSlack is the share of a step by which the clock of the caller may be off the instant of a sample.
const sampleSlack = 1e-6

// SubStep is the length of the step from t (s), at most h (s), that ends where a controller samples next.
func (s *Stepper) SubStep(t, h float64) float64 {
	if !s.divided(h) {
		return h
	}
	return s.subStep(t, h, sampleSlack*h)
}

func (s *Stepper) subStep(t, h, slack float64) float64 {
	if s.paced {
		h, s.pace.remaining = s.pace.part(h, s.crossing.Angle(), s.crossing.TimeToSingular()), h
	}
	if !s.samples {
		return h
	}
	if next := s.M.nextSample(t + slack); next < t+h-slack {
		return next - t
	}
	return h
}

// halfway tells joints whose motion is told from outside where they are after part of the step h (s): on the cubic between its ends.
func (s *Stepper) halfway(part, h float64) {
	x, v, _ := s.M.split(s.savedState)
	for k := range s.ledMotions {
		l := &s.ledMotions[k]
		if l.generator != nil {
			continue
		}
		a := &s.M.axes[l.axis]
		x0, v0, x1, v1 := x[a.iq], v[a.iv], s.goal[k].X, s.goal[k].V
		u := part / h
		l.endMotion.X = x0 + u*(h*v0+u*(3*(x1-x0)-h*(2*v0+v1)+u*(h*(v0+v1)-2*(x1-x0))))
		l.endMotion.V = v0 + u/h*(2*(3*(x1-x0)-h*(2*v0+v1))+3*u*(h*(v0+v1)-2*(x1-x0)))
		l.endMotion.A = (2*(3*(x1-x0)-h*(2*v0+v1)) + 6*u*(h*(v0+v1)-2*(x1-x0))) / (h * h)
	}
}
