package axis

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// A held force sets a body free at a sample. So a record tells the break-away level between two values of the force only, those before
// and at a release: the cost is flat between, and rises in steps outside. A descent ends anywhere on the flat, or on a step beside it.
// The level is therefore also tried at many values, and put into the middle of the flat.

const (
	levelLow, levelHigh = 0.6, 1.6 // of the level found, between which it is tried
	levelTries          = 64       // values of it, and of many rows …
	levelFew            = 24       // … so many
	manyRows            = 20_000
	levelRounds         = 3        // descents from better ones at most
	levelEdge           = 1e-3     // of the level, to which the ends of the flat are found
	levelChance         = 3.84     // by which twice the logarithm of the likelihood falls by chance in one of twenty cases
	levelBetter         = 1 - 1e-3 // of the cost, from which a descent is worth it
)

// Level looks for the break-away level of a solution, found from params, at other values too, descends again from better ones, and puts it
// into the middle of the values at which the other parameters, to first order, leave no more over. independent is the number of rows
// that count. The solution is returned as it is where the cost has no steps.
func (m *Model) Level(ctx context.Context, params []fit.Param, sol *fit.Solution, loss fit.Loss, independent float64, again func(ctx context.Context, p *fit.Problem) (*fit.Solution, error)) (*fit.Solution, error) {
	for round := 1; ; round++ {
		params = slices.Clone(params)
		for i := range params {
			if k := fit.Index(sol.Params, params[i].Name); k >= 0 && !params[i].Fixed {
				params[i].Value = sol.Params[k].Value
			}
		}
		p, err := m.Problem(params)
		if err != nil {
			return nil, err
		}
		at := fit.Index(p.Params, "Fs", "dFs")
		if ev, ok := p.New().(fit.Stepped); !ok || !ev.Stepped() || at < 0 || ctx.Err() != nil {
			return sol, nil
		}
		q := &p.Params[at]
		found := q.Value
		l, err := m.breakaway(params, q, loss)
		if err != nil {
			return nil, err
		}
		if best := l.search(); l.left(best) < levelBetter*l.rms && round < levelRounds {
			next := *p
			next.Params = l.moved(p.Params, best)
			next.Params[at].Value = best
			better, err := again(ctx, &next)
			if err != nil {
				return nil, err
			}
			if better.Cost < sol.Cost {
				better.Continue(sol)
				sol = better
				continue
			}
		}
		lo, hi := l.flat(l.rms * math.Sqrt(1+levelChance/max(independent, 1)))
		mid := (lo + hi) / 2
		p.Params = l.moved(p.Params, mid)
		p.Params[at].Value = mid
		out, err := fit.LM{Loss: loss}.At(p)
		if err != nil {
			return nil, err
		}
		if out.Cost > sol.Cost*(1+levelChance/max(independent, 1)) {
			for i := range p.Params {
				p.Params[i].Value = params[fit.Index(params, p.Params[i].Name)].Value
			}
			mid = found
			if out, err = (fit.LM{Loss: loss}).At(p); err != nil {
				return nil, err
			}
		}
		out.Continue(sol)
		out.Converged, out.Reason, out.Notes = sol.Converged, sol.Reason, sol.Notes
		out.Spread = map[string]float64{p.Params[at].Name: anywhere(mid, lo, hi) + levelEdge*mid}
		return out, nil
	}
}

// breakaway is what is left over at other values of the break-away level, the other parameters moved to first order.
type breakaway struct {
	q      *fit.Param
	found  float64
	rms    float64 // where it was found
	others *fit.Linear
	names  []string // of the others, in the order of move
	ev     fit.Evaluator
	theta  []float64
	at     int // of the level in theta
	own    []float64
	r, dy  []float64
	move   []float64 // of the others at the last value asked for
}

func (m *Model) breakaway(params []fit.Param, q *fit.Param, loss fit.Loss) (*breakaway, error) {
	p, err := m.Problem(params)
	if err != nil {
		return nil, err
	}
	fixed := slices.Clone(params)
	fixed[fit.Index(fixed, q.Name)].Fixed = true
	rest, err := m.Problem(fixed)
	if err != nil {
		return nil, err
	}
	base, err := fit.LM{Loss: loss}.At(rest)
	if err != nil {
		return nil, err
	}
	l := &breakaway{q: q, found: q.Value, rms: numeric.RMS(base.Residual), others: fit.NewLinear(base), ev: p.New(), theta: fit.Values(p.Params),
		at: fit.Index(p.Params, q.Name), own: make([]float64, p.Rows), r: make([]float64, p.Rows), dy: make([]float64, p.Rows)}
	for _, i := range base.Searched() {
		l.names = append(l.names, base.Params[i].Name)
	}
	l.ev.Residuals(l.theta, l.own)
	return l, nil
}

// left is the rms that is left over with the level x, by simulation and the derivatives of the others.
func (l *breakaway) left(x float64) float64 {
	l.theta[l.at] = x
	st := l.ev.Residuals(l.theta, l.r)
	if st == engine.NonFinite {
		return math.Inf(1)
	}
	floats.SubTo(l.dy, l.r, l.own)
	l.move = l.others.Move(l.dy)
	return l.others.Left(l.dy, l.move)
}

// moved are the parameters with the move of the others that belongs to x.
func (l *breakaway) moved(params []fit.Param, x float64) []fit.Param {
	l.left(x)
	params = slices.Clone(params)
	for k, name := range l.names {
		p := &params[fit.Index(params, name)]
		p.Value = min(max(p.Value+l.move[k], p.Lo), p.Hi)
	}
	return params
}

// search is the level that leaves least among many around the one found.
func (l *breakaway) search() (best float64) {
	best, least, tries := l.found, l.rms, levelTries
	if len(l.r) > manyRows {
		tries = levelFew
	}
	for i := range tries {
		x := l.found * levelLow * math.Pow(levelHigh/levelLow, float64(i)/float64(tries-1))
		if x < l.q.Lo || x > l.q.Hi {
			continue
		}
		if left := l.left(x); left < least {
			best, least = x, left
		}
	}
	return best
}

// flat is how far the level may be moved until more than the limit is left over.
func (l *breakaway) flat(limit float64) (lo, hi float64) {
	x := l.found
	edge := func(end float64) float64 {
		in, out := x, end
		for step := levelEdge * x; step < math.Abs(end-x); step *= 2 {
			next := x + math.Copysign(step, end-x)
			if l.left(next) > limit {
				out = next
				break
			}
			in = next
		}
		for math.Abs(out-in) > levelEdge*x {
			if mid := (in + out) / 2; l.left(mid) > limit {
				out = mid
			} else {
				in = mid
			}
		}
		return in
	}
	return edge(max(l.q.Lo, levelLow*x)), edge(min(l.q.Hi, levelHigh*x))
}

// anywhere is the standard deviation around x of what is anywhere between lo and hi.
func anywhere(x, lo, hi float64) float64 {
	if !(hi > lo) {
		return 0
	}
	up, down := hi-x, x-lo
	return math.Sqrt((up*up*up + down*down*down) / (3 * (hi - lo)))
}
