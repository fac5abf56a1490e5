package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Torques are seldom those of their stamps: a command is held until the next one, drives and filters take their time. The lag λ of a
// joint is the time by which its torque acts later than it is stamped [linear, lag.go]; to first order about λ₀
//
//	y(t − λ₀) + λ₀·y′ = W·θ + λ·y′
//
// so it is one more column, y′ what the model makes of the slope of the torque. It is found by Gauss and Newton, once
// for torques that are straight between their samples and once for torques that are held, and the better one stays. Where the record does
// not tell the lag of a joint, to a sample or from zero, it is taken for zero: that it is small is known better.

const (
	lagRounds = 12   // of Gauss and Newton
	lagStep   = 0.1  // of a period of the cutoff, at most: the signals behind the low-pass are straight for so long
	slopeStep = 0.02 // of a period of the cutoff: slopes of the torque are made anew from there on
	lagEnough = 1e-2 // samples; what is left is linear
)

// timing is when torques act, by joint.
type timing struct {
	lag           []float64 // s, later than their stamps
	lagFree       []bool    // it is a parameter
	zeroOrderHold bool      // torques keep their values until the next sample
	theta         []float64 // base parameters, for the torque of the model

	lagWithin []float64 // s, by joint: the lag is as much as this either way, and was taken for zero; 0: it is a parameter, or not known
}

// shifted is the torque of a joint as it acts.
func (t *timing) shifted(joint int, d *record.Record) []float64 {
	if t == nil {
		return d.Force
	}
	return linear.Delayed(d.Force, t.lag[joint]/d.Dt, t.zeroOrderHold)
}

// lagged gives a block the torque of the model by the columns w at all samples, and the column of the lag.
func (t *timing) lagged(b *Base, f *filters, bl *block, w [][]float64) {
	if t == nil || t.theta == nil {
		return
	}
	for k, x := range w {
		if x == nil {
			continue
		}
		if bl.model == nil {
			bl.model = make([]float64, len(x))
		}
		floats.AddScaled(bl.model, t.theta[k], x)
	}
	if k := b.lagOf(bl.joint); k >= 0 && bl.model != nil {
		bl.w[k] = f.side(f.positionLowpass.ZeroPhase(filter.Derivative(bl.model, f.dt)))
		floats.AddScaled(bl.y, t.lag[bl.joint], bl.w[k])
	}
}

// lagOf is the base parameter that is the lag of a joint; −1: it has none.
func (b *Base) lagOf(joint int) int {
	return slices.IndexFunc(b.Pivot, func(k int) bool { return b.Columns[k].Term == Lag && b.Columns[k].Joint == joint })
}

// timed is b with the lags that t has as parameters.
func (b *Base) timed(m *multibody.Model, t *timing) *Base {
	out := *b
	out.timing = t
	out.Columns, out.Pivot = slices.Clone(b.Columns), slices.Clone(b.Pivot)
	for i, told := range t.lagFree {
		if told {
			out.Pivot = append(out.Pivot, len(out.Columns))
			out.Columns = append(out.Columns, Column{Param: engine.Param{Name: JointName(m, i) + ".lag", Unit: "s",
				Doc: "time by which the torque acts later than its stamp", Lo: math.Inf(-1), Hi: math.Inf(1)},
				Joint: i, Term: Lag, Inertial: -1, regressor: -1})
		}
	}
	was, n := len(b.Columns), len(out.Columns)
	out.B = make([]float64, len(out.Pivot)*n)
	for i := range out.Pivot {
		if i < len(b.Pivot) {
			copy(out.B[i*n:], b.B[i*was:i*was+was])
		} else {
			out.B[i*n+out.Pivot[i]] = 1
		}
	}
	return &out
}

// findTiming finds the lags of a system that was solved without; nil: the record tells none.
func (r *Result) findTiming(recs []Recording, f *filters) *timing {
	nv := r.Model.NV()
	s := &lagSearch{r: r, recs: recs, f: f}
	best := &timing{lag: make([]float64, nv), lagFree: make([]bool, nv)}
	for i := range nv {
		best.lagFree[i] = !r.Spec.Passive[i]
	}
	within := make([]float64, nv)
	for { // without those that the record does not tell
		straight, held := *best, *best
		held.zeroOrderHold = true
		sys, left := s.refine(&straight)
		other, less := s.refine(&held)
		switch {
		case sys == nil && other == nil:
			return nil
		case sys == nil || other != nil && less < left:
			best, sys = &held, other
		default:
			best = &straight
		}
		vague := s.vague(sys, best)
		if len(vague) == 0 {
			break
		}
		best = &timing{lag: slices.Clone(best.lag), lagFree: slices.Clone(best.lagFree), lagWithin: within}
		for i, most := range vague {
			best.lagFree[i], best.lag[i], within[i] = false, 0, most
		}
		if !slices.Contains(best.lagFree, true) {
			return &timing{lag: best.lag, lagFree: best.lagFree, lagWithin: within}
		}
	}
	best.theta = nil
	return best
}

