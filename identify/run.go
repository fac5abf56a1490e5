package identify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"hilrig/engine/failure"
	"hilrig/engine/numeric"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// job is a plan at work.
type job struct {
	plan        Plan
	recs        Records
	watch       fit.Watch
	foundValues found  // values from earlier methods
	lastStage   *stage // the method before, nil for the first
	keeper      Keeper // checkpoints of long methods
	doubt       string // what was reckoned from an assumption

	holdOpen bool // what the force does between its samples is as the record answers to it

	simple map[string]*fit.Solution // of special cases of the model; nil: without
}

// Keeper keeps the state of a long method between runs.
type Keeper interface {
	Load(method string) []byte       // nil: nothing kept
	Save(method string, data []byte) // as often as it likes
}

// stage is what one method leaves behind.
type stage struct {
	method   *MethodInfo
	title    string // for people; "": that of the method
	sol      *fit.Solution
	start    []fit.Param
	settings any

	assessment *fit.Assessment // of sol; nil: not made yet

	explain func(recs []*record.Record) (*fit.Solution, error) // the same parameters on other records; nil: cannot
	vary    func(ctx context.Context) []Sensitivity            // what else could have been taken for granted; nil: nothing
	// the recorded force along the recorded motion; nil: the residual is that of a force
	inverse func() *fit.Solution
	// the same with the derivatives of all loads; nil: the residual is that of a force, or there is none
	alongMotion func() *fit.Solution
	// the rows with as much noise of the position again; nil: it is not in the columns, or too little to matter
	noisier      func(seed uint64) *fit.Solution
	pushResponse pushing // nil: not known
	// by how much the rows of the model move if some parameters have other values; nil: not known, or only for one of them
	changed    func(values found) []float64
	runs       int                                               // of pushed that may be spent; 0: any number
	weighted   bool                                              // rows are no plain differences
	steps      *Stepping                                         // of the simulation; nil: none was run
	resample   func(ctx context.Context) (*fit.Resampled, error) // nil: cannot
	doubts     []fit.Reason                                      // of the method about itself
	survivors  [][]float64                                       // of an evolution, for the descent that follows
	halfCutoff []float64                                         // regress
	share      []float64                                         //
	terms      []string                                          //
	warnings   []string
}

// pushing tells how some rows of the residual move for every newton of each force, at the rows of inverse, that is taken from the drive. It
// may be tried as large as its size (N). A result nil: not known.
type pushing func(pushes []fit.Course, size func(i int) float64, rows []int) [][]float64

// Run carries out the plan. When ctx ends it, the best so far comes back, marked as interrupted; the error is ctx's only if
// there is nothing yet. Refusals of the data are *linear.Unidentifiable; other errors are about data (*record.Error),
// parameters (*fit.ParamError) or settings (*linear.SpecError).
func Run(ctx context.Context, plan Plan, recs Records, keep Keeper, watch fit.Watch) (*Result, error) {
	begin := time.Now()
	if len(recs.Fit) == 0 {
		return nil, &record.Error{Msg: "no record to fit", Hint: "Give at least one file under data."}
	}
	if err := recs.check(); err != nil {
		return nil, err
	}
	if last := plan.Methods[len(plan.Methods)-1]; plan.Model.Asymmetric && !FindMethod(last).Sided {
		return nil, &linear.SpecError{Problems: []string{fmt.Sprintf("asymmetric: %s finds friction that is the same in both directions; let "+
			"lm follow, or take another method", last)}}
	}
	whole := ctx
	if plan.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.TimeLimit)
		defer cancel()
	}
	read := recs.Fit
	recs = recs.mapRecords(record.WithoutSpikes)
	j := newJob(plan, recs, keep, watch)
	driven := recs.withTotalForce()
	r := &Result{Chain: plan.Methods, Findings: []record.Finding{}, Warnings: []string{}}
	for _, name := range plan.Methods {
		method := j.begin(name, recs, driven)
		watch.Report(fit.Progress{Method: string(name), Note: fmt.Sprintf("%d samples", samples(j.recs.Fit))})
		st, err := j.attempt(ctx, method)
		if err != nil {
			if slip := panicOf(err); slip != nil && j.lastStage != nil {
				r.Panic = slip
				break
			}
			if ctx.Err() != nil && j.lastStage != nil {
				break
			}
			return nil, refusal(name, recs.Fit[0], err)
		}
		j.end(method, st)
		r.Stages = append(r.Stages, st.stage())
		if ctx.Err() != nil {
			break
		}
	}
	if len(recs.WithoutAssumed) > 0 && r.Panic == nil && len(r.Stages) == len(plan.Methods) && ctx.Err() == nil {
		r.withoutAssumed = j.withoutAssumed(ctx, recs.WithoutAssumed)
	}
	r.Interrupted = ctx.Err() != nil && len(r.Stages) > 0 && (len(r.Stages) < len(plan.Methods) || !j.lastStage.sol.Converged)
	if j.lastStage == nil {
		return nil, ctx.Err()
	}
	if err := r.completed(whole, j, read); err != nil {
		return nil, refusal(j.lastStage.method.Name, recs.Fit[0], err)
	}
	r.Compute = time.Since(begin).Seconds()
	return r, nil
}

