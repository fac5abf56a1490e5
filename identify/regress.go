package identify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// regressLinear is least squares on position and force.
func (j *job) regressLinear(ctx context.Context) (*stage, error) {
	form := cmp.Or(j.plan.Form, linear.Direct)
	r, err := linear.Fit(j.recs.Fit, j.plan.Regress, form, j.options())
	if err != nil {
		return nil, err
	}
	return j.stageOf(r), nil
}

// options are those of a regression of the plan.
func (j *job) options() linear.Options {
	return linear.Options{NoiseRatio: j.plan.NoiseRatio, Unattenuated: true}
}

// stageOf is the stage of a regression of one axis.
func (j *job) stageOf(r *linear.Result) *stage {
	form := cmp.Or(j.plan.Form, linear.Direct)
	o := j.options()
	st := linearStage(r)
	as := j.plan.Regress // in the band of the fit
	as.Cutoff, as.Decimate, as.Trim = r.Spec.Cutoff, r.Spec.Decimate, r.Spec.Trim
	st.title = map[linear.Form]string{
		linear.Weak: "weak form, linear least squares", linear.Instrumental: "inverse dynamics, instrumental variables",
		linear.Total: "inverse dynamics, total least squares",
	}[form]
	st.explain = func(recs []*record.Record) (*fit.Solution, error) { return r.Explain(recs...) }
	st.noisier = func(seed uint64) *fit.Solution {
		s, err := r.Noisier(j.recs.Fit, form, o, seed)
		if err != nil {
			return nil
		}
		return s
	}
	if r.NoiseShare() < minNoiseShare {
		st.noisier = nil
	}
	if r.OneWay && !j.offsetKnown() {
		st.doubts = append(st.doubts, fit.Doubt(fit.OneDirection, "what moves fast enough to be fitted goes in one direction, where friction "+
			"and an unknown constant force (weight, zero of the sensor) are one number. Record both directions, or give the constant force: "+
			"parameters: {offset: 0}"))
	}
	long := samples(j.recs.Fit) > comparedForms
	if long {
		st.warnings = append(st.warnings, fmt.Sprintf("more than %.0f million samples: direct and weak form were not compared",
			comparedForms/1e6))
	}
	st.vary = func(context.Context) (out []Sensitivity) {
		if !r.Lagged() {
			out = j.shifted(as, form, o)
		}
		if !long {
			out = append(out, j.filtered(r, as, form, o)...)
		}
		if what, values, rms := r.AlternativeHold(); values != nil {
			out = append(out, Sensitivity{What: what, RMS: rms, Unit: r.Solution().Unit, Values: values})
		}
		if !long {
			out = append(out, j.otherForm(as, form)...)
		}
		return out
	}
	return st
}

// linearStage is the stage of a regression.
func linearStage(r *linear.Result) *stage {
	st := &stage{sol: r.Solution(), assessment: r.Assessment(), settings: r.Spec, halfCutoff: r.HalfCutoff,
		warnings: r.Warnings, doubts: slices.Clone(r.Doubts)}
	for _, e := range r.Estimates {
		st.share, st.terms = append(st.share, e.Share), append(st.terms, string(e.Term))
	}
	return st
}

// minNoiseShare is the share of what a regression leaves over from which on noise of the position, which is in its columns too, is
// looked at.
const minNoiseShare = 1e-3

// comparedForms is the number of samples up to which two forms are compared: it takes as long as the fit itself.
const comparedForms = 2e6

// otherForm repeats a fit of rows in the weak form and the other way round: both weigh the same motion, each in its own way.
func (j *job) otherForm(spec linear.Spec, form linear.Form) []Sensitivity {
	other := map[linear.Form]linear.Form{linear.Direct: linear.Weak, linear.Weak: linear.Direct}[form]
	if other == "" {
		return nil
	}
	r, err := linear.Fit(j.recs.Fit, spec, other, linear.Options{Unattenuated: true, ValuesOnly: true})
	if err != nil {
		return nil
	}
	s := varied(r, "the "+map[linear.Form]string{linear.Weak: "weak form", linear.Direct: "direct form"}[other])
	s.Form = true
	return []Sensitivity{s}
}

