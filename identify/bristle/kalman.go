package bristle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// tracker fits the prediction error of the filter.
type tracker struct {
	d              *data
	m              *model
	f              *filter
	o              *Options
	r              []float64
	hold           Hold
	denoisedForce  []float64 // force without noise
	estimatesNoise bool      // the position variance is estimated too
	runs           int
	doubts         []string
	watch          fit.Watch
}

// Kalman fits the prediction error of an extended Kalman filter to records, pieces of one recording, from the separable fit
// or, warm, from the values of the parameters. The noise levels that are not given are found by maximum likelihood in turn
// with the parameters. With every parameter fixed only they are.
//
// Its rows are prediction errors of the position in units of their standard deviation, so Known is true. Extra holds
// "force_noise" and "position_noise" (rms), "force_noise_sensor", the share of the variance of the former that is an error of
// the force sensor and does not act on the mass, "substeps" and "substep_shift", by how many standard errors half the sub-step
// would move the parameters, "deviance", −2·ln L, "innovation", the mean of e²/S, and "innovation_limit", by how much it may differ
// from 1, "hold", what the force does between samples, and "hold_likelihood", −2·ln L of every choice less that of this one with its
// sign turned.
func Kalman(ctx context.Context, recs []*record.Record, params []fit.Param, o Options, watch fit.Watch) (*fit.Solution, error) {
	m, err := newModel(params)
	if err != nil {
		return nil, err
	}
	return m.track(ctx, recs, o, watch)
}

// track is Kalman for a model.
func (m *model) track(ctx context.Context, recs []*record.Record, o Options, watch fit.Watch) (*fit.Solution, error) {
	begin := time.Now()
	d, err := newData(recs, &o)
	if err != nil {
		return nil, err
	}
	start, err := fitSmoothed(ctx, recs[0], d, m, &o, watch)
	if err != nil {
		return nil, err
	}
	if !m.presliding {
		if err := start.slides(recs[0], m); err != nil {
			return nil, err
		}
	}
	s, err := newTracker(d, m, &o, start, watch).fit(ctx, start.theta)
	var bad *fit.ParamError
	if err != nil && !errors.As(err, &bad) && ctx.Err() == nil {
		if said := start.checkBristle(recs[0], d, m); said != nil {
			return nil, said
		}
		return nil, recs[0].Fail(0, "Do force and motion belong together: the same times, the right columns, units and signs?",
			"the filter cannot follow this motion from where the smoothed one points to (%s %.3g, Fc %.3g, sigma0 %.3g)", m.name(inertia),
			start.theta[inertia], start.theta[coulomb], start.theta[sigma0])
	}
	if err != nil {
		return nil, err
	}
	if m.presliding {
		s.Extra["path"] = d.path()
	} else {
		start.sampled(m, d, o.Hold, s)
	}
	s.Evaluations += start.trials
	s.Compute = time.Since(begin)
	return s, nil
}

func newTracker(d *data, m *model, o *Options, start *smoothed, watch fit.Watch) *tracker {
	n := len(d.y)
	k := &tracker{d: d, m: m, o: o, r: make([]float64, n), denoisedForce: d.denoisedForce(), watch: watch, estimatesNoise: !d.explains}
	k.f = &filter{
		d: d, m: m, work: new(atomic.Int64), fixedValues: start.theta, s: make([]float64, n), share: 1,
		noise:    noise{position: d.noise * d.noise, force: start.variance()},
		substeps: substeps(&start.theta, d.h),
	}
	if o.ForceNoise > 0 {
		k.f.noise.force = o.ForceNoise * o.ForceNoise
	}
	return k
}

