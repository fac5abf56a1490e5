package hil

import (
	"math"

	"hilrig/estimator"
)

// budget is the i²t budget of an axis.
type budget struct {
	heat    float64 // used, 0…1
	cooling bool    // it was used up, and must fall below coolShare before a reset
	share   float64 // by which it moves in a tick
}

// coolShare is that of the budget below which a reset is taken again.
const coolShare = 0.5

// CoolingTime is how long (s) a winding of this heat needs until a reset is taken, without a current; thermal (s) is its time constant.
func CoolingTime(heat, thermal float64) float64 {
	if !(heat > coolShare) {
		return 0
	}
	return thermal * math.Log(heat/coolShare)
}

// updateHeat keeps the i²t budget of an axis, a first-order image of the winding's temperature rise: 1 is the rise at rated current.
func (g *Guard) updateHeat(r *Row, i int, current float64) {
	a, b := &g.s.Axes[i], &g.budgets[i]
	if a.RatedI <= 0 || a.Thermal <= 0 {
		return
	}
	at := a.Measured[estimator.Current]
	if g.firstTick || !g.mode.Energised() && !g.recent(r, at) {
		return // what was handed on stands in the first row; and an old number heats nothing: it is not known whether the winding cools
	}
	p := current / a.RatedI
	share := b.share
	if r.Skip > 0 {
		share = -math.Expm1(-g.elapsed(r) / a.Thermal)
	}
	b.heat += (p*p - b.heat) * share
	if b.heat > 1 {
		b.cooling = true
		r.Flags |= FlagThermal
		if g.mode.Energised() {
			g.move(onFault, reason{CauseThermal, a.Heat, b.heat, 1})
		}
	} else if b.heat < coolShare {
		b.cooling = false
	}
}