// attempt carries out a method. A panic in it is an error.
func (j *job) attempt(ctx context.Context, method *MethodInfo) (st *stage, err error) {
	defer failure.Catch(&err)
	return method.run(j, ctx)
}

// panicOf is the panic that an error comes from; nil: from none.
func panicOf(err error) (slip *failure.Panic) {
	errors.As(err, &slip)
	return slip
}

// completed is finish. After a panic there, or in a method before it, the result is what was found so far, for which nothing vouches.
func (r *Result) completed(ctx context.Context, j *job, read []*record.Record) error {
	err := func() (err error) {
		defer failure.Catch(&err)
		return r.finish(ctx, j, read)
	}()
	if slip := panicOf(err); slip != nil {
		r.Panic, err = slip, nil
	}
	if r.Panic == nil || err != nil {
		return err
	}
	if r.Parameters == nil {
		r.solution = j.lastStage.sol
		for _, p := range j.lastStage.sol.Params {
			r.Parameters = append(r.Parameters, Parameter{Estimate: fit.Estimate{Name: p.Name, Unit: p.Unit, Value: p.Value}, Fixed: p.Fixed,
				Worth: "not judged"})
		}
	}
	r.Method = cmp.Or(r.Method, j.lastStage.title, j.lastStage.method.Title)
	was := r.Reasons
	r.Verdict, r.Reasons = Rejected, nil
	r.AddReason(fit.Failed, fit.Reject, nil, "the program failed (%v): the values are those of %s, and nothing vouches for them", r.Panic,
		j.lastStage.method.Name)
	r.Reasons = append(r.Reasons, was...)
	return nil
}

// newJob has done nothing yet.
func newJob(plan Plan, recs Records, keep Keeper, watch fit.Watch) *job {
	j := &job{plan: plan, recs: recs, watch: watch, foundValues: found{}, keeper: keep, doubt: recs.Doubt, simple: map[string]*fit.Solution{}}
	if plan.Model.Hold == axis.Either {
		j.holdOpen, j.plan.Model.Hold = true, axis.Held
	}
	j.plan.Loop.Rotary, j.plan.Steps.Rotary = plan.Model.Rotary, plan.Model.Rotary
	return j
}

// begin puts the records before a method as it takes them: as they are, or with the force that drives.
func (j *job) begin(name Method, recs, driven Records) *MethodInfo {
	method := FindMethod(name)
	j.recs = driven
	if method.KeepsDisturbance {
		j.recs = recs
	}
	j.knowOffset(method)
	return method
}

// end takes in what a method found.
func (j *job) end(method *MethodInfo, st *stage) {
	st.method = method
	j.lastStage = st
	j.foundValues.note(st.sol.Params)
}

