package bristle

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// tracker fits the prediction error of the filter.
type tracker struct {
	d       *data
	m       *model
	f       *filter
	o       *Options
	r       []float64
	hold    Hold
	quiet   []float64 // force without noise
	free    bool      // the position variance is estimated too
	runs    int
	shift   float64 // of the parameters by half the sub-steps, standard errors
	watch   fit.Watch
	workers int
}

// Kalman fits the prediction error of an extended Kalman filter, from the separable fit or, warm, from the values of the
// parameters. The noise levels that are not given are found by maximum likelihood in turn with the parameters.
//
// Its rows are prediction errors of the position in units of their standard deviation, so Known is true. Extra holds
// "force_noise" and "position_noise" (rms), "substeps" and "substep_shift", by how many standard errors half the sub-step
// would move the parameters, "innovation", the mean of e²/S, and "innovation_limit", by how much it may differ from 1, "hold",
// what the force does between samples, and "hold_likelihood", −2·ln L of every choice less that of this one with its sign
// turned.
func Kalman(ctx context.Context, rec *record.Record, params []fit.Param, o Options, watch fit.Watch) (*fit.Solution, error) {
	begin := time.Now()
	m, err := newModel(params)
	if err != nil {
		return nil, err
	}
	d, err := newData(rec, &o)
	if err != nil {
		return nil, err
	}
	start, err := fitSmoothed(ctx, d, m, &o, watch)
	if err != nil {
		return nil, err
	}
	if err := start.slides(rec, m); err != nil {
		return nil, err
	}
	k := newTracker(d, m, &o, start, watch)
	s, err := k.fit(ctx, start.theta)
	if err != nil {
		return nil, err
	}
	s.Evaluations += start.trials
	s.Compute = time.Since(begin)
	return s, nil
}

func newTracker(d *data, m *model, o *Options, start *smoothed, watch fit.Watch) *tracker {
	n := len(d.y)
	k := &tracker{d: d, m: m, o: o, r: make([]float64, n), quiet: quiet(d.u), watch: watch, workers: o.Workers}
	rows := float64(start.mo.last - start.mo.first)
	k.f = &filter{
		d: d, m: m, at: start.theta, s: make([]float64, n),
		noise:    noise{position: d.noise * d.noise, force: start.cost / rows},
		substeps: o.Substeps,
	}
	if o.ForceNoise > 0 {
		k.f.noise.force = o.ForceNoise * o.ForceNoise
	}
	k.free = !d.explains
	if k.f.substeps == 0 {
		k.f.substeps = substeps(&start.theta, d.h)
	}
	return k
}

// substeps resolve the bristle mode: the midpoint rule makes its stiffness wrong by (ω0·h)²/6, ω0² = σ0/M, which is to stay
// below 2e-4. They also keep the equation of a step unique, 2M/h above the fall of the Stribeck curve.
func substeps(t *theta, h float64) int {
	n := math.Ceil(h * math.Sqrt(t[sigma0]/t[inertia]) / 0.035)
	n = max(n, math.Ceil(h*0.858*math.Abs(t[breakout]-t[coulomb])/t[stribeck]/t[inertia]))
	return int(min(max(n, 2), 200))
}

