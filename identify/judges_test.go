package identify

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// What a fit leaves over is compared with the noise of the record, unless it is next to nothing of what was recorded, or the noise is not
// known.
func TestResidualAboveNoise(t *testing.T) {
	some, little, less, none := 1e-3, 2.8e-5, 2.2e-4, 0.0
	for _, c := range []struct {
		name string
		of   channel
		want Verdict
	}{
		{"noise", channel{rms: 1.1e-3, noise: &some, spread: 0.1}, Identified},
		{"noise that depends on its neighbours", channel{rms: 4e-3, noise: &some, spread: 0.4}, Identified},
		{"noise and a third that changes along the record", channel{rms: 1.3e-3, noise: &some, spread: 0.1, uneven: true}, Identified},
		{"as much again as noise that changes along the record", channel{rms: 1.5e-3, noise: &some, spread: 0.1, uneven: true}, Weak},
		{"rounding that changes along the record", channel{rms: 1.5e-3, noise: &some, spread: 20, uneven: true}, Identified},
		{"a gear that is wrong", channel{rms: 0.129, noise: &little, spread: 1.5}, Weak},
		{"play", channel{rms: 0.0104, noise: &less, spread: 15}, Weak},
		{"rounding of a record without noise", channel{rms: 1e-7, noise: &none, spread: 0.01}, Identified},
		{"a record without noise", channel{rms: 1e-5, noise: &none, spread: 0.01}, Weak},
		{"what noise beside the band may be in it", channel{rms: 2.9e-3, noise: &some, spread: 0.4, hides: []string{"M"}}, Identified},
		{"more than noise beside the band", channel{rms: 3.1e-3, noise: &some, spread: 0.4, hides: []string{"M"}}, Weak},
		{"noise that is not known", channel{rms: 1, spread: 1}, Identified},
	} {
		r := judged(func(r *Result) { r.channels = []channel{c.of} })
		p, _ := r.Param("M")
		if r.Verdict != c.want || p.Worth != string(c.want) || c.want == Weak && r.Reasons[0].Code != fit.AboveNoise {
			t.Errorf("%s: %s, M %s: %q", c.name, r.Verdict, p.Worth, r.Reasons)
		}
	}
}

// Every code of a reason stands in the documentation of the result.
func TestCodesAreDocumented(t *testing.T) {
	source, err := os.ReadFile("fit/reason.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/reference/identify-result.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Code += "([a-z-]+)"`).FindAllSubmatch(source, -1)
	if len(codes) < 20 {
		t.Fatalf("%d codes in fit/reason.go", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(string(page), "| `"+string(c[1])+"` |") {
			t.Errorf("docs/reference/identify-result.md says nothing of %s", c[1])
		}
	}
}

// A parameter keeps the word identified only if no reason concerns it: one that names it, one that rejects, or one about all values.
func TestReasonsConcernParameters(t *testing.T) {
	some := []string{"M"}
	for _, c := range []struct {
		name string
		of   fit.Reason
		want Verdict
	}{
		{"rejected as a whole", fit.Against(fit.PoorFit, "fit 10 %%"), Weak},
		{"what rejects another parameter", fit.Reason{Code: fit.OverFitted, Level: fit.Reject, Params: []string{"sigma0"}}, Identified},
		{"about it", fit.Reason{Code: fit.FilterSets, Level: fit.Weaken, Params: some}, Weak},
		{"about another one", fit.Reason{Code: fit.FilterSets, Level: fit.Weaken, Params: []string{"Fc"}}, Identified},
		{"rows that count as fewer", fit.Doubt(fit.FewRows, "do not trust these intervals"), Weak},
		{"not the optimum", fit.Doubt(fit.Unfinished, "interrupted"), Weak},
		{"what the method can do", fit.Doubt(fit.MethodDoubt, "a start"), Identified},
	} {
		r := judged(func(r *Result) { r.doubts = []fit.Reason{c.of} })
		if c.of.Code == fit.OverFitted { // judgeContact has the word where that is no contact
			r = judged(func(*Result) {})
			r.AddReason(c.of.Code, c.of.Level, c.of.Params, "no contact")
			r.weakenConcerned()
		}
		if p, _ := r.Param("M"); p.Worth != string(c.want) {
			t.Errorf("%s: M is %s, want %s", c.name, p.Worth, c.want)
		}
	}
	// friction of the wrong sign says that a sign is wrong: of all
	r := judged(func(r *Result) {
		se := 0.01
		r.Parameters = append(r.Parameters, Parameter{Estimate: fit.Estimate{Name: "Fc", Value: -1, StdErr: &se,
			CI95: &[2]float64{-1.02, -0.98}}})
	})
	if p, _ := r.Param("M"); r.Verdict != Rejected || p.Worth != string(Weak) {
		t.Errorf("beside a negative Fc: %s, M %s", r.Verdict, p.Worth)
	}
}

// A value with half the band may differ by three times the larger of both standard errors, which is that of the difference at most.
func TestHalfBandMayDiffer(t *testing.T) {
	share, se := 100.0, 0.04 // with the whole band
	for _, c := range []struct {
		change float64
		errs   []float64 // with half the band
		want   Verdict
	}{
		{0.14, []float64{0.05}, Identified}, {0.16, []float64{0.05}, Weak},
		{0.11, []float64{0.002}, Identified}, {0.13, []float64{0.002}, Weak}, {0.13, nil, Weak},
	} {
		for _, sign := range []float64{1, -1} {
			r := judged(func(r *Result) {
				r.Parameters[0].StdErr, r.Parameters[0].CI95 = &se, &[2]float64{0.92, 1.08}
				r.Parameters[0].Share, r.HalfCutoff, r.halfErr = &share, []float64{1 + sign*c.change}, c.errs
			})
			if r.Verdict != c.want || c.want == Weak && r.Reasons[0].Code != fit.FilterSets {
				t.Errorf("moved by %g, standard error %v: %s %q", sign*c.change, c.errs, r.Verdict, r.Reasons)
			}
		}
	}
}

// Times that leave an even grid by more than a sample count in the verdict: the clock, or the sampling, was another at the end of the
// record. One sample is what rounded times and a start between two samples make.
func TestClockThatDrifts(t *testing.T) {
	const n, dt = 4000, 5e-3
	for _, c := range []struct {
		samples float64 // that the grid leaves the times by in the middle
		want    Verdict
	}{{0.8, Identified}, {1.2, Weak}, {-1.2, Weak}, {15, Weak}} {
		var csv strings.Builder
		csv.WriteString("t,x\n")
		for k := range n {
			u := float64(k) / (n - 1)
			fmt.Fprintf(&csv, "%.7f,%.6f\n", dt*(float64(k)+4*c.samples*u*(1-u)), math.Sin(0.01*float64(k)))
		}
		file := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(file, []byte(csv.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		recs, err := record.Read(file, record.Mapping{Time: record.Column{Name: "t"}, Position: record.Column{Name: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		r := judged(func(r *Result) { r.Findings = record.Check(recs, record.CheckOptions{}) })
		drifts := slices.ContainsFunc(r.Reasons, func(f fit.Reason) bool { return f.Code == fit.RecordCheck })
		if r.Verdict != c.want || drifts != (c.want == Weak) {
			t.Errorf("%g samples off: %s %q", c.samples, r.Verdict, r.Reasons)
		}
	}
}
