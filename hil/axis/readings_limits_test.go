package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// compare gives so many ticks to the comparisons of an axis; at sets what is measured in a tick and gives the command. It tells the first
// finding and after how many ticks it came.
func compare(s *Spec, ticks int, at func(k int, in *estimator.Inputs) (Tick, float64)) (n int, found Finding) {
	r := newReadings(s)
	for ; n < ticks && found.Fault == Fine; n++ {
		in := &estimator.Inputs{}
		k, command := at(n, in)
		found = r.step(k, in, command, nil)
	}
	return n, found
}

// fresh is a sample that has just come; each is another number, so that none is frozen.
func fresh(k int, x float64) estimator.Sample {
	return estimator.Sample{Value: x + 1e-9*float64(k%2), Updated: true}
}

// What a velocity drive commands must show: by hand, with a largest velocity of 100 and means over 20 ms.
//
//	y − x > 10 + 10·counts/20 ms + (x + y)/3, or > 3 + 10·counts/20 ms + 0.6·(x + y), for 0.2 s
//	x − y > 3 + 10·counts/20 ms + (x + y)/4, for 0.1 s
//	against it, where both are more than 1 + 10·counts/20 ms, for 0.1 s
func TestVelocityIsShown(t *testing.T) {
	for _, c := range []struct {
		commanded, shown, count float64
		fault                   Fault
		ms                      int // at least
	}{
		{50, 0, 0, Frozen, 200}, {50, 4.9, 0, Frozen, 200}, {50, 5.1, 0, Disagree, 200}, {50, 17, 0, Disagree, 200}, {50, 18, 0, Fine, 0},
		{50, 60, 0, Fine, 0}, {50, 49, 0, Fine, 0},
		{20, 2.9, 0, Disagree, 200}, {20, 3.3, 0, Fine, 0}, {10, 0.5, 0, Frozen, 200}, {10, 0.7, 0, Fine, 0}, {7.4, 0, 0, Fine, 0},
		{7.6, 0, 0, Frozen, 200},
		{50, 9.7, 0.02, Disagree, 200}, {50, 10.4, 0.02, Fine, 0}, {20, 1.7, 0.004, Frozen, 200}, {20, 2.1, 0.004, Fine, 0},
		{1.5, -0.95, 0, Fine, 0}, {1.5, -1.05, 0, Direction, 100}, {1.05, -1.5, 0, Direction, 100}, {0.95, -1.5, 0, Fine, 0},
		{2.9, -3.2, 0.004, Fine, 0}, {3.2, -2.9, 0.004, Fine, 0},
		{3.1, -3.2, 0.004, Direction, 100}, {20, -20, 0, Direction, 100}, {0, 30, 0, Disagree, 100}, {0, -0.9, 0, Fine, 0},
		{0, 3.9, 0, Fine, 0}, {0, 4.1, 0, Disagree, 100}, {20, 37, 0, Fine, 0}, {20, 37.7, 0, Disagree, 100},
		{50, 87, 0, Fine, 0}, {50, 88, 0, Disagree, 100}, {20, 39.5, 0.004, Fine, 0}, {20, 40.5, 0.004, Disagree, 100}, {50, 0.5, 0, Frozen, 200},
	} {
		for _, side := range []float64{1, -1} {
			s := compared(plant.VelocityDrive)
			s.Mechanical.Count = c.count
			n, found := compare(s, 1000, func(k int, in *estimator.Inputs) (Tick, float64) {
				in.Position = fresh(0, side*1e-3*c.shown*float64(k))
				return Tick{Energised: true}, side * c.commanded
			})
			if found.Fault != c.fault || c.fault != Fine && (found.Quantity != estimator.Position || n < c.ms || n > c.ms+130) {
				t.Errorf("commanded %g, shown %g, %g a count: %+v after %d ms, want fault %d after %d", side*c.commanded, side*c.shown, c.count, found,
					n, c.fault, c.ms)
			}
			if c.fault == Frozen && (math.Abs(found.Value-side*c.commanded*0.2) > 0.02*c.commanded ||
				math.Abs(found.Limit-0.02*c.commanded) > 0.002*c.commanded) || c.fault == Direction &&
				math.Abs(found.Value+side*(c.commanded-c.shown)) > 0.3*c.commanded {
				t.Errorf("commanded %g, shown %g: told %+v", side*c.commanded, side*c.shown, found)
			}
		}
	}
	// one that is too fast from 0.3 s on, and slows down by a quarter of it a second, follows its command
	for _, c := range []struct {
		rate float64 // 1/s
		told bool
	}{{0, true}, {0.18, true}, {0.32, false}, {1, false}} {
		for _, commanded := range []float64{0, 20} {
			for _, side := range []float64{1, -1} {
				x := 0.0
				_, found := compare(compared(plant.VelocityDrive), 1000, func(k int, in *estimator.Inputs) (Tick, float64) {
					t, command := 1e-3*float64(k), commanded
					if t < 0.3 {
						t, command = 0.3, 80
					}
					x += side * 80e-3 * math.Exp(-c.rate*(t-0.3))
					in.Position = fresh(0, x)
					return Tick{Energised: true}, side * command
				})
				if told := found.Fault != Fine; told != c.told {
					t.Errorf("%+g commanded, slower by %g a second: %+v", side*commanded, c.rate, found)
				}
			}
		}
	}
	// one that shows a sixth of a command that grows comes nearer to it, and yet no part of the way
	for _, side := range []float64{1, -1} {
		x := 0.0
		n, found := compare(compared(plant.VelocityDrive), 800, func(k int, in *estimator.Inputs) (Tick, float64) {
			u := 25 + 90*1e-3*float64(k)
			x += 1e-3 * u / 6
			in.Position = fresh(0, side*x)
			return Tick{Energised: true}, side * u
		})
		if found.Fault != Disagree || n < 200 || n > 330 {
			t.Errorf("%+g: a sixth of what grows: %+v after %d ms", side, found, n)
		}
	}
	// a drive that holds its speed while the command falls, and turns round, comes nearer to nothing
	for _, side := range []float64{1, -1} {
		n, found := compare(compared(plant.VelocityDrive), 2000, func(k int, in *estimator.Inputs) (Tick, float64) {
			t := 1e-3 * float64(k)
			in.Position = fresh(0, side*30*t)
			return Tick{Energised: true}, side * 30 * math.Cos(math.Pi*t)
		})
		// 0.75·30 > 3 + 1.25·y from 0.33 s on
		if found.Fault != Disagree || n < 430 || n > 480 {
			t.Errorf("%+g: held while the command turns round: %+v after %d ms", side, found, n)
		}
	}
	// a motion that comes nearer to what is commanded by a quarter of it a second follows it, of fast and of slow lines
	for _, c := range []struct {
		rate, every float64 // 1/s  of what is commanded; s
		told        bool
	}{{0, 1e-3, true}, {0.2, 1e-3, true}, {0.3, 1e-3, false}, {1, 1e-3, false}, {0.2, 50e-3, true}, {0.5, 50e-3, false}} {
		for _, side := range []float64{1, -1} {
			s := compared(plant.VelocityDrive)
			s.Tick, s.SamplePeriod = c.every, c.every
			_, found := compare(s, int(2/c.every), func(k int, in *estimator.Inputs) (Tick, float64) {
				t := c.every * float64(k)
				if in.Position = fresh(0, side*50*c.rate*t*t/2); c.rate*t > 1 { // it has come to it
					in.Position = fresh(0, side*50*(t-0.5/c.rate))
				}
				return Tick{Energised: true}, side * 50
			})
			if told := found.Fault != Fine; told != c.told {
				t.Errorf("%+g, nearer by %g a second, a sample every %g s: %+v", side, c.rate, c.every, found)
			}
		}
	}
}

