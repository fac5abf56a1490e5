package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
)

// slipOf is what slipping finds in 1.5 s of an axis of 1 kg·m² under frozenSpec (Fs 1 N·m), whose every number is given as a function of
// time (s): the speed shown, and the effort. The time (s), and what was found; 0: nothing.
func slipOf(s *Spec, share float64, at func(t float64) (speed, effort float64)) (float64, Finding) {
	p := newSlipping(newFrozen(s, countNoise))
	for k := range 1500 {
		t := 1e-3 * float64(k)
		v, _ := at(t)
		_, u := at(t - 1.5e-3) // a mean over the period before, and a sample later
		if bad, hint := p.step(v, u, 0, 1e-3, 0, share); bad.Fault != Fine {
			if hint != bad {
				return -1, hint
			}
			return t, bad
		}
	}
	return 0, Finding{}
}

// A loop swings: the speed is 4·(1 − cos 8t) rad/s, to one side. An axis of n times the inertia of the file, or one that shows 1/n of the
// motion, takes n·32·sin 8t N·m, beside friction of 3 N·m, a weight of 20 N·m and a spring. More than what the largest inertia explains is
// told within 0.2 s, on both sides; a sound axis, one beside a heavier inertia that the file allows, and a hand are not.
func TestSlippingTells(t *testing.T) {
	for _, c := range []struct {
		name     string
		n, share float64
		spring   float64 // N·m/rad
		hand     float64 // N·m
		found    Fault
	}{
		{"sound", 1, motionShare, 0, 0, Fine},
		{"three times the inertia", 3, motionShare, 0, 0, Fine},
		{"ten times, of an inertia that nobody knows", 10, 1. / unknownInertia, 0, 0, Fine},
		{"four times, where ten may be", 4, 1. / unknownInertia, 0, 0, Fine},
		{"3.9 times: within what K and the inertia may be off", 3.9, motionShare, 0, 0, Fine},
		{"six times", 6, motionShare, 0, 0, Disagree},
		{"fifteen times", 15, motionShare, 0, 0, Frozen},
		{"twenty times, where ten may be", 20, 1. / unknownInertia, 0, 0, Frozen},
		{"twenty times, turned round", -20, 1. / unknownInertia, 0, 0, Frozen},
		{"six times, turned round", -6, motionShare, 0, 0, Disagree},
		{"sound, beside a spring", 1, motionShare, 300, 0, Fine},
		{"sound, on a pendulum that stands", 1, motionShare, -300, 0, Fine},
		{"a hand that comes and goes", 1, motionShare, 0, 40, Fine},
	} {
		for _, side := range []float64{1, -1} {
			got, found := slipOf(frozenSpec(), c.share, func(t float64) (v, u float64) {
				x := 4*t - math.Sin(8*t)/2
				return side * 4 * (1 - math.Cos(8*t)), side*(c.n*32*math.Sin(8*t)+3+c.spring*x+c.hand*math.Sin(13*t)) + 20
			})
			if found.Fault != c.found || got < 0 || c.found != Fine &&
				(got < 0.06 || got > 0.25 || found.Value*side*c.n <= 0 || !(math.Abs(found.Value) > found.Limit)) {
				t.Errorf("%s, %+g: after %g s %+v", c.name, side, got, found)
			}
		}
	}
}

// A steady effort tells no inertia: it may as well be a load. Nor does an effort that changes by less than a twentieth of what holds the
// axis (3 N·m), beyond what a sound axis takes; nor a motion below 0.3 rad/s, or to and fro faster than a window.
func TestSlippingNeedsAChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		course func(t float64) (v, u float64)
		found  bool
	}{
		{"at a steady acceleration", func(t float64) (float64, float64) { return 1 + 5*t, 100 + 3 }, false},
		{"at one that changes", func(t float64) (float64, float64) { return 1 + 5*t*t, 200*t + 3 }, true},
		{"by little", func(t float64) (float64, float64) { return 1 + 0.05*t*t, 2*t + 3 }, false},
		{"below 0.3 rad/s", func(t float64) (float64, float64) { return 0.03 * (1 - math.Cos(8*t)), 20 * 0.24 * math.Sin(8*t) }, false},
		{"above it", func(t float64) (float64, float64) { return 0.4 + 0.3*(1-math.Cos(8*t)), 20 * 2.4 * math.Sin(8*t) }, true},
		{"to and fro at 20 Hz", func(t float64) (float64, float64) { return 2 * math.Sin(126*t), 20 * 252 * math.Cos(126*t) }, false},
	} {
		for _, side := range []float64{1, -1} {
			got, found := slipOf(frozenSpec(), motionShare, func(t float64) (float64, float64) {
				v, u := c.course(t)
				return side * v, side * u
			})
			if (found.Fault != Fine) != c.found || got < 0 {
				t.Errorf("%s, %+g: after %g s %+v", c.name, side, got, found)
			}
		}
	}
}