// substeps resolve the bristle mode: the midpoint rule makes its stiffness wrong by (ω0·h)²/6, ω0² = σ0/M, which is to stay
// below 4e-4; at the optimum that is checked. They also keep the equation of a step unique, 2M/h above the fall of the
// Stribeck curve.
func substeps(t *theta, h float64) int {
	n := math.Ceil(h * math.Sqrt(t[sigma0]/t[inertia]) / 0.05)
	n = max(n, math.Ceil(h*0.858*math.Abs(t[breakout]-t[coulomb])/t[stribeck]/t[inertia]))
	return int(min(max(n, 2), 64)) // beyond, the mode is faster than the samples, and the halving at the optimum decides
}

// maxWork is how many evaluations of a step a fit may take: some seconds of one core.
func (k *tracker) maxWork() int { return 20e6 + 6000*len(k.r) }

// remainingRuns is how many runs of the filter with the present sub-steps are left, if they are as hard as one was that took cost.
func (k *tracker) remainingRuns(cost int) int {
	return max(0, k.maxWork()-int(k.f.work.Load())) / max(cost, len(k.r)*k.f.substeps)
}

// spent tells that the limit of the work is reached.
func (k *tracker) spent() bool { return int(k.f.work.Load()) >= k.maxWork() }

// problem is that of the parameters alone, from t on.
func (k *tracker) problem(t *theta) (*fit.Problem, map[string]float64) {
	scale := map[string]float64{}
	p := &fit.Problem{Rows: len(k.r), NewEvaluator: func() fit.Evaluator { return k.f.clone() }}
	for _, i := range k.m.freeParams {
		q := fit.Param{Param: engine.Param{Name: k.m.name(i), Lo: k.m.lo[i], Hi: k.m.hi[i]}}
		switch i {
		case sigma1, sigma2, offset:
			scale[k.m.name(i)] = step(t, i, 1)
		default:
			q.Log = true
			q.Lo = max(q.Lo, 1e-6*t[i])
		}
		q.Value = min(max(t[i], q.Lo), q.Hi)
		p.Params = append(p.Params, q)
	}
	return p, scale
}

// search is one fit of the parameters with the noise levels as they are.
func (k *tracker) search(ctx context.Context, t *theta, tol float64, most int) (*fit.Solution, error) {
	k.f.fixedValues = *t
	var ok bool
	k.f.ref, ok = k.f.run(t, k.r)
	cost := k.f.mover.work
	k.runs++
	if len(k.m.freeParams) == 0 {
		if !ok {
			return nil, fmt.Errorf("the filter does not stay finite with these parameters")
		}
		s := &fit.Solution{Residual: slices.Clone(k.r), Converged: true, Reason: "nothing was fitted", Extra: map[string]any{}}
		s.Cost += floats.Dot(k.r, k.r) / 2
		return s, nil
	}
	p, scale := k.problem(t)
	s, err := fit.LM{Steps: []float64{1e-3}, Forward: tol > 1e-2, MaxIterations: most, MaxEvaluations: k.remainingRuns(cost) + 1,
		OffsetTol: tol, CostTol: 1e-8, Scale: scale, Workers: k.o.Workers}.Fit(ctx, p, k.reportProgress)
	if err != nil {
		return nil, err
	}
	s.NoiseKnown = true
	for j, i := range k.m.freeParams {
		t[i] = s.Params[j].Value
	}
	k.runs += s.Evaluations
	return s, nil
}

// divide sets into how many parts the time between samples is cut, and the force there.
func (k *tracker) divide(h Hold, substeps int) {
	k.hold, k.f.substeps, k.f.u = h, substeps, h.pieceSubstepMeans(k.d, k.d.u, k.denoisedForce, substeps)
}

// settled is what a fit with one choice of Hold comes to.
type settled struct {
	theta theta
	noise noise
	hold  Hold
	l     float64 // −2·ln L
}

// reportProgress passes on the progress of a search as that of the whole.
func (k *tracker) reportProgress(p fit.Progress) {
	p.Method, p.Phase, p.Simulated = "kalman", "force "+k.hold.String()+" between samples", k.runs+p.Simulated
	p.Step, p.StepCount = int(k.f.work.Load()>>10), k.maxWork()>>10
	k.watch.Report(p)
}

