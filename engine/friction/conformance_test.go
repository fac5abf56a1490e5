package friction

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hilrig/engine"
)

// The conformance suite: what every law of the registry must do, whatever its physics. A law joins by joining the registry.
func TestConformance(t *testing.T) {
	if len(Laws()) < 23 {
		t.Errorf("%d laws in the registry, want at least 23", len(Laws()))
	}
	seen := map[string]bool{}
	for _, info := range Laws() {
		if seen[info.Name] {
			t.Errorf("two laws are named %s", info.Name)
		}
		seen[info.Name] = true
		t.Run(info.Name, func(t *testing.T) {
			t.Run("described", func(t *testing.T) { testDescribed(t, info) })
			t.Run("parameters", func(t *testing.T) { testParameters(t, info) })
			t.Run("rest", func(t *testing.T) { testRest(t, info) })
			t.Run("odd", func(t *testing.T) { testOdd(t, info) })
			t.Run("steady", func(t *testing.T) { testSteady(t, info) })
			t.Run("cycle", func(t *testing.T) { testCycle(t, info) })
			t.Run("trial", func(t *testing.T) { testTrial(t, info) })
			t.Run("state carries everything", func(t *testing.T) { testSplit(t, info) })
			t.Run("coasts to rest", func(t *testing.T) { testCoast(t, info) })
			t.Run("any parameters", func(t *testing.T) { testAny(t, info) })
			t.Run("storage", func(t *testing.T) { testStorage(t, info) })
			t.Run("no allocation", func(t *testing.T) { testAllocs(t, info) })
		})
	}
}

var units = []string{"", "N", "N/m", "N·s/m", "m", "m/s", "s", "kg", "degC", "K", "1/K", "1/K²", "K/W", "J/K", "V", "A", "A/m²", "m²/A",
	"m⁴/A²", "m²", "1/m", "m^-n", "N/s"}

// A law says what it is, what its numbers are called, and in which unit and range they make sense.
func testDescribed(t *testing.T, info Info) {
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(info.Name) || info.Title == "" || info.Source == "" {
		t.Errorf("incomplete description %+v", info)
	}
	law := info.NewLaw()
	if n := len(law.States()); n != law.StateDim() {
		// laws with a long memory describe its head
		if n == 0 || n > law.StateDim() {
			t.Errorf("%d states are named, the law has %d", n, law.StateDim())
		}
	}
	names := map[string]bool{}
	for _, p := range law.Params() {
		switch {
		case p.Name == "" || p.Doc == "" || names[p.Name]:
			t.Errorf("parameter %+v: no name, no explanation, or twice", p)
		case !(p.Lo < p.Hi) || math.IsInf(p.Lo, 0) || math.IsInf(p.Hi, 0):
			t.Errorf("%s: range %g to %g, want a finite one", p.Name, p.Lo, p.Hi)
		case !(p.Value >= p.Lo && p.Value <= p.Hi):
			t.Errorf("%s: default %g outside %g to %g", p.Name, p.Value, p.Lo, p.Hi)
		case !slices.Contains(units, p.Unit):
			t.Errorf("%s: unit %q is not one of %q", p.Name, p.Unit, units)
		}
		names[p.Name] = true
	}
	if err := law.Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	s := law.Stiffness()
	if !(s.Speed > 0) || math.IsInf(s.Speed, 0) || !(s.Fall >= 0) || !(s.K >= 0) || !(s.C >= 0) {
		t.Errorf("stiffness %+v", s)
	}
}

// Params and SetParams agree; a number outside its range is refused by name and leaves the law as it was.
func testParameters(t *testing.T, info Info) {
	law := info.NewLaw()
	theta := values(law)
	if err := law.SetParams(theta); err != nil {
		t.Fatalf("its own parameters: %v", err)
	}
	for i, p := range law.Params() {
		for _, bad := range []float64{math.NaN(), math.Inf(1), p.Hi + math.Abs(p.Hi) + 1, p.Lo - math.Abs(p.Lo) - 1} {
			broken := slices.Clone(theta)
			broken[i] = bad
			if err := law.SetParams(broken); err == nil {
				t.Errorf("%s = %g was accepted", p.Name, bad)
			} else if !strings.Contains(err.Error(), p.Name) {
				t.Errorf("%s = %g: the error does not name it: %v", p.Name, bad, err)
			}
		}
	}
	if err := law.SetParams(theta[:len(theta)-1]); err == nil {
		t.Error("one parameter too few was accepted")
	}
	if got := values(law); !slices.Equal(got, theta) {
		t.Errorf("refused sets changed the law from %v to %v", theta, got)
	}
}

