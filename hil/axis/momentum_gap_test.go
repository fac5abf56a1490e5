package axis

import (
	"math"
	"testing"

	"hilrig/estimator"
)

// The commands of a gap are kept in parts of a sampling period, or of a fiftieth of the longest gap where that is longer: so the mean of
// each is that of its own time, however the ticks lie in it. What is longer than the longest gap is in the last part.
func TestCommandsOfAGap(t *testing.T) {
	for _, c := range []struct {
		name              string
		every, tick, part float64 // s
		ticks, parts      int
	}{
		{"a sample a tick", 1e-3, 1e-3, 1e-3, 48, 48},
		{"for longer than the longest gap", 1e-3, 1e-3, 1e-3, 60, 50},
		{"a sample every second tick", 2e-3, 1e-3, 2e-3, 24, 12},
		{"fast samples", 1e-4, 1e-4, 1e-3, 480, 48},
		{"slow samples", 20e-3, 20e-3, 20e-3, 4, 4},
		{"ticks that were left out", 1e-3, 4e-3, 1e-3, 10, 40},
		{"ticks beside the parts", 3e-3, 2e-3, 3e-3, 5, 4},
		{"a long one", 1e-3, 70e-3, 1e-3, 1, 50},
	} {
		s := frozenSpec()
		s.SamplePeriod, s.Tick = c.every, c.tick
		m := newMomentum(newFrozen(s, countNoise))
		for k := range c.ticks {
			m.send(float64(k*k), c.tick)
		}
		total := float64(c.ticks) * c.tick
		if m.parts != c.parts || math.Abs(m.pending-total) > 1e-9 {
			t.Errorf("%s: %d parts of %g s, want %d of %g", c.name, m.parts, m.pending, c.parts, total)
			continue
		}
		for i, p := range m.commands[:m.parts] {
			from, to := float64(i)*c.part, min(total, float64(i+1)*c.part)
			if i == m.parts-1 {
				to = total
			}
			sum := 0.0
			for k := range c.ticks {
				sum += float64(k*k) * max(0, min(to, float64(k+1)*c.tick)-max(from, float64(k)*c.tick))
			}
			if math.Abs(p.time-(to-from)) > 1e-9 || math.Abs(p.sum-sum) > 1e-9*(1+sum) {
				t.Errorf("%s, part %d: %g in %g s, want %g in %g", c.name, i, p.sum, p.time, sum, to-from)
			}
		}
		m.drop()
		if m.send(7, c.tick); m.parts == 0 || math.Abs(m.commands[0].sum-7*m.commands[0].time) > 1e-12 ||
			math.Abs(m.pending-c.tick) > 1e-12 {
			t.Errorf("%s: behind it %d parts, the first %+v, in %g s", c.name, m.parts, m.commands[0], m.pending)
		}
	}
}

// At a steady acceleration the speed behind a gap is that of its end, not its mean: within what a sample more or less makes of it. The
// newest position may be younger than those before, or older.
func TestSpeedBehindAGap(t *testing.T) {
	const a, gap = 200., 40 // rad/s², ms
	for _, side := range []float64{1, -1} {
		for _, age := range []float64{0, 8e-3, -8e-3} { // s  younger by so much
			m := newMomentum(newFrozen(frozenSpec(), countNoise))
			sample := func(k int, age float64) *estimator.Sample {
				t := 1e-3*float64(k) - age
				return &estimator.Sample{Value: side * a / 2 * t * t, Updated: true, Age: age}
			}
			step := func(k int, age float64, taken bool) {
				m.step(Tick{Energised: true}, taken, false, sample(k, age), side*a, 0, 0, 0)
			}
			old, young := max(0, age), max(0, -age)
			for k := range 400 {
				step(k, old, true)
			}
			for k := range gap {
				step(400+k, 0, false)
			}
			step(400+gap, young, true)
			if want := side * a * (1e-3*(400+gap) - young); math.Abs(m.omega-want) > 1.1e-3*a {
				t.Errorf("%+g, %g s younger: %g rad/s behind it, want %g", side, age, m.omega, want)
			}
		}
	}
}

