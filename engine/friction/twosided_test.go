package friction

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// twoSided are laws by direction: levels lower, higher, and both ways, viscosity too.
func twoSided(t testing.TB) map[string]func() Model {
	t.Helper()
	join := func(fore, back Model, names ...string) Model {
		l, err := NewTwoSided(fore, back, names...)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	lugre := func(fc, fs, s2 float64) *LuGre {
		return &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: s2, Fc: fc, Fs: fs, Vs: 0.05, Vd: 0.02}
	}
	return map[string]func() Model{
		"lugre":          func() Model { return join(lugre(1, 1.5, 0.4), lugre(1.3, 1.8, 0.1)) },
		"lugre, stepped": func() Model { return join(lugre(0.2, 0.3, 0.4), lugre(2, 2.5, 0.4), "Fc", "Fs") },
		"dahl": func() Model {
			return join(&Dahl{Sigma0: 1e3, Fc: 1, Exponent: 1}, &Dahl{Sigma0: 1e3, Fc: 0.6, Exponent: 1})
		},
		"elasto-plastic": func() Model {
			return join(&ElastoPlastic{Bristle: *lugre(1, 1.5, 0.4), Zba: 0.7}, &ElastoPlastic{Bristle: *lugre(1.2, 1.6, 0.4), Zba: 0.7})
		},
		"gms": func() Model {
			g := func(fc, fs float64) *GMS {
				return &GMS{Sigma0: 1e3, Ratio: 1.5, Elements: 6, C: 50, Sigma2: 0.4, Fc: fc, Fs: fs, Vs: 0.05}
			}
			return join(g(1, 1.5), g(1.2, 1.6))
		},
	}
}

// A law by direction does what every law must, but for being odd.
func TestTwoSidedConforms(t *testing.T) {
	for name, build := range twoSided(t) {
		info := Info{Name: "two-sided", Title: "by direction", Source: "A94", NewLaw: build}
		for what, test := range map[string]func(*testing.T, Info){"described": testDescribed, "rest": testRest, "steady": testSteady,
			"cycle": testCycle,
			"trial": testTrial, "state carries everything": testSplit, "coasts to rest": testCoast, "any parameters": testAny,
			"storage": testStorage, "no allocation": testAllocs} {
			t.Run(name+"/"+what, func(t *testing.T) { test(t, info) })
		}
	}
}

// A mass under a two-sided LuGre contact and a sine moves as the equations say, integrated by Runge and Kutta in steps of 2 µs.
func TestTwoSidedAgainstEquations(t *testing.T) {
	law := twoSided(t)["lugre"]()
	const h, m, amplitude, omega = 1e-4, 1.0, 3.0, 2 * math.Pi
	b := newBench(t, law, m, Midpoint, &pulled{h: h})
	z, v, x := 0.0, 0.0, 0.0
	slope := func(t, x, v, z float64) (float64, float64, float64) {
		fc, fs, s2 := 1.0, 1.5, 0.4
		if v < 0 {
			fc, fs, s2 = 1.3, 1.8, 0.1
		}
		g := fc + (fs-fc)*math.Exp(-v*v/0.0025)
		dz := v - 1e3*math.Abs(v)/g*z
		return v, (amplitude*math.Sin(omega*t) - 1e3*z - 30*math.Exp(-v*v/0.0004)*dz - s2*v) / m, dz
	}
	worst, lo := 0.0, 0.0
	for k := range 20000 { // 2 s
		b.s.con = amplitude * math.Sin(omega*(float64(k)+0.5)*h)
		b.step()
		const parts = 50
		for i := range parts {
			const d = h / parts
			t := float64(k)*h + float64(i)*d
			x1, v1, z1 := slope(t, x, v, z)
			x2, v2, z2 := slope(t+d/2, x+d/2*x1, v+d/2*v1, z+d/2*z1)
			x3, v3, z3 := slope(t+d/2, x+d/2*x2, v+d/2*v2, z+d/2*z2)
			x4, v4, z4 := slope(t+d, x+d*x3, v+d*v3, z+d*z3)
			x, v, z = x+d/6*(x1+2*x2+2*x3+x4), v+d/6*(v1+2*v2+2*v3+v4), z+d/6*(z1+2*z2+2*z3+z4)
		}
		worst, lo = max(worst, math.Abs(b.x[0]-x)), min(lo, v)
	}
	if worst > 2e-6 || lo > -0.3 {
		t.Errorf("off by %.2g m after a lowest speed of %.2g m/s", worst, lo)
	}
}