// problem is that of the parameters alone, from t on.
func (k *tracker) problem(t *theta) (*fit.Problem, map[string]float64) {
	scale := map[string]float64{}
	p := &fit.Problem{Rows: len(k.r), New: func() fit.Evaluator { return k.f.clone() }}
	for _, i := range k.m.free {
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
	k.f.at = *t
	k.runs++
	k.f.ref, _ = k.f.run(t, k.r)
	p, scale := k.problem(t)
	s, err := fit.LM{Steps: []float64{1e-3}, MaxIterations: most, OffsetTol: tol, CostTol: 1e-8, Scale: scale, Workers: k.workers}.Fit(ctx, p, k.say)
	if err != nil {
		return nil, err
	}
	for j, i := range k.m.free {
		t[i] = s.Params[j].Value
	}
	k.runs += s.Evaluations
	return s, nil
}

// divide sets what the force does between samples and into how many parts they are cut.
func (k *tracker) divide(h Hold, substeps int) {
	k.hold = h
	k.f.substeps = substeps
	k.f.u = make([]float64, (len(k.d.u)-1)*substeps)
	h.between(k.d.u, k.quiet, substeps, k.f.u)
}

// settled is what a fit with one choice of Hold comes to.
type settled struct {
	theta theta
	noise noise
	hold  Hold
	l     float64 // −2·ln L
}

// say passes on the progress of a search as that of the whole.
func (k *tracker) say(p fit.Progress) {
	p.Method, p.Phase, p.Simulated = "kalman", "force "+k.hold.String()+" between samples", k.runs+p.Simulated
	k.watch.Say(p)
}

// settle alternates between parameters and noise levels until both rest.
func (k *tracker) settle(ctx context.Context, t theta, passes, most int) (settled, error) {
	for pass := range passes {
		before := k.f.noise
		if _, err := k.search(ctx, &t, 2e-2, most); err != nil {
			return settled{}, err
		}
		if ctx.Err() != nil {
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

// doubt is the gain of −2·ln L below which the force is taken for band-limited.
const doubt = 3

// fit settles with every choice of Hold that is open and refines the likeliest.
func (k *tracker) fit(ctx context.Context, t theta) (*fit.Solution, error) {
	holds := []Hold{k.o.Hold}
	if k.o.Hold == Auto {
		holds = []Hold{Smooth, Linear, Held}
	}
	var all []settled
	n := k.f.substeps
	for i, h := range holds {
		k.divide(h, n)
		passes, most := 5, 30
		if i == 0 {
			k.levels(&t, 5)
		} else { // from the neighbour, only far enough to be judged
			t, k.f.noise, passes, most = all[0].theta, all[0].noise, 1, 5
		}
		s, err := k.settle(ctx, t, passes, most)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	best := all[0]
	for _, s := range all[1:] {
		if s.l < best.l-doubt {
			best = s
		}
	}
	k.divide(best.hold, n)
	t, k.f.noise = best.theta, best.noise
	if best.hold != holds[0] { // the first one has settled already
		var err error
		if best, err = k.settle(ctx, t, 5, 30); err != nil {
			return nil, err
		}
		t = best.theta
	}
	s, err := k.search(ctx, &t, 1e-3, 30)
	if err != nil {
		return nil, err
	}
	gain := map[string]float64{}
	for _, a := range all {
		gain[a.hold.String()] = best.l - a.l
	}
	if s, err = k.refine(ctx, &t, s); err != nil {
		return nil, err
	}
	gain[best.hold.String()] = 0
	s = k.solution(t, s)
	resolved(k.m, k.d, &t, s)
	s.Extra["hold"], s.Extra["hold_likelihood"] = best.hold.String(), gain
	return s, nil
}

// refine halves the sub-steps at the optimum until that moves no parameter by more than a fifth of its standard error: else
// the simulator, not the data, would set the answer.
func (k *tracker) refine(ctx context.Context, t *theta, s *fit.Solution) (*fit.Solution, error) {
	if k.o.Substeps > 0 {
		return s, nil
	}
	for range 3 {
		_, _ = k.f.run(t, k.r)
		coarse := append([]float64(nil), k.r...)
		k.divide(k.hold, 2*k.f.substeps)
		k.runs += 2
		if _, ok := k.f.run(t, k.r); !ok || ctx.Err() != nil {
			k.divide(k.hold, k.f.substeps/2)
			return s, nil
		}
		n := len(s.Free)
		var q, r, cov mat.Dense
		j := mat.NewDense(len(k.r), n, s.Jac)
		b := mat.NewDense(len(k.r), 1, nil)
		for i, v := range k.r {
			b.Set(i, 0, v-coarse[i])
		}
		q.Mul(j.T(), j)
		r.Mul(j.T(), b)
		scale(&q, &r)
		if err := cov.Inverse(&q); err != nil {
			k.divide(k.hold, k.f.substeps/2)
			return s, nil // nothing can be told apart: the judgement of the solution says so
		}
		var move mat.Dense
		move.Mul(&cov, &r)
		k.shift = 0
		for i := range n {
			k.shift = max(k.shift, math.Abs(move.At(i, 0))/math.Sqrt(cov.At(i, i)))
		}
		if k.shift < 0.2 {
			k.divide(k.hold, k.f.substeps/2)
			return s, nil
		}
		var err error
		if s, err = k.search(ctx, t, 1e-3, 10); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// scale makes the diagonal of the normal equations q·x = r ones.
func scale(q, r *mat.Dense) {
	n, _ := q.Dims()
	d := make([]float64, n)
	for i := range d {
		d[i] = 1 / math.Sqrt(max(q.At(i, i), 1e-300))
	}
	for i := range n {
		for j := range n {
			q.Set(i, j, q.At(i, j)*d[i]*d[j])
		}
		r.Set(i, 0, r.At(i, 0)*d[i])
	}
}

// solution turns the answer of the search into that of the model.
func (k *tracker) solution(t theta, s *fit.Solution) *fit.Solution {
	_, mean := k.likelihood(&t, k.f.noise)
	logS := 0.0
	for _, v := range k.f.s {
		logS += math.Log(v)
	}
	// rows in units of their own scatter, not of that at the start
	c := math.Exp(-0.5 * (logS/float64(len(k.r)) - k.f.ref))
	for i := range s.Residual {
		s.Residual[i] *= c
	}
	for i := range s.Jac {
		s.Jac[i] *= c
	}
	s.Cost *= c * c
	s.Measured = make([]float64, len(k.r))
	for i, v := range k.f.s {
		s.Measured[i] = k.d.y[i] / math.Sqrt(v)
	}
	s.Params, s.Free = k.m.answer(t)
	s.Unit, s.Quantity, s.Dt, s.Known, s.Input = "", k.m.quantity("position", "angle"), k.d.h, true, k.d.u
	s.Objective = "half the sum of squared prediction errors of the position in units of their standard deviation"
	s.Evaluations = k.runs
	limit := 3 * math.Sqrt(2/float64(len(k.r)))
	s.Extra["force_noise"], s.Extra["position_noise"] = math.Sqrt(k.f.noise.force), math.Sqrt(k.f.noise.position)
	s.Extra["substeps"], s.Extra["innovation"], s.Extra["innovation_limit"] = k.f.substeps, mean, limit
	s.Extra["substep_shift"] = k.shift
	if math.Abs(mean-1) > limit {
		s.Notes = append(s.Notes, fmt.Sprintf("The prediction errors do not scatter as the filter expects: mean of e²/S %.3f, want 1 ± %.3f.", mean, limit))
	}
	return s
}
