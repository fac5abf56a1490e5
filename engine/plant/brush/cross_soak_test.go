//go:build soak

package brush

import "testing"

// At full length: 16 seeds of each brush, 0.2 s after the first 0.1 s. At 2 µs both schemes are the events' within the bar.
// At 20 µs a single seed may settle in another of the periodic motions that the smooth commutator allows, so that the mean over 16
// seeds is known to a tenth only: the bar is that and twice the scatter.
func TestSoakEnginesAgreeOnTheSmoothCommutator(t *testing.T) {
	opts := map[string]RunOptions{"20 µs": stepped(20e-6), "2 µs": stepped(2e-6)}
	for name, h := range map[string]float64{"20 µs, end of step": 20e-6, "2 µs, end of step": 2e-6} {
		o := stepped(h)
		o.EndOfStep = true
		opts[name] = o
	}
	for _, l := range []float64{0.032, 0.012} {
		crossCheck(t, l, true, 16, 0.1, 0.3, opts, map[string]float64{"20 µs": 0.35, "20 µs, end of step": 0.3, "2 µs": 0.1, "2 µs, end of step": 0.1})
	}
}

// Both surfaces smooth: the motion is little more than the noise of the scheme, which the end of the step has less of.
func TestSoakEnginesAgreeOnSmoothSurfaces(t *testing.T) {
	end := stepped(2e-6)
	end.EndOfStep = true
	for _, l := range []float64{0.032, 0.012} {
		crossCheck(t, l, false, 16, 0.1, 0.25, map[string]RunOptions{"2 µs": stepped(2e-6), "2 µs, end of step": end},
			map[string]float64{"2 µs": 0.1, "2 µs, end of step": 0.1})
	}
}
