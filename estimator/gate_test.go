package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

const topVolts, topTurns = 24.0, 300.0 // V, rad/s

// watched is a filter that knows what its drive can do, on a shaft that turns at omega (rad/s), after a second of samples.
func watched(t *testing.T, omega float64) (k *Kalman, theta float64) {
	s := linear()
	s.PositionNoise, s.TopVoltage, s.TopSpeed = 1e-4, topVolts, topTurns
	k = newKalman(t, s)
	xhat := make([]float64, nX)
	for range 1000 {
		theta += omega * tick
		follow(k, tick, [3]float64{theta, 0}, [3]bool{true, true}, s.Motor.K*omega, xhat)
	}
	if !k.Usable() || math.Abs(xhat[XVel]-omega) > 0.1 {
		t.Fatalf("speed %g rad/s, sound %v; want %g", xhat[XVel], k.Usable(), omega)
	}
	return k, theta
}

// next offers the sample that lies off (rad) from where the shaft is, a period later.
func next(k *Kalman, theta *float64, omega, off float64) (taken, jumped bool) {
	*theta += omega * tick
	k.Predict(tick, linear().Motor.K*omega, 0)
	took, jumped, _ := k.Correct(&[3]float64{*theta + off, 0}, &[3]bool{true, true})
	return took[0], jumped
}

// The largest step that is taken, on both sides, at rest and both ways round, after one period and after eight.
func TestWildPositionEdge(t *testing.T) {
	for _, omega := range []float64{0, 40, -40, 290, -290} {
		for _, missing := range []int{0, 7} {
			for _, side := range []float64{1, -1} {
				edge := func(over float64) bool {
					k, theta := watched(t, omega)
					for range missing {
						theta += omega * tick
						k.Predict(tick, linear().Motor.K*omega, 0)
					}
					c := *k
					c.Predict(tick, linear().Motor.K*omega, 0)
					// stop dead, or the motor's full torque and the load's; at most 300 rad/s
					m, span := linear().Motor, float64(missing+1)*tick
					accel := (m.K*topVolts/m.R + math.Abs(c.x[XTorque])) / m.J
					reach := 10*math.Sqrt(c.p[XPos][XPos]+1e-8) + math.Abs(c.x[XVel])*span + min(accel*span*span, topTurns*span)
					off := c.x[XPos] + side*(reach+over) - (theta + omega*tick)
					taken, jumped := next(k, &theta, omega, off)
					if jumped {
						t.Errorf("%g rad/s: one sample is a jump", omega)
					}
					return taken
				}
				if !edge(-1e-9) {
					t.Errorf("%g rad/s, %d missing, side %g: a sample within reach was refused", omega, missing, side)
				}
				if edge(1e-9) {
					t.Errorf("%g rad/s, %d missing, side %g: a sample out of reach was taken", omega, missing, side)
				}
			}
		}
	}
}

// One wild sample of any size leaves no trace beyond one missing sample, and the estimate is sound at the next.
func TestWildSampleLeavesNoTrace(t *testing.T) {
	for _, off := range []float64{0.5, -0.5, 7, -7, 1e6, -1e6, 1e300, -1e300} {
		k, theta := watched(t, 20)
		if taken, jumped := next(k, &theta, 20, off); taken || jumped {
			t.Fatalf("%g rad: taken %v, jumped %v", off, taken, jumped)
		}
		if k.Usable() {
			t.Errorf("%g rad: sound while the newest position is refused", off)
		}
		if k.Unseen() != tick {
			t.Errorf("%g rad: %g s unseen, want one period", off, k.Unseen())
		}
		if taken, _ := next(k, &theta, 20, 0); !taken || !k.Usable() || k.Unseen() != 0 || math.Abs(k.x[XVel]-20) > 0.1 {
			t.Errorf("%g rad: after the next good sample taken %v, sound %v, %g rad/s", off, taken, k.Usable(), k.x[XVel])
		}
	}
}