// The back-emf of a voltage drive tells where the acceleration does not: at a speed of w a voltage of w V is right (K = 1 N·m/A), and 20·w
// is not, whatever the inertia; twice as much viscous friction as the back-emf takes is borne.
func TestSlippingOfAVoltage(t *testing.T) {
	for times, want := range map[float64]Fault{1: Fine, 1.9: Fine, 5: Disagree, 20: Frozen} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.Drive, s.Motor = plant.VoltageDrive, plant.Motor{R: 0.1, K: 1, J: 1}
			_, found := slipOf(s, 1./unknownInertia, func(t float64) (v, u float64) {
				v, a := 3*(1-math.Cos(6*t)), 18*math.Sin(6*t)
				return side * v, side * (times*(v+0.1*a) + 0.3)
			})
			if found.Fault != want {
				t.Errorf("%g times, %+g: %+v, want fault %d", times, side, found, want)
			}
		}
	}
}

// What the equations leave of any effort, and of one that they explain, against a search over both numbers.
func TestSlippingLeavesTheLeast(t *testing.T) {
	for _, effort := range [][3]float64{{0, 0, 0}, {1, 1, 0}, {20, 1, 0}, {-3, 1, 0}, {5, -4, 0}, {5, 9, 0.2}, {40, 30, -2}} {
		var w slipWindow
		for k := range 200 {
			x := 0.01 * float64(k)
			a, b := math.Sin(3*x)+0.2*math.Cos(17*x), math.Sqrt(x)
			w.add(1, [4]float64{0, a, b, effort[0]*a + effort[1]*b + effort[2]*x*x + 7}, 0.01)
		}
		least := math.Inf(1)
		for i := range 101 {
			for k := range 101 {
				least = min(least, leaves(&w, 0.1*float64(i), 0.02*float64(k)))
			}
		}
		if got := w.soundVariance(10, 2); got > least+1e-9 || got < least-2e-3*w.cov[3][3]-1e-9 {
			t.Errorf("%v: %g is left, by search %g", effort, got, least)
		}
	}
}

// leaves is what is left of the effort with a times the acceleration, b times the viscous friction, and the best spring.
func leaves(w *slipWindow, a, b float64) float64 {
	at := [4]float64{0, -a, -b, 1}
	var whole, along float64
	for i, x := range at {
		along += x * w.cov[0][i]
		for k, y := range at {
			whole += x * y * w.cov[min(i, k)][max(i, k)]
		}
	}
	return whole - along*along/w.cov[0][0]
}

// judged is what a window of 1 s tells of an axis of an inertia of twice that of the file at most, that went from one speed (rad/s) to
// another, took an effort of n times its acceleration, size·sin 19t, and of something else of its own.
func judged(n, size, other, from, to float64, early bool) (bad Finding) {
	f, w := newFrozen(frozenSpec(), countNoise), slipWindow{early: early}
	for k := range 1000 {
		t := 1e-3 * float64(k)
		a := size * math.Sin(6*math.Pi*t)
		w.add(from+(to-from)*t, [4]float64{0, a, 0, n*a + other*math.Sin(10*math.Pi*t)}, 1e-3)
	}
	for range 3 {
		bad, _ = w.judge(f, 50e-3, 0, 2)
	}
	return bad
}

// The limits, on both sides: n = 1/0.3 and 100, to both signs; a tenth of the variance that a sound axis leaves, which is that of (n − 2)
// times the acceleration; 0.05 and 0.25 of 3 N·m (rms) that this is at least. A change of speed that the axis had before, and shows, is no
// frozen position; one to the other side is.
func TestSlippingLimits(t *testing.T) {
	for _, c := range []struct {
		name           string
		n, size, other float64
		early, told    bool
	}{
		{"3.2 times", 3.2, 10, 0, false, false},
		{"3.5 times", 3.5, 10, 0, false, true},
		{"99 times", 99, 10, 0, false, true},
		{"101 times", 101, 10, 0, false, false},
		{"a sixth as large, of something else: 1/12", 20, 1, 18 / math.Sqrt(11), false, true},
		{"1/9", 20, 1, 18 / math.Sqrt(8), false, false},
		{"0.04 of 3 N·m", 20, 0.04 * 3 * math.Sqrt2 / 18, 0, false, false},
		{"0.06 of 3 N·m", 20, 0.06 * 3 * math.Sqrt2 / 18, 0, false, true},
		{"0.22 of 3 N·m, where it begins to move", 20, 0.22 * 3 * math.Sqrt2 / 18, 0, true, false},
		{"0.28 of 3 N·m, where it begins to move", 20, 0.28 * 3 * math.Sqrt2 / 18, 0, true, true},
	} {
		for _, sign := range []float64{1, -1} {
			if (c.n < 4 || c.other > 0) && sign < 0 {
				continue // a sound axis leaves more there
			}
			if got := judged(sign*c.n, c.size, c.other, 0, 1, c.early); (got.Fault != Fine) != c.told {
				t.Errorf("%s, %+g: %+v", c.name, sign, got)
			}
		}
	}
	for _, c := range []struct {
		from, to float64
		found    Fault
	}{{0, 1, Frozen}, {10, 11, Disagree}, {10, 9, Frozen}, {-10, -11, Disagree}, {-10, -9, Frozen}} {
		if got := judged(20, 10, 0, c.from, c.to, false); got.Fault != c.found || got.Value*(c.to-c.from) <= 0 || !(got.Limit > 0) {
			t.Errorf("from %g to %g rad/s: %+v, want fault %d", c.from, c.to, got, c.found)
		}
	}
}