// varied is a fit that took something else for granted.
func varied(r *linear.Result, what string) Sensitivity {
	s := Sensitivity{What: what, RMS: r.Fit.RMS, Unit: r.Solution().Unit, Values: map[string]float64{}, halfIntervals: map[string]float64{}}
	for _, e := range r.Estimates {
		s.Values[e.Symbol], s.halfIntervals[e.Symbol] = e.Value, (e.RobustCI95[1]-e.RobustCI95[0])/2
	}
	return s
}

// shifted repeats the fit with the force half a sample earlier and later: what an effective lag would do.
func (j *job) shifted(spec linear.Spec, form linear.Form, o linear.Options) []Sensitivity {
	var out []Sensitivity
	o.ValuesOnly = true
	spec.Lag = linear.LagFixed // the record does not tell it: else it would make up for the half sample
	for _, c := range []struct {
		variant string
		shift   int
	}{{"the force half a sample earlier", 1}, {"the force half a sample later", -1}} {
		var moved []*record.Record
		for _, rec := range j.recs.Fit {
			d, n := *rec, len(rec.Force)
			d.Warnings, d.Force = nil, make([]float64, n)
			for k := range d.Force {
				d.Force[k] = (rec.Force[k] + rec.Force[min(max(k+c.shift, 0), n-1)]) / 2
			}
			moved = append(moved, &d)
		}
		if r, err := linear.Fit(moved, spec, form, o); err == nil {
			out = append(out, varied(r, c.variant))
		}
	}
	return out
}

// filtered repeats a fit with a filter of first order in place of a lag of more than a sample: of the force where it acts later than it is
// stamped, of the position where it acts earlier. The filter that leaves nothing of the lag is found on the straight line between none and
// that of the whole lag. What is left over is compared with what the filter lets pass of the noise of its channel, which both channels
// behind it tell.
func (j *job) filtered(r *linear.Result, spec linear.Spec, form linear.Form, o linear.Options) []Sensitivity {
	const what = "a filter of first order in place of the lag"
	o.ValuesOnly = true
	own, lag := varied(r, what), r.Lag()
	at := slices.IndexFunc(r.Estimates, func(e linear.Estimate) bool { return e.Term == linear.Lag })
	if at < 0 || !(math.Abs(lag) > j.recs.Fit[0].Dt) || j.recs.Fit[0].Velocity != nil {
		return nil
	}
	behind := func(time float64, force, position bool) *Sensitivity {
		var recs []*record.Record
		for _, rec := range j.recs.Fit {
			d := *rec
			if d.Warnings = nil; force {
				d.Force = filter.FirstOrder(d.Force, time, d.Dt)
			}
			if position {
				d.Position = filter.FirstOrder(d.Position, time, d.Dt)
			}
			recs = append(recs, &d)
		}
		f, err := linear.Fit(recs, spec, form, o)
		if err != nil {
			return nil
		}
		s := varied(f, what)
		return &s
	}
	name := r.Estimates[at].Symbol
	later, time := lag > 0, math.Abs(lag)
	whole := behind(time, later, !later)
	if whole == nil {
		return nil
	}
	if share := lag / (lag - whole.Values[name]); share > 0 && share < 1 {
		time *= share
	}
	other, both := behind(time, later, !later), behind(time, true, true)
	if other == nil || both == nil {
		return nil
	}
	passed := r.NoiseShare() // of what is left over, that of the channel without the filter
	if !later {
		passed = 1 - passed
	}
	other.RMS *= own.RMS / math.Sqrt((1-passed)*both.RMS*both.RMS+passed*own.RMS*own.RMS)
	delete(other.Values, name)
	return []Sensitivity{*other}
}

// twoJoint is the same for two coupled joints.
func (j *job) twoJoint(ctx context.Context) (*stage, error) {
	r, err := linear.TwoJoint(j.recs.Fit, j.recs.Second, j.plan.Regress, j.plan.Joints)
	if err != nil {
		return nil, err
	}
	st := linearStage(r)
	st.explain = func(recs []*record.Record) (*fit.Solution, error) { return r.ExplainJoints(recs, j.recs.SecondVal) }
	return st, nil
}
