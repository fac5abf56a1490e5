package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Under a recorded force and noise of 10 µm a millisecond apart the velocity at the beginning is found from rest and in
// motion. Nine samples leave 4 to 7 mm/s, which costs the fit up to 0.5 % of the inertia and 77 noises of residual; here less
// than 0.9 mm/s is left.
func TestStartVelocityInNoise(t *testing.T) {
	const n, s = 4000, 1e-5
	spec := Spec{Law: "coulomb", Terms: []string{"viscous"}, Drive: Force, Output: Position}
	for _, c := range []struct{ v, phase float64 }{{0, 0}, {0, 1.2}, {0, 4}, {0.05, 0}, {0.05, 1.2}, {0.5, 0}, {0.5, 1.2}, {0.5, 4}} {
		u := shaken(n, c.phase)
		exact := dragged(u, c.v)
		x := make([]float64, n)
		rng := rand.New(rand.NewPCG(11, math.Float64bits(c.v+c.phase)))
		var model float64
		const reps = 5
		for i := range reps {
			for k := range x {
				x[k] = exact[k] + s*rng.NormFloat64()
			}
			d := &record.Record{Dt: 1e-3, Position: x, Force: u}
			m, _, pr := problemOf(t, spec, []*record.Record{d}, nil)
			model += math.Pow(m.pieces[0].v0-c.v, 2) / reps
			if i > 0 {
				continue
			}
			lm := fit.LM{Steps: []float64{1e-3}, Forward: true}
			fitM, err := lm.Fit(context.Background(), pr, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, f := range map[string]*fit.Solution{"model": fitM} {
				mass, left := valueOf(t, f.Params, "M"), rmsOf(f)
				t.Logf("%.2f m/s, phase %.1f, %s: M = %.4f kg, residual %.1f noises", c.v, c.phase, name, mass, left/s)
				if math.Abs(mass/2-1) > 2e-3 || left > 12*s {
					t.Errorf("%.2f m/s, phase %.1f, %s: M = %.4f kg of 2 kg, residual %.1f times the noise", c.v, c.phase, name, mass, left/s)
				}
			}
		}
		model = math.Sqrt(model)
		t.Logf("%.2f m/s, phase %.1f: off by %.2f mm/s", c.v, c.phase, 1e3*model)
		if model > 0.9e-3 {
			t.Errorf("%.2f m/s, phase %.1f: off by %.2f mm/s", c.v, c.phase, 1e3*model)
		}
	}
}

// The standard errors of the parabola are those of its scatter, and noise is told from motion.
func TestParabolaErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{4, 9, 60} {
		const reps, h = 4000, 0.01
		q := make([]float64, n)
		var x, v, sx, sv float64
		for range reps {
			for k := range q {
				at := h * float64(k)
				q[k] = 3 - 2*at + 5*at*at + rng.NormFloat64()
			}
			var p start
			p, _, sx, sv = parabola(q, h)
			x += (p.x - 3) * (p.x - 3) / reps
			v += (p.v + 2) * (p.v + 2) / reps
		}
		if x, v = math.Sqrt(x), math.Sqrt(v); math.Abs(x/sx-1) > 0.05 || math.Abs(v/sv-1) > 0.05 {
			t.Errorf("%d samples: scatter %.3g and %.3g, standard errors %.3g and %.3g", n, x, v, sx, sv)
		}
	}
}
