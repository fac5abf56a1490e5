package estimator

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// Positioning under friction, the case of [C95]: P95, M = 1 kg, step of 1 m, Kp = 3, Kv = 6, the observer fed with the true
// motion. PD alone sticks at −0.338 m, with exact friction it arrives, with a model 10 % too weak it sticks at −0.037 m.
func TestObserverPositioning(t *testing.T) {
	truth := friction.LuGre{Sigma0: 1e5, Sigma1: math.Sqrt(1e5), Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.001}
	for _, c := range []struct {
		name      string
		scale     float64 // of the observer's force; 0: no observer
		gain      float64
		want, tol float64 // m
	}{
		{"pd", 0, 0, -0.338, 0.01},
		{"exact", 1, 0, 0, 2e-4},
		{"0.9 of the force", 0.9, 0, -0.037, 0.004},
		{"exact with correction", 1, 10, 0, 2e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := NewObserver(ObserverSpec{Law: truth, Gain: c.gain})
			if err != nil {
				t.Fatal(err)
			}
			const h = 1e-4
			body, err := friction.NewMass(1, &truth, friction.Midpoint)
			if err != nil {
				t.Fatal(err)
			}
			x, f := body.NewState(), 0.0
			l := &constant{}
			for range int(30 / h) {
				l.f = -3*(x[0]-1) - 6*x[1] + c.scale*f
				r := body.Step(h, x, l)
				var st engine.Status
				if f, st = o.Step(h, h*r.W, x[0]-1); st == engine.NonFinite {
					t.Fatal(st)
				}
			}
			if e := x[0] - 1; math.Abs(e-c.want) > c.tol {
				t.Errorf("ends at e = %.5f m, want %.4f ± %g", e, c.want, c.tol)
			}
		})
	}
}

type constant struct{ f float64 }

func (c *constant) Span(tau, h, x float64) {}

func (c *constant) At(tau, x, v float64) (force, dx, dv float64) { return c.f, 0, 0 }

func TestObserver(t *testing.T) {
	law := demoLaw()
	o, err := NewObserver(ObserverSpec{Law: law})
	if err != nil {
		t.Fatal(err)
	}
	// condition of [C95], for the set there: σ0·M/σ1 = 316 N·s/m
	p, _ := NewObserver(ObserverSpec{Law: friction.LuGre{Sigma0: 1e5, Sigma1: math.Sqrt(1e5), Fc: 1, Fs: 1.5, Vs: 1e-3}})
	if p.SPR(316, 1) || !p.SPR(317, 1) {
		t.Error("SPR: want the border between 316 and 317 N·s/m")
	}
	// without correction it is the law itself
	z, f := 0.0, 0.0
	for k := range 1000 {
		dx := 2e-3 * math.Sin(0.01*float64(k))
		var want float64
		z, _, want = law.StepDx(z, dx, 1e-3)
		if f, _ = o.Step(1e-3, dx, 0.1); f != want && math.Abs(f-want) > 1e-15 || o.Bristle() != z {
			t.Fatalf("step %d: %g, %g, want %g, %g", k, f, o.Bristle(), want, z)
		}
	}
	// a correction equals the same equation in tiny steps
	q, _ := NewObserver(ObserverSpec{Law: law, Gain: 3})
	fine, _ := NewObserver(ObserverSpec{Law: law, Gain: 3})
	mean := 0.0
	f, _ = q.Step(1e-3, 4e-4, 0.05)
	for range 1000 {
		part, _ := fine.Step(1e-6, 4e-7, 0.05)
		mean += part / 1000
	}
	if math.Abs(q.Bristle()-fine.Bristle()) > 1e-9*1e-3 || math.Abs(f-mean) > 1e-9*0.02 {
		t.Errorf("with correction: %g, %g in one step, %g, %g in thousand", q.Bristle(), f, fine.Bristle(), mean)
	}
	// bounds and bad input
	if f, st := q.Step(1e-3, 0, -1e6); st != engine.Limited || f > 1.2*law.Fs*(1+1e-12) || q.Bristle() > law.Fs/law.Sigma0 {
		t.Errorf("wild correction: force %g, bristle %g, %v", f, q.Bristle(), st)
	}
	if f, st := q.Step(1e-3, math.NaN(), 0); st != engine.NonFinite || f != 0 {
		t.Errorf("NaN: %g, %v", f, st)
	}
	if _, err := NewObserver(ObserverSpec{Law: law, Gain: -1}); err == nil {
		t.Error("a negative gain was accepted")
	}
	if n := testing.AllocsPerRun(100, func() { q.Step(1e-3, 1e-3, 0.1) }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
}