// Only what is measured is compared, and only where a tolerance is known.
func TestWhatIsCompared(t *testing.T) {
	all := []estimator.Quantity{estimator.Current, estimator.Velocity, estimator.Effort, estimator.Voltage}
	for _, c := range []struct {
		name     string
		s        *Spec
		measured []estimator.Quantity // a of each comparison
	}{
		{"voltage, all", compared(plant.VoltageDrive, all...),
			[]estimator.Quantity{estimator.Velocity, estimator.Voltage, estimator.Effort, estimator.Effort, estimator.Current}},
		{"voltage, effort without current", compared(plant.VoltageDrive, estimator.Effort), []estimator.Quantity{estimator.Effort}},
		{"voltage, no more", compared(plant.VoltageDrive), nil},
		{"current, all", compared(plant.CurrentDrive, all...), []estimator.Quantity{estimator.Velocity, estimator.Current, estimator.Effort}},
		{"effort, all", compared(plant.EffortDrive, all...), []estimator.Quantity{estimator.Velocity, estimator.Effort, estimator.Current}},
		{"effort, no more", compared(plant.EffortDrive), nil},
		{"velocity, all", compared(plant.VelocityDrive, all...),
			[]estimator.Quantity{estimator.Velocity, estimator.Position, estimator.Position, estimator.Position, estimator.Current,
				estimator.Effort, estimator.Effort}},
		{"velocity, effort alone", compared(plant.VelocityDrive, estimator.Effort),
			[]estimator.Quantity{estimator.Position, estimator.Position, estimator.Position, estimator.Effort}},
	} {
		var got []estimator.Quantity
		for _, each := range newReadings(c.s).list {
			got = append(got, each.a)
		}
		if len(got) != len(c.measured) {
			t.Errorf("%s: compared are %v, want %v", c.name, got, c.measured)
			continue
		}
		for i := range got {
			if got[i] != c.measured[i] {
				t.Errorf("%s: compared are %v, want %v", c.name, got, c.measured)
			}
		}
	}
	for _, drive := range []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive} { // nothing is declared
		s := compared(drive, all...)
		s.TopCommand, s.Mechanical, s.Kalman = 0, estimator.MechanicalSpec{}, estimator.KalmanSpec{}
		if r := newReadings(s); len(r.list) != 0 {
			t.Errorf("drive %v: without a tolerance %d comparisons are made", drive, len(r.list))
		}
	}
	// the means: 20 ms, or five samples; the largest speed of a voltage drive, where it is not declared, is that of the largest voltage
	for every, want := range map[float64]float64{1e-3: 20e-3, 4e-3: 20e-3, 10e-3: 50e-3} {
		s := compared(plant.EffortDrive, all...)
		if s.SamplePeriod = every; math.Abs(newReadings(s).tau-want) > 1e-12 {
			t.Errorf("a sample every %g s: means over %g s, want %g", every, newReadings(s).tau, want)
		}
	}
	for _, c := range []struct{ speed, k, want float64 }{{50, 0.5, 0.6}, {0, 0.5, 0.9}, {0, 0, 0.5}} {
		s := compared(plant.VoltageDrive, estimator.Velocity)
		s.Kalman.TopSpeed, s.Motor.K = c.speed, c.k
		if got := newReadings(s).list[0].floor; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("largest speed %g, K %g: a tacho may be off by %g, want %g", c.speed, c.k, got, c.want)
		}
	}
}

