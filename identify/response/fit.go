package response

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// Result is what was found.
type Result struct {
	Solution *fit.Solution
	Outputs  []Explained
	Steps    int           // in a sampling interval
	Step     float64       // s  the longest
	Shift    *float64      // standard errors by which steps half as long would move a parameter; nil: not known
	Worst    string        // that parameter
	Starts   int           // descents
	Reached  int           // of them that ended at the best
	Suspects []fit.Suspect // what may be wrong with machine and records, for the rows of Solution
	Forces   []fit.Suspect // that the machine may lack at its joints
	Gains    []Gain        // of inputs and outputs that are not zero, and of the clock; nil: not known
	Warnings []string
	Compute  time.Duration

	spec   *Spec
	pulses bool // spikes of inputs were left out
}

// Gain is by how much the rows of the model rise with the gain of a column, or with the time between samples, relative.
type Gain struct {
	Name string // of the input or output; "": the clock
	Rows []float64
}

// Explained is how well an output is explained.
type Explained struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Percent float64  `json:"fit_percent"`            // 100·(1 − ‖e‖/‖y − mean y‖)
	RMS     float64  `json:"rms"`                    // of what is left, in its unit
	Noise   float64  `json:"noise"`                  // by which it was weighted
	Record  float64  `json:"record_noise"`           // that the record shows from sample to sample; what was given, where that is more
	Valid   *float64 `json:"validation_fit_percent"` // of records that were not fitted; null: there are none
}

// horizons are the shares of the recordings that are fitted in turn, before the whole: a motion that runs away from the recorded one, or
// is out of phase with it, still tells at its beginning which way to go.
var horizons = []float64{0.04, 0.1, 0.25, 0.5}

const (
	maxRounds     = 8    // of weights
	noiseTol      = 0.02 // relative change of a noise that ends them
	minNoise      = 1e-6 // of the spread of an output
	maxStepShift  = 1. / 3
	describes     = 50 // %, of an output
	maxSteps      = 64
	offsetTol     = 1e-3 // standard errors, about, from the optimum
	draws         = 20   // for each descent from drawn values
	dullSpread    = 1e-12
	draftTol      = 1e-3 // of a descent that is gone on with if it is the best
	sameRMS       = 1.1  // times the least rms of all descents
	fewIterations = 30   // of a descent that may be one of several
	noiseLeft     = 1.2  // times the noise of an output, from which more than that is left over
)

