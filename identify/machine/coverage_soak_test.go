//go:build soak

package machine

import "testing"

// 50 seeds, 93 to 97 %.
func TestIntervalsHoldSoak(t *testing.T) {
	for _, s := range simulatedArms(t) {
		if c := coverage(t, s, 50); c < 0.93 || c > 0.97 {
			t.Errorf("%s: %.1f %% of the intervals hold the truth", s.name, 100*c)
		}
	}
}

// 50 seeds with white noise of the position, by which least squares is off; with a controller and without one.
func TestInstrumentsHoldSoak(t *testing.T) {
	open := simulatedArms(t)[0]
	open.name, open.clean = "open", cleanRecord(t, "open-1", 2)
	for _, s := range append(simulatedArms(t), open) {
		iv, ls, _ := instrumentCoverage(t, s, 50)
		if iv < 0.93 || iv > 0.985 || ls > iv-0.02 {
			t.Errorf("%s: %.1f %% of the intervals of instruments hold the truth, and %.1f %% of least squares", s.name, 100*iv, 100*ls)
		}
	}
}
