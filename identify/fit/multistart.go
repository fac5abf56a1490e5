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

// costsAgree tells that two descents ended at one cost.
func costsAgree(ends []*Solution) bool {
	return len(ends) == 2 && ends[0] != nil && ends[1] != nil && max(ends[0].Cost, ends[1].Cost) <= sameCost*min(ends[0].Cost, ends[1].Cost)
}

// Fit returns the solution of lowest cost. Its Evaluations and Iterations are those of all starts together. Extra has besides
// those of LM "starts" ([]Start, the drawn ones in the order of their costs, then ExtraStarts), "reached" (how many came within
// 0.3 % of the lowest rms), "explained" (the lowest leaves nothing but noise, and no other place was as low) and "simulated_draws". Starts that fail are told in Notes; an error is returned if all do.
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

	// descents, side by side
	lm := m.LM
	lm.Draft = true
	var one sync.Mutex // progress comes from one at a time
	if n := min(workers, len(froms)); n > 1 {
		lm.Workers = max(1, workers/n)
	} else if lm.Workers == 0 {
		lm.Workers = workers
	}
	ends := make([]*Solution, len(froms))
	errs := make([]error, len(froms))
	done, simulated, lowest := 0, 0, math.Inf(1)
	descend := func(first, last int) {
		newPool(workers, last-first, func(_, i int) {
			// once interrupted, only the first begins, so that there is an answer
			if i += first; ctx.Err() != nil && i > 0 {
				return
			}
			if froms[i] == nil {
				froms[i] = Values(p.Params)
			}
			ends[i], errs[i] = lm.Fit(ctx, p.At(froms[i]), nil)
			one.Lock()
			defer one.Unlock()
			done++
			if s := ends[i]; s != nil {
				simulated += s.Evaluations
				lowest = min(lowest, s.Cost)
				watch.Report(Progress{
					Method: "lm", Phase: fmt.Sprintf("start %d of %d", done, len(froms)), Step: done, StepCount: len(froms),
					BestCost: lowest, Unit: squared(p.Unit), Simulated: simulated, Theta: Values(s.Params),
				})
			}
		}).run(context.WithoutCancel(ctx), last-first)
	}
	pair := min(2, len(froms))
	explained := false
	if m.Explained == nil || pair < 2 {
		descend(0, pair)
	} else {
		descend(0, 1)
		first := ends[0]
		if explained = first != nil && ctx.Err() == nil && m.Explained(first.Params); explained {
			// where another place is as good, that is found in about as many
			lm.MaxEvaluations, lm.MaxSteps = confirming*first.Evaluations, confirming*first.Steps
		}
		descend(1, 2)
		lm.MaxEvaluations, lm.MaxSteps = m.LM.MaxEvaluations, m.LM.MaxSteps
		if second := ends[1]; explained {
			explained = second == nil || second.Cost > first.Cost*sameCost
		} else if first != nil && second != nil && first.Cost > second.Cost*sameCost && ctx.Err() == nil {
			explained = m.Explained(second.Params)
		}
	}
	if !explained && !m.endsAgree(ends[:pair]) {
		if m.MoreStarts != nil && ctx.Err() == nil {
			more := m.MoreStarts()
			froms, ends, errs = append(froms, more...), append(ends, make([]*Solution, len(more))...), append(errs, make([]error, len(more))...)
		}
		if costsAgree(ends[:pair]) && m.LM.MaxEvaluations == 0 && m.LM.MaxSteps == 0 {
			lm.MaxEvaluations = descentBudget * max(ends[0].Evaluations, ends[1].Evaluations)
			lm.MaxSteps = descentBudget * max(ends[0].Steps, ends[1].Steps)
		}
		descend(pair, len(froms))
	}
	s, err := m.lowest(p, froms, ends, errs, explained)
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

// lowest joins what the descents found. explained: the lowest leaves nothing but noise.
func (m MultiStart) lowest(p *Problem, froms [][]float64, ends []*Solution, errs []error, explained bool) (*Solution, error) {
	var best *Solution
	starts := make([]Start, 0, len(ends))
	evaluations, iterations, failed := 0, 0, 0
	for i, s := range ends {
		if s == nil {
			if errs[i] != nil {
				failed++
			}
			continue
		}
		if best == nil || s.Cost < best.Cost {
			best = s
		}
		evaluations, iterations = evaluations+s.Evaluations, iterations+s.Iterations
		starts = append(starts, Start{
			InitialTheta: froms[i], Theta: Values(s.Params), Cost: s.Cost, RMS: math.Sqrt(2 * s.Cost / float64(p.Rows)),
			Converged: s.Converged, Reason: s.Reason, Evaluations: s.Evaluations,
		})
	}
	if best == nil {
		return nil, fmt.Errorf("fit: none of %d starts could be simulated, the first because: %w", len(ends), errs[0])
	}
	reached := 0
	limit := math.Sqrt(best.Cost) * (1 + sameEnd)
	for _, s := range starts {
		if math.Sqrt(s.Cost) <= limit {
			reached++
		}
	}
	s, err := m.LM.At(p.At(Values(best.Params)))
	if err != nil {
		return nil, err
	}
	s.Converged, s.Reason, s.Trace, s.Extra["lambda"] = best.Converged, best.Reason, best.Trace, best.Extra["lambda"]
	s.Evaluations, s.Iterations = s.Evaluations+evaluations, iterations
	s.Extra["starts"], s.Extra["reached"] = starts, reached
	s.Notes = append(s.Notes, best.Notes...)
	if failed > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d starts could not be simulated", failed, len(ends)))
	}
	s.Extra["explained"] = explained
	if reached == 1 && len(starts) > 1 && !explained {
		s.Notes = append(s.Notes, fmt.Sprintf("only one of %d starts reached the lowest cost: there may be a lower one still, more starts would tell", len(starts)))
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
