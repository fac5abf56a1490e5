package axis

import (
	"math"
	"testing"

	"hilrig/estimator"
)

// A loop of 1 kHz and samples at 200 Hz: what an axis would be put down to if it left its limits stands between the samples, is gone with
// the sample that tells nothing of it, and with forget. A body of 1 kg·m² under efforts that grow from 4 N·m: its position stands
// still (frozen), shows a hundredth (momentum), or the other way (runaway). To both sides.
func TestHintsStandBetweenSamples(t *testing.T) {
	for _, side := range []float64{1, -1} {
		spec := func() *Spec { s := frozenSpec(); s.SamplePeriod = 5e-3; return s }
		f := newFrozen(spec(), countNoise)
		m := newMomentum(newFrozen(spec(), countNoise))
		r := &runaway{f: newFrozen(spec(), countNoise)}
		for _, c := range []struct {
			name   string
			shown  float64 // of the motion
			step   func(s *estimator.Sample, u, opposes float64) Finding
			forget func()
		}{
			{"frozen", 0, func(s *estimator.Sample, u, _ float64) Finding {
				_, h := f.step(Tick{Energised: true}, s, u, 0, 0)
				return h
			}, f.forget},
			{"momentum", 0.01, func(s *estimator.Sample, u, _ float64) Finding {
				_, h := m.step(Tick{Energised: true}, s.Updated, false, s, u, 0, 0, 0)
				return h
			}, m.forget},
			{"runaway", -1, func(s *estimator.Sample, u, _ float64) Finding {
				_, h := r.step(Tick{Energised: true}, s.Updated, false, s, u, math.NaN(), 0, 0)
				return h
			}, r.forget},
		} {
			x, v, was, seen := 0.0, 0.0, Finding{}, 0
			for k := range 600 {
				u := 4.0
				if now := 1e-3*float64(k) - 0.2; now >= 0 {
					u = 8 + 40*now
					v += 1e-3 * u
					x += 1e-3 * v
				}
				s := estimator.Sample{Value: side * math.Round(c.shown*x/1e-3) * 1e-3, Updated: k%5 == 0}
				h := c.step(&s, side*u, side*(1-c.shown)*u)
				if s.Updated {
					if was = h; h.Fault != Fine {
						seen++
					}
				} else if h != was {
					t.Fatalf("%s, %+g, tick %d: %+v between samples, %+v at the sample", c.name, side, k, h, was)
				}
			}
			c.forget()
			if h := c.step(&estimator.Sample{}, 0, 0); seen < 2 || h.Fault != Fine {
				t.Errorf("%s, %+g: a hint at %d samples, %+v once it is forgotten", c.name, side, seen, h)
			}
		}
	}
}
