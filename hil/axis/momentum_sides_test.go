package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// missed is what momentum finds in a course of 1 kg·m² whose every number is given as a function of time (s), and when; 0: nothing in
// 1.2 s.
func missed(s *Spec, at func(t float64) (position, effort, load, carried float64)) (float64, Finding) {
	m := newMomentum(newFrozen(s, countNoise))
	for k := range 1200 {
		t := 1e-3 * float64(k)
		x, u, load, carried := at(t)
		if bad, _ := m.step(Tick{Energised: true}, true, false, &estimator.Sample{Value: x, Updated: true}, u, 0, load,
			carried); bad.Fault != Fine {
			return t, bad
		}
	}
	return 0, Finding{}
}

// An axis moves at 10 rad/s and carries 40 N·m: what a mechanism takes, or a load that the estimate found. The effort that carries it is
// no push, and 23 N·m more are one that must show, to either side, whichever way it carries. 23 N·m less are one beside a mechanism; a
// load that is no mechanism's may as well be a brake, which gives way.
func TestMomentumBesideALoad(t *testing.T) {
	for _, speed := range []float64{10, -10} {
		for _, weight := range []float64{40, -40} {
			for _, push := range []float64{0, 23, -23} {
				for _, mechanism := range []bool{true, false} {
					got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
						if u = weight; t >= 0.5 {
							u += push
						}
						if mechanism {
							carried = weight
						}
						return speed * t, u, weight, carried
					})
					// 20 N·m on 1 kg·m² go 100 counts of 1 mrad in 0.1 s, and the mean of the speed lags by 10 ms
					if want := push != 0 && (mechanism || push*weight > 0); (found.Fault != Fine) != want || want &&
						(got < 0.599 || got > 0.63 || found.Value*push <= 0) {
						t.Errorf("%+g rad/s, %+g N·m, mechanism %v, %+g N·m more: after %g s %+v", speed, weight, mechanism, push, got, found)
					}
				}
			}
		}
	}
}

// 4.5 N·m lie between the hold of 3 N·m and that and the friction of 2 N·m: they must show on an axis that was seen in motion, 0.3
// rad/s and more, and need not on another.
func TestMomentumKnowsALoadInMotion(t *testing.T) {
	for _, speed := range []float64{0.28, 0.33, 10} {
		for _, side := range []float64{1, -1} {
			for _, push := range []float64{4.5, -4.5} {
				got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
					if t >= 0.5 {
						u = push
					}
					return side * speed * t, u, 0, 0
				})
				// 1.5 N·m go 100 mrad in 0.37 s
				if want := speed > 0.3; (found.Fault != Fine) != want || want && (got < 0.84 || got > 0.95 || found.Value*push <= 0) {
					t.Errorf("%+g rad/s, %+g N·m: after %g s %+v", side*speed, push, got, found)
				}
			}
		}
	}
}

// A tenth of the change of speed must show, for the inertia may be ten times that of the file, of an axis that gets faster and of one
// that is braked.
func TestMomentumInMotion(t *testing.T) {
	for _, speed := range []float64{30, -30} {
		for _, push := range []float64{23, -23} {
			for _, shown := range []float64{-0.4, -0.05, 0, 0.07, 0.1, 0.3, 1, 2} { // of 23 N·m; 20 must show, a tenth of them is 0.087 of 23
				got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
					x = speed * t
					if t -= 0.5; t >= 0 {
						u = push
						x += shown * push * t * t / 2
					}
					return x, u, 0, 0
				})
				want := Fine
				switch { // while it gets faster, the speed that it had shows; while it is braked, that shows nothing
				case shown < -0.3 && speed*push < 0:
					want = Direction
				case shown < 0.087 && speed*push < 0:
					want = Frozen
				case shown < 0.087:
					want = Disagree
				}
				if found.Fault != want || want != Fine && (got < 0.599 || got > 0.66 || found.Value*push <= 0 || found.Limit <= 0 || want == Frozen &&
					math.Abs(found.Value) < 0.1) {
					t.Errorf("%+g rad/s, %+g N·m, %g of it shown: after %g s %+v", speed, push, shown, got, found)
				}
			}
		}
	}
}

// A course and its mirror image are told alike, with a load, a mechanism and an effort that go to and fro.
func TestMomentumIsSymmetric(t *testing.T) {
	for _, push := range []float64{0, 5.5, 23, 60} {
		var times, values [2]float64
		for k, side := range []float64{1, -1} {
			got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
				if u = 12 * math.Sin(9*t); t >= 0.4 {
					u += push
				}
				return side * (3*math.Sin(4*t) + 8*t), side * u, side * 6 * math.Sin(9*t), side * 5 * math.Sin(9*t)
			})
			times[k], values[k] = got, side*found.Value
		}
		if times[0] != times[1] || math.Abs(values[0]-values[1]) > 1e-9 {
			t.Errorf("%g N·m: after %g s, and the other way round %g; %g and %g", push, times[0], times[1], values[0], values[1])
		}
	}
}

