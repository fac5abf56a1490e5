package identify

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/identify"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// The gate looks at what the model explains of the data, not of numbers that were divided by their noise, and only if there
// is one; a rejection passes none.
func TestFitGate(t *testing.T) {
	low, high := -3.0, 95.0
	result := func(percent *float64, edit func(r *identify.Result)) *identify.Result {
		r := &identify.Result{Verdict: identify.Identified}
		r.Fit.Percent = percent
		edit(r)
		return r
	}
	nothing := func(*identify.Result) {}
	weighted := func(own float64) func(r *identify.Result) {
		return func(r *identify.Result) { r.Weighted, r.Unweighted = true, &fit.Quality{Percent: &own} }
	}
	for _, c := range []struct {
		name string
		r    *identify.Result
		want float64
		err  string
	}{
		{"good enough", result(&high, nothing), 90, ""},
		{"too low", result(&high, nothing), 96, "95.00 % is below the 96 %"},
		{"no gate", result(&low, nothing), 0, ""},
		{"none to compare", result(nil, nothing), 50, "no fit in percent"},
		{"weighted, explains much", result(&low, weighted(93)), 90, ""},
		{"weighted, explains little", result(&high, weighted(40)), 90, "40.00 %"},
		{"validation too low", result(&high, func(r *identify.Result) { r.Validation = &identify.Validation{Fit: fit.Quality{Percent: &low}} }),
			90, "-3.00 %"},
		{"rejected", result(&high, func(r *identify.Result) {
			r.Verdict, r.Reasons = identify.Rejected, []fit.Reason{fit.Against(fit.Negative, "M is negative")}
		}), 0, "rejected: M is negative"},
	} {
		err := gate(c.r, c.want)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}

// Warnings about the second record are told like those about the first, and apart from them.
func TestWarningsOfValidation(t *testing.T) {
	f := func(text string) []record.Finding {
		return []record.Finding{{Severity: record.Warning, Text: text}, {Severity: record.Note, Text: "a note"}}
	}
	r := &identify.Result{Findings: f("slow"), Warnings: []string{"odd"},
		Validation: &identify.Validation{Findings: f("late"), Warnings: []string{"odd"}}}
	if got, want := strings.Join(warningsOf(r), "|"), "slow|odd|validation: late|validation: odd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A time limit that ends before anything was found is the file's business, an interruption the user's.
func TestNothingWithinTheTimeLimit(t *testing.T) {
	f := Options{Changed: func(string) bool { return false }}
	err := f.refuse(t.Context(), "axis.yaml", fmt.Errorf("fit: %w", context.DeadlineExceeded), io.Discard)
	if code := report.ExitCode(err); code != report.Invalid || !strings.Contains(err.Error(), "time_limit") {
		t.Errorf("%v, exit code %d", err, code)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := report.ExitCode(f.refuse(ctx, "axis.yaml", fmt.Errorf("fit: %w", ctx.Err()), io.Discard)); code != report.Interrupted {
		t.Errorf("interrupted: exit code %d", code)
	}
}
