package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func leuvenPC() *Leuven {
	return &Leuven{Bristle: LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}, Reach: 2, N: 2}
}

// literalLeuven is the law as the source writes it, with the deflection z as its state, a stack of (z, Fh) at the reversals
// and small steps of the midpoint rule.
type literalLeuven struct {
	*Leuven
	z, dir float64
	at     []struct{ z, f float64 } // the first entry is the origin of the first loading
}

func newLiteral(p *Leuven) *literalLeuven {
	return &literalLeuven{Leuven: p, at: []struct{ z, f float64 }{{}}}
}

// fh is Fb + Fd(z) and Fd.
func (l *literalLeuven) fh(z float64) (f, fd float64) {
	y, b := l.Reach*l.level(), l.at[len(l.at)-1]
	c := 2.0
	if len(l.at) == 1 {
		c = 1
	}
	d := l.Bristle.Sigma0 * math.Abs(z-b.z) / c
	fd = math.Copysign(c*y*d/(y+d), z-b.z)
	return b.f + fd, fd
}

func (l *literalLeuven) rate(z, s float64) float64 {
	f, fd := l.fh(z)
	room := s - l.at[len(l.at)-1].f
	if room*s < 1e-3*s*s {
		fd, room = f, s
	}
	psi := fd / room
	return 1 - math.Copysign(math.Pow(math.Abs(psi), l.N), psi)
}

// move goes along dx (m) at velocity v and returns the mean and the last Fh.
func (l *literalLeuven) move(dx, v float64, parts int) (mean, last float64) {
	s := math.Copysign(l.Bristle.Fc+(l.Bristle.Fs-l.Bristle.Fc)*math.Exp(-(v/l.Bristle.Vs)*(v/l.Bristle.Vs)), dx)
	if l.dir*dx < 0 {
		f, _ := l.fh(l.z)
		l.at = append(l.at, struct{ z, f float64 }{l.z, f})
	}
	l.dir = math.Copysign(1, dx)
	e := dx / float64(parts)
	for range parts {
		f0, _ := l.fh(l.z)
		// no room left, or the mirror image of the first reversal: back to the curve of first loading
		if n := len(l.at); n > 1 && (s-l.at[n-1].f)*s < 1e-3*s*s || n == 2 && l.dir*f0 >= -l.dir*l.at[1].f {
			y := l.Reach * l.level()
			l.at = l.at[:1]
			l.at[0].z = l.z - f0*y/(l.Bristle.Sigma0*(y-math.Abs(f0)))
			l.at[0].f = 0
		}
		if n := len(l.at); n > 2 && l.dir*f0 >= l.dir*l.at[n-2].f {
			l.at = l.at[:n-2]
		}
		mid := l.z + e/2*l.rate(l.z, s)
		l.z += e * l.rate(mid, s)
		last, _ = l.fh(l.z)
		mean += (f0 + last) / 2 / float64(parts)
	}
	return mean, last
}

// A random walk of strokes with reversals, minor loops and changes of speed, against small steps of the source's equations:
// within 0.1 % of Fs.
func TestLeuvenAgainstSmallSteps(t *testing.T) {
	for _, n := range []float64{1, 2, 3.5, 12} {
		p := leuvenPC()
		p.N, p.Bristle.Sigma1, p.Bristle.Sigma2 = n, 0, 0
		z, l := newZ(p), newLiteral(p)
		worst := 0.0
		for k := range 300 {
			// three scales of stroke at slow and at fast motion
			dx := 4e-3 * math.Pow(0.35, float64(k%4)) * math.Sin(1.7*float64(k))
			v := math.Copysign(1e-3*math.Pow(100, float64(k/60%2)), dx)
			mean, _ := l.move(dx, v, 4000)
			f := p.Step(z, Input{Dt: dx / v, V: v})
			worst = max(worst, math.Abs(f-mean))
			if math.Abs(f-mean) > 1.5e-3 {
				t.Fatalf("n=%g, stroke %d of %.3g m: mean force %.5f N, want %.5f N", n, k, dx, f, mean)
			}
		}
		t.Logf("n=%g: largest difference %.2g N", n, worst)
	}
}

