package axis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// Search is the way from any start to the optimum [theory §9.6]. The cost of a bristle has several valleys, and a descent
// ends in the nearest; so inertia and friction of sliding are taken from a linear fit, the contact is drawn several times,
// and the best draws are refined. What the user starts from is refined beside them: it can only make a fit better. Laws
// without a contact need no draws.
type Search struct {
	Starts      int         // descents, each from the best of its own draws; 0: 5
	Draws       int         // 0: 20
	Seed        uint64      // of the draws
	Workers     int         // 0: as many as there are processors
	ExtraStarts [][]float64 // starts, in the free parameters, besides the draws
	LM          fit.LM      // its CostTol, where 0, is 1e-7: the last digits of a bristle are beyond what a record tells

	// Simpler tells where the models end that are special cases of this one. It is asked where more than noise is left over, with the cost
	// of this model, and that among some of many records, or on the beginning of few, 0: that is short; nil: never.
	Simpler func(ctx context.Context, cost, some float64) []Place
	// CostLimit is a cost among some of many records, or on the beginning of few, from which on the fit of all is not worth it; 0: it
	// always is.
	CostLimit float64
	// Target is a cost from which on a fit is not worth it either; 0: it always is. See fit.Problem.
	Target float64
	// SingleRound is set where a place to begin from is wanted: the contact is not drawn again around what was found.
	SingleRound bool
	// Rough is set where any residual up to aboveNoise noises of the sensor is as good as noise.
	Rough bool
	// Lacking is that of fit.MultiStart, of a model with all parameters. What no simpler model makes of it is not asked then.
	Lacking func(m *Model, params []fit.Param) bool
}

// Place is where a simpler model ends, in the free parameters of another.
type Place struct {
	Theta     []float64
	InSimpler []bool // which of them the simpler model has
	Cost      float64
}

// starts are points, in the free parameters, from which to descend under a force or in a controller: the best of each of n
// groups of draws of what the law has beyond sliding friction, around the model's own guesses, and the params as
// they are where they are others than these. A law without a contact has one start, the guesses. Those of the groups behind the
// second are drawn by more; nil: there are none. Where the fit of the velocity ended comes first; it may be settled.
func (m *Model) starts(ctx context.Context, q *plan, s Search, watch fit.Watch) (out [][]float64, more func() [][]float64,
	near *fit.Solution, settled bool) {
	n, draws, seed := cmp.Or(s.Starts, 5), cmp.Or(s.Draws, 20), s.Seed
	free, places := fit.Free(q.params)
	own, base := make([]float64, len(free)), make([]float64, len(free))
	contact, given := false, false
	for j := range free {
		p := &free[j]
		own[j], base[j] = p.Value, min(max(m.params[places[j]].Value, p.Lo), p.Hi)
		given = given || own[j] != base[j]
		var stiff float64
		_, drawn := m.drawContact(p, 0.5, &stiff)
		contact = contact || drawn
	}
	if m.spec.Drive != Servo && m.spec.Drive != Force {
		return [][]float64{own}, nil, nil, false
	}
	out = [][]float64{base}
	if contact {
		pair := min(n, 2)
		if near, settled = m.velocitySolution(ctx, q, s, watch); near != nil {
			pair--
		}
		from := pair // the groups behind the pair
		var dip map[string]float64
		if m.spec.Output == Velocity { // a position adds up what sliding is off by, and the contact would have to make up for it
			dip = m.dip()
		}
		if dip != nil {
			from = 0 // and those of the pair once more, without it
		}
		out = m.draws(q, free, base, dip, 0, pair, draws, seed)
		if near != nil {
			out = slices.Insert(out, 0, fit.Values(fit.Valued(free, near.Params)))
		}
		if !settled {
			more = func() [][]float64 { return m.draws(q, free, base, nil, from, n, draws, seed) }
		}
	}
	if i := fit.Index(free, "Fs"); i >= 0 && m.law != nil && jumps(m.law) { // what does not jump is a valley of its own
		out = append(out, slices.Clone(base))
		out[len(out)-1][i] = min(max(m.slides.fc, free[i].Lo), free[i].Hi)
	}
	if given {
		out = slices.Insert(out, 0, own)
	}
	return out, more, near, settled
}

