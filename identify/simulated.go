package identify

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// model puts the model of the plan on records.
func (j *job) model(recs []*record.Record) (*axis.Model, error) {
	spec := j.plan.Model
	spec.Known = map[string]float64{}
	for _, g := range j.plan.GivenParams {
		lacks := g.Optional && isOffset(g.Name) && !slices.Contains(spec.Terms, "offset")
		switch {
		case g.isKnown() && lacks:
			spec.NoLoad = *g.Start == 0
		case g.isKnown():
			spec.Known[g.Name] = *g.Start
		}
	}
	return axis.New(spec, recs)
}

// parameters of the model: its own guesses, what earlier methods found, and over both what is given.
func (j *job) parameters(m *axis.Model) ([]fit.Param, error) {
	params := m.Params()
	j.foundValues.start(params, j.plan.GivenParams)
	if i := fit.Index(params, "lag"); i >= 0 {
		params[i].Fixed = !j.plan.LagFree
	}
	return params, apply(params, j.plan.GivenParams)
}

// start is the model on the records to fit, with its parameters.
func (j *job) start() (*axis.Model, []fit.Param, error) {
	m, err := j.model(j.recs.Fit)
	if err != nil {
		return nil, nil, err
	}
	params, err := j.parameters(m)
	return m, params, err
}

// ledModel is the model as a question takes it: led back along the record, where the question asks for it and noise of the recorded
// force (N) would take the simulation off.
func ledModel(m *axis.Model, params []fit.Param, q question) (led *axis.Model, noise float64, followed bool) {
	if !q.leadBack {
		return m, 0, false
	}
	led, noise = m.WithLeading(params)
	if led == nil || !m.Adrift(params, noise) {
		return m, 0, false
	}
	if q.fixedGains {
		led = led.WithFixedGains(params)
	}
	return led, noise, true
}

// output runs a model through a solver and makes its steps short enough. whole says that the rows are those of the record.
func (j *job) output(ctx context.Context, whole bool, q question,
	solve func(ctx context.Context, m *axis.Model, params []fit.Param) (*fit.Solution, error)) (*stage, error) {
	plain, params, err := j.start()
	if err != nil {
		return nil, err
	}
	m, noise, followed := ledModel(plain, params, q)
	sol, err := solve(ctx, m, params)
	if err == nil && followed && !q.fixedGains && ctx.Err() == nil && !m.Explains(sol) {
		m, followed = plain, false
		sol, err = solve(ctx, m, params)
	}
	if err != nil {
		return nil, err
	}
	if followed {
		sol.Notes = append(sol.Notes, ledNote(noise, j.plan.Model.Rotary))
	} else {
		m, sol, followed = j.follow(ctx, m, params, sol, q)
	}
	m, sol, now := j.likelierHold(ctx, m, params, sol, q)
	followed, whole = followed || now, whole || m.IsLed()
	m, sol, steps, err := j.refineSteps(ctx, m, params, sol, q)
	if err != nil {
		return nil, err
	}
	if whole && sol.Converged {
		if sol, err = m.Level(ctx, params, sol, lossOf(sol), fit.WhitenessOf(sol.Residual, sol.Pieces).Effective, q.refit); err != nil {
			return nil, err
		}
	}
	if err := m.CompleteSolution(params, sol); err != nil {
		return nil, err
	}
	out, err := m.Indistinct(params)
	if err != nil {
		return nil, err
	}
	sol.Unidentifiable = append(sol.Unidentifiable, out...)
	st := &stage{sol: sol, start: params, settings: j.plan.settings(), steps: steps, weighted: followed}
	st.explain = func(recs []*record.Record) (*fit.Solution, error) { return j.explain(m, sol.Params, recs) }
	st.vary = func(ctx context.Context) []Sensitivity { return j.vary(ctx, m, sol) }
	if whole {
		st.changed = changedIn(m, sol)
	}
	if d := j.plan.Model.Drive; d != axis.Servo || j.plan.Model.Output != axis.Command {
		st.inverse = sync.OnceValue(func() *fit.Solution { return inverse(m, sol.Params) })
		if d != axis.Servo && whole {
			st.pushResponse = underLess(m, sol)
		}
	}
	if d := j.plan.Model.Drive; d == axis.Force || d == axis.Servo {
		st.alongMotion = func() *fit.Solution { return inverse(m, freedLoads(sol.Params)) }
	}
	st.doubts = append(st.doubts, axis.Suspicions(j.plan.Model, j.recs.Fit, sol)...)
	if d := steps.doubt(j.plan.Model.Substeps > 0); d != "" {
		st.doubts = append(st.doubts, fit.Doubt(fit.CoarseSteps, "%s", d))
	}
	if !whole { // gaps between segments are no residuals that could be drawn anew
		return st, nil
	}
	st.resample = func(ctx context.Context) (*fit.Resampled, error) {
		p, err := m.Problem(sol.Params)
		if err != nil {
			return nil, err
		}
		return fit.Bootstrap(ctx, p, sol, j.plan.Bootstrap, 0, j.plan.Seed, func(ctx context.Context, p *fit.Problem) (*fit.Solution, error) {
			return fit.LM{Loss: lossOf(sol), Steps: []float64{1e-3}, Workers: 1}.Fit(ctx, p, nil)
		})
	}
	return st, nil
}

