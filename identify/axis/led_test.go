package axis

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// The noise of a recorded force is in what the rows are compared with and in what the model is driven by. The mass found from such
// records is right on the mean all the same, though the force is only five times its noise: rows with the weights of one mass find
// it too large by (1/5)²/2 = 2 % or more. The motion is that of the closed form, under a force that is held.
func TestNoisyForceDoesNotBias(t *testing.T) {
	const (
		dt, mass, viscosity = 1e-3, 2.0, 3.0
		n, runs             = 4000, 12
		level, noise        = 1.0, 0.2 // N rms
		sensor              = 2e-7     // m
	)
	decay := math.Exp(-viscosity / mass * dt)
	var sum, squares, said float64
	for seed := range uint64(runs) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		d := &record.Record{Dt: dt}
		x, v := 0.0, 0.0
		for k := range n {
			at := float64(k) * dt
			u := level * (math.Sin(2*math.Pi*1.7*at) + math.Sin(2*math.Pi*4.3*at+1))
			d.Position = append(d.Position, x+sensor*rnd.NormFloat64())
			d.Force = append(d.Force, u+noise*rnd.NormFloat64())
			end := u / viscosity
			x += end*dt + (v-end)*(1-decay)*mass/viscosity
			v = end + (v-end)*decay
		}
		m, err := New(Spec{Law: "viscous", Drive: Force, Output: Position}, []*record.Record{d})
		if err != nil {
			t.Fatal(err)
		}
		led, w := m.WithLeading(m.Params())
		if led == nil || math.Abs(w/noise-1) > 0.1 {
			t.Fatalf("the noise of the force is called %.3g N, put in %.3g N", w, noise)
		}
		params := led.Params()
		params[fit.Index(params, "M")].Value = 1.5
		s := solve(t, led, params, Search{})
		i := fit.Index(s.Params, "M")
		off := s.Params[i].Value/mass - 1
		sum, squares = sum+off, squares+off*off
		said += math.Sqrt(fit.Covariance(s).At(0, 0)) / mass
		if s.FreeParams[0] != i {
			t.Fatalf("the first free parameter is %s", s.Params[s.FreeParams[0]].Name)
		}
	}
	mean := sum / runs
	spread := math.Sqrt((squares - runs*mean*mean) / (runs - 1))
	t.Logf("M off by %.2f %% on the mean, from run to run by %.2f %%, said %.2f %%", 100*mean, 100*spread, 100*said/runs)
	if math.Abs(mean) > 3*spread/math.Sqrt(runs)+1e-3 {
		t.Errorf("M off by %.2f %% on the mean of %d runs that differ by %.2f %%", 100*mean, runs, 100*spread)
	}
}

// The noise of an encoder is not underestimated where a part of the samples is interpolated: it has at least that of its step.
func TestNoiseOfInterpolated(t *testing.T) {
	const dt, step = 1e-3, 1e-5
	d := &record.Record{Dt: dt}
	for k := range 4000 {
		at := float64(k) * dt
		d.Position = append(d.Position, step*math.Round(0.05*math.Sin(2*math.Pi*1.7*at)/step))
		d.Force = append(d.Force, math.Sin(2*math.Pi*1.7*at+0.3))
	}
	for k := 3; k < 3990; k += 5 + k%4 {
		p := d.Position
		p[k] = (-p[k-2] + 4*p[k-1] + 4*p[k+1] - p[k+2]) / 6
	}
	noise := func() float64 {
		m, err := New(Spec{Law: "viscous", Drive: Force, Output: Position}, []*record.Record{d})
		if err != nil {
			t.Fatal(err)
		}
		return m.noise()
	}
	shown := noise()
	d.PositionStep = step
	if known := noise(); known < step/math.Sqrt(12)*(1-1e-12) || known > 1.2*step/math.Sqrt(12) || shown > 0.95*known {
		t.Errorf("noise %.3g m with the step known, %.3g without, want %.3g and less", known, shown, step/math.Sqrt(12))
	}
}