// velocitySolution is where the fit of the velocity ends, of a model that compares the position under a force. A position adds up what
// sliding is off by, and most descents end in a valley of that; the velocity has few. It is settled where the velocity shows what the
// model lacks: there is no other valley to be looked for then. nil: the velocity is compared, or no search of all is asked for.
func (m *Model) velocitySolution(ctx context.Context, q *plan, s Search, watch fit.Watch) (sol *fit.Solution, settled bool) {
	if m.spec.Output != Position || m.spec.Drive != Force || s.Starts > 0 || s.SingleRound || len(s.ExtraStarts) > 0 || m.IsLed() {
		return nil, false
	}
	other := *m
	other.spec.Output, other.pieces = Velocity, nil
	for _, p := range m.pieces {
		own := *p
		own.measured = p.velocityOfPosition()
		other.pieces = append(other.pieces, &own)
	}
	params := slices.Clone(q.params)
	for i := range params {
		if strings.HasPrefix(params[i].Name, "x0") {
			params[i].Fixed = true
		}
	}
	s.Simpler, s.Rough = nil, true
	sol, err := other.Fit(ctx, params, s, watch)
	if err != nil {
		return nil, false
	}
	return sol, sol.Extra["lacking"] == true || numeric.RMS(sol.Residual) > aboveNoise*other.noise()
}

// velocityOfPosition is the recorded velocity where it is that of the position, else the slope of the position.
func (p *piece) velocityOfPosition() []float64 {
	slope := numeric.Slope(p.despikedPosition, 1, p.dt)
	if len(p.rec.Velocity) != p.n {
		return slope
	}
	apart := floats.SubTo(make([]float64, p.n), p.rec.Velocity, slope)
	if numeric.RMS(apart) > velocityApart*numeric.RMS(slope)+aboveNoise*max(numeric.Noise(slope), numeric.Noise(p.rec.Velocity)) {
		return slope
	}
	return p.rec.Velocity
}

// velocityApart is the share of a velocity by which a recorded one and the slope of the position may differ beside noise.
const velocityApart = 0.01

// descents is how the places of a problem are searched, without starts.
func (m *Model) descents(q *plan, params []fit.Param, s Search) fit.MultiStart {
	multi := fit.MultiStart{LM: s.LM, Seed: s.Seed, Workers: s.Workers}
	noise := asNoise * m.noise()
	explained := func(params []fit.Param) bool { return m.explained(params, noise) }
	if s.Rough {
		noise = aboveNoise * m.noise()
		explained = func(params []fit.Param) bool {
			p, err := m.Problem(params)
			return err == nil && numeric.RMS(p.Residuals()) <= noise
		}
	}
	if s.Starts == 0 { // else as many as were asked for
		multi.Floor = q.problem(1).Cost(noise)
	}
	if multi.Floor > 0 && s.LM.Loss.Kind == fit.Squares {
		multi.Explained = func(end []fit.Param) bool { return explained(fit.Valued(params, end)) }
	}
	if s.Lacking != nil && s.LM.Loss.Kind == fit.Squares {
		multi.Lacking = func(end []fit.Param) bool { return s.Lacking(m, fit.Valued(params, end)) }
	}
	multi.LM.CostTol = cmp.Or(multi.LM.CostTol, 1e-7)
	return multi
}

