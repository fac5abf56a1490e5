package axis

import (
	"math"
	"slices"
	"strings"

	"hilrig/identify/fit"
)

// Complete makes the answer of a solver on Problem an answer about the model: the fixed parameters join the free ones, in
// the order of Params, and the rows get what drove the axis (the reference in closed loop, the force in open loop) and its
// velocity. params are those that Problem was given.
func (l *Loop) Complete(params []fit.Param, s *fit.Solution) error {
	all, err := l.merge(params)
	if err != nil {
		return err
	}
	for j, i := range s.Free {
		at := slices.IndexFunc(all, func(p fit.Param) bool { return p.Name == s.Params[i].Name })
		all[at] = s.Params[i]
		s.Free[j] = at
	}
	s.Params = all
	s.Input, s.Velocity, s.Position = nil, nil, nil
	for i, d := range l.pieces {
		n := len(d.Position)
		if note := l.pulses[i].note; note != "" {
			s.Notes = append(s.Notes, note)
		}
		in := l.pulses[i].drive
		if l.closed() {
			in = d.Reference
		}
		for k := 0; k < n; k += l.step() {
			a, b := max(k-4, 0), min(k+4, n-1)
			s.Velocity = append(s.Velocity, (d.Position[b]-d.Position[a])/(float64(b-a)*d.Dt))
			s.Input, s.Position = append(s.Input, in[k]), append(s.Position, d.Position[k])
		}
	}
	return nil
}

// Explain tells how well given parameters explain these records, without any fit: a law found on one record is judged on
// another. Starts of pieces are those of these records, whatever params says of x0 and v0.
func (l *Loop) Explain(params []fit.Param) (fit.Misfit, error) {
	params = slices.DeleteFunc(slices.Clone(params), func(p fit.Param) bool {
		return strings.HasPrefix(p.Name, "x0") || strings.HasPrefix(p.Name, "v0")
	})
	for i := range params {
		p := &params[i]
		p.Fixed, p.Lo, p.Hi = true, min(p.Lo, p.Value), max(p.Hi, p.Value)
	}
	all, err := l.merge(params)
	if err != nil {
		return fit.Misfit{}, err
	}
	for i := range all {
		all[i].Fixed = true
	}
	p := l.problem(all, 1)
	e := l.evaluator(all, 1)
	r := make([]float64, p.Rows)
	e.Residuals(nil, r)
	y, _, _, _ := e.Measured()
	m := fit.MisfitOf(y, r, 0)
	if math.IsNaN(m.RMS) {
		m.RMS = math.Inf(1)
	}
	return m, nil
}