func values(law Model) []float64 {
	var theta []float64
	for _, p := range law.Params() {
		theta = append(theta, p.Value)
	}
	return theta
}

func newZ(law Law) []float64 {
	z := make([]float64, law.StateDim())
	law.Reset(z)
	return z
}

// A relaxed contact at rest without applied force has no friction, for ever.
func testRest(t *testing.T, info Info) {
	law := info.NewLaw()
	z := newZ(law)
	for range 1000 {
		if f := law.Step(z, Input{Dt: 1e-3}); f != 0 {
			t.Fatalf("friction %g N at rest", f)
		}
	}
}

// Mirrored motion has mirrored friction.
func testOdd(t *testing.T, info Info) {
	a, b := info.NewLaw(), info.NewLaw()
	za, zb := newZ(a), newZ(b)
	for k := range 3000 {
		v := 0.3 * math.Sin(0.013*float64(k)) * math.Sin(0.0031*float64(k))
		fa, fb := a.Step(za, Input{Dt: 1e-3, V: v}), b.Step(zb, Input{Dt: 1e-3, V: -v})
		if math.Abs(fa+fb) > 1e-12*(1+math.Abs(fa)) {
			t.Fatalf("step %d: F = %.17g for v, %.17g for −v", k, fa, fb)
		}
	}
}

// Long sliding ends on the steady curve.
func testSteady(t *testing.T, info Info) {
	law := info.NewLaw()
	for _, v := range []float64{1e-3, 0.02, 0.3, 2, -0.1} {
		z := newZ(law)
		f := 0.0
		for range 20000 { // 20 m or 20 s, whichever is more
			f = law.Step(z, Input{Dt: 1e-3 * max(1, 1/math.Abs(v)), V: v})
		}
		if want := law.SteadyForce(v); !(math.Abs(f-want) <= 1e-6*math.Abs(want)) {
			t.Errorf("after long sliding at %g m/s: %.9g N, steady curve %.9g N", v, f, want)
		}
	}
}

// A closed cycle of motion costs work once the transient is over.
func testCycle(t *testing.T, info Info) {
	for _, amplitude := range []float64{2e-4, 0.05} {
		law := info.NewLaw()
		z := newZ(law)
		const n = 2000
		work, size := 0.0, 0.0
		for k := range 4 * n {
			x0, x1 := amplitude*math.Sin(2*math.Pi*float64(k)/n), amplitude*math.Sin(2*math.Pi*float64(k+1)/n)
			f := law.Step(z, Input{Dt: 1e-3, V: (x1 - x0) / 1e-3})
			if k >= 3*n {
				work += f * (x1 - x0)
				size += math.Abs(f * (x1 - x0))
			}
		}
		if work < -1e-9*size {
			t.Errorf("a cycle of ±%g m gives %g J back", amplitude, -work)
		}
	}
}

// Trial leaves the state alone, may write over it, and the default scheme is what Step does.
func testTrial(t *testing.T, info Info) {
	law := info.NewLaw()
	s, ok := law.(Smooth)
	if !ok {
		t.Skip("a switched law has no trial step")
	}
	z, step := newZ(law), newZ(law)
	for k := range 2000 {
		in := Input{Dt: 1e-3, V: 0.2 * math.Sin(0.01*float64(k))}
		for _, scheme := range []Scheme{ExplicitPade, Explicit, Implicit, Midpoint} {
			before := slices.Clone(z)
			zn, alias := make([]float64, len(z)), slices.Clone(z)
			f, slope := s.Trial(scheme, z, zn, in)
			if !slices.Equal(z, before) {
				t.Fatalf("%v: the trial changed the state", scheme)
			}
			if fa, _ := s.Trial(scheme, alias, alias, in); fa != f || !slices.Equal(alias, zn) {
				t.Fatalf("%v: in place F = %g, z = %v; else %g, %v", scheme, fa, alias, f, zn)
			}
			if scheme <= Implicit && math.IsNaN(slope) {
				t.Fatalf("%v: slope is no number", scheme)
			}
			if scheme == Midpoint {
				if in.V != 0 {
					if fs := law.Step(step, in); math.Abs(fs-f) > 1e-12*(1+math.Abs(f)) {
						t.Fatalf("Step gives %.17g, the default scheme %.17g", fs, f)
					}
				}
				copy(z, zn)
				copy(step, zn)
			}
		}
	}
}

