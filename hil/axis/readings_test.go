package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// compared is an axis at 1 kHz that measures all of these, with a largest command of 100.
func compared(drive plant.DriveKind, measured ...estimator.Quantity) *Spec {
	s := &Spec{Drive: drive, Tick: 1e-3, SamplePeriod: 1e-3, TopCommand: 100, Motor: plant.Motor{R: 2, K: 0.5, J: 1},
		Law: &friction.LuGre{Fc: 0.5, Fs: 1, Sigma0: 1e3, Vs: 1}}
	s.Mechanical = estimator.MechanicalSpec{VelocityNoise: 0.1, EffortNoise: 0.2, TopSpeed: 50}
	s.Kalman = estimator.KalmanSpec{VelocityNoise: 0.1, CurrentNoise: 0.2, TopSpeed: 50}
	s.Channels[estimator.Position] = true
	for _, q := range measured {
		s.Channels[q] = true
	}
	return s
}

// Each comparison by hand, beyond its floor and a quarter (or a half) of both for 0.1 s, on both sides and to both signs.
func TestComparisons(t *testing.T) {
	shared := compared(plant.EffortDrive, estimator.Velocity)
	shared.Mechanical.VelocityShare = 0.1
	brushed := func(q estimator.Quantity) *Spec {
		s := compared(plant.VoltageDrive, q)
		s.Motor.BrushDrop = 1
		return s
	}
	type numbers struct{ command, current, velocity, effort, voltage, speed float64 }
	for _, c := range []struct {
		name     string
		s        *Spec
		n        numbers
		of       estimator.Quantity
		off, lim float64 // 0: nothing is found
	}{
		// floor 3 + 5·0.2/0.5 = 5 A, command 10 A: 5 + 0.25·(10 + x) = x − 10 at x = 70/3
		{"current too large", compared(plant.CurrentDrive, estimator.Current), numbers{command: 10, current: 23.4}, estimator.Current, 13.4,
			13.35},
		{"current not too large", compared(plant.CurrentDrive, estimator.Current), numbers{command: 10, current: 23.3}, 0, 0, 0},
		{"current too small", compared(plant.CurrentDrive, estimator.Current), numbers{command: 10, current: 1.9}, estimator.Current, -8.1,
			7.975},
		{"current not too small", compared(plant.CurrentDrive, estimator.Current), numbers{command: 10, current: 2.1}, 0, 0, 0},
		{"current reversed", compared(plant.CurrentDrive, estimator.Current), numbers{command: 10, current: -10}, estimator.Current, -20, 10},
		{"current of an effort drive, 10 N·m are 20 A", compared(plant.EffortDrive, estimator.Current), numbers{command: 10, current: 0},
			estimator.Current, -20, 13},
		{"right", compared(plant.EffortDrive, estimator.Current), numbers{command: 10, current: 20}, 0, 0, 0},
		{"effort of a current drive, 10 A are 5 N·m", compared(plant.CurrentDrive, estimator.Effort), numbers{command: 10, effort: -5},
			estimator.Effort, -10, 5},
		{"right", compared(plant.CurrentDrive, estimator.Effort), numbers{command: 10, effort: 5}, 0, 0, 0},
		{"effort of an effort drive", compared(plant.EffortDrive, estimator.Effort), numbers{command: 10, effort: 40}, estimator.Effort, 30,
			16.5},
		{"effort of an effort drive, not too large", compared(plant.EffortDrive, estimator.Effort), numbers{command: 10, effort: 21}, 0, 0, 0},
		{"tacho with a share of noise of 10 %", shared, numbers{speed: 3, velocity: 6.5}, 0, 0, 0},
		{"… beyond it", shared, numbers{speed: 3, velocity: 8}, estimator.Velocity, 5, 4.45},
		// floor 0.5 + 0.1 rad/s
		{"tacho too large", compared(plant.EffortDrive, estimator.Velocity), numbers{speed: 3, velocity: 5.9}, estimator.Velocity, 2.9, 2.825},
		{"tacho not too large", compared(plant.EffortDrive, estimator.Velocity), numbers{speed: 3, velocity: 5.7}, 0, 0, 0},
		{"tacho reversed", compared(plant.VelocityDrive, estimator.Velocity), numbers{speed: 3, velocity: -3}, estimator.Velocity, -6, 2.1},
		{"tacho of a voltage drive", compared(plant.VoltageDrive, estimator.Velocity), numbers{speed: 3, velocity: 0}, estimator.Velocity, -3,
			1.35},
		// floor 5 V
		{"applied voltage smaller", compared(plant.VoltageDrive, estimator.Voltage), numbers{command: 20, voltage: 0.1}, 0, 0, 0},
		{"applied voltage larger", compared(plant.VoltageDrive, estimator.Voltage), numbers{command: 20, voltage: 41}, estimator.Voltage, 21,
			20.25},
		{"applied voltage reversed", compared(plant.VoltageDrive, estimator.Voltage), numbers{command: 20, voltage: -20}, estimator.Voltage, -40,
			15},
		// (20 − 0.5·8)/2 = 8 A; floor 1 + 2.5 A, half
		{"current beyond voltage and motion", compared(plant.VoltageDrive, estimator.Current), numbers{command: 20, speed: 8, current: 32},
			estimator.Current, 24, 23.5},
		{"current not beyond", compared(plant.VoltageDrive, estimator.Current), numbers{command: 20, speed: 8, current: 30}, 0, 0, 0},
		{"current below, whatever it is", compared(plant.VoltageDrive, estimator.Current), numbers{command: 20, speed: 8, current: -7}, 0, 0, 0},
		// 4 N·m; 5·0.2 + 2.5·0.5 N·m of the winding, or 5·(0.2 + 0.5·0.2) + 0.25 of the current
		{"effort of a voltage drive", compared(plant.VoltageDrive, estimator.Effort), numbers{command: 20, speed: 8, effort: -1},
			estimator.Effort, -5, 4.75},
		// (21 − 1 − 0.5·8)/2 = 8 A again; 2 V more of the floor
		{"current beyond voltage, brushes and motion", brushed(estimator.Current), numbers{command: 21, speed: 8, current: 34},
			estimator.Current, 26, 25.5},
		{"current not beyond", brushed(estimator.Current), numbers{command: 21, speed: 8, current: 32}, 0, 0, 0},
		{"effort beside brushes", brushed(estimator.Effort), numbers{command: 21, speed: 8, effort: -2}, estimator.Effort, -6, 5.75},
		{"effort beside brushes, not too small", brushed(estimator.Effort), numbers{command: 21, speed: 8, effort: -0.9}, 0, 0, 0},
		{"effort of a voltage drive beside a current", compared(plant.VoltageDrive, estimator.Effort, estimator.Current),
			numbers{command: 20, speed: 8, current: 8, effort: 0.5}, estimator.Effort, -3.5, 2.875},
		{"effort of a velocity drive beside a current: Fs", compared(plant.VelocityDrive, estimator.Effort, estimator.Current),
			numbers{current: 10, effort: -1}, estimator.Effort, -6, 4.5},
		{"effort of a velocity drive alone", compared(plant.VelocityDrive, estimator.Effort), numbers{command: 50, speed: 50, effort: -1}, 0, 0,
			0},
	} {
		for _, side := range []float64{1, -1} {
			r := newReadings(c.s)
			found, n := Finding{}, 0
			for ; n < 1000 && found.Fault == Fine; n++ {
				in := &estimator.Inputs{}
				for q, x := range [estimator.Quantities]float64{c.n.speed * 1e-3 * float64(n), c.n.current, c.n.velocity, c.n.effort, c.n.voltage} {
					if c.s.Channels[q] {
						*in.Of(estimator.Quantity(q)) = estimator.Sample{Value: side * (x + 1e-9*float64(n%2)), Updated: true}
					}
				}
				found = r.step(Tick{Energised: true}, in, side*c.n.command, nil)
				if math.Abs(r.speed()-side*c.n.velocity) > 1e-6 && n > 3 {
					t.Fatalf("%s: measured speed %g", c.name, r.speed())
				}
			}
			if (found.Fault == Disagree) != (c.off != 0) || c.off != 0 &&
				(found.Quantity != c.of || math.Abs(found.Value-side*c.off) > 0.05*math.Abs(c.off) || math.Abs(found.Limit-c.lim) > 0.15*c.lim ||
					n < 100 || n > 220) {
				t.Errorf("%s, %+g: %+v after %d ms, want %g, limit %g", c.name, side, found, n, side*c.off, c.lim)
			}
		}
	}
}

