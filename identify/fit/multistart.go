package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// MultiStart draws members within their bounds, judges them by one simulation each, and refines the best of all by LM. A cost
// with traps that look converged needs it: one descent cannot say that it is in a trap, several that end in the same place
// can say that they are likely not.
//
// The zero value refines the best 5 of 100 draws.
type MultiStart struct {
	LM     LM
	Starts int // descents from drawn members; 0: 5, or none if ExtraStarts are given
	Draws  int // members for each of them; 0: 20; 1: plain random starts. Log parameters are drawn evenly in their logarithm

	// ExtraStarts are members that are refined besides, such as survivors of an evolution.
	ExtraStarts [][]float64

	// MoreStarts gives others still, where the first two descents were not enough; nil: there are none.
	MoreStarts func() [][]float64

	// Floor is a cost that no place can be much below, that of the noise alone. Where the first two descents end together at
	// or below it, there is nothing left to find, and the others are spared. 0: all descend.
	Floor float64

	// Explained tells that a place leaves nothing but noise. Where one of the first two descents ends at such a place, and the other
	// one leaves more, no place is much lower than that: the others are spared too. nil: not known of any place.
	Explained func(end []Param) bool

	// Lacking tells that a place leaves over what the model lacks and no other place of it makes. Where the first two descents end at one
	// cost, at such a place, the others are spared. nil: not known of any place.
	Lacking func(end []Param) bool

	Seed    uint64
	Workers int // descents at the same time; 0: as many as there are processors
}

// A Start is how one descent began and ended.
type Start struct {
	InitialTheta []float64 `json:"from"`  // parameters at its beginning
	Theta        []float64 `json:"theta"` // and at its end
	Cost         float64   `json:"cost"`
	RMS          float64   `json:"rms"` // √(2·cost/rows): of the residuals, if the loss is squares
	Converged    bool      `json:"converged"`
	Reason       string    `json:"reason"`
	Evaluations  int       `json:"evaluations"` // without the draws
}

// sameEnd is the relative difference in rms below which two descents count as having arrived at the same place.
const sameEnd = 0.003

// sameCost is the ratio of costs beyond which one of two places explains less than the other.
const sameCost = (1 + sameEnd) * (1 + sameEnd)

// confirming is how many times the work of a descent to a place that leaves nothing but noise the next one may take.
const confirming = 2

// descentBudget is the same for the others, where the first two end at one cost which is more than noise: a descent into a valley where the
// model is stiff takes a hundred times as long, and ends higher.
const descentBudget = 4

// coarseTolerance is the relative decrease of the cost at which descents end; the best one goes on to that of LM.
const coarseTolerance = 1e-4

// pairAgrees tells that the first two descents ended at one cost.
func (f *several) pairAgrees() bool {
	return len(f.ends) >= 2 && f.ends[0] != nil && f.ends[1] != nil && asLow(f.ends[0].Cost, f.ends[1].Cost)
}

// Fit returns the solution of lowest cost. Its Evaluations and Iterations are those of all starts together. Extra has besides
// those of LM "starts" ([]Start, the drawn ones in the order of their costs, then ExtraStarts), "reached" (how many came within
// 0.3 % of the lowest rms), "explained" (the lowest leaves nothing but noise, and no other place was as low), "lacking" (see Lacking) and
// "simulated_draws". Starts that
// fail are told in Notes; an error is returned if all do, or if none leads to the target of the problem.
//
// Results do not depend on Workers: every group has a random stream of its own.
func (m MultiStart) Fit(ctx context.Context, p *Problem, watch Watch) (*Solution, error) {
	begin := time.Now()
	if m.Starts == 0 && len(m.ExtraStarts) == 0 {
		m.Starts = 5
	}
	if m.Draws == 0 {
		m.Draws = 20
	}
	if err := m.check(p); err != nil {
		return nil, err
	}
	workers := m.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}

	// the best members
	froms := make([][]float64, m.Starts, m.Starts+len(m.ExtraStarts))
	judge := p
	if h := m.LM.Horizons; len(h) > 0 && p.Horizon != nil {
		if short := p.Horizon(slices.Min(h)); short != nil && short.Rows >= len(p.Params) {
			judge = short
		}
	}
	watch.Report(Progress{Method: "lm", Phase: "draws", StepCount: m.Starts + len(m.ExtraStarts)})
	m.drawStarts(ctx, judge, froms, workers)
	froms = append(froms, m.ExtraStarts...)

	f := newSeveral(ctx, m, p, froms, workers, watch)
	if f.explained = f.pair(); !f.explained && !f.hopeless() && !m.endsAgree(f.ends[:min(2, len(f.ends))]) {
		f.lacking = m.Lacking != nil && f.pairAgrees() && ctx.Err() == nil && m.Lacking(f.ends[f.lowest()].Params)
		if !f.lacking {
			f.others()
		}
	}
	s, err := f.solution()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		s.Converged, s.Reason = false, "interrupted"
	}
	drawn := m.Starts * m.Draws
	s.Extra["simulated_draws"] = drawn
	s.Evaluations += drawn
	s.Compute = time.Since(begin)
	return s, nil
}