// A reading stays one number while the one beside it swings: told above so much of a swing, by hand, and not below it.
func TestFrozenBesideAnother(t *testing.T) {
	coarse := compared(plant.EffortDrive, estimator.Velocity)
	coarse.Mechanical.Count, coarse.Mechanical.VelocityShare = 0.01, 0.6 // it need not agree
	for _, c := range []struct {
		name  string
		s     *Spec
		of    estimator.Quantity
		limit float64
		at    func(in *estimator.Inputs, swing float64) (command, speed float64)
	}{
		{"effort of a velocity drive: 10 % of the speed", compared(plant.VelocityDrive, estimator.Effort), estimator.Effort, 10,
			func(_ *estimator.Inputs, x float64) (float64, float64) { return x, x }},
		{"tacho: 0.5, ten counts in 20 ms and 0.2 rad/s", coarse, estimator.Velocity, 5.7,
			func(_ *estimator.Inputs, x float64) (float64, float64) { return 0, x }},
		{"effort beside a current: 5·(0.2 + 0.1) and 0.25 N·m, 0.5 N·m/A", compared(plant.VoltageDrive, estimator.Effort, estimator.Current),
			estimator.Effort, 3.5, func(in *estimator.Inputs, x float64) (float64, float64) {
				in.Current.Value = x
				return 2 * x, 0
			}},
		{"effort beside voltage and speed: 5·0.2 and 2.5 N·m, 0.25 N·m/V", compared(plant.VoltageDrive, estimator.Effort), estimator.Effort,
			14,
			func(_ *estimator.Inputs, x float64) (float64, float64) { return x, 0 }},
		{"effort of a current drive: 0.5 and 5·0.2 N·m, 0.5 N·m/A", compared(plant.CurrentDrive, estimator.Effort), estimator.Effort, 3,
			func(_ *estimator.Inputs, x float64) (float64, float64) { return x, 0 }},
	} {
		for _, share := range []float64{0.93, 1.08} {
			x := 0.0
			n, found := compare(c.s, 1500, func(k int, in *estimator.Inputs) (Tick, float64) {
				swing := share * c.limit / 2 * math.Sin(2*math.Pi*1e-3*float64(k)) // 1 Hz: the means lag by 20 ms
				command, speed := c.at(in, swing)
				x += 1e-3 * speed
				in.Position = estimator.Sample{Value: x, Updated: true}
				in.Current.Updated = in.Current.Value != 0 || k == 0
				*in.Of(c.of) = estimator.Sample{Value: 0.01, Updated: true}
				return Tick{Energised: true}, command
			})
			if (found.Fault == FrozenReading) != (share > 1) || found.Fault == FrozenReading && (found.Quantity != c.of || n < 200) {
				t.Errorf("%s, %g of it: %+v after %d ms", c.name, share, found, n)
			}
		}
	}
	// what is told: the swing, wherever it lies, and what it may be; nothing where the two have no scale in common. Ten samples are enough
	for _, c := range []struct {
		drive        plant.DriveKind
		swing, limit float64
	}{{plant.CurrentDrive, 8, 3}, {plant.VelocityDrive, 0, 0}} {
		for _, side := range []float64{1, -1} {
			x, s := 0.0, compared(c.drive, estimator.Current)
			n, found := compare(s, 1000, func(k int, in *estimator.Inputs) (Tick, float64) {
				u := side * 12 // 20 in the second half of 80 ms
				if k/40%2 == 1 {
					u = side * 20
				}
				x += 1e-3 * u
				in.Position = estimator.Sample{Value: x, Updated: true}
				in.Current = estimator.Sample{Value: side * 16, Updated: k%25 == 0}
				return Tick{Energised: true}, u
			})
			if found.Fault != FrozenReading || n < 251 || n > 255 || math.Abs(found.Value-c.swing) > 0.2*c.swing ||
				math.Abs(found.Limit-c.limit) > 1e-9 {
				t.Errorf("drive %v, %+g: %+v after %d ms", c.drive, side, found, n)
			}
		}
	}
}

