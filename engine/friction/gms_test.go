package friction

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hilrig/engine"
)

func gmsPC() *GMS {
	return &GMS{Sigma0: 1e3, Ratio: 1.5, Elements: 6, C: 50, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05}
}

// crawlTo moves the law to x (m) from *at, so slowly that s = Fs and σ2·v vanish, and returns the force at the end (N).
func crawlTo(law Smooth, z []float64, at *float64, x float64) float64 {
	const v = 1e-9
	f, _ := law.Trial(Implicit, z, z, Input{Dt: math.Abs(x-*at) / v, V: math.Copysign(v, x-*at)})
	*at = x
	return f
}

// gmsVirgin is ΣFi on the first loading: every element a spring cut off at its share, written without the law's own rule
// for the stiffnesses.
func gmsVirgin(p *GMS, x float64) float64 {
	n := int(p.Elements)
	sum, f := 0.0, 0.0
	for i := range n {
		sum += math.Pow(p.Ratio, -float64(i))
	}
	for i := range n {
		f += min(p.Fs/float64(n), p.Sigma0*math.Pow(p.Ratio, -float64(i))/sum*x)
	}
	return f
}

// The virgin curve starts with σ0, ends at Fs and is the sum of cut-off springs; after a reversal at (xr, Fr) the curve is
// the virgin one doubled in both directions (Masing), F = Fr − 2·virgin((xr − x)/2).
func TestGMSVirginAndMasing(t *testing.T) {
	p := gmsPC()
	if k := gmsVirgin(p, 1e-6) / 1e-6; math.Abs(k/p.Sigma0-1) > 1e-12 {
		t.Errorf("initial stiffness %g N/m, want %g", k, p.Sigma0)
	}
	for _, xr := range []float64{5e-4, 2e-3, 4e-3, 0.02} {
		z, at := newZ(p), 0.0
		for k := range 50 {
			x := xr * float64(k+1) / 50
			if f, want := crawlTo(p, z, &at, x), gmsVirgin(p, x); math.Abs(f-want) > 1e-9 {
				t.Fatalf("virgin curve at %g m: %.12f N, want %.12f", x, f, want)
			}
		}
		fr := gmsVirgin(p, xr)
		for k := range 50 {
			x := xr * (1 - 2*float64(k+1)/50)
			if f, want := crawlTo(p, z, &at, x), fr-2*gmsVirgin(p, (xr-x)/2); math.Abs(f-want) > 1e-9 {
				t.Fatalf("from %g m back to %g m: %.12f N, want %.12f", xr, x, f, want)
			}
		}
	}
}

// Nonlocal memory: a minor loop returns to the point where it began and the main curve goes on as if it had not been. LuGre
// knows its present deflection only: the same loop does not close.
func TestGMSMinorLoop(t *testing.T) {
	path := []float64{2e-3, 1e-3, 1.6e-3, 1.2e-3, 1.6e-3, 1e-3, 2e-3, 3e-3}
	run := func(law Smooth) []float64 {
		z, at := make([]float64, law.StateDim()), 0.0
		var f []float64
		for _, x := range path {
			f = append(f, crawlTo(law, z, &at, x))
		}
		return f
	}
	f := run(gmsPC())
	for _, c := range []struct {
		what string
		i, j int
	}{{"inner loop at 1.6 mm", 2, 4}, {"middle loop at 1 mm", 1, 5}, {"loop at 2 mm", 0, 6}} {
		if math.Abs(f[c.i]-f[c.j]) > 1e-9 {
			t.Errorf("%s: %.12f N, after the loop %.12f N", c.what, f[c.i], f[c.j])
		}
	}
	if want := gmsVirgin(gmsPC(), 3e-3); math.Abs(f[7]-want) > 1e-9 {
		t.Errorf("at 3 mm after the loops: %.12f N, virgin curve %.12f N", f[7], want)
	}
	// the contrast: 0.3 N between two visits of the same point
	lugre := LuGre{Sigma0: 1e3, Fc: 1, Fs: 1.5, Vs: 0.05}
	if g := run(&lugre); math.Abs(g[0]-g[6]) < 0.05 {
		t.Errorf("LuGre closes the loop at 2 mm: %g and %g N", g[0], g[6])
	}
}