// First loading and Masing's branches in closed form: with a large exponent z = x below half the level. The loops close,
// and behind the outermost the law is on the curve of first loading again.
func TestLeuvenWipesOut(t *testing.T) {
	p := leuvenPC()
	p.N = 20
	y := func(x float64) float64 {
		a := p.Reach * p.Bristle.Fs
		return a * p.Bristle.Sigma0 * x / (a + p.Bristle.Sigma0*x)
	}
	z, at := newZ(p), 0.0
	near := func(what string, f, want float64) {
		t.Helper()
		if math.Abs(f-want) > 2e-6 { // 0.55^20 = 6e-6 of the slope, and the midpoint of the parts
			t.Errorf("%s: %.8f N, want %.8f N", what, f, want)
		}
	}
	for k := range 10 {
		x := 6e-5 * float64(k+1)
		near("first loading", crawlTo(p, z, &at, x), y(x))
	}
	top := y(6e-4)
	near("back to 0.2 mm", crawlTo(p, z, &at, 2e-4), top-2*y(2e-4))
	low := top - 2*y(2e-4)
	near("up to 0.45 mm", crawlTo(p, z, &at, 4.5e-4), low+2*y(1.25e-4))
	crawlTo(p, z, &at, 3.5e-4)
	crawlTo(p, z, &at, 4e-4)
	if z[1] != 5 {
		t.Errorf("branch %g, want 5: four reversals behind us", z[1])
	}
	near("inner loops closed", crawlTo(p, z, &at, 5.5e-4), low+2*y(1.75e-4))
	if z[1] != 3 {
		t.Errorf("branch %g, want 3", z[1])
	}
	near("on the curve of first loading", crawlTo(p, z, &at, 7e-4), y(7e-4))
	if z[1] != 1 {
		t.Errorf("branch %g, want 1: everything forgotten", z[1])
	}
}

// The stack is bounded: after more reversals than it holds the oldest minor loop is lost, the outermost reversal and the
// youngest ones are not, and the force stays within its bounds.
func TestLeuvenDeepLoops(t *testing.T) {
	p := leuvenPC()
	z, at := newZ(p), 0.0
	crawlTo(p, z, &at, 2e-3)
	outer := z[0]
	var marks []float64
	x, size := 2e-3, 1.6e-3
	for k := range 25 {
		size *= 0.85
		x += size * (2*float64(k%2) - 1)
		crawlTo(p, z, &at, x)
		marks = append(marks, z[0])
		if d := math.Abs(z[1]); d > leuvenDepth+1 {
			t.Fatalf("%g reversals on the stack", d-1)
		}
	}
	if z[2] != outer {
		t.Errorf("outermost reversal %g, want %g", z[2], outer)
	}
	k := int(math.Abs(z[1])) - 1
	for i := range k - 2 {
		if got, want := z[2+k-1-i], marks[len(marks)-2-i]; got != want {
			t.Errorf("reversal %d before the last: %g, want %g", i, got, want)
		}
	}
	crawlTo(p, z, &at, 0.05)
	if math.Abs(z[0]-p.Bristle.Fs) > 1e-6 || z[1] != 1 {
		t.Errorf("after long sliding Fh = %g N on branch %g, want Fs = 1.5 N on 1", z[0], z[1])
	}
}