// The state carries everything: another instance goes on with it to the last bit, imposed and with a mass.
func testSplit(t *testing.T, info Info) {
	a, b := info.NewLaw(), info.NewLaw()
	za, zb := newZ(a), newZ(b)
	v := func(k int) float64 { return 0.2 * math.Sin(0.01*float64(k)) }
	for k := range 2000 {
		f := a.Step(za, Input{Dt: 1e-3, V: v(k)})
		if k >= 1000 {
			if g := b.Step(zb, Input{Dt: 1e-3, V: v(k)}); f != g {
				t.Fatalf("step %d: %.17g and %.17g", k, f, g)
			}
		} else {
			copy(zb, za)
		}
	}
	p, q := newBench(t, a, 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 1e-3}),
		newBench(t, b, 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 1e-3})
	for k := range 3000 {
		p.step()
		if k < 1500 {
			copy(q.x, p.x)
			q.s.t = p.s.t
		} else if q.step(); !slices.Equal(p.x, q.x) {
			t.Fatalf("step %d: states %v and %v", k, p.x, q.x)
		}
	}
}

// Without load a moving mass loses speed; work against friction never exceeds the energy that was there.
func testCoast(t *testing.T, info Info) {
	for _, h := range []float64{1e-4, 1e-3, 1e-2} {
		b := newBench(t, info.NewLaw(), 1, Midpoint, &pulled{h: h})
		if limit, _ := b.Limit(); h > limit {
			continue
		}
		b.x[1] = 0.5
		work, e0 := 0.0, 0.5*0.5*0.5
		for range int(20 / h) {
			r := b.step()
			work += r.Work
			if r.Status == engine.NonFinite {
				t.Fatalf("h=%g: %+v", h, r)
			}
			if e := 0.5*b.x[1]*b.x[1] + work; math.Abs(e-e0) > 1e-6*e0 {
				t.Fatalf("h=%g: kinetic energy and work add up to %.9g J, were %.9g", h, e, e0)
			}
		}
		if work < 0.5*e0 {
			t.Errorf("h=%g: only %g of %g J are gone after 20 s", h, work, e0)
		}
	}
}

// drawn parameters: every one log-uniform within its documented range, but within nine decades around its default where
// that is not zero, so that the combinations are strange and not only absurd.
func drawParams(t *rapid.T, law Model) bool {
	theta := values(law)
	for i, p := range law.Params() {
		lo, hi := p.Lo, p.Hi
		switch {
		case strings.Contains(p.Name, "elements"):
			theta[i] = float64(rapid.IntRange(int(lo), int(hi)).Draw(t, p.Name))
			continue
		case lo < 0 || p.Value == 0:
			theta[i] = p.Value // signed numbers and those that are off stay
			if p.Lo < 0 {
				theta[i] = p.Value * rapid.Float64Range(-1, 1).Draw(t, p.Name)
			}
			continue
		}
		lo = max(lo, p.Value*3e-5)
		hi = min(hi, p.Value*3e4)
		theta[i] = math.Exp(rapid.Float64Range(math.Log(max(lo, 1e-300)), math.Log(hi)).Draw(t, p.Name))
		theta[i] = min(max(theta[i], p.Lo), p.Hi)
	}
	return law.SetParams(theta) == nil
}

