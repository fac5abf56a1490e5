package curve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// StaticOptions say which curve is fitted and what the points are worth.
type StaticOptions struct {
	Rotary bool   // the axis turns: units are N·m and rad
	Law    string // "": lugre, the Gauss curve; see the list at the top of this package's static map

	// Equal gives every point the same weight, whatever its standard error.
	Equal bool

	// Strict takes the standard errors of the points at their word. Otherwise a scatter common to all points is added to
	// them, as much as it takes to explain how far the points are off the curve.
	Strict bool
}

// Static fits the static map to points by least squares weighted with 1/SE².
//
// Standard errors that are known but for a factor (Point.Loose) leave that factor to the residuals, unless Strict.
//
// Means of a good recording are known better than any law holds, or than the drive repeats itself from one speed to the
// next. So each point has the variance SE² + τ², with the τ at which the weighted squares sum up to their expectation (Mandel
// and Paule); τ = 0 when the points agree with the curve within their standard errors. Points without standard error, and
// Equal, leave the variance to the residuals.
//
// Fs and vs are refused when the points show no fall of friction at slow speeds, or when none is slow enough.
//
// Extra holds "rms" (of the unweighted residuals), "scatter" (τ), "points", and "fall_p" (probability of as good a fall
// by chance).
func Static(ctx context.Context, points []Point, params []fit.Param, o StaticOptions, watch fit.Watch) (*fit.Solution, error) {
	began := time.Now()
	if err := check(params, "static", staticNames...); err != nil {
		return nil, err
	}
	e, err := newStatic(points, params, o)
	if err != nil {
		return nil, err
	}
	if err := e.checkSpeeds(); err != nil {
		return nil, err
	}
	sol, err := e.fit(ctx, watch)
	if err != nil {
		return nil, err
	}
	if sol, err = e.judge(ctx, sol, watch); err != nil {
		return nil, err
	}
	sol.Notes = append(e.notes, sol.Notes...)
	sol.Compute = time.Since(began)
	return sol, nil
}

// staticFit is a static map with its points.
type staticFit struct {
	system
	m      *staticMap
	se     []float64 // N; nil: not known
	tau    float64   // N, scatter beside it
	loose  bool      // tau is to be found
	scaled bool      // se is known but for a factor
	turns  rotary
	freed  int      // free parameters of the map
	notes  []string // what is odd about the points
}

// newStatic puts the map to the points that move.
func newStatic(all []Point, params []fit.Param, o StaticOptions) (*staticFit, error) {
	points, notes, err := usable(all)
	if err != nil {
		return nil, err
	}
	m, err := bindStatic(o.Law, params)
	if err != nil {
		return nil, err
	}
	e := &staticFit{m: m, notes: notes, loose: !o.Strict, turns: rotary(o.Rotary)}
	var some []float64 // standard errors; a force that rests on one digit has none, and takes the median of the others
	for _, p := range points {
		m.v = append(m.v, p.V)
		e.y = append(e.y, p.F)
		e.w = append(e.w, 1)
		if p.SE > 0 {
			some = append(some, p.SE)
		}
	}
	known := !o.Equal && 2*len(some) > len(points)
	e.scaled = known && !o.Strict && slices.ContainsFunc(points, func(p Point) bool { return p.Loose })
	e.params, e.unit = slices.Clone(params), e.turns.unit("N")
	e.model = func() model { return m }
	for _, p := range params {
		if !p.Fixed && slices.Contains(staticNames, p.Name) {
			e.freed++
		}
	}
	if known {
		usual := numeric.Median(some)
		for _, p := range points {
			e.se = append(e.se, cmp.Or(p.SE, usual))
		}
		e.unit = ""
		e.weigh()
	}
	return e, nil
}

// weigh sets the weights from se and tau.
func (e *staticFit) weigh() {
	for k, s := range e.se {
		e.w[k] = 1 / math.Hypot(s, e.tau)
	}
}

