package identify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// Force and velocity are enough for a model in which no load depends on the position; where one does, the position is asked for.
func TestVelocityWithoutPosition(t *testing.T) {
	spec := func(terms ...string) axis.Spec {
		return axis.Spec{Law: "coulomb", Terms: append(terms, "viscous"), Drive: axis.Force, Output: axis.Velocity, Hold: axis.Linear}
	}
	for _, method := range []Method{"lm", "aep", "multishoot"} {
		for _, s := range []axis.Spec{spec("offset"), spec("stiffness")} {
			p := Plan{Methods: Chain{method}, Model: s, Seed: 1}
			wants := slices.Contains(FindMethod(method).Columns(&p), "position")
			if wants != (method == "multishoot" || slices.Contains(s.Terms, "stiffness")) {
				t.Errorf("%s with %v: position %v", method, s.Terms, wants)
			}
		}
	}

	a := independent.Axis{M: 2, Friction: independent.Friction{Fc: 3, Sigma2: 5}, Load: func(_, _, _ float64) float64 { return 0.4 }}
	for seed := range uint64(3) {
		force := independent.Sines(seed, []float64{5, 4, 3}, []float64{0.5, 1.3, 3.1})
		rec := a.Simulate(independent.Run{Dt: 1e-3, N: 6000, Force: force}).Record(independent.Sensors{Velocity: 1e-3, Seed: seed}, nil)
		rec.Position = nil
		tr := trial{recs: []*record.Record{rec}, truth: map[string]float64{"M": 2, "Fc": 3, "Fv": 5, "offset": 0.4},
			plan: Plan{Methods: Chain{"lm"}, Model: spec("offset"), Seed: 1}}
		o := attempt(kind{}, tr)
		if o.verdict != Identified {
			t.Errorf("seed %d: %s (%s)", seed, o.verdict, o.reason)
			continue
		}
		for name, truth := range tr.truth {
			p, _ := o.result.Param(name)
			if ci := o.result.Interval(p); math.Abs(p.Value-truth) > 0.01*truth || math.Abs(p.Value-truth) > 2*(ci[1]-ci[0])/2 {
				t.Errorf("seed %d: %s = %.5g, made with %g, interval %.5g", seed, name, p.Value, truth, *ci)
			}
		}
		tr.plan.Model = spec("stiffness")
		if o := attempt(kind{}, tr); o.verdict != "refused" || !strings.Contains(o.reason, "position was not recorded") {
			t.Errorf("seed %d, with a spring: %s (%s)", seed, o.verdict, o.reason)
		}
	}
}
