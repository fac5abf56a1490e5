//go:build soak

package machine

import "testing"

// 50 seeds: the binomial bounds of 95 % for independent intervals of 650 and 1250, widened as those of one seed go together.
func TestIntervalsHoldSoak(t *testing.T) {
	for _, s := range simulatedArms(t) {
		if c := coverage(t, s, 50); c < 0.92 || c > 0.995 {
			t.Errorf("%s: %.1f %% of the intervals hold the truth", s.name, 100*c)
		}
	}
}

// 50 seeds with white noise of the position, by which least squares is off.
func TestInstrumentsHoldSoak(t *testing.T) {
	for _, s := range simulatedArms(t) {
		iv, ls := instrumentCoverage(t, s, 50)
		if iv < 0.92 || ls > iv-0.05 { // the intervals of instruments are wider than they need be: 99.5 and 99.8 %
			t.Errorf("%s: %.1f %% of the intervals of instruments hold the truth, and %.1f %% of least squares", s.name, 100*iv, 100*ls)
		}
	}
}
