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
		from, to int     // ms; 0: nothing in 1 s
		count    float64 // rad  50 of them in 20 ms come to what must change
	}{
		{"12 rad/s and back, held", bump(12), func(float64) float64 { return 20 }, 600, 660, 0}, // 10 rad/s at 0.45 s
		{"9 rad/s and back, held", bump(9), func(float64) float64 { return 20 }, 0, 0, 0},
		{"17 rad/s and back, held, counts of 2 mrad", bump(17), func(float64) float64 { return 20 }, 630, 690, 2e-3}, // 15 rad/s at 0.48 s
		{"14 rad/s and back, held, counts of 2 mrad", bump(14), func(float64) float64 { return 20 }, 0, 0, 2e-3},
		{"12 rad/s and back, a hundredth shows", bump(12), func(t float64) float64 { return 20 + 0.01*(bump(12)(t)-20) }, 600, 660, 0},
		{"12 rad/s and back, 3 % show", bump(12), func(t float64) float64 { return 20 + 0.03*(bump(12)(t)-20) }, 0, 0, 0},
		{"12 rad/s and back, at once", bump(12), bump(12), 0, 0, 0},
		{"12 rad/s and back, 40 ms late", bump(12), func(t float64) float64 { return bump(12)(max(0, t-0.04)) }, 0, 0, 0},
		{"20 rad/s more in a second, held", func(t float64) float64 { return 20 + 20*t }, func(float64) float64 { return 20 }, 850, 910, 0},
		{"20 rad/s more in a second, a lag of 4 s", func(t float64) float64 { return 20 + 20*t },
			func(t float64) float64 { return 20 + 20*(t-4*(1-math.Exp(-t/4))) }, 0, 0, 0},
		{"12 rad/s down and back, held", bump(-12), func(float64) float64 { return 20 }, 560, 610, 0}, // too fast from 0.46 s on
	} {
		for _, side := range []float64{1, -1} {
			x, s := 0.0, compared(plant.VelocityDrive)
			s.Mechanical.Count = c.count
			n, found := compare(s, 1000, func(k int, in *estimator.Inputs) (Tick, float64) {
				t := max(0, 1e-3*float64(k)-0.2) // the means need a while
				x += 1e-3 * c.speed(t)
				if in.Position = fresh(0, side*x); c.count > 0 {
					in.Position.Value = side * c.count * math.Round(x/c.count)
				}
				return Tick{Energised: true}, side * c.command(t)
			})
			if c.to == 0 {
				if found.Fault != Fine {
					t.Errorf("%s, %+g: %+v after %d ms", c.name, side, found, n)
				}
			} else if found.Fault != Disagree || found.Quantity != estimator.Position || n < c.from || n > c.to {
				t.Errorf("%s, %+g: %+v after %d ms, want %d to %d", c.name, side, found, n, c.from, c.to)
			} else if math.Abs(found.Value) > 4.5 { // rad  of way that is missing: 17 rad/s for a quarter of a second at most
				t.Errorf("%s, %+g: %g rad are missing", c.name, side, found.Value)
			}
		}
	}
}