// draws are the best of the groups first … last − 1 of draws, in the order of their costs. One step in a sample is enough to compare
// them, where the law bears it, and the beginning of a long record to tell which may be the best. Every other draw has sliding friction as
// dip says; nil: none.
func (m *Model) draws(q *plan, free []fit.Param, base []float64, dip map[string]float64, first, last, draws int, seed uint64) [][]float64 {
	if m.spec.Substeps == 0 {
		coarse := *q
		coarse.parts = slices.Repeat([]int{1}, len(q.parts))
		q = &coarse
	}
	e, begin := q.evaluator(1), q.evaluator(beginShare)
	type draw struct {
		theta []float64
		cost  float64
	}
	byCost := func(a, b draw) int { return cmp.Compare(a.cost, b.cost) }
	var best []draw
	for i := first; i < last; i++ {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		group, limit := make([]draw, draws), math.Inf(1)
		for d := range group {
			theta := slices.Clone(base)
			stiff := 0.0
			for j := range free {
				if x, ok := m.drawContact(&free[j], rng.Float64(), &stiff); ok && i+d > 0 {
					theta[j] = min(max(x, free[j].Lo), free[j].Hi)
				}
			}
			if d%2 == 1 {
				slidingBy(dip, free, theta)
			}
			group[d].theta = theta
			if group[d].cost, _ = begin.run(theta, nil, limit, nil); begin.rows >= beginRows {
				limit = min(limit, beginRatio*group[d].cost)
			}
		}
		slices.SortStableFunc(group, byCost)
		least := draw{base, math.Inf(1)}
		for k, d := range group {
			if d.cost > limit || k >= beginBest && begin.rows >= beginRows {
				break
			}
			if d.cost, _ = e.run(d.theta, nil, least.cost, nil); d.cost < least.cost {
				least = d
			}
		}
		best = append(best, least)
	}
	slices.SortStableFunc(best, byCost)
	var out [][]float64
	for _, d := range best {
		out = append(out, d.theta)
	}
	return out
}

// Beginning is a problem of this model on the beginning of the records; nil: it is short, or nothing drives the model.
func (m *Model) Beginning(p *fit.Problem) *fit.Problem {
	if d := m.spec.Drive; d != Servo && d != Force || p.Horizon == nil {
		return nil
	}
	if short := p.Horizon(beginShare); short != nil && short.Rows >= beginRows {
		return short.At(fit.Values(p.Params))
	}
	return nil
}

// Of draws and special cases that are compared on the beginning of the record:
const (
	beginShare = 0.25
	beginRows  = 1000 // that this has, if it is to leave any out
	beginRatio = 1.3  // times the least cost there, from which on one is not the best
	beginBest  = 3    // that are compared on all of it
)

// rounds of draws at most.
const rounds = 3

// aboveNoise is the number of noises of the sensor beyond which a residual may be that of a wrong valley.
const aboveNoise = 3

// agreeing is the number of starts that lead to one place from which on no more are drawn around it.
const agreeing = 4

// asNoise is the number of noises of the sensor at which a residual is that noise, as well as it is known.
const asNoise = 1.05

// Fit searches the parameters that are not fixed, from starts. Where only one of several descents reached the lowest cost, or
// more is left than the noise of the sensor, there may be a lower one still: the contact is drawn again, around sliding
// friction as the best descent found it, until that brings nothing, and around what a simpler model found, where that left less over.
// Where the first two descents leave the noise alone, they are enough. The solution is that of Problem; its Extra is that of
// fit.MultiStart.
func (m *Model) Fit(ctx context.Context, params []fit.Param, s Search, watch fit.Watch) (*fit.Solution, error) {
	q, err := m.planOf(params)
	if err != nil {
		return nil, err
	}
	f := &search{Search: s, m: m, q: q, p: q.problem(1), watch: watch, multi: m.descents(q, params, s)}
	f.p.Target = s.Target
	if err := f.first(ctx); err != nil {
		return nil, err
	}
	f.drawAroundSimpler(ctx)
	if f.subset != nil { // there the contact was drawn as often as it took
		f.sol.Count(f.subset)
		for _, key := range []string{"starts", "reached"} {
			f.sol.Extra[key] = f.subset.Extra[key]
		}
	}
	for round := uint64(1); round < rounds && !s.SingleRound && f.groups > 1 && f.doubtful() && ctx.Err() == nil; round++ {
		if !f.drawAround(ctx, fit.Values(f.sol.Params), nil, s.Seed+1000*round) {
			break
		}
	}
	f.sol.Notes = append(f.sol.Notes, scattered(f.sol)...)
	return f.sol, nil
}

// search is a Search at work.
type search struct {
	Search
	m     *Model
	q     *plan
	p     *fit.Problem
	watch fit.Watch
	multi fit.MultiStart

	groups    int           // of draws
	subset    *fit.Solution // that of some of many records; nil: all were searched
	oneValley bool          // there is no other valley to be looked for
	sol       *fit.Solution // the best so far
}

