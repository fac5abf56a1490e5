package bristle

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// curved are the parameters in which the force is not linear. The search goes over the logarithms of σ0, Fc, |Fs − Fc|, vs: a
// contact that weakens with speed and one that strengthens (Fs < Fc, seen on lubricated guides) are two searches.
var curved = [4]int{sigma0, coulomb, breakout, stribeck}

// thin is the least difference of Fs and Fc that is looked at, thick the largest by which Fs may be below Fc, as shares of Fc.
const thin, thick = 1e-4, 0.95

// separable is the problem in the curved parameters; the linear ones are solved at every trial.
type separable struct {
	p              *projector
	theta          theta // last trial, with its linear parameters
	curvedPlaces   []int // places of the free curved parameters
	levelsInverted bool  // Fs < Fc
}

// expand turns the searched numbers into all parameters; Fs is searched as its distance from Fc.
func (s *separable) expand(q []float64, t *theta) {
	*t = s.p.m.start
	for j, i := range s.curvedPlaces {
		t[i] = q[j]
	}
	switch {
	case !s.p.m.isFree[breakout]:
	case s.levelsInverted:
		t[breakout] = max(t[coulomb]-t[breakout], (1-thick)*t[coulomb])
	default:
		t[breakout] += t[coulomb]
	}
	s.p.m.clip(t) // the bounds are those of Fs, not of the distance
}

// Residuals implements fit.Evaluator.
func (s *separable) Residuals(q, r []float64) engine.Status {
	s.expand(q, &s.theta)
	cost := s.p.solve(&s.theta)
	if !numeric.IsFinite(cost) {
		for k := range r {
			r[k] = 1e6
		}
		return engine.NonFinite
	}
	for i, k := range s.p.rows {
		r[i] = -s.p.residualAt(&s.theta, k)
	}
	return engine.OK
}

// search is a separable fit of one motion.
type search struct {
	m       *model
	mo      *motion
	d       *data
	workers int
	trials  int
}

// coordinates are the free curved parameters at t, the distance from Fc in place of Fs.
func (s *search) coordinates(t *theta) (at []int, params []fit.Param) {
	for _, i := range curved {
		if !s.m.isFree[i] {
			continue
		}
		at = append(at, i)
		v, lo, hi := t[i], s.m.lo[i], s.m.hi[i]
		if i == breakout {
			v, lo = math.Abs(t[i]-t[coulomb]), thin*t[coulomb]
			if t[i] < t[coulomb] {
				hi = thick * t[coulomb]
			}
		}
		lo = max(lo, 1e-12*hi)
		params = append(params, fit.Param{Param: engine.Param{Name: s.m.name(i), Value: min(max(v, lo), hi), Lo: lo, Hi: hi}, Log: true})
	}
	return at, params
}

// polish searches from t and returns the best parameters with their cost (N²).
func (s *search) polish(ctx context.Context, t theta, tol float64, most int) (theta, float64, error) {
	at, params := s.coordinates(&t)
	evaluator := func() *separable {
		return &separable{p: newProjector(s.mo, s.m), curvedPlaces: at, levelsInverted: t[breakout] < t[coulomb]}
	}
	var q []float64
	if len(at) > 0 {
		p := &fit.Problem{Params: params, Rows: len(s.mo.rows), Unit: s.m.unit[1], NewEvaluator: func() fit.Evaluator { return evaluator() }}
		sol, err := fit.LM{Steps: []float64{1e-4}, MaxEvaluations: most, CostTol: tol, Workers: s.workers}.Fit(ctx, p, nil)
		if err != nil {
			return t, 0, err
		}
		s.trials += sol.Evaluations
		q = fit.Values(sol.Params)
	}
	e := evaluator()
	e.expand(q, &e.theta)
	cost := e.p.solve(&e.theta)
	return e.theta, cost, nil
}

// finest is the relative change of the cost at which the last search ends.
const finest = 1e-10

