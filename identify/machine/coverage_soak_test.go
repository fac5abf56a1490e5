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