// first makes the descents from the starts.
func (f *search) first(ctx context.Context) error {
	var from [][]float64
	var more func() [][]float64
	var byVelocity *fit.Solution
	if f.subset = f.m.subsetSolution(ctx, f.q, f.Search, f.watch); f.subset != nil {
		if f.CostLimit > 0 && f.subset.Cost >= f.CostLimit {
			return fmt.Errorf("more is left over among some of the records than %g", f.CostLimit)
		}
		from = [][]float64{fit.Values(fit.Valued(f.p.Params, f.subset.Params))}
	} else {
		from, more, byVelocity, f.oneValley = f.m.starts(ctx, f.q, f.Search, f.watch)
		if short := f.m.Beginning(f.p); short != nil && f.CostLimit > 0 && f.LM.Loss.Kind == fit.Squares {
			short.Target = beginRatio * f.CostLimit
			end, err := fit.MultiStart{LM: f.LM, Workers: f.Workers, ExtraStarts: from[:min(2, len(from))]}.Fit(ctx, short, f.watch)
			if err != nil {
				return err
			}
			from[0] = fit.Values(end.Params)
		}
	}
	if f.groups = len(from); more != nil {
		f.groups += max(cmp.Or(f.Starts, 5)-2, 0)
	}
	f.multi.ExtraStarts, f.multi.MoreStarts = append(from, f.ExtraStarts...), more
	sol, err := f.multi.Fit(ctx, f.p, f.watch)
	if err != nil {
		return err
	}
	if f.sol = sol; byVelocity != nil {
		sol.Count(byVelocity)
		if byVelocity.Extra["lacking"] == true {
			sol.Extra["lacking"] = true
		}
	}
	return nil
}

// drawAround draws the contact anew around a place, but for what is known of it, and tells whether that brings anything.
func (f *search) drawAround(ctx context.Context, at []float64, known []bool, seed uint64) (better bool) {
	contact := slices.Clone(f.p.Params)
	for i := range known {
		contact[i].Fixed = known[i]
	}
	drawn := f.m.draws(f.q, contact, at, nil, 0, f.groups, 20, seed)
	drawn = slices.DeleteFunc(drawn, func(x []float64) bool { return slices.Equal(x, at) })
	f.multi.ExtraStarts, f.multi.MoreStarts = append([][]float64{at}, drawn...), nil
	f.p.Target = f.sol.Cost
	again, err := f.multi.Fit(ctx, f.p, f.watch)
	if err != nil {
		return false
	}
	again.Count(f.sol)
	better = again.Cost < f.sol.Cost*(1-1e-3)
	if again.Cost <= f.sol.Cost {
		lower := slices.DeleteFunc(again.Trace, func(cost float64) bool { return cost >= f.sol.Cost })
		again.Trace = append(f.sol.Trace, lower...) // of the best so far, wherever it went on from
		f.sol = again
	}
	return better
}

// drawAroundSimpler draws the contact around what simpler models found that leave less over.
func (f *search) drawAroundSimpler(ctx context.Context) {
	if f.Simpler == nil || f.sol.Cost <= f.p.Cost(asNoise*f.m.noise()) || f.explained() || ctx.Err() != nil {
		return
	}
	some := 0.0
	if f.subset != nil {
		some = f.subset.Cost
	} else if short := f.m.Beginning(f.p); short != nil {
		some = short.Cost(numeric.RMS(short.At(fit.Values(f.sol.Params)).Residuals()))
	}
	for _, e := range f.Simpler(ctx, f.sol.Cost, some) {
		for i, known := range [][]bool{e.InSimpler, nil} {
			if e.Cost < f.sol.Cost && ctx.Err() == nil {
				f.drawAround(ctx, e.Theta, known, f.Seed+500+uint64(i))
			}
		}
	}
}

// explained tells that no other place is looked for: the best leaves noise, or what the model lacks.
func (f *search) explained() bool {
	return f.sol.Extra["explained"] == true || f.sol.Extra["lacking"] == true
}

// doubtful tells that there may be a lower place still.
func (f *search) doubtful() bool {
	reached, _ := f.sol.Extra["reached"].(int)
	return !f.explained() && !f.oneValley && (reached == 1 || reached < agreeing && f.sol.Cost > f.p.Cost(aboveNoise*f.m.noise()))
}

