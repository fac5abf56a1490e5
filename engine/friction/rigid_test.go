package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"hilrig/engine"
)

// watched is a load that notes when parts of a step begin behind its start: the instants of the events.
type watched struct {
	pulled
	cuts []float64 // s
}

func (w *watched) Span(tau, h, x float64) {
	if t := w.t + tau; tau > 0 && (len(w.cuts) == 0 || t > w.cuts[len(w.cuts)-1]) {
		w.cuts = append(w.cuts, t)
	}
}

// go on for a number of steps, with what is to be looked at after each of them.
func (w *watched) run(b *Mass, x []float64, steps int, look func(r MassStep)) {
	for range steps {
		r := b.Step(w.h, x, w)
		w.t += w.h
		if look != nil {
			look(r)
		}
	}
}

func newMass(t testing.TB, law Model, m float64) (*Mass, []float64) {
	t.Helper()
	b, err := NewMass(m, law, Midpoint)
	if err != nil {
		t.Fatal(err)
	}
	return b, b.NewState()
}

// A block under Coulomb friction decelerates evenly: it stops after v0²·M/(2·Fc), at v0·M/Fc, whatever the step.
func TestCoulombBlockStopsWhereItMust(t *testing.T) {
	const m, fc, v0 = 2.0, 3.0, 0.7
	for _, law := range []Model{&Coulomb{Fc: fc}, &Coulomb{Mu: 0.3}, &StaticCoulombViscous{Fc: fc, Fs: 4, Delta: 2}, &Karnopp{Fc: fc, Fs: 4},
		&Kato{Fc: fc, FsInf: 4, Gamma: 1, M: 0.5}} {
		for _, h := range []float64{7e-6, 1e-3, 0.013, 0.11, 1} {
			w := &watched{pulled: pulled{h: h}}
			b, x := newMass(t, law, m)
			b.N = 10
			x[1] = -v0
			work := 0.0
			w.run(b, x, int(0.6/h)+1, func(r MassStep) { work += r.Work })
			// rounding only: 1e5 steps of 1e-16
			if d := x[0] + v0*v0*m/(2*fc); math.Abs(d) > 1e-11 || x[1] != 0 {
				t.Errorf("%T h=%g: stops at %.15g m with %g m/s, off by %g", law, h, x[0], x[1], d)
			}
			if len(w.cuts) != 1 || math.Abs(w.cuts[0]-v0*m/fc) > 1e-11 {
				t.Errorf("%T h=%g: events at %v, want %.15g", law, h, w.cuts, v0*m/fc)
			}
			if math.Abs(work/(0.5*m*v0*v0)-1) > 1e-10 {
				t.Errorf("%T h=%g: work %g J of %g", law, h, work, 0.5*m*v0*v0)
			}
		}
	}
}

// A block on a spring under Coulomb friction: every half cycle takes 2·Fc/k off the amplitude, each takes π·√(M/k), and it
// stops for good where the spring is within Fc. Released at 1.05 m with 2·Fc/k = 0.2: turns at −0.85, 0.65, … and stops at
// 0.05 after five half cycles.
func TestSpringBlockLosesTheSameEveryHalfCycle(t *testing.T) {
	const m, k, fc, x0 = 1.0, 20.0, 2.0, 1.05
	var errs [2]float64
	for i, h := range []float64{4e-3, 2e-3} {
		w := &watched{pulled: pulled{k: k, h: h}}
		b, x := newMass(t, &Coulomb{Fc: fc}, m)
		x[0] = x0
		var turns []float64
		n := 0
		w.run(b, x, int(6/h), func(r MassStep) {
			if len(w.cuts) > n {
				// within a step of the turning point, to second order the same position
				n, turns = len(w.cuts), append(turns, x[0])
			}
		})
		if len(turns) != 5 {
			t.Fatalf("h=%g: events at %v (%v), want 5", h, w.cuts, turns)
		}
		for j, at := range w.cuts {
			want := float64(j+1) * math.Pi * math.Sqrt(m/k)
			errs[i] = max(errs[i], math.Abs(at-want))
			// phase of the midpoint rule, (ωh)²/12 of the time, and the chord at the turn, h²·ω²/8 of a half cycle
			if tol := 0.3 * h * h * k / m * want; math.Abs(at-want) > tol {
				t.Errorf("h=%g: turn %d at %.8f s, want %.8f ± %.1g", h, j, at, want, tol)
			}
			pos := (x0 - 2*fc/k*float64(j+1)) * math.Pow(-1, float64(j+1))
			if math.Abs(turns[j]-pos) > 0.5*k/m*h*h*x0 {
				t.Errorf("h=%g: turn %d at %.6f m, want %.6f", h, j, turns[j], pos)
			}
		}
		if math.Abs(x[0]+0.05) > 0.5*k/m*h*h*x0 || x[1] != 0 {
			t.Errorf("h=%g: rests at %g m with %g m/s, want -0.05", h, x[0], x[1])
		}
	}
	if order := math.Log2(errs[0] / errs[1]); order < 1.8 {
		t.Errorf("order %.2f (errors %g)", order, errs)
	}
}

