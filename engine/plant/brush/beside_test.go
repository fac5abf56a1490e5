package brush

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/contact"
)

func beside(t testing.TB, p Params) *Beside {
	t.Helper()
	b, err := NewBeside(p, contact.MoreauOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// turned runs a brush at constant speed and current in periods of 1 ms and returns means after the first 0.2 s.
func turned(t testing.TB, b *Beside, rpm, current float64, n, periods int) (m BesideOut) {
	t.Helper()
	omega, theta := rpm*math.Pi/30, 0.0
	var out BesideOut
	for k := range periods + 200 {
		theta += omega * 1e-3
		if st := b.Step(1e-3, theta, omega, current, n, &out); st == engine.NonFinite {
			t.Fatal(st)
		}
		if k >= 200 {
			w := 1 / float64(periods)
			m.Tilt, m.Force, m.Torque = m.Tilt+w*out.Tilt, m.Force+w*out.Force, m.Torque+w*out.Torque
			m.Drop, m.Loss, m.Sparking = m.Drop+w*out.Drop, m.Loss+w*out.Loss, m.Sparking+w*out.Sparking
		}
	}
	return m
}

// Driven from outside at constant speed, the brush does what it does in a motor whose speed is held by its inertia.
func TestBrushBesideAMotorIsTheBrushInIt(t *testing.T) {
	b := beside(t, DefaultParams())
	got := turned(t, b, 3000, 2, 50, 400)
	force, torque, loss, tilt, _ := held(t, bench(), 3000, 0.4)
	t.Logf("beside %+v; in a motor %.4g N, %.4g N·m, loss %.3g, tilt %.3g; %+v", got, force, 2*torque, loss, tilt, b.Counts)
	if math.Abs(got.Force/force-1) > 0.01 || math.Abs(got.Torque/(2*torque)-1) > 0.02 || math.Abs(got.Loss-loss) > 0.08 ||
		math.Abs(got.Tilt-tilt) > 1e-3 {
		t.Errorf("beside %+v; in a motor %g N, %g N·m, loss %g, tilt %g", got, force, 2*torque, loss, tilt)
	}
	if c := b.Counts; c.Sub != 600*50 || c.AveragedCalls != 0 || c.Restarts != 0 || float64(c.Unverified) > 1e-3*float64(c.Sub) {
		t.Errorf("counts %+v", c)
	}
	// another direction, another sign
	back := turned(t, beside(t, DefaultParams()), -3000, 2, 50, 200)
	if math.Abs(back.Torque/-got.Torque-1) > 0.1 || math.Abs(back.Force/got.Force-1) > 0.1 {
		t.Errorf("backwards %+v", back)
	}
}

// The averaged contact shows spring force and friction torque in closed form, and the mean loss of the full model.
func TestAveragedBeside(t *testing.T) {
	p := DefaultParams()
	full, b := turned(t, beside(t, p), 3000, 2, 50, 400), beside(t, p)
	got := turned(t, b, 3000, 2, 0, 100)
	t.Logf("averaged %+v, full %+v", got, full)
	fit := b.mean.At(3000 * math.Pi / 30 * 0.011)
	if want := 2 * 0.011 * 0.2 * p.MeanForce() * fit.Rise; math.Abs(got.Torque/want-1) > 1e-9 ||
		math.Abs(got.Force/p.MeanForce()-1) > 1e-12 || got.Loss != fit.Loss && math.Abs(got.Loss/fit.Loss-1) > 1e-12 {
		t.Errorf("averaged %+v, want torque %g", got, want)
	}
	if math.Abs(got.Torque/full.Torque-1) > 0.05 || math.Abs(got.Force/full.Force-1) > 0.02 || math.Abs(got.Loss-full.Loss) > 0.12 ||
		math.Abs(got.Drop/full.Drop-1) > 0.5 {
		t.Errorf("averaged %+v, full %+v", got, full)
	}
	if b.Counts.Sub != 0 || b.Counts.AveragedCalls != 300 {
		t.Errorf("counts %+v", b.Counts)
	}
	// at rest no torque, no loss
	var out BesideOut
	for range 100 {
		b.Step(1e-3, 0, 0, 2, 0, &out)
	}
	if math.Abs(out.Torque) > 1e-6 || out.Loss != 0 {
		t.Errorf("at rest %+v", out)
	}
}

// The torque does not jump when the contact model changes, whichever way.
func TestTorqueIsContinuousBeside(t *testing.T) {
	b := beside(t, DefaultParams())
	var out BesideOut
	const omega = 300.0
	theta, mean, swing := 0.0, 0.0, 0.0
	for k := range 1200 {
		n := 50
		if k >= 600 && k < 800 {
			n = 0
		}
		theta += omega * 1e-3
		b.Step(1e-3, theta, omega, 1, n, &out)
		switch {
		case k > 300 && k < 600:
			mean += out.Torque / 299
		case k == 600 || k == 800:
			swing = max(swing, math.Abs(out.Torque-mean))
		}
	}
	if swing > 0.15*mean {
		t.Errorf("the torque jumps by %g of %g N·m", swing, mean)
	}
}

// The drop at a held current is what the circuit sees when an inductance holds it, and finite whatever the
// contact does.
func TestDropAtAHeldCurrent(t *testing.T) {
	p := DefaultParams()
	c := p.Circuit()
	c.R, c.L, c.K = 0, 100, 0
	var f Flow
	for _, i := range []float64{0.1, 0.4, 0.7, 3, -2} {
		for _, force := range []float64{0, 1e-3, 0.2, 2.5} {
			for _, open := range []float64{0, 0.3} {
				touch := [2]Touch{{Force: force, OpenShare: open, Crowd: 1.5}, {Force: force, OpenShare: open, Crowd: 1.5}}
				got := c.Drop.ArcLimitedVoltage(i, &touch[0])
				if math.IsNaN(got) || math.IsInf(got, 0) || got*i < 0 || math.Abs(got) > 14 {
					t.Errorf("%g A, %g N: %g V", i, force, got)
				}
				if math.Abs(i) < c.Drop.Iarc && force < 0.1 {
					continue // there the circuit breaks the current, and nothing holds it
				}
				c.Step(1e-5, i, 0, 0, 0, &touch, &f)
				if want := f.Volts / 1e-5 / 2; math.Abs(got/want-1) > 1e-5 {
					t.Errorf("%g A, %g N, open %g: %g V, the circuit has %g V", i, force, open, got, want)
				}
			}
		}
	}
	if c.Drop.ArcLimitedVoltage(0, &Touch{}) != 0 {
		t.Error("a drop without current")
	}
}

func TestBesideRefusesAndRepeats(t *testing.T) {
	run := func() []float64 {
		b := beside(t, DefaultParams())
		var out BesideOut
		for k := range 300 {
			n := 50 - k%7
			if k/50 == 3 {
				n = 0
				b.Probe(20e-6, 0.1*float64(k), 100, 5)
			}
			b.Step(1e-3, 0.1*float64(k), 100, 1, n, &out)
		}
		return append(append([]float64{out.Tilt, out.Force, out.Torque, out.Drop, out.Loss, out.Sparking}, b.q[:]...), b.u[:]...)
	}
	a, c := run(), run()
	for k := range a {
		if a[k] != c[k] {
			t.Fatalf("number %d: %g and %g from the same start", k, a[k], c[k])
		}
	}
	b := beside(t, DefaultParams())
	out := BesideOut{Force: 7}
	q := b.q
	for _, x := range [][4]float64{{math.NaN(), 0, 0, 0}, {1e-3, math.Inf(1), 0, 0}, {1e-3, 0, math.NaN(), 0}, {1e-3, 0, 0, math.Inf(-1)},
		{0, 0, 0, 0}} {
		if st := b.Step(x[0], x[1], x[2], x[3], 50, &out); st != engine.NonFinite || out.Force != 7 || b.q != q {
			t.Errorf("%v: %v, %+v", x, st, out)
		}
	}
	// a brush that has gone to nowhere starts anew
	b.q[3] = math.NaN()
	if st := b.Step(1e-3, 0.1, 100, 1, 50, &out); st != engine.Limited || b.Counts.Restarts != 1 ||
		math.IsNaN(out.Tilt+out.Force+out.Torque+out.Drop) {
		t.Errorf("%v, %+v, %+v", st, b.Counts, out)
	}
	// any speed: bounded work, finite figures
	for _, omega := range []float64{1e4, 1e7, -1e12} {
		for range 3 {
			if st := b.Step(1e-3, omega, omega, 1, 0, &out); st != engine.OK || math.IsNaN(out.Torque+out.Drop+out.Sparking) {
				t.Errorf("%g rad/s: %v, %+v", omega, st, out)
			}
		}
	}
	k := 0.0
	for _, n := range []int{50, 0} {
		if a := testing.AllocsPerRun(20, func() { k++; b.Step(1e-3, 0.1*k, 100, 1, n, &out); b.Probe(20e-6, 0.1*k, 100, 4) }); a != 0 {
			t.Errorf("%g allocations in a call with %d sub-steps", a, n)
		}
	}
}
