//go:build soak

package brush

import "testing"

// At full length: 40 seeds of each brush, 0.2 s after the first 0.1 s. At 20 µs a single seed may settle in another of the periodic
// motions that the smooth commutator allows: the means over 40 seeds are known to 8 % new and 4 % worn, at 2 µs to 1.5 %.
func TestSoakEnginesAgreeOnTheSmoothCommutator(t *testing.T) {
	opts := map[string]RunOptions{"20 µs": stepped(20e-6), "2 µs": stepped(2e-6)}
	for name, h := range map[string]float64{"20 µs, end of step": 20e-6, "2 µs, end of step": 2e-6} {
		o := stepped(h)
		o.EndOfStep = true
		opts[name] = o
	}
	for _, l := range []float64{0.032, 0.012} {
		crossCheck(t, l, true, 40, 0.1, 0.3, opts, map[string]float64{"20 µs": 0.1, "20 µs, end of step": 0.15, "2 µs": 0.1,
			"2 µs, end of step": 0.1})
	}
}

// Both surfaces smooth: the brush barely moves, and a step of 20 µs does not see by which contacts.
func TestSoakEnginesAgreeOnSmoothSurfaces(t *testing.T) {
	end := stepped(2e-6)
	end.EndOfStep = true
	for _, l := range []float64{0.032, 0.012} {
		crossCheck(t, l, false, 16, 0.1, 0.25, map[string]RunOptions{"2 µs": stepped(2e-6), "2 µs, end of step": end},
			map[string]float64{"2 µs": 0.1, "2 µs, end of step": 0.1})
	}
}
