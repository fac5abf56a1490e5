package identify

import (
	"context"

	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// regressLinear is least squares on position and force.
func (j *job) regressLinear(ctx context.Context) (*stage, error) {
	rec, err := j.single("regress")
	if err != nil {
		return nil, err
	}
	r, err := linear.InverseDynamics(rec, j.plan.Regress)
	if err != nil {
		return nil, err
	}
	st := &stage{sol: r.Solution(), settings: r.Spec, half: r.HalfCutoff}
	for _, e := range r.Estimates {
		st.share, st.terms = append(st.share, e.Share), append(st.terms, string(e.Term))
	}
	st.warnings = r.Warnings
	st.explain = func(recs []*record.Record) (*fit.Solution, error) { return r.Explain(recs[0]) }
	st.vary = func(context.Context) []Sensitivity { return j.shifted(rec) }
	return st, nil
}

// shifted repeats the fit with the force half a sample earlier and later: what its effective lag would do.
func (j *job) shifted(rec *record.Record) []Sensitivity {
	var out []Sensitivity
	n := len(rec.Force)
	for _, c := range []struct {
		what string
		by   int
	}{{"the force half a sample earlier", 1}, {"the force half a sample later", -1}} {
		d := *rec
		d.Warnings = nil
		d.Force = make([]float64, n)
		for k := range d.Force {
			d.Force[k] = (rec.Force[k] + rec.Force[min(max(k+c.by, 0), n-1)]) / 2
		}
		r, err := linear.InverseDynamics(&d, j.plan.Regress)
		if err != nil {
			continue
		}
		s := Sensitivity{What: c.what, RMS: r.Fit.RMS, Unit: r.Solution().Unit, Values: map[string]float64{}}
		for _, e := range r.Estimates {
			s.Values[e.Symbol] = e.Value
		}
		out = append(out, s)
	}
	return out
}
