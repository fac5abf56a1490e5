package friction

import (
	"math"
	"testing"
)

// record is the position of a mass every dt over span (s), with steps of h.
func record(t testing.TB, p LuGre, s Scheme, load pulled, span, dt, h float64, v0 float64) (xs []float64) {
	load.h = h
	b := newBench(t, &p, 1, s, &load)
	b.x[1] = v0
	if v0 != 0 { // slides steadily
		b.x[2] = p.g(v0) / p.Sigma0 * math.Copysign(1, v0)
	}
	per := int(math.Round(dt / h))
	for k := range int(math.Round(span / dt)) {
		for i := range per {
			b.s.t = float64(k*per+i) * h
			b.Step(h, b.x, b.s)
		}
		xs = append(xs, b.x[0])
	}
	return xs
}

// Halving the step divides the largest error over a record by four (Midpoint) or two (the others). Three records: sliding at
// varying speed without reversal, a motion with reversals, and a whole stick-slip record with run-away and arrest. The
// reference is Midpoint with a step 64 times smaller, that is, an error 4000 times smaller.
func TestSchemesOrder(t *testing.T) {
	pc := costLaw()
	pc.Vd = 0.02
	for _, c := range []struct {
		name         string
		load         pulled
		v0, span, dt float64
		h            float64
	}{
		{"sliding", pulled{con: 1.5, ramp: 0.5}, 0.3, 0.5, 0.05, 2e-3},
		{"reversals", pulled{k: 100, con: 6}, 0, 0.5, 0.05, 1e-3},
		{"stick-slip", pulled{k: 100, speed: 0.02}, 0, 3, 0.05, 5e-4},
	} {
		for s := Midpoint; s <= ExplicitPade; s++ {
			want := 0.9
			if s == Midpoint {
				want = 1.8
			}
			ref := record(t, pc, Midpoint, c.load, c.span, c.dt, c.h/64, c.v0)
			var errs [2]float64
			for i := range errs {
				for k, v := range record(t, pc, s, c.load, c.span, c.dt, c.h/float64(int(1)<<i), c.v0) {
					errs[i] = max(errs[i], math.Abs(v-ref[k]))
				}
			}
			p := math.Log2(errs[0] / errs[1])
			t.Logf("%-10s %-13s order %.2f, error %.2g m at %g s", c.name, s, p, errs[0], c.h)
			if p < want {
				t.Errorf("%s, %v: order %.2f (errors %g and %g m), want ≥ %g", c.name, s, p, errs[0], errs[1], want)
			}
		}
	}
}

// wave is a force that is smooth or, with hold > 0, a held sample of it. Asked at an instant where it jumps it answers with
// the mean of both sides, if mean is set, or with the side to come.
type wave struct {
	t, hold float64
	mean    bool
}

func (w *wave) Span(tau, h, x float64) {}

func (w *wave) At(tau, x, v float64) (force, dx, dv float64) {
	t := w.t + tau
	f := func(t float64) float64 { return 0.5 * (1 - math.Cos(12*t)) }
	if w.hold == 0 {
		return f(t), 0, 0
	}
	k := math.Floor(t/w.hold + 1e-6)
	if w.mean && math.Abs(t-k*w.hold) < 1e-6*w.hold {
		return 0.5 * (f((k-1)*w.hold) + f(k*w.hold)), 0, 0
	}
	return f(k * w.hold), 0, 0
}

// Explicit is a leapfrog, second order if read like one. An undamped bristle law is pushed without breaking away: positions
// and the mean of the velocities before and after a step, at its beginning, have errors that fall by four; the velocity
// alone is half a step off. A held force must be asked for its mean around the instant, or it acts half a step early.
func TestExplicitIsALeapfrog(t *testing.T) {
	p := LuGre{Sigma0: 1e3, Fc: 1, Fs: 1.5, Vs: 0.05}
	const span = 1.0
	run := func(s Scheme, h, hold float64, mean bool) (x, v, mid float64) {
		b, err := NewMass(1, &p, s)
		if err != nil {
			t.Fatal(err)
		}
		y, w := b.NewState(), &wave{hold: hold, mean: mean}
		n := int(math.Round(span / h))
		for k := range n + 1 { // the last step begins at span
			w.t = float64(k) * h
			x, v = y[0], y[1]
			b.Step(h, y, w)
		}
		return x, v, 0.5 * (v + y[1])
	}
	octaves := func(e1, e2 float64) float64 { return math.Log2(math.Abs(e1) / math.Abs(e2)) }
	x0, v0, _ := run(Midpoint, 1e-5, 0, false)
	x1, v1, m1 := run(Explicit, 2.5e-4, 0, false)
	x2, v2, m2 := run(Explicit, 1.25e-4, 0, false)
	if o := octaves(x1-x0, x2-x0); o < 1.8 {
		t.Errorf("position: order %.2f (%g, %g)", o, x1-x0, x2-x0)
	}
	if o := octaves(m1-v0, m2-v0); o < 1.8 {
		t.Errorf("mean velocity: order %.2f (%g, %g)", o, m1-v0, m2-v0)
	}
	if o := octaves(v1-v0, v2-v0); o > 1.2 {
		t.Errorf("velocity as it stands: order %.2f, want it half a step off", o)
	}
	// held force: the truth is the held force itself, by Midpoint in steps of 1/32 of the hold
	held := func(h float64, mean bool) float64 {
		truth, _, _ := run(Midpoint, h/32, h, false)
		x, _, _ := run(Explicit, h, h, mean)
		return x - truth
	}
	if o := octaves(held(1e-3, true), held(5e-4, true)); o < 1.8 {
		t.Errorf("held force, mean of both sides: order %.2f", o)
	}
	if o := octaves(held(1e-3, false), held(5e-4, false)); o > 1.2 {
		t.Errorf("held force, side to come: order %.2f, want it half a step early", o)
	}
}
