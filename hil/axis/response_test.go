package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// A velocity drive of 100 rad/s that goes on at a speed while its command goes 12 rad/s up and comes back within 0.8 s: it holds its last
// command, though half of that speed would be no fault. One that answers at all is sound: a first-order lag of up to 4 s, by its closed
// form under a ramp, or 40 ms of delay. So is one whose command changes by 9 rad/s. To both sides.
func TestVelocityDriveThatHoldsItsCommand(t *testing.T) {
	bump := func(size float64) func(t float64) float64 {
		return func(t float64) float64 { return 20 + size*math.Sin(math.Pi*t/0.8) }
	}
	for _, c := range []struct {
		name     string
		command  func(t float64) float64 // rad/s
		speed    func(t float64) float64
		from, to int // ms; 0: nothing in 1 s
	}{
		{"12 rad/s and back, held", bump(12), func(float64) float64 { return 20 }, 600, 660}, // 10 rad/s at 0.45 s
		{"9 rad/s and back, held", bump(9), func(float64) float64 { return 20 }, 0, 0},
		{"12 rad/s and back, at once", bump(12), bump(12), 0, 0},
		{"12 rad/s and back, 40 ms late", bump(12), func(t float64) float64 { return bump(12)(max(0, t-0.04)) }, 0, 0},
		{"20 rad/s more in a second, held", func(t float64) float64 { return 20 + 20*t }, func(float64) float64 { return 20 }, 850, 910},
		{"20 rad/s more in a second, a lag of 4 s", func(t float64) float64 { return 20 + 20*t },
			func(t float64) float64 { return 20 + 20*(t-4*(1-math.Exp(-t/4))) }, 0, 0},
		{"12 rad/s down and back, held", bump(-12), func(float64) float64 { return 20 }, 560, 610}, // too fast from 0.46 s on
	} {
		for _, side := range []float64{1, -1} {
			x := 0.0
			n, found := compare(compared(plant.VelocityDrive), 1000, func(k int, in *estimator.Inputs) (Tick, float64) {
				t := max(0, 1e-3*float64(k)-0.2) // the means need a while
				x += 1e-3 * c.speed(t)
				in.Position = fresh(0, side*x)
				return Tick{Energised: true}, side * c.command(t)
			})
			if c.to == 0 {
				if found.Fault != Fine {
					t.Errorf("%s, %+g: %+v after %d ms", c.name, side, found, n)
				}
			} else if found.Fault != Disagree || found.Quantity != estimator.Position || n < c.from || n > c.to {
				t.Errorf("%s, %+g: %+v after %d ms, want %d to %d", c.name, side, found, n, c.from, c.to)
			} else if math.Abs(found.Value) > 3 { // rad  of way that is missing: 12 rad/s for a quarter of a second at most
				t.Errorf("%s, %+g: %g rad are missing", c.name, side, found.Value)
			}
		}
	}
}
