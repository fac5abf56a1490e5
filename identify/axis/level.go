package axis

import (
	"context"
	"fmt"
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
	levelLow, levelHigh = 0.6, 1.6 // of the level found, between which it is tried, but for less than sliding friction
	levelTries          = 64       // values of it, and of many rows …
	levelFew            = 24       // … so many
	manyRows            = 20_000
	levelRounds         = 6        // descents from better ones at most, …
	levelFewRounds      = 2        // … with many rows
	levelEdge           = 1e-3     // of the level, to which the ends of the flat are found
	levelChance         = 3.84     // by which twice the logarithm of the likelihood falls by chance in one of twenty cases
	levelBetter         = 1 - 1e-3 // of the cost, from which a descent is worth it
	levelSaid           = 0.01     // of the level, from which what is left open is said
)

// Level looks for the break-away level of a solution, found from params, at other values too, descends again from better ones, and puts it
// into the middle of the values at which the other parameters, to first order, leave no more over. independent is the number of rows
// that count. The solution is returned as it is where the cost has no steps.
func (m *Model) Level(ctx context.Context, params []fit.Param, sol *fit.Solution, loss fit.Loss, independent float64,
	again func(ctx context.Context, p *fit.Problem) (*fit.Solution, error)) (*fit.Solution, error) {
	for round := 1; ; round++ {
		params = fit.Valued(params, sol.Params)
		p, err := m.Problem(params)
		if err != nil {
			return nil, err
		}
		at := fit.Index(p.Params, "Fs", "dFs")
		if !m.stepped() || at < 0 || ctx.Err() != nil {
			return sol, nil
		}
		rounds := levelRounds
		if p.Rows > manyRows {
			rounds = levelFewRounds
		}
		q := &p.Params[at]
		if q.Name == "Fs" {
			q.Value = min(max(q.Value, coulombOf(params)), q.Hi) // less is the same
		}
		found := q.Value
		l, err := m.breakaway(p, params, q, loss)
		if err != nil {
			return nil, err
		}
		if best := l.search(); l.rmsAt(best) < levelBetter*l.rms && round < rounds {
			next := *p
			next.Params = l.movedParams(p.Params, best)
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
		lo, hi := l.flatRange(l.rms * math.Sqrt(1+levelChance/max(independent, 1)))
		mid := (lo + hi) / 2
		p.Params = l.movedParams(p.Params, mid)
		p.Params[at].Value = mid
		out, err := fit.LM{Loss: loss}.At(p)
		if err != nil {
			return nil, err
		}
		if out.Cost > sol.Cost*(1+levelChance/max(independent, 1)) {
			for i := range p.Params {
				p.Params[i].Value = l.start[i]
			}
			mid = found
			if out, err = (fit.LM{Loss: loss}).At(p); err != nil {
				return nil, err
			}
		}
		out.Continue(sol)
		out.Converged, out.Reason, out.Notes = sol.Converged, sol.Reason, sol.Notes
		name := p.Params[at].Name
		out.Spread = map[string]float64{name: anywhere(mid, lo, hi) + l.fine}
		if hi >= l.hi-l.fine || l.lo > l.minLevel && lo <= l.lo+l.fine { // nobody knows how far
			out.Spread[name] = math.Inf(1)
		} else if hi-lo > levelSaid*mid {
			out.Notes = append(slices.Clone(out.Notes), fmt.Sprintf("%s: a held %s sets the axis free at a sample, so anything from %.3g to %.3g "+
				"%s explains the record as well, and the interval holds that; more releases, or slower ones, tell it finer",
				name, m.names.force, lo, hi, m.names.unitF))
		}
		return out, nil
	}
}

// stepped tells that the cost has steps: a held force sets a body free at a sample, and its acceleration jumps there.
func (m *Model) stepped() bool {
	return m.spec.Drive == Force && m.spec.Hold == Held && m.law != nil && jumps(m.law)
}

// breakaway is what is left over at other values of the break-away level, the other parameters moved to first order.
type breakaway struct {
	foundLevel   float64
	rms          float64 // where it was found
	others       *fit.Linear
	names        []string // of the others, in the order of move
	ev           fit.Evaluator
	start        []float64 // values where it was found
	theta        []float64
	levelIndex   int     // of the level in theta
	lo, hi       float64 // between which it is looked for
	minLevel     float64 // what it may be: sliding friction
	fine         float64 // to which ends are found
	baseResidual []float64
	r, dy        []float64
	move         []float64 // of the others at the last value asked for
}

// breakaway is that of the problem p of params, whose level is q.
func (m *Model) breakaway(p *fit.Problem, params []fit.Param, q *fit.Param, loss fit.Loss) (*breakaway, error) {
	fixed := slices.Clone(params)
	i := fit.Index(fixed, q.Name)
	fixed[i].Fixed, fixed[i].Value = true, q.Value
	rest, err := m.Problem(fixed)
	if err != nil {
		return nil, err
	}
	base, err := fit.LM{Loss: loss}.At(rest)
	if err != nil {
		return nil, err
	}
	l := &breakaway{foundLevel: q.Value, rms: numeric.RMS(base.Residual), others: fit.NewLinear(base), ev: p.NewEvaluator(),
		start: fit.Values(p.Params), theta: fit.Values(p.Params),
		levelIndex: fit.Index(p.Params, q.Name), baseResidual: make([]float64, p.Rows), r: make([]float64, p.Rows), dy: make([]float64, p.Rows)}
	least, whole := coulombOf(params), q.Value
	if q.Name == "dFs" { // what the level is above that
		least, whole = 0, q.Value+coulombOf(params)
	}
	l.minLevel = max(q.Lo, least)
	l.lo = max(l.minLevel, q.Value-(1-levelLow)*whole)
	l.hi, l.fine = max(l.lo, min(q.Hi, q.Value+(levelHigh-1)*whole)), levelEdge*whole
	for _, i := range base.Searched() {
		l.names = append(l.names, base.Params[i].Name)
	}
	l.ev.Residuals(l.theta, l.baseResidual)
	return l, nil
}

// rmsAt is the rms that is left over with the level x, by simulation and the derivatives of the others.
func (l *breakaway) rmsAt(x float64) float64 {
	l.theta[l.levelIndex] = x
	st := l.ev.Residuals(l.theta, l.r)
	if st == engine.NonFinite {
		return math.Inf(1)
	}
	floats.SubTo(l.dy, l.r, l.baseResidual)
	l.move = l.others.Move(l.dy)
	return l.others.RMSAfter(l.dy, l.move)
}

// movedParams are the parameters with the move of the others that belongs to x.
func (l *breakaway) movedParams(params []fit.Param, x float64) []fit.Param {
	l.rmsAt(x)
	params = slices.Clone(params)
	for k, name := range l.names {
		p := &params[fit.Index(params, name)]
		p.Value = min(max(p.Value+l.move[k], p.Lo), p.Hi)
	}
	return params
}

// search is the level that leaves least among many around the one found.
func (l *breakaway) search() (best float64) {
	best, least, tries := l.foundLevel, l.rms, levelTries
	if len(l.r) > manyRows {
		tries = levelFew
	}
	for i := range tries {
		x := l.lo + (l.hi-l.lo)*float64(i)/float64(tries-1)
		if left := l.rmsAt(x); left < least {
			best, least = x, left
		}
	}
	return best
}

// flatRange is how far the level may be moved until more than the limit is left over.
func (l *breakaway) flatRange(limit float64) (lo, hi float64) {
	edge := func(end float64) float64 {
		in, out := l.foundLevel, end
		for step := l.fine; step < math.Abs(end-l.foundLevel); step *= 2 {
			next := l.foundLevel + math.Copysign(step, end-l.foundLevel)
			if l.rmsAt(next) > limit {
				out = next
				break
			}
			in = next
		}
		for math.Abs(out-in) > l.fine {
			if mid := (in + out) / 2; l.rmsAt(mid) > limit {
				out = mid
			} else {
				in = mid
			}
		}
		return in
	}
	return edge(l.lo), edge(l.hi)
}

// coulombOf is the Coulomb friction of params, the mean of both directions.
func coulombOf(params []fit.Param) (f float64) {
	if i := fit.Index(params, "Fc"); i >= 0 {
		return params[i].Value
	}
	for _, name := range []string{"Fc+", "Fc-"} {
		if i := fit.Index(params, name); i >= 0 {
			f += params[i].Value / 2
		}
	}
	return f
}

// anywhere is the standard deviation around x of what is anywhere between lo and hi.
func anywhere(x, lo, hi float64) float64 {
	if !(hi > lo) {
		return 0
	}
	up, down := hi-x, x-lo
	return math.Sqrt((up*up*up + down*down*down) / (3 * (hi - lo)))
}
