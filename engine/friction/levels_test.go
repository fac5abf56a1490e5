package friction

import (
	"math"
	"slices"
	"testing"
)

// levelCase is a law with its levels (N) as its author would say them, worked out by hand from the parameters.
type levelCase struct {
	name                  string
	law                   Model
	rest, sliding         float64 // forward
	restBack, slidingBack float64 // backward; 0: as forward
	offset                float64
	slow                  bool // the curve falls so slowly that no speed shows the level of sliding
	creeps                bool // no level of rest: it moves under any load
}

func levelCases(t testing.TB) []levelCase {
	two := func(fore, back Model) Model {
		l, err := NewTwoSided(fore, back)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	// of the default sets: Fc = 1 N, Fs = 1.5 N in whatever words
	all := []levelCase{
		{name: "coulomb", rest: 1, sliding: 1},
		{name: "viscous", rest: 0, sliding: 0},
		{name: "static-coulomb-viscous", rest: 1.5, sliding: 1},
		{name: "stribeck-hess-soom", rest: 1.5, sliding: 1},
		{name: "stribeck-bo-pavelescu", rest: 1.5, sliding: 1},
		{name: "stribeck-tustin", rest: 1.5, sliding: 1},
		{name: "linear-surrogate", rest: 1.63, sliding: 1.0801557377, slow: true}, // 1.63 − 2.59²/(4·3.05)
		{name: "rising-static-kato", rest: 1.5, sliding: 1},
		{name: "rising-static-armstrong", rest: 1.5, sliding: 1},
		{name: "frictional-memory", rest: 1.5, sliding: 1},
		{name: "karnopp", rest: 1.5, sliding: 1},
		{name: "presliding-spring", rest: 1.5, sliding: 1.5},
		{name: "dahl", rest: 1, sliding: 1},
		{name: "dahl-modified", rest: 1.5, sliding: 1},
		{name: "m2", rest: 1.5, sliding: 1},
		{name: "bouc-wen", rest: 1, sliding: 1}, // 1000 N/m · (1e6 m⁻²)^(−1/2)
		{name: "lugre", rest: 1.5, sliding: 1},
		{name: "elasto-plastic", rest: 1.5, sliding: 1},
		{name: "gms", rest: 1.5, sliding: 1},
		{name: "seven-parameter", rest: 1.5, sliding: 1},
		{name: "leuven", rest: 1.5, sliding: 1},
		{name: "state-variable", rest: 1, sliding: 1, slow: true, creeps: true}, // 2 N · 0.5
		{name: "graphite-brush", rest: 1.5, sliding: 1, slow: true},             // 5 N · 0.3, 5 N · 0.2; it warms
	}
	for i := range all {
		all[i].law = find(t, all[i].name)
	}
	warm := find(t, "graphite-brush").(*Brush)
	warm.Tamb, warm.Rth, warm.Sigma2 = 120, 1e-9, 0 // 100 K above T0 with −1e-3/K: nine tenths; friction does not heat it
	for _, info := range Laws() {                   // a law that nobody has worked out by hand is held to what it says itself
		if !slices.ContainsFunc(all, func(c levelCase) bool { return c.name == info.Name }) {
			l := info.NewLaw().Levels()
			all = append(all, levelCase{name: info.Name, law: info.NewLaw(), rest: l.Rest.Forward, sliding: l.Sliding.Forward,
				restBack: l.Rest.Backward, slidingBack: l.Sliding.Backward, offset: l.Offset})
		}
	}
	return append(all,
		levelCase{name: "coulomb by load", law: &Coulomb{Fc: 9, Mu: 0.2, N0: 10}, rest: 2, sliding: 2},
		levelCase{name: "lugre that strengthens with speed, with an offset",
			law: &LuGre{Sigma0: 1e3, Sigma1: 3, Sigma2: 0.1, Fc: 1, Fs: 0.6, Vs: 0.05, Vd: 0.02, Offset: 0.25}, rest: 0.6, sliding: 1, offset: 0.25},
		levelCase{name: "dahl-modified that strengthens", law: &DahlModified{Alpha0: 1, Alpha1: -0.4, Alpha2: 0.4, V0: 0.05, D0: 1e-3},
			rest: 0.6, sliding: 1},
		levelCase{name: "bouc-wen of sharp transition", law: &BoucWen{K: 500, Beta: 3e6, Gamma: 1e6, N: 2}, rest: 0.25, sliding: 0.25},
		levelCase{name: "warm brush", law: warm, rest: 1.35, sliding: 0.9},
		levelCase{name: "lugre by direction", law: two(&LuGre{Sigma0: 1e3, Sigma1: 3, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02},
			&LuGre{Sigma0: 1e3, Sigma1: 3, Fc: 0.7, Fs: 0.8, Vs: 0.05, Vd: 0.02}),
			rest: 1.5, sliding: 1, restBack: 0.8, slidingBack: 0.7},
		levelCase{name: "gms by direction", law: two(&GMS{Sigma0: 1e3, Ratio: 1.5, Elements: 6, C: 50, Fc: 1, Fs: 1.5, Vs: 0.05},
			&GMS{Sigma0: 1e3, Ratio: 1.5, Elements: 6, C: 50, Fc: 2, Fs: 2.5, Vs: 0.05}),
			rest: 1.5, sliding: 1, restBack: 2.5, slidingBack: 2},
	)
}

// find is a law of the registry.
func find(t testing.TB, name string) Model {
	info, ok := Find(name)
	if !ok {
		t.Fatalf("no law %s", name)
	}
	return info.NewLaw()
}

func TestLevels(t *testing.T) {
	for _, c := range levelCases(t) {
		if c.restBack == 0 {
			c.restBack, c.slidingBack = c.rest, c.sliding
		}
		got := c.law.Levels()
		for _, x := range []struct {
			what      string
			got, want float64
		}{{"rest", got.Rest.Forward, c.rest}, {"rest, backward", got.Rest.Backward, c.restBack}, {"sliding", got.Sliding.Forward, c.sliding},
			{"sliding, backward", got.Sliding.Backward, c.slidingBack},
			{"offset", got.Offset, c.offset}, {"top", got.Max(), max(c.rest, c.sliding, c.restBack, c.slidingBack)}} {
			if math.Abs(x.got-x.want) > 1e-9 {
				t.Errorf("%s: %s %.12g N, want %.12g", c.name, x.what, x.got, x.want)
			}
		}
		t.Run(c.name, func(t *testing.T) {
			for _, side := range []struct{ s, rest, sliding float64 }{{1, c.rest, c.sliding}, {-1, c.restBack, c.slidingBack}} {
				if got := breakAway(t, c.law, side.s, c.offset); !c.creeps && math.Abs(got-side.rest) > 0.02*side.rest+3e-3 {
					t.Errorf("side %g: it breaks away at %.4g N, want %.4g", side.s, got, side.rest)
				}
				// long sliding, faster than any Stribeck velocity
				v := 1e4 * side.s
				z := newZ(c.law)
				f := 0.0
				for range 3000 {
					f = c.law.Step(z, Input{Dt: 1e-3, V: v})
				}
				if dry := side.s * (f - c.law.Viscous(v) - c.offset); !c.slow && math.Abs(dry-side.sliding) > 1e-6 {
					t.Errorf("side %g: it slides at %.9g N, want %.9g", side.s, dry, side.sliding)
				}
			}
		})
	}
}

// breakAway is the force (N) without the offset at which a light body that was at rest leaves, under a load that rises by 5 mN/s.
func breakAway(t *testing.T, law Model, side, offset float64) float64 {
	t.Helper()
	const h, rate, gone = 1e-3, 5e-3, 5e-3 // s, N/s, m/s
	if _, stick := law.(*TwoSidedStick); stick {
		t.Fatal("it carries no mass")
	}
	b := newBench(t, law, 0.01, Midpoint, &pulled{h: h})
	for k := range 1000000 {
		u := rate * h * float64(k)
		b.s.con = side*u + offset
		b.step()
		if math.Abs(b.x[1]) > gone {
			return u
		}
	}
	t.Fatal("it never breaks away")
	return 0
}

// The surrogate has no level at speed: what it has is the lowest point of its curve, found here by looking at all of it.
func TestLevelsOfTheSurrogate(t *testing.T) {
	law, lowest := find(t, "linear-surrogate"), math.Inf(1)
	for v := 0.0; v < 5; v += 1e-4 {
		if v > 0 {
			lowest = min(lowest, law.SteadyForce(v))
		}
	}
	if got := law.Levels().Sliding.Forward; math.Abs(got-lowest) > 1e-6 {
		t.Errorf("%g N, the lowest of the curve is %g", got, lowest)
	}
}

// The state-variable law slides at v0 under its level, whatever happened before.
func TestLevelsOfTheStateVariable(t *testing.T) {
	law := find(t, "state-variable").(*StateVariable)
	z := newZ(law)
	z[0] = 0.02
	f := 0.0
	for range 10000 {
		f = law.Step(z, Input{Dt: 1e-3, V: law.V0})
	}
	if want := law.Levels().Sliding.Forward; math.Abs(f-want) > 1e-6 {
		t.Errorf("%g N at v0, want %g", f, want)
	}
}

// Dry, viscous and constant part make up the steady curve, and the dry part never drives. Where a contact begins to slide it is the level
// of rest.
func TestPartsOfTheSteadyCurve(t *testing.T) {
	for _, c := range levelCases(t) {
		for _, v := range []float64{1e-9, 1e-4, 0.02, 0.3, 2, 50} {
			for _, v := range []float64{v, -v} {
				dry, s := DryForce(c.law, v), math.Copysign(1, v)
				if sum := s*dry + c.law.Viscous(v) + c.offset; math.Abs(sum-c.law.SteadyForce(v)) > 1e-12*(1+math.Abs(sum)) {
					t.Errorf("%s at %g m/s: parts %g N, curve %g", c.name, v, sum, c.law.SteadyForce(v))
				}
				if dry < -1e-12 || s*c.law.Viscous(v) < 0 {
					t.Errorf("%s at %g m/s: dry %g N, viscous %g N", c.name, v, dry, c.law.Viscous(v))
				}
			}
		}
		switch c.law.(type) {
		case *Kato, *RisingStatic, *StaticCoulombViscous, *Karnopp, *StateVariable: // the level falls when they leave, or with the speed
		default:
			if got := DryForce(c.law, 1e-9); math.Abs(got-c.rest) > 1e-3 {
				t.Errorf("%s: begins to slide at %g N, want %g", c.name, got, c.rest)
			}
		}
	}
}
