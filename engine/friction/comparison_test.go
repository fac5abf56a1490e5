package friction

import (
	"math"
	"testing"

	"hilrig/engine"
)

// The comparison scenarios of theory §8 with the public set, for the laws of Dahl type and M2.

// scene is a mass of 1 kg under a smooth law on a spring with a moving end, or under a force.
type scene struct {
	k    float64                 // N/m
	end  func(t float64) float64 // m
	push func(t float64) float64 // N
	t    float64                 // s  beginning of the step
}

func (s *scene) Span(tau, h, x float64) {}

func (s *scene) At(tau, x, v float64) (force, dx, dv float64) {
	if s.push != nil {
		return s.push(s.t + tau), 0, 0
	}
	return s.k * (s.end(s.t+tau) - x), -s.k, 0
}

// reading is what one step of a scene shows.
type reading struct {
	t, x, v float64 // at the end of the step; the velocity of the explicit schemes is half a step older
	work    float64 // J  against friction, second order: the force of the explicit schemes acts between two velocities
	MassStep
}

// play runs a scene over dur seconds and hands every step to see.
func play(t testing.TB, law Model, scheme Scheme, h, dur float64, s *scene, see func(r reading)) {
	t.Helper()
	b, err := NewMass(1, law, scheme)
	if err != nil {
		t.Fatal(err)
	}
	x := b.NewState()
	s.t = 0
	n := int(math.Round(dur / h))
	for k := range n {
		s.t = float64(k) * h
		v := x[1]
		r := b.Step(h, x, s)
		if r.Status != engine.OK {
			t.Fatalf("t=%g: %v", s.t, r.Status)
		}
		work := r.Work
		if scheme >= Explicit {
			work = r.F * h * (v + x[1]) / 2
		}
		see(reading{s.t + h, x[0], x[1], work, r})
	}
}

// figures are the numbers of a law in the five scenarios.
type figures struct {
	breakaway, period    float64 // s    first upward crossing of V, mean distance of those after 2 s
	springMax, springMin float64 // N    after 2 s
	vMax, fMin           float64 // m/s, N, after 2 s
	zeroWork, zeroPeak   float64 // J, m/s
	zeroForce            float64 // N
	swing, loop          float64 // m, J  fourth cycle of spring-like stiction
}

// compare plays stick-slip (k = 100 N/m, V = 0.02 m/s, 10 s), zero crossing (two periods) and spring-like stiction.
func compare(t testing.TB, law Model, scheme Scheme, h float64) (f figures) {
	const k, speed = 100, 0.02
	late := 0.0 // age of the velocity
	if scheme >= Explicit {
		late = h / 2
	}
	var ups []float64
	vOld := 0.0
	f.springMin, f.fMin, f.springMax, f.vMax = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	play(t, law, scheme, h, 10, &scene{k: k, end: func(t float64) float64 { return speed * t }}, func(r reading) {
		if vOld < speed && r.v >= speed {
			ups = append(ups, r.t-late-h*(r.v-speed)/(r.v-vOld))
		}
		vOld = r.v
		if r.t >= 2 {
			spring := k * (speed*r.t - r.x)
			f.springMax, f.springMin = max(f.springMax, spring), min(f.springMin, spring)
			f.vMax, f.fMin = max(f.vMax, r.W), min(f.fMin, r.F)
		}
	})
	f.breakaway = ups[0]
	for len(ups) > 0 && ups[0] < 2 {
		ups = ups[1:]
	}
	f.period = (ups[len(ups)-1] - ups[0]) / float64(len(ups)-1)

	// end of the spring at sin 2t m/s
	play(t, law, scheme, h, 2*math.Pi, &scene{k: k, end: func(t float64) float64 { return (1 - math.Cos(2*t)) / 2 }}, func(r reading) {
		f.zeroWork += r.work
		f.zeroPeak, f.zeroForce = max(f.zeroPeak, math.Abs(r.W)), max(f.zeroForce, math.Abs(r.F))
	})

	// u = 0.5·sin t, a whole number of steps per cycle
	n := math.Round(2 * math.Pi / h)
	lo, hi := math.Inf(1), math.Inf(-1)
	play(t, law, scheme, 2*math.Pi/n, 8*math.Pi, &scene{push: func(t float64) float64 { return 0.5 * math.Sin(t) }}, func(r reading) {
		if r.t > 6*math.Pi-h/2 {
			lo, hi = min(lo, r.x), max(hi, r.x)
		}
		if r.t > 6*math.Pi+h/2 {
			f.loop += r.work
		}
	})
	f.swing = hi - lo
	return f
}

// worst is the largest relative deviation of the figures that theory §8.6 takes.
func (f figures) worst(ref figures) (dev float64, which string) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"first break-away", f.breakaway, ref.breakaway}, {"period", f.period, ref.period}, {"spring max", f.springMax, ref.springMax},
		{"spring min", f.springMin, ref.springMin}, {"zero-crossing work", f.zeroWork, ref.zeroWork},
		{"swing", f.swing, ref.swing}, {"loop work", f.loop, ref.loop},
	} {
		if d := math.Abs(c.got/c.want - 1); d > dev {
			dev, which = d, c.name
		}
	}
	return dev, which
}

