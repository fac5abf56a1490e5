package bristle

import (
	"context"
	"strings"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// A dry axis is told that there is no bristle, not that force and motion do not belong together.
func TestDryAxisHasNoBristle(t *testing.T) {
	a := independent.Axis{M: 2, Friction: independent.Friction{Fc: 3, Sigma2: 5}}
	at := func(seed uint64, count float64) *record.Record {
		s := independent.Sines(seed, []float64{0.06, 0.03, 0.015}, []float64{0.5, 1.3, 2.9})
		reference := func(t float64) float64 { return (s(t) - s(0)) * min(1, 3*t) }
		tr := a.Simulate(independent.Run{Dt: 1e-3, N: 2000, Sampled: independent.Cascade(40, 300, 0, 1e-3, reference)})
		return tr.Record(independent.Sensors{Count: count, Velocity: -1, Force: 0.04, Seed: seed}, nil)
	}
	refused := 0
	for seed := uint64(1); seed < 2; seed++ {
		rec := at(seed, []float64{1e-5, 5e-5}[seed])
		_, err := Kalman(context.Background(), []*record.Record{rec}, Params(false), Options{Workers: 1}, nil)
		if err == nil {
			continue
		}
		if refused++; !strings.Contains(err.Error(), "no bristle in this record") {
			t.Errorf("dry, seed %d: %v", seed, err)
		}
	}
	if refused == 0 {
		t.Error("no dry record is refused: the test shows nothing")
	}
}