// A position that stands while a tacho turns is the one that does not tell: after 50 ms, where the tacho has gone 30 counts in that time.
func TestTachoBesideAPositionThatStands(t *testing.T) {
	for _, c := range []struct {
		speed, stood, counts float64
		want                 Fault
	}{{3, 0.05, 2e-3, Frozen}, {3, 0.049, 2e-3, Disagree}, {1.3, 0.05, 2e-3, Frozen}, {1.1, 0.05, 2e-3, Disagree}, {1.1, 0.06, 2e-3, Frozen}} {
		for _, side := range []float64{1, -1} {
			r, found := newReadings(compared(plant.EffortDrive, estimator.Velocity)), Finding{}
			for k := 0; k < 400 && found.Fault == Fine; k++ {
				in := &estimator.Inputs{Position: estimator.Sample{Updated: true}, Velocity: fresh(k, side*c.speed)}
				found = r.step(Tick{Energised: true}, in, 0, &frozen{stood: c.stood, counts: c.counts})
			}
			want := estimator.Position
			if c.want == Disagree {
				want = estimator.Velocity
			}
			if found.Fault != c.want || found.Quantity != want || found.Value*side <= 0 || found.Limit <= 0 {
				t.Errorf("%+g rad/s, it stood for %g s: %+v", side*c.speed, c.stood, found)
			}
		}
	}
	// a comparison with anything else says nothing of the position
	r, found := newReadings(compared(plant.EffortDrive, estimator.Current)), Finding{}
	for k := 0; k < 400 && found.Fault == Fine; k++ {
		in := &estimator.Inputs{Position: estimator.Sample{Updated: true}, Current: fresh(k, 80)}
		found = r.step(Tick{Energised: true}, in, 10, &frozen{stood: 9, counts: 1e-3})
	}
	if found.Fault != Disagree || found.Quantity != estimator.Current {
		t.Errorf("a current beside a position that stands: %+v", found)
	}
}

