package identify

import (
	"math"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// apartness counts how far two results of one record are apart.
type apartness struct {
	touch, of int     // parameters apart by no more than their joint interval, of all
	worst     float64 // joint half-widths
	truth     [2]int  // intervals of either method that hold the truth
}

// joint compares the parameters that both results name. The joint interval of a difference has the root of the sum of the squares of
// the two halves of 95 % as its half. One of more than a tenth of the value proves nothing and is an error.
func (c *apartness) joint(t *testing.T, one string, a *Result, other string, b *Result, truth map[string]float64) {
	t.Helper()
	for i := range a.Parameters {
		p := &a.Parameters[i]
		want, ok := truth[p.Name]
		if !ok || p.Fixed {
			continue
		}
		for k := range b.Parameters {
			q := &b.Parameters[k]
			if q.Name != p.Name {
				continue
			}
			ci, di := a.Interval(p), b.Interval(q)
			if ci == nil || di == nil {
				t.Errorf("%s: intervals %v, %v", p.Name, ci, di)
				continue
			}
			half := math.Hypot(ci[1]-ci[0], di[1]-di[0]) / 2
			far := math.Abs(p.Value-q.Value) / half
			t.Logf("%-7s %s %.6g in %.5g, %s %.6g in %.5g, made with %g: %.2f joint half-widths apart", p.Name, one, p.Value, *ci, other, q.Value,
				*di, want, far)
			if half > 0.1*want {
				t.Errorf("%s: the joint interval is %.0f %% of the value wide, no comparison", p.Name, 100*half/want)
			}
			c.of++
			c.worst = max(c.worst, far)
			if far <= 1 {
				c.touch++
			}
			for m, ci := range []*[2]float64{ci, di} {
				if ci[0] <= want && want <= ci[1] {
					c.truth[m]++
				}
			}
		}
	}
}

// check wants 95 % of the differences, less chance, within their joint intervals, none beyond twice as much, and the truth in nearly
// all intervals.
func (c *apartness) check(t *testing.T) {
	t.Helper()
	t.Logf("%d of %d within the joint interval, at most %.2f of its half apart; %d intervals hold the truth", c.touch, c.of, c.worst, c.truth)
	if few := 0.9 * float64(c.of); c.of == 0 || float64(c.touch) < few || float64(min(c.truth[0], c.truth[1])) < few-1 || c.worst > 2 {
		t.Error("the methods contradict each other, or one of them the truth")
	}
}

// Two methods that share no code agree on one record: the simulated motion fitted as a whole, and the prediction errors of a
// filter. Encoder, velocity and force all have noise. With the position their errors are nearly the same ones; with the velocity,
// which the filter does not read, the intervals are those of two experiments.
func TestLMAgreesWithKalman(t *testing.T) {
	contacts, seeds, outputs := []apart{{1e5, 300, 0.01}, {1e4, 100, 0.05}}, uint64(1), []axis.Output{axis.Position}
	if soak {
		contacts, seeds, outputs = append(contacts, apart{3e4, 60, 0.02}), 8, append(outputs, axis.Velocity)
	}
	for _, out := range outputs {
		var c apartness
		for _, contact := range contacts {
			for seed := range seeds {
				noise := independent.Sensors{Position: 3e-6, Count: 1e-6, Velocity: 5e-4, Force: 1e-5}
				rec, truth := contact.driven(3000, seed+21, noise)
				c.joint(t, "lm", identified(t, rec, Plan{Methods: Chain{"lm"}, Model: axis.Spec{Law: "lugre", Output: out}}),
					"kalman", identified(t, rec, Plan{Methods: Chain{"lugre", "kalman"}, Model: axis.Spec{Law: "lugre"}}), truth)
			}
		}
		c.check(t)
	}
}

// Where a rigid law is enough, what the filter says of inertia and viscous friction is what the regression says.
func TestRegressAgreesWithKalman(t *testing.T) {
	const dt, n = 1e-3, 4000
	seeds := uint64(1)
	if soak {
		seeds = 10
	}
	var c apartness
	for seed := range seeds {
		ax := independent.Axis{M: 2, Friction: independent.Friction{Sigma0: 4e5, Sigma1: 600, Sigma2: 6, Fc: 3}}
		ref := independent.Sines(seed+5, []float64{0.05, 0.02, 0.004}, []float64{0.6, 1.7, 6})
		tr := ax.Simulate(independent.Run{Dt: dt, N: n, X0: ref(0), Sampled: independent.Cascade(40, 300, 0, dt, ref)})
		rec := tr.Record(independent.Sensors{Count: 1e-6, Velocity: -1, Force: 0.05, Seed: seed}, nil)
		level, speed, yes := 3.0, 0.01, true
		r := identified(t, rec, Plan{Methods: Chain{"lugre", "kalman"}, Model: axis.Spec{Law: "lugre"},
			GivenParams: []Given{{Name: "Fs", Start: &level, Fixed: &yes}, {Name: "vs", Start: &speed, Fixed: &yes}}})
		g := identified(t, rec, Plan{Methods: Chain{"regress"}, Regress: linear.DefaultSpec()})
		for i := range g.Parameters {
			if g.Parameters[i].Name == "Fv" {
				g.Parameters[i].Name = "sigma2"
			}
		}
		c.joint(t, "regress", g, "kalman", r, map[string]float64{"M": 2, "sigma2": 6})
	}
	c.check(t)
}

// identified is the result of a plan on one record.
func identified(t *testing.T, rec *record.Record, plan Plan) *Result {
	t.Helper()
	r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %s, %.2g s %q", plan.Methods, r.Verdict, r.Compute, r.Reasons)
	return r
}