// A jump of the velocity while all elements slip: F(t) = s(v2) + (s(v1) − s(v2))·e^{−Ct/s(v2)} + σ2·v2, in steps of 1 ms,
// force at the end of the step. Both ways: at 0.03 m/s the springs stretch fast enough for the rise.
func TestGMSSlipRelaxation(t *testing.T) {
	p := gmsPC()
	p.Ratio = 1.1 // no soft element
	s := func(v float64) float64 { return p.Fc + (p.Fs-p.Fc)*math.Exp(-(v/p.Vs)*(v/p.Vs)) }
	for _, c := range []struct{ v1, v2 float64 }{{0.03, 0.2}, {0.045, 0.03}} {
		z := newZ(p)
		for range 2000 {
			p.Step(z, Input{Dt: 1e-2, V: c.v1})
		}
		for k := range 60 {
			f, _ := p.Trial(Implicit, z, z, Input{Dt: 1e-3, V: c.v2})
			want := s(c.v2) + (s(c.v1)-s(c.v2))*math.Exp(-p.C*1e-3*float64(k+1)/s(c.v2)) + p.Sigma2*c.v2
			if math.Abs(f-want) > 1e-9 {
				t.Fatalf("%g → %g m/s, %d ms: %.10f N, want %.10f N", c.v1, c.v2, k+1, f, want)
			}
		}
	}
}

// Ways of every element through a random motion, against small explicit steps of the differential form with the same rules
// of stick and slip. The error of the reference is one small step of sliding or of loading per event.
func TestGMSAgainstSmallSteps(t *testing.T) {
	p := gmsPC()
	z, n, h := newZ(p), int(p.Elements), 1e-3
	f, slips := make([]float64, n), make([]bool, n)
	k := make([]float64, n)
	sum := 0.0
	for i := range k {
		k[i] = math.Pow(p.Ratio, -float64(i))
		sum += k[i]
	}
	last, worst := 0.0, 0.0
	for step := range 4000 {
		v := 0.06 * math.Sin(0.011*float64(step)) * math.Sin(0.0023*float64(step)+0.3)
		if step > 3000 {
			v = 0.2 * math.Sin(0.05*float64(step))
		}
		s := p.Fc + (p.Fs-p.Fc)*math.Exp(-(v/p.Vs)*(v/p.Vs))
		if v*last < 0 {
			for i := range slips {
				slips[i] = false
			}
		}
		if v != 0 {
			last = v
		}
		const parts = 400
		e, mean, a := h/parts, p.Sigma2*v, 1/float64(n)
		for range parts {
			for i := range f {
				ki := p.Sigma0 * k[i] / sum
				d, old := math.Copysign(1, v), f[i]
				if !slips[i] && d*f[i] >= a*s {
					slips[i] = true
				}
				if slips[i] {
					f[i] += d * min(p.C*(a-d*f[i]/s), ki*math.Abs(v)) * e
				} else {
					f[i] += ki * v * e
					if d*f[i] > a*s {
						f[i], slips[i] = d*max(a*s, d*old), true
					}
				}
				mean += (f[i] + old) / 2 / parts
			}
		}
		got := p.Step(z, Input{Dt: h, V: v})
		worst = max(worst, math.Abs(got-mean))
	}
	t.Logf("largest difference %.2g N", worst)
	if worst > 2e-5 {
		t.Errorf("mean force differs by up to %g N", worst)
	}
}

// One step of any length equals the same motion cut into many.
func TestGMSStepSplits(t *testing.T) {
	p := gmsPC()
	start := newZ(p)
	for _, v := range []float64{0.03, -0.004, 0.2} {
		for k := range 50 {
			p.Step(start, Input{Dt: 1e-3, V: 0.05 * math.Sin(0.3*float64(k))})
		}
		for _, w := range []float64{v, -v / 3, v / 1e4} {
			whole, parts := slices.Clone(start), slices.Clone(start)
			f := p.Step(whole, Input{Dt: 0.04, V: w})
			sum := 0.0
			for range 1000 {
				sum += p.Step(parts, Input{Dt: 0.04 / 1000, V: w}) / 1000
			}
			if math.Abs(sum-f) > 1e-10 {
				t.Errorf("v=%g: mean force %.12f N, in parts %.12f N", w, f, sum)
			}
			for i := range whole {
				if math.Abs(whole[i]-parts[i]) > 1e-10 {
					t.Errorf("v=%g: state %d %.12f, in parts %.12f", w, i, whole[i], parts[i])
				}
			}
		}
	}
}