// adding is the autocorrelation of the residual, from row to row, from which it may be added up.
const adding = 0.5

// follow fits again with the noise of the recorded force taken into account, where that noise explains what the solution leaves over: from
// the solution, and from where it began in case that it went astray. Of many records some are asked first.
func (j *job) follow(ctx context.Context, m *axis.Model, params []fit.Param, sol *fit.Solution, q question) (*axis.Model, *fit.Solution,
	bool) {
	if j.plan.RunFree || len(sol.FreeParams) == 0 || len(sol.Jac) == 0 || ctx.Err() != nil ||
		fit.WhitenessOf(sol.Residual, sol.Pieces).Lag1 < adding {
		return m, sol, false
	}
	other, noise := m.WithLeading(sol.Params)
	if other == nil || len(sol.Pieces) < m.Records() {
		return m, sol, false
	}
	again := func(m *axis.Model, params, from []fit.Param) *fit.Solution {
		p, err := q.problem(m, params)
		if err != nil {
			return nil
		}
		if p.Params = fit.Valued(p.Params, from); m.IsLed() {
			p.Target = m.NoiseCost(p.Rows)
			if short := m.Beginning(p); short != nil { // what is no noise there is none on the whole
				short.Target = beginRatio * m.NoiseCost(short.Rows)
				if begun, err := q.refit(ctx, short); err != nil || begun.Cost > short.Target {
					return nil
				}
			}
		}
		next, err := q.refit(ctx, p)
		if err != nil || ctx.Err() != nil || !next.Converged {
			return nil
		}
		return next
	}
	if some, own := m.Subset(params); some != nil {
		if free := again(some, own, sol.Params); free != nil {
			if _, _, followed := j.follow(ctx, some, own, free, q); !followed {
				return m, sol, false
			}
		}
	}
	accepted := func(led *axis.Model, from []fit.Param, noise float64) *fit.Solution {
		next := again(led, params, from)
		if next == nil || !led.Noisy(next, sol) {
			return nil
		}
		next.Continue(sol)
		next.Notes = append(next.Notes, ledNote(noise, j.plan.Model.Rotary))
		return next
	}
	begins := [][]fit.Param{sol.Params, params}
	if sol.Extra["lacking"] == true { // two descents led to one place: it did not go astray
		begins = begins[:1]
	}
	for _, from := range begins {
		if next := accepted(other, from, noise); next != nil {
			return other, next, true
		}
	}
	if slow := j.slowNoise(m, sol); slow > slowRatio*noise {
		// the noise of a row by itself is less: a weight that answers to the mass would be too steep
		other = other.WithNoise(slow).WithFixedGains(sol.Params)
		if next := accepted(other, sol.Params, slow); next != nil {
			return other, next, true
		}
	}
	return m, sol, false
}

// beginRatio is how many times the cost of noise a led simulation leaves at most on the beginning of a record where it leaves noise on all
// of it.
const beginRatio = 1.5

// slowRatio is by how much noise of the force has to be stronger where it is slow than from sample to sample, to be taken for noise whose
// neighbours go together.
const slowRatio = 2.0

// slowNoise is the standard deviation of white noise (N) that is as strong, where it is slow, as what a solution leaves of the recorded
// force along the motion: that is what a simulation adds up. 0: it is not known, or the law has states of its own, whose motion is
// as slow.
func (j *job) slowNoise(m *axis.Model, sol *fit.Solution) float64 {
	info, known := friction.Find(j.plan.Model.Law)
	if !known || len(info.NewLaw().States()) > 0 {
		return 0
	}
	left := inverse(m, sol.Params)
	if left == nil || len(left.Residual) == 0 {
		return 0
	}
	long, _ := fit.LongRun([][]float64{left.Residual}, left.Pieces)
	return math.Sqrt(long[0] / float64(len(left.Residual)))
}

