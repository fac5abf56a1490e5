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
	fit      func(context.Context, []*record.Record, []fit.Param, bristle.Options, fit.Watch) (*fit.Solution, error)
	warm     bool // starts from what earlier methods found, if that is all of the bristle
	smoothed bool // fits smoothed motion: a start
	small    bool // explains motion that never breaks loose only
}

func (b bristleMethod) run(j *job, ctx context.Context) (*stage, error) {
	recs, params := j.recs.Fit, bristle.Params(j.plan.Model.Rotary)
	j.found.start(params, j.plan.Given)
	if err := apply(params, j.plan.Given); err != nil {
		return nil, err
	}
	o := j.plan.Bristle
	o.Warm = b.warm && j.knowsBristle()
	sol, err := b.fit(ctx, recs, slices.Clone(params), o, j.watch)
	if err != nil {
		return nil, err
	}
	said := o
	said.Workers = 0 // how many there were changes nothing
	st := &stage{sol: sol, start: params, settings: said}
	if values, ok := sol.Extra["halved"].(map[string]float64); ok {
		delete(sol.Extra, "halved")
		st.vary = func(context.Context) []Sensitivity {
			return []Sensitivity{{What: "simulation steps half as long", RMS: math.Sqrt(2 * sol.Cost / float64(len(sol.Residual))), Unit: sol.Unit, Values: values}}
		}
	}
	st.doubts, _ = sol.Extra["doubts"].([]string)
	delete(sol.Extra, "doubts")
	less, _ := sol.Extra["less"].(func(u []float64) []float64)
	st.runs, _ = sol.Extra["runs"].(int)
	delete(sol.Extra, "less")
	delete(sol.Extra, "runs")
	if b.small {
		return st, nil
	}
	st.explain = func(recs []*record.Record) (*fit.Solution, error) { return bristle.Explain(recs, sol.Params, o) }
	spec := axis.Spec{Rotary: j.plan.Model.Rotary, Law: "lugre", Terms: []string{"offset"}, Drive: axis.Force, Hold: axis.Linear}
	if sol.Extra["hold"] == axis.Held.String() {
		spec.Hold = axis.Held
	}
	m, err := axis.New(spec, recs)
	st.inverse = func() *fit.Solution {
		if err != nil {
			return nil
		}
		return inverse(m, sol.Params)
	}
	if err == nil && less != nil {
		st.pushed = func(pushes []func(row int) float64, sizes []float64) [][]float64 {
			out := make([][]float64, len(pushes))
			for i, push := range pushes {
				out[i] = less(slices.Concat(m.AtSamples(func(row int) float64 { return sizes[i] * push(row) })...))
				for k := range out[i] {
					out[i][k] /= sizes[i]
				}
			}
			return out
		}
	}
	// here they are no more than doubts: the filter weighs the motion finer than they do
	st.doubts = append(axis.Suspicions(axis.Spec{Rotary: spec.Rotary, Law: "lugre", Drive: axis.Force, Hold: axis.Linear}, recs, sol), st.doubts...)
	if b.smoothed && len(sol.Free) > 0 {
		st.doubts = slices.Insert(st.doubts, 0, "lugre smooths the motion, and smoothing rounds the reversals: its values are a start, its intervals are too narrow, most for Fc, Fs, vs and sigma2; let kalman follow")
	}
	return st, nil
}

// knowsBristle tells whether earlier methods found all that a descent of the bristle model has to start from.
func (j *job) knowsBristle() bool {
	for _, n := range []string{"M", "sigma0", "Fc", "Fs", "vs"} {
		if _, ok := j.found.get(n); !ok {
			return false
		}
	}
	return true
}

// static fits the static map.
func (j *job) static(ctx context.Context) (*stage, error) {
	points, err := curve.Plateaus(j.recs.Fit, j.plan.Static.PlateauOptions)
	if err != nil {
		return nil, err
	}
	params, err := j.curveParams(curve.StaticParams(points, j.plan.Model.Law, j.plan.Model.Asymmetric))
	if err != nil {
		return nil, err
	}
	sol, err := curve.Static(ctx, points, slices.Clone(params), j.plan.static(), j.watch)
	if err != nil {
		return nil, err
	}
	st := &stage{sol: sol, start: params, settings: j.plan.static()}
	st.explain = j.mapped(sol)
	return st, nil
}