// alternate alternates between parameters and noise levels until both rest.
func (k *tracker) alternate(ctx context.Context, t theta, passes, most int) (settled, error) {
	for pass := range passes {
		if pass > 0 && k.spent() {
			break
		}
		before := k.f.noise
		if _, err := k.search(ctx, &t, 2e-2, most); err != nil {
			return settled{}, err
		}
		if ctx.Err() != nil || k.spent() {
			break
		}
		k.levels(&t, 1/float64(1+pass))
		if math.Abs(math.Log(k.f.noise.force/before.force)) < 0.05 && math.Abs(math.Log(k.f.noise.position/before.position)) < 0.05 {
			break
		}
	}
	l, _ := k.likelihood(&t, k.f.noise)
	return settled{t, k.f.noise, k.hold, l * float64(len(k.r))}, nil
}

// Gains of −2·ln L that decide between the choices of Hold.
const (
	doubt      = 3  // below which the force is taken for band-limited
	holdMargin = 20 // below which noise of the force may have decided: what of the signal is taken for noise runs straight with every choice
)

// fit settles with every choice of Hold that is open, and refines the likeliest.
func (k *tracker) fit(ctx context.Context, t theta) (*fit.Solution, error) {
	holds := []Hold{k.o.Hold}
	switch k.o.Hold {
	case Auto:
		holds = []Hold{Smooth, Linear, Held, heldQuiet}
	case Held:
		if holds = []Hold{Held, heldQuiet}; k.d.means { // as the filter has it
			holds = holds[:1]
		}
	}
	// judged with coarse sub-steps
	var all []settled
	n := k.f.substeps
	for i, h := range holds {
		k.divide(h, (n+1)/2)
		passes, most := 4, 30
		if i == 0 {
			k.levels(&t, 5)
		} else if k.spent() {
			break
		} else { // from the neighbour, only far enough to be judged
			t, k.f.noise, passes, most = all[0].theta, all[0].noise, 1, 5
		}
		s, err := k.alternate(ctx, t, passes, most)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	best := likeliest(all)
	chosen := best
	k.divide(best.hold, n)
	k.f.noise = best.noise
	var err error
	if !k.spent() {
		if best, err = k.alternate(ctx, best.theta, 3, 30); err != nil {
			return nil, err
		}
	}
	t = best.theta

	// what of the force noise acts on the mass, and what does not: at most what the past of the force does not predict. Begin
	// with all of that, because with too much on the mass the parameters are wrong and the level of the noise with them
	h := predictor(k.d)
	new := h.apply(k.d, k.d.u)
	if stat.MomentAbout(2, new, 0, nil) > 0.1*k.f.noise.force && !k.spent() {
		k.f.share = 0
		if best, err = k.alternate(ctx, t, 3, 30); err != nil {
			return nil, err
		}
		t = best.theta
	}
	s, shareErr, err := k.fitShare(ctx, &t, h, new)
	if err != nil {
		return nil, err
	}
	// The likelihoods took all noise for a disturbance of the axis; what of it is not speaks for the wrong signal. And an error of the
	// sensor passes through every model alike only where it is as the covariance has it, new from sample to sample: held
	if k.f.share < 1 && k.o.Hold == Auto && !k.spent() {
		if chosen, all, err = k.choose(ctx, settled{theta: t, hold: k.hold}, all); err != nil {
			return nil, err
		}
		if hold := chosen.hold.signal(); hold != k.hold {
			t = chosen.theta
			k.divide(hold, n)
			k.levels(&t, 1)
			if s, shareErr, err = k.fitShare(ctx, &t, h, new); err != nil {
				return nil, err
			}
		}
	}
	gain := map[string]float64{}
	for _, a := range all {
		gain[a.hold.String()] = chosen.l - a.l
	}
	halved, shift, err := k.refine(ctx, &t, s)
	if err != nil {
		return nil, err
	}
	s = k.solution(t, s)
	if len(s.FreeParams) > 0 {
		k.widen(s, &t, shareErr)
		k.undecided(chosen, all, s)
	}
	s.Changed = k.changed(t)
	s.Less, s.LessRuns, s.Halved, s.Doubts = k.less(t), k.maxWork()/2/max(1, k.f.mover.work), halved, k.doubts
	maps.Copy(s.Extra, map[string]any{"hold": chosen.hold.signal().String(), "hold_likelihood": gain, "substep_shift": shift})
	resolved(k.m, k.d, &t, s)
	return s, nil
}

// fitShare fits the parameters and the share of the force noise that acts on the mass in turn, and gives the error of the share.
func (k *tracker) fitShare(ctx context.Context, t *theta, h innovator, new []float64) (s *fit.Solution, err float64, bad error) {
	for i := range 6 {
		if s, bad = k.search(ctx, t, 1e-3, 30); bad != nil {
			return nil, 0, bad
		}
		before := k.f.share
		if k.f.share, err = k.acting(t, s, h, new); math.Abs(k.f.share-before) < 0.05 || i == 5 || k.spent() {
			err = math.Hypot(err, k.f.share-before)
			k.f.share = before
			break
		}
		k.levels(t, 0.3)
	}
	return s, err, nil
}

// choose settles the choices of Hold again at the present level of the noise, which runs straight with each, by what is least for
// the share of it that acts. It gives the likeliest and all of them, the present one first.
func (k *tracker) choose(ctx context.Context, own settled, all []settled) (best settled, out []settled, err error) {
	n, hold, level, ref := k.f.substeps, k.hold, k.f.noise, k.f.ref
	if hold == Held {
		own.hold = heldQuiet
	}
	for _, a := range append([]settled{own}, all...) {
		if len(out) > 0 && a.hold == own.hold || a.hold == Held {
			continue
		}
		k.divide(a.hold, n)
		a.noise = level
		if _, err = k.search(ctx, &a.theta, 2e-2, 10); err != nil {
			return own, all, err
		}
		l, mean := k.likelihood(&a.theta, level)
		a.l = float64(len(k.r)) * (mean + k.f.share*(l-mean))
		out = append(out, a)
	}
	k.divide(hold, n)
	k.f.ref = ref
	return likeliest(out), out, nil
}

// likeliest is the first of all that no later one exceeds beyond doubt.
func likeliest(all []settled) settled {
	best := all[0]
	for _, a := range all[1:] {
		if a.l < best.l-doubt {
			best = a
		}
	}
	return best
}

// undecided keeps a doubt where another signal of the force, which noise may have decided against, moves a parameter of the
// solution by more than its interval.
func (k *tracker) undecided(chosen settled, all []settled, s *fit.Solution) {
	cov := fit.Covariance(s)
	if cov == nil {
		return
	}
	for _, a := range all {
		held, other := chosen.hold.signal() == Held, a.hold.signal() == Held
		if held == other || chosen.hold == Held || a.hold == Held || a.l-chosen.l > holdMargin {
			continue
		}
		worst, most := -1, 1.96
		for j, i := range k.m.freeParams {
			if m := math.Abs(a.theta[i]-chosen.theta[i]) / math.Sqrt(cov.At(j, j)); m > most {
				worst, most = i, m
			}
		}
		if worst >= 0 {
			k.doubt("the record hardly tells what the force does between its samples: with %v instead of %v %s would be %.4g instead of %.4g; say "+
				"it in noise.hold, or record the force with less noise",
				a.hold.signal(), chosen.hold.signal(), k.m.name(worst), a.theta[worst], chosen.theta[worst])
			return
		}
	}
}

// less tells by how much what is predicted moves, in units of the residual, if the force is less by u (N) at the samples of all
// pieces; nil: unknown. What the axis adds to the force runs straight from sample to sample, whatever the drive does.
func (k *tracker) less(t theta) func(u []float64) []float64 {
	run := func(u []float64) []float64 {
		f, r, push := k.f.clone(), make([]float64, len(k.r)), Linear.pieceSubstepMeans(k.d, u, u, k.f.substeps)
		f.u, f.work = floats.SubTo(push, f.u, push), new(atomic.Int64)
		if _, ok := f.run(&t, r); !ok {
			return nil
		}
		return r
	}
	own := sync.OnceValue(func() []float64 { return run(make([]float64, len(k.d.u))) })
	return func(u []float64) []float64 {
		if len(u) != len(k.d.u) || own() == nil {
			return nil
		}
		r := run(u)
		if r != nil {
			floats.SubTo(r, own(), r)
		}
		return r
	}
}

// changed tells by how much what is predicted moves, in units of the residual, with another value of a parameter.
func (k *tracker) changed(t theta) func(name string, value float64) []float64 {
	run := func(t theta) []float64 {
		f, r := k.f.clone(), make([]float64, len(k.r))
		f.work = new(atomic.Int64)
		if _, ok := f.run(&t, r); !ok {
			return nil
		}
		return r
	}
	own := sync.OnceValue(func() []float64 { return run(t) })
	return func(name string, value float64) []float64 {
		i := slices.IndexFunc(k.m.params, func(p fit.Param) bool { return p.Name == name })
		at := slices.Index(k.m.places[:], i)
		if i < 0 || at < 0 || own() == nil {
			return nil
		}
		other := t
		other[at] = value
		r := run(other)
		if r != nil {
			floats.Sub(r, own())
		}
		return r
	}
}

// refine halves the sub-steps at the optimum until that moves no parameter by more than a third of its standard error: else
// the simulator, not the data, would set the answer. It returns the values with sub-steps half as long and by how many
// standard errors they differ.
func (k *tracker) refine(ctx context.Context, t *theta, s *fit.Solution) (halved map[string]float64, shift float64, err error) {
	n := len(s.FreeParams)
	for range 4 {
		if n == 0 || ctx.Err() != nil {
			return nil, 0, nil
		}
		k.f.run(t, k.r)
		coarse := slices.Clone(k.r)
		was := k.f.substeps
		k.divide(k.hold, 2*was)
		_, ok := k.f.run(t, k.r)
		k.runs += 2
		cov := fit.Covariance(s)
		if !ok || cov == nil { // nothing can be told apart: the judgement of the solution says so
			k.divide(k.hold, was)
			return nil, 0, nil
		}
		var move mat.VecDense
		move.MulVec(mat.NewDense(len(k.r), n, s.Jac).T(), mat.NewVecDense(len(k.r), floats.SubTo(coarse, k.r, coarse)))
		move.MulVec(cov, &move)
		halved, shift = map[string]float64{}, 0
		for j, i := range k.m.freeParams {
			halved[k.m.name(i)] = t[i] + move.AtVec(j)
			shift = max(shift, math.Abs(move.AtVec(j))/math.Sqrt(cov.At(j, j)))
		}
		if shift < 1./3 {
			k.divide(k.hold, was)
			return halved, shift, nil
		}
		if k.remainingRuns(k.f.mover.work) < 10*n {
			k.divide(k.hold, was)
			k.doubt("sub-steps half as long would move a parameter by %.2g standard errors, and the limit of the work is reached: the steps, not "+
				"the data, set its value", shift)
			return halved, shift, nil
		}
		finer, err := k.search(ctx, t, 1e-3, 10)
		if err != nil {
			return nil, 0, err
		}
		*s = *finer
	}
	return halved, shift, nil
}

// maxCorrection is the share of a parameter by which noise of the force sensor may have to be corrected for.
const maxCorrection = 0.5

// doubt keeps a reason not to trust the intervals.
func (k *tracker) doubt(format string, args ...any) {
	k.doubts = append(k.doubts, fmt.Sprintf(format, args...))
}

// widen adds to the errors what the share of the force noise that acts on the mass is uncertain by: it moves the parameters
// along d = −½·(JᵀJ)⁻¹·∂Σln S/∂θ. With the covariance (JᵀJ)⁻¹ + d·dᵀ the new J is J − a·(J·d)·(JᵀJ·d)ᵀ.
func (k *tracker) widen(s *fit.Solution, t *theta, shareErr float64) {
	cov := fit.Covariance(s)
	if cov == nil {
		return
	}
	n := len(s.FreeParams)
	g := make([]float64, n)
	for j, i := range k.m.freeParams {
		up, down, h := *t, *t, step(t, i, 1e-3)
		up[i] += h
		down[i] -= h
		a, okA := k.f.run(&up, k.r)
		b, okB := k.f.run(&down, k.r)
		k.runs += 2
		if !okA || !okB {
			return
		}
		g[j] = 0.5 * float64(len(k.r)) * (a - b) / (2 * h)
	}
	var d mat.VecDense
	d.MulVec(cov, mat.NewVecDense(n, g))
	// where all of it would move a parameter far, what the filter leaves out of its second order counts too
	for j, i := range k.m.freeParams {
		if by := math.Abs(d.AtVec(j) / step(t, i, 1)); by > maxCorrection && k.f.share < 1 {
			k.doubt("the force sensor is so noisy (%.2g %s rms) that taking its error for a disturbance of the axis would move %s by %.0f %%: the "+
				"filter corrects that to first order only; average the force, or record it with less noise",
				math.Sqrt(k.f.noise.force*(1-k.f.share)), k.m.unit[1], k.m.name(i), 100*by)
			break
		}
	}
	d.ScaleVec(shareErr, &d)
	widenAlong(s, &d)
}

// widenAlong adds d·dᵀ to the covariance (JᵀJ)⁻¹ of a solution.
func widenAlong(s *fit.Solution, d mat.Vector) {
	jac := mat.NewDense(len(s.Residual), d.Len(), s.Jac)
	var q, p mat.VecDense
	q.MulVec(jac, d)
	p.MulVec(jac.T(), &q)
	w2 := mat.Dot(&q, &q)
	if w2 == 0 {
		return
	}
	a := (1 - 1/math.Sqrt(1+w2)) / w2
	jac.RankOne(jac, -a, &q, &p)
}

// solution turns the answer of the search into that of the model.
func (k *tracker) solution(t theta, s *fit.Solution) *fit.Solution {
	l, mean := k.likelihood(&t, k.f.noise)
	// rows in units of their own scatter, not of that at the start
	c := 1 / k.f.level(l-mean)
	floats.Scale(c, s.Residual)
	floats.Scale(c, s.Jac)
	s.Cost *= c * c
	floats.Scale(c*c, s.Trace)
	s.Measured = make([]float64, len(k.r))
	for i, v := range k.f.s {
		s.Measured[i] = k.d.y[i] / math.Sqrt(v)
	}
	s.Pieces = k.d.starts()
	if k.spent() && !s.Converged {
		s.Reason = "the limit of its work was reached: a shorter record, fewer free parameters or better starts help"
	}
	s.Params, s.FreeParams = k.m.answer(t)
	s.Unit, s.Quantity, s.Dt, s.NoiseKnown, s.Input = "", k.m.quantity("position", "angle"), k.d.h, true, k.d.u
	s.Objective = "half the sum of squared prediction errors of the position in units of their standard deviation"
	s.Evaluations = k.runs
	s.Notes = append(s.Notes, k.d.notes...)
	limit := 3 * math.Sqrt(2/float64(len(k.r)))
	maps.Copy(s.Extra, map[string]any{
		"force_noise": math.Sqrt(k.f.noise.force), "position_noise": math.Sqrt(k.f.noise.position), "force_noise_sensor": 1 - k.f.share,
		"substeps": k.f.substeps, "innovation": mean, "innovation_limit": limit, "deviance": l * float64(len(k.r)),
	})
	return s
}