// ledNote says why a simulation was led back against noise of the force (N).
func ledNote(noise float64, rotary bool) string {
	return fmt.Sprintf("the recorded force carries noise of %.2g %s, which a simulation adds up: the simulation is led back along the "+
		"record, and the residual is what the rows before do not foretell", noise, engine.UnitOn(rotary, "N"))
}

// underLess is the pushing of the stage of a solution. Where the model has no derivatives it is simulated under less force.
func underLess(m *axis.Model, sol *fit.Solution) pushing {
	at := fit.Valued(sol.Params, sol.Params)
	return func(pushes []fit.Course, size func(i int) float64, rows []int) [][]float64 {
		if out := m.Yields(at, pushes, rows, sol.Workers); len(out) > 0 {
			return out
		}
		own, out := residuals(m, at), make([][]float64, len(pushes))
		for i, push := range pushes {
			by := size(i)
			e := residuals(m.WithLessForce(func(row int) float64 { return by * push.At(row) }), at)
			if len(own) != len(sol.Residual) || len(e) != len(own) {
				continue
			}
			for _, k := range rows {
				out[i] = append(out[i], (e[k]-own[k])/by)
			}
		}
		return out
	}
}

// changedIn is the changed of the stage of a solution.
func changedIn(m *axis.Model, sol *fit.Solution) func(values found) []float64 {
	own := sync.OnceValue(func() []float64 { return residualsAt(m, sol) })
	return func(values found) []float64 {
		if len(own()) != len(sol.Residual) {
			return nil
		}
		params := slices.Clone(sol.Params)
		for name, value := range values {
			i := fit.Index(params, name)
			if i < 0 {
				return nil
			}
			params[i].Value = value
		}
		r := residuals(m, params)
		if r != nil {
			floats.Sub(r, own())
		}
		return r
	}
}

// residuals are those of a model, model less measurement; nil: it cannot be simulated there.
func residuals(m *axis.Model, params []fit.Param) []float64 {
	p, err := m.Problem(params)
	if err != nil {
		return nil
	}
	return p.Residuals()
}

// residualsAt are those of a model at its own solution, which knows them if its rows are the same and not weighted.
func residualsAt(m *axis.Model, sol *fit.Solution) []float64 {
	p, err := m.Problem(sol.Params)
	switch {
	case err != nil:
		return nil
	case p.Rows != len(sol.Residual) || lossOf(sol).Kind != fit.Squares:
		return p.Residuals()
	}
	out := slices.Clone(sol.Residual)
	floats.Scale(-1, out)
	return out
}

// inverse is what the parameters leave over of the recorded force; nil: nothing can be said.
func inverse(m *axis.Model, params []fit.Param) *fit.Solution {
	own := m.Params()
	for i := range own {
		if k := fit.Index(params, own[i].Name); k >= 0 {
			own[i] = params[k]
		} else {
			own[i].Fixed = true
		}
	}
	s, _ := m.Inverse(own)
	return s
}

// growing are the shares of a record that lm fits one after the other where nothing drives the axis along the record. A
// swing or a stick-slip whose phase is wrong by half a period at the end has a cost that leads nowhere [theory §9.1].
var growing = []float64{0.1, 0.2, 0.35, 0.5, 0.7, 1}