// What the motor could have done is taken even when it is wrong, and forgotten in time: 10 mrad at 1 kHz.
func TestSmallWildSampleIsForgotten(t *testing.T) {
	for _, off := range []float64{0.01, -0.01} {
		k, theta := watched(t, 0)
		if taken, _ := next(k, &theta, 0, off); !taken {
			t.Fatal("10 mrad in 1 ms is within the motor's reach")
		}
		for range 50 {
			next(k, &theta, 0, 0)
		}
		if math.Abs(k.x[XVel]) > 0.1 || !k.Usable() {
			t.Errorf("%g rad/s after 50 ms, sound %v", k.x[XVel], k.Usable())
		}
	}
}

// A jump that stays is the new position at its fifth sample, told once; the speed is right soon after.
func TestJumpThatStays(t *testing.T) {
	for _, off := range []float64{6.3, -6.3, 1000, -1000} {
		k, theta := watched(t, 20)
		for n := 1; n <= 5; n++ {
			if taken, jumped := next(k, &theta, 20, off); jumped != (n == 5) || taken != (n == 5) {
				t.Fatalf("%g rad, sample %d: taken %v, jumped %v", off, n, taken, jumped)
			}
		}
		for range 10 {
			if taken, jumped := next(k, &theta, 20, off); !taken || jumped {
				t.Fatalf("%g rad: taken %v, jumped %v once more", off, taken, jumped)
			}
		}
		if math.Abs(k.x[XPos]-theta-off) > 1e-3 || math.Abs(k.x[XVel]-20) > 1 || !k.Usable() {
			t.Errorf("%g rad: after 10 ms %g rad too far, %g rad/s, sound %v", off, k.x[XPos]-theta-off, k.x[XVel], k.Usable())
		}
	}
}

// Positions that do not agree with one another are never a new position; the good one after them is taken.
func TestWildSamplesThatDisagree(t *testing.T) {
	for name, off := range map[string]func(n int) float64{
		"to and fro": func(n int) float64 { return 1e4 * float64(1+n%7) * float64(1-2*(n%2)) },
		"upwards":    func(n int) float64 { return 1e4 * float64(1+n) },
		"downwards":  func(n int) float64 { return -1e4 * float64(1+n) },
	} {
		k, theta := watched(t, 0)
		for n := range 40 {
			if taken, jumped := next(k, &theta, 0, off(n)); taken || jumped {
				t.Fatalf("%s, sample %d: taken %v, jumped %v", name, n, taken, jumped)
			}
		}
		if taken, _ := next(k, &theta, 0, 0); !taken || !k.Usable() {
			t.Errorf("%s: a good sample after 40 wild ones: taken %v, sound %v", name, taken, k.Usable())
		}
	}
}

// A wild first sample is overruled by those after it.
func TestWildFirstSample(t *testing.T) {
	for _, first := range []float64{1, -1, 1e6, -1e6} {
		s := linear()
		s.TopVoltage, s.TopSpeed = topVolts, topTurns
		k, theta := newKalman(t, s), 0.0
		next(k, &theta, 0, first)
		for range 100 {
			next(k, &theta, 0, 0)
		}
		if math.Abs(k.x[XPos]) > 1e-3 || math.Abs(k.x[XVel]) > 1 || !k.Usable() {
			t.Errorf("after a first sample of %g rad: %g rad, %g rad/s, sound %v", first, k.x[XPos], k.x[XVel], k.Usable())
		}
	}
}

func TestWildCurrentEdge(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, c := range []struct {
			over float64
			want bool
		}{{-1e-9, true}, {1e-9, false}} {
			k, _ := watched(t, 0)
			top := (topVolts+linear().Motor.K*topTurns)/linear().Motor.R + 10*linear().CurrentNoise
			k.Predict(tick, 0, 0)
			if taken, _, _ := k.Correct(&[3]float64{0, side * (top + c.over)}, &[3]bool{false, true}); taken[1] != c.want {
				t.Errorf("%.10g A: taken %v, want %v", side*(top+c.over), taken[1], c.want)
			}
		}
	}
}

