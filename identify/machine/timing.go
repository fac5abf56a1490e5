package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Torques are seldom those of their stamps: a command is held until the next one, drives and filters take their time. The lag λ of a joint is the time by
// which its torque acts later than it is stamped [linear, lag.go]; to first order about λ₀
//
//	y(t − λ₀) + λ₀·y′ = W·θ + λ·y′
//
// so it is one more column, y′ what the model makes of the slope of the torque. It is searched over whole samples first, then by Gauss and Newton, once
// for torques that are straight between their samples and once for torques that are held, and the better one stays. Where the record does not tell the
// lag of a joint, to a sample or from zero, it is taken for zero: that it is small is known better.

const (
	lagReach  = 20   // samples to either side that are searched
	lagRounds = 8    // of Gauss and Newton
	lagEnough = 1e-2 // samples; what is left is linear
)

// timing is when torques act, by joint.
type timing struct {
	lag   []float64 // s, later than their stamps
	told  []bool    // it is a parameter
	held  bool      // torques keep their values until the next sample
	theta []float64 // base parameters, for the torque of the model
}

// shifted is the torque of a joint as it acts.
func (t *timing) shifted(joint int, d *record.Record) []float64 {
	if t == nil {
		return d.Force
	}
	return linear.Delayed(d.Force, t.lag[joint]/d.Dt, t.held)
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
		bl.w[k] = f.side(f.smooth.ZeroPhase(filter.Derivative(bl.model, f.dt)))
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
	for i, told := range t.told {
		if told {
			out.Pivot = append(out.Pivot, len(out.Columns))
			out.Columns = append(out.Columns, Column{Param: engine.Param{Name: JointName(m, i) + ".lag", Unit: "s", Doc: "time by which the torque acts later than its stamp", Lo: math.Inf(-1), Hi: math.Inf(1)},
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
	best := &timing{lag: make([]float64, nv), told: make([]bool, nv)}
	for i := range nv {
		best.told[i] = !r.Spec.Passive[i]
		if best.told[i] {
			best.lag[i] = s.coarse(i)
		}
	}
	for { // without those that the record does not tell
		straight, held := *best, *best
		held.held = true
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
		if vague == nil {
			break
		}
		best = &timing{lag: slices.Clone(best.lag), told: slices.Clone(best.told)}
		for _, i := range vague {
			best.told[i], best.lag[i] = false, 0
		}
		if !slices.Contains(best.told, true) {
			return nil
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

// coarse is the lag of a joint (s) with the least sum of squares over whole samples, the other joints as they are stamped.
func (s *lagSearch) coarse(joint int) float64 {
	sys := s.r.sys
	p := len(sys.base.Pivot)
	const grid = 2*lagReach + 1
	var yy [grid]float64
	wy := make([][]float64, grid) // Wᵀ·y, weighted
	for l := range wy {
		wy[l] = make([]float64, p)
	}
	for i := range sys.blocks {
		b := &sys.blocks[i]
		if len(b.y) == 0 {
			continue
		}
		scale := 1 / (sys.sigma[b.joint] * sys.sigma[b.joint])
		add := func(l int, y []float64) {
			yy[l] += scale * floats.Dot(y, y)
			for k, w := range b.w {
				if w != nil {
					wy[l][k] += scale * floats.Dot(w, y)
				}
			}
		}
		if b.joint != joint {
			for l := range grid {
				add(l, b.y)
			}
			continue
		}
		x := s.f.smooth.ZeroPhase(s.recs[b.rec][joint].Force)
		if s.f.both != nil {
			x = s.f.both.ZeroPhase(x)
		}
		y := make([]float64, len(b.y))
		for l := range grid {
			for row, at := range b.at {
				k := s.f.skip + at*s.f.every - (l - lagReach)
				y[row] = x[min(max(k, 0), len(x)-1)]
				if b.given != nil {
					y[row] -= b.given[row]
				}
			}
			add(l, y)
		}
	}
	best, least := lagReach, math.Inf(1)
	for l := range grid {
		if cost := yy[l] - sys.explains(wy[l]); cost < least {
			best, least = l, cost
		}
	}
	return float64(best-lagReach) * s.f.dt
}

// explains is the sum of squares that the free columns explain of a right-hand side with the products wy.
func (s *system) explains(wy []float64) (sum float64) {
	x, length := s.picked(s.free)
	n := len(s.free)
	if n == 0 {
		return 0
	}
	var qr mat.QR
	var tri mat.Dense
	qr.Factorize(x)
	qr.RTo(&tri)
	c := make([]float64, n)
	for j, k := range s.free {
		c[j] = wy[k] / length[j]
		for i := range j {
			c[j] -= tri.At(i, j) * c[i]
		}
		c[j] /= tri.At(j, j)
		sum += c[j] * c[j]
	}
	return sum
}

// refine takes the lags to the least sum of squares, which is left, and gives the system there; nil: it cannot be solved.
func (s *lagSearch) refine(t *timing) (*system, float64) {
	t.lag = slices.Clone(t.lag)
	base := s.r.Base.timed(s.r.Model, t)
	p := len(s.r.Base.Pivot)
	sys := *s.r.sys
	sys.base, sys.sigma = base, slices.Clone(s.r.sys.sigma)
	sys.start = append(slices.Clone(s.r.sys.start), make([]float64, len(base.Pivot)-p)...)
	sys.free = slices.Clone(s.r.sys.free)
	for k := p; k < len(base.Pivot); k++ {
		sys.free = append(sys.free, k)
	}
	slopes := make([][]float64, len(sys.blocks))
	for range lagRounds {
		sys.blocks = slices.Clone(s.r.sys.blocks)
		fit.Each(len(sys.blocks), func(i int) {
			b := &sys.blocks[i]
			b.w = append(slices.Clone(b.w), make([][]float64, len(base.Pivot)-p)...)
			d := s.recs[b.rec][b.joint]
			force := s.f.smooth.ZeroPhase(t.shifted(b.joint, d))
			b.y = b.taken(s.f.side(force))
			if b.given != nil {
				floats.Sub(b.y, b.given)
			}
			if k := base.lagOf(b.joint); k >= 0 {
				if slopes[i] == nil {
					slopes[i] = b.taken(s.f.side(filter.Derivative(force, d.Dt)))
				}
				b.w[k] = slopes[i]
				floats.AddScaled(b.y, t.lag[b.joint], b.w[k])
			}
		})
		sys.factor()
		theta, err := sys.solveFree(sys.free)
		if err != nil {
			return nil, 0
		}
		sys.theta = theta
		most := 0.0
		for i, told := range t.told {
			if told {
				step := theta[base.lagOf(i)] - t.lag[i]
				step = math.Max(-2*s.f.dt, math.Min(2*s.f.dt, step))
				t.lag[i] += step
				most = math.Max(most, math.Abs(step))
			}
		}
		if most < lagEnough*s.f.dt {
			break
		}
	}
	return &sys, sys.sumSquares(sys.theta)
}

// taken are the rows of a block from those of its recording.
func (b *block) taken(all []float64) []float64 {
	out := make([]float64, len(b.at))
	for row, at := range b.at {
		out[row] = all[at]
	}
	return out
}

// vague are the joints whose lags the record does not tell.
func (s *lagSearch) vague(sys *system, t *timing) (joints []int) {
	a, err := fit.Assess(sys.solution(sys.blocks, sys.free, s.r.rowTime, 1/s.r.Spec.Cutoff))
	if err != nil {
		return nil
	}
	for j, k := range sys.free {
		c := &sys.base.Columns[sys.base.Pivot[k]]
		if c.Term != Lag {
			continue
		}
		ci, se := a.Estimates[j].Interval(false), a.Estimates[j].Err(false)
		if ci == nil || se == nil || *se > s.f.dt && ci[0] < 0 && ci[1] > 0 {
			joints = append(joints, c.Joint)
		}
	}
	return joints
}
