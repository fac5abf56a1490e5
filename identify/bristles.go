package identify

import (
	"context"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/curve"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// bristleMethod is a method of package bristle.
type bristleMethod struct {
	fit        func(context.Context, []*record.Record, []fit.Param, bristle.Options, fit.Watch) (*fit.Solution, error)
	warmStart  bool // starts from what earlier methods found, if that is all of the bristle
	smoothed   bool // fits smoothed motion: a start
	presliding bool // explains motion that never breaks loose only
}

func (b bristleMethod) run(j *job, ctx context.Context) (*stage, error) {
	recs, params := j.recs.Fit, bristle.Params(j.plan.Model.Rotary)
	j.foundValues.start(params, j.plan.GivenParams)
	if err := apply(params, j.plan.GivenParams); err != nil {
		return nil, err
	}
	o := j.plan.Bristle
	o.WarmStart = b.warmStart && j.knowsBristle()
	sol, err := b.fit(ctx, recs, slices.Clone(params), o, j.watch)
	if err != nil {
		return nil, err
	}
	said := o
	said.Workers = 0 // how many there were changes nothing
	st := &stage{sol: sol, start: params, settings: said}
	if sol.Halved != nil {
		st.vary = func(context.Context) []Sensitivity {
			return []Sensitivity{{What: "simulation steps half as long", RMS: math.Sqrt(2 * sol.Cost / float64(len(sol.Residual))), Unit: sol.Unit,
				Values: sol.Halved}}
		}
	}
	st.runs = sol.LessRuns
	if sol.Changed != nil {
		st.changed = func(values found) []float64 {
			for name, value := range values {
				if len(values) == 1 {
					return sol.Changed(name, value)
				}
			}
			return nil
		}
	}
	for _, said := range sol.Doubts {
		st.doubts = append(st.doubts, fit.Doubt(fit.MethodDoubt, "%s", said))
	}
	if b.presliding {
		return st, nil
	}
	st.explain = func(recs []*record.Record) (*fit.Solution, error) { return bristle.Explain(recs, sol.Params, o) }
	spec := axis.Spec{Rotary: j.plan.Model.Rotary, Law: "lugre", Terms: []string{"offset"}, Drive: axis.Force, Hold: axis.Linear}
	if sol.Extra["hold"] == axis.Held.String() {
		spec.Hold, o.Hold = axis.Held, bristle.Held
	}
	m, err := axis.New(spec, bristle.UsableRecords(recs)) // its samples are those of the fit, one behind the other
	st.inverse = func() *fit.Solution {
		if err != nil {
			return nil
		}
		return inverse(m, sol.Params)
	}
	st.alongMotion = func() *fit.Solution {
		if err != nil {
			return nil
		}
		return inverse(m, freedLoads(sol.Params))
	}
	if err == nil && sol.Less != nil {
		st.pushResponse = func(pushes []fit.Course, size func(i int) float64, rows []int) [][]float64 {
			out := make([][]float64, len(pushes))
			for i, push := range pushes {
				by := size(i)
				e := sol.Less(slices.Concat(m.AtSamples(func(row int) float64 { return by * push.At(row) })...))
				if e == nil {
					continue // the filter does not stay finite under it
				}
				for _, k := range rows {
					out[i] = append(out[i], e[k]/by)
				}
			}
			return out
		}
	}
	// here they are no more than doubts: the filter weighs the motion finer than they do
	if b.smoothed && len(sol.FreeParams) > 0 {
		st.doubts = append(st.doubts, fit.Doubt(fit.MethodDoubt, "lugre smooths the motion, and smoothing rounds the reversals: what that does "+
			"to its values and intervals is known to first order only, least for Fc, Fs, vs and sigma2; let kalman follow"))
	}
	for _, said := range axis.Suspicions(axis.Spec{Rotary: spec.Rotary, Law: "lugre", Drive: axis.Force, Hold: axis.Linear}, recs, sol) {
		said.Level = fit.Weaken
		st.doubts = append(st.doubts, said)
	}
	return st, nil
}

// knowsBristle tells whether earlier methods found all that a descent of the bristle model has to start from.
func (j *job) knowsBristle() bool {
	return !slices.ContainsFunc([]string{"M", "sigma0", "Fc", "Fs", "vs"}, func(n string) bool {
		_, ok := j.foundValues.get(n)
		return !ok
	})
}

// points are the means at constant speed of records.
func (j *job) points(recs []*record.Record) ([]curve.Point, error) {
	return curve.Plateaus(recs, j.plan.Static.PlateauOptions)
}

// static fits the static map.
func (j *job) static(ctx context.Context) (*stage, error) {
	points, err := j.points(j.recs.Fit)
	if err != nil {
		return nil, err
	}
	o := j.plan.static()
	return j.mapped(j.curve(curve.StaticParams(points, o.Law, j.plan.Model.Asymmetric), o, func(params []fit.Param) (*fit.Solution, error) {
		return curve.Static(ctx, points, params, o, j.watch)
	}))
}

// presliding fits a loop.
func (j *job) presliding(ctx context.Context) (*stage, error) {
	o := j.plan.Loop
	return j.curve(j.admit(curve.PreslidingParams(j.recs.Fit), bristleDamping), o, func(params []fit.Param) (*fit.Solution, error) {
		return curve.Presliding(ctx, j.recs.Fit, params, o, j.watch)
	})
}

// joint fits static map and loop as one experiment.
func (j *job) joint(ctx context.Context) (*stage, error) {
	points, err := j.points(j.recs.Fit)
	if err != nil {
		return nil, err
	}
	o := curve.JointOptions{Static: j.plan.static(), Loop: j.plan.Loop}
	params := j.admit(curve.JointParams(points, j.recs.Loop, o.Static.Law, j.plan.Model.Asymmetric), bristleDamping)
	return j.mapped(j.curve(params, o, func(params []fit.Param) (*fit.Solution, error) {
		return curve.Joint(ctx, points, j.recs.Loop, params, o, j.watch)
	}))
}

// mapped adds that other records are explained by the static map of a stage.
func (j *job) mapped(st *stage, err error) (*stage, error) {
	if err != nil {
		return nil, err
	}
	st.explain = func(recs []*record.Record) (*fit.Solution, error) {
		points, err := j.points(recs)
		if err != nil {
			return nil, err
		}
		return curve.StaticAt(points, st.sol.Params, j.plan.static())
	}
	return st, nil
}

// velocityStep fits the state-variable law to jumps of an imposed velocity.
func (j *job) velocityStep(ctx context.Context) (*stage, error) {
	steps := curve.StepParams(j.recs.Fit)
	if steps == nil {
		e := &record.Error{File: j.recs.Fit[0].File, Msg: "the velocity is zero throughout",
			Hint: "Record an imposed velocity that jumps between several values."}
		if len(j.recs.Fit[0].Velocity) == 0 {
			e.Msg, e.Hint = "no velocity", "Name the column of the imposed velocity in data.columns.velocity."
		}
		return nil, e
	}
	o, params := j.plan.Steps, j.admit(steps, engine.Param{Name: "N0", Unit: "N", Doc: "normal load", Hi: 1e12},
		engine.Param{Name: "lag", Unit: "s", Doc: "by which the force is later than the motion", Lo: -1e3, Hi: 1e3})
	return j.curve(params, o, func(params []fit.Param) (*fit.Solution, error) {
		return curve.VelocitySteps(ctx, j.recs.Fit, params, o, j.watch)
	})
}

// bristleDamping is not told by a slow loop; where it is known its force is taken into account.
var bristleDamping = engine.Param{Name: "sigma1", Unit: "N·s/m", Doc: "bristle damping", Hi: 1e12}

// admit adds the parameters of more that are given: a curve does not look for them, but can use them.
func (j *job) admit(params []fit.Param, more ...engine.Param) []fit.Param {
	for _, p := range more {
		named := func(g Given) bool { return g.Name == p.Name }
		if params != nil && slices.ContainsFunc(j.plan.GivenParams, named) && fit.Index(params, p.Name) < 0 {
			p.Fixed = true
			params = append(params, fit.Param{Param: p})
		}
	}
	return params
}

// curve fits the parameters of a curve, from what earlier methods found and what is given. There are none where the record is empty
// or at rest, which the method says better.
func (j *job) curve(params []fit.Param, settings any, fitted func(params []fit.Param) (*fit.Solution, error)) (*stage, error) {
	if params != nil {
		if j.plan.Model.Rotary {
			params = curve.Rotary(params)
		}
		if j.lastStage != nil {
			j.foundValues.start(params, j.plan.GivenParams)
		}
		if err := apply(params, j.plan.GivenParams); err != nil {
			return nil, err
		}
	}
	sol, err := fitted(slices.Clone(params))
	if err != nil {
		return nil, err
	}
	return &stage{sol: sol, start: params, settings: settings}, nil
}

func (p *Plan) static() curve.StaticOptions {
	return curve.StaticOptions{Rotary: p.Model.Rotary, Law: p.Model.Law, Equal: p.Static.Weights == Equal,
		Strict: p.Static.Weights == ByErrors}
}
