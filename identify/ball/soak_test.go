//go:build soak

package ball

import (
	"math"
	"testing"
)

const soakSeeds = 50

// Over 50 draws of the noise: bias, spread against the errors told, and how often the 95 % interval holds the truth.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		name, motion string
		free         []string
		relative     float64
	}{
		{"known", "tilted", []string{"mu_roll", "height"}, 0.003},
		{"known with spin", "spun", []string{"mu_roll", "mu_spin", "height"}, 0.003},
		{"free", "spun", []string{"mu_roll", "mu_spin", "height", "Ixx", "Iyy", "Izz", "cx", "cy", "cz"}, 0.01},
	} {
		hits, accepted, sum, worst, sigma := 0, 0, 0.0, 0.0, 0.0
		for seed := range uint64(soakSeeds) {
			r := mustFit(t, Spec{Free: c.free}, recorded(scipy(t, c.motion, 4), 1e-4, seed+100))
			v, se := value(t, r, "mu_roll")
			if _, i := r.Interval("mu_roll"); i != nil && i[0] <= trueRoll && trueRoll <= i[1] {
				hits++
			}
			if r.Accepted {
				accepted++
			}
			sum += (v - trueRoll) / trueRoll / soakSeeds
			sigma += se / trueRoll / soakSeeds
			worst = max(worst, math.Abs(v-trueRoll)/trueRoll)
		}
		t.Logf("%s: mean error %.3f %%, worst %.3f %%, standard error %.3f %%, %d of %d intervals hold the truth, %d accepted", c.name, 100*sum, 100*worst, 100*sigma, hits, soakSeeds, accepted)
		// 95 % of 50 are 47.5 ± 1.5
		if worst > c.relative || hits < 43 || accepted != soakSeeds {
			t.Errorf("%s: worst %.3g, %d intervals hold the truth, %d accepted", c.name, worst, hits, accepted)
		}
	}
}

// Of 50 runs that slip for a while none is accepted.
func TestSlipIsRefusedOften(t *testing.T) {
	for seed := range uint64(soakSeeds) {
		m, mu := slipping(t, seed)
		r := mustFit(t, Spec{Free: []string{"mu_roll", "mu_spin", "height"}}, recorded(m, 1e-4, seed))
		v, _ := value(t, r, "mu_roll")
		t.Logf("slide %.3f: mu_roll %.3g, contact %.2f lasting %.1f residual %.2f", mu, v, r.Slip.Contact, r.Slip.Lasting, r.Slip.Residual)
		if r.Accepted {
			t.Errorf("a run with a coefficient of %.3f was accepted: %+v", mu, r.Slip)
		}
	}
}
