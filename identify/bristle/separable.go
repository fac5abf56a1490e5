package bristle

import (
	"context"
	"fmt"
	"math"
	"time"

	"hilrig/engine"
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
	p     *projector
	theta theta // last trial, with its linear parameters
	at    []int // places of the free curved parameters
	below bool  // Fs < Fc
}

// expand turns the searched numbers into all parameters; Fs is searched as its distance from Fc.
func (s *separable) expand(q []float64, t *theta) {
	*t = s.p.m.start
	for j, i := range s.at {
		t[i] = q[j]
	}
	switch {
	case !s.p.m.isFree[breakout]:
	case s.below:
		t[breakout] = max(t[coulomb]-t[breakout], (1-thick)*t[coulomb])
	default:
		t[breakout] += t[coulomb]
	}
}

// Residuals implements fit.Evaluator.
func (s *separable) Residuals(q, r []float64) engine.Status {
	s.expand(q, &s.theta)
	cost := s.p.solve(&s.theta)
	if !finite(cost) {
		for k := range r {
			r[k] = 1e6
		}
		return engine.NonFinite
	}
	t := &s.theta
	for k := s.p.first; k < s.p.last; k++ {
		r[k-s.p.first] = s.p.zeta[k] + t[inertia]*s.p.a[k] + t[sigma1]*s.p.rate[k] + t[sigma2]*s.p.v[k] + t[offset] - s.p.u[k]
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

// problem starts at t.
func (s *search) problem(t *theta) *fit.Problem {
	at, params := s.coordinates(t)
	below := t[breakout] < t[coulomb]
	return &fit.Problem{
		Params: params, Rows: s.mo.last - s.mo.first, Unit: s.m.unit[1],
		New: func() fit.Evaluator { return &separable{p: newProjector(s.mo, s.m), at: at, below: below} },
	}
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
func (s *search) polish(ctx context.Context, t theta, tol float64) (theta, float64, error) {
	e := &separable{p: newProjector(s.mo, s.m), below: t[breakout] < t[coulomb]}
	at, _ := s.coordinates(&t)
	e.at = at
	q := make([]float64, len(at))
	if len(at) > 0 {
		sol, err := fit.LM{Steps: []float64{1e-4}, MaxIterations: 60, CostTol: tol, Workers: s.workers}.Fit(ctx, s.problem(&t), nil)
		if err != nil {
			return t, 0, err
		}
		s.trials += sol.Evaluations
		for j, p := range sol.Params {
			q[j] = p.Value
		}
	}
	e.expand(q, &e.theta)
	cost := e.p.solve(&e.theta)
	return e.theta, cost, nil
}

// smoothed is the outcome of a separable fit with a chosen penalty.
type smoothed struct {
	theta  theta
	cost   float64 // N²
	lambda float64
	mo     *motion
	trials int
}

// fitSmoothed is the separable fit: cold or warm start, then the penalty with the smallest force residual.
//
// A penalty by the discrepancy rule leaves what the encoder would leave, but it does so by cutting the corners of the
// reversals. The force residual falls while corners come back and rises when noise does, so its least value is nearer to
// the truth [theory §9.2].
func fitSmoothed(ctx context.Context, d *data, m *model, o *Options, watch fit.Watch) (*smoothed, error) {
	order := o.Order
	if order == 0 {
		order = 4
	}
	sm := newSmoother(order, len(d.y))
	s := &search{m: m, d: d, mo: newMotion(d, o.Hold), workers: o.Workers}
	use := func(lambda float64) {
		sm.run(d.y, lambda)
		copy(s.mo.x, sm.x)
		s.mo.derive()
	}

	top := o.Lambda
	if top == 0 {
		top = sm.discrepancy(d.y, d.noise)
		use(0.1 * top)
	} else {
		use(top)
	}
	s.mo.rows()

	// from several starts to the best
	starts := []theta{m.start}
	if !o.Warm {
		var err error
		if starts, err = s.guess(ctx); err != nil {
			return nil, err
		}
		starts = bestOfBoth(starts)
	}
	best := smoothed{cost: math.Inf(1), lambda: top, mo: s.mo}
	for i, t := range starts {
		watch.Say(fit.Progress{Method: "lugre", Phase: fmt.Sprintf("start %d of %d", i+1, len(starts)), Step: i, Of: len(starts), Best: best.cost, Simulated: s.trials})
		t, cost, err := s.polish(ctx, t, 1e-8)
		if err != nil {
			return nil, err
		}
		if cost < best.cost {
			best.theta, best.cost = t, cost
		}
	}

	// the penalty
	if o.Lambda == 0 {
		type trial struct{ l, cost float64 }
		try := func(l float64) (trial, error) {
			use(top * math.Exp(l))
			t, cost, err := s.polish(ctx, best.theta, 1e-7)
			if err != nil {
				return trial{}, err
			}
			if l == 0 || cost < best.cost {
				best.theta, best.cost, best.lambda = t, cost, top*math.Exp(l)
			}
			return trial{l, cost}, nil
		}
		best.cost = math.Inf(1)
		for _, l := range []float64{0, -1.2, -2.3, -3.5, -4.6, -5.8, -6.9} {
			watch.Say(fit.Progress{Method: "lugre", Phase: "penalty", Best: math.Sqrt(best.cost / float64(s.mo.last-s.mo.first)), Unit: m.unit[1], Simulated: s.trials})
			r, err := try(l)
			if err != nil {
				return nil, err
			}
			if r.cost > 1.02*best.cost { // past the least
				break
			}
		}
		use(best.lambda)
	}
	t, cost, err := s.polish(ctx, best.theta, 1e-10)
	if err != nil {
		return nil, err
	}
	best.theta, best.cost, best.trials = t, cost, s.trials
	return &best, nil
}

// bestOfBoth are the best three starts that weaken with speed, and the best two that strengthen.
func bestOfBoth(sorted []theta) []theta {
	var out []theta
	weak, strong := 3, 2
	for _, t := range sorted {
		n := &weak
		if t[breakout] < t[coulomb] {
			n = &strong
		}
		if *n > 0 {
			*n--
			out = append(out, t)
		}
	}
	return out
}

// Separable fits the force that the smoothed motion of a record needs.
//
// Extra holds "lambda", the penalty that was used, and "position_noise", the rms error of the position that it was chosen
// for; with Options.Bootstrap also "bootstrap_shift", by name what was taken off the values, and "bootstrap_error", their
// standard errors. The columns of Jac are then scaled so that they give these errors; residuals stay those before.
func Separable(ctx context.Context, rec *record.Record, params []fit.Param, o Options, watch fit.Watch) (*fit.Solution, error) {
	begin := time.Now()
	m, err := newModel(params)
	if err != nil {
		return nil, err
	}
	d, err := newData(rec, &o)
	if err != nil {
		return nil, err
	}
	f, err := fitSmoothed(ctx, d, m, &o, watch)
	if err != nil {
		return nil, err
	}
	if err := f.slides(rec, m); err != nil {
		return nil, err
	}
	s := f.solution(m, d)
	if ctx.Err() != nil {
		s.Converged, s.Reason = false, "interrupted"
	}
	if o.Bootstrap > 1 {
		b := &bootstrap{m: m, d: d, o: &o, f: f}
		b.apply(ctx, s, watch)
	}
	resolved(m, d, &f.theta, s)
	s.Compute = time.Since(begin)
	return s, nil
}

// solution describes the fit, with the derivatives with respect to all free parameters.
func (f *smoothed) solution(m *model, d *data) *fit.Solution {
	p := newProjector(f.mo, m)
	rows, cols := f.mo.last-f.mo.first, len(m.free)
	s := &fit.Solution{
		Residual: make([]float64, rows), Jac: make([]float64, rows*cols), Unit: m.unit[1], Quantity: m.quantity("force", "torque"), Dt: d.h,
		Measured: f.mo.u[f.mo.first:f.mo.last], Input: d.u[f.mo.first:f.mo.last], Velocity: f.mo.v[f.mo.first:f.mo.last],
		Objective: "half the sum of squared force residuals", Cost: f.cost / 2,
		Converged: true, Reason: "no change of the parameters lowers the cost", Evaluations: f.trials,
		Extra: map[string]any{"lambda": f.lambda, "position_noise": d.noise},
	}
	s.Params, s.Free = m.answer(f.theta)
	p.residuals(&f.theta, s.Residual)
	for k := range s.Residual {
		s.Residual[k] = -s.Residual[k]
	}
	hi, lo := make([]float64, rows), make([]float64, rows)
	for j, i := range m.free {
		t, h := f.theta, step(&f.theta, i, 1e-4)
		t[i] = f.theta[i] + h
		p.residuals(&t, hi)
		t[i] = f.theta[i] - h
		p.residuals(&t, lo)
		for k := range hi {
			s.Jac[k*cols+j] = (hi[k] - lo[k]) / (2 * h)
		}
	}
	s.Notes = append(s.Notes, "The motion was smoothed, and smoothing rounds the reversals: the errors of this fit are systematic, its intervals too narrow by several times for Fc, Fs, vs and sigma2. Take it as a start of the Kalman filter, or ask for the bootstrap.")
	return s
}