// What is told begins anew behind a STOP, a command that is no number and a gap of more than 50 ms; a shorter one is bridged; ticks that
// are left out count; nothing is learned of a load from a motion that is missing, nor from one that is no number.
func TestMomentumInTime(t *testing.T) {
	for _, c := range []struct {
		name     string
		push     float64 // N·m  from 0.5 s on, at 10 rad/s
		change   func(k int, tick *Tick, taken *bool, u, load *float64)
		from, to float64 // s; 0: nothing in 1.5 s
	}{
		{"23 N·m", 23, func(int, *Tick, *bool, *float64, *float64) {}, 0.599, 0.63},
		{"off for a tick in 90 ms", 23, func(k int, tick *Tick, _ *bool, _, _ *float64) { tick.Energised = k%90 != 0 }, 0, 0},
		{"no command in a tick of 90 ms", 23, func(k int, _ *Tick, _ *bool, u, _ *float64) {
			if k%90 == 0 {
				*u = math.NaN()
			}
		}, 0, 0},
		{"a gap of 5 ms as it begins", 23, func(k int, _ *Tick, taken *bool, _, _ *float64) { *taken = k < 500 || k > 505 }, 0.599, 0.63},
		{"a gap of 20 ms in 40 ms, 3 ms of which count", 23, func(k int, _ *Tick, taken *bool, _, _ *float64) {
			*taken = k%40 < 20
		}, 0.67, 0.7},
		{"a gap of 49 ms as it begins", 23, func(k int, _ *Tick, taken *bool, _, _ *float64) { *taken = k < 500 || k > 548 }, 0.63, 0.66},
		{"a gap of 51 ms as it begins: 30 ms and 0.1 s behind it", 23, func(k int, _ *Tick, taken *bool, _, _ *float64) {
			*taken = k < 500 || k > 551
		}, 0.681, 0.701},
		{"8 N·m: 5 of them go 100 mrad in 0.2 s", 8, func(int, *Tick, *bool, *float64, *float64) {}, 0.69, 0.73},
		{"8 N·m that the estimate takes for a load at once", 8, func(k int, _ *Tick, _ *bool, _, load *float64) {
			if k >= 502 {
				*load = 8
			}
		}, 0.69, 0.73},
		{"a load that is no number", 23, func(k int, _ *Tick, _ *bool, _, load *float64) {
			if k%7 == 0 {
				*load = math.NaN()
			}
		}, 0.599, 0.63},
	} {
		for _, side := range []float64{1, -1} {
			m, got := newMomentum(newFrozen(frozenSpec(), countNoise)), 0.0
			for k := 0; k < 1500 && got == 0; k++ {
				tick, taken, u, load := Tick{Energised: true}, true, 0.0, 0.0
				if k >= 500 {
					u = side * c.push
				}
				c.change(k, &tick, &taken, &u, &load)
				if bad, _ := m.step(tick, taken, false, &estimator.Sample{Value: side * 10e-3 * float64(k), Updated: true}, u, 0, side*load,
					0); bad.Fault != Fine {
					got = 1e-3 * float64(k)
				}
			}
			if got < c.from || got > c.to {
				t.Errorf("%s, %+g: after %g s, want %g to %g", c.name, side, got, c.from, c.to)
			}
		}
	}
	s := frozenSpec() // 2 ms a sample, one tick of two left out
	s.SamplePeriod = 2e-3
	m, got := newMomentum(newFrozen(s, countNoise)), 0
	for k := 0; k < 600 && got == 0; k++ {
		u := 0.0
		if k >= 250 {
			u = 23
		}
		if bad, _ := m.step(Tick{Energised: true, Skip: 1}, true, false, &estimator.Sample{Value: 20e-3 * float64(k), Updated: true}, u, 0, 0,
			0); bad.Fault != Fine {
			got = k
		}
	}
	if got < 299 || got > 316 {
		t.Errorf("ticks left out: found after %d ticks of 2 ms, want 300", got)
	}
}

