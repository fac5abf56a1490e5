//go:build soak

package bristle

import (
	"context"
	"math"
	"testing"
)

// The intervals of the filter hold the truth in 90 to 98 % of 50 records × 8 parameters, for every experiment.
func TestSoakCoverage(t *testing.T) {
	const records = 50
	for _, g := range rigs() {
		t.Run(g.name, func(t *testing.T) {
			g.run(1)
			var in [count]int
			var worst theta
			checks := 0
			for seed := range uint64(records) {
				s, err := Kalman(context.Background(), g.record(1000+seed), Params(false), Options{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				se := deviations(t, s)
				for i, p := range s.Params {
					if math.Abs(p.Value-g.truth[i]) < 1.96*se[i] {
						in[i]++
					}
					worst[i] = max(worst[i], math.Abs(p.Value/g.truth[i]-1))
				}
				if in, lim := s.Extra["innovation"].(float64), s.Extra["innovation_limit"].(float64); math.Abs(in-1) < lim {
					checks++
				}
			}
			all := 0
			for i, n := range in {
				all += n
				if worst[i] > limits[i] {
					t.Errorf("%s is off by %.2f %% once, limit %.1f %%", names[i], 100*worst[i], 100*limits[i])
				}
			}
			share := float64(all) / float64(count*records)
			t.Logf("held by parameter, of %d: %v; %.1f %% in all; self-check passed %d times; worst errors %.2g", records, in, 100*share, checks, worst)
			if share < 0.90 || share > 0.98 {
				t.Errorf("%.1f %% of the intervals hold the truth, want 90 to 98", 100*share)
			}
		})
	}
}