// fit solves from several starts, with tau.
func (e *staticFit) fit(ctx context.Context, watch fit.Watch) (*fit.Solution, error) {
	best, err := e.fromStarts(ctx, watch)
	if err != nil {
		return nil, err
	}
	if e.se == nil || e.scaled {
		return best, nil
	}
	for range 20 {
		if !e.loose || !e.scatter(best.Residual, len(best.FreeParams)) {
			break
		}
		if best, err = e.solve(ctx, watch); err != nil {
			return nil, err
		}
		copy(e.params, best.Params)
	}
	// without scatter of their own the points speak for themselves
	best.NoiseKnown = !e.loose || e.tau == 0
	best.Extra["scatter"] = e.tau
	return best, nil
}

// fromStarts solves from every start and keeps the best, whose values become those of the parameters.
func (e *staticFit) fromStarts(ctx context.Context, watch fit.Watch) (*fit.Solution, error) {
	var best *fit.Solution
	evaluations := 0
	for _, theta := range e.m.starts(e.params, e.y, e.w) {
		for i := range e.params {
			e.params[i].Value = theta[i]
		}
		sol, err := e.solve(ctx, watch)
		if err != nil {
			return nil, err
		}
		evaluations += sol.Evaluations
		if best == nil || sol.Cost < best.Cost*(1-1e-12) {
			best = sol
		}
	}
	best.Evaluations = evaluations
	copy(e.params, best.Params)
	return best, nil
}

// scatter sets tau so that the weighted squares of the residuals sum up to the degrees of freedom, and says whether that
// changed it.
func (e *staticFit) scatter(residual []float64, params int) bool {
	raw := floats.DivTo(make([]float64, len(e.y)), residual, e.w)
	was := e.tau
	e.tau = mandelPaule(raw, e.se, float64(len(raw)-params), was)
	e.weigh()
	return math.Abs(e.tau-was) > 1e-4*e.tau
}

// usable are the points that move, checked.
func usable(points []Point) (used []Point, notes []string, err error) {
	for i, p := range points {
		if !numeric.AllFinite(p.V, p.F, p.SE) {
			return nil, nil, &record.Error{File: p.Source, Msg: fmt.Sprintf("point %d: velocity %g, force %g ± %g: want finite numbers", i+1, p.V,
				p.F, p.SE), Hint: "Leave that point out."}
		}
		if p.V != 0 {
			used = append(used, p)
		}
	}
	if len(used) == 0 {
		return nil, nil, &record.Error{Msg: "no speed other than zero", Hint: "Record the axis at constant speeds, in both directions."}
	}
	if k := len(points) - len(used); k > 0 {
		notes = append(notes, fmt.Sprintf("%d points at rest are left out: friction there is anything up to break-away", k))
	}
	restless, drifting, worst := 0, 0, 0.0
	var force [2][]float64 // by direction
	for _, p := range used {
		if p.Scatter > math.Abs(p.V) {
			restless++
		}
		if p.Drift != 0 {
			drifting, worst = drifting+1, max(worst, math.Abs(p.Drift))
		}
		force[direction(p.V)] = append(force[direction(p.V)], p.F)
	}
	if restless > 0 {
		notes = append(notes, fmt.Sprintf("at %d speeds the velocity scatters by more than its mean: stick-slip, or a coarse encoder; the mean "+
			"force is then no point of the map", restless))
	}
	if drifting > 0 {
		notes = append(notes, fmt.Sprintf("at %d of %d speeds the force still changes while the speed is held, by up to %.3g: it had not "+
			"settled, or it swings over a longer way than was recorded; their weight is less by that. Leave out more at the beginning "+
			"(static.settle, static.travel), hold every speed longer, or average whole periods (static.period)", drifting, len(used), worst))
	}
	if drives(force) {
		return nil, nil, &record.Error{Msg: "the force has the opposite sign of the velocity: friction would drive the axis",
			Hint: "Give the force the sign of the drive on the axis (a negative gain of its column), or use the measured velocity instead of the " +
				"set point. A constant force that is larger than friction, with motion in one direction only, has to be given (offset)."}
	}
	return used, notes, nil
}