// lm descends from the survivors of an evolution, from the best of several draws, or from the start of the plan.
func (j *job) lm(ctx context.Context) (*stage, error) {
	var near fit.LM
	q := question{problem: (*axis.Model).Problem, refit: func(ctx context.Context, p *fit.Problem) (*fit.Solution, error) {
		return near.Fit(ctx, p, j.watch)
	}}
	q.leadBack = j.lastStage != nil && j.lastStage.weighted && len(j.lastStage.survivors) > 0
	st, err := j.output(ctx, true, q, func(ctx context.Context, m *axis.Model, params []fit.Param) (*fit.Solution, error) {
		p, err := m.Problem(params)
		if err != nil {
			return nil, err
		}
		if len(p.Params) == 0 {
			return evaluate(p)
		}
		loss := j.loss(p)
		near = fit.LM{Loss: loss, Workers: j.plan.Workers, CostTol: 1e-7, Steps: []float64{1e-3}, Damping: nearDamping}
		descent := fit.LM{Loss: loss, Horizons: j.plan.LM.Horizon, Workers: j.plan.Workers}
		var survivors [][]float64
		if j.lastStage != nil {
			survivors = j.lastStage.survivors
		}
		if j.plan.SimplerParams != nil {
			near, _ := found(j.plan.SimplerParams).placeIn(p.Params)
			survivors = append(slices.Clone(survivors), near)
		}
		if m.IsLed() { // as the evolution was: there are no traps far away
			several := fit.MultiStart{LM: near, Seed: j.plan.Seed, Workers: j.plan.Workers, ExtraStarts: survivors[:min(ledStarts, len(survivors))]}
			return several.Fit(ctx, p, j.watch)
		}
		d := j.plan.Model.Drive
		if len(descent.Horizons) == 0 && (d == axis.Coast || d == axis.Spring) && len(survivors) == 0 {
			descent.Horizons = growing
		}
		search := axis.Search{Seed: j.plan.Seed, Workers: j.plan.Workers, LM: descent, ExtraStarts: survivors}
		switch {
		case d == axis.Servo || d == axis.Force:
			search.Starts, search.Draws = j.plan.LM.Starts, j.plan.LM.Draws
		case len(survivors) == 0 && (j.plan.LM.Draws > 0 || j.plan.LM.Starts > 1):
			several := fit.MultiStart{LM: descent, Seed: j.plan.Seed, Workers: j.plan.Workers, ExtraStarts: [][]float64{fit.Values(p.Params)}}
			several.Starts, several.Draws = max(j.plan.LM.Starts, 1), max(j.plan.LM.Draws, j.plan.LM.Starts)
			return several.Fit(ctx, p, j.watch)
		default:
			search.LM.CostTol = 1e-10
		}
		search.Simpler = func(ctx context.Context, cost, some float64) []axis.Place {
			return j.simpler(ctx, p.Params, search, cost, some)
		}
		search.Lacking = func(m *axis.Model, at []fit.Param) bool { return j.lacking(m, params, at) }
		return m.Fit(ctx, params, search, j.watch)
	})
	if err != nil {
		return nil, err
	}
	if worse := j.worse(st.sol); worse != "" && !st.weighted {
		st.doubts = append(st.doubts, fit.Doubt(fit.MethodDoubt, "%s", worse))
	}
	return st, nil
}

// farFromContact are kinds of suspects that a contact in the wrong place does not look like: forces of sliding that depend on speed, way,
// direction or time.
var farFromContact = []string{"drag", "direction", "gravity", "stiffness", "cogging", "drift", "gain by direction"}

// lacking tells that a place of a model leaves over, for certain, what that lacks.
func (j *job) lacking(m *axis.Model, params, at []fit.Param) bool {
	p, err := m.Problem(at)
	if err != nil {
		return false
	}
	sol, err := fit.LM{}.At(p)
	left := inverse(m, at)
	if err != nil || left == nil || m.CompleteSolution(params, sol) != nil {
		return false
	}
	suspects := slices.DeleteFunc(fit.Suspects(left, j.plan.Model.Rotary, j.plan.Model.Drive.Recorded()), func(s fit.Suspect) bool {
		return !slices.Contains(farFromContact, s.Kind)
	})
	sol.Workers, left.Workers = j.plan.workers(), j.plan.workers()
	st := &stage{sol: sol, pushResponse: underLess(m, sol)}
	looked := left.Looked()
	for _, step := range []int{max(1, len(looked)/rankingRows), 1} { // few rows nearly always tell as much as all
		var rows []int
		for k := 0; k < len(looked); k += step {
			rows = append(rows, looked[k])
		}
		if fit.Certain(sol, st.onMotion(left, fit.Likeliest(left, suspects, rows), false)) {
			return true
		}
		if step == 1 {
			break
		}
	}
	return false
}

// rankingRows are about as many as tell which suspect of a kind explains most, where one is there for certain.
const rankingRows = 800

// ledStarts is from how many survivors of an evolution that was led back along the record a descent begins.
const ledStarts = 3

// worse tells that a special case of the model explains more than the model itself where its descents ended; "": none does.
func (j *job) worse(sol *fit.Solution) string {
	for _, spec := range j.plan.Model.Simpler() {
		if s := j.simple[caseOf(spec)]; s != nil && s.Cost < sol.Cost*(1-2*barely) {
			return fmt.Sprintf("%s alone leaves %.3g %s over, and this model, which holds it, %.3g: no descent found the place where it is "+
				"better; give starts, or use the simpler law", spec.Law, numeric.RMS(s.Residual), sol.Unit, numeric.RMS(sol.Residual))
		}
	}
	return ""
}

// barely is the share of a residual that makes no difference.
const barely = 1e-3

// caseOf names a special case.
func caseOf(s axis.Spec) string { return fmt.Sprint(s.Law, s.Asymmetric, s.Terms) }

