//go:build soak

package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// AEP beside SciPy's differential evolution with as many members and evaluations, reported: twenty seeds on each landscape.
func TestBesideDifferentialEvolution(t *testing.T) {
	for _, l := range landscapes {
		one, reached := evolved(t, l.p, l.goal, 20, AEP{Simulations: evaluations})
		two, both := evolved(t, l.p, l.goal, 20, AEP{Simulations: evaluations, Islands: 2, Members: 15})
		steady, still := evolved(t, l.p, l.goal, 20, AEP{Simulations: evaluations, Spread: SpreadOne})
		var de []float64
		scipy(t, `
def run(s):
    init = np.random.default_rng(s).uniform(d["lo"], d["hi"], (30, d["n"]))
    return optimize.differential_evolution(lambda x: `+l.python+`, [(d["lo"], d["hi"])]*d["n"], init=init,
        maxiter=d["evaluations"]//30 - 1, tol=0, atol=0, polish=False, seed=s).fun
json.dump(sorted(run(s) for s in range(20)), sys.stdout)`,
			map[string]any{"lo": l.p.Params[0].Lo, "hi": l.p.Params[0].Hi, "n": len(l.p.Params), "evaluations": evaluations}, &de)
		hits := 0
		for _, f := range de {
			if f < l.goal {
				hits++
			}
		}
		t.Logf("%-10s median cost and successes of 20 below %g: AEP %.3g, %d; two islands %.3g, %d; S = 1 %.3g, %d; SciPy %.3g, %d",
			l.name, l.goal, one[10], reached, two[10], both, steady[10], still, de[10], hits)
	}
}

// The short test of coverage again with many records, and bootstrap intervals, in blocks.
func TestCoverageOfManyRecords(t *testing.T) {
	for _, c := range repetitions {
		goBy, classical, logs := c.coverage(t, 3000)
		t.Logf("%s: intervals to go by hold the truth in %.1f %%, classical %.1f %%, classical of the logarithm %.1f %%", c.name, 100*goBy,
			100*classical, 100*logs)
		if goBy < 0.90 || goBy > 0.98 {
			t.Errorf("%s: %.1f %% covered", c.name, 100*goBy)
		}
	}
	for _, c := range repetitions {
		covered, records := 0, 300
		for seed := range uint64(records) {
			p := c.record(seed)
			s, err := LM{Workers: 1}.Fit(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Bootstrap(t.Context(), p, s, 200, 0, seed, fromEstimate)
			if err != nil {
				t.Fatal(err)
			}
			for j, x := range c.truth {
				if covers(b.CI95[p.Params[j].Name], x) {
					covered++
				}
			}
		}
		t.Logf("%s: bootstrap intervals hold the truth in %.1f %%", c.name, 100*float64(covered)/float64(records*len(c.truth)))
	}
}

// The quantile of the robust ratio for triangular weights, simulated: the mean of white noise over its error from L lags.
func TestWideningSimulated(t *testing.T) {
	const n, records = 400, 20000
	for _, lags := range []int{3, 39, 119} {
		var ratio []float64
		for seed := range uint64(records) {
			e := series(rand.New(rand.NewPCG(seed, 1)), n, 0, nil)
			sum := 0.0
			for _, x := range e {
				sum += x
			}
			ratio = append(ratio, math.Abs(sum)/math.Sqrt(windows([][]float64{centred(e)}, nil, n, lags, nil)[0]))
		}
		slices.Sort(ratio)
		got, want := ratio[records*95/100], 1.96*widening(lags, n)
		t.Logf("%d lags of %d rows: 95 %% of the ratios are below %.3f, by the formula %.3f", lags, n, got, want)
		if math.Abs(got/want-1) > 0.03 {
			t.Errorf("%d lags: %.3f, formula %.3f", lags, got, want)
		}
	}
}