// What happened in a gap tells no inertia: an axis of five times that of the file, pushed while samples are missing, is no lighter behind
// it.
func TestInertiaBehindAGap(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, gap := range []int{5, 20, 45} { // ms
			m := newMomentum(newFrozen(frozenSpec(), countNoise))
			x, v := 0.0, 0.0
			for k := range 600 {
				u := 0.0
				if k >= 400 && k < 400+gap {
					u = side * 100
				}
				v += 1e-3 * u / 5
				x += 1e-3 * v
				m.step(Tick{Energised: true}, k < 400 || k > 400+gap, false, &estimator.Sample{Value: x, Updated: true}, u, 0, 0, 0)
			}
			if m.heaviest < 4.9 {
				t.Errorf("%+g, %d ms: an inertia of %g kg·m² at most, of 5", side, gap, m.heaviest)
			}
		}
	}
}

// All time between two samples counts once, whether they are early, late or missing; and what is longer than the means of a slipping
// position are, by its way here or by its own clock, is left out of them.
func TestTimeOfAGap(t *testing.T) {
	for _, c := range []struct {
		ticks         int     // of 1 ms
		younger       float64 // s
		missing, long bool
	}{
		{1, 0, false, false}, {2, 0, false, false}, {3, 0, false, false}, {4, 0, true, false}, {9, 0, true, false}, {11, 0, true, true},
		{25, 0, true, true}, {45, 0, true, true},
		{2, 2e-3, true, false}, {5, -3e-3, true, false}, {8, 4e-3, true, true}, {12, -4e-3, true, true},
	} {
		m := newMomentum(newFrozen(frozenSpec(), countNoise))
		x, n := 0.0, 0
		step := func(taken bool, age float64) {
			x, n = x+10e-3, n+1
			m.step(Tick{Energised: true}, taken, false, &estimator.Sample{Value: x - 10*age, Updated: true, Age: age}, 0, 0, 0, 0)
		}
		old, young := max(0, c.younger), max(0, -c.younger)
		for range 400 {
			step(true, old)
		}
		for range c.ticks - 1 {
			step(false, 0)
		}
		step(true, young)
		if want := 1e-3 * float64(n-1); math.Abs(m.averagingTime-want) > 1e-9 {
			t.Errorf("%d ms, %g s younger: %g s count, want %g", c.ticks, c.younger, m.averagingTime, want)
		}
		if missing, long := m.evenTime == 0, m.slipping.settling > 0; missing != c.missing || long != c.long {
			t.Errorf("%d ms, %g s younger: missing %v, long %v", c.ticks, c.younger, missing, long)
		}
	}
}

// The twin takes each command of a gap for its own time: 43 N·m for half of 40 ms beyond what holds the axis (3 to 5 N·m), before or behind
// nothing, are 0.76 to 0.8 rad/s. What follows takes at most 0.1 of them.
func TestTwinInAGap(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, late := range []int{0, 20} {
			m := newMomentum(newFrozen(frozenSpec(), countNoise))
			for k := range 441 {
				u := 0.0
				if g := k - 400 - late; g >= 0 && g < 20 {
					u = side * 43
				}
				m.step(Tick{Energised: true}, k < 400 || k == 440, false, &estimator.Sample{Value: 0.01 * float64(k), Updated: true},
					u, 0, 0, 0)
			}
			if got := side * m.d; got < 0.64 || got > 0.82 {
				t.Errorf("%+g, pushed from %d ms of the gap on: %g rad/s", side, late, got)
			}
		}
	}
}

// What is told in the middle of a gap stays told, although the effort turns round in the rest of it and takes the missing motion back.
func TestFaultInAGap(t *testing.T) {
	for _, side := range []float64{1, -1} {
		run := func(from int) (n int) {
			m := newMomentum(newFrozen(frozenSpec(), countNoise))
			for k := range 800 {
				u := 0.0
				if k >= 400 {
					u = side * 23
				}
				if k >= from+25 {
					u = side * -300
				}
				bad, _ := m.step(Tick{Energised: true}, k < from || k >= from+40, false,
					&estimator.Sample{Value: 0.01 * float64(k), Updated: true}, u, 0, 0, 0)
				if bad.Fault != Fine {
					return k
				}
			}
			return 0
		}
		told := run(700)
		if got := run(told); got != told+40 {
			t.Errorf("%+g: told at %d ms, and with a gap from then on at %d, want %d", side, told, got, told+40)
		}
	}
}
