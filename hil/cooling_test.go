package hil

import (
	"math"
	"testing"
)

// The time that a winding needs until a reset is taken is that after which a temperature rise, stepped down by itself, is half of what it
// may be. A winding that is cooler needs none; a heat that is no number tells none.
func TestCoolingTime(t *testing.T) {
	const thermal, step = 12.0, 1e-3 // s
	for _, heat := range []float64{0, 0.3, 0.5, 0.51, 0.8, 1, 1.7} {
		want, left := 0.0, heat
		for left > 0.5 {
			left -= step / thermal * left
			want += step
		}
		if got := CoolingTime(heat, thermal); math.Abs(got-want) > 5e-3 {
			t.Errorf("%g of the budget: %g s, want %g s", heat, got, want)
		}
	}
	if got := CoolingTime(math.NaN(), thermal); got != 0 {
		t.Errorf("no number: %g s", got)
	}
}
