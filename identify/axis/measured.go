package axis

import (
	"fmt"

	"hilrig/identify/fit"
)

// Measured tells what the rows of the residual were measured to be.
func (e *evaluator) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	q := e.q
	for i, p := range q.m.pieces {
		pieces = append(pieces, len(y))
		for k := q.first; k < e.n[i]; k += q.every {
			y = append(y, p.measured[k])
		}
	}
	quantity, _ = q.m.compared()
	return y, quantity, pieces, q.m.pieces[0].dt * float64(q.every)
}

// lift brings a break-away level below the Coulomb level up to it, where the law was simulated with both equal, and says so.
func (m *Model) lift(s *fit.Solution) {
	if m.law == nil || m.spec.Asymmetric || level(m.law) == nil || strengthens(m.law) {
		return
	}
	for _, name := range []string{"Fs", "Fs_inf"} {
		if i, j := fit.Index(s.Params, name), fit.Index(s.Params, "Fc"); i >= 0 && s.Params[i].Value < s.Params[j].Value {
			if !s.Params[i].Fixed {
				s.Notes = append(s.Notes, fmt.Sprintf("%s was tried below Fc: the record shows no break-away above sliding; %s = Fc was simulated and is reported", name, name))
			}
			s.Params[i].Value = s.Params[j].Value
		}
	}
}

// Complete makes the answer of a solver on this model's Problem an answer about the model: the fixed parameters join the
// free ones, in the order of Params, and the rows get the force and the velocity of the record, for tests of what the
// residual depends on. params are those that Problem was given.
func (m *Model) Complete(params []fit.Param, s *fit.Solution) error {
	all, err := m.merge(params)
	if err != nil {
		return err
	}
	free := make([]int, len(s.Free))
	for j, i := range s.Free {
		if free[j] = fit.Index(all, s.Params[i].Name); free[j] < 0 { // a state of multiple shooting
			free[j], all = len(all), append(all, s.Params[i])
		}
		all[free[j]] = s.Params[i]
	}
	s.Params, s.Free = all, free
	m.lift(s)
	kd := 0.0
	if i := fit.Index(all, "kd"); i >= 0 {
		kd = all[i].Value
	}
	s.Input, s.Velocity, s.Position = nil, nil, nil
	first := m.first(all)
	for _, p := range m.pieces {
		if p.pulses.note != "" {
			s.Notes = append(s.Notes, p.pulses.note)
		}
		for k := first; k < p.n; k += m.spec.Decimate {
			s.Velocity = append(s.Velocity, p.v[k])
			if len(p.rec.Position) == p.n {
				s.Position = append(s.Position, p.rec.Position[k])
			}
			switch {
			case m.spec.Drive == Servo:
				s.Input = append(s.Input, p.rec.Reference[k])
			case p.force != nil:
				s.Input = append(s.Input, p.force[k])
			case p.far != nil:
				s.Input = append(s.Input, kd*(p.far[k]-p.rec.Position[k]))
			}
		}
	}
	// the gaps of multiple shooting stand behind the record
	gaps := make([]float64, max(0, len(s.Residual)-len(s.Velocity)))
	s.Velocity = append(s.Velocity, gaps...)
	if s.Input != nil {
		s.Input = append(s.Input, gaps...)
	}
	return nil
}
