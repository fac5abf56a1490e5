package identify

import (
	"slices"
	"testing"

	"hilrig/identify/fit"
)

// A rule of what a record can show of a contact yields to an interval that holds all that moves the value, and to nothing else.
func TestPlausibleYieldsToTold(t *testing.T) {
	for _, c := range []struct {
		name      string
		half      float64 // of the interval, of the value
		worth     string
		effective float64
		said      bool
	}{
		{"told", 0.0005, string(Identified), 1000, false},
		{"told to a tenth", 0.099, string(Identified), 1000, false},
		{"told to more than a tenth", 0.101, string(Identified), 1000, true},
		{"moved by something else", 0.0005, string(Weak), 1000, true},
		{"by too few rows", 0.0005, string(Identified), 2, true},
	} {
		r := &Result{Verdict: Identified, Fit: fit.Quality{Params: 7}}
		r.Residual.Effective = c.effective
		vs := plainParameter("vs", 0.02, 1e-5)
		vs.CI, vs.Worth = &[2]float64{0.02 * (1 - c.half), 0.02 * (1 + c.half)}, c.worth
		r.Parameters = []Parameter{vs}
		doubt := fit.Against(fit.OverFitted, "Stribeck velocity above the highest speed")
		doubt.Params = []string{"vs"}
		other := fit.Against(fit.OverFitted, "the dip is not friction")
		r.doubts = []fit.Reason{doubt, other}
		r.judgeMethod(r.Say)
		r.judgeContact(r.Say)
		if said := slices.Contains(r.Because(), doubt.Text); said != c.said || !slices.Contains(r.Because(), other.Text) {
			t.Errorf("%s: %q", c.name, r.Because())
		}
	}
}
