package identify

import (
	"math"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// What was reckoned from an assumption moves a value: its interval holds half of that, both ways, and the result says what it does.
func TestIntervalsHoldHalfOfAnAssumption(t *testing.T) {
	axis := independent.Axis{M: 2, Friction: independent.Friction{Fc: 3, Sigma2: 1}}
	tr := axis.Simulate(independent.Run{Dt: 1e-3, N: 8000, Force: independent.Sines(3, []float64{20, 9}, []float64{0.7, 1.9})})
	made := func(extra float64) *record.Record {
		d := &record.Record{Dt: 1e-3, Position: tr.X, Force: append([]float64(nil), tr.U...)}
		for k := 1; k+1 < len(tr.X); k++ {
			d.Force[k] += extra * (tr.X[k+1] - 2*tr.X[k] + tr.X[k-1]) / 1e-6
		}
		return d
	}
	plan := Plan{Methods: Chain{regress}, Form: linear.Weak, Regress: linear.DefaultSpec()}
	find := func(recs Records) (*Result, *Parameter) {
		t.Helper()
		r, err := Run(t.Context(), plan, recs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := r.Param("M")
		return r, p
	}
	plain, m0 := find(Records{Fit: []*record.Record{made(0.1)}})
	held, m1 := find(Records{Fit: []*record.Record{made(0.1)}, WithoutAssumed: []*record.Record{made(0)}, Doubt: "without the correction"})
	if m0.Value != m1.Value || math.Abs(m1.Value-2.1) > 0.01 {
		t.Fatalf("M = %g and %g, want 2.1", m0.Value, m1.Value)
	}
	if lo, hi := m0.CI[0]-m1.CI[0], m1.CI[1]-m0.CI[1]; math.Abs(lo-0.05) > 0.002 || math.Abs(hi-0.05) > 0.002 {
		t.Errorf("the interval grew from %v to %v, want by 0.05 at both ends", *m0.CI, *m1.CI)
	}
	if s := held.Sensitivity[len(held.Sensitivity)-1]; s.What != "without the correction" || math.Abs(s.Values["M"]-2) > 0.01 ||
		!(s.RMS > 0) || s.Worst != "M" {
		t.Errorf("%+v", s)
	}
	if plain.Verdict != held.Verdict {
		t.Errorf("the verdict went from %s to %s: %q", plain.Verdict, held.Verdict, held.Reasons)
	}
}