// Fit finds the parameters. The error says what of spec or recordings cannot be used, that the machine cannot be simulated where the
// search begins, or is that of ctx, within some milliseconds of its end: there are no values then.
func Fit(ctx context.Context, spec Spec, recs []Recording, watch fit.Watch) (*Result, error) {
	if err := spec.check(recs); err != nil {
		return nil, err
	}
	recs, mended := spec.withoutSpikes(recs)
	r, err := spec.fit(ctx, recs, mended, watch)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if clean, left := spec.withoutPulses(recs); left != nil { // a spike of the column, or a pulse that acted: the outputs tell
		if other, err := spec.fit(ctx, clean, append(mended, left...), watch); err == nil && other.deviance() < r.deviance() {
			other.pulses = true
			r = other
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return r, nil
}

// deviance is twice the logarithm of the likelihood of the outputs, with a noise of its own for each, but for a constant and its sign.
func (r *Result) deviance() (sum float64) {
	for _, o := range r.Outputs {
		sum += 2 * float64(len(r.Solution.Residual)/len(r.Outputs)) * math.Log(math.Max(o.RMS, math.SmallestNonzeroFloat64))
	}
	return sum
}

// fit finds the parameters from recordings as they are; mended says what was left out of them.
func (spec Spec) fit(ctx context.Context, recs []Recording, mended []string, watch fit.Watch) (*Result, error) {
	begin := time.Now()
	p, err := newProblem(ctx, &spec, recs)
	if err != nil {
		return nil, err
	}
	r := &Result{spec: &spec, Warnings: mended}
	p.work = &work{watch: watch, begin: begin}
	watch = p.work.Report
	p.work.begins(p.search(), weighIterations*p.iteration()+p.checks())
	sol, err := p.begin(ctx, watch)
	if err != nil {
		return nil, err
	}
	r.count(sol)
	for {
		p.work.begins(weighIterations*p.iteration(), p.checks())
		if sol, err = p.weigh(ctx, sol, watch); err != nil {
			return nil, err
		}
		r.Shift, r.Worst = p.halved(sol)
		times := 2
		if r.Shift != nil {
			times = max(2, int(math.Ceil(math.Sqrt(1.2**r.Shift/maxStepShift))))
		}
		if spec.Steps > 0 || r.Shift == nil || *r.Shift <= maxStepShift || p.steps >= maxSteps || p.misses(sol) {
			break
		}
		p.steps = min(maxSteps, p.steps*times)
		p.work.begins(expectedIterations*p.iteration(), weighIterations*p.iteration()+p.checks())
		next, err := p.descend(ctx, sol, watch)
		if err != nil {
			break // the coarser answer is there all the same; its shift says what it is worth
		}
		next.Continue(sol)
		sol = next
	}
	for _, rec := range recs {
		r.Step = math.Max(r.Step, rec.Dt/float64(p.steps))
	}
	sol.EveryRow = true // noise of outputs is white: every row tells
	r.Solution, r.Steps, r.Outputs = sol, p.steps, p.explained(sol)
	p.work.begins(p.checks(), 0)
	watch.Report(fit.Progress{Method: "lm", Phase: "what machine and records may lack", BestCost: sol.Cost})
	above := slices.ContainsFunc(r.Outputs, func(o Explained) bool { return o.RMS > noiseLeft*o.Record })
	r.Suspects, r.Forces, r.Gains = p.suspects(sol, above)
	if r.Starts > 1 && r.Reached == 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("one of %d descents from different values came to this place, the others ended at larger "+
			"errors: narrow the ranges, or let more begin (starts)", r.Starts))
	}
	r.Compute = time.Since(begin)
	return r, nil
}

// count tells how many descents ended at about the best.
func (r *Result) count(draft *fit.Solution) {
	list, _ := draft.Extra["starts"].([]fit.Start)
	best := math.Inf(1)
	for _, s := range list {
		best = math.Min(best, s.RMS)
	}
	r.Starts = len(list)
	for _, s := range list {
		if s.RMS <= sameRMS*best {
			r.Reached++
		}
	}
}

func newProblem(ctx context.Context, spec *Spec, recs []Recording) (*problem, error) {
	p := &problem{ctx: ctx, spec: spec, recs: recs, steps: max(1, spec.Steps)}
	p.layout()
	for j, o := range spec.Outputs {
		s := spread(recs, j)
		if !(s > dullSpread) && o.Noise == 0 {
			return nil, fmt.Errorf("output %s does not change in any recording: leave it out, or give its noise", o.Name)
		}
		if len(spec.Params) == 0 || !(s > dullSpread) {
			s = o.Noise
		}
		p.scale = append(p.scale, s) // the noises come in when the fit is near: before, one small noise would decide alone where to go
	}
	p.params = append(p.params, spec.Params...)
	if len(spec.StartJoints) == 0 {
		return p, nil
	}
	h := &hand{p: p}
	if !h.build(fit.Values(spec.Params)) {
		return nil, p.unbuilt()
	}
	for r := range recs {
		for k, joint := range spec.StartJoints {
			at := spec.beginning(&recs[r], joint, [2]float64{h.x[h.startPlaces[k][0]], h.x[h.startPlaces[k][1]]})
			unit := spec.jointUnit(h, k)
			for i, name := range []string{"x0", "v0"} {
				q := fit.Param{}
				q.Name, q.Unit, q.Value = fmt.Sprintf("%s[%d].%s", name, r+1, joint), unit[i], at[i]
				q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
				p.params, p.start = append(p.params, q), append(p.start, at[i])
			}
		}
	}
	return p, nil
}

// jointUnit are the units of position and velocity of joint k of StartJoints.
func (s *Spec) jointUnit(h *hand, k int) [2]string {
	c := h.m.Step.M.Columns()
	return [2]string{c[h.startPlaces[k][0]].Unit, c[h.startPlaces[k][1]].Unit}
}

