package identify

import (
	"math"
	"slices"
	"testing"

	"hilrig/identify/independent"
)

// A force, smooth or held from sample to sample, and a motion that stops and turns, recorded slowly and without noise to speak of: direct
// and weak form of a regression differ by more than chance, and so does what the force may do between its samples. Intervals hold that.
func TestSlowRecordOfSmoothForce(t *testing.T) {
	seeds := uint64(5)
	if soak {
		seeds = 20
	}
	for name, between := range map[string]independent.Between{"smooth": independent.Exact, "held": independent.Held} {
		for _, rate := range []float64{50, 100, 200} {
			held, of := 0, 0
			var apart []float64 // of the inertia, as a share
			for seed := range seeds {
				b := newBench(900+seed, 10)
				b.dt, b.n = 1/rate, int(25*rate)
				o := attempt(kind{}, sixTones(b, seed, between))
				if o.result == nil {
					t.Errorf("%s, %g Hz, seed %d: %s", name, rate, seed, o.reason)
					continue
				}
				for i := range o.result.Parameters {
					p := &o.result.Parameters[i]
					if p.Name == "J" {
						apart = append(apart, math.Abs(p.Value/b.axis.M-1))
					}
					truth, ok := map[string]float64{"J": b.axis.M, "Fc": b.axis.Friction.Fc, "Fv": b.axis.Friction.Sigma2}[p.Name]
					if ci := o.result.Interval(p); ok && ci != nil {
						off := (truth - (ci[1]+ci[0])/2) / (ci[1] - ci[0]) * 2
						if of++; math.Abs(off) <= 1 {
							held++
						}
						t.Logf("%s, %g Hz, seed %d: %s %.5g, truth %.5g, %.2f of its half interval, %s", name, rate, seed, p.Name, p.Value, truth, off,
							o.verdict)
					}
				}
			}
			t.Logf("%s, %g Hz: %d of %d", name, rate, held, of)
			if slices.Sort(apart); len(apart) > 0 && apart[len(apart)/2] > 0.01 { // the mean of a held force over a sample of 20 ms makes 1.5 %
				t.Errorf("%s, %g Hz: J is off by %.2g in the middle", name, rate, apart[len(apart)/2])
			}
			if float64(held) < 0.85*float64(of) {
				t.Errorf("%s, %g Hz: %d of %d values in their intervals", name, rate, held, of)
			}
		}
	}
}