// withoutAssumed repeats the last method, from where it ended, on the records without what was reckoned from an assumption. nil: it
// finds nothing.
func (j *job) withoutAssumed(ctx context.Context, recs []*record.Record) *fit.Solution {
	o := *j
	o.keeper, o.simple, o.foundValues, o.plan.SimplerParams = nil, map[string]*fit.Solution{}, maps.Clone(j.foundValues), j.foundValues
	if o.recs = (Records{Fit: recs}); !j.lastStage.method.KeepsDisturbance {
		o.recs = o.recs.withTotalForce()
	}
	st, err := j.lastStage.method.run(&o, ctx)
	if err != nil || ctx.Err() != nil {
		return nil
	}
	return st.sol
}

// samples tells how long records are.
func samples(recs []*record.Record) (n int) {
	for _, d := range recs {
		n += d.Len()
	}
	return n
}

// check tells which channel of a record is not as long as the others.
func (r Records) check() error {
	for _, recs := range [][]*record.Record{r.Fit, r.Loop, r.Second, r.Validation, r.SecondVal} {
		for _, d := range recs {
			if err := d.CheckLengths(); err != nil {
				return err
			}
		}
	}
	return nil
}

// refusal makes what a method cannot do with a record an error of the record. Errors that say already what they are about stay.
func refusal(method Method, d *record.Record, err error) error {
	if panicOf(err) != nil {
		return err
	}
	var data *record.Error
	var param *fit.ParamError
	var spec *linear.SpecError
	var unknown *linear.Unidentifiable
	if errors.As(err, &data) || errors.As(err, &param) || errors.As(err, &spec) || errors.As(err, &unknown) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &record.Error{File: d.File, Msg: fmt.Sprintf("%s finds no fit to this record: %v", method, err),
		Hint: "Look at the channels of the record, or give starts and bounds of the parameters."}
}

// stage is the short form of what a method found.
func (s *stage) stage() Stage {
	out := stageOf(s.method.Name, s.sol)
	out.Extra, out.RMS = maps.Clone(s.sol.Extra), numeric.RMS(s.sol.Residual)
	return out
}

// stageOf is the short form of a solution, but for its rms, which may be that of its rows or of what they are made of.
func stageOf(method Method, s *fit.Solution) Stage {
	out := Stage{Method: method, Converged: s.Converged, Reason: s.Reason, Objective: s.Objective, Cost: s.Cost, Unit: s.Unit,
		Iterations: s.Iterations, Trace: s.Trace, Evaluations: s.Evaluations, Compute: s.Compute.Seconds(), Values: map[string]float64{},
		Notes: s.Notes}
	for _, p := range s.Params {
		out.Values[p.Name] = p.Value
	}
	return out
}