// What answers a command directly stays the same while the command goes up and comes back within 0.8 s, less far than the two may be apart:
// a drive that holds its last command. It is told where the command has changed by more than the floor of that comparison (5 A, 4 N·m; of a
// winding 3 V) for 0.1 s, ten samples at least. One that answers by a part is sound, and so is a drive within its dead zone. To both sides.
func TestAnswerThatStaysTheSame(t *testing.T) {
	for _, c := range []struct {
		name          string
		drive         plant.DriveKind
		of            estimator.Quantity
		reading, size float64 // before, and of the change of the command
		share         float64 // of which the answer shows
		every         int     // ms
		from, to      int     // ms; 0: nothing in 1 s
		count         float64 // rad
	}{
		{"6 A of a current drive", plant.CurrentDrive, estimator.Current, 20, 6, 0, 1, 550, 590, 0}, // 5 A at 0.45 s
		{"4.8 A", plant.CurrentDrive, estimator.Current, 20, 4.8, 0, 1, 0, 0, 0},
		{"6 A, a fifth of it shows", plant.CurrentDrive, estimator.Current, 20, 6, 0.2, 1, 0, 0, 0},
		{"6 A, a tenth of it is noise", plant.CurrentDrive, estimator.Current, 20, 6, 0.1, 1, 550, 600, 0},
		{"6 A beside 1.2 A", plant.CurrentDrive, estimator.Current, 1.2, 6, 0, 1, 550, 590, 0},
		{"6 A in the dead zone", plant.CurrentDrive, estimator.Current, 0.8, 6, 0, 1, 0, 0, 0},
		{"6 A, 50 samples a second", plant.CurrentDrive, estimator.Current, 20, 6, 0, 20, 760, 820, 0},
		{"5 N·m of an effort drive", plant.EffortDrive, estimator.Effort, 20, 5, 0, 1, 545, 590, 0},
		{"3.8 N·m", plant.EffortDrive, estimator.Effort, 20, 3.8, 0, 1, 0, 0, 0},
		{"4 V of a winding", plant.VoltageDrive, estimator.Current, 5, 4, 0, 1, 530, 580, 0},
		{"2.9 V", plant.VoltageDrive, estimator.Current, 5, 2.9, 0, 1, 0, 0, 0},
		{"4 V of a winding, a third of it shows", plant.VoltageDrive, estimator.Current, 5, 4, 0.33, 1, 0, 0, 0},
		{"4 V of a winding, in the dead zone", plant.VoltageDrive, estimator.Current, 0.4, 4, 0, 1, 0, 0, 0},
		{"4 V of a winding, and a count of 0.2 rad", plant.VoltageDrive, estimator.Current, 5, 4, 0, 1, 530, 590, 0.2},
	} {
		for _, side := range []float64{1, -1} {
			s, x := compared(c.drive, c.of), 0.0
			s.Tick, s.SamplePeriod, s.Kalman.Count = 1e-3*float64(c.every), 1e-3*float64(c.every), c.count
			n, found := compare(s, 1000/c.every, func(k int, in *estimator.Inputs) (Tick, float64) {
				bump := c.size * math.Sin(math.Pi*min(1, max(0, float64(k)*s.Tick-0.2)/0.8))
				command, answer := c.reading+bump, c.reading+c.share*bump
				if c.drive == plant.VoltageDrive { // 2 ohm, and 0.5 V·s/rad at 10 rad/s
					command, answer = 2*c.reading+5+bump, c.reading+c.share*bump/2
					x += s.Tick * side * 10
				}
				if in.Position = fresh(0, x); c.count > 0 {
					in.Position.Value = c.count * math.Round(x/c.count)
				}
				*in.Of(c.of) = fresh(k, side*answer)
				return Tick{Energised: true}, side * command
			})
			if ms := n * c.every; (found.Fault == Disagree) != (c.to > 0) || c.to > 0 && (found.Quantity != c.of || ms < c.from || ms > c.to ||
				math.Abs(found.Value) > c.size || found.Value*side > 0) {
				t.Errorf("%s, %+g: %+v after %d ms, want %d to %d", c.name, side, found, ms, c.from, c.to)
			}
		}
	}
}

// A coarse encoder makes the command of a winding swing between a voltage that drives a current and one that its brushes take: the mean
// current stays the same.
func TestAnswerOfBrushes(t *testing.T) {
	s := compared(plant.VoltageDrive, estimator.Current)
	s.Motor.BrushDrop = 10
	for _, c := range []struct{ each, of int }{{1, 2}, {3, 6}, {1, 3}, {1, 5}} { // samples
		for _, side := range []float64{1, -1} {
			_, found := compare(s, 1000, func(k int, in *estimator.Inputs) (Tick, float64) {
				u, i := 30.0, 10.0 // 2 ohm
				if k%c.of < c.each {
					u, i = 9*math.Sin(math.Pi*(1e-3*float64(k)-0.5)), 0
				}
				in.Position, in.Current = fresh(k, 0), fresh(k, side*i)
				return Tick{Energised: true}, side * u
			})
			if found.Fault != Fine {
				t.Errorf("%+g, %d of %d samples: %+v", side, c.each, c.of, found)
			}
		}
	}
}
