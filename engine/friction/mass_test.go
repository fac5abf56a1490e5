package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"hilrig/engine"
)

// pulled is a spring whose far end moves at constant speed, plus a ramp and a constant: the loads of the classic tests.
type pulled struct {
	k, speed  float64 // N/m, m/s
	ramp, con float64 // N/s, N
	t, h      float64 // s
}

func (s *pulled) Span(tau, h, x float64) {}

func (s *pulled) At(tau, x, v float64) (force, dx, dv float64) {
	t := s.t + tau
	return s.k*(s.speed*t-x) + s.ramp*t + s.con, -s.k, 0
}

// bench is a mass with its law, state and load.
type bench struct {
	*Mass
	x []float64
	s *pulled
}

func newBench(t testing.TB, law Model, m float64, scheme Scheme, s *pulled) *bench {
	t.Helper()
	b, err := NewMass(m, law, scheme)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{b, b.NewState(), s}
}

// step advances by the step of the load, and its clock.
func (b *bench) step() MassStep {
	r := b.Step(b.s.h, b.x, b.s)
	b.s.t += b.s.h
	return r
}

// Stick-slip of P95, M = 1 kg, spring 2 N/m pulled at 0.1 m/s for 20 s. Reference by stiff adaptive integration:
// break-away 7.458 s, arrest 10.2235 s, break-away 13.8207 s, arrest 16.5863 s (crossings of 0.01 m/s), x(20 s) = 1.27260 m,
// largest speed 0.36982 m/s.
func TestStickSlip(t *testing.T) {
	for _, c := range []struct{ h, tolT, tolX float64 }{{1e-3, 1.5e-3, 1e-4}, {1e-4, 2e-4, 1e-5}} {
		p := p95()
		b := newBench(t, &p, 1, Midpoint, &pulled{k: 2, speed: 0.1, h: c.h})
		vmax := 0.0
		var events []float64
		evals, steps := 0, int(math.Round(20/c.h))
		for range steps {
			at, v := b.s.t, b.x[1]
			r := b.step()
			if r.Status != engine.OK {
				t.Fatalf("h=%g t=%g: %v", c.h, at, r.Status)
			}
			if (v-0.01)*(b.x[1]-0.01) < 0 {
				events = append(events, at+c.h*(0.01-v)/(b.x[1]-v))
			}
			vmax, evals = max(vmax, r.W), evals+r.Evals
		}
		want := []float64{7.458, 10.2235, 13.8207, 16.5863}
		if len(events) != len(want) {
			t.Fatalf("h=%g: events %v, want %v", c.h, events, want)
		}
		for i := range want {
			tol := c.tolT
			if i == 0 {
				tol += 5e-4 // the reference is given to a millisecond
			}
			if math.Abs(events[i]-want[i]) > tol {
				t.Errorf("h=%g: event %d at %.5f s, want %.4f ± %.4f s", c.h, i, events[i], want[i], tol)
			}
		}
		if math.Abs(b.x[0]-1.27260) > c.tolX {
			t.Errorf("h=%g: x(20) = %.6f m, want 1.27260 ± %g", c.h, b.x[0], c.tolX)
		}
		if math.Abs(vmax-0.36982) > 2e-5 {
			t.Errorf("h=%g: largest speed %.6f m/s, want 0.36982", c.h, vmax)
		}
		t.Logf("h=%g: events %.5f, x(20)=%.6f, %.2f evaluations a step", c.h, events, b.x[0], float64(evals)/float64(steps))
		if mean := float64(evals) / float64(steps); mean > 3 {
			t.Errorf("h=%g: %.2f evaluations a step, want at most 3", c.h, mean)
		}
	}
}

