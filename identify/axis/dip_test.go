package axis

import (
	"math"
	"testing"

	"hilrig/identify/record"
)

// Sliding friction with its dip is found on the recorded motion well enough for a start, forward and mirrored.
func TestDip(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		rec := populationRecord(t, 10000, 2e-4, 1)
		for _, x := range [][]float64{rec.Position, rec.Velocity, rec.Force} {
			for k := range x {
				x[k] *= sign
			}
		}
		m, err := New(Spec{Law: "lugre", Drive: Force, Output: Velocity}, []*record.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		dip := m.dip()
		for name, within := range map[string]float64{"M": 0.05, "Fc": 0.1, "Fs": 0.3} {
			if x, want := dip[name], populationTruth[name]; math.Abs(x-want) > within*want {
				t.Errorf("%s is %g, made with %g", name, x, want)
			}
		}
		t.Log(dip)
	}
}