// unbuilt says why the machine cannot be made at the start.
func (p *problem) unbuilt() error {
	m, err := p.spec.Build(fit.Values(p.spec.Params))
	if err == nil {
		for _, o := range p.spec.Outputs {
			if _, err = m.Step.Watch(o.Name); err != nil {
				return fmt.Errorf("output %s: %w", o.Name, err)
			}
		}
		for _, joint := range p.spec.StartJoints {
			if _, _, err = m.Step.At(joint); err != nil {
				return fmt.Errorf("begin: %w", err)
			}
		}
	}
	if err == nil {
		err = errors.New("it cannot be simulated over the recordings")
	}
	return fmt.Errorf("the machine at the start of the search: %w", err)
}

func (p *problem) lm() fit.LM {
	scale := map[string]float64{}
	for i := len(p.spec.Params); i < len(p.params); i++ {
		q := &p.params[i]
		scale[q.Name] = math.Max(0.1*math.Abs(q.Value), 0.01)
	}
	return fit.LM{Scale: scale, OffsetTol: offsetTol, Workers: p.spec.Workers}
}

// begin descends from the start and from drawn values of the machine's parameters, with the beginnings held where the recordings show
// them, and then with all.
func (p *problem) begin(ctx context.Context, watch fit.Watch) (*fit.Solution, error) {
	if p.solver().Residuals() == nil && (len(p.spec.Params) == 0 || p.spec.Starts == 0) {
		return nil, p.unbuilt()
	}
	lm := p.lm()
	if lm.Horizons = horizons; len(p.spec.Params) == 0 || p.spec.Starts == 0 {
		return lm.Fit(ctx, p.solver(), watch)
	}
	own := *p
	own.params, own.fixedStart = p.params[:len(p.spec.Params)], true
	lm.MaxIterations, lm.CostTol, lm.OffsetTol = fewIterations, draftTol, math.Sqrt(draftTol)
	m := fit.MultiStart{LM: lm, Starts: p.spec.Starts, Draws: draws, ExtraStarts: [][]float64{fit.Values(own.params)}, Seed: p.spec.Seed,
		Workers: p.spec.Workers}
	draft, err := m.Fit(ctx, own.solver(), watch)
	if err != nil || len(p.params) == len(own.params) {
		return draft, err
	}
	sol, err := p.lm().Fit(ctx, p.solver().At(append(fit.Values(draft.Params), p.start...)), watch)
	if err == nil {
		sol.Continue(draft)
	}
	return sol, err
}

// descend goes on from a solution.
func (p *problem) descend(ctx context.Context, from *fit.Solution, watch fit.Watch) (*fit.Solution, error) {
	return p.lm().Fit(ctx, p.solver().At(fit.Values(from.Params)), watch)
}

// weigh repeats a fit until the noises of the outputs are what it leaves of them.
func (p *problem) weigh(ctx context.Context, sol *fit.Solution, watch fit.Watch) (*fit.Solution, error) {
	for range maxRounds {
		change := 0.0
		next := append([]float64(nil), p.scale...)
		for j, o := range p.spec.Outputs {
			if next[j] = o.Noise; o.Noise == 0 {
				next[j] = math.Max(p.residualRMS(sol, j), minNoise*spread(p.recs, j))
			}
			change = math.Max(change, math.Abs(next[j]/p.scale[j]-1))
		}
		if change < noiseTol {
			return sol, nil
		}
		p.scale = next
		again, err := p.descend(ctx, sol, watch)
		if err != nil {
			return nil, err
		}
		again.Continue(sol)
		sol = again
	}
	return sol, nil
}

// residualRMS is the rms of what a solution leaves of output j, in its unit.
func (p *problem) residualRMS(sol *fit.Solution, j int) float64 {
	sum, n := 0.0, 0
	for r := range p.recs {
		for _, e := range sol.Residual[p.firstRow[r][j]:][:p.recs[r].Len()] {
			sum += e * e
			n++
		}
	}
	return p.scale[j] * math.Sqrt(sum/float64(n))
}