// undersmoothed is the share of the penalty that leaves the least over with which the last search smooths: there, what smoothing takes off
// the corners is as large as the noise that it leaves, and intervals know of the noise alone. A tenth passes frequencies higher by a third.
const undersmoothed = 0.1

// smoothed is the outcome of a separable fit with a chosen penalty.
type smoothed struct {
	theta  theta
	cost   float64 // N²
	lambda float64
	mo     *motion
	trials int
}

// variance is that of the force which is left, N².
func (f *smoothed) variance() float64 { return f.cost / float64(len(f.mo.rows)) }

// penalties are the weights of the smoother that are tried, as logarithms of their share of that by the discrepancy rule.
var penalties = []float64{0, -1.2, -2.3, -3.5, -4.6, -5.8, -6.9}

// fitSmoothed is the separable fit: cold or warm start, then the penalty with the smallest force residual.
//
// A penalty by the discrepancy rule leaves what the encoder would leave, but it does so by cutting the corners of the
// reversals. The force residual falls while corners come back and rises when noise does, so its least value is nearer to
// the truth [theory §9.2].
func fitSmoothed(ctx context.Context, rec *record.Record, d *data, m *model, o *Options, watch fit.Watch) (*smoothed, error) {
	sm := newSmoother(4, len(d.y))
	s := &search{m: m, d: d, mo: newMotion(d, o.Hold), workers: o.Workers}
	use := func(lambda float64) {
		sm.smoothPieces(d, d.y, lambda, s.mo.x)
		s.mo.derive()
	}
	top := sm.discrepancy(d, d.y, d.noise, s.mo.x)
	use(0.1 * top)
	s.mo.choose(d.reach)
	fast, err := s.regress()
	if err != nil {
		return nil, err
	}
	if err := s.dissipates(rec, fast); err != nil {
		return nil, err
	}

	// from several starts to the best
	starts := []theta{m.start}
	if !o.WarmStart {
		if starts, err = s.guess(ctx, fast); err != nil {
			return nil, err
		}
		starts = bestOfBoth(starts)
	}
	best := smoothed{cost: math.Inf(1), lambda: top, mo: s.mo}
	try := func(phase string, i, of int, t theta, lambda, tol float64) (cost float64, err error) {
		watch.Report(fit.Progress{Method: "lugre", Phase: phase, Step: i, StepCount: of, BestCost: best.variance(), Unit: m.unit[1] + "²",
			Simulated: s.trials})
		if t, cost, err = s.polish(ctx, t, tol, 150); err == nil && cost < best.cost {
			best.theta, best.cost, best.lambda = t, cost, lambda
		}
		return cost, err
	}
	for i, t := range starts {
		if _, err := try("starts", i, len(starts), t, top, 1e-5); err != nil {
			return nil, err
		}
	}

	// the penalty
	best.cost = math.Inf(1)
	for i, l := range penalties {
		lambda := top * math.Exp(l)
		use(lambda)
		cost, err := try("smoothing", i, len(penalties), best.theta, lambda, 1e-7)
		if err != nil {
			return nil, err
		}
		if cost > 1.02*best.cost { // past the least
			break
		}
	}
	best.lambda *= undersmoothed
	use(best.lambda)
	if best.theta, best.cost, err = s.polish(ctx, best.theta, finest, 600); err != nil {
		return nil, err
	}
	best.trials = s.trials
	return &best, nil
}

// bestOfBoth are the best three starts that weaken with speed, and the best two that strengthen.
func bestOfBoth(sorted []theta) (out []theta) {
	left := map[bool]int{false: 3, true: 2} // by whether they strengthen
	for _, t := range sorted {
		if strong := t[breakout] < t[coulomb]; left[strong] > 0 {
			left[strong]--
			out = append(out, t)
		}
	}
	return out
}