// several are the descents of a MultiStart.
type several struct {
	m       MultiStart
	ctx     context.Context
	p       *Problem
	watch   Watch
	lm      LM // of a draft
	workers int

	froms     [][]float64 // starts
	places    [][]float64 // from which the descents go on
	ends      []*Solution
	errs      []error
	explained bool    // the lowest leaves nothing but noise
	lacking   bool    // it leaves what the model lacks
	target    float64 // of the problem that was given

	lock                      sync.Mutex // progress comes from one at a time
	finishedStarts, simulated int
	lowestCost                float64
}

func newSeveral(ctx context.Context, m MultiStart, p *Problem, froms [][]float64, workers int, watch Watch) *several {
	f := &several{m: m, ctx: ctx, p: p, watch: watch, lm: m.LM, workers: workers, lowestCost: math.Inf(1), target: p.Target}
	f.lm.Draft, f.lm.CostTol = true, max(m.LM.CostTol, coarseTolerance)
	if n := min(workers, len(froms)); n > 1 {
		f.lm.Workers = max(1, workers/n)
	} else if f.lm.Workers == 0 {
		f.lm.Workers = workers
	}
	f.add(froms)
	return f
}

// add puts more starts behind those that there are. One that could not be drawn is at the values of the problem.
func (f *several) add(froms [][]float64) {
	for _, from := range froms {
		if from == nil {
			from = Values(f.p.Params)
		}
		f.froms, f.places, f.ends, f.errs = append(f.froms, from), append(f.places, from), append(f.ends, nil), append(f.errs, nil)
	}
}

// descend from the places first … last − 1 that have no end yet, side by side.
func (f *several) descend(first, last int) {
	f.lm.ends = f.starts() // of what came before: what runs beside it must not matter
	newPool(f.workers, last-first, func(_, i int) {
		// once interrupted, only the first begins, so that there is an answer
		if i += first; f.ctx.Err() != nil && i > 0 {
			return
		}
		if f.ends[i] == nil {
			f.ends[i], f.errs[i] = f.lm.Fit(f.ctx, f.p.At(f.places[i]), nil)
		}
		f.lock.Lock()
		defer f.lock.Unlock()
		f.finishedStarts++
		if s := f.ends[i]; s != nil {
			f.simulated += s.Evaluations
			f.lowestCost = min(f.lowestCost, s.Cost)
			f.watch.Report(Progress{
				Method: "lm", Phase: "start", Step: f.finishedStarts, StepCount: len(f.froms), BestCost: f.lowestCost, Unit: squared(f.p.Unit),
				Simulated: f.simulated, Theta: Values(s.Params),
			})
		}
	}).run(context.WithoutCancel(f.ctx), last-first)
}