// finish turns the last method into the result: errors, validation, what was taken for granted, verdict. The records as they
// were read are checked.
func (r *Result) finish(ctx context.Context, j *job, read []*record.Record) error {
	st := j.lastStage
	st.sol.Workers = j.plan.workers()
	record.Release(len(st.sol.Residual))
	a := st.assessment
	if a == nil {
		var err error
		if a, err = fit.Assess(st.sol); err != nil {
			return err
		}
	}
	r.fill(st.sol, a, st.start)
	r.Model = j.plan.subject(st.method)
	r.Method, r.Settings = cmp.Or(st.title, st.method.Title), st.settings
	if i := slices.Index(r.Chain, st.method.Name); i > 0 {
		r.Method += " after " + FindMethod(r.Chain[i-1]).Title
	}
	for i := range st.share {
		r.Parameters[i].Share, r.Parameters[i].Term = &st.share[i], st.terms[i]
	}
	r.HalfCutoff, r.Steps = st.halfCutoff, st.steps
	r.Weighted = r.Weighted || st.weighted
	r.alongMotion = st.alongMotion
	r.Data = j.recs.Fit[0].Info()
	r.Records = infos(j.recs.Fit)
	j.watch.Report(fit.Progress{Method: string(st.method.Name), Phase: "checks of the record"})
	r.Findings = append(r.Findings, slices.DeleteFunc(record.Check(read, j.checkOptions()), func(f record.Finding) bool {
		return f.Kind == "one-direction" && st.method.OneWay // steps of the velocity go one way
	})...)
	r.Warnings = append(r.Warnings, st.warnings...)
	r.Warnings = append(r.Warnings, st.sol.Notes...)

	if r.Weighted && st.explain != nil {
		if s, err := st.explain(j.recs.Fit); err == nil {
			if own, err := fit.Assess(s); err == nil {
				r.Unweighted, r.unweighted = &own.Fit, s
			}
		}
	}
	if len(j.recs.Validation) > 0 && st.explain == nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("validation: %s cannot explain another record, so it was not looked at; let lm or kalman "+
			"follow, or leave it out", st.method.Name))
	} else if len(j.recs.Validation) > 0 {
		if err := r.validate(j.recs.Validation, read, st, j.checkOptions()); err != nil {
			return fmt.Errorf("validation: %w", err)
		}
	}
	if st.vary != nil && !r.Interrupted && ctx.Err() == nil {
		j.watch.Report(fit.Progress{Method: string(st.method.Name), Phase: "what else could have been taken for granted"})
		r.Sensitivity = st.vary(ctx)
		r.measureMoves()
	}
	if r.withoutAssumed != nil {
		r.hold(j.doubt)
	}
	r.tolerance, r.tops, r.offsetKnown = r.harm(st.sol), []float64{topSpeed(read)}, j.offsetKnown()
	if st.method.Coupled {
		r.tops = append(r.tops, topSpeed(j.recs.Second))
	}
	r.oneWay = (j.plan.Model.Drive == axis.Force || j.plan.Model.Drive == axis.Servo) && !st.method.OneWay && goesOneWay(st.sol.Velocity)
	r.findUnmodelled(j, st)
	r.findRounded(j, st)
	r.findAssumed(j, st)
	r.findKnownErrors(j, st)
	if j.plan.Bootstrap > 0 && !r.Interrupted {
		if st.resample == nil {
			r.Warnings = append(r.Warnings, fmt.Sprintf("bootstrap: %s has none; the intervals are those of the Jacobian", st.method.Name))
		} else if err := r.resample(ctx, st, j.plan.Seed); err != nil { // the fit is there all the same
			r.Warnings = append(r.Warnings, fmt.Sprintf("bootstrap: %v; the intervals are those of the Jacobian", err))
		}
	}
	mean, _ := st.sol.Extra["innovation"].(float64) // of e²/S of a filter, 1 within the limit if its noise levels are right
	if limit, ok := st.sol.Extra["innovation_limit"].(float64); ok && math.Abs(mean-1) > limit {
		r.doubts = append(r.doubts, fit.Doubt(fit.Innovation, "the prediction errors do not scatter as the filter expects (mean of e²/S %.3f, "+
			"want 1 ± %.3f): a noise level that was given, or the model, is wrong, and the intervals with it", mean, limit))
	}
	r.doubts = append(r.doubts, st.doubts...)
	r.channels = []channel{r.explains(st)}
	if c := &r.channels[0]; !j.plan.Model.Drive.Recorded() && c.noise != nil {
		c.uneven = fit.Uneven(st.sol) < unevenP || fit.QuietestPart(st.sol) < quietNoise**c.noise
	}
	r.takePriors(j.plan.GivenParams)
	r.judge()
	return nil
}

const (
	unevenP    = 1e-3 // probability by chance below which what is left over changes along a record
	quietNoise = 1.2  // times the noise from sample to sample that a part of a record holds, if that is all of its noise
)

// explains is what a fit of an axis explains. Only what was simulated and is no more than recorded numbers has their noise.
func (r *Result) explains(st *stage) channel {
	c := channel{unit: r.Fit.Unit, percent: r.Explained(), rms: r.Fit.RMS}
	if v := r.Validation; v != nil {
		c.validation = v.Fit.Percent
	}
	if s := st.sol; st.method.Simulates && !r.Weighted && len(s.Measured) > 0 {
		noise := noiseOf(s.Measured, s.Pieces)
		c.noise, c.spread = &noise, slices.Max(s.Measured)-slices.Min(s.Measured)
	}
	return c
}