// Separable fits the force that the smoothed motion of records, pieces of one recording, needs. With every parameter fixed
// it is evaluated.
//
// Extra holds "lambda", the penalty that was used, and "position_noise", the rms error of the position that it was chosen
// for.
func Separable(ctx context.Context, recs []*record.Record, params []fit.Param, o Options, watch fit.Watch) (*fit.Solution, error) {
	begin := time.Now()
	m, err := newModel(params)
	if err != nil {
		return nil, err
	}
	d, err := newData(recs, &o)
	if err != nil {
		return nil, err
	}
	f, err := fitSmoothed(ctx, recs[0], d, m, &o, watch)
	if err != nil {
		return nil, err
	}
	if err := f.slides(recs[0], m); err != nil {
		return nil, err
	}
	s := f.solution(m, d)
	if o.Hold == Auto {
		share, shareErr := f.halfSampleLate(d, s)
		if share > 0.5 {
			o.Hold, f.mo.u = Held, Held.underHat(d)
			again := &search{m: m, mo: f.mo, d: d, workers: o.Workers, trials: f.trials}
			if f.theta, f.cost, err = again.polish(ctx, f.theta, finest, 600); err != nil {
				return nil, err
			}
			f.trials, s = again.trials, f.solution(m, d)
		}
		if math.Abs(share-0.5) < 2*shareErr {
			s.Doubts = append(s.Doubts, fmt.Sprintf("the record hardly tells whether the force is held between its samples (the motion answers "+
				"%.2f ± %.2f of half a sample late); say it in noise.hold", share, shareErr))
		}
	}
	if s.Extra["hold"] = o.Hold.String(); len(s.FreeParams) > 0 {
		s = f.corrected(m, d, s)
	}
	if ctx.Err() != nil {
		s.Converged, s.Reason = false, "interrupted"
	}
	resolved(m, d, &f.theta, s)
	f.sampled(m, d, o.Hold, s)
	s.Compute = time.Since(begin)
	return s, nil
}

// force is a solution that explains the force of a motion by the parameters t.
func (m *model) force(d *data, mo *motion, t *theta) *fit.Solution {
	s := &fit.Solution{
		Residual: make([]float64, len(mo.rows)), Unit: m.unit[1], Quantity: m.quantity("force", "torque"), Dt: d.h,
		Pieces:   fit.PiecesOf(mo.rows, d.starts()),
		Measured: mo.at(mo.u), Input: mo.at(d.u), Velocity: mo.at(mo.v), Converged: true, Reason: "nothing was fitted", Notes: d.notes,
	}
	newProjector(mo, m).residuals(t, s.Residual)
	s.Params, s.FreeParams = m.answer(*t)
	return s
}

// halfSampleLate is how late the motion answers the force, in halves of a sample, with its error: 0 where the force runs on between its
// samples, 1 where it is held. It is taken later and earlier alike, so that its noise favours neither.
func (f *smoothed) halfSampleLate(d *data, s *fit.Solution) (share, err float64) {
	u, rise := d.denoisedForce(), make([]float64, len(s.Residual))
	for i, k := range f.mo.rows {
		rise[i] = (u[k+1] - u[k-1]) / 4
	}
	l := fit.NewLinear(s)
	return l.RobustFactor(rise, l.Move(rise))
}

// smoothedAgain is how often the motion is smoothed again, with other noise.
const smoothedAgain = 4

