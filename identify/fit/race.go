package fit

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Of several descents most lead to where another one ended already, or to no place as low. That shows long before their ends, and on a
// part of the records.

// Of several drafts, by their linear models:
const (
	raceDamping   = 1e-8 // next to none
	promised      = 2    // times what the linear model promises, and …
	moreSteps     = 3    // … as much as so many steps like the last bring, is more than is reached …
	hopelessLimit = 3    // … if it is too little in so many steps in turn
)

// Why a draft stopped before its end.
const (
	joined     = "it leads to where another one ended"
	outOfReach = "it leads to no cost as low as others"
)

// race tells why a descent need not go on: it leads to where another one ended, or to no cost below the target. The linear
// model at a place is that at the end of another draft where it foretells the cost there; if it has no lower place, the descent would
// end there as well. On a plateau that falls off only after many steps (MGH09 of NIST from its far start) it is wrong, so that nothing may
// have a target but what is tried beside a better place. "": it goes on.
func (f *descent) race() string {
	if f.phase != "" || f.m.Loss.Kind != Squares || f.p.Target == 0 && f.m.ends == nil {
		return ""
	}
	lowest := f.cost - f.inBox(raceDamping)
	clipped := false
	for j, d := range f.d {
		clipped = clipped || math.Abs(d) >= f.slope.coords.clip[j]
	}
	gain := math.Inf(1)
	if n := len(f.trace); n > 1 {
		gain = max(promised*(f.cost-lowest), moreSteps*(f.trace[n-2]-f.trace[n-1]))
	}
	if f.hopeless++; clipped || f.p.Target == 0 || f.cost-gain <= f.p.Target {
		f.hopeless = 0
	}
	if f.hopeless >= hopelessLimit {
		return outOfReach
	}
	for i := range f.m.ends {
		e := &f.m.ends[i]
		if !asLow(lowest, e.Cost) || len(e.Theta) != len(f.s) {
			continue
		}
		f.slope.coords.from(e.Theta, f.x)
		floats.Sub(f.x, f.s)
		if asLow(f.cost-f.decrease(f.x), e.Cost) {
			copy(f.theta, e.Theta)
			f.cost = e.Cost
			return joined
		}
	}
	return ""
}

// asLow tells that two costs are one.
func asLow(a, b float64) bool { return max(a, b) <= sameCost*min(a, b) }

// Of places that are tried on a part of the records first:
const (
	siftShare = 0.25 // of the records
	siftRows  = 1000 // that this has at least
	siftRatio = 1.3  // times the cost of the best place is too much on this part
)

// sift descends from the places first … last − 1 on a part of the records. What leads there to where the best end is, or to far more,
// has ended; what does not goes on from where it is on the whole.
func (f *several) sift(best *Solution, first, last int) {
	lm, places := f.lm, f.places[first:last]
	if f.p.Horizon == nil || len(lm.Horizons) > 0 || lm.Loss.Kind != Squares || len(places) == 0 || f.ctx.Err() != nil {
		return
	}
	short := f.p.Horizon(siftShare)
	if short == nil || short.Rows < siftRows {
		return
	}
	short.Target, lm.ends = 0, nil
	own, err := lm.Fit(f.ctx, short.At(Values(best.Params)), nil)
	if err != nil || !own.Converged {
		return
	}
	short.Target, lm.ends = siftRatio*own.Cost, []Start{{Theta: Values(own.Params), Cost: own.Cost}}
	newPool(f.workers, len(places), func(_, i int) {
		s, err := lm.Fit(f.ctx, short.At(places[i]), nil)
		if err != nil || f.ctx.Err() != nil {
			return
		}
		end := *best
		if s.Reason != joined {
			places[i] = Values(s.Params)
			whole, err := LM{Draft: true, MaxEvaluations: 1}.Fit(f.ctx, f.p.At(places[i]), nil)
			if err != nil || s.Cost <= short.Target || whole.Cost <= best.Cost {
				return
			}
			end, s.Reason = *whole, outOfReach
		}
		end.Evaluations, end.Iterations, end.Reason = s.Evaluations, s.Iterations, s.Reason
		f.ends[first+i] = &end
	}).run(context.WithoutCancel(f.ctx), len(places))
}
