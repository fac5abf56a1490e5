//go:build soak

package hil

import (
	"math"
	"testing"

	"hilrig/engine/reference"
)

// soak is set by `make soak`: the same tests, longer.
const soak = true

func seeds(n int) uint64 { return uint64(n) }

// Five minutes, or 1.2 million samples, of every rig of TestNoiselessRuns.
func TestSoakNoiseless(t *testing.T) { noiseless(t, 300) }

// Errors of the recursive least squares after 20 s, rms over 16 runs, with 0 to 50 % of the samples lost: in percent of the truth, and in
// their own standard errors, which must tell them to a factor of 1.6 (a rms of 16 values lies within 1.6 of the truth in 999 of 1000).
func TestSoakLossesInRLS(t *testing.T) {
	ref := reference.Spec{Kind: "multisine", Tones: []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 2.3}}}
	truth := [3]float64{7e-5, 1.5e-4, 15e-3}
	const runs = 16
	for _, rate := range []float64{1000, 400} {
		for _, loss := range []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5} {
			var err, own [3]float64
			windows := 0.0
			for seed := range uint64(runs) {
				f := newFree(t, &freeBoard{rate: rate, loss: loss}, seed, false, ref)
				f.drive(t)
				f.seconds(20)
				x := f.b.Est
				windows += x[12] / runs
				for i, p := range truth {
					e := x[4+i] - p
					err[i] += e * e / (p * p) / runs
					own[i] += e * e / (x[8+i] * x[8+i]) / runs
				}
			}
			for i := range err {
				err[i], own[i] = 100*math.Sqrt(err[i]), math.Sqrt(own[i])
				if own[i] > 1.6 || err[i] > [3]float64{1, 10, 1.5}[i] {
					t.Errorf("%g Hz, %g lost: parameter %d is off by %.2g %%, %.2f of its errors", rate, loss, i, err[i], own[i])
				}
			}
			t.Logf("| %g Hz | %2.0f %% | %.0f | %.2f, %.2f | %.2f, %.2f | %.2f, %.2f |", rate, 100*loss, windows, err[0], own[0], err[1], own[1],
				err[2], own[2])
		}
	}
}