// The means and what an axis of each kind may take, by hand; speeds from samples of any age; a load is learned fast at first, and not for
// 0.1 s where it jumps.
func TestMomentumNumbers(t *testing.T) {
	for every, want := range map[float64]float64{1e-3: 10e-3, 2e-3: 10e-3, 4e-3: 20e-3} {
		s := frozenSpec()
		s.SamplePeriod = every
		if m := newMomentum(newFrozen(s, countNoise)); math.Abs(m.tau-want) > 1e-15 || math.Abs(m.scales[0].tau-want) > 1e-15 ||
			math.Abs(m.scales[1].tau-3*want) > 1e-15 {
			t.Errorf("a sample every %g s: means over %g, %g and %g s", every, m.tau, m.scales[0].tau, m.scales[1].tau)
		}
	}
	for _, c := range []struct {
		drive        plant.DriveKind
		current      bool
		walk, unsure float64
	}{{plant.VoltageDrive, false, 7 * math.Sqrt(0.1), 2}, {plant.VoltageDrive, true, 7 * math.Sqrt(0.1), 0}, {plant.EffortDrive, false, 3 * math.Sqrt(0.1), 0}} { // 2 % of 100 N·m
		s := frozenSpec()
		s.Drive, s.Motor = c.drive, plant.Motor{R: 1, K: 1, J: 1}
		s.Mechanical.Walk, s.Kalman.TorqueWalk = 3, 7
		if c.current {
			s.Sampling.Groups = []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
		}
		if m := newMomentum(newFrozen(s, countNoise)); math.Abs(m.walk-c.walk) > 1e-12 || math.Abs(m.unsure-c.unsure) > 1e-12 {
			t.Errorf("drive %v, current %v: walk %g, unsure %g", c.drive, c.current, m.walk, m.unsure)
		}
	}
	// a voltage without a current: 2 N·m of brushes beside the hold of 3 N·m
	for push, told := range map[float64]bool{4.5: false, 7: true} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.Drive, s.Motor = plant.VoltageDrive, plant.Motor{R: 1, K: 1, J: 1}
			_, found := missed(s, func(t float64) (x, u, load, carried float64) {
				if u = side * 10; t >= 0.4 {
					u += side * push
				}
				return side * 10 * t, u, 0, 0
			})
			if (found.Fault != Fine) != told {
				t.Errorf("%g N·m beside brushes, %+g: %+v", push, side, found)
			}
		}
	}
	for _, side := range []float64{1, -1} {
		m := newMomentum(newFrozen(frozenSpec(), countNoise))
		step := func(x, age, load float64) {
			m.step(Tick{Energised: true}, true, false, &estimator.Sample{Value: side * x, Age: age, Updated: true}, 0, 0, side*load, 0)
		}
		x := 0.0
		for k := range 50 { // 10 rad/s, sampled at ages to and fro
			age := 0.4e-3 * float64(k%2)
			x = 10 * (1e-3*float64(k) - age)
			step(x, age, 40)
			if k > 1 && math.Abs(m.omega-side*10) > 1e-9 {
				t.Fatalf("sample %d: %g rad/s", k, m.omega)
			}
		}
		// the samples from 31 ms on, over 20 ms
		if got, want := side*m.load[0], 40*(1-math.Exp(-19.5/20)); math.Abs(got-want) > 1.5 {
			t.Errorf("%+g: a load of %g N·m after 50 ms, want %g", side, got, want)
		}
		step(x+0.1, 0.4e-3+0.95e-3, 40) // 0.05 ms after it: taken for a quarter of a period
		if math.Abs(m.omega-side*0.1/0.25e-3) > 1 {
			t.Errorf("%+g: %g rad/s from samples of nearly the same time", side, m.omega)
		}
		m.forget()
		if step(900, 0, 40); m.averagingTime != 0 {
			t.Errorf("%+g: after it was forgotten the speed is %g", side, m.shownSpeed)
		}

		m = newMomentum(newFrozen(frozenSpec(), countNoise))
		for k := range 900 {
			load := 10.0
			if k >= 600 {
				load = 60
			}
			step(10e-3*float64(k), 0, load)
			if got := side * m.load[0]; k == 599 && math.Abs(got-10) > 0.05 || k == 690 && math.Abs(got-10) > 0.05 || k == 899 && got < 30 {
				t.Errorf("%+g, %d ms: a load of %g N·m is learned", side, k, got)
			}
		}
	}
}

// Beside a current that is doubted, or one number, a speed that shows an eighth is told by nothing; a hint comes before the verdict.
func TestMomentumDoubtsACurrent(t *testing.T) {
	for _, c := range []struct{ still, doubted, told bool }{{false, false, true}, {true, false, false}, {false, true, false},
		{true, true, false}} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.Drive, s.TopCommand, s.Motor = plant.VoltageDrive, 100, plant.Motor{R: 1, K: 1, J: 1e3} // the effort tells nothing
			s.Sampling.Groups = []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
			m := newMomentum(newFrozen(s, countNoise))
			hinted, tripped := 0, 0
			for k := range 600 {
				i := side * (1 + 1e-3*float64(k%2))
				if c.still {
					i = side
				}
				bad, hint := m.step(Tick{Energised: true}, true, c.doubted, &estimator.Sample{Value: side * 1.2e-3 * float64(k), Updated: true},
					side*11, i, 0, 0)
				if hint.Fault != Fine && hinted == 0 {
					hinted = k
				}
				if bad.Fault != Fine && tripped == 0 {
					tripped = k
				}
			}
			if (tripped > 0) != c.told || (hinted > 0) != c.told || c.told && hinted >= tripped {
				t.Errorf("still %v, doubted %v, %+g: a hint after %d ms, found after %d", c.still, c.doubted, side, hinted, tripped)
			}
		}
	}
}
