package identify

import (
	"math"
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
		r.judgeMethod(r.AddReason)
		r.judgeContact(r.AddReason)
		if said := slices.Contains(r.Because(), doubt.Text); said != c.said || !slices.Contains(r.Because(), other.Text) {
			t.Errorf("%s: %q", c.name, r.Because())
		}
	}
}

// What the record does not hold is said first, and once: no interval, rule or structure of the residual speaks of it again, and the other
// parameters stand. A contact that is none takes the levels of friction along, and no inertia.
func TestNoBristleIsOneReason(t *testing.T) {
	made := func(absent bool) *Result {
		r := &Result{Verdict: Identified, Fit: fit.Quality{Params: 4}, Stages: []Stage{{Method: "kalman", Converged: true}}}
		r.Residual.Effective, r.Residual.White = 1000, true
		r.Parameters = []Parameter{plainParameter("M", 2, 1e-3), plainParameter("sigma0", 1e9, 1e9), plainParameter("sigma1", 1e3, 1e2),
			plainParameter("Fc", 3, 1e-2)}
		about := []string{"sigma0", "sigma1"}
		r.Indistinct = []fit.Indistinct{{Names: about, Reason: "no bristle in this record", Advice: "Take a dry law", Absent: absent},
			{Names: []string{"sigma0"}, Reason: "its error is large"}}
		rule := fit.Against(fit.OverFitted, "the bristle mode is too high")
		rule.Params = []string{"sigma0"}
		r.doubts = []fit.Reason{fit.Doubt(fit.MethodDoubt, "something else"), rule}
		return r
	}
	r := made(true)
	r.judge()
	if b := r.Because(); len(b) != 2 || b[0] != "no bristle in this record. Take a dry law" || b[1] != "something else" {
		t.Errorf("%q", b)
	}
	for name, want := range map[string]string{"M": string(Identified), "Fc": string(Identified), "sigma0": NotIdentifiable,
		"sigma1": NotIdentifiable} {
		if p, _ := r.Param(name); p.Worth != want {
			t.Errorf("%s is %s, want %s", name, p.Worth, want)
		}
	}
	s := &fit.Solution{Params: []fit.Param{{}, {}}, FreeParams: []int{0, 1}}
	s.Params[0].Name, s.Params[1].Name = "M", "sigma0"
	if h := r.harm(s); math.IsInf(h["M"], 0) || !math.IsInf(h["sigma0"], 1) {
		t.Errorf("harm %v", h)
	}
	if r = made(false); len(r.Because()) != 0 {
		t.Fatal(r.Because())
	}
	r.judge()
	if len(r.Because()) < 4 {
		t.Errorf("a bristle that is there: %q", r.Because())
	}

	r = made(true)
	r.doubts = []fit.Reason{fit.Against(fit.OverFitted, "break-away friction at its lower limit")}
	r.judge()
	for name, want := range map[string]string{"M": string(Identified), "Fc": string(Weak)} {
		if p, _ := r.Param(name); p.Worth != want {
			t.Errorf("of what is no contact %s is %s, want %s", name, p.Worth, want)
		}
	}
}
