package curve

import (
	"context"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/identify/fit"

	"gonum.org/v1/gonum/floats"
)

// tied is a static map and presliding loops in one least-squares problem, or loops alone. Each of them is weighted by its own
// noise: the scatter of the points about the map, and of every loop about its branches.
//
// The unknowns of the loops stand behind the parameters in the problem. The answer is freed of them: their columns are
// projected out of the Jacobian, which leaves (JᵀJ)⁻¹ the block of the parameters of the whole inverse.
type tied struct {
	system
	static     *staticFit // nil: loops alone
	loops      []*loop
	scale      []float64 // of the noise of the loops
	rho        []float64 // how that depends on its own past
	hints      []hint    // that loops are slow, and bristles relaxed at the start: the last rows
	paramCount int       // parameters; behind them the unknowns
	rate       int       // coefficient of the bristle rate, N·s/m: sigma1 if that is given, else an unknown
	turns      rotary
}

// stack are models one after the other in the rows.
type stack struct {
	models []model
	rows   []int
	n      int
}

func (s *stack) at(theta, f, j []float64) engine.Status {
	st, from := engine.OK, 0
	for i, m := range s.models {
		to := from + s.rows[i]
		var part []float64
		if j != nil {
			part = j[from*s.n : to*s.n]
		}
		st = max(st, m.at(theta, f[from:to], part))
		from = to
	}
	return st
}

// bristleTime is what is held for possible of the time by which bristles lag the force, σ1/σ0 or, under a mass with damping ratio ζ,
// 2ζ·√(M/σ0): its standard deviation. A triangle of force, which loads them at a constant rate, cannot tell the lag from a change
// of Fs.
const bristleTime = 0.01 // s: twice and more what is known of contacts in the literature, 0.5 to 5 ms

// hint says that a parameter is zero, give or take what its weight says.
type hint struct{ place int }

func (h hint) at(theta, f, j []float64) engine.Status {
	f[0] = theta[h.place]
	if j != nil {
		j[h.place] = 1
	}
	return engine.OK
}

// tie makes the problem. The parameters have their starts already. With a map the offset of the loops is an unknown of their
// own: their force has been measured on another day, with another zero.
func tie(static *staticFit, loops []*loop, params []fit.Param) (*tied, error) {
	at := func(names ...string) int { return fit.Index(params, names...) }
	t := &tied{static: static, loops: loops, paramCount: len(params), turns: loops[0].turns, rate: at("sigma1")}
	t.params = slices.Clone(params)
	sigma0, level, offset := at("sigma0"), [2]int{at("Fs+", "Fs", "Fc+", "Fc"), at("Fs-", "Fs", "Fc-", "Fc")}, at("offset")
	top, far := 0.0, 0.0
	for _, l := range loops {
		top = max(top, slices.Max(l.u)-slices.Min(l.u))
		far = max(far, slices.Max(l.u), -slices.Min(l.u))
	}
	for _, k := range level { // the curve divides by it
		p := &t.params[k]
		if p.Lo = max(p.Lo, min(1e-6*top, p.Hi/2)); !p.Fixed {
			p.Value = max(p.Value, p.Lo)
		}
		if !(p.Value > 0) {
			return nil, fit.Refuse("%s: %g %s, a presliding loop wants it above zero", p.Name, p.Value, p.Unit)
		}
	}
	nuisance := func(name, unit string, value, bound float64, fixed bool) int {
		t.params = append(t.params, fit.Param{Param: engine.Param{Name: name, Unit: t.turns.unit(unit), Value: value, Lo: -bound, Hi: bound,
			Fixed: fixed}})
		return len(t.params) - 1
	}
	if static != nil || offset < 0 {
		offset = nuisance("offset of the loop", "N", 0, 100*far, static == nil)
	}
	// Of sigma1 only a given value is used. What else goes with the rate of the bristle has an unknown of its own: even a slow loop
	// is bent by it by many standard errors.
	if t.rate < 0 || !params[t.rate].Fixed {
		if t.rate >= 0 {
			t.params[t.rate].Fixed = true
		}
		t.rate = nuisance("rate", "N·s/m", 0, 1e12*top, false)
	}
	for _, l := range loops {
		l.sigma0, l.level, l.offset, l.rate, l.start = sigma0, level, offset, t.rate, len(t.params)
		t.params = append(t.params, l.nuisance(t.params[offset].Value)...)
		t.scale = append(t.scale, 1)
	}
	if static != nil {
		t.y, t.w = append(t.y, static.y...), append(t.w, static.w...)
		static.m.n = len(t.params)
	}
	if t.rate >= t.paramCount {
		t.hints = append(t.hints, hint{t.rate})
	}
	for _, l := range loops {
		l.n = len(t.params)
		t.y = append(t.y, l.u...)
		if l.relaxed {
			t.hints = append(t.hints, hint{l.start})
			t.params[l.start].Value = 0
		}
	}
	t.rho = make([]float64, len(loops))
	t.y = append(t.y, make([]float64, len(t.hints))...)
	t.w = append(t.w, make([]float64, len(t.y)-len(t.w))...)
	t.model = func() model {
		s := &stack{n: len(t.params)}
		if static != nil {
			s.models, s.rows = append(s.models, static.m), append(s.rows, len(static.y))
		}
		for _, l := range loops {
			s.models, s.rows = append(s.models, l.branches.copy()), append(s.rows, len(l.u))
		}
		for _, h := range t.hints {
			s.models, s.rows = append(s.models, h), append(s.rows, 1)
		}
		return s
	}
	return t, nil
}

// solveTied makes the problem, finds a start and fits.
func solveTied(ctx context.Context, static *staticFit, loops []*loop, params []fit.Param, watch fit.Watch) (*tied, *fit.Solution, error) {
	t, err := tie(static, loops, params)
	if err != nil {
		return nil, nil, err
	}
	t.begin()
	sol, err := t.fit(ctx, watch)
	return t, sol, err
}