// pair makes the first two descents, and tells whether the lower one leaves nothing but noise, and the other one ended elsewhere.
func (f *several) pair() (explained bool) {
	m := &f.m
	if m.Explained == nil || len(f.froms) < 2 {
		f.descend(0, min(2, len(f.froms)))
		return false
	}
	f.descend(0, 1)
	first := f.ends[0]
	if first != nil && f.ctx.Err() == nil {
		if explained = m.Explained(first.Params); explained { // where another place is as good, that is found in about as many
			f.lm.MaxEvaluations, f.lm.MaxSteps = confirming*first.Evaluations, confirming*first.Steps
		}
		f.sift(first, 1, 2)
	}
	f.descend(1, 2)
	f.lm.MaxEvaluations, f.lm.MaxSteps = m.LM.MaxEvaluations, m.LM.MaxSteps
	if second := f.ends[1]; explained {
		explained = second == nil || second.Cost > first.Cost*sameCost
	} else if first != nil && second != nil && first.Cost > second.Cost*sameCost && f.ctx.Err() == nil {
		explained = m.Explained(second.Params)
	}
	return explained
}

// hopeless tells that all descents so far stay far above the target.
func (f *several) hopeless() bool {
	return f.p.Target > 0 && !slices.ContainsFunc(f.ends, func(s *Solution) bool {
		return s == nil || s.Reason != outOfReach && s.Cost <= siftRatio*f.p.Target
	})
}

// others makes the descents behind the pair. What leads nowhere lower than the pair is given up.
func (f *several) others() {
	pair := min(2, len(f.froms))
	if f.m.MoreStarts != nil && f.ctx.Err() == nil {
		f.add(f.m.MoreStarts())
	}
	budget := func(times int) {
		if f.pairAgrees() && f.m.LM.MaxEvaluations == 0 && f.m.LM.MaxSteps == 0 {
			f.lm.MaxEvaluations = times * max(f.ends[0].Evaluations, f.ends[1].Evaluations)
			f.lm.MaxSteps = times * max(f.ends[0].Steps, f.ends[1].Steps)
		}
	}
	if best := f.lowest(); best >= 0 {
		p := *f.p
		if cost := f.ends[best].Cost; p.Target == 0 || cost < p.Target {
			p.Target = cost
		}
		f.p = &p
		budget(confirming)
		f.sift(f.ends[best], pair, len(f.places))
	}
	budget(descentBudget)
	f.descend(pair, len(f.froms))
}

// endsAgree tells that two descents ended in the same place, at the floor.
func (m MultiStart) endsAgree(ends []*Solution) bool {
	if len(ends) < 2 || ends[0] == nil || ends[1] == nil || max(ends[0].Cost, ends[1].Cost) > m.Floor {
		return false
	}
	for j, p := range ends[0].Params {
		a, b := p.Value, ends[1].Params[j].Value
		if math.Abs(a-b) > sameEnd*max(math.Abs(a), math.Abs(b)) {
			return false
		}
	}
	return true
}

// check tells every problem of the settings and of the parameters.
func (m MultiStart) check(p *Problem) error {
	if err := m.LM.withDefaults().check(p); err != nil {
		return err
	}
	var bad ParamError
	add := bad.Add
	if m.Starts < 0 || m.Draws < 0 {
		add("%d starts of %d draws, want numbers above zero", m.Starts, m.Draws)
	}
	for i, from := range m.ExtraStarts {
		if len(from) != len(p.Params) || !numeric.AllFinite(from...) {
			add("start %d of those given has %d numbers %v, want %d finite ones", i+1, len(from), from, len(p.Params))
		}
	}
	for _, q := range p.Params {
		if m.Starts > 0 && (math.IsInf(q.Lo, 0) || math.IsInf(q.Hi, 0)) {
			add("%s cannot be drawn from %g to %g: give it bounds to draw from", q.Name, q.Lo, q.Hi)
		}
	}
	slices.Sort(bad.Problems)
	return bad.OrNil()
}

// draw makes the members for start g.
func (m MultiStart) draw(p *Problem, g int) [][]float64 {
	rng := rand.New(rand.NewPCG(m.Seed, uint64(g)))
	members, u := make([][]float64, m.Draws), make([]float64, len(p.Params))
	for i := range members {
		for j := range u {
			u[j] = rng.Float64()
		}
		members[i] = make([]float64, len(u))
		unitBox(p.Params).theta(u, members[i])
	}
	return members
}