// lagSearch looks for lags.
type lagSearch struct {
	r    *Result
	recs []Recording
	f    *filters
}

// refine takes the lags to the least sum of squares, which is left, and gives the system there; nil: it cannot be solved.
func (s *lagSearch) refine(t *timing) (*system, float64) {
	t.lag = slices.Clone(t.lag)
	base := s.r.Base.timed(s.r.Model, t)
	p := len(s.r.Base.Pivot)
	sys := *s.r.sys
	sys.base, sys.sigma = base, slices.Clone(s.r.sys.sigma)
	sys.start = append(slices.Clone(s.r.sys.start), make([]float64, len(base.Pivot)-p)...)
	sys.freeParams = slices.Clone(s.r.sys.freeParams)
	for k := p; k < len(base.Pivot); k++ {
		sys.freeParams = append(sys.freeParams, k)
	}
	slopes, from := make([][]float64, len(sys.blocks)), slices.Clone(t.lag) // and the lags for which they are
	for range lagRounds {
		if s.r.progress.ctx.Err() != nil {
			return nil, 0
		}
		for i, lag := range t.lag {
			if math.Abs(lag-from[i]) > slopeStep/s.r.Spec.Cutoff {
				slopes, from = make([][]float64, len(sys.blocks)), slices.Clone(t.lag)
				break
			}
		}
		sys.blocks = slices.Clone(s.r.sys.blocks)
		fit.Parallel(len(sys.blocks), func(i int) {
			b := &sys.blocks[i]
			b.w = append(slices.Clone(b.w), make([][]float64, len(base.Pivot)-p)...)
			d := s.recs[b.rec][b.joint]
			force := s.f.positionLowpass.ZeroPhase(t.shifted(b.joint, d))
			b.y = b.atRows(s.f.side(force))
			if b.knownTorque != nil {
				floats.Sub(b.y, b.knownTorque)
			}
			if k := base.lagOf(b.joint); k >= 0 {
				if slopes[i] == nil {
					slopes[i] = b.atRows(s.f.side(filter.Derivative(force, d.Dt)))
				}
				b.w[k] = slopes[i]
				floats.AddScaled(b.y, t.lag[b.joint], b.w[k])
			}
		})
		sys.factor()
		theta, err := sys.solveFree(sys.freeParams)
		if err != nil {
			return nil, 0
		}
		sys.theta = theta
		largest := 0.0
		for i, told := range t.lagFree {
			if told {
				step := theta[base.lagOf(i)] - t.lag[i]
				most := lagStep / s.r.Spec.Cutoff
				step = math.Max(-most, math.Min(most, step))
				t.lag[i] += step
				largest = math.Max(largest, math.Abs(step))
			}
		}
		if largest < lagEnough*s.f.dt {
			break
		}
	}
	return &sys, sys.sumSquares(sys.theta)
}

// atRows are the rows of a block from those of its recording.
func (b *block) atRows(all []float64) []float64 {
	out := make([]float64, len(b.gridPlaces))
	for row, at := range b.gridPlaces {
		out[row] = all[at]
	}
	return out
}

// vague are the joints whose lags the record does not tell, with the most that they may be.
func (s *lagSearch) vague(sys *system, t *timing) map[int]float64 {
	joints := map[int]float64{}
	a, err := fit.Assess(sys.solution(sys.blocks, sys.freeParams, s.r.rowTime, 1/s.r.Spec.Cutoff))
	if err != nil {
		return nil
	}
	for j, k := range sys.freeParams {
		c := &sys.base.Columns[sys.base.Pivot[k]]
		if c.Term != Lag {
			continue
		}
		ci, se := a.Estimates[j].Interval(false), a.Estimates[j].Err(false)
		if ci == nil || se == nil || *se > s.f.dt && ci[0] < 0 && ci[1] > 0 {
			if joints[c.Joint] = 0; ci != nil {
				joints[c.Joint] = math.Max(-ci[0], ci[1])
			}
		}
	}
	return joints
}
