package linear

import (
	"math"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// small is motion of a few millimetres in a servo: a bristle that gives way along the length given (m) is behind every reversal for a good
// part of it. 0: rigid friction.
func small(seed uint64, length float64) *record.Record {
	a := sliding
	if length > 0 {
		a.Friction.Sigma0, a.Friction.Sigma1 = a.Friction.Fc/length, 40
	}
	s := independent.Sines(seed, []float64{4e-3, 2e-3, 1e-3}, []float64{0.9, 2.3, 5.2})
	reference := func(t float64) float64 { return (s(t) - s(0)) * min(1, t) }
	tr := a.Simulate(independent.Run{Dt: 1e-3, N: 10000, Sampled: independent.Cascade(40, 300, 0, 1e-3, reference)})
	return tr.Record(independent.Sensors{Count: 5e-7, Velocity: -1, Force: 0.04, Seed: seed}, reference)
}

// smallCoverage is covered for motion in which friction builds up.
func smallCoverage(t *testing.T, form Form, draws uint64, length float64) (share map[string]float64, all float64) {
	return covered(t, form, draws, 0.5e-3, func(seed uint64) *record.Record { return small(seed+1, length) })
}

// Intervals hold where friction builds up behind reversals, and nothing is left out where it jumps.
func TestFrictionThatBuildsUp(t *testing.T) {
	for _, length := range []float64{1e-4, 5e-5} {
		share, all := smallCoverage(t, Direct, 12, length)
		t.Logf("bristles of %g m: %.0f %% of the intervals hold the truth: %.2v", length, 100*all, share)
		if all < 0.86 || share["M"] < 0.8 { // 60 intervals; 72 % without what is left out
			t.Errorf("bristles of %g m: %.0f %% of the intervals hold the truth: %.2v", length, 100*all, share)
		}
	}
	for _, length := range []float64{0, 1e-4} {
		r, err := InverseDynamics(small(1, length), DefaultSpec())
		if err != nil {
			t.Fatal(err)
		}
		if left := r.build[0]; (left > 0) != (length > 0) || left > 15*length {
			t.Errorf("bristles of %g m: %.2g m behind a reversal are left out", length, left)
		}
	}
}

// Rounding of the position makes more noise of a fast swing than of a slow one. In a chirp the fast swings are the slow motion: that its
// rows are noisier is no reason to leave them out.
func TestNoisierRowsStay(t *testing.T) {
	a := independent.Axis{M: 0.002, Friction: independent.Friction{Fc: 0.04, Sigma2: 0.0054}}
	for seed := range uint64(2) {
		chirp := func(t float64) float64 { // 0.2 to 8 Hz
			return 0.3 * math.Sin(2*math.Pi*(0.2*t+0.39*t*t)+4*float64(seed)) * min(1, t/0.2)
		}
		tr := a.Simulate(independent.Run{Dt: 1e-3, N: 10000, Force: chirp, Intersample: independent.Held})
		rec := tr.Record(independent.Sensors{Count: 2 * math.Pi / 4096, Velocity: -1, Force: 0.001 * float64(seed), Seed: 4 * seed}, nil)
		r, err := InverseDynamics(rec, DefaultSpec())
		if err != nil {
			t.Fatal(err)
		}
		if r.Fit.Rows < 600 { // of 980; 225 if the square of what is left over decides alone
			t.Errorf("phase %d: %d rows are fitted", seed, r.Fit.Rows)
		}
	}
}
