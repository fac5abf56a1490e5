package identify

import (
	"math"
	"testing"
)

// A smooth force and a motion that stops and turns, recorded slowly and without noise to speak of: direct and weak form of a regression differ
// by more than chance, and intervals hold both.
func TestSlowRecordOfSmoothForce(t *testing.T) {
	seeds, rates := uint64(3), []float64{100, 200}
	if soak { // at 50 Hz J is up to four half intervals off: not mended
		seeds, rates = 20, append(rates, 50)
	}
	for _, rate := range rates {
		held, of := 0, 0
		for seed := range seeds {
			b := newBench(900+seed, 10)
			b.dt, b.n = 1/rate, int(25*rate)
			o := attempt(kind{}, sixTones(b, seed))
			if o.result == nil {
				t.Errorf("%g Hz, seed %d: %s", rate, seed, o.reason)
				continue
			}
			for i := range o.result.Parameters {
				p := &o.result.Parameters[i]
				truth, ok := map[string]float64{"J": b.axis.M, "Fc": b.axis.Friction.Fc, "Fv": b.axis.Friction.Sigma2}[p.Name]
				if ci := o.result.Interval(p); ok && ci != nil {
					off := (truth - (ci[1]+ci[0])/2) / (ci[1] - ci[0]) * 2
					if of++; math.Abs(off) <= 1 {
						held++
					}
					t.Logf("%g Hz, seed %d: %s %.5g, truth %.5g, %.2f of its half interval, %s", rate, seed, p.Name, p.Value, truth, off, o.verdict)
				}
			}
		}
		t.Logf("%g Hz: %d of %d", rate, held, of)
		if float64(held) < 0.85*float64(of) {
			t.Errorf("%g Hz: %d of %d values in their intervals", rate, held, of)
		}
	}
}