// Under a ramp the body does not move at all until the level, breaks away at the exact instant, inside the step, and then
// follows M·a = r·t − Fc: x = (Fs − Fc)τ²/2M + rτ³/6M. The midpoint rule is exact in v, h²·r·τ/12M too far in x.
func TestStaticLevelHoldsAndReleasesExactly(t *testing.T) {
	const m, r = 1.5, -0.7
	for _, law := range []Model{&Karnopp{Fc: 1, Fs: 1.5}, &StaticCoulombViscous{Fc: 1, Fs: 1.5, Delta: 1},
		&RisingStatic{Fc: 1, FsInf: 1.5, Gamma: 3}, &Kato{Fc: 1, FsInf: 1.5, Gamma: 1, M: 0.5}} {
		for _, h := range []float64{1e-3, 0.0371} {
			w := &watched{pulled: pulled{ramp: r, h: h}}
			b, x := newMass(t, law, m)
			away := 1.5 / math.Abs(r)
			for w.t+h < away {
				mid := r * (w.t + h/2)
				w.run(b, x, 1, func(s MassStep) {
					if x[0] != 0 || x[1] != 0 || math.Abs(s.F-mid) > 1e-14 || s.Work != 0 {
						t.Fatalf("%T: moves at %g s: x=%v F=%g, want %g", law, w.t, x[:2], s.F, mid)
					}
				})
			}
			w.run(b, x, 20, nil)
			if len(w.cuts) != 1 || math.Abs(w.cuts[0]-away) > 1e-12 {
				t.Errorf("%T h=%g: released at %v, want %.15g s", law, h, w.cuts, away)
			}
			tau := w.t - away
			v, p := 0.5*tau/m-r*tau*tau/2/m, 0.25*tau*tau/m-r*tau*tau*tau/6/m
			if math.Abs(x[1]+v) > 1e-12 || math.Abs(x[0]+p) > math.Abs(r)*h*h*tau/12/m*1.0001 {
				t.Errorf("%T h=%g: x=%g v=%g, want %g %g", law, h, x[0], x[1], -p, -v)
			}
		}
	}
	// exactly on the level it holds; a hair above it does not
	for _, c := range []struct {
		u     float64
		moves bool
	}{{1.5, false}, {-1.5, false}, {1.5000001, true}} {
		b := newBench(t, &Karnopp{Fc: 1, Fs: 1.5}, 1, Midpoint, &pulled{con: c.u, h: 1e-3})
		for range 100 {
			b.step()
		}
		if (b.x[0] != 0) != c.moves {
			t.Errorf("u = %v N: x = %g", c.u, b.x[0])
		}
	}
}