// mapped explains other records by the static map in a solution.
func (j *job) mapped(sol *fit.Solution) func(recs []*record.Record) (*fit.Solution, error) {
	return func(recs []*record.Record) (*fit.Solution, error) {
		points, err := curve.Plateaus(recs, j.plan.Static.PlateauOptions)
		if err != nil {
			return nil, err
		}
		return curve.StaticAt(points, sol.Params, j.plan.static())
	}
}

// presliding fits a loop.
func (j *job) presliding(ctx context.Context) (*stage, error) {
	params, err := j.curveParams(j.admit(curve.PreslidingParams(j.recs.Fit), bristleDamping))
	if err != nil {
		return nil, err
	}
	sol, err := curve.Presliding(ctx, j.recs.Fit, slices.Clone(params), j.plan.Loop, j.watch)
	if err != nil {
		return nil, err
	}
	return &stage{sol: sol, start: params, settings: j.plan.Loop}, nil
}

// joint fits static map and loop as one experiment.
func (j *job) joint(ctx context.Context) (*stage, error) {
	points, err := curve.Plateaus(j.recs.Fit, j.plan.Static.PlateauOptions)
	if err != nil {
		return nil, err
	}
	params, err := j.curveParams(j.admit(curve.JointParams(points, j.recs.Loop, j.plan.Model.Law, j.plan.Model.Asymmetric), bristleDamping))
	if err != nil {
		return nil, err
	}
	o := curve.JointOptions{Static: j.plan.static(), Loop: j.plan.Loop}
	sol, err := curve.Joint(ctx, points, j.recs.Loop, slices.Clone(params), o, j.watch)
	if err != nil {
		return nil, err
	}
	return &stage{sol: sol, start: params, settings: o, explain: j.mapped(sol)}, nil
}

// velocityStep fits the state-variable law to jumps of an imposed velocity.
func (j *job) velocityStep(ctx context.Context) (*stage, error) {
	steps := curve.StepParams(j.recs.Fit)
	if steps == nil {
		e := &record.Error{File: j.recs.Fit[0].File, Msg: "the velocity is zero throughout", Hint: "Record an imposed velocity that jumps between several values."}
		if len(j.recs.Fit[0].Velocity) == 0 {
			e.Msg, e.Hint = "no velocity", "Name the column of the imposed velocity in data.columns.velocity."
		}
		return nil, e
	}
	params, err := j.curveParams(j.admit(steps, engine.Param{Name: "N0", Unit: "N", Doc: "normal load", Hi: 1e12},
		engine.Param{Name: "lag", Unit: "s", Doc: "by which the force is later than the motion", Lo: -1e3, Hi: 1e3}))
	if err != nil {
		return nil, err
	}
	sol, err := curve.VelocitySteps(ctx, j.recs.Fit, slices.Clone(params), j.plan.Steps, j.watch)
	if err != nil {
		return nil, err
	}
	return &stage{sol: sol, start: params, settings: j.plan.Steps}, nil
}

// bristleDamping is not told by a slow loop; where it is known its force is taken into account.
var bristleDamping = engine.Param{Name: "sigma1", Unit: "N·s/m", Doc: "bristle damping", Hi: 1e12}

// admit adds the parameters of more that are given: a curve does not look for them, but can use them.
func (j *job) admit(params []fit.Param, more ...engine.Param) []fit.Param {
	for _, p := range more {
		named := func(g Given) bool { return g.Name == p.Name }
		if params != nil && slices.ContainsFunc(j.plan.Given, named) && place(params, p.Name) < 0 {
			p.Fixed = true
			params = append(params, fit.Param{Param: p})
		}
	}
	return params
}

// curveParams are parameters of a curve, on what earlier methods found and what is given.
func (j *job) curveParams(params []fit.Param) ([]fit.Param, error) {
	if params == nil { // the record is empty or at rest, which the method says better
		return nil, nil
	}
	if j.plan.Model.Rotary {
		params = curve.Rotary(params)
	}
	if j.last != nil {
		j.found.start(params, j.plan.Given)
	}
	return params, apply(params, j.plan.Given)
}

func (p *Plan) static() curve.StaticOptions {
	return curve.StaticOptions{Rotary: p.Model.Rotary, Law: p.Model.Law, Equal: p.Static.Weights == Equal, Strict: p.Static.Weights == ByErrors}
}
