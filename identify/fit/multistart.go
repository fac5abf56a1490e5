package fit

import (
	"cmp"
	"context"
	"fmt"
	"hilrig/engine/numeric"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// MultiStart draws members in a box, judges them by one simulation each, and refines the best of every group by LM. A cost
// with traps that look converged needs it: one descent cannot say that it is in a trap, several that end in the same place
// can say that they are likely not.
//
// The zero value refines the best of 20 draws from each of 5 groups.
type MultiStart struct {
	LM     LM
	Starts int // groups, each with one descent from its best member; 0: 5, or none if From is given
	Draws  int // members of a group; 0: 20; 1: plain random starts

	// Pool puts all members together and refines the best Starts of them, instead of the best of each group.
	Pool bool

	// Box are the ranges to draw from, by name; a parameter that is not named starts at its value. The ranges are cut at the
	// bounds. nil: everything is drawn within its bounds. Log parameters are drawn evenly in their logarithm.
	Box map[string][2]float64

	// From are members that are refined besides, such as survivors of an evolution.
	From [][]float64

	// Floor is a cost that no place can be much below, that of the noise alone. Where the first two descents end together at
	// or below it, there is nothing left to find, and the others are spared. 0: all descend.
	Floor float64

	Seed    uint64
	Workers int // descents at the same time; 0: as many as there are processors
}

// A Start is how one descent began and ended.
type Start struct {
	From        []float64 `json:"from"`  // parameters at its beginning
	Theta       []float64 `json:"theta"` // and at its end
	Cost        float64   `json:"cost"`
	RMS         float64   `json:"rms"` // √(2·cost/rows): of the residuals, if the loss is squares
	Converged   bool      `json:"converged"`
	Reason      string    `json:"reason"`
	Evaluations int       `json:"evaluations"` // without the draws
}

// sameEnd is the relative difference in rms below which two descents count as having arrived at the same place.
const sameEnd = 0.003

// Fit returns the solution of lowest cost. Its Evaluations and Iterations are those of all starts together. Extra has besides
// those of LM "starts" ([]Start, in the order of groups, then From), "reached" (how many came within 0.3 % of the lowest rms)
// and "simulated_draws". Starts that fail are told in Notes; an error is returned if all do.
//
// Results do not depend on Workers: every group has a random stream of its own.
func (m MultiStart) Fit(ctx context.Context, p *Problem, watch Watch) (*Solution, error) {
	begin := time.Now()
	if m.Starts == 0 && len(m.From) == 0 {
		m.Starts = 5
	}
	if m.Draws == 0 {
		m.Draws = 20
	}
	lo, hi, err := m.box(p)
	if err != nil {
		return nil, err
	}
	workers := m.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}

	// members, and the best of every group
	froms := make([][]float64, m.Starts, m.Starts+len(m.From))
	judge := p
	if h := m.LM.Horizons; len(h) > 0 && p.Horizon != nil {
		if short := p.Horizon(slices.Min(h)); short != nil && short.Rows >= len(p.Params) {
			judge = short
		}
	}
	watch.Say(Progress{Method: "lm", Phase: "draws", Of: m.Starts + len(m.From)})
	if m.Pool {
		m.pool(ctx, judge, lo, hi, froms, workers)
	} else {
		parallel(workers, m.Starts, func() func(int) {
			j := newJudge(judge, m.LM.Loss)
			return func(g int) {
				if ctx.Err() == nil {
					froms[g] = j.best(m.draw(p, lo, hi, g))
				}
			}
		})
	}
	froms = append(froms, m.From...)

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
		parallel(workers, last-first, func() func(int) {
			return func(i int) {
				// once interrupted, only the first begins, so that there is an answer
				if i += first; ctx.Err() != nil && i > 0 {
					return
				}
				if froms[i] == nil {
					froms[i] = values(p.Params)
				}
				ends[i], errs[i] = lm.Fit(ctx, p.at(froms[i]), nil)
				one.Lock()
				defer one.Unlock()
				done++
				if s := ends[i]; s != nil {
					simulated += s.Evaluations
					if lowest = min(lowest, s.Cost); watch != nil {
						watch.Say(Progress{
							Method: "lm", Phase: fmt.Sprintf("start %d of %d", done, len(froms)), Step: done, Of: len(froms),
							Best: lowest, Unit: squared(p.Unit), Simulated: simulated, Theta: values(s.Params),
						})
					}
				}
			}
		})
	}
	pair := min(2, len(froms))
	descend(0, pair)
	if !m.together(ends[:pair]) {
		descend(pair, len(froms))
	}
	s, err := m.lowest(p, froms, ends, errs)
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

