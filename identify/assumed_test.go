package identify

import (
	"slices"
	"testing"

	"hilrig/identify/fit"
)

// A value that nobody measured is no known one: where it is wrong, intervals hold the truth or the reason names it, and the table calls
// it assumed.
func TestAssumedValues(t *testing.T) {
	seeds := uint64(1)
	if soak {
		seeds = 6
	}
	for _, methods := range []Chain{{"lugre", "kalman"}, {"lugre", "lm"}} {
		for _, factor := range []float64{1, 2, 0.5} {
			missed, named := 0, 0
			for seed := range seeds {
				b := newBench(40+seed, 3)
				contact(b)
				b.axis.Friction.Vd = 3 * b.axis.Friction.Vs
				tr := b.record(nil)
				contactPlan(methods...)(b, &tr.plan)
				guess := factor * b.axis.Friction.Vd
				tr.plan.GivenParams = []Given{{Name: "vd", Start: &guess, Assumed: true}}
				o := attempt(kind{}, tr)
				if o.result == nil {
					t.Errorf("%v, factor %g, seed %d: %s", methods, factor, seed, o.reason)
					continue
				}
				vd, _ := o.result.Param("vd")
				p, _ := o.result.Param("sigma1")
				if vd.Worth != Assumed {
					t.Errorf("vd is %s", vd.Worth)
				}
				if slices.ContainsFunc(o.result.Reasons, func(r fit.Reason) bool { return r.Code == "assumed-value" }) {
					named++
				}
				truth := b.axis.Friction.Sigma1
				if p.CI == nil || truth < p.CI[0] || truth > p.CI[1] {
					missed++
					t.Logf("%v, vd %g times the truth, seed %d: sigma1 %.4g for %.4g, %v; %s", methods, factor, seed, p.Value, truth, p.CI, o.verdict)
				}
				if o.wrong != nil {
					t.Errorf("%v, vd %g times the truth, seed %d: wrong with confidence: %v", methods, factor, seed, o.wrong)
				}
			}
			t.Logf("%v, vd %g times the truth: named in %d of %d, sigma1 missed in %d", methods, factor, named, seeds, missed)
		}
	}
}