// checkOptions is what the checks of the data may rest on.
func (j *job) checkOptions() record.CheckOptions {
	o := record.CheckOptions{Rotary: j.plan.Model.Rotary, Coupled: j.plan.Model.Drive == axis.Spring ||
		j.plan.Methods.ContainsFunc(func(m *MethodInfo) bool { return m.Coupled })}
	o.SmallMotion = FindMethod(j.plan.Methods[len(j.plan.Methods)-1]).SmallMotion
	o.Static = j.plan.Methods.ContainsFunc(func(m *MethodInfo) bool { return m.SteadyFriction })
	fs, okF := j.foundValues["Fs"]
	s0, okS := j.foundValues["sigma0"]
	if okF && okS && s0 > 0 {
		o.Presliding = fs / s0
	}
	return o
}

// validate explains the second record, which should not be one of those that were fitted.
func (r *Result) validate(recs, fitted []*record.Record, st *stage, known record.CheckOptions) error {
	s, err := st.explain(recs)
	if err != nil {
		return err
	}
	a, err := fit.Assess(s)
	if err != nil {
		return err
	}
	r.checked = s
	v := &Validation{Data: recs[0].Info(), Records: infos(recs), Findings: []record.Finding{}, Fit: a.Fit, Residual: a.Residual,
		Warnings: []string{}}
	v.Findings = append(v.Findings, record.Check(recs, known)...)
	v.Warnings = append(v.Warnings, s.Notes...)
	if recs[0].SHA256 != "" && slices.ContainsFunc(fitted, func(d *record.Record) bool { return d.SHA256 == recs[0].SHA256 }) {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s is a record that was fitted: that it is explained proves nothing", recs[0].File))
	}
	r.Validation = v
	return nil
}

// hold makes the intervals hold half of what an assumption does to the values.
func (r *Result) hold(doubt string) {
	s := Sensitivity{What: doubt, RMS: numeric.RMS(r.withoutAssumed.Residual), Unit: r.withoutAssumed.Unit, Values: map[string]float64{},
		inIntervals: true}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if k := fit.Index(r.withoutAssumed.Params, p.Name); k >= 0 && !p.Fixed && !p.State() {
			s.Values[p.Name] = r.withoutAssumed.Params[k].Value
			half := math.Abs(r.withoutAssumed.Params[k].Value-p.Value) / 2
			p.assumed = [2]float64{-half, half}
		}
	}
	r.Sensitivity = append(r.Sensitivity, s)
	r.measureMoves()
}

// measureMoves tells which parameter moves most, in its standard errors.
func (r *Result) measureMoves() {
	for i := range r.Sensitivity {
		s := &r.Sensitivity[i]
		s.Moves = 0
		for k := range r.Parameters {
			p := &r.Parameters[k]
			se := r.Err(p)
			x, there := s.Values[p.Name]
			if !there || p.Fixed || se == nil || *se == 0 || fit.IsState(p.Name) {
				continue
			}
			if m := math.Abs(x-p.Value) / *se; m > s.Moves {
				s.Worst, s.Moves = p.Name, m
			}
		}
	}
}

func (r *Result) resample(ctx context.Context, st *stage, seed uint64) error {
	b, err := st.resample(ctx)
	if err != nil {
		return err
	}
	if len(b.CI95) == 0 {
		return fmt.Errorf("%d refits are too few for 95 %% of them to mean anything, 40 are the least", b.FittedReplicates)
	}
	r.Bootstrap = &Resampling{Refits: b.FittedReplicates, Block: b.Block, Failed: b.FailedReplicates, Seed: seed}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		p.Boot95 = b.CI95[p.Name]
		switch open := 1.96 * st.sol.Spread[p.Name]; { // refits stay where the cost is the same
		case math.IsInf(open, 1):
			p.Boot95 = nil
		case open > 0:
			p.Boot95 = widened(p.Boot95, [2]float64{-open, open})
		}
	}
	return nil
}

// infos tells which records these are; nil for a single one.
func infos(recs []*record.Record) []record.Info {
	if len(recs) < 2 {
		return nil
	}
	var out []record.Info
	for _, d := range recs {
		out = append(out, d.Info())
	}
	return out
}
