package identify

import (
	"maps"
	"math"
	"strings"
	"testing"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// held is a result with these parameters, each known to a tenth of a percent.
func held(s Subject, values map[string]float64) *Result {
	r := &Result{Verdict: Identified, Model: s}
	for name, v := range values {
		se := 1e-3 * math.Abs(v)
		r.Parameters = append(r.Parameters, Parameter{Estimate: fit.Estimate{Name: name, Value: v}, Error: &se,
			CI: &[2]float64{v - 2*se, v + 2*se}, Worth: string(Identified)})
	}
	return r
}

func TestContactOfAResult(t *testing.T) {
	lugre := map[string]float64{"sigma0": 11, "sigma1": 0.02, "sigma2": 1.5e-4, "Fc": 0.015, "Fs": 0.021, "vs": 0.5}
	with := func(m map[string]float64, more ...any) map[string]float64 {
		out := maps.Clone(m)
		for i := 0; i < len(more); i += 2 {
			if out[more[i].(string)] = 0; more[i+1] == nil {
				delete(out, more[i].(string))
			} else {
				out[more[i].(string)] = more[i+1].(float64)
			}
		}
		return out
	}
	rest := with(lugre, "vd", 0.0, "N0", 0.0, "offset", 0.0)
	for _, c := range []struct {
		name    string
		of      Subject
		values  map[string]float64
		want    map[string]float64
		inertia float64
		left    string
		err     string
	}{
		{name: "lugre", of: Subject{Law: "lugre", Rotary: true}, values: with(lugre, "J", 7e-5, "offset", 4e-4, "vd", 0.3),
			want: with(rest, "offset", 4e-4, "vd", 0.3), inertia: 7e-5},
		{name: "lugre as simulated, with what is no friction", of: Subject{Law: "lugre"},
			values: with(lugre, "M", 2.0, "k", 3.0, "lag", 1e-3, "x0[1]", 1.0), want: rest, inertia: 2, left: "k = 3"},
		{name: "lugre by direction", of: Subject{Law: "lugre", Asymmetric: true},
			values: with(lugre, "Fc", nil, "Fs", nil, "sigma2", nil, "Fc+", 1.0, "Fc-", 1.5, "dFs", 0.25, "sigma2+", 0.1, "sigma2-", 0.2),
			want:   with(rest, "Fc", 1.0, "Fc-", 1.5, "Fs", 1.25, "Fs-", 1.75, "sigma2", 0.1, "sigma2-", 0.2)},
		{name: "regression", of: Subject{Law: sliding}, values: map[string]float64{"M": 95, "Fv": 200, "Fc": 20, "offset": -3},
			want: map[string]float64{"Fc": 20, "Fs": 20, "Fv": 200, "delta": 1}, inertia: 95, left: "offset = -3"},
		{name: "regression by direction", of: Subject{Law: sliding},
			values: map[string]float64{"M": 95, "Fv+": 200, "Fv-": 210, "Fc+": 20, "Fc-": 25},
			want:   map[string]float64{"Fc": 20, "Fc-": 25, "Fs": 20, "Fs-": 25, "Fv": 200, "Fv-": 210, "delta": 1}, inertia: 95},
		{name: "another law", of: Subject{Law: "gms"}, values: map[string]float64{"M": 1, "sigma0": 1e4, "C": 5, "sigma2": 2, "Fc": 1, "Fs": 1.5,
			"vs": 0.01}, inertia: 1},
		{name: "half a law", of: Subject{Law: "lugre"}, values: with(lugre, "sigma0", nil, "sigma1", nil),
			err: "sigma0, sigma1 of the law lugre is not in the result"},
		{name: "viscous friction without a place", of: Subject{Law: "dahl"}, values: map[string]float64{"sigma0": 11, "Fc": 0.015, "Fv": 1e-4},
			err: "no place for it"},
		{name: "none", of: Subject{}, err: "no friction law"},
		{name: "no contact", of: Subject{Law: "lugre"}, values: with(lugre, "Fc", -1.0), err: "none of a contact"},
	} {
		got, err := held(c.of, c.values).Contact()
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if c.want != nil && !maps.EqualFunc(got.Params, c.want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-15*math.Abs(b) }) {
			t.Errorf("%s: %v, want %v", c.name, got.Params, c.want)
		}
		if got.Inertia != c.inertia || !strings.Contains(strings.Join(got.Omitted, ";"), c.left) || (c.left == "") != (got.Omitted == nil) {
			t.Errorf("%s: inertia %g, left %q, want %g and %q", c.name, got.Inertia, got.Omitted, c.inertia, c.left)
		}
		law, err := friction.Build(got.Law, got.Params)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if v := friction.Values(law); !maps.Equal(v, got.Params) {
			t.Errorf("%s: the law has %v, the result %v", c.name, v, got.Params)
		}
	}
	// the break-away level of a direction is a sum of two numbers, and so is its variance
	c, err := held(Subject{Law: "lugre", Asymmetric: true},
		with(lugre, "Fc", nil, "Fs", nil, "sigma2", nil, "Fc+", 3.0, "Fc-", 3.0, "dFs", 4.0, "sigma2+", 0.1, "sigma2-", 0.2)).Contact()
	if err != nil || math.Abs(c.Errors["Fs"]-5e-3) > 1e-12 || c.Errors["N0"] != 0 {
		t.Errorf("%v %v", c.Errors, err)
	}
}

func TestAcceptable(t *testing.T) {
	low, high := 79.9, 80.1
	second := func(percent *float64) func(*Result) {
		return func(r *Result) {
			r.Validation = &Validation{Data: record.Info{File: "b.csv"}, Fit: fit.Quality{Percent: percent}}
		}
	}
	for _, c := range []struct {
		name string
		edit func(r *Result)
		err  string
	}{
		{"good", func(*Result) {}, ""},
		{"weak", func(r *Result) { r.Verdict, r.Parameters[0].Worth = Weak, string(Weak) }, ""},
		{"rejected", func(r *Result) {
			r.Verdict, r.Reasons = Rejected, []fit.Reason{fit.Against(fit.Negative, "M is negative")}
		}, "M is negative"},
		{"rejected without a reason", func(r *Result) { r.Verdict = Rejected }, "rejected"},
		{"interrupted", func(r *Result) { r.Interrupted = true }, "interrupted"},
		{"unbounded", func(r *Result) { r.Parameters[0].CI = nil }, "cannot be told"},
		{"unbounded, but known", func(r *Result) { r.Parameters[0].CI, r.Parameters[0].Fixed = nil, true }, ""},
		{"not identifiable", func(r *Result) { r.Parameters[0].Worth = "not identifiable" }, "cannot be told"},
		{"validated", second(&high), ""},
		{"not validated", second(&low), "79.9 %"},
		{"nothing known of the second record", second(nil), "b.csv"},
	} {
		r := held(Subject{Law: "coulomb"}, map[string]float64{"Fc": 1})
		c.edit(r)
		if err := r.Acceptable(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}