// Order of the machine on stick-slip with every curve, and on the laws whose level or force has a history: position after
// several slips against a step 32 times finer.
func TestRigidStickSlipIsOfSecondOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		law  Model
	}{
		{"coulomb with a step of level", &StaticCoulombViscous{Fc: 1, Fs: 1.5, Fv: 0.4, Delta: 1}},
		{"root of the speed", &StaticCoulombViscous{Fc: 1, Fs: 1.5, Fv: 0.4, Delta: 1.5}},
		{"hess-soom", &Stribeck{Curve: HessSoom, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4}},
		{"gauss", &Stribeck{Curve: BoPavelescu, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4, Delta: 2}},
		{"tustin", &Stribeck{Curve: Tustin, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4}},
		{"kato", &Kato{Fc: 1, FsInf: 1.5, Gamma: 1.66, M: 0.65, Fv: 0.4}},
		{"armstrong", &RisingStatic{Fc: 1, FsInf: 1.5, Gamma: 0.1, Fv: 0.4}},
	} {
		end := func(n int) float64 {
			b := newBench(t, c.law, 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 2.95 / float64(n)})
			slips, stuck := 0, true
			for range n {
				b.step()
				if stuck != (b.x[1] == 0) {
					stuck = !stuck
					slips++
				}
			}
			if slips < 4 {
				t.Fatalf("%s: only %d changes of mode", c.name, slips)
			}
			return b.x[0]
		}
		// the phase of the events in the step makes single errors scatter: the mean over eight steps of each size
		ref := end(1 << 18)
		mean := func(n int) float64 {
			sum := 0.0
			for i := range 8 {
				sum += math.Abs(end(n+n*i/16)-ref) * math.Pow(1+float64(i)/16, 2)
			}
			return sum / 8
		}
		e1, e2 := mean(1024), mean(4096)
		order := math.Log2(e1/e2) / 2
		t.Logf("%s: errors %.3g, %.3g m, order %.2f", c.name, e1, e2, order)
		if order < 1.8 {
			t.Errorf("%s: order %.2f, want ≥ 1.8", c.name, order)
		}
	}
}

// switched draws a law with a rigid stick mode with parameters over several decades.
func drawRigid(t *rapid.T) Model {
	for {
		info := rapid.SampledFrom(Laws()).Draw(t, "law")
		law := info.NewLaw()
		if _, ok := law.(interface {
			level([]float64, float64) float64
		}); !ok && info.Name != "karnopp" && info.Name != "coulomb" {
			continue
		}
		if drawParams(t, law) {
			return law
		}
	}
}

// Whatever the parameters, the step and the load: no NaN, friction never drives, the energy balance closes, the body under
// a load that stays below the sliding friction comes to rest and then does not move again.
func TestRigidNeverDrives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		law := drawRigid(rt)
		m := math.Exp(rapid.Float64Range(-5, 5).Draw(rt, "m"))
		h := math.Exp(rapid.Float64Range(math.Log(1e-6), math.Log(1e-2)).Draw(rt, "h"))
		w := &watched{pulled: pulled{h: h}}
		b, x := newMass(t, law, m)
		if k, ok := law.(*Karnopp); ok && k.Dv > 0 {
			rt.Skip("the dead zone has its own account")
		}
		level := max(math.Abs(law.SteadyForce(1e-6)), 1e-6)
		x[1] = rapid.Float64Range(-1, 1).Draw(rt, "v") * level * h / m * 20
		for range 60 {
			w.con = rapid.Float64Range(-3, 3).Draw(rt, "load") * level
			w.ramp = rapid.SampledFrom([]float64{0, 0, -1, 1}).Draw(rt, "ramp") * level / h
			w.t = 0
			v0, x0 := x[1], x[0]
			r := b.Step(h, x, w)
			if d := x[0] + x[1] + r.F + r.Work; r.Status == engine.NonFinite || d-d != 0 {
				rt.Fatalf("%+v, state %v", r, x)
			}
			if r.Work < 0 || r.Parts > maxParts+3 {
				rt.Fatalf("friction drives: %+v", r)
			}
			if w.ramp == 0 && r.Status == engine.OK {
				dE, in := m/2*(x[1]-v0)*(x[1]+v0), w.con*r.W*h
				if scale := m/2*(x[1]*x[1]+v0*v0) + math.Abs(in) + r.Work; math.Abs(dE-in+r.Work) > 1e-7*scale+1e-300 {
					rt.Fatalf("kinetic energy changes by %g J, load gives %g, friction takes %g", dE, in, r.Work)
				}
			}
			if math.Abs(x[0]-x0-r.W*h) > 1e-12*(math.Abs(x[0])+math.Abs(x0))+1e-300 {
				rt.Fatalf("W = %g, Δx/h = %g", r.W, (x[0]-x0)/h)
			}
		}
		if _, ok := law.(*LinearSurrogate); ok {
			return // it may have no friction at all at some speed
		}
		// rest
		w.ramp, w.con = 0, 0.3*level
		if _, ok := law.(*Stribeck); !ok {
			w.con = 0
		}
		v, turns := x[1], 0
		for range 400 {
			b.Step(h, x, w)
			if x[1]*v < 0 {
				turns++
			}
			v = x[1]
			if v == 0 {
				break
			}
		}
		if turns > 1 {
			rt.Fatalf("%d reversals under a small load", turns)
		}
		if at := x[0]; v == 0 {
			for range 50 {
				if r := b.Step(h, x, w); x[0] != at || x[1] != 0 || r.F != r.Load {
					rt.Fatalf("does not stay at rest: %+v, x = %v", r, x[:2])
				}
			}
		}
	})
}