// Sets that are no law by direction are refused, and so are numbers, on either side; what is refused changes nothing.
func TestTwoSidedRefuses(t *testing.T) {
	lugre := func() *LuGre { return &LuGre{Sigma0: 1e3, Sigma1: 30, Fc: 1, Fs: 1.5, Vs: 0.05} }
	stiff, level := lugre(), lugre()
	stiff.Sigma0, level.Fc = 2e3, 0.7
	for _, c := range []struct {
		fore, back Model
		names      []string
		want       string
	}{
		{find(t, "seven-parameter"), find(t, "seven-parameter"), nil, "one set of parameters"},
		{lugre(), &Dahl{Sigma0: 1e3, Fc: 1, Exponent: 1}, nil, "two laws"},
		{&BoucWen{K: 1e3, Beta: 5e5, Gamma: 5e5, N: 2}, &BoucWen{K: 1e3, Beta: 5e5, Gamma: 5e5, N: 2}, nil, "has none of"},
		{lugre(), stiff, nil, "sigma0"},
		{lugre(), level, []string{"Fs"}, "Fc"},
	} {
		if _, err := NewTwoSided(c.fore, c.back, c.names...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T, %T: %v, want %q", c.fore, c.back, err, c.want)
		}
	}
	l, err := NewTwoSided(lugre(), level, "Fc")
	if err != nil {
		t.Fatal(err)
	}
	theta := values(l)
	names := []string{}
	for _, p := range l.Params() {
		names = append(names, p.Name)
	}
	if want := "sigma0 sigma1 sigma2 Fc Fs vs vd offset N0 Fc-"; strings.Join(names, " ") != want || theta[9] != 0.7 {
		t.Errorf("%v %v, want %s", names, theta, want)
	}
	moved := slices.Clone(theta)
	moved[0], moved[9] = 5e3, 0.8
	if err := l.SetParams(moved); err != nil || l.SteadyForce(-1) != -0.8 || l.SteadyForce(1) != 1 {
		t.Errorf("%v, %g N backward, %g N forward", err, l.SteadyForce(-1), l.SteadyForce(1))
	}
	if fore, back := l.(*TwoSided).Sides(); fore.(*LuGre).Sigma0 != 5e3 || back.(*LuGre).Sigma0 != 5e3 {
		t.Error("the stiffness is not one number")
	}
	moved[0], moved[9] = 6e3, -1
	if err := l.SetParams(moved); err == nil || !strings.Contains(err.Error(), "backward") || values(l)[0] != 5e3 {
		t.Errorf("%v, stiffness %g", err, values(l)[0])
	}
}

// A law with a stick mode gives the force of each direction, and at rest holds as much as the side asks for to which it is pushed. It
// carries no mass.
func TestTwoSidedWithStickMode(t *testing.T) {
	l, err := NewTwoSided(&StaticCoulombViscous{Fc: 1, Fs: 1.5, Fv: 0.4, Delta: 1}, &StaticCoulombViscous{Fc: 2, Fs: 3, Fv: 0.1, Delta: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ v, pushed, want float64 }{
		{0.5, 0, 1.2}, {-0.5, 0, -2.05}, {0, 9, 1.5}, {0, -9, -3}, {0, 0.7, 0.7}, {0, -2.5, -2.5},
	} {
		if got := l.Step(nil, Input{Dt: 1e-3, V: c.v, Fa: c.pushed}); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("at %g m/s under %g N: %g N, want %g", c.v, c.pushed, got, c.want)
		}
	}
	if _, err := NewMass(1, l, Midpoint); err == nil {
		t.Error("it carries a mass")
	}
	if _, smooth := l.(Smooth); smooth {
		t.Error("it counts as smooth")
	}
}

// The worse direction decides about passivity, whichever it is.
func TestTwoSidedPassivity(t *testing.T) {
	tame := func(fs float64) *LuGre { return &LuGre{Sigma0: 1e3, Sigma1: 30, Fc: 1, Fs: fs, Vs: 0.05} }
	okay := &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0, Fc: 1, Fs: 1, Vs: 0.05} // Fs = Fc: σ2 ≥ σ1·(Fs − Fc)/Fc holds with σ2 = 0
	if ok, _ := okay.Passive(); !ok {
		t.Fatal("the tame set is not passive")
	}
	ok, from := tame(1.5).Passive()
	if ok {
		t.Fatal("the wild set is passive")
	}
	for _, back := range []bool{false, true} {
		fore, aft := Model(tame(1)), Model(tame(1.5))
		if back {
			fore, aft = aft, fore
		}
		l, err := NewTwoSided(fore, aft, "Fs")
		if err != nil {
			t.Fatal(err)
		}
		if ok, at := l.Passive(); ok || at != from {
			t.Errorf("passive %v from %g m/s, want active from %g m/s", ok, at, from)
		}
	}
}

// What the schemes must resolve is what either direction asks for: a step that is stable in one and not in the other would blow up
// at the reversal.
func TestTwoSidedStiffness(t *testing.T) {
	fore := &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 5, Fc: 1, Fs: 1.2, Vs: 0.05}
	back := &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.1, Fc: 1, Fs: 1.9, Vs: 0.05}
	dahl := [2]*Dahl{{Sigma0: 1e3, Fc: 1, Exponent: 1}, {Sigma0: 1e3, Fc: 0.1, Exponent: 1}}
	for _, pair := range [][2]Model{{fore, back}, {back, fore}, {dahl[0], dahl[1]}, {dahl[1], dahl[0]}} {
		l, err := NewTwoSided(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		s := l.Stiffness()
		for _, side := range pair {
			a := side.Stiffness()
			if s.K < a.K || s.C < a.C || s.Fall < a.Fall || s.Speed > a.Speed {
				t.Errorf("%+v does not cover %+v", s, a)
			}
		}
	}
}