// What a mechanism takes is no effort of a share that is not shown.
func TestSlippingBesideAMechanism(t *testing.T) {
	for _, takes := range []bool{false, true} {
		p, told := newSlipping(newFrozen(frozenSpec(), countNoise)), false
		for k := range 1000 {
			at := func(t float64) float64 { return 32 * math.Sin(8*t) }
			t := 1e-3 * float64(k)
			carried := 0.0
			if takes {
				carried = 19 * at(t-1.5e-3)
			}
			bad, _ := p.step(4*(1-math.Cos(8*t)), 20*at(t-1.5e-3), carried, 1e-3, 0, motionShare)
			told = told || bad.Fault != Fine
		}
		if told == takes {
			t.Errorf("a mechanism takes it %v: told %v", takes, told)
		}
	}
}

// The means of a motion that slips are over 10 ms, or three samples where that is longer: 3.33 ms apart the two are the same.
func TestSlippingMeans(t *testing.T) {
	for _, c := range [][2]float64{{1e-3, 10e-3}, {3.3e-3, 10e-3}, {3.4e-3, 10.2e-3}, {20e-3, 60e-3}} {
		s := frozenSpec()
		s.SamplePeriod = c[0]
		if p := newSlipping(newFrozen(s, countNoise)); math.Abs(p.tau-c[1]) > 1e-12 {
			t.Errorf("samples every %g s: means over %g s, want %g", c[0], p.tau, c[1])
		}
	}
}

// How many windows there are, how far apart they begin, and of how many samples each takes one, at every rate.
func TestSlippingWindowsAtEveryRate(t *testing.T) {
	for _, c := range []struct {
		every, spacing float64 // s
		count, stride  int
	}{
		{1e-4, 50e-3, 9, 9}, {5e-4, 50e-3, 9, 8}, {1e-3, 50e-3, 9, 4}, {1.1e-3, 50e-3, 9, 4}, {2e-3, 50e-3, 9, 2}, {2.5e-3, 50e-3, 9, 2},
		{3e-3, 50e-3, 9, 1}, {5e-3, 50e-3, 9, 1}, {10e-3, 100e-3, 5, 1}, {20e-3, 200e-3, 3, 1}, {50e-3, 500e-3, 3, 1},
	} {
		s := frozenSpec()
		s.SamplePeriod = c.every
		p := newSlipping(newFrozen(s, countNoise))
		if p.windowCount != c.count || p.stride != c.stride || math.Abs(p.windowSpacing-c.spacing) > 1e-12 {
			t.Errorf("samples every %g s: %d windows %g s apart, one sample of %d; want %d, %g, %d", c.every, p.windowCount,
				p.windowSpacing, p.stride, c.count, c.spacing, c.stride)
		}
	}
}

// What forgets is as it was at the start, at a slow rate and of a voltage too.
func TestSlippingForgets(t *testing.T) {
	for _, every := range []float64{1e-3, 10e-3, 20e-3} {
		s := frozenSpec()
		s.Drive, s.Motor, s.SamplePeriod = plant.VoltageDrive, plant.Motor{R: 0.1, K: 1, J: 1}, every
		p := newSlipping(newFrozen(s, countNoise))
		fresh := p
		for k := range 200 {
			p.step(3+math.Sin(0.1*float64(k)), float64(k), 0, every, 0, motionShare)
		}
		if p == fresh {
			t.Errorf("samples every %g s: nothing is learned", every)
		}
		if p.forget(); p != fresh {
			t.Errorf("samples every %g s: %+v, want %+v", every, p, fresh)
		}
	}
}