// A bad load leaves the state alone, also behind an event.
func TestRigidNonFiniteLoad(t *testing.T) {
	for _, law := range []Model{&Karnopp{Fc: 1, Fs: 1.5}, &Stribeck{Curve: Tustin, Fc: 1, Fs: 1.5, Vs: 0.05}} {
		for _, v := range []float64{0, 0.3} {
			for _, u := range []float64{math.NaN(), math.Inf(1)} {
				b := newBench(t, law, 1, Midpoint, &pulled{h: 1e-3, con: u})
				b.x[1] = v
				if r := b.step(); r.Status != engine.NonFinite || b.x[0] != 0 || b.x[1] != v {
					t.Errorf("%T u=%g: %+v, state %v", law, u, r, b.x)
				}
			}
		}
	}
}

// A load that is not linear in position and velocity: the step solves it too. A stiff bumper, u = −k·x³, has to give back what
// it took, less friction: the energy of the whole is that of the start less the work.
func TestRigidNonlinearLoad(t *testing.T) {
	b, x := newMass(t, &Karnopp{Fc: 0.1, Fs: 0.2}, 1)
	x[1] = 1
	l := bumper{k: 1e4}
	work := 0.0
	for range 3000 {
		r := b.Step(1e-3, x, &l)
		work += r.Work
		if r.Status != engine.OK {
			t.Fatalf("%+v", r)
		}
	}
	// midpoint does not conserve a quartic exactly, but to h²
	if e := 0.5*x[1]*x[1] + 1e4/4*math.Pow(x[0], 4) + work; math.Abs(e-0.5) > 2e-3 {
		t.Errorf("energy and work %g J, want 0.5", e)
	}
}

type bumper struct{ k float64 }

func (b *bumper) Span(tau, h, x float64) {}
func (b *bumper) At(tau, x, v float64) (f, dx, dv float64) {
	return -b.k * x * x * x, -3 * b.k * x * x, 0
}

// Imposed motion: the curve at v ≠ 0; at rest the applied force up to the level.
func TestRigidImposed(t *testing.T) {
	curve := Stribeck{Curve: HessSoom, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4}
	for _, c := range []struct {
		law      Model
		in       Input
		want     float64
		explains string
	}{
		{&Coulomb{Fc: 2}, Input{Dt: 1e-3, V: -3}, -2, "level"},
		{&Coulomb{Mu: 0.5, Fc: 2}, Input{Dt: 1e-3, V: 1e-9, N: 6}, 3, "µN"},
		{&Coulomb{Mu: 0.5, Fc: 2}, Input{Dt: 1e-3, V: 1, N: -1}, 0, "lifted off"},
		{&Coulomb{Mu: 0.5, N0: 4}, Input{Dt: 1e-3, V: -1}, -2, "nominal load"},
		{&Coulomb{Fc: 2}, Input{Dt: 1e-3, Fa: 1.7}, 1.7, "balance"},
		{&Coulomb{Fc: 2}, Input{Dt: 1e-3, Fa: -2.7}, -2, "overload"},
		{&Viscous{Fv: 3, Delta: 0.5}, Input{Dt: 1e-3, V: -4}, -6, "3·√4"},
		{&Viscous{Fv: 3, Delta: 3}, Input{Dt: 1e-3, V: 2}, 24, "3·8"},
		{&StaticCoulombViscous{Fc: 1, Fs: 1.5, Fv: 2, Delta: 0.5}, Input{Dt: 1e-3, V: -4}, -5, "1 + 2·√4"},
		{&StaticCoulombViscous{Fc: 1, Fs: 1.5, Fv: 2, Delta: 0.5}, Input{Dt: 1e-3, Fa: 4}, 1.5, "overload"},
		{&curve, Input{Dt: 1e-3, V: 0.05}, 1 + 0.25 + 0.02, "half of the increment at vs"},
		{&curve, Input{Dt: 1e-3, V: -0.15}, -1 - 0.05 - 0.06, "10 % at 3·vs"},
		{&Stribeck{Curve: BoPavelescu, Fc: 1, Fs: 1.5, Vs: 0.05, Delta: 2}, Input{Dt: 1e-3, V: 0.15}, 1 + 0.5*math.Exp(-9), "0.01 % at 3·vs"},
		{&Stribeck{Curve: BoPavelescu, Fc: 1, Fs: 1.5, Vs: 0.05, Delta: 0.5}, Input{Dt: 1e-3, V: 0.2}, 1 + 0.5*math.Exp(-2), "√4"},
		{&Stribeck{Curve: Tustin, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 2}, Input{Dt: 1e-3, V: 0.1}, 1 + 0.5*math.Exp(-2) + 0.2, "e^−2"},
		{&LinearSurrogate{Alpha0: 1.5, Alpha1: 2, Alpha2: 3}, Input{Dt: 1e-3, V: -0.25}, -1.25, "1.5 − 2·½ + 3·¼"},
		{&LinearSurrogate{Alpha0: 1, Alpha1: 20, Alpha2: 3}, Input{Dt: 1e-3, V: 0.25}, 0, "never drives"},
		{&Karnopp{Fc: 1, Fs: 1.5, Fv: 0.4, Dv: 0.01}, Input{Dt: 1e-3, V: 0.009, Fa: 1.2}, 1.2, "inside the dead zone"},
		{&Karnopp{Fc: 1, Fs: 1.5, Fv: 0.4, Dv: 0.01}, Input{Dt: 1e-3, V: 0.01, Fa: 1.2}, 1.004, "outside"},
	} {
		z := newZ(c.law)
		if f := c.law.Step(z, c.in); math.Abs(f-c.want) > 1e-14 {
			t.Errorf("%T %+v: %.16g N, want %g (%s)", c.law, c.in, f, c.want, c.explains)
		}
	}
}

