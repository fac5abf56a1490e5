package reference

import (
	"math"
	"testing"
)

// At the instants of Next a value changes, or its slope does, and nowhere between.
func TestNextIsWhereItJumps(t *testing.T) {
	levels := []Level{{Value: 1, Hold: 0.1}, {Value: -2, Hold: 0.3}, {Value: 1.5, Hold: 0.07}}
	for name, g := range map[string]interface {
		Generator
		Next(t float64) float64
	}{
		"square": Step{Amplitude: 2, Frequency: 3.3}, "fast": Step{Amplitude: 2, Frequency: 1e4 / 3}, "step": Step{Amplitude: 1},
		"levels": NewLevels(0.5, levels, 0, false), "round": NewLevels(0.5, levels, 0, true),
		"rise": NewLevels(0.5, levels, 0.02, false), "rise, round": NewLevels(0.5, levels, 0.02, true),
	} {
		at := 0.0
		for range 40 {
			next := g.Next(at)
			if math.IsInf(next, 1) {
				break
			}
			if !(next > at) {
				t.Fatalf("%s: %g s after %g s", name, next, at)
			}
			h := 1e-7 * (next - at)
			from, slope, _ := g.At(next - h)
			to, after, _ := g.At(next)
			if math.Abs(to-from) < 1e-3 && math.Abs(after-slope) < 1e-3 {
				t.Errorf("%s: nothing happens at %.17g s", name, next)
			}
			// a straight line up to there
			a, _, _ := g.At(at)
			middle, _, _ := g.At((at + next) / 2)
			if math.Abs(middle-(a+from)/2) > 1e-6 {
				t.Errorf("%s: something happens between %g s and %g s", name, at, next)
			}
			at = next
		}
	}
}
