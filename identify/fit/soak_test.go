//go:build soak

package fit

import "testing"

// AEP beside SciPy's differential evolution with as many members and evaluations, reported: twenty seeds on each landscape.
func TestBesideDifferentialEvolution(t *testing.T) {
	for _, l := range landscapes {
		one, reached := evolved(t, l.p, l.goal, 20, AEP{Simulations: evaluations})
		two, both := evolved(t, l.p, l.goal, 20, AEP{Simulations: evaluations, Islands: 2, Members: 15})
		steady, still := evolved(t, l.p, l.goal, 20, AEP{Simulations: evaluations, SpreadOne: true})
		var de []float64
		peer(t, `
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
