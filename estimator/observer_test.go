package estimator

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
)

func TestObserver(t *testing.T) {
	law := demoLaw()
	o, err := NewObserver(ObserverSpec{Law: &law})
	if err != nil {
		t.Fatal(err)
	}
	// condition of [C95], for the set there: σ0·M/σ1 = 316 N·s/m
	p := &friction.LuGre{Sigma0: 1e5, Sigma1: math.Sqrt(1e5), Fc: 1, Fs: 1.5, Vs: 1e-3}
	if SPR(p, 316, 1) || !SPR(p, 317, 1) {
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
	q, _ := NewObserver(ObserverSpec{Law: &law, Gain: 3})
	fine, _ := NewObserver(ObserverSpec{Law: &law, Gain: 3})
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
	if _, err := NewObserver(ObserverSpec{Law: &law, Gain: -1}); err == nil {
		t.Error("a negative gain was accepted")
	}
	if n := testing.AllocsPerRun(100, func() { q.Step(1e-3, 1e-3, 0.1) }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
}