// Parameters within the documented ranges and steps from 1 µs to 10 ms: never NaN, states within their bounds, with every
// scheme below its limit.
func testAny(t *testing.T, info Info) {
	rapid.Check(t, func(rt *rapid.T) {
		law := info.NewLaw()
		if !drawParams(rt, law) {
			rt.Skip("no such law")
		}
		h := math.Exp(rapid.Float64Range(math.Log(1e-6), math.Log(1e-2)).Draw(rt, "h"))
		m := math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(100)).Draw(rt, "m"))
		top := make([]float64, law.StateDim())
		bounded, _ := law.(Bounded)
		if bounded != nil {
			bounded.Bounds(top)
		}
		check := func(what string, f float64, z []float64) {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				rt.Fatalf("%s: friction %g N", what, f)
			}
			for i, c := range z {
				if math.IsNaN(c) || math.IsInf(c, 0) {
					rt.Fatalf("%s: state %d is %g", what, i, c)
				}
				if bounded != nil && math.Abs(c) > top[i]*(1+1e-9) {
					rt.Fatalf("%s: state %d is %g, bound %g", what, i, c, top[i])
				}
			}
		}
		z := newZ(law)
		speed := law.Stiffness().Speed * math.Exp(rapid.Float64Range(-4, 8).Draw(rt, "speed"))
		for range 60 {
			v := speed * rapid.Float64Range(-1, 1).Draw(rt, "v")
			check("imposed motion", law.Step(z, Input{Dt: h, V: v}), z)
		}
		scheme := Scheme(rapid.IntRange(0, 3).Draw(rt, "scheme"))
		b := newBench(t, law, m, scheme, &pulled{h: h})
		if limit, _ := b.Limit(); h > limit {
			b.s.h = limit
		}
		scale := math.Abs(law.SteadyForce(law.Stiffness().Speed)) + 1e-9
		for range 60 {
			b.s.con = rapid.Float64Range(-3, 3).Draw(rt, "force") * scale
			r := b.step()
			if r.Status == engine.NonFinite {
				rt.Fatalf("mass, %v: %+v", scheme, r)
			}
			check("mass, "+scheme.String(), r.F, b.x[2:])
		}
	})
}

// A law that calls itself passive never gives out more than was put in and stored: Σ F̄·Δx ≥ E_end − E_start for every
// motion from a relaxed start, imposed or of a mass.
func testStorage(t *testing.T, info Info) {
	law0 := info.NewLaw()
	if _, ok := law0.(Smooth); !ok {
		t.Skip("a switched law has its own account")
	}
	if ok, _ := law0.Passive(); !ok {
		t.Skip("not passive with its defaults")
	}
	rapid.Check(t, func(rt *rapid.T) {
		law := info.NewLaw()
		if !drawParams(rt, law) {
			rt.Skip("no such law")
		}
		if ok, _ := law.Passive(); !ok {
			rt.Skip("not passive")
		}
		h := math.Exp(rapid.Float64Range(math.Log(1e-6), math.Log(1e-2)).Draw(rt, "h"))
		z, work, size := newZ(law), 0.0, 0.0
		speed := law.Stiffness().Speed * math.Exp(rapid.Float64Range(-4, 8).Draw(rt, "speed"))
		for range 80 {
			v := speed * rapid.Float64Range(-1, 1).Draw(rt, "v")
			w := law.Step(z, Input{Dt: h, V: v}) * v * h
			work += w
			size += math.Abs(w)
			stored := 0.0
			if s, ok := law.(Storing); ok {
				stored = s.Energy(z)
			}
			if work < stored-1e-9*(size+stored)-1e-300 {
				rt.Fatalf("%g J were put in, %g J are stored", work, stored)
			}
		}
	})
}

// No step allocates.
func testAllocs(t *testing.T, info Info) {
	law := info.NewLaw()
	z := newZ(law)
	var l Law = law
	k := 0.0
	if n := testing.AllocsPerRun(300, func() { k++; l.Step(z, Input{Dt: 1e-3, V: 0.1 * math.Sin(0.1*k)}) }); n != 0 {
		t.Errorf("%g allocations in an imposed step", n)
	}
	for _, scheme := range []Scheme{Midpoint, Implicit, Explicit, ExplicitPade} {
		b := newBench(t, law, 1, scheme, &pulled{k: 100, speed: 0.02, h: 1e-4})
		if n := testing.AllocsPerRun(300, func() { b.step() }); n != 0 {
			t.Errorf("%v: %g allocations in a step with a mass", scheme, n)
		}
	}
}