// The bound on the rise is what makes the law passive: stop from 0.5 m/s, wait, go back. Without the bound the springs are
// loaded from Fc to Fs while nothing moves, and give back (Fs² − Fc²)/(2k) more than they took.
func TestGMSStopAndBack(t *testing.T) {
	p := gmsPC()
	p.Elements, p.Ratio = 1, 1
	z := newZ(p)
	work := 0.0
	move := func(v, dt float64) { work += p.Step(z, Input{Dt: dt, V: v}) * v * dt }
	move(0.5, 2.1e-3) // break-away at Fc/σ0 = 1 mm
	move(1e-9, 10)
	if f := z[0]; math.Abs(f-1) > 2e-4 {
		t.Errorf("the element is at %g N after waiting, want Fc = 1 N", f)
	}
	move(-1e-3, 1)
	if work < p.Energy(z) {
		t.Errorf("work put in %g J, stored %g J", work, p.Energy(z))
	}
}

// Random laws, motions and loads: bounded, finite, passive.
func TestGMSEnergy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := func(name string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(rt, name))
		}
		p := &GMS{Sigma0: log("sigma0", 1, 1e7), Ratio: rapid.Float64Range(1, 10).Draw(rt, "ratio"), C: log("C", 1e-2, 1e6),
			Elements: float64(rapid.IntRange(1, 10).Draw(rt, "n")), Sigma2: log("sigma2", 1e-5, 10), Fc: log("Fc", 1e-3, 100),
			Vs: log("vs", 1e-4, 1)}
		p.Fs = p.Fc * rapid.Float64Range(1, 3).Draw(rt, "Fs")
		driveStorage(rt, p, log("m", 1e-3, 100), p.Fs, p.Vs, 1e-9)
	})
}

// Stick-slip on the public set.
func TestGMSStickSlip(t *testing.T) { stickSlipPeriod(t, func() Model { return gmsPC() }) }

// stickSlipPeriod: the period at 1 ms is that at 50 µs, and Newton's method does not labour.
func stickSlipPeriod(t *testing.T, law func() Model) {
	t.Helper()
	period := func(h float64) float64 {
		b := newBench(t, law(), 1, Midpoint, &pulled{k: 100, speed: 0.02, h: h})
		evals, steps, most := 0, int(math.Round(10/h)), 0
		var up []float64
		for range steps {
			at, v := b.s.t, b.x[1]
			r := b.step()
			if r.Status != engine.OK {
				t.Fatalf("h=%g: %v at %g s", h, r.Status, b.s.t)
			}
			evals, most = evals+r.Evals, max(most, r.Evals)
			if v < 0.02 && b.x[1] >= 0.02 && at > 2 {
				up = append(up, at+h*(0.02-v)/(b.x[1]-v))
			}
		}
		if len(up) < 3 {
			t.Fatalf("h=%g: %d periods, want stick-slip", h, len(up))
		}
		mean := float64(evals) / float64(steps)
		t.Logf("h=%g: period %.5f s, %.2f evaluations a step, at most %d", h, (up[len(up)-1]-up[0])/float64(len(up)-1), mean, most)
		if mean > 4 {
			t.Errorf("h=%g: %.2f evaluations a step", h, mean)
		}
		return (up[len(up)-1] - up[0]) / float64(len(up)-1)
	}
	if a, b := period(1e-3), period(5e-5); math.Abs(a/b-1) > 1e-3 {
		t.Errorf("period %.5f s at 1 ms, %.5f s at 50 µs", a, b)
	}
}

func TestGMSRefusals(t *testing.T) {
	for _, c := range []func(p *GMS){
		func(p *GMS) { p.Elements = 2.5 }, func(p *GMS) { p.Elements = 11 }, func(p *GMS) { p.Elements = 0 },
		func(p *GMS) { p.Fs = 0.9 }, func(p *GMS) { p.Ratio = 0.9 },
	} {
		p := gmsPC()
		if c(p); p.Validate() == nil {
			t.Errorf("%+v was accepted", *p)
		}
	}
}

func BenchmarkGMSMass(b *testing.B) {
	m := newBench(b, gmsPC(), 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 1e-3})
	b.ReportAllocs()
	for b.Loop() {
		m.step()
	}
}
