package machine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hilrig/identify/independent"
)

// Wild samples of positions and torques change nothing; a record without any stays as it is, jumps of friction and coarse encoders too.
func TestWildSamples(t *testing.T) {
	a := independent.RandomArm(5, 2)
	m := modelOf(t, a, 0.3, true, 1)
	spec := DefaultSpec()
	spec.Instruments = UseNone
	for seed := range uint64(3) {
		tr := a.FollowTour(independent.Tour(seed, 2, 0.15, 1.6), 2e-3, 10000)
		s := sensorsOf(tr, seed, 0.02)
		s.Count = []float64{0, 2 * math.Pi / 131072, 2 * math.Pi / 4096}[seed]
		clean := Recording(tr.Record(s))
		if out := withoutSpikes([]Recording{clean}); out[0][0] != clean[0] || out[0][1] != clean[1] {
			t.Errorf("seed %d: a clean record is mended", seed)
		}
		rng := rand.New(rand.NewPCG(seed, 5))
		spoiled := slices.Clone(clean)
		for i := range spoiled {
			c := *clean[i]
			c.Position, c.Force = slices.Clone(c.Position), slices.Clone(c.Force)
			for range 3 {
				at := 200 + rng.IntN(9000)
				c.Position[at] += 0.02 * (1 + rng.Float64())
				c.Position[at+1] -= 0.02 // two next to each other
				c.Force[200+rng.IntN(9000)] += 40
			}
			spoiled[i] = &c
		}
		want, err := Fit(t.Context(), m, spec, []Recording{clean}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Fit(t.Context(), m, spec, []Recording{spoiled}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		se := want.sys.errors(want.FreeParams)
		for j, k := range want.FreeParams {
			if off := math.Abs(got.Values[k]-want.Values[k]) / se[j]; off > 0.3 {
				t.Errorf("seed %d: %s moves by %.2g standard errors, %d warnings", seed, want.Base.Name(k), off, len(got.Warnings))
			}
		}
	}
}
