package machine

import (
	"context"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/multibody"
)

// Stepped is what a run of fixed steps met.
type Stepped struct {
	Steps               int
	NotMet, Singular    int     // steps whose equations were not met, and that ended in a singular position
	UnmetAt, SingularAt float64 // s  the first of them
	Reason              string  // of the first that was not met
	Residual, Rate      float64 // largest |g| (m, rad) and |dg/dt| after a step
	Audit               *circuit.Audit
}

// Run takes n steps of h (s) from the state x at t = 0, where Begin left it, as a loop in real time takes them, and tells each sample,
// one every so many steps and the last. Steps whose equations are not met are counted and gone on from; the error is a *Failure where a
// loop would have to begin anew, or that of the context or of each. StepOptions.Audited has to be set.
func (s *Stepper) Run(ctx context.Context, x []float64, h float64, n, every int, each func(*Sample) error) (r Stepped, err error) {
	if !s.o.Audited || len(s.o.MotionJoints) > 0 || len(s.o.Movers) > 0 {
		panic("machine: Run: want a machine with its audit that nothing outside leads")
	}
	fail := func(t float64, problem string) error {
		return &Failure{T: t, Problem: problem + "; a shorter step may go through", Position: s.M.positionText(x)}
	}
	sample := Sample{X: make([]float64, s.M.Size())}
	for k := 0; ; k++ {
		t := float64(k) * h
		if k > 0 {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			before := float64(k-1) * h
			st := s.Step(before, h, x)
			if st == engine.NonFinite || st == engine.Lost || s.LastStatus != multibody.OK && s.LastStatus != multibody.Singular {
				return r, fail(before, s.StatusText())
			}
			r.Steps = k
			if st != engine.OK {
				if r.NotMet++; r.NotMet == 1 {
					r.UnmetAt, r.Reason = t, s.StatusText()
				}
			}
		}
		singular := s.LastStatus == multibody.Singular
		switch st := s.Forces(t, min(float64(k), 1)*h, x); {
		case st == multibody.Singular:
			singular = true
		case st != multibody.OK:
			return r, fail(t, s.M.named(st))
		}
		if singular && k > 0 {
			if r.Singular++; r.Singular == 1 {
				r.SingularAt = t
			}
		}
		sample.Residual, sample.Rate = s.M.Data.Residual()
		r.Residual, r.Rate = max(r.Residual, sample.Residual), max(r.Rate, sample.Rate)
		if k%every == 0 || k == n {
			s.sample(t, x, &sample)
			if err := each(&sample); err != nil {
				return r, err
			}
		}
		if k == n {
			r.Audit = &circuit.Audit{Lines: []circuit.Energies{{Name: "machine", Input: s.Input, Loss: s.Loss,
				StoredChange: s.StoredEnergy - s.startEnergy}}}
			return r, nil
		}
	}
}

// sample shows the state x at t (s), after Forces. Friction is the mean of the last step.
func (s *Stepper) sample(t float64, x []float64, p *Sample) {
	m := s.M
	copy(p.X, x)
	p.T, p.Input, p.Loss, p.Lambda = t, s.Input, s.Loss, m.Data.Lambda
	for k := range m.dryJoints {
		for i := range s.movers {
			if s.movers[i].axis == m.dryJoints[k].axis {
				m.dryJoints[k].force = s.movers[i].f
			}
		}
	}
	q, v, _ := m.split(x)
	multibody.Velocities(m.Model, m.Data, q, v)
	p.Kinetic, p.Potential = m.energy(x)
	for k := range s.elastic {
		if l := &s.elastic[k]; l.k != 0 && l.q >= 0 {
			d := q[l.q] - l.x
			p.Potential += l.k * d * d / 2
		}
	}
}
