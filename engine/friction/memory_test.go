package friction

import (
	"math"
	"testing"
)

// Imposed velocity with reversals: magnitude of the curve at the delayed speed, sign of the present one. The delay line has
// the mean velocities in the middle of the steps, so what is left is interpolation, of second order.
func TestMemoryOfImposedMotion(t *testing.T) {
	p := &Memory{Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4, TauL: 0.0173}
	for _, c := range []struct{ mean, swing float64 }{{0.06, 0.04}, {0, 0.1}} {
		const w = 2 * math.Pi * 3
		x := func(t float64) float64 { return c.mean*t - c.swing/w*math.Cos(w*t) }
		v := func(t float64) float64 { return c.mean + c.swing*math.Sin(w*t) }
		curve := func(s float64) float64 { return 1 + 0.5/(1+s*s/0.0025) + 0.4*s }
		var errs [2]float64
		for i, h := range []float64{2e-3, 1e-3} {
			z := newZ(p)
			for k := range int(1 / h) {
				at := float64(k) * h
				f := p.Step(z, Input{Dt: h, V: (x(at+h) - x(at)) / h})
				mid := at + h/2
				if mid < 0.1 || math.Abs(v(mid)) < 1e-3 || math.Abs(v(mid-p.TauL)) < 3e-3 {
					continue // before the line has filled, and at the corner of |v|
				}
				errs[i] = max(errs[i], math.Abs(f-math.Copysign(curve(math.Abs(v(mid-p.TauL))), v(mid))))
			}
		}
		order := math.Log2(errs[0] / errs[1])
		t.Logf("%+v: errors %.3g N, order %.2f", c, errs, order)
		if order < 1.8 || errs[1] > 5e-4 {
			t.Errorf("%+v: errors %g, order %.2f", c, errs, order)
		}
	}
}

// A step of velocity arrives τL late; a body that stops keeps the level it had slid with and regains Fs within τL.
func TestMemoryIsLate(t *testing.T) {
	p := &Memory{Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4, TauL: 0.02}
	slid := 1 + 0.5/(1+400) + 0.4
	// without a history there was rest, also for a mass that starts with a velocity
	z := newZ(p)
	if f := p.Step(z, Input{Dt: 1e-3, V: 1}); math.Abs(f-1.5) > 1e-12 {
		t.Errorf("begins with %g N, want 1.5", f)
	}
	b := newBench(t, p, 1, Midpoint, &pulled{h: 1e-3})
	b.x[1] = 1
	for k := range 19 {
		if r := b.step(); math.Abs(r.F-1.5) > 1e-12 {
			t.Errorf("a moving mass has %g N after %d ms, want 1.5", r.F, k)
		}
	}
	p.Reset(z)
	for k := range 100 {
		f := p.Step(z, Input{Dt: 1e-3, V: 1})
		switch {
		case k < 19 && math.Abs(f-1.5) > 1e-12, k > 21 && math.Abs(f-slid) > 1e-12:
			t.Errorf("after %d ms: %g N", k, f)
		}
	}
	for k := range 100 {
		f := p.Step(z, Input{Dt: 1e-3, Fa: 9})
		switch {
		case k < 19 && math.Abs(f-slid) > 1e-12, k > 21 && f != 1.5:
			t.Errorf("%d ms after the stop: holds %g N", k, f)
		}
	}
	// sliding for ever
	p.ResetSliding(z, -1)
	if f := p.Step(z, Input{Dt: 1e-3, V: -1}); math.Abs(f+slid) > 1e-12 {
		t.Errorf("steady: %g N, want %g", f, -slid)
	}
}

// Stick-slip with memory against a second method: explicit midpoint of the delay equation with the whole history kept on a
// grid of 5 µs and the modes switched on that grid. Order of the machine by halving.
func TestMemoryStickSlip(t *testing.T) {
	p := &Memory{Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4, TauL: 0.02}
	const k, V, end = 100.0, 0.02, 2.6
	curve := func(s float64) float64 { return 1 + 0.5/(1+s*s/0.0025) + 0.4*s }

	// reference
	const d = 5e-6
	n, lag := int(math.Round(end/d)), int(math.Round(p.TauL/d))
	hist := make([]float64, n+1)
	delayed := func(i int) float64 { return curve(hist[max(0, i-lag)]) }
	x, v := 0.0, 0.0
	slips := 0
	for i := range n {
		at := float64(i) * d
		u := k * (V*at - x)
		if v == 0 && u <= delayed(i) {
			hist[i+1] = 0
			continue
		}
		if v == 0 {
			slips++
		}
		// the lag is whole steps: at half a step the mean of two values of the history
		f := curve((hist[max(0, i-lag)] + hist[max(0, i+1-lag)]) / 2)
		vm := v + d/2*(u-delayed(i))
		a := k*(V*(at+d/2)-x-d/2*v) - f
		x += d * vm
		v += d * a
		if v <= 0 {
			v = 0
		}
		hist[i+1] = v
	}
	if slips < 2 {
		t.Fatalf("%d slips", slips)
	}
	run := func(h float64) float64 {
		b := newBench(t, p, 1, Midpoint, &pulled{k: k, speed: V, h: h})
		for range int(math.Round(end / h)) {
			b.step()
		}
		return b.x[0]
	}
	fine := run(2e-5)
	t.Logf("x(%g s) = %.7f, reference %.7f m", end, fine, x)
	// the reference switches on its grid: 5 µs of release at an acceleration that begins at zero, 5 µs of arrest
	if math.Abs(fine-x) > 2e-6 {
		t.Errorf("x(%g s) = %.8f m, reference %.8f m", end, fine, x)
	}
	// steps that stay above the reference by far, whose history is thinned to 0.1 ms
	mean := func(h float64) float64 {
		sum := 0.0
		for i := range 8 {
			s := end / math.Round(end/(h*(1-float64(i)/16)))
			sum += math.Abs(run(s)-fine) * h * h / (s * s)
		}
		return sum / 8
	}
	e1, e2 := mean(8e-3), mean(2e-3)
	order := math.Log2(e1/e2) / 2
	t.Logf("errors %.3g, %.3g m, order %.2f", e1, e2, order)
	if order < 1.8 {
		t.Errorf("order %.2f (errors %g, %g)", order, e1, e2)
	}
}
