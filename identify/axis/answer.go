package axis

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/identify/fit"
)

// Indistinct are the parameters of the model, or the combinations of them, that the records cannot tell by their nature,
// whatever the noise: the scale of the forces where none was recorded, and what acts alike on a motion in one direction.
// params are those that Problem was given.
func (m *Model) Indistinct(params []fit.Param) ([]fit.Indistinct, error) {
	all, err := m.merge(params)
	if err != nil {
		return nil, err
	}
	is := func(name string) bool {
		return slices.ContainsFunc(all, func(p fit.Param) bool { return p.Name == name && !p.Fixed })
	}
	var out []fit.Indistinct
	switch m.spec.Drive {
	case Coast:
		out = append(out, fit.Indistinct{Remark: true, Names: m.forces(all), Reason: fmt.Sprintf(
			"nothing drives the axis: only the ratios to the inertia %s are known, and the values hold for the %s they were found with",
			m.names.inertia, m.names.inertia),
			Advice: fmt.Sprintf("measure %s on its own, or record a run with a known %s", m.names.inertia, m.names.force)})
	case Spring:
		out = append(out, fit.Indistinct{Remark: true, Names: m.forces(all),
			Reason: "no force was compared: all forces are in proportion to the stiffness kd of the spring, and as uncertain",
			Advice: "measure kd on its own, with weights"})
	}
	// one direction only
	forward, backward := false, false
	for _, p := range m.pieces {
		for _, v := range p.v {
			forward, backward = forward || v > 0.05*m.roughSizes.v, backward || v < -0.05*m.roughSizes.v
		}
	}
	if !forward || !backward {
		var alike []string
		for _, name := range []string{"Fc", "Fc+", "Fc-", "offset"} {
			if is(name) {
				alike = append(alike, name)
			}
		}
		given := m.spec.NoLoad || slices.ContainsFunc(all, func(p fit.Param) bool { return p.Name == "offset" && p.Fixed })
		if given {
			alike = nil
		}
		if m.spec.Rotary && len(alike) == 1 || !m.spec.Rotary && len(alike) == 1 && alike[0] == "offset" {
			out = append(out, fit.Indistinct{Names: alike, Reason: "the axis moves in one direction only: a constant load, such as that of a " +
				"slope, acts like Coulomb friction, and their sum is all that is known",
				Advice: "record the motion in both directions, or measure the slope to better than the friction"})
		} else if len(alike) > 1 {
			out = append(out, fit.Indistinct{Names: alike, Reason: "the axis moves in one direction only: Coulomb friction and a constant load " +
				"act alike, and their sum is all that is known",
				Advice: "record the motion in both directions, or fix one of them"})
		}
		if !backward {
			forward = true
		}
		for _, p := range all {
			if !p.Fixed && (forward && strings.HasSuffix(p.Name, "-") || !forward && strings.HasSuffix(p.Name, "+")) {
				out = append(out, fit.Indistinct{Names: []string{p.Name}, Reason: "the axis never moves in this direction",
					Advice: "record the motion in both directions"})
			}
		}
	}
	return out, nil
}

// forces are the free parameters that are forces, or forces over motions.
func (m *Model) forces(all []fit.Param) []string {
	var names []string
	for _, p := range all {
		if !p.Fixed && (strings.Contains(p.Unit, "N") || strings.HasPrefix(p.Unit, "kg")) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Measured tells what the rows of the residual were measured to be.
func (e *evaluator) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	q := e.q
	y = make([]float64, 0, e.rows)
	for i, p := range q.m.pieces {
		pieces = append(pieces, len(y))
		for k := q.firstSample; k < e.n[i]; k += q.rowStep {
			y = append(y, p.measured[k])
		}
	}
	quantity, _ = q.m.compared()
	return y, quantity, pieces, q.m.pieces[0].dt * float64(q.rowStep)
}

// lift brings a break-away level below the Coulomb level up to it, where the law was simulated with both equal, and says so.
func (m *Model) lift(s *fit.Solution) {
	if m.law == nil || m.spec.Asymmetric || level(m.law) == nil || strengthens(m.law) {
		return
	}
	for _, name := range []string{"Fs", "Fs_inf"} {
		if i, j := fit.Index(s.Params, name), fit.Index(s.Params, "Fc"); i >= 0 && s.Params[i].Value < s.Params[j].Value {
			if !s.Params[i].Fixed {
				s.Notes = append(s.Notes, fmt.Sprintf("%s was tried below Fc: the record shows no break-away above sliding; %s = Fc was simulated "+
					"and is reported", name, name))
			}
			s.Params[i].Value = s.Params[j].Value
		}
	}
}

// CompleteSolution makes the answer of a solver on this model's Problem an answer about the model: the fixed parameters join the
// free ones, in the order of Params, and the rows get the force and the velocity of the record, for tests of what the
// residual depends on. params are those that Problem was given.
func (m *Model) CompleteSolution(params []fit.Param, s *fit.Solution) error {
	all, err := m.merge(params)
	if err != nil {
		return err
	}
	found := s.Params
	in := func(places []int) []int {
		out := make([]int, len(places))
		for j, i := range places {
			if out[j] = fit.Index(all, found[i].Name); out[j] < 0 { // a state of multiple shooting
				out[j], all = len(all), append(all, found[i])
			}
			all[out[j]] = found[i]
		}
		return out
	}
	s.FreeParams = in(s.FreeParams)
	s.Local = slices.Clone(s.Local)
	for k := range s.Local {
		s.Local[k].FreeParams = in(s.Local[k].FreeParams)
	}
	s.Params = all
	m.lift(s)
	kd := 0.0
	if i := fit.Index(all, "kd"); i >= 0 {
		kd = all[i].Value
	}
	s.Input, s.Velocity, s.Position, s.IsReferenceInput = nil, nil, nil, m.spec.Drive == Servo
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
			case s.IsReferenceInput:
				s.Input = append(s.Input, p.rec.Reference[k])
			case p.force != nil:
				s.Input = append(s.Input, p.force[k])
			case p.springEnd != nil:
				s.Input = append(s.Input, kd*(p.springEnd[k]-p.rec.Position[k]))
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