func publicLaw(t testing.TB, name string) Model {
	t.Helper()
	info, ok := Find(name)
	if !ok {
		t.Fatalf("no law %s", name)
	}
	return info.NewLaw()
}

// References: adaptive stiff integration of the differential form (SciPy LSODA, rtol 1e-9, atol 1e-12, read every 0.1 ms).
// They agree with the tables of theory §8.1, §8.2 and §8.4 to the digits given there, but for the period of the modified
// Dahl law: its slips alternate between 0.424 and 0.561 s, so a mean (0.4927 s in the long run, 0.494 s in the table)
// depends on the window; and for the peak speed of M2 (1.249 m/s; the table says up to 1.20 m/s for all laws).
var comparisonRefs = map[string]figures{
	"dahl-modified": {breakaway: 1.069986, period: 0.488453, springMax: 1.611033, springMin: 0.938332, vMax: 0.0493642, fMin: 0.811977,
		zeroWork: 5.404902, zeroPeak: 1.170687, zeroForce: 1.468275, swing: 1041.4184e-6, loop: 120.0725e-6},
	"m2": {breakaway: 0.971370, period: 0.859641, springMax: 1.677871, springMin: 0.669705, vMax: 0.0667417, fMin: 0.475798,
		zeroWork: 5.434958, zeroPeak: 1.248702, zeroForce: 1.499481, swing: 1000.5782e-6, loop: 24.11384e-6},
}

// The default scheme within 0.5 % at 1 ms and 0.1 % at 0.1 ms (theory §8.6), the other schemes within twice the figures
// stated there; a figure of "below 0.01 %" counts as 0.01 %.
func TestComparison(t *testing.T) {
	for _, c := range []struct {
		law         string
		scheme      Scheme
		at1ms, fine float64 // largest deviation at 1 ms and at 0.1 ms
	}{
		{"dahl-modified", Midpoint, 0.5e-2, 0.1e-2},
		{"dahl-modified", Implicit, 2 * 2.4e-2, 2 * 0.3e-2},
		{"dahl-modified", Explicit, 2 * 0.05e-2, 2 * 0.01e-2},
		{"dahl-modified", ExplicitPade, 2 * 0.05e-2, 2 * 0.01e-2},
		{"m2", Midpoint, 0.5e-2, 0.1e-2},
		{"m2", Implicit, 2 * 1.5e-2, 2 * 0.14e-2},
	} {
		ref := comparisonRefs[c.law]
		for _, s := range []struct{ h, limit float64 }{{1e-3, c.at1ms}, {1e-4, c.fine}} {
			f := compare(t, publicLaw(t, c.law), c.scheme, s.h)
			dev, which := f.worst(ref)
			t.Logf("%s, %v, %g ms: %.4f %% (%s); vmax %.5f, min F %.4f, peak %.4f m/s %.4f N", c.law, c.scheme, s.h*1e3, 100*dev, which, f.vMax,
				f.fMin, f.zeroPeak, f.zeroForce)
			if dev > s.limit {
				t.Errorf("%s, %v, %g ms: %s off by %.3f %%, want at most %.3f %%", c.law, c.scheme, s.h*1e3, which, 100*dev, 100*s.limit)
			}
			if c.scheme != Midpoint {
				continue
			}
			for _, q := range []struct {
				name      string
				got, want float64
			}{{"largest speed", f.vMax, ref.vMax}, {"least friction", f.fMin, ref.fMin}, {"peak speed", f.zeroPeak, ref.zeroPeak},
				{"break-away force", f.zeroForce, ref.zeroForce}} {
				if math.Abs(q.got/q.want-1) > s.limit {
					t.Errorf("%s, %g ms: %s %.6g, want %.6g within %g %%", c.law, s.h*1e3, q.name, q.got, q.want, 100*s.limit)
				}
			}
		}
	}
}