// explained tells that the params leave white noise of this size: as they are, or, where the parts of the sampling intervals are to blame
// for what is more, in parts of an eighth, with the parameters moved to first order.
func (m *Model) explained(params []fit.Param, noise float64) bool {
	p, err := m.Problem(params)
	if err != nil {
		return false
	}
	sol, err := fit.LM{}.At(p)
	if err != nil {
		return false
	}
	white := func(e []float64) bool {
		return numeric.RMS(e) <= noise && fit.WhitenessOf(e, sol.Pieces).White
	}
	if white(sol.Residual) {
		return true
	}
	finer, err := m.Finer(params, finerParts)
	if err != nil {
		return false
	}
	if p, err = finer.Problem(params); err != nil {
		return false
	}
	y := p.Residuals()
	if len(y) != len(sol.Residual) {
		return false
	}
	floats.Add(y, sol.Residual)
	l := fit.NewLinear(sol)
	return white(l.ResidualAfter(y, l.Move(y)))
}

// finerParts is by how much shorter the steps are that tell what longer ones are to blame for.
const finerParts = 8

// From how many records on a search begins with some of them, and the share of these.
const (
	manyRecords = 30
	someOf      = 10
)

// subsetSolution is the solution of every tenth of many records, from which the fit of all goes on; nil: the search is one of all
// records. A search takes many descents, and they need no more than some records to tell one valley from another.
func (m *Model) subsetSolution(ctx context.Context, q *plan, s Search, watch fit.Watch) *fit.Solution {
	if len(s.ExtraStarts) > 0 {
		return nil
	}
	some, params := m.Subset(q.params)
	if some == nil {
		return nil
	}
	s.Simpler, s.Target, s.CostLimit = nil, s.CostLimit, 0
	sol, err := some.Fit(ctx, params, s, watch)
	if err != nil {
		return nil
	}
	return sol
}

// Subset is the model on every tenth of many records, with those of the params that it has; nil: there are few, or nothing drives them.
func (m *Model) Subset(params []fit.Param) (*Model, []fit.Param) {
	if len(m.pieces) < manyRecords || m.spec.Drive != Force && m.spec.Drive != Servo {
		return nil, nil
	}
	some := *m
	some.pieces, some.parts = nil, nil
	for i := 0; i < len(m.pieces); i += someOf {
		some.pieces = append(some.pieces, m.pieces[i])
		if m.parts != nil {
			some.parts = append(some.parts, m.parts[i])
		}
	}
	own := func(params []fit.Param) []fit.Param {
		return slices.DeleteFunc(slices.Clone(params), func(p fit.Param) bool {
			return slices.ContainsFunc(m.pieces, func(d *piece) bool {
				return !slices.Contains(some.pieces, d) && (p.Name == "x0"+d.suffix || p.Name == "v0"+d.suffix)
			})
		})
	}
	some.params = own(m.params)
	return &some, own(params)
}

// Simpler are models that this one holds as special cases: Coulomb with viscous friction, the static curve of a bristle, and what
// is by direction without directions.
func (s Spec) Simpler() (out []Spec) {
	own := lawOf(s.Law)
	with := func(law string, terms ...string) {
		q := s
		q.Law, q.Terms = law, slices.Concat(s.Terms, terms)
		out = append(out, q)
	}
	if hasAnyParam(own, "Fc") && s.Law != "coulomb" {
		if Damped(s.Law) {
			with("coulomb", "viscous")
		} else {
			with("coulomb")
		}
	}
	if hasAnyParam(own, "sigma0") && hasAnyParam(own, "Fs") && hasAnyParam(own, "vs") {
		with(friction.BoPavelescu.String())
	}
	if s.Asymmetric && hasAnyParam(own, "Fc") {
		with(s.Law, "offset")
		out[len(out)-1].Asymmetric = false
	}
	return out
}

// noise of what is compared. Interpolated samples show less of it than the sensor has, not so the step of an encoder.
func (m *Model) noise() float64 {
	var y [][]float64
	step := 0.0
	for _, p := range m.pieces {
		y = append(y, p.measured)
		step = max(step, p.rec.PositionStep)
	}
	if m.spec.Output != Position {
		step = 0
	}
	return max(numeric.Noise(y...), step/math.Sqrt(12))
}