// simpler fits the models that the plan's holds as special cases, as far as they may leave less over than it does. It gives where they
// end, in the free parameters of the plan's model, which leaves the cost over, and some among some of the records.
func (j *job) simpler(ctx context.Context, free []fit.Param, s axis.Search, cost, some float64) (out []axis.Place) {
	s.Target, s.CostLimit = cost, some
	for _, spec := range j.plan.Model.Simpler() {
		k := *j
		k.plan.Model = spec
		key := caseOf(spec)
		end, done := j.simple[key]
		if !done {
			end = k.special(ctx, s)
			j.simple[key] = end
		}
		if end == nil || ctx.Err() != nil {
			continue
		}
		near := found{}
		near.note(end.Params)
		theta, known := near.placeIn(free)
		out = append(out, axis.Place{Theta: theta, InSimpler: known, Cost: end.Cost})
	}
	return out
}

// special is the solution of a special case of a model, with all of its parameters; nil: there is none. What is given of parameters
// that it does not have is left out.
func (j *job) special(ctx context.Context, s axis.Search) *fit.Solution {
	m, err := axis.New(j.plan.Model, j.recs.Fit)
	if err != nil {
		return nil
	}
	own := m.Params()
	j.plan.GivenParams = slices.DeleteFunc(slices.Clone(j.plan.GivenParams), func(g Given) bool { return fit.Index(own, g.Name) < 0 })
	if m, err = j.model(j.recs.Fit); err != nil {
		return nil
	}
	params, err := j.parameters(m)
	if err != nil {
		return nil
	}
	free, _ := fit.Free(params)
	s.ExtraStarts, s.SingleRound, s.Simpler = nil, true, func(ctx context.Context, cost, some float64) []axis.Place {
		return j.simpler(ctx, free, s, cost, some)
	}
	sol, err := m.Fit(ctx, params, s, func(p fit.Progress) {
		p.Phase = fmt.Sprintf("special case %s, %s", j.plan.Model.Law, p.Phase)
		j.watch.Report(p)
	})
	if err != nil || m.CompleteSolution(params, sol) != nil {
		return nil
	}
	return sol
}

// multishoot makes the states of segments parameters.
func (j *job) multishoot(ctx context.Context) (*stage, error) {
	lm := fit.LM{Workers: j.plan.Workers}
	q := question{
		problem: func(m *axis.Model, params []fit.Param) (*fit.Problem, error) {
			if m.IsLed() { // no traps are left, and the rows are those of one motion
				return m.Problem(params)
			}
			return m.Shooting(params, j.plan.Segments)
		},
		refit: func(ctx context.Context, p *fit.Problem) (*fit.Solution, error) { return lm.Fit(ctx, p, j.watch) },
	}
	return j.output(ctx, false, q, func(ctx context.Context, m *axis.Model, params []fit.Param) (*fit.Solution, error) {
		p, err := q.problem(m, params)
		if err != nil {
			return nil, err
		}
		return q.refit(ctx, p)
	})
}

// explain runs the model with its parameters on other records, in steps no longer than those of the fit. Only states at their
// beginning are searched, where the plan searches them.
func (j *job) explain(fitted *axis.Model, params []fit.Param, recs []*record.Record) (*fit.Solution, error) {
	m, err := j.model(recs)
	if err != nil {
		return nil, err
	}
	own := m.Params()
	for i := range own {
		p := &own[i]
		if fit.IsState(p.Name) {
			continue
		}
		if k := fit.Index(params, p.Name); k >= 0 {
			p.Value = params[k].Value
			p.Lo, p.Hi = math.Min(p.Lo, p.Value), math.Max(p.Hi, p.Value)
		}
		p.Fixed = true
	}
	if _, step, err := fitted.Parts(params); err == nil {
		if _, coarse, err := m.Parts(own); err == nil && coarse > step*(1+1e-9) {
			if m, err = m.Finer(own, int(math.Ceil(coarse/step-1e-9))); err != nil {
				return nil, err
			}
		}
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
	return s, m.CompleteSolution(own, s)
}

// evaluate is a solution of a problem without free parameters.
func evaluate(p *fit.Problem) (*fit.Solution, error) {
	s := &fit.Solution{Residual: p.Residuals(), Unit: p.Unit, Converged: true, Reason: "nothing to search"}
	if s.Residual == nil {
		return nil, &record.Error{Msg: "the simulation does not stay finite on this record with these parameters"}
	}
	floats.Scale(-1, s.Residual)
	if m, ok := p.NewEvaluator().(fit.Measuring); ok {
		s.Measured, s.Quantity, s.Pieces, s.Dt = m.Measured()
	}
	return s, nil
}
