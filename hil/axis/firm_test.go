package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/estimator"
)

// A contact of 100 N·m/rad gives way by nine counts of 1 mrad where the effort changes by 0.9 N·m. One that has not, and is pushed by
// more than 1.1 N·m, is frozen when an axis of 1 kg·m² has gone 30 counts against 1.1 N·m, though the file's 1 N·m, twice, and 1 N·m
// of the drive would keep it. By hand, to both sides: 20·ln(E/(E − ΔF)) ms until the mean of the effort has changed so much, and √(60
// mrad/(E − 1.1)) s.
func TestContactThatMustGiveWay(t *testing.T) {
	for _, c := range []struct {
		name   string
		sigma0 float64                                    // N·m/rad
		course func(t float64) (position, effort float64) // rad, N·m
		want   float64                                    // s; 0: never in 2 s
	}{
		{"1.5 N·m", 100, func(float64) (float64, float64) { return 0, 1.5 }, 0.018 + math.Sqrt(60e-3/0.4)},
		{"2.9 N·m", 100, func(float64) (float64, float64) { return 0, 2.9 }, 0.007 + math.Sqrt(60e-3/1.8)},
		{"1.12 N·m", 100, func(float64) (float64, float64) { return 0, 1.12 }, 0.033 + math.Sqrt(60e-3/0.02)},
		{"1.09 N·m", 100, func(float64) (float64, float64) { return 0, 1.09 }, 0},
		{"stiff enough for 1.44 N·m", 160, func(float64) (float64, float64) { return 0, 1.5 }, 0.064 + math.Sqrt(60e-3/0.4)},
		{"stiff enough for 1.53 N·m", 170, func(float64) (float64, float64) { return 0, 1.5 }, 0},
		{"a contact that does not yield", 0, func(float64) (float64, float64) { return 0, 1.5 }, 0},
		{"it gives way as one three times as stiff does", 100, func(t float64) (float64, float64) {
			f := 1.5 * min(1, t/0.3)
			return 1e-3 * math.Round(f/300/1e-3), f
		}, 0},
		{"one nine times as stiff", 100, func(t float64) (float64, float64) {
			f := 1.5 * min(1, t/0.3)
			return 1e-3 * math.Floor(f/900/1e-3), f
		}, 0.645},
		{"an effort that came before the number stood", 100, func(t float64) (float64, float64) { return min(t, 0.2), 1.5 }, 0},
		{"… of an axis that moves in every sample", 100, func(t float64) (float64, float64) { return min(4*t, 0.8), 1.5 }, 0},
		{"… that came after it", 100, func(t float64) (float64, float64) {
			if t < 0.205 {
				return min(t, 0.2), 0
			}
			return 0.2, 1.5
		}, 0.223 + math.Sqrt(60e-3/0.4)},
		{"no contact follows 100 Hz", 100, func(t float64) (float64, float64) {
			return 0, 0.7 * (1 + 2*math.Sin(2*math.Pi*100*t)) * min(1, t/0.05)
		}, 0},
		{"60 ms to each side", 100, func(t float64) (float64, float64) { return 0, 2 * math.Copysign(1, math.Sin(2*math.Pi*t/0.12)) }, 0},
	} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.Law.(*friction.LuGre).Sigma0 = c.sigma0
			if c.sigma0 == 0 {
				s.Law = &friction.Coulomb{Fc: 1}
			}
			got, found := trip(newFrozen(s, countNoise), func(t float64) (x, u, i, load float64) {
				x, u = c.course(t)
				return side * x, side * u, 0, 0
			})
			if math.Abs(got-c.want) > 12e-3 || c.want > 0 &&
				(found.Fault != Frozen || found.Quantity != estimator.Position || found.Value*side < 0.03) {
				t.Errorf("%s, %+g: %+v after %g s, want %g", c.name, side, found, got, c.want)
			}
		}
	}
	// what the drive made in a gap is not known: the contact may have given way then; with the drive off there is no effort
	for _, off := range []bool{false, true} {
		f, got := newFrozen(func() *Spec {
			s := frozenSpec()
			s.Law.(*friction.LuGre).Sigma0 = 100
			return s
		}(), countNoise), 0
		f.step(Tick{Energised: true}, &estimator.Sample{Updated: true}, 0, 0, 0)
		if f.forget(); off {
			f.step(Tick{}, &estimator.Sample{Updated: true}, 0, 0, 0)
		}
		for k := 1; k < 2000 && got == 0; k++ {
			if bad, _ := f.step(Tick{Energised: true}, &estimator.Sample{Updated: true}, 1.5, 0, 0); bad.Fault != Fine {
				got = k
			}
		}
		if off != (got > 0) {
			t.Errorf("behind a gap, drive off %v: found after %d ms", off, got)
		}
	}
}
