package fit

import (
	"fmt"
	"slices"
)

// GrowingHorizon are the shares of a record after which a stick-slip fit from a rough start arrives at the solution: a slip
// that comes too late puts every later one out of phase, so the cost over the whole record has a trap for every slip, that
// over the beginning has few.
var GrowingHorizon = []float64{0.20, 0.35, 0.50, 0.70, 1}

// grow fits the shares of the records below 1 in turn. A share that is too short for the parameters is left out.
func (f *descent) grow(p *Problem) error {
	for _, share := range slices.Sorted(slices.Values(f.m.Horizons)) {
		if share >= 1 || f.ctx.Err() != nil || f.slope != nil && f.spent() {
			return nil
		}
		short := p.Horizon(share)
		if short == nil || short.Rows < len(p.Params) {
			continue
		}
		if err := f.open(short, fmt.Sprintf("horizon %.0f %%", 100*share)); err != nil {
			return err
		}
		f.lambda = firstLambda
		f.stages(false)
	}
	f.lambda = firstLambda
	return nil
}