// The time of a broken comparison: begun anew behind a STOP, a command that is no number, and a gap; a tick left out is time too; nothing
// is judged by a reading that does not come any more.
func TestComparisonsBeginAnew(t *testing.T) {
	wrong := func(k int, in *estimator.Inputs) { // 10 A are commanded
		in.Position, in.Current = estimator.Sample{Updated: true}, fresh(k, 40)
	}
	for _, c := range []struct {
		name     string
		change   func(k int, in *estimator.Inputs, tick *Tick, command *float64)
		from, to int // ticks; 0: nothing is found
	}{
		{"wrong all the time", func(int, *estimator.Inputs, *Tick, *float64) {}, 100, 125},
		{"off for a tick in 90", func(k int, _ *estimator.Inputs, tick *Tick, _ *float64) { tick.Energised = k%90 != 89 }, 0, 0},
		{"off for a tick, once", func(k int, _ *estimator.Inputs, tick *Tick, _ *float64) { tick.Energised = k != 89 }, 190, 215},
		{"no command in a tick of 90", func(k int, _ *estimator.Inputs, _ *Tick, u *float64) {
			if k%90 == 89 {
				*u = math.NaN()
			}
		}, 0, 0},
		{"a position in 3 ticks", func(k int, in *estimator.Inputs, _ *Tick, _ *float64) { in.Position.Updated = k%3 == 0 }, 100, 125},
		{"a position in 4 ticks", func(k int, in *estimator.Inputs, _ *Tick, _ *float64) { in.Position.Updated = k%4 == 0 }, 0, 0},
		{"two of three ticks are left out", func(_ int, _ *estimator.Inputs, tick *Tick, _ *float64) { tick.Skip = 2 }, 33, 45},
		{"right, and a current that is sent every 50 ms", func(k int, in *estimator.Inputs, _ *Tick, u *float64) {
			in.Current = fresh(k/50, 40)
			in.Current.Updated = k%50 == 0
			*u = 40
		}, 0, 0},
		{"right from the first sample, and sent every 99 ms", func(k int, in *estimator.Inputs, _ *Tick, u *float64) {
			in.Current = fresh(k/99, 90)
			in.Current.Updated = k%99 == 0
			*u = 90
		}, 0, 0},
		{"wrong, and sent every 90 ms", func(k int, in *estimator.Inputs, _ *Tick, _ *float64) { in.Current.Updated = k%90 == 0 }, 100, 400},
		{"the current ends, then the command is another", func(k int, in *estimator.Inputs, _ *Tick, u *float64) {
			in.Current = fresh(k, 40)
			in.Current.Updated = k < 500
			if *u = 40; k > 600 {
				*u = -40
			}
		}, 0, 0},
	} {
		n, found := compare(compared(plant.CurrentDrive, estimator.Current), 2000, func(k int, in *estimator.Inputs) (Tick, float64) {
			tick, command := Tick{Energised: true}, 10.0
			wrong(k, in)
			c.change(k, in, &tick, &command)
			return tick, command
		})
		if (found.Fault == Disagree) != (c.to > 0) || c.to > 0 && (n < c.from || n > c.to) {
			t.Errorf("%s: %+v after %d ticks, want between %d and %d", c.name, found, n, c.from, c.to)
		}
	}
	// beside another reading that ends: an effort of a voltage drive and its current
	n, found := compare(compared(plant.VoltageDrive, estimator.Effort, estimator.Current), 2000,
		func(k int, in *estimator.Inputs) (Tick, float64) {
			u, i := 20.0, 10.0
			if k > 600 {
				u, i = -20, -10
			}
			in.Position, in.Current, in.Effort = estimator.Sample{Updated: true}, fresh(k, i), fresh(k, i/2)
			in.Current.Updated = k < 500
			return Tick{Energised: true}, u
		})
	if found.Fault != Fine {
		t.Errorf("the current ends beside a torque: %+v after %d ms", found, n)
	}
	// at 20 Hz a reading is one for a quarter of a second
	slow := compared(plant.CurrentDrive, estimator.Current)
	slow.Tick, slow.SamplePeriod = 50e-3, 50e-3
	for _, c := range []struct {
		after int // ticks after the last current the command is another
		told  bool
	}{{1, true}, {4, false}} {
		n, found := compare(slow, 100, func(k int, in *estimator.Inputs) (Tick, float64) {
			u := 40.0
			if k >= 20+c.after {
				u = -40
			}
			in.Position, in.Current = estimator.Sample{Updated: true}, fresh(k, 40)
			in.Current.Updated = k <= 20
			return Tick{Energised: true}, u
		})
		if told := found.Fault == Disagree; told != c.told {
			t.Errorf("the command is another %d ticks after the last current: %+v after %d", c.after, found, n)
		}
	}
	// what swung before a STOP, or was commanded when the comparison began, is no swing that a reading of now had to follow
	for _, c := range []struct {
		s  *Spec
		of estimator.Quantity
	}{{compared(plant.CurrentDrive, estimator.Current), estimator.Current},
		{compared(plant.VelocityDrive, estimator.Current), estimator.Current},
		{compared(plant.EffortDrive, estimator.Velocity), estimator.Velocity}} {
		for _, side := range []float64{1, -1} {
			x := 0.0
			n, found := compare(c.s, 3000, func(k int, in *estimator.Inputs) (Tick, float64) {
				u, v := side*4, 0.0 // from 2 s on it stands, and a coarse sensor gives one number
				if k < 1500 {
					v = 30 * math.Sin(0.01*float64(k))
					u = v
				}
				x += 1e-3 * v
				in.Position = estimator.Sample{Value: x, Updated: true}
				if *in.Of(c.of) = fresh(k, v); k >= 1500 {
					*in.Of(c.of) = estimator.Sample{Value: side * 4, Updated: true}
					if c.of == estimator.Velocity {
						in.Velocity.Value = 0
					}
				}
				return Tick{Energised: k < 1500 || k >= 2000}, u
			})
			if found.Fault != Fine {
				t.Errorf("one number of quantity %d after a STOP: %+v after %d ms", c.of, found, n)
			}
		}
	}
	// a drive that applies nothing at all, exactly, applies less than it is told: that is no wrong reading
	if n, found := compare(compared(plant.VoltageDrive, estimator.Voltage), 1000, func(_ int, in *estimator.Inputs) (Tick, float64) {
		in.Position, in.Voltage = estimator.Sample{Updated: true}, estimator.Sample{Updated: true}
		return Tick{Energised: true}, 20
	}); found.Fault != Fine {
		t.Errorf("0 V of 20: %+v after %d ms", found, n)
	}
}