// A reading that was right for a second and is off from then on; one that changes by little while the other swings is not frozen.
func TestReadingsInTime(t *testing.T) {
	for _, side := range []float64{1, -1} {
		r, n := newReadings(compared(plant.CurrentDrive, estimator.Current)), 0
		for found := (Finding{}); found.Fault == Fine && n < 3000; n++ {
			u := side * 10
			in := &estimator.Inputs{Position: estimator.Sample{Updated: true}, Current: estimator.Sample{Value: u + 1e-6*float64(n%2),
				Updated: true}}
			if n >= 1000 {
				in.Current.Value *= -1
			}
			found = r.step(Tick{Energised: true}, in, u, nil)
		}
		if n < 1100 || n > 1130 {
			t.Errorf("%+g: turned round after 1 s, found after %d ms", side, n)
		}
		r = newReadings(compared(plant.CurrentDrive, estimator.Current))
		for n := range 2000 {
			u := side * 3 * math.Sin(0.01*float64(n)) // within the floor of 5 A
			in := &estimator.Inputs{Position: estimator.Sample{Updated: true}, Current: estimator.Sample{Value: 1e-3 * float64(n/50%2),
				Updated: true}}
			if found := r.step(Tick{Energised: true}, in, u, nil); found.Fault != Fine {
				t.Fatalf("%+g: it changes every 50 ms: %+v", side, found)
			}
		}
		// a tacho need not follow an effort, and what is right for 35 ms of 130 is no wrong one: only a command may be late
		for _, wrong := range []float64{0, 5} {
			r = newReadings(compared(plant.EffortDrive, estimator.Velocity))
			for n := range 2000 {
				in := &estimator.Inputs{Position: fresh(0, side*3e-3*float64(n)), Velocity: fresh(n, side*3)}
				if n%130 >= 35 {
					in.Velocity.Value += side * wrong
				}
				if found := r.step(Tick{Energised: true}, in, 50*math.Sin(2*math.Pi*1e-3*float64(n)), nil); found.Fault != Fine {
					t.Fatalf("%+g, %g rad/s too much now and then: %+v after %d ms", side, wrong, found, n)
				}
			}
		}
	}
}