// Hysteresis: v = 0.06 + 0.04·sin 2πft imposed, Δx from the integral of v, the mean force stamped in the middle of the step;
// F(rising) − F(falling) at 0.06 m/s. Theory §8.3, in mN: 7.15 and 73.6 (modified Dahl), 5.44 and 53.4 (M2), hence half a
// unit of the last digit plus 0.02 mN.
func TestHysteresisLag(t *testing.T) {
	for _, c := range []struct {
		law        string
		freq, want float64 // Hz, mN
	}{{"dahl-modified", 0.1, 7.15}, {"dahl-modified", 1, 73.6}, {"m2", 0.1, 5.44}, {"m2", 1, 53.4}} {
		lag := func(h float64) float64 {
			law := publicLaw(t, c.law)
			w := 2 * math.Pi * c.freq
			x := func(t float64) float64 { return 0.06*t + 0.04*(1-math.Cos(w*t))/w }
			z := newZ(law)
			n := int(math.Round(1 / (c.freq * h)))
			// v passes 0.06 m/s rising at the beginning of a period and falling in its middle, between two stamps
			var rise, fall, prev float64
			for k := range 5 * n {
				tk := float64(k) * h
				f := law.Step(z, Input{Dt: h, V: (x(tk+h) - x(tk)) / h})
				switch k {
				case 4 * n:
					rise = (f + prev) / 2
				case 4*n + n/2:
					fall = (f + prev) / 2
				}
				prev = f
			}
			return (rise - fall) * 1e3
		}
		coarse, fine := lag(1e-3), lag(1e-5)
		unit := 0.005
		if c.freq == 1 {
			unit = 0.05
		}
		t.Logf("%s at %g Hz: %.4f mN at 1 ms, %.4f mN at 10 µs", c.law, c.freq, coarse, fine)
		if math.Abs(fine-c.want) > unit {
			t.Errorf("%s at %g Hz: lag %.4f mN, want %.4g mN", c.law, c.freq, fine, c.want)
		}
		if math.Abs(coarse-fine) > 0.02 {
			t.Errorf("%s at %g Hz: lag %.4f mN at 1 ms, %.4f mN at 10 µs, want within 0.02 mN", c.law, c.freq, coarse, fine)
		}
	}
}

// Velocity step from 0 to 1 m/s, theory §8.5: modified Dahl rises as 0.4 + 1 − e^{−t/1.5 ms} with d0/v = 1.5 ms, M2 starts at
// its largest force 1.5 N and ends, as the other, at 1.4 N.
func TestVelocityStep(t *testing.T) {
	const h = 1e-4
	d := publicLaw(t, "dahl-modified")
	z := newZ(d)
	for k := range 200 {
		f := d.Step(z, Input{Dt: h, V: 1})
		// mean of the closed form; g(1 m/s) = 1 N to the last digit
		t0, t1 := float64(k)*h/1.5e-3, float64(k+1)*h/1.5e-3
		if want := 1.4 - (math.Exp(-t0)-math.Exp(-t1))/(t1-t0); math.Abs(f-want) > 1e-12 {
			t.Fatalf("modified Dahl, step %d: %.15g N, want %.15g N", k, f, want)
		}
	}
	m := publicLaw(t, "m2")
	z = newZ(m)
	peak, f := 0.0, 0.0
	for k := range 5000 {
		f = m.Step(z, Input{Dt: h, V: 1})
		// s = 1 − e^{−t/τs} for this v; both contacts at their levels
		s := 1 - (math.Exp(-float64(k)*h/0.02)+math.Exp(-float64(k+1)*h/0.02))/2
		if want := s*1.4 + (1-s)*1.5; math.Abs(f-want) > 1e-12 {
			t.Fatalf("M2, step %d: %.15g N, want %.15g N", k, f, want)
		}
		peak = max(peak, f)
	}
	if math.Abs(peak-1.5) > 1e-3 || math.Abs(f-1.4) > 1e-6 {
		t.Errorf("M2: largest force %g N, last %g N, want 1.5 and 1.4 N", peak, f)
	}
}

// The equation of a step on a mass is solved with few evaluations in spite of the kinks: theory §7.0c states about 3.5 for M2.
func TestComparisonEvaluations(t *testing.T) {
	for _, c := range []struct {
		law   string
		limit float64
	}{{"presliding-spring", 3}, {"dahl", 3}, {"dahl-modified", 3}, {"bouc-wen", 3}, {"m2", 3.9}} {
		evals, steps := 0, 0
		play(t, publicLaw(t, c.law), Midpoint, 1e-3, 10, &scene{k: 100, end: func(t float64) float64 { return 0.02 * t }}, func(r reading) {
			evals += r.Evals
			steps++
		})
		mean := float64(evals) / float64(steps)
		t.Logf("%s: %.2f evaluations a step", c.law, mean)
		if mean > c.limit {
			t.Errorf("%s: %.2f evaluations a step, want at most %g", c.law, mean, c.limit)
		}
	}
}

func BenchmarkBristleLaws(b *testing.B) {
	for _, name := range []string{"presliding-spring", "dahl", "dahl-modified", "m2", "bouc-wen"} {
		b.Run(name+"/imposed", func(b *testing.B) {
			law := publicLaw(b, name)
			z := newZ(law)
			var vs [1024]float64
			for k := range vs {
				vs[k] = 0.06 + 0.1*math.Sin(2*math.Pi*float64(k)/1024)
			}
			k := 0
			b.ReportAllocs()
			for b.Loop() {
				law.Step(z, Input{Dt: 1e-3, V: vs[k&1023]})
				k++
			}
		})
		b.Run(name+"/mass", func(b *testing.B) {
			m := newBench(b, publicLaw(b, name), 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 1e-3})
			b.ReportAllocs()
			for b.Loop() {
				m.step()
			}
		})
	}
}
