//go:build soak

package linear

import "testing"

// Over 40 records of every kind, 95 % intervals hold the truth in 95 of 100 cases.
func TestCoverageSoak(t *testing.T) {
	for _, c := range apart {
		for _, form := range []Form{Direct, Weak, Instrumental} {
			share, all := covered(t, form, 40, c.lag, c.make)
			t.Logf("%-34s %-12s %.0f %%: %.3v", c.name, form, 100*all, share)
			if all < 0.88 {
				t.Errorf("%s, %s: %.0f %% of the intervals hold the truth: %.3v", c.name, form, 100*all, share)
			}
		}
	}
}
