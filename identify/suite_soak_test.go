//go:build soak

package identify

import "testing"

// The whole suite, with the table for docs/evidence/identify-trust.md.
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

// The whole suite of machines, with the numbers for docs/evidence/identify.md.
func TestWholeSuiteOfMachines(t *testing.T) {
	for joints := 1; joints <= 4; joints++ {
		wrong, _, trials, alarms, clean := armSuite(t, joints, 5, nil)
		if float64(wrong) > 0.01*float64(trials) {
			t.Errorf("%d joints: %d of %d results are wrong under the verdict identified", joints, wrong, trials)
		}
		if float64(alarms) > 0.05*float64(clean) {
			t.Errorf("%d joints: %d of %d clean records are not identified", joints, alarms, clean)
		}
	}
}

// Every kind of record, as a machine of one joint and as an axis.
func TestAllKindsAsAnAxis(t *testing.T) { asAnAxis(t, 90, 5, func(armKind) bool { return true }) }

// Three thousand random runs.
func TestManyRandomRunsEndWell(t *testing.T) { randomRuns(t, 1000, 3000) }