// corrected takes off what smoothing does to the parameters, and adds as much to the errors. The smoothed motion, with the force that the
// model needs for it and new noise of the position, is smoothed again, and the parameters that this leads to are compared.
func (f *smoothed) corrected(m *model, d *data, s *fit.Solution) *fit.Solution {
	sm, rng, all := newSmoother(4, len(d.y)), rand.New(rand.NewPCG(1, 1)), newMotion(d, Held)
	again := &smoothed{theta: f.theta, mo: all}
	all.rows, all.u = f.mo.rows, slices.Clone(f.mo.u)
	for i, k := range all.rows {
		all.u[k] -= s.Residual[i]
	}
	bias, y := mat.NewVecDense(len(s.FreeParams), nil), make([]float64, len(d.y))
	for range smoothedAgain {
		for k := range y {
			y[k] = f.mo.x[k] + d.noise*rng.NormFloat64()
		}
		sm.smoothPieces(d, y, f.lambda, all.x)
		all.derive()
		r := again.solution(m, d)
		step := fit.NewLinear(r).Move(floats.ScaleTo(make([]float64, len(r.Residual)), -1, r.Residual))
		bias.AddScaledVec(bias, 1./smoothedAgain, mat.NewVecDense(len(step), step))
	}
	t := f.theta
	for j, i := range m.freeParams {
		if by := math.Abs(bias.AtVec(j) / step(&f.theta, i, 1)); !(by <= maxCorrection) {
			s.Doubts = append(s.Doubts, fmt.Sprintf("smoothing moves %s by about %.0f %%, more than can be taken off: the contact turns round "+
				"within too few samples, or the position is too coarse", m.name(i), 100*by))
			return s
		}
		t[i] -= bias.AtVec(j)
	}
	f.theta = t
	m.clip(&f.theta)
	out := f.solution(m, d)
	r := out.Residual
	f.cost = floats.Dot(r, r)
	out.Cost, out.Extra, out.Doubts, out.Reason = f.cost/2, s.Extra, s.Doubts,
		"no change of the parameters lowers the cost, before what smoothing does is taken off"
	rows := max(1, fit.WhitenessOf(r, out.Pieces).Effective)
	bias.ScaleVec(math.Sqrt(rows)/floats.Norm(r, 2), bias)
	widenAlong(out, bias)
	return out
}

// solution describes the fit, with the derivatives with respect to all free parameters.
func (f *smoothed) solution(m *model, d *data) *fit.Solution {
	s := m.force(d, f.mo, &f.theta)
	s.Objective, s.Cost, s.Evaluations = "half the sum of squared force residuals", f.cost/2, f.trials
	s.Extra = map[string]any{"lambda": f.lambda, "position_noise": d.noise}
	if len(m.freeParams) > 0 {
		s.Reason = "no change of the parameters lowers the cost"
	}
	rows, cols := len(s.Residual), len(m.freeParams)
	s.Jac = make([]float64, rows*cols)
	p := newProjector(f.mo, m)
	hi, lo := make([]float64, rows), make([]float64, rows)
	for j, i := range m.freeParams {
		t, h := f.theta, step(&f.theta, i, 1e-4)
		t[i] = f.theta[i] + h
		p.residuals(&t, hi)
		t[i] = f.theta[i] - h
		p.residuals(&t, lo)
		for k := range hi {
			s.Jac[k*cols+j] = (lo[k] - hi[k]) / (2 * h)
		}
	}
	return s
}

// explainPenalty is the share of the penalty by the discrepancy rule with which a record is smoothed that no parameter is
// fitted to: where the force residual is usually least [theory §9.2].
const explainPenalty = 0.05

// Explain is the force that the parameters, the answer of any method here, leave over of other records: their motion is
// smoothed and run through the model. Nothing is fitted, so that models can be compared on the records.
func Explain(recs []*record.Record, params []fit.Param, o Options) (*fit.Solution, error) {
	m, err := newModel(params)
	if err != nil {
		return nil, err
	}
	d, err := newData(recs, &o)
	if err != nil {
		return nil, err
	}
	sm, mo := newSmoother(4, len(d.y)), newMotion(d, o.Hold)
	sm.smoothPieces(d, d.y, explainPenalty*sm.discrepancy(d, d.y, d.noise, mo.x), mo.x)
	mo.derive()
	mo.choose(d.reach)
	s := m.force(d, mo, &m.start)
	s.FreeParams = nil
	if !numeric.AllFinite(s.Residual...) {
		return nil, recs[0].Fail(0, "Are these the parameters of this axis?", "the model does not stay finite along this motion")
	}
	return s, nil
}