// A reading that is one number for 0.2 s and ten samples, while the other changes by more than is allowed. Not without change, not for less
// time, and not where nothing comes any more.
func TestFrozenReadings(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     *Spec
		of    estimator.Quantity
		swing float64 // of the command, or of the speed
		every int     // a sample in so many ticks
		want  bool
	}{
		{"current: 1 % and 5·0.4 A", compared(plant.CurrentDrive, estimator.Current), estimator.Current, 3.2, 1, true},
		{"less", compared(plant.CurrentDrive, estimator.Current), estimator.Current, 2.8, 1, false},
		{"effort: 1 % and 5·0.2 N·m", compared(plant.EffortDrive, estimator.Effort), estimator.Effort, 2.2, 1, true},
		{"less", compared(plant.EffortDrive, estimator.Effort), estimator.Effort, 1.8, 1, false},
		{"current of an effort drive: 2 A and 5·0.4 A, 2 A/N·m", compared(plant.EffortDrive, estimator.Current), estimator.Current, 2.2, 1, true},
		{"less", compared(plant.EffortDrive, estimator.Current), estimator.Current, 1.8, 1, false},
		{"tacho: 0.5 and 0.2 rad/s", compared(plant.EffortDrive, estimator.Velocity), estimator.Velocity, 0.75, 1, true},
		{"less", compared(plant.EffortDrive, estimator.Velocity), estimator.Velocity, 0.6, 1, false},
		{"current of a velocity drive: 10 % of the speed", compared(plant.VelocityDrive, estimator.Current), estimator.Current, 11, 1, true},
		{"less", compared(plant.VelocityDrive, estimator.Current), estimator.Current, 9, 1, false},
		{"applied voltage: 10 %", compared(plant.VoltageDrive, estimator.Voltage), estimator.Voltage, 10.5, 1, true},
		{"less", compared(plant.VoltageDrive, estimator.Voltage), estimator.Voltage, 9.5, 1, false},
		{"a sample in 0.2 s", compared(plant.CurrentDrive, estimator.Current), estimator.Current, 3.2, 200, false},
	} {
		for _, side := range []float64{1, -1} {
			r, x, found, n := newReadings(c.s), 0.0, Finding{}, 0
			for ; n < 1500 && found.Fault == Fine; n++ {
				swing := side * c.swing / 2 * math.Sin(2*math.Pi*2e-3*float64(n)) // 2 Hz: the means lag by 20 ms
				x += 1e-3 * swing
				in := &estimator.Inputs{Position: estimator.Sample{Value: x, Updated: true}}
				*in.Of(c.of) = estimator.Sample{Value: side * 0.01, Updated: n%c.every == 0}
				found = r.step(Tick{Energised: true}, in, swing, nil)
			}
			if (found.Fault == FrozenReading) != c.want || c.want && (found.Quantity != c.of || n < 200) {
				t.Errorf("%s, %+g: %+v after %d ms", c.name, side, found, n)
			}
		}
	}
}

// One wild measured velocity is none, three are.
func TestMeasuredSpeed(t *testing.T) {
	for _, side := range []float64{1, -1} {
		r := newReadings(compared(plant.EffortDrive, estimator.Velocity))
		for k, v := range []float64{1, 1, 1, 300, 1, 300, 300, -300, 310, 320, 330} {
			r.step(Tick{Energised: true}, &estimator.Inputs{Velocity: estimator.Sample{Value: side * v, Updated: true}}, 0, nil)
			if want := map[int]float64{3: 1, 5: 1, 10: 310}[k]; want != 0 && r.speed() != side*want {
				t.Errorf("sample %d: %g, want %g", k, r.speed(), side*want)
			}
		}
	}
}