// drawStarts draws all members and puts those of least cost on the problem p, or a shorter one, into froms.
func (m MultiStart) drawStarts(ctx context.Context, p *Problem, froms [][]float64, workers int) {
	type member struct {
		theta []float64
		cost  float64
	}
	all := make([]member, m.Starts*m.Draws)
	hands := make([]hand, workers)
	newPool(workers, m.Starts, func(worker, g int) {
		h := &hands[worker]
		if h.ev == nil {
			h.ev = p.NewEvaluator()
			h.room(1, p)
		}
		for i, theta := range m.draw(p, g) {
			cost := math.Inf(1)
			if h.ev.Residuals(theta, h.r[0]) != engine.NonFinite {
				cost = m.LM.Loss.Cost(h.r[0])
			}
			all[g*m.Draws+i] = member{theta, cost}
		}
	}).run(ctx, m.Starts)
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.cost, b.cost) })
	for i := range froms {
		froms[i] = all[i].theta
	}
}

// starts tells how the descents ended that did.
func (f *several) starts() []Start {
	starts := []Start{}
	for i, s := range f.ends {
		if s != nil {
			starts = append(starts, Start{
				InitialTheta: f.froms[i], Theta: Values(s.Params), Cost: s.Cost, RMS: math.Sqrt(2 * s.Cost / float64(f.p.Rows)),
				Converged: s.Converged, Reason: s.Reason, Evaluations: s.Evaluations,
			})
		}
	}
	return starts
}

// lowest is the place of the end of lowest cost; −1: there is none.
func (f *several) lowest() int {
	best := -1
	for i, s := range f.ends {
		if s != nil && (best < 0 || s.Cost < f.ends[best].Cost) {
			best = i
		}
	}
	return best
}

// solution joins what the descents found, and goes on from the lowest place to its end.
func (f *several) solution() (*Solution, error) {
	best := f.lowest()
	switch {
	case best < 0:
		return nil, fmt.Errorf("fit: none of %d starts could be simulated, the first because: %w", len(f.ends), f.errs[0])
	case f.hopeless():
		return nil, fmt.Errorf("fit: none of %d starts leads below a cost of %g", len(f.ends), f.p.Target)
	}
	lowest, starts := f.ends[best], f.starts()
	last := f.m.LM
	last.Horizons, last.Damping = nil, lowest.Extra["lambda"].(float64)
	last.Steps = last.withDefaults().Steps
	last.Steps = last.Steps[len(last.Steps)-1:]
	better := f.target == 0 || lowest.Cost < f.target*(1-coarseTolerance)
	if !better { // it need not be exact
		last.MaxEvaluations = 1
	}
	s, err := last.Fit(f.ctx, f.p.At(Values(lowest.Params)), nil)
	if err != nil {
		return nil, err
	}
	if !better {
		s.Converged, s.Reason = lowest.Converged, lowest.Reason
	}
	s.Trace = append(lowest.Trace, s.Trace[1:]...)
	for _, end := range f.ends {
		if end != nil {
			s.Evaluations, s.Iterations = s.Evaluations+end.Evaluations, s.Iterations+end.Iterations
		}
	}
	reached, limit := 0, math.Sqrt(lowest.Cost)*(1+sameEnd)
	for i := range starts {
		if math.Sqrt(starts[i].Cost) <= limit {
			reached++
		}
	}
	s.Extra["starts"], s.Extra["reached"], s.Extra["explained"], s.Extra["lacking"] = starts, reached, f.explained, f.lacking
	s.Notes = append(s.Notes, lowest.Notes...)
	failed := 0
	for _, err := range f.errs {
		if err != nil {
			failed++
		}
	}
	if failed > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d starts could not be simulated", failed, len(f.ends)))
	}
	if reached == 1 && len(starts) > 1 && !f.explained {
		s.Notes = append(s.Notes, fmt.Sprintf("only one of %d starts reached the lowest cost: there may be a lower one still, more starts "+
			"would tell",
			len(starts)))
	}
	return s, nil
}

// At is the problem that starts at theta, which is pulled into the bounds.
func (p *Problem) At(theta []float64) *Problem {
	q := *p
	q.Params = slices.Clone(p.Params)
	for j := range q.Params {
		q.Params[j].Value = min(max(theta[j], q.Params[j].Lo), q.Params[j].Hi)
	}
	return &q
}
