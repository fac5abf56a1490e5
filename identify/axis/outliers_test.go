package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// dragged is the position of 2 kg under a held force with Coulomb friction of 3 N and 8 N·s/m, integrated in fifty parts of
// a millisecond, from the velocity v on. It shares nothing with the models.
func dragged(force []float64, v float64) []float64 {
	const m, fc, fv, h = 2.0, 3.0, 8.0, 1e-3 / 50
	x, at := make([]float64, len(force)), 0.0
	for k, u := range force {
		x[k] = at
		for range 50 {
			before := v
			free := v + h*(u-fv*v)/m // Coulomb friction takes what it may, at most all
			v = free - math.Copysign(min(math.Abs(free), h*fc/m), free)
			at += h * (before + v) / 2
		}
	}
	return x
}

// shaken is a force of three sines, N, beginning at a phase.
func shaken(n int, phase float64) []float64 {
	u := make([]float64, n)
	for k := range u {
		t := float64(k) * 1e-3
		u[k] = 9*math.Sin(3*t+phase) + 6*math.Sin(7.7*t) + 4*math.Sin(19*t)
	}
	return u
}

// Outliers of 20 mm among samples a millisecond apart decide neither over the guess of the inertia nor over its bounds: with
// a loss that forgives them the inertia is found.
func TestInertiaAmongOutliers(t *testing.T) {
	const n = 6000
	u := shaken(n, 0)
	for _, share := range []float64{0.002, 0.05} {
		rng := rand.New(rand.NewPCG(5, uint64(1e4*share)))
		x := dragged(u, 0)
		for k := range x {
			x[k] += 2e-6 * rng.NormFloat64()
			if rng.Float64() < share {
				x[k] += 0.02 * float64(1-2*rng.IntN(2))
			}
		}
		d := &record.Record{Dt: 1e-3, Position: x, Force: u}
		spec := Spec{Law: "coulomb", Terms: []string{"viscous"}, Drive: Force, Output: Position}
		lm := fit.LM{Loss: fit.Loss{Kind: fit.SoftL1, Scale: 1e-4}}
		check := func(name string, ps []fit.Param, s *fit.Solution, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			guess, m := 0.0, 0.0
			for _, p := range ps {
				if p.Name == "M" {
					guess = p.Value
				}
			}
			m = valueOf(t, s.Params, "M")
			t.Logf("%s, %.1f %% outliers: guess %.3f kg, found %.4f kg", name, 100*share, guess, m)
			if math.Abs(guess-2) > 0.5 || math.Abs(m-2) > 0.01 {
				t.Errorf("%s, %.1f %% outliers: guess %.3g kg, found %.4g kg of 2 kg", name, 100*share, guess, m)
			}
		}
		_, ps, pr := problemOf(t, spec, []*record.Record{d}, nil)
		lm.Steps, lm.Forward = []float64{1e-3}, true
		s, err := lm.Fit(context.Background(), pr, nil)
		check("model", ps, s, err)
	}
}

// What has no outliers stays as it is: exact motion with stops, steps of an encoder, noise, a jump that lasts.
func TestNothingToDespike(t *testing.T) {
	x := dragged(shaken(3000, 1), 0.1)
	steps, noisy, jump := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	rng := rand.New(rand.NewPCG(1, 2))
	for k, v := range x {
		steps[k] = math.Round(v/1e-5) * 1e-5
		noisy[k] = v + 1e-5*rng.NormFloat64()
		if jump[k] = v; k > 1000 {
			jump[k] += 0.02
		}
	}
	for name, q := range map[string][]float64{"exact": x, "steps": steps, "noise": noisy, "jump": jump} {
		if got := despiked(q); &got[0] != &q[0] {
			t.Errorf("%s: samples were replaced", name)
		}
	}
	d := empsRecord(t).Position
	if got := despiked(d); &got[0] != &d[0] {
		t.Error("samples of the measured axis were replaced")
	}
}