func (p *problem) explained(sol *fit.Solution) (list []Explained) {
	for j, o := range p.spec.Outputs {
		rms := p.residualRMS(sol, j)
		var series [][]float64
		for r := range p.recs {
			series = append(series, p.recs[r].Outputs[j])
		}
		e := Explained{Name: o.Name, Unit: o.Unit, RMS: rms, Noise: p.scale[j], Record: math.Max(numeric.Noise(series...), o.Noise)}
		if s := spread(p.recs, j); s > 0 {
			e.Percent = 100 * (1 - rms/s)
		}
		list = append(list, e)
	}
	return list
}

// halved is by how much steps half as long would move a parameter, in its standard errors, to first order; nil: not known. The errors are
// those that the result shows: where the machine does not explain the record, neighbouring residuals go together, and finer steps would
// improve values that are not known so well.
func (p *problem) halved(sol *fit.Solution) (shift *float64, worst string) {
	finer := *p
	finer.steps = 2 * p.steps
	theta := fit.Values(sol.Params)
	a, b := make([]float64, p.rows), make([]float64, p.rows)
	h, f := &hand{p: p}, &hand{p: &finer}
	if !h.simulate(theta, 0, len(p.recs), a, false) || !f.simulate(theta, 0, len(p.recs), b, false) {
		return nil, ""
	}
	// the midpoint rule is of order two: the rest of the way is a third more
	for k := range b {
		b[k] = (b[k] - a[k]) * 4 / 3
	}
	shown, err := fit.Assess(sol)
	if err != nil {
		return nil, ""
	}
	l := fit.NewLinear(sol)
	move, classical := l.Move(b), l.Err()
	most := 0.0
	for j, i := range sol.FreeParams {
		by := shown.Estimates[j].Err(shown.Residual.White)
		if !(classical[j] > 0) || by == nil {
			continue
		}
		if m := math.Abs(move[j]) / math.Max(classical[j], *by); m >= most {
			most, worst = m, sol.Params[i].Name
		}
	}
	if most-most != 0 {
		return nil, ""
	}
	return &most, worst
}

// Explain is how the machine explains recordings that were not fitted. Where they begin is searched if it was.
func (r *Result) Explain(ctx context.Context, recs []Recording) (*fit.Solution, []Explained, error) {
	spec := *r.spec
	theta := fit.Values(r.Solution.Params)[:len(spec.Params)]
	build := r.spec.Build
	spec.Params, spec.Build = nil, func([]float64) (*Machine, error) { return build(theta) }
	spec.Outputs = append([]Output(nil), spec.Outputs...)
	for j := range spec.Outputs {
		spec.Outputs[j].Noise = r.Outputs[j].Noise
	}
	if err := spec.check(recs); err != nil {
		return nil, nil, err
	}
	if recs, _ = spec.withoutSpikes(recs); r.pulses {
		recs, _ = spec.withoutPulses(recs)
	}
	p, err := newProblem(ctx, &spec, recs)
	if err != nil {
		return nil, nil, err
	}
	p.steps = r.Steps
	problem := p.solver()
	var sol *fit.Solution
	if len(p.params) == 0 {
		sol, err = p.fixedSolution()
	} else {
		lm := p.lm()
		lm.Horizons = horizons
		sol, err = lm.Fit(ctx, problem, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	return sol, p.explained(sol), nil
}

// misses tells whether an output is not described at all: finer steps are spared.
func (p *problem) misses(sol *fit.Solution) bool {
	return slices.ContainsFunc(p.explained(sol), func(e Explained) bool { return e.Percent < describes })
}

// fixedSolution is a problem without parameters, as a solution.
func (p *problem) fixedSolution() (*fit.Solution, error) {
	e := &evaluator{p: p}
	s := &fit.Solution{Residual: make([]float64, p.rows)}
	if e.Residuals(nil, s.Residual) != engine.OK {
		return nil, p.unbuilt()
	}
	for k := range s.Residual {
		s.Residual[k] = -s.Residual[k]
	}
	s.Measured, s.Quantity, s.Pieces, s.Dt = e.Measured()
	return s, nil
}