// rows is the first row of every loop.
func (t *tied) rows() []int {
	at := 0
	if t.static != nil {
		at = len(t.static.y)
	}
	from := make([]int, len(t.loops))
	for i, l := range t.loops {
		from[i] = at
		at += len(l.u)
	}
	return from
}

// place moves every loop to the values of the parameters.
func (t *tied) place() {
	theta := fit.Values(t.params)
	for i, from := range t.rows() {
		t.loops[i].place(theta, t.w[from:from+len(t.loops[i].u)], t.scale[i])
	}
	hints := t.w[len(t.w)-len(t.hints):]
	if t.rate >= t.paramCount {
		hints[0], hints = 1/(bristleTime*theta[t.loops[0].sigma0]), hints[1:]
	}
	for k, l := range t.loops { // the place of a relaxed bristle is as uncertain as one sample
		if l.relaxed {
			hints[0], hints = 1/(t.scale[k]*math.Hypot(theta[l.sigma0]*l.noiseX, l.noiseU)), hints[1:]
		}
	}
}

// fit solves, moves the points of the loops to the solution and weighs anew, until nothing moves any more.
func (t *tied) fit(ctx context.Context, watch fit.Watch) (*fit.Solution, error) {
	t.place()
	var sol *fit.Solution
	iterations, evaluations := 0, 0
	for round := range 15 {
		before := fit.Values(t.params)
		var err error
		if sol, err = t.solve(ctx, watch); err != nil {
			return nil, err
		}
		iterations, evaluations = iterations+sol.Iterations, evaluations+sol.Evaluations
		copy(t.params, sol.Params)
		weighed := t.weigh(sol)
		moved := 0.0
		for i, p := range t.params {
			if size := math.Abs(p.Value); i < t.paramCount && size > 0 {
				if p.Lo < 0 { // an offset may be anywhere near zero
					size = max(size, 1e-2*p.Hi)
				}
				moved = max(moved, math.Abs(p.Value-before[i])/size)
			}
		}
		t.place()
		if round > 0 && moved < 1e-7 && !weighed || ctx.Err() != nil {
			break
		}
	}
	sol.Iterations, sol.Evaluations = iterations, evaluations
	return sol, nil
}

// weigh sets the noise of the loops, how it depends on its own past, and the scatter of the points from the residuals, and says
// whether that changed them.
func (t *tied) weigh(sol *fit.Solution) (changed bool) {
	m := t.model()
	raw := make([]float64, len(t.y))
	m.at(fit.Values(t.params), raw, nil)
	for k, f := range raw {
		raw[k] = (t.y[k] - f) * t.w[k]
	}
	var next []series
	for i, from := range t.rows() {
		n := len(t.loops[i].u)
		r, new := raw[from:from+n], sol.Residual[from:from+n]
		s := floats.Dot(new, new)
		used := 4 + len(t.loops[i].turnX) // sigma0, Fs, offset, and the unknowns of the loop
		if n <= used || !(s > 0) {
			continue
		}
		factor := math.Sqrt(s / float64(n-used))
		factor = max(factor, 1e-7*t.loops[i].span/(t.loops[i].noiseU*t.scale[i])) // numbers without noise are no better than that
		t.scale[i] *= factor
		var branches [][]float64 // at a reversal the noise of the other channel takes over
		for p, b := range t.loops[i].pieceStarts {
			branches = append(branches, r[b:t.loops[i].end(p)])
		}
		rho := autocorrelation(used, branches...)
		changed = changed || math.Abs(factor-1) > 1e-3 || math.Abs(rho-t.rho[i]) > 1e-3
		t.rho[i] = rho
		for p, b := range t.loops[i].pieceStarts {
			next = append(next, series{from + b, from + t.loops[i].end(p), rho})
		}
	}
	t.series = next
	if t.static == nil || t.static.se == nil && t.static.tau == 0 {
		return changed
	}
	if t.static.loose && t.static.scatter(sol.Residual[:len(t.static.y)], t.static.freed) {
		changed = true
	}
	copy(t.w, t.static.w)
	return changed
}

// se is the standard error of a parameter, infinite where nothing tells it.
func (t *tied) se(sol *fit.Solution, place int) float64 {
	return stdErr(fit.Covariance(sol), slices.Index(sol.FreeParams, place))
}

// finish turns the solution of the whole problem into that of its parameters.
func (t *tied) finish(sol *fit.Solution) {
	sol.Extra["loop_noise_x"], sol.Extra["loop_noise_u"] = t.loops[0].noiseX*t.scale[0], t.loops[0].noiseU*t.scale[0]
	turns := 0
	for _, l := range t.loops {
		turns += len(l.turnX)
		sol.Loops = append(sol.Loops, l.course(fit.Values(t.params)))
	}
	sol.Extra["reversals"] = turns
	sol.Quantity, sol.Pieces = t.turns.quantity("force in presliding"), nil
	if t.static != nil {
		sol.Quantity = t.turns.quantity("force at constant velocity and in presliding")
		sol.Pieces = append(sol.Pieces, 0)
	} else if len(t.loops) == 1 {
		sol.Dt = t.loops[0].dt
	}
	sol.Pieces = append(sol.Pieces, t.rows()...) // what depends on its past does so across reversals
	if n := len(t.hints); n > 0 {
		sol.Pieces = append(sol.Pieces, len(t.y)-n)
	}
	if t.rate < t.paramCount {
		sol.Notes = append(sol.Notes, "the force of the given sigma1 is taken into account")
	} else {
		t.refuseSigma1(sol)
	}
	sol.Marginal(t.paramCount)
}
