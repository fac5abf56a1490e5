package numeric

import (
	"math"
	"testing"
)

// The length of (3, 4) is 5 at any size, and what is not finite shows.
func TestLength(t *testing.T) {
	for _, size := range []float64{0, 1e-300, 1e-160, 1e-3, 1, 1e140, 1e160, 1e300} {
		if got := Length([]float64{3 * size, 0, -4 * size}); math.Abs(got-5*size) > 1e-14*size {
			t.Errorf("size %g: %g", size, got)
		}
	}
	if Length(nil) != 0 || !math.IsInf(Length([]float64{1, math.Inf(-1)}), 1) || !math.IsNaN(Length([]float64{1, math.NaN()})) {
		t.Error("nothing, infinite or no number")
	}
}
