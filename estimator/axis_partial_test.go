package estimator

import (
	"math"
	"testing"
)

// Frames of the device that bring nothing of the axis make its group young, not its estimate: between two positions the axis is carried
// on by its speed all the same.
func TestFramesWithoutTheAxis(t *testing.T) {
	for _, speed := range []float64{3, -3} {
		run := func(other bool) (worst float64) {
			f := newFed(t, motorAxis(), Group{SamplePeriod: 10 * tick, Quantities: []Quantity{Position, Current}})
			for k := range 3000 {
				came := map[Quantity]Sample{}
				age := float64(k%10) * tick
				if k%10 == 0 {
					came[Position] = Sample{Value: speed * float64(k) * tick}
					came[Current] = Sample{}
				}
				told := age
				if other { // a temperature came in each tick
					told = 0
				}
				f.in.Position.Age, f.in.Current.Age = told-tick, told-tick // step adds a tick
				f.step(came)
				if k > 2000 {
					worst = max(worst, math.Abs(f.x[XPos]-speed*float64(k)*tick))
				}
			}
			return worst
		}
		if alone, beside := run(false), run(true); beside > 1.01*alone+1e-6 {
			t.Errorf("%g rad/s: off by %.3g rad with other frames in between, %.3g without", speed, beside, alone)
		}
	}
}
