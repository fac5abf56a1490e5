//go:build soak

package ball

import (
	"math"
	"testing"
)

const (
	soakSeeds     = 50
	coverageDraws = 200
)

// Over 200 draws of the noise, others for each case: bias, spread against the errors told, and how often the 95 % interval holds the truth.
func TestCoverage(t *testing.T) {
	truth := map[string]float64{"mu_roll": trueRoll, "mu_spin": trueSpin, "height": testHeight}
	for i, c := range []struct {
		name, motion string
		free         []string
		relative     float64
	}{
		{"known", "tilted", []string{"mu_roll", "height"}, 0.003},
		{"known with spin", "spun", []string{"mu_roll", "mu_spin", "height"}, 0.003},
		{"free", "spun", []string{"mu_roll", "mu_spin", "height", "Ixx", "Iyy", "Izz", "cx", "cy", "cz"}, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			held, of, accepted, worst := map[string]int{}, map[string]int{}, 0, 0.0
			square := map[string]float64{} // mean square of the errors, in those told
			for seed := range uint64(coverageDraws) {
				r := mustFit(t, Spec{FreeParams: c.free}, recorded(scipy(t, c.motion, 4), 1e-4, uint64(1000*(i+1))+seed))
				if r.Accepted {
					accepted++
				}
				for _, name := range c.free {
					want, ok := truth[name]
					if !ok {
						continue
					}
					v, se := value(t, r, name)
					square[name] += (v - want) * (v - want) / (se * se) / coverageDraws
					of[name]++
					if _, ci := r.Interval(name); ci != nil && ci[0] <= want && want <= ci[1] {
						held[name]++
					}
					if name == "mu_roll" {
						worst = max(worst, math.Abs(v-want)/want)
					}
				}
			}
			t.Logf("worst error of mu_roll %.3f %%, mean square of error over standard error %.3v, %v of %d intervals hold the truth, %d accepted",
				100*worst, square, held, coverageDraws, accepted)
			sum, all := 0, 0
			for name, n := range held { // 95 % of 200 are 190 ± 3.1
				if sum, all = sum+n, all+of[name]; n < 181 || n > 199 {
					t.Errorf("%d of %d intervals of %s hold the truth", n, of[name], name)
				}
			}
			if share := float64(sum) / float64(all); worst > c.relative || accepted != coverageDraws || share < 0.93 || share > 0.97 {
				t.Errorf("worst %.3g, %.1f %% of the intervals hold the truth, %d accepted", worst, 100*share, accepted)
			}
		})
	}
}

// Of 50 runs that slip for a while none is accepted.
func TestSlipIsRefusedOften(t *testing.T) {
	for seed := range uint64(soakSeeds) {
		m, mu := slipping(t, seed)
		r := mustFit(t, Spec{FreeParams: []string{"mu_roll", "mu_spin", "height"}}, recorded(m, 1e-4, seed))
		v, _ := value(t, r, "mu_roll")
		t.Logf("slide %.3f: mu_roll %.3g, contact %.2f lasting %.1f residual %.2f", mu, v, r.Slip.Contact, r.Slip.Lasting, r.Slip.Residual)
		if r.Accepted {
			t.Errorf("a run with a coefficient of %.3f was accepted: %+v", mu, r.Slip)
		}
	}
}
