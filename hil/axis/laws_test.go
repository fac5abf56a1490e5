package axis

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/reference"
)

// An axis with any law: it has a deflection in its rows where the law has one, its residual limit is ten times break-away, and its tick
// allocates nothing under every compensation that takes the law; the others are refused.
func TestAxisWithEveryLaw(t *testing.T) {
	for _, info := range friction.Laws() {
		for _, kind := range []CompKind{CompFeedForward, CompStatic, CompObserver, CompGain, CompDisturbance} {
			s := motorSpec(t, reference.Spec{Kind: "sine", Amplitude: 1, Frequency: 1})
			s.Law, s.Comp.Kind, s.Comp.Limit = info.NewLaw(), kind, 0.5
			s.Comp.Bandwidth, s.Comp.Order, s.Comp.Adapt = 10, 1, Adapt{Time: 1, Range: [2]float64{0.5, 2}}
			a, err := New(s)
			follows := kind == CompObserver || kind == CompGain
			if refused := follows && s.Law.Stiffness().K == 0; (err != nil) != refused {
				t.Errorf("%s, %v: %v", info.Name, kind, err)
			}
			if err != nil {
				continue
			}
			bends := slices.ContainsFunc(s.Law.States(), func(s engine.Signal) bool { return s.Unit == "m" })
			if has := slices.ContainsFunc(a.Modelled(), func(s engine.Signal) bool {
				return s.Name == "model.bristle" &&
					s.Unit == "rad"
			}); has != bends {
				t.Errorf("%s: a deflection in the rows: %v, in the law: %v", info.Name, has, bends)
			}
			if want := 10 * s.Law.Levels().Rest.Forward; math.Abs(a.Unexplained()-want) > 1e-12 {
				t.Errorf("%s: residual limit %g, want %g", info.Name, a.Unexplained(), want)
			}
			x, y, u, k := make([]float64, len(a.Estimated())), make([]float64, len(a.Modelled())), 0.0, 0.0
			a.Start(x)
			if n := testing.AllocsPerRun(100, func() {
				k++
				x[0], x[1] = 0.1*math.Sin(0.1*k), 10*math.Cos(0.1*k)
				a.Refer(Tick{Energised: true}, x)
				a.Compute(Tick{Energised: true}, x, y, &u)
			}); n != 0 {
				t.Errorf("%s, %v: %g allocations in a tick", info.Name, kind, n)
			}
			for i, v := range y {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s, %v: %s is %g", info.Name, kind, a.Modelled()[i].Name, v)
				}
			}
		}
	}
}

// The largest compensation follows the law: 1.2 times its highest dry friction, its viscous part and its offset.
func TestLimitFollowsTheLaw(t *testing.T) {
	sided := func() friction.Model {
		fore, back := demoLaw(), demoLaw()
		back.Fc, back.Fs = 30e-3, 40e-3
		l, err := friction.NewTwoSided(fore, back, "Fc", "Fs")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		name string
		law  friction.Model
		v    float64
		want float64 // N·m
	}{
		{"lugre", demoLaw(), 10, 1.2*21e-3 + 1.5e-3},
		{"by direction", sided(), -10, 1.2*40e-3 + 1.5e-3},
		{"coulomb", &friction.Coulomb{Fc: 0.02}, 5, 0.024},
		{"viscous", &friction.Viscous{Fv: 1e-3, Delta: 1}, -5, 5e-3},
		{"that strengthens with speed, with an offset", &friction.LuGre{Sigma0: 10, Fc: 0.03, Fs: 0.02, Vs: 1, Offset: -0.01}, 0,
			1.2*0.03 + 0.01},
		{"none", nil, 5, 0},
	} {
		comp, err := newCompensator(CompSpec{Kind: CompNone, Scale: 1}, c.law, 7e-5, control.PID{})
		if err != nil {
			t.Fatal(err)
		}
		if got := comp.maxTorque(c.v); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g N·m, want %g", c.name, got, c.want)
		}
	}
	if _, err := newCompensator(CompSpec{Kind: CompObserver, Scale: 1}, nil, 7e-5, control.PID{}); err == nil {
		t.Error("an observer without a law was accepted")
	}
}
