package identify

import (
	"context"
	"errors"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// simulated is a model that is run: a Loop where one is written out for it, else the general Model.
type simulated interface {
	Params() []fit.Param
	Problem(params []fit.Param) (*fit.Problem, error)
	Complete(params []fit.Param, s *fit.Solution) error
}

// searcher is a model that knows where to begin.
type searcher interface {
	Fit(ctx context.Context, params []fit.Param, s axis.Search, watch fit.Watch) (*fit.Solution, error)
}

// general tells a Model from a Loop.
func general(m simulated) bool {
	_, ok := m.(*axis.Model)
	return ok
}

// model puts the model of the plan on records.
func (j *job) model(recs []*record.Record) (simulated, error) {
	spec := j.plan.Model
	spec.Known = map[string]float64{}
	for _, g := range j.plan.Given {
		if g.Fixed != nil && *g.Fixed && g.Start != nil {
			spec.Known[g.Name] = *g.Start
		}
	}
	if spec.Drive == axis.Servo || spec.Drive == axis.Force && !j.shooting {
		loop, err := axis.NewLoop(spec, recs)
		var unknown *fit.ParamError
		if err == nil || !errors.As(err, &unknown) {
			return loop, err
		}
	}
	return axis.New(spec, recs)
}

// parameters of the model: its own guesses, what earlier methods found, and over both what is given.
func (j *job) parameters(m simulated) ([]fit.Param, error) {
	params := m.Params()
	j.found.start(params, j.plan.Given)
	if i := slices.IndexFunc(params, func(p fit.Param) bool { return p.Name == "lag" }); i >= 0 {
		params[i].Fixed = !j.plan.LagFree
	}
	if err := apply(params, j.plan.Given); err != nil {
		return nil, err
	}
	return params, nil
}

// output runs a simulated model through a solver; plain says that the solver works on the Problem of the model.
func (j *job) output(ctx context.Context, plain bool, solve func(context.Context, simulated, []fit.Param) (*fit.Solution, error)) (*stage, error) {
	m, err := j.model(j.recs.Fit)
	if err != nil {
		return nil, err
	}
	params, err := j.parameters(m)
	if err != nil {
		return nil, err
	}
	sol, err := solve(ctx, m, params)
	if err != nil {
		return nil, err
	}
	whole := !slices.ContainsFunc(params, func(p fit.Param) bool {
		return !slices.ContainsFunc(sol.Params, func(q fit.Param) bool { return q.Name == p.Name })
	})
	if !whole { // an answer about the problem alone
		if err := m.Complete(params, sol); err != nil {
			return nil, err
		}
	}
	general, _ := m.(*axis.Model)
	if general != nil {
		out, err := general.Indistinct(params)
		if err != nil {
			return nil, err
		}
		sol.Refused = append(sol.Refused, out...)
	}
	st := &stage{sol: sol, start: params, settings: j.plan.settings()}
	st.explain = func(recs []*record.Record) (*fit.Solution, error) { return j.explain(sol.Params, recs) }
	st.vary = func(ctx context.Context) []Sensitivity {
		out := j.vary(ctx, sol)
		if st.halved != nil {
			out = append(out, st.halved()...)
		}
		return out
	}
	if general != nil && plain {
		st.halved = func() []Sensitivity { return halfSteps(general, params, sol) }
	}
	if d := j.plan.Model.Drive; d == axis.Force || d == axis.Servo && j.plan.Model.Output != axis.Command {
		st.inverse = func() *fit.Solution { return j.inverse(j.plan.Model, sol.Params) }
	}
	st.suspicions = func() []string { return axis.Suspicions(j.plan.Model, j.recs.Fit, sol) }
	if !plain { // gaps between segments are no residuals that could be drawn anew
		return st, nil
	}
	st.resample = func(ctx context.Context) (map[string][2]float64, *Resampling, error) {
		p, err := m.Problem(sol.Params)
		if err != nil {
			return nil, nil, err
		}
		return j.bootstrap(ctx, p, sol)
	}
	return st, nil
}

// inverse is what the parameters leave over of the recorded force; nil: nothing can be said.
func (j *job) inverse(spec axis.Spec, params []fit.Param) *fit.Solution {
	spec.Known = nil
	m, err := axis.New(spec, j.recs.Fit)
	if err != nil {
		return nil
	}
	own := m.Params()
	for i := range own {
		if k := slices.IndexFunc(params, func(q fit.Param) bool { return q.Name == own[i].Name }); k >= 0 {
			own[i] = params[k]
		} else {
			own[i].Fixed = true
		}
	}
	s, err := m.Inverse(own)
	if err != nil {
		return nil
	}
	return s
}

// growing are the shares of a record that lm fits one after the other where nothing drives the axis along the record. A
// swing or a stick-slip whose phase is wrong by half a period at the end has a cost that leads nowhere [theory §9.1].
var growing = []float64{0.1, 0.2, 0.35, 0.5, 0.7, 1}

// descend starts at from, or, where that is nil, at the start of the plan, at the survivors of an evolution, or at the best of
// several draws.
func (j *job) descend(ctx context.Context, from []fit.Param) (*stage, error) {
	return j.output(ctx, true, func(ctx context.Context, m simulated, params []fit.Param) (*fit.Solution, error) {
		loss, err := j.loss(m, params)
		if err != nil {
			return nil, err
		}
		descent := fit.LM{Loss: loss, Horizons: j.plan.Horizon, Workers: j.plan.Workers}
		if d := j.plan.Model.Drive; len(descent.Horizons) == 0 && (d == axis.Coast || d == axis.Spring) && (j.last == nil || len(j.last.survivors) == 0) {
			descent.Horizons = growing
		}
		if own, ok := m.(searcher); ok && (j.plan.Model.Drive == axis.Servo || !general(m)) {
			search := axis.Search{Starts: j.plan.Starts, Draws: j.plan.Draws, Seed: j.plan.Seed, Workers: j.plan.Workers, LM: descent}
			if j.last != nil {
				search.From = j.last.survivors
			}
			return own.Fit(ctx, params, search, j.watch)
		}
		for i := range params {
			if k := slices.IndexFunc(from, func(q fit.Param) bool { return q.Name == params[i].Name }); k >= 0 {
				params[i].Value = from[k].Value
			}
		}
		p, err := m.Problem(params)
		if err != nil {
			return nil, err
		}
		if from != nil {
			descent.Horizons = nil
			return descent.Fit(ctx, p, j.watch)
		}
		several := fit.MultiStart{LM: descent, Seed: j.plan.Seed, Workers: j.plan.Workers, Pool: true}
		switch {
		case j.last != nil && len(j.last.survivors) > 0:
			several.From = j.last.survivors
			return several.Fit(ctx, p, j.watch)
		case j.plan.Draws > 0 || j.plan.Starts > 1:
			several.Starts, several.Draws = max(j.plan.Starts, 1), max(j.plan.Draws, j.plan.Starts)
			own := make([]float64, len(p.Params))
			for i, q := range p.Params {
				own[i] = q.Value
			}
			several.From = [][]float64{own}
			return several.Fit(ctx, p, j.watch)
		}
		return descent.Fit(ctx, p, j.watch)
	})
}

// multishoot makes the states of segments parameters, which the general Model alone can.
func (j *job) multishoot(ctx context.Context) (*stage, error) {
	j.shooting = true
	return j.output(ctx, false, func(ctx context.Context, m simulated, params []fit.Param) (*fit.Solution, error) {
		general, ok := m.(*axis.Model)
		if !ok {
			return nil, &fit.ParamError{Problems: []string{"multishoot: a servo holds its motion on its path: use lm"}}
		}
		p, err := general.Shooting(params, j.plan.Segments)
		if err != nil {
			return nil, err
		}
		return fit.LM{Workers: j.plan.Workers}.Fit(ctx, p, j.watch)
	})
}

// explain runs the model with its parameters on other records. Only states at their beginning are searched, where the plan
// searches them.
func (j *job) explain(params []fit.Param, recs []*record.Record) (*fit.Solution, error) {
	m, err := j.model(recs)
	if err != nil {
		return nil, err
	}
	own := m.Params()
	for i := range own {
		p := &own[i]
		if state(p.Name) {
			continue
		}
		if k := slices.IndexFunc(params, func(q fit.Param) bool { return q.Name == p.Name }); k >= 0 {
			p.Value = params[k].Value
			p.Lo, p.Hi = math.Min(p.Lo, p.Value), math.Max(p.Hi, p.Value)
		}
		p.Fixed = true
	}
	p, err := m.Problem(own)
	if err != nil {
		return nil, err
	}
	var s *fit.Solution
	if len(p.Params) > 0 {
		if s, err = (fit.LM{Workers: j.plan.Workers}).Fit(context.Background(), p, nil); err != nil {
			return nil, err
		}
	} else if s, err = evaluate(p); err != nil {
		return nil, err
	}
	return s, m.Complete(own, s)
}

// evaluate is a solution of a problem without free parameters.
func evaluate(p *fit.Problem) (*fit.Solution, error) {
	e := p.New()
	s := &fit.Solution{Residual: make([]float64, p.Rows), Unit: p.Unit, Converged: true, Reason: "nothing to search"}
	if st := e.Residuals(nil, s.Residual); st == engine.NonFinite {
		return nil, &record.Error{Msg: "the simulation does not stay finite on this record with these parameters"}
	}
	for k := range s.Residual {
		s.Residual[k] = -s.Residual[k]
	}
	if m, ok := e.(fit.Measuring); ok {
		s.Measured, s.Quantity, s.Pieces, s.Dt = m.Measured()
	}
	return s, nil
}

// halfSteps tells to first order where the parameters would go with simulation steps half as long.
func halfSteps(m *axis.Model, params []fit.Param, sol *fit.Solution) []Sensitivity {
	shift, err := m.StepShift(params, sol)
	if err != nil {
		return nil
	}
	sum, values := 0.0, map[string]float64{}
	for _, e := range sol.Residual {
		sum += e * e
	}
	for k, i := range sol.Free {
		if p := sol.Params[i]; !state(p.Name) {
			values[p.Name] = p.Value + shift[k]
		}
	}
	return []Sensitivity{{What: "simulation steps half as long", RMS: math.Sqrt(sum / float64(len(sol.Residual))), Unit: sol.Unit, Values: values}}
}

// vary repeats the fit with another hold of the force and with the lag free, or moved if it was.
func (j *job) vary(ctx context.Context, sol *fit.Solution) []Sensitivity {
	params := sol.Params
	if d := j.plan.Model.Drive; d != axis.Force && d != axis.Servo {
		return nil
	}
	var out []Sensitivity
	try := func(what string, plan Plan) {
		k := *j
		k.plan = plan
		m, err := k.model(k.recs.Fit)
		if err != nil {
			return
		}
		own := m.Params()
		for i := range own {
			if at := slices.IndexFunc(params, func(q fit.Param) bool { return q.Name == own[i].Name }); at >= 0 {
				own[i] = params[at]
			}
			if own[i].Name == "lag" {
				own[i].Fixed = !plan.LagFree
			}
		}
		p, err := m.Problem(own)
		if err != nil || len(p.Params) == 0 {
			return
		}
		s, err := fit.LM{Loss: lossOf(sol), Workers: j.plan.Workers}.Fit(ctx, p, nil)
		if err != nil || ctx.Err() != nil {
			return
		}
		sum, values := 0.0, map[string]float64{}
		for _, e := range s.Residual {
			sum += e * e
		}
		for _, q := range s.Params {
			if !state(q.Name) {
				values[q.Name] = q.Value
			}
		}
		out = append(out, Sensitivity{What: what, RMS: math.Sqrt(sum / float64(len(s.Residual))), Unit: p.Unit, Values: values})
	}
	plan := j.plan
	if j.plan.Model.Drive == axis.Force {
		plan.Model.LinearHold = !plan.Model.LinearHold
		what := "the force held between its samples"
		if plan.Model.LinearHold {
			what = "the force straight between its samples"
		}
		try(what, plan)
	}
	plan = j.plan
	plan.LagFree = !slices.ContainsFunc(params, func(p fit.Param) bool { return p.Name == "lag" && !p.Fixed })
	if plan.LagFree {
		try("the lag of the force free", plan)
	} else {
		for i := range params {
			if params[i].Name == "lag" {
				params = slices.Clone(params)
				params[i].Value = 0
			}
		}
		try("no lag of the force", plan)
	}
	return out
}

// bootstrap refits resampled residuals.
func (j *job) bootstrap(ctx context.Context, p *fit.Problem, sol *fit.Solution) (map[string][2]float64, *Resampling, error) {
	refit := func(ctx context.Context, p *fit.Problem) (*fit.Solution, error) {
		return fit.LM{Loss: lossOf(sol), Steps: []float64{1e-3}, Workers: 1}.Fit(ctx, p, nil)
	}
	b, err := fit.Bootstrap(ctx, p, sol, j.plan.Bootstrap, 0, j.plan.Seed, refit)
	if err != nil {
		return nil, nil, err
	}
	by := map[string][2]float64{}
	for _, e := range b.Estimates {
		if e.CI95 != nil {
			by[e.Name] = *e.CI95
		}
	}
	return by, &Resampling{Refits: b.Done, Block: b.Block, Failed: b.Failed, Seed: j.plan.Seed}, nil
}
