package axis

import (
	"math"
	"testing"

	"hilrig/identify/fit"
)

// A rigid contact with less friction at rest than in motion, by direction: the fit of its record finds how much less, below
// zero.
func TestStribeckByDirectionStrengthens(t *testing.T) {
	truth := map[string]float64{"M": 80, "Fc": 20, "Fs": 12, "sigma2": 150, "vs": 0.015, "Fc-": 24, "Fs-": 16, "sigma2-": 180}
	want := map[string]float64{"M": 80, "Fc+": 20, "Fc-": 24, "dFs": -8, "vs": 0.015, "Fv+": 150, "Fv-": 180}
	d := made(t, truth, sweep(2), nil)
	spec := servoSpec("stribeck-bo-pavelescu", true)
	spec.Initial, spec.Substeps = Rest, 2
	m, ps := modelOf(t, spec, false, d)
	s := solve(t, m, ps, Search{Starts: 2, Draws: 5, LM: fit.LM{CostTol: 1e-6, Steps: []float64{1e-3}}})
	t.Logf("%.3f N rms", rmsOf(s))
	for name, x := range want {
		if got := valueOf(t, s.Params, name); math.Abs(got/x-1) > 0.02 {
			t.Errorf("%s = %.4g, made with %g", name, got, x)
		}
	}
}
