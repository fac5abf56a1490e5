package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
)

// What may be left of a current and of a voltage when a drive is off, by hand: a twentieth of the largest command of 100, as a current of
// 2 Ω or of 0.5 N·m/A; where the command tells none, of the first limit that is declared. Nothing is told of a drive that does not end.
func TestOffLimits(t *testing.T) {
	for _, c := range []struct {
		drive         plant.DriveKind
		k             float64 // N·m/A
		limits        []float64
		amps, voltage float64
	}{
		{plant.VoltageDrive, 0.5, []float64{8}, 2.5, 5}, {plant.CurrentDrive, 0.5, []float64{8}, 5, 0},
		{plant.EffortDrive, 0.5, []float64{8}, 10, 0},
		{plant.EffortDrive, 0, []float64{0, 8, 9}, 0.4, 0}, {plant.VelocityDrive, 0.5, []float64{8, 9}, 0.4, 0},
		{plant.VelocityDrive, 0.5, nil, 0, 0},
	} {
		s := compared(c.drive)
		s.Motor.K = c.k
		for _, ends := range []bool{true, false} {
			o := s.OffLimits(ends, 0, c.limits...)
			want := [4]float64{c.amps, c.voltage, math.Inf(1), 0}
			if c.drive == plant.VoltageDrive {
				want[2], want[3] = 0.25, 0.5
			}
			if !ends {
				want = [4]float64{0, 0, math.Inf(1), 0}
			}
			if got := [4]float64{o.Current, o.Voltage, o.Braking, o.BackEMF}; got != want || o.Slows != 0.5 {
				t.Errorf("drive %v, K %g, limits %v, ends %v: %v and %g rad/s², want %v and 0.5", c.drive, c.k, c.limits, ends, got, o.Slows, want)
			}
		}
	}
	// friction slows down what is known
	for _, change := range []func(*Spec){func(s *Spec) { s.Law = nil }, func(s *Spec) { s.Motor.J = 0 }} {
		s := compared(plant.CurrentDrive)
		if change(s); s.OffLimits(true, 0).Slows != 0 {
			t.Errorf("without a law or an inertia it slows down by %g rad/s²", s.OffLimits(true, 0).Slows)
		}
	}
	// below a thousandth of 50 rad/s, 200 times the noise, and of coupled axes 2 %, it rests; below 1 % a current brakes nothing
	for _, c := range []struct {
		noise   float64 // rad
		coupled bool
		rest    float64 // rad/s
	}{{0, false, 0.05}, {2e-4, false, 0.05}, {1e-3, false, 0.2}, {1e-3, true, 1}, {1e-2, true, 2}} {
		s := compared(plant.CurrentDrive)
		s.Coupled, s.MaxSpeed = c.coupled, 50
		if o := s.OffLimits(true, c.noise); math.Abs(o.RestSpeed-c.rest) > 1e-12 || math.Abs(o.MinBrakingSpeed-0.5) > 1e-12 || o.Loaded != c.coupled {
			t.Errorf("noise %g, coupled %v: %+v, want rest below %g rad/s", c.noise, c.coupled, o, c.rest)
		}
	}
}