// With n = 1 and a straight hysteresis function first loading is the relaxation of LuGre: F = Fs·(1 − e^{−σ0x/Fs}). The
// hyperbola with the largest reach bends by ½·F/Y = 0.5 % at most.
func TestLeuvenIsLuGreOnFirstLoading(t *testing.T) {
	p := &Leuven{Bristle: LuGre{Sigma0: 1e3, Fc: 1, Fs: 1.5, Vs: 0.05}, Reach: 100, N: 1}
	z, at := newZ(p), 0.0
	for _, x := range []float64{5e-4, 1e-3, 2e-3, 4e-3, 1e-2} {
		f, want := crawlTo(p, z, &at, x), 1.5*(1-math.Exp(-1e3*x/1.5))
		if math.Abs(f-want) > 1e-2*want {
			t.Errorf("at %g m: %.6f N, LuGre %.6f N", x, f, want)
		}
	}
}

// The energy is the work of a slow way back, for an exponent that leaves no slip on it.
func TestLeuvenEnergy(t *testing.T) {
	p := leuvenPC()
	p.N, p.Bristle.Sigma1, p.Bristle.Sigma2 = 20, 0, 0
	z, at := newZ(p), 0.0
	for _, x := range []float64{6e-4, 3e-4, 5e-4, 4.2e-4, 4.8e-4} {
		crawlTo(p, z, &at, x)
	}
	stored, work := p.Energy(z), 0.0
	for range 100000 {
		const v = -1e-6
		f := p.Step(z, Input{Dt: 1e-2, V: v})
		if z[0] < 0 {
			break
		}
		work += f * v * 1e-2
	}
	if math.Abs(-work/stored-1) > 1e-3 {
		t.Errorf("stored %g J, given back %g J", stored, -work)
	}
}

// Fs = Fc is passive for every motion and load. The parts of the step leave 1e-4 of the work turned over.
func TestLeuvenStorage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := func(name string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(rt, name))
		}
		p := &Leuven{Bristle: LuGre{Sigma0: log("sigma0", 1, 1e7), Sigma1: log("sigma1", 1e-3, 1e4), Sigma2: log("sigma2", 1e-5, 10),
			Fc: log("Fc", 1e-3, 100), Vs: log("vs", 1e-4, 1)}, Reach: log("reach", 1.05, 99), N: rapid.Float64Range(1, 20).Draw(rt, "n")}
		p.Bristle.Fs = p.Bristle.Fc
		if ok, _ := p.Passive(); !ok {
			rt.Fatal("counts as not passive")
		}
		driveStorage(rt, p, log("m", 1e-3, 100), p.Bristle.Fs, p.Bristle.Vs, 1e-4)
	})
}

// The verdict "not passive" is real: small loops at 0.2 N, up at 1 mm/s and down at 1 m/s, give work in every turn.
func TestLeuvenPump(t *testing.T) {
	turn := func(fs float64) float64 {
		p := leuvenPC()
		p.Bristle.Fs, p.Bristle.Sigma1, p.Bristle.Sigma2, p.N, p.Reach = fs, 0, 0, 1, 100
		l, work := newLiteral(p), 0.0
		until := func(v, target float64) {
			dx := math.Copysign(1e-8, v)
			for f, _ := l.fh(l.z); (target-f)*v > 0; f, _ = l.fh(l.z) {
				m, _ := l.move(dx, v, 1)
				work += m * dx
			}
		}
		until(1e-3, 0.25)
		for range 5 {
			until(-1, 0.245)
			until(1e-3, 0.25)
		}
		before := work
		for range 200 {
			until(-1, 0.245)
			until(1e-3, 0.25)
		}
		return (work - before) / 200
	}
	if w := turn(1.0); w < 0 {
		t.Errorf("Fs = Fc: %g J a turn, want a loss", w)
	}
	if w := turn(1.9); w > 0 {
		t.Errorf("Fs = 1.9·Fc: %g J a turn, want a gain", w)
	}
}

func TestLeuvenStickSlip(t *testing.T) { stickSlipPeriod(t, func() Model { return leuvenPC() }) }

func BenchmarkLeuvenMass(b *testing.B) {
	m := newBench(b, leuvenPC(), 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 1e-3})
	b.ReportAllocs()
	for b.Loop() {
		m.step()
	}
}
