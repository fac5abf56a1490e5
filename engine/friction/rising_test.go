package friction

import (
	"math"
	"testing"
)

// Levels against the formulas by hand, with the special cases of the numerics notes.
func TestRisingLevels(t *testing.T) {
	k := Kato{Fc: 1, FsInf: 1.5, Gamma: 0.5, M: 0.5}
	r := RisingStatic{Fc: 1, FsInf: 1.5, Gamma: 2}
	for _, c := range []struct {
		got, want float64
		what      string
	}{
		{k.Level(0), 1, "Kato right after arrest"},
		{k.Level(4), 1.5 - 0.5*math.Exp(-1), "Kato: γ·√4 = 1"},
		{k.Level(forEver), 1.5, "Kato for ever"},
		{r.Level(1, 0), 1, "[MOGI] (6.14) right after arrest"},
		{r.Level(1, 2), 1.25, "(6.14) half at γ"},
		{r.Level(1.2, 6), 1.425, "(6.14) three quarters of 0.3"},
		{(&RisingStatic{Fc: 1, FsInf: 1.5}).Level(1, 0), 1.5, "γ = 0 at once"},
	} {
		if math.Abs(c.got-c.want) > 1e-15 {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
}

// Stick-slip on a spring at several speeds: the spring force at every break-away, found from the instants of the events
// alone, is the level of the formula after the dwell time between arrest and break-away. The longer the rest, the higher.
func TestBreakawayFollowsDwellTime(t *testing.T) {
	kato := &Kato{Fc: 1, FsInf: 1.5, Gamma: 0.8, M: 0.6, Fv: 0.4}
	rising := &RisingStatic{Fc: 1, FsInf: 1.5, Gamma: 0.4, Fv: 0.4}
	for _, c := range []struct {
		law   Model
		level func(t2 float64) float64
	}{
		{kato, kato.Level},
		{rising, func(t2 float64) float64 { return 1 + 0.5*t2/(t2+0.4) }},
	} {
		last := 2.0
		for _, speed := range []float64{0.0031, 0.0097, 0.0213} {
			w := &watched{pulled: pulled{k: 100, speed: speed, h: 1e-3}}
			b, x := newMass(t, c.law, 1)
			n, at := 0, 0.0 // events seen, position of the body at rest
			var arrest, seen float64
			checked := 0
			w.run(b, x, int((0.06/speed+2)*1e3), func(r MassStep) {
				for ; n < len(w.cuts); n++ {
					if n%2 == 1 { // the first event is a break-away, the second an arrest, …
						arrest = w.cuts[n]
						continue
					}
					u := 100 * (speed*w.cuts[n] - at)
					want := 1.5
					if n > 0 {
						want = c.level(w.cuts[n] - arrest)
						checked++
					}
					// the zero is searched to 1e-12 of the level
					if math.Abs(u-want) > 1e-10 {
						t.Errorf("%T %g m/s: break-away %d at %.12g N, want %.12g", c.law, speed, n, u, want)
					}
					seen = u
				}
				if x[1] == 0 {
					at = x[0]
				}
			})
			if checked < 2 || seen >= last {
				t.Errorf("%T %g m/s: %d break-aways, the last at %g N, slower %g N", c.law, speed, checked, seen, last)
			}
			last = seen
		}
	}
}

// Imposed motion: rest counts, sliding starts it again.
func TestDwellTimeOfImposedMotion(t *testing.T) {
	r := &RisingStatic{Fc: 1, FsInf: 1.5, Gamma: 0.1}
	z := newZ(r)
	if f := r.Step(z, Input{Dt: 0.01, Fa: 9}); f != 1.5 {
		t.Errorf("a contact that never moved holds %g N, want 1.5", f)
	}
	r.Step(z, Input{Dt: 0.01, V: 0.2})
	for range 10 {
		r.Step(z, Input{Dt: 0.01})
	}
	if math.Abs(z[0]-0.1) > 1e-15 || z[1] != 1 {
		t.Errorf("after 0.1 s of rest: %v", z)
	}
	// the level in the middle of the step
	if f, want := r.Step(z, Input{Dt: 0.01, Fa: -9}), -(1 + 0.5*0.105/0.205); math.Abs(f-want) > 1e-15 {
		t.Errorf("holds %g N, want %g", f, want)
	}
}
