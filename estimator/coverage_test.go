package estimator

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/plant"
)

// Inertia, friction and offset lie in their 95 % intervals as often as these say, in many draws of the noise, behind reversals with
// presliding and a Stribeck dip as with Coulomb's friction. Model and truth differ in the inertia.
func TestRLSCoverage(t *testing.T) { rlsCoverage(t, 12, []float64{500}, []bool{false}, 0.5, 1.5) }

// rlsCoverage tries samples at some rates (Hz) and laws. The rms of the errors, as multiples of their standard errors, lies between low
// and high; that of the inertia may be half, as its error holds all timings of commands that may be, and the draws have one.
func rlsCoverage(t *testing.T, draws int, rates []float64, coulomb []bool, low, high float64) {
	for _, rate := range rates {
		for _, dry := range coulomb {
			t.Run(fmt.Sprintf("%g Hz, Coulomb %t", rate, dry), func(t *testing.T) {
				inside, square := [rlsN]int{}, [rlsN]float64{}
				for i := range draws {
					c := interrupted{drive: plant.VoltageDrive, rate: rate, guess: 1 / (1 + 0.1*float64(i%7)), coulomb: dry, ahead: true}
					r := c.run(t, 25, 1000+uint64(i))
					var v, se [rlsN]float64
					r.Values(v[:])
					r.StdErrs(se[:])
					for k, truth := range [rlsN]float64{truthJ, truthFv, truthFc, 0} {
						off := (v[k] - truth) / se[k]
						if math.IsInf(se[k], 1) {
							t.Fatalf("draw %d: %s not found", i, names[k])
						}
						if math.Abs(off) <= 1.96 {
							inside[k]++
						}
						square[k] += off * off / float64(draws)
					}
				}
				for k, n := range inside {
					rms := math.Sqrt(square[k])
					t.Logf("%s in its interval %d times of %d, rms %.2f errors", names[k], n, draws, rms)
					if n*100 < 90*draws || rms < low && k != PInertia || rms < 0.5 || rms > high {
						t.Errorf("%s in its interval %d times of %d, rms %.2f errors, want %g to %g", names[k], n, draws, rms, low, high)
					}
				}
			})
		}
	}
}
