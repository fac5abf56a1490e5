//go:build soak

package linear

import "testing"

// Over 40 records of every kind, 95 % intervals hold the truth in 95 of 100 cases, for every form and parameter.
func TestCoverageSoak(t *testing.T) {
	for _, form := range []Form{Direct, Weak, Instrumental} {
		sum, total := map[string]float64{}, 0.0
		for _, c := range apart {
			share, all := covered(t, form, 40, c.lag, c.make)
			t.Logf("%-34s %-12s %.0f %%: %.3v", c.name, form, 100*all, share)
			if all < 0.88 {
				t.Errorf("%s, %s: %.0f %% of the intervals hold the truth: %.3v", c.name, form, 100*all, share)
			}
			for name, x := range share {
				sum[name] += x / float64(len(apart))
			}
			total += all / float64(len(apart))
		}
		t.Logf("%s: %.1f %%: %.3v", form, 100*total, sum)
		if total < 0.93 || total > 0.97 {
			t.Errorf("%s: %.1f %% of the intervals hold the truth", form, 100*total)
		}
		for name, x := range sum { // 320 records, of which some have the same noise
			if x < 0.90 {
				t.Errorf("%s: %.1f %% of the intervals of %s hold the truth", form, 100*x, name)
			}
		}
	}
}

// So too where friction builds up behind reversals.
func TestBuiltUpCoverageSoak(t *testing.T) {
	for _, form := range []Form{Direct, Instrumental} {
		for _, length := range []float64{0, 2e-5, 5e-5, 1e-4} {
			share, all := smallCoverage(t, form, 60, length)
			t.Logf("%s, bristles of %g m: %.1f %%: %.3v", form, length, 100*all, share)
			if all < 0.92 || share["M"] < 0.88 {
				t.Errorf("%s, bristles of %g m: %.1f %% of the intervals hold the truth: %.3v", form, length, 100*all, share)
			}
		}
	}
}
