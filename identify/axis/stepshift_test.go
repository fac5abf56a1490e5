package axis

import (
	"context"
	"math"
	"testing"

	"hilrig/identify/fit"
)

// What half the step would do to the parameters is what it does when the fit is repeated with it. The steps are 2.5 ms on
// an undamped contact, so that there is something to foretell.
func TestStepShiftForetellsTheRefit(t *testing.T) {
	truth := sevenTruth
	truth.Ct = 0
	recs := stickSlip(t, truth, sevenSpring, sevenNoise, 1, 0.02, 0.1)
	known := map[string]float64{"M": 1, "kd": sevenSpring, "ct": 0, "x0[1]": 0, "x0[2]": 0}
	fits := func(parts int, start *fit.Solution) (*Model, *fit.Solution) {
		m, err := New(Spec{Law: "seven-parameter", Drive: Spring, Initial: Rest, Substeps: parts, Known: known}, recs)
		if err != nil {
			t.Fatal(err)
		}
		pr, err := m.Problem(nil)
		if err != nil {
			t.Fatal(err)
		}
		lm := fit.LM{Horizons: fit.GrowingHorizon}
		if start != nil {
			pr.Params, lm.Horizons = start.Params, nil
		}
		s, err := lm.Fit(context.Background(), pr, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m, s
	}
	m, coarse := fits(2, nil)
	_, fine := fits(4, coarse)
	shift, err := m.StepShift(nil, coarse)
	if err != nil {
		t.Fatal(err)
	}
	for j, p := range coarse.Params {
		moved := fine.Params[j].Value - p.Value
		t.Logf("%s: moves by %.3g, foretold %.3g", p.Name, moved/p.Value, shift[j]/p.Value)
		if math.Abs(shift[j]-moved) > 0.3*math.Abs(moved)+3e-5*p.Value {
			t.Errorf("%s moves by %.3g, foretold %.3g", p.Name, moved, shift[j])
		}
	}
}
