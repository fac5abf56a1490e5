package identify

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/record"
)

// decay is 14 s of a swing from 1.2 rad with Coulomb and viscous friction, by Runge–Kutta of order four in steps of 50 µs,
// sampled at 200 Hz with 1 mrad of noise.
func decay(fc, fv, mgs float64) *record.Record {
	const n, dt, parts = 2800, 5e-3, 100
	rec := &record.Record{Dt: dt, Position: make([]float64, n)}
	rng := rand.New(rand.NewPCG(3, 4))
	flow := func(x, v float64) float64 { return -fv*v - fc*math.Tanh(v/1e-4) - mgs*math.Sin(x) }
	x, v, h := 1.2, 0.0, dt/float64(parts)
	for k := range n {
		rec.Position[k] = x + 1e-3*rng.NormFloat64()
		for range parts {
			a1 := flow(x, v)
			v2 := v + h/2*a1
			a2 := flow(x+h/2*v, v2)
			v3 := v + h/2*a2
			a3 := flow(x+h/2*v2, v3)
			v4 := v + h*a3
			a4 := flow(x+h*v3, v4)
			x, v = x+h/6*(v+2*v2+2*v3+v4), v+h/6*(a1+2*a2+2*a3+a4)
		}
	}
	return rec
}

// A free swing is found from a period that is far off, and its numbers do not depend on the steps of the simulation. Over
// the whole record at once the descent ends in a trap with a fit of 79 %, and the steps that resolve the swing move mgs by 20
// standard errors.
func TestFreeSwing(t *testing.T) {
	truth := map[string]float64{"Fc": 0.4, "Fv": 0.3, "mgs": 60}
	rec := decay(truth["Fc"], truth["Fv"], truth["mgs"])
	one, lo, hi, yes := 1.0, 10.0, 300.0, true
	for _, start := range []float64{40, 90} {
		plan := Plan{
			Methods: Chain{"lm"}, Seed: 1,
			Model:       axis.Spec{Rotary: true, Law: "coulomb", Drive: axis.Coast, Terms: []string{"viscous", "gravity-sin"}},
			GivenParams: []Given{{Name: "J", Start: &one, Fixed: &yes}, {Name: "mgs", Start: &start, Lo: &lo, Hi: &hi}},
		}
		r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Identified {
			t.Errorf("from %g: %v, %v", start, r.Verdict, r.Reasons)
		}
		for name, want := range truth {
			p, _ := r.Param(name)
			if p == nil || p.StdErr == nil || math.Abs(p.Value-want) > 4**p.StdErr {
				t.Errorf("from %g: %s = %+v, want %g within 4 standard errors", start, name, p, want)
			}
		}
	}
}