// Random laws, steps and loads: work balance exact in every step, storage inequality kept, bristle bounded, no NaN.
func TestMassEnergy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := random(rt, true)
		h := math.Exp(rapid.Float64Range(math.Log(1e-6), math.Log(1e-2)).Draw(rt, "h"))
		m := math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(100)).Draw(rt, "m"))
		b := newBench(t, &p, m, Midpoint, &pulled{h: h})
		work, size := 0.0, 0.0
		for range 100 {
			b.s.con = rapid.Float64Range(-3, 3).Draw(rt, "load") * p.Fs
			v0 := b.x[1]
			r := b.step()
			v, z := b.x[1], b.x[2]
			if r.Status == engine.NonFinite || math.IsNaN(v+z+r.F) {
				rt.Fatalf("non-finite result %+v", r)
			}
			if r.Status == engine.OK {
				dE, dW := m/2*(v-v0)*(v+v0), (r.Load-r.F)*h*r.W
				if scale := m/2*(v*v+v0*v0) + (math.Abs(r.Load)+math.Abs(r.F))*h*math.Abs(r.W); math.Abs(dE-dW) > 1e-7*scale {
					rt.Fatalf("kinetic energy changes by %g J, work is %g J", dE, dW)
				}
			}
			work += r.Work
			size += math.Abs(r.Work)
			if math.Abs(z) > p.Fs/p.Sigma0*(1+1e-12) {
				rt.Fatalf("|z| = %g above %g", math.Abs(z), p.Fs/p.Sigma0)
			}
			if work < p.Energy(b.x[2:])-1e-9*size {
				rt.Fatalf("work put in %g J is less than stored %g J", work, p.Energy(b.x[2:]))
			}
		}
	})
}

func TestMassNonFinite(t *testing.T) {
	p := p95()
	b := newBench(t, &p, 1, Midpoint, &pulled{h: 1e-3, con: math.NaN()})
	b.x[1], b.x[2] = 0.2, 1e-6
	if r := b.step(); r.Status != engine.NonFinite || b.x[0] != 0 || b.x[1] != 0.2 || b.x[2] != 1e-6 {
		t.Errorf("NaN load: %+v, state %v, want the state untouched and a status", r, b.x)
	}
	b.s.con = 1
	if n := testing.AllocsPerRun(100, func() { b.step() }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
}

func FuzzMass(f *testing.F) {
	f.Add(1e5, 316.0, 0.4, 1.0, 1.5, 0.001, 0.0, 1e-3, 1.0, 0.1, 1e-5, 2.0)
	f.Add(11.0, 0.02, 1.5e-4, 0.015, 0.021, 0.5, 0.3, 1e-4, 7e-5, 3.0, 1e-3, 0.1)
	f.Fuzz(func(t *testing.T, s0, s1, s2, fc, fs, vs, vd, h, m, v, z, u float64) {
		in := []float64{s0, s1, s2, fc, fs, vs, h, m}
		for i, x := range in {
			in[i] = math.Abs(x)
			if !(in[i] >= 1e-9 && in[i] <= 1e9) {
				return
			}
		}
		p := LuGre{Sigma0: in[0], Sigma1: in[1], Sigma2: in[2], Fc: in[3], Fs: in[4], Vs: in[5], Vd: math.Abs(vd)}
		if p.Validate() != nil || !(math.Abs(v) < 1e6) || !(math.Abs(u) < 1e9) {
			return
		}
		z = math.Mod(z, p.Fs/p.Sigma0)
		if math.IsNaN(z) {
			return
		}
		b := newBench(t, &p, in[7], Midpoint, &pulled{h: in[6], con: u})
		b.x[1], b.x[2] = v, z
		r := b.step()
		if r.Status == engine.OK && (math.IsNaN(b.x[1]+b.x[2]+r.F) || math.IsInf(b.x[1], 0)) {
			t.Fatalf("%+v from law %+v h=%g m=%g v=%g z=%g u=%g", r, p, in[6], in[7], v, z, u)
		}
		if top := max(p.Fs, p.Fc, p.Sigma0*math.Abs(z)) / p.Sigma0; math.Abs(b.x[2]) > top*(1+1e-9) {
			t.Fatalf("|z| = %g above %g", math.Abs(b.x[2]), top)
		}
	})
}

func BenchmarkMass(b *testing.B) {
	p := p95()
	m := newBench(b, &p, 1, Midpoint, &pulled{k: 2, speed: 0.1, h: 1e-3})
	b.ReportAllocs()
	for b.Loop() {
		m.step()
	}
}