// Slope and curve of the sliding friction agree, and Fall bounds the slope and is reached.
func TestRigidSlopes(t *testing.T) {
	for _, info := range Laws() {
		law, ok := info.NewLaw().(contact)
		if !ok || info.Name == "frictional-memory" || info.Name == "seven-parameter" {
			continue
		}
		model := law.(Model)
		z := newZ(model)
		steepest := 0.0
		for s := 1e-4; s < 3; s *= 1.003 {
			d := 1e-6 * s
			a, _ := law.sliding(z, 0, Input{Dt: 1e-3, V: s - d})
			b, _ := law.sliding(z, 0, Input{Dt: 1e-3, V: s + d})
			_, slope := law.sliding(z, 0, Input{Dt: 1e-3, V: s})
			if math.Abs((b-a)/(2*d)-slope) > 1e-5*math.Abs(slope)+1e-9/s {
				t.Errorf("%s at %g: slope %g, by differences %g", info.Name, s, slope, (b-a)/(2*d))
			}
			steepest = max(steepest, -slope)
		}
		if fall := model.Stiffness().Fall; info.Name != "linear-surrogate" && (steepest > fall*(1+1e-9) || steepest < 0.99*fall) {
			t.Errorf("%s: falls with %g, Stiffness says %g", info.Name, steepest, fall)
		}
	}
}

// Levels the wrong way round are refused by name.
func TestRigidLevelsAreChecked(t *testing.T) {
	for _, law := range []Model{&Karnopp{Fc: 2, Fs: 1}, &StaticCoulombViscous{Fc: 2, Fs: 1, Delta: 1},
		&Stribeck{Fc: 1, Fs: 2, Vs: 1, Curve: 9},
		&Kato{Fc: 2, FsInf: 1, M: 1}, &RisingStatic{Fc: 2, FsInf: 1}, &Memory{Fc: 2, Fs: 1, Vs: 1}} {
		if law.Validate() == nil {
			t.Errorf("%+v was accepted", law)
		}
	}
}