func TestSound(t *testing.T) {
	s := linear()
	s.TopVoltage, s.TopSpeed = topVolts, topTurns
	k, theta := newKalman(t, s), 0.0
	if k.Usable() {
		t.Error("sound before the first sample")
	}
	next(k, &theta, 0, 0)
	if k.Usable() {
		t.Error("sound after one sample: nothing is known of the speed")
	}
	next(k, &theta, 0, 0)
	next(k, &theta, 0, 0)
	if !k.Usable() {
		t.Error("not sound after three samples at rest")
	}
	// an estimate that is not that of the motion, both ways: the positions do not follow it
	for _, v := range []float64{1e4, -1e4, 1e100, -1e100} {
		k, theta := watched(t, 0)
		k.x[XVel] = v
		if next(k, &theta, 0, 0); k.Usable() {
			t.Errorf("sound at %g rad/s while the position stands still", v)
		}
		for range 200 {
			next(k, &theta, 0, 0)
		}
		if !k.Usable() || math.Abs(k.x[XVel]) > 1 {
			t.Errorf("from %g rad/s: sound %v at %g rad/s after 0.2 s", v, k.Usable(), k.x[XVel])
		}
	}
	// a gap that leaves nothing known of the speed
	k, theta = watched(t, 0)
	for range 64 {
		k.Predict(tick, 0, 100)
	}
	if k.Usable() {
		t.Error("sound 64 periods after the last sample under a voltage that is not known")
	}
	if k.Predict(64*tick, 0, 0); !k.Primed() {
		t.Error("not predicted across 64 periods")
	}
	if k.Predict(65*tick, 0, 0); k.Primed() {
		t.Error("predicted across 65 periods")
	}
	// noise far above what was declared: a shaft at rest whose encoder flickers by 30 standard deviations
	k, theta = watched(t, 0)
	for n := range 300 {
		next(k, &theta, 0, 3e-3*float64(1-2*(n%2)))
	}
	if k.Usable() {
		t.Errorf("sound with innovations of %.0f standard deviations", math.Sqrt(k.misfit))
	}
	for range 400 {
		next(k, &theta, 0, 0)
	}
	if !k.Usable() {
		t.Error("not sound 400 samples after the noise ended")
	}
	// one wild sample within the motor's reach is no misfit
	next(k, &theta, 0, 0.01)
	if !k.Usable() {
		t.Errorf("one sample made a misfit of %g", k.misfit)
	}
}

// What counts as noise of the position: flickering, in units of what is declared, both ways about the limit; not a load or an inertia that
// the model does not know, and at a speed not what the times of samples explain.
func TestNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	run := func(shaft, noise, load, timing float64) (times float64, sound bool) {
		k, theta := watched(t, shaft)
		k.SetTiming(timing)
		omega := shaft
		for n := range 2000 {
			if n%200 < 10 { // for 10 ms, to and fro
				omega -= load / linear().Motor.J * tick * float64(1-n/200%2*2)
			}
			next(k, &theta, omega, noise*rng.NormFloat64())
		}
		return k.Noise()
	}
	const r = 1e-4 // rad
	for _, c := range []struct {
		name                       string
		shaft, noise, load, timing float64
		sound                      bool
		lo, hi                     float64
	}{
		{"as declared", 0, r, 0, 0, true, 0.7, 1.3},
		{"five times", 0, 5 * r, 0, 0, true, 3, 7},
		{"forty times", 0, 40 * r, 0, 0, false, 15, 45},
		{"loads of 0.2 N·m", 0, r, 0.2, 0, true, 0.7, 8},
		{"loads of −0.2 N·m", 0, r, -0.2, 0, true, 0.7, 8},
		{"forty times at 20 rad/s", 20, 40 * r, 0, 0, false, 15, 45},
		{"at −20 rad/s, explained by the times", -20, 40 * r, 0, 40 * r / 20, true, 0.2, 1},
		{"at rest, not explained by the times", 0, 40 * r, 0, 40 * r / 20, false, 10, 45},
	} {
		if times, sound := run(c.shaft, c.noise, c.load, c.timing); sound != c.sound || times < c.lo || times > c.hi {
			t.Errorf("%s: noise %.3g times, sound %v", c.name, times, sound)
		}
	}
}
