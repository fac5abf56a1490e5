//go:build soak

package bristle

import (
	"os"
	"strconv"
	"testing"
)

const soaking = true

// The intervals of the filter hold the truth in 93 to 97 % of 40 records, over all experiments, and in 90 % of each at least.
// SOAK_DRAWS changes the number of records.
func TestSoakCoverage(t *testing.T) {
	draws := 40
	if n, err := strconv.Atoi(os.Getenv("SOAK_DRAWS")); err == nil {
		draws = n
	}
	for _, method := range []string{"kalman", "presliding-linear"} {
		t.Run(method, func(t *testing.T) {
			list, known, fit := benches(), make([]map[string]float64, len(benches())), Kalman
			if method != "kalman" {
				list, known = presliders()
				fit = Presliding
			}
			held, all := 0, 0
			for i, b := range list {
				t.Run(b.name, func(t *testing.T) {
					var c tally
					for seed := range draws {
						c.draw(t, b, uint64(1000+seed), fit, known[i])
					}
					c.log(t, draws)
					held, all = held+c.held, all+c.all
					if c.share() < 0.90 {
						t.Errorf("%.1f %% of the intervals hold the truth, want 90 at least", 100*c.share())
					}
				})
			}
			if all == 0 {
				return // none was chosen
			}
			share := float64(held) / float64(all)
			t.Logf("%s: %.1f %% of %d intervals hold", method, 100*share, all)
			if share < 0.93 || share > 0.97 {
				t.Errorf("%.1f %% of the intervals hold the truth, want 93 to 97", 100*share)
			}
		})
	}
}
