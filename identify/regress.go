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
	return st, nil
}
