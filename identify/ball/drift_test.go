package ball

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// drifting adds to every coordinate of every marker a first-order Gauss-Markov process of this size (m) and memory (s).
func drifting(rec *Recording, size, memory float64, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 31))
	draw := func() r3.Vec { return r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()} }
	off := make([]r3.Vec, len(fiveMarkers))
	for k := range rec.Points {
		for j := range off {
			if k == 0 {
				off[j] = r3.Scale(size, draw())
			} else {
				stays := math.Exp(-(rec.Times[k] - rec.Times[k-1]) / memory)
				off[j] = r3.Add(r3.Scale(stays, off[j]), r3.Scale(size*math.Sqrt(1-stays*stays), draw()))
			}
			rec.Points[k][j] = r3.Add(rec.Points[k][j], off[j])
		}
	}
}

// Markers that drift move the height of the plane by their mean at least: with the variance 2·τ/T·(1 − τ/T·(1 − exp(−T/τ))) of the mean
// over T of a process with memory τ, over the number of markers. Its interval is no narrower, and it holds the truth.
func TestDriftIsInTheIntervals(t *testing.T) {
	const duration, size, memory = 2.0, 1e-4, 2.5
	free := []string{"mu_roll", "mu_spin", "height"}
	whole := scipy(t, "spun", duration)
	part := memory / duration
	least := 1.96 * size * math.Sqrt(2*part*(1-part*(1-math.Exp(-1/part)))/float64(len(fiveMarkers)))
	held := 0
	for seed := range uint64(4) {
		rec := recorded(whole, 1e-4, seed)
		drifting(rec, size, memory, seed)
		r := mustFit(t, Spec{FreeParams: free}, rec)
		for name, truth := range map[string]float64{"mu_roll": trueRoll, "mu_spin": trueSpin, "height": testHeight} {
			_, ci := r.Interval(name)
			if ci[0] <= truth && truth <= ci[1] {
				held++
			}
			if half := (ci[1] - ci[0]) / 2; name == "height" && half < least/2 {
				t.Errorf("seed %d: height ±%.2g m, its mean has ±%.2g m", seed, half, least)
			}
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "markers drift") || r.drift.rms < size/2 || r.drift.rms > 2*size {
			t.Errorf("seed %d: a drift of %g m is told as %.2g m: %q", seed, size, r.drift.rms, r.Warnings)
		}
	}
	if held < 10 {
		t.Errorf("%d of 12 intervals hold the truth", held)
	}
}

// Noise that is white is no drift, and its intervals are those of the fit.
func TestWhiteNoiseIsNoDrift(t *testing.T) {
	whole := scipy(t, "spun", 2)
	found := 0
	for seed := range uint64(4) {
		r := mustFit(t, Spec{FreeParams: []string{"mu_roll", "mu_spin", "height"}}, recorded(whole, 1e-4, seed))
		if r.drift.rms > 0 {
			found++
		}
		if _, ci := r.Interval("height"); ci[1]-ci[0] > 2*1e-5 {
			t.Errorf("seed %d: height ±%.2g m", seed, (ci[1]-ci[0])/2)
		}
	}
	if found > 0 {
		t.Errorf("%d of 4 recordings of white noise drift", found)
	}
}
