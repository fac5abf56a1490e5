package identify

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
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

// A model whose damping does not fade says so, and assumes no value: intervals hold what the record shows, not what a fading would do that
// it does not exclude. They were up to sixteen times as wide as chance makes them.
func TestNothingIsAssumedOfWhatAModelLacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 20261128))
	a, r := experiments["contact, force without noise"](rng)
	res, err := Run(t.Context(), planned("lugre", "lugre", "lm")(a, r, rng), Records{Fit: []*record.Record{r.record(a, rng)}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	truth := a.truths(r.dt, r.held)
	for i := range res.Parameters {
		p := &res.Parameters[i]
		if p.Fixed {
			continue
		}
		if wide, own := p.CI[1]-p.CI[0], res.random(p); wide > 2*(own[1]-own[0]) || strings.Contains(p.IntervalSource, "assumed") {
			t.Errorf("%s: the interval is %.3g wide, %.3g by chance: %s", p.Name, wide, own[1]-own[0], p.IntervalSource)
		}
		if want := truth[p.Name]; math.Abs(p.Value-want) > 4**res.Err(p) {
			t.Errorf("%s: %.5g for %.5g, error %.2g", p.Name, p.Value, want, *res.Err(p))
		}
	}
}

// What is left of the doubt in an assumed value, by closed forms: anywhere within ±1 where the record says nothing, what the record says
// where it knows better, and in between as two normal distributions of one width have it.
func TestDoubtLeft(t *testing.T) {
	u := 1 / math.Sqrt(3)
	for _, c := range []struct{ best, err, want float64 }{
		{0, math.Inf(1), u}, {5, math.Inf(1), u}, {0, 1e-9, 1e-9}, {0.3, 1e-9, 0.3}, {-0.3, 1e-9, 0.3}, {0, u, u / math.Sqrt2},
		{0.4, u, math.Hypot(0.2, u/math.Sqrt2)}, {-0.4, u, math.Hypot(0.2, u/math.Sqrt2)}, {7, 0.1, 1}, {-7, 0.1, 1},
	} {
		if got := doubtLeft(c.best, c.err); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("best %g ± %g: %g is left, want %g", c.best, c.err, got, c.want)
		}
	}
}