// together tells that two descents ended in the same place, at the floor.
func (m MultiStart) together(ends []*Solution) bool {
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

// box checks the settings and returns the range to draw from of every parameter; the same number twice if it is not drawn.
func (m MultiStart) box(p *Problem) (lo, hi []float64, err error) {
	if err := m.LM.withDefaults().check(p); err != nil {
		return nil, nil, err
	}
	var bad []string
	add := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if m.Starts < 0 || m.Draws < 0 {
		add("%d starts of %d draws, want numbers above zero", m.Starts, m.Draws)
	}
	for i, from := range m.From {
		if len(from) != len(p.Params) || !numeric.AllFinite(from...) {
			add("start %d of those given has %d numbers %v, want %d finite ones", i+1, len(from), from, len(p.Params))
		}
	}
	known := map[string]bool{}
	for _, q := range p.Params {
		known[q.Name] = true
		a, b := q.Value, q.Value
		if m.Box == nil {
			a, b = q.Lo, q.Hi
		} else if r, ok := m.Box[q.Name]; ok {
			a, b = max(r[0], q.Lo), min(r[1], q.Hi)
			if !(r[0] <= r[1]) || a > b {
				add("%s is to be drawn from %g to %g %s, which has nothing in common with its bounds %g to %g", q.Name, r[0], r[1], q.Unit, q.Lo, q.Hi)
			}
		}
		if m.Starts > 0 && (math.IsInf(a, 0) || math.IsInf(b, 0)) {
			add("%s cannot be drawn from %g to %g: give it bounds or a range to draw from", q.Name, a, b)
		}
		lo, hi = append(lo, a), append(hi, b)
	}
	for name := range m.Box {
		if !known[name] {
			add("a range to draw %s from is given, but no free parameter has this name", name)
		}
	}
	if bad != nil {
		slices.Sort(bad)
		return nil, nil, &ParamError{Problems: bad}
	}
	return lo, hi, nil
}

// draw makes the members of group g.
func (m MultiStart) draw(p *Problem, lo, hi []float64, g int) [][]float64 {
	rng := rand.New(rand.NewPCG(m.Seed, uint64(g)))
	members := make([][]float64, m.Draws)
	for i := range members {
		members[i] = make([]float64, len(lo))
		for j, q := range p.Params {
			u := rng.Float64()
			v := lo[j] + u*(hi[j]-lo[j])
			if q.Log {
				v = lo[j] * math.Exp(u*math.Log(hi[j]/lo[j]))
			}
			members[i][j] = min(max(v, lo[j]), hi[j])
		}
	}
	return members
}

// pool refines the best of all groups together.
func (m MultiStart) pool(ctx context.Context, p *Problem, lo, hi []float64, froms [][]float64, workers int) {
	type member struct {
		theta []float64
		cost  float64
	}
	all := make([]member, m.Starts*m.Draws)
	parallel(workers, m.Starts, func() func(int) {
		j := newJudge(p, m.LM.Loss)
		return func(g int) {
			if ctx.Err() != nil {
				return
			}
			members := m.draw(p, lo, hi, g)
			for i, c := range j.costs(members, false) {
				all[g*m.Draws+i] = member{members[i], c}
			}
		}
	})
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.cost, b.cost) })
	for i := range froms {
		froms[i] = all[i].theta
	}
}

// lowest joins what the descents found.
func (m MultiStart) lowest(p *Problem, froms [][]float64, ends []*Solution, errs []error) (*Solution, error) {
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
			From: froms[i], Theta: values(s.Params), Cost: s.Cost, RMS: math.Sqrt(2 * s.Cost / float64(p.Rows)),
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
	s, err := m.LM.At(p.at(values(best.Params)))
	if err != nil {
		return nil, err
	}
	s.Converged, s.Reason, s.Extra["lambda"] = best.Converged, best.Reason, best.Extra["lambda"]
	s.Evaluations, s.Iterations = s.Evaluations+evaluations, iterations
	s.Extra["starts"], s.Extra["reached"] = starts, reached
	s.Notes = append(s.Notes, best.Notes...)
	if failed > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d starts could not be simulated", failed, len(ends)))
	}
	if reached == 1 && len(starts) > 1 {
		s.Notes = append(s.Notes, fmt.Sprintf("only one of %d starts reached the lowest cost: there may be a lower one still, more starts would tell", len(starts)))
	}
	return s, nil
}

func values(params []Param) []float64 {
	v := make([]float64, len(params))
	for j, p := range params {
		v[j] = p.Value
	}
	return v
}

// at is the problem that starts at theta, which is pulled into the bounds.
func (p *Problem) at(theta []float64) *Problem {
	q := *p
	q.Params = slices.Clone(p.Params)
	for j := range q.Params {
		q.Params[j].Value = min(max(theta[j], q.Params[j].Lo), q.Params[j].Hi)
	}
	return &q
}

// parallel calls work for 0 … n−1, which each goroutine makes for itself, on up to workers goroutines.
func parallel(workers, n int, work func() func(int)) {
	if workers = min(workers, n); workers <= 1 {
		if n > 0 {
			for w, i := work(), 0; i < n; i++ {
				w(i)
			}
		}
		return
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range workers {
		wg.Go(func() {
			w := work()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				w(i)
			}
		})
	}
	wg.Wait()
}