// drives says that the part of the force that turns with the motion points along it, beyond chance.
func drives(force [2][]float64) bool {
	sum, variance := 0.0, 0.0
	for d, f := range force {
		if len(f) == 0 {
			continue
		}
		m := stat.Mean(f, nil)
		sum += m * float64(1-2*d)
		variance += stat.MomentAbout(2, f, m, nil) / float64(max(1, len(f)-1))
	}
	return sum < -3*math.Sqrt(variance)
}

// checkSpeeds says whether there are speeds enough for the parameters.
func (e *staticFit) checkSpeeds() error {
	m, free := e.m, e.free
	speeds := [2][]float64{}
	for _, v := range m.v {
		speeds[direction(v)] = append(speeds[direction(v)], math.Abs(v))
	}
	if free(m.offset) && (len(speeds[0]) == 0 || len(speeds[1]) == 0) {
		return &record.Error{Msg: "offset cannot be told from friction: the axis was recorded in one direction only",
			Hint: "Record the same speeds in the other direction, or fix offset."}
	}
	for i, s := range m.side {
		own := map[int]bool{} // parameters of this direction
		for _, k := range []int{s.fc, s.fs, s.vs, s.fv, m.delta} {
			if free(k) {
				own[k] = true
			}
		}
		dir := []string{" forward", " backward"}[i]
		only := false // some of them rule this direction alone
		o := m.side[1-i]
		for _, p := range [][2]int{{s.fc, o.fc}, {s.fs, o.fs}, {s.vs, o.vs}, {s.fv, o.fv}} {
			only = only || p[0] != p[1] && free(p[0])
		}
		have := distinct(speeds[i])
		if !only {
			have = distinct(slices.Concat(speeds[0], speeds[1]))
			dir = ""
		}
		if have < len(own) {
			return &record.Error{Msg: fmt.Sprintf("%d different speeds%s for %d parameters", have, dir, len(own)),
				Hint: "Record at least 12 speeds per direction, evenly spread in their logarithm, the slowest a tenth of vs; or fix parameters."}
		}
	}
	if all, _ := fit.Free(e.params); len(m.v) <= len(all) {
		return &record.Error{Msg: fmt.Sprintf("%d points for %d parameters leave nothing to judge the fit by", len(m.v), len(all)),
			Hint: "Record more speeds, or fix parameters."}
	}
	return nil
}

// free tells whether a parameter exists and is searched.
func (e *staticFit) free(i int) bool { return i >= 0 && !e.params[i].Fixed }

// direction is 0 forward and 1 backward.
func direction(v float64) int {
	if v < 0 {
		return 1
	}
	return 0
}

// distinct counts speeds that differ by more than 1 %.
func distinct(v []float64) int {
	v = slices.Sorted(slices.Values(v))
	n, last := 0, 0.0
	for _, x := range v {
		if n == 0 || x > 1.01*last {
			n, last = n+1, x
		}
	}
	return n
}

// StaticAt is what a static map with the given parameters leaves over of other points, each point with the same
// weight. Nothing is fitted.
func StaticAt(points []Point, params []fit.Param, o StaticOptions) (*fit.Solution, error) {
	o.Equal = true
	e, err := newStatic(points, params, o)
	if err != nil {
		return nil, err
	}
	n := len(e.y)
	s := &fit.Solution{Params: slices.Clone(params), Residual: make([]float64, n), Measured: slices.Clone(e.y), Unit: e.unit,
		Quantity: e.turns.quantity("force at constant velocity"), Velocity: e.m.v, Converged: true, Notes: e.notes}
	e.m.at(fit.Values(params), s.Residual, nil)
	floats.SubTo(s.Residual, e.y, s.Residual)
	return s, nil
}