// A body that slows down in fluid friction: v = v0·e^{−Fv·t/M} for δ = 1, v^{1−δ} linear in time else; for δ = ½ it stops.
func TestViscousDecay(t *testing.T) {
	const m, v0 = 2.0, 0.5
	for _, c := range []struct {
		delta float64
		v     func(t float64) float64
	}{
		{1, func(t float64) float64 { return v0 * math.Exp(-3*t/m) }},
		{2, func(t float64) float64 { return v0 / (1 + 3*v0*t/m) }},
		{0.5, func(t float64) float64 { return math.Pow(max(0, math.Sqrt(v0)-3*t/(2*m)), 2) }},
	} {
		var errs [2]float64
		for i, h := range []float64{4e-3, 2e-3} {
			b := newBench(t, &Viscous{Fv: 3, Delta: c.delta}, m, Midpoint, &pulled{h: h})
			b.x[1] = v0
			for b.s.t < 0.6-h/2 {
				b.step()
				errs[i] = max(errs[i], math.Abs(b.x[1]-c.v(b.s.t)))
			}
		}
		if order := math.Log2(errs[0] / errs[1]); order < 1.8 || errs[1] > 1e-5 {
			t.Errorf("δ = %g: errors %g, order %.2f", c.delta, errs, order)
		}
	}
	// δ < 1 stays finite through zero, where the curve stands upright, with every scheme
	for s := Midpoint; s <= ExplicitPade; s++ {
		b := newBench(t, &Viscous{Fv: 3, Delta: 0.1}, m, s, &pulled{h: 1e-3, con: 0})
		b.x[1] = 1e-3
		for range 1000 {
			if r := b.step(); r.Status != engine.OK || math.Abs(b.x[1]) > 1e-2 {
				t.Fatalf("%v: %+v, v = %g", s, r, b.x[1])
			}
		}
	}
}

// A viscous part with a small exponent begins upright: a body that creeps is stopped and turned by the load within the step,
// and every joule is accounted for.
func TestUprightCurve(t *testing.T) {
	for _, c := range []struct{ fv, delta, m, v0, load float64 }{
		{314.2, 0.1375, 2.718, 0.2288, -149.25},
		{12000, 0.1194, 0.2231, 2.373e-10, -2307.25},
	} {
		law := &StaticCoulombViscous{Fc: 2.718, Fs: 2.718, Fv: c.fv, Delta: c.delta}
		w := &pulled{h: 0.01, con: c.load}
		b, x := newMass(t, law, c.m)
		x[1] = c.v0
		r := b.Step(w.h, x, w)
		dE, in := c.m/2*(x[1]-c.v0)*(x[1]+c.v0), c.load*r.W*w.h
		if r.Status != engine.OK || x[1] >= 0 || math.Abs(dE-in+r.Work) > 1e-9*(math.Abs(in)+r.Work) {
			t.Errorf("%+v: %+v, state %v: %g J are missing", c, r, x, dE-in+r.Work)
		}
		// the way back starts from rest, so its mean speed is half the last: there friction is what the load leaves
		if f := -law.SteadyForce(x[1] / 2); f > -c.load || f < -0.9*c.load {
			t.Errorf("%+v: goes back at %g m/s on the mean, where friction is %g N", c, x[1]/2, f)
		}
	}
}

// ramp is a force that rises by du (N/s) during a step.
type ramp struct{ u, du float64 }

func (r *ramp) Span(tau, h, x float64) {}
func (r *ramp) At(tau, x, v float64) (force, dx, dv float64) {
	return r.u + r.du*tau, 0, 0
}

// A contact that strengthens with speed breaks away at Fs and slides from there: under a slow ramp the force of friction is the
// curve itself, and the body is never held and released in turn.
func TestStribeckBelowCoulomb(t *testing.T) {
	for _, curve := range []Curve{HessSoom, BoPavelescu, Tustin} {
		law := &Stribeck{Curve: curve, Fc: 2, Fs: 0.8, Vs: 0.02, Fv: 3, Delta: 2}
		m, err := NewMass(1, law, Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		const h = 1e-3
		x, load, moved := m.NewState(), &ramp{}, false
		for k := range 40000 {
			load.u, load.du = 1e-4*float64(k), 0.1
			if k > 20000 { // hold, then let go
				load.u, load.du = 2-1e-4*float64(k-20000), -0.1
			}
			r := m.Step(h, x, load)
			if r.Status != 0 {
				t.Fatal(r.Status)
			}
			if v := x[1]; k < 20000 && load.u > 0.81 {
				f, slope := law.At(v)
				if math.Abs(load.u-f) > 0.3/slope+1e-3 || v <= 0 { // it lags behind by M·dv/dt
					t.Fatalf("%v at %g N: %g m/s, where the curve has %g N", curve, load.u, v, f)
				}
				moved = true
			} else if k < 20000 && load.u < 0.8 && v != 0 {
				t.Fatalf("%v: moves at %g N", curve, load.u)
			}
		}
		if !moved || x[1] != 0 {
			t.Errorf("%v: moved %v, ends at %g m/s", curve, moved, x[1])
		}
	}
}
