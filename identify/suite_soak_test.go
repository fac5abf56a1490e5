//go:build soak

package identify

import "testing"

// The whole suite, with the table for docs/identify-trust.md.
func TestWholeSuite(t *testing.T) {
	for _, w := range append([]way{everyday}, ways...) {
		t.Run(w.name, func(t *testing.T) {
			seeds := 5
			if w.slow {
				seeds = 2
			}
			wrong, trials, alarms, clean := suite(t, w, seeds)
			if wrong > 0 {
				t.Errorf("%d of %d results are wrong under the verdict identified", wrong, trials)
			}
			if !w.strict && float64(alarms) > 0.05*float64(clean) {
				t.Errorf("%d of %d clean records are not identified", alarms, clean)
			}
		})
	}
}

// Three thousand random runs.
func TestManyRandomRunsEndWell(t *testing.T) { randomRuns(t, 1000, 3000) }
