package exportmodel

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/engine/friction"
	fits "hilrig/identify"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// stored is a file with a result: parameters by name and unit, each with an error of 1 % and its interval.
func stored(t *testing.T, subject fits.Subject, verdict fits.Verdict, params ...fit.Estimate) string {
	t.Helper()
	r := identify.Identification{Name: "slide", Program: "v1",
		Result: &fits.Result{Method: "output error", Verdict: verdict, Reasons: []fit.Reason{fit.Doubt(fit.FewRows, "the record is short")},
			Data: record.Info{File: "a.csv", SHA256: "0123abcd", Samples: 10, Duration: 1}, Model: subject, Stages: []fits.Stage{{Method: "lm"}}}}
	for _, p := range params {
		e := 0.01 * math.Abs(p.Value)
		r.Parameters = append(r.Parameters, fits.Parameter{Estimate: p, Error: &e, CI: &[2]float64{p.Value - 2*e, p.Value + 2*e},
			Worth: "identified"})
	}
	path := filepath.Join(t.TempDir(), "result.json")
	err := report.WriteWhole(path, false, func(w io.Writer) error { return report.EncodeJSON(w, r) })
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func estimate(name, unit string, value float64) fit.Estimate {
	return fit.Estimate{Name: name, Unit: unit, Value: value}
}

var slide = []fit.Estimate{estimate("M", "kg", 95), estimate("Fv", "N·s/m", 200), estimate("Fc", "N", 20), estimate("offset", "N", -3),
	estimate("k", "N/m", 7)}

// A result becomes a model: the offset of a law that has none is a load, and what has no place is said.
func TestModelOfResult(t *testing.T) {
	regressed := fits.Subject{Law: "static-coulomb-viscous", Terms: []string{"inertia", "viscous", "coulomb", "offset", "stiffness"}}
	m, err := load(stored(t, regressed, fits.Weak, slide...))
	if err != nil {
		t.Fatal(err)
	}
	if friction.NameOf(m.Law) != "static-coulomb-viscous" || m.Law.SteadyForce(0.1) != 40 || m.Offset != -3 || m.Inertia != 95 || m.Rotary ||
		m.Name != "slide" || m.Source.Refusal != nil {
		t.Errorf("%+v", m)
	}
	if len(m.Others) != 1 || !strings.HasPrefix(m.Others[0], "k = 7") {
		t.Errorf("without a place: %q", m.Others)
	}
	text, lost := written(t, Modelica, m)
	if !strings.Contains(text, "ConstantForce offset(f_constant=3)") || len(lost) != 1 || !strings.Contains(text, "M = 95 ± 0.95 kg") ||
		!strings.Contains(text, "0123abcd") {
		t.Errorf("lost %q\n%s", lost, text)
	}

	// by direction, of a law with its own offset, without an inertia
	lugre := fits.Subject{Rotary: true, Law: "lugre", Asymmetric: true}
	m, err = load(stored(t, lugre, fits.Identified, estimate("sigma0", "N·m/rad", 1e3), estimate("sigma1", "N·m·s/rad", 3),
		estimate("sigma2+", "N·m·s/rad", 0.4), estimate("sigma2-", "N·m·s/rad", 0.5),
		estimate("Fc+", "N·m", 1), estimate("Fc-", "N·m", 1.2), estimate("Fs+", "N·m", 1.5), estimate("Fs-", "N·m", 1.6),
		estimate("vs", "rad/s", 0.05), estimate("offset", "N·m", 0.1)))
	if err != nil {
		t.Fatal(err)
	}
	c := contactOf(m.Law)
	if !m.Rotary || m.Offset != 0 || c.Offset != 0.1 || c.Fore != (side{1, 1.5, 0.4}) || c.Back != (side{1.2, 1.6, 0.5}) || m.Inertia != 0 {
		t.Errorf("%+v %+v", m, c)
	}
	if _, lost := written(t, MJCF, m); !strings.Contains(strings.Join(lost, "\n"), "1 kg·m² stands in its place") {
		t.Errorf("without an inertia: lost %q", lost)
	}
}

// The verb: exit codes, what is said, what is forced.
func TestRun(t *testing.T) {
	good := stored(t, fits.Subject{Law: "static-coulomb-viscous"}, fits.Identified, slide...)
	bad := stored(t, fits.Subject{Law: "static-coulomb-viscous"}, fits.Rejected, slide...)
	half := stored(t, fits.Subject{Law: "lugre"}, fits.Identified, slide...)
	out := filepath.Join(t.TempDir(), "axis.urdf")
	taken := filepath.Join(t.TempDir(), "taken.h")
	if err := os.WriteFile(taken, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		f          Options
		code       int
		err, warn  string
	}{
		{"to a file", good, Options{to: "urdf", outputPath: out}, report.OK, "", "constant force of -3 N"},
		{"over a file", good, Options{to: "c", outputPath: taken}, report.Unavailable, "--force", ""},
		{"forced over a file", good, Options{to: "c", outputPath: taken, force: true}, report.OK, "", ""},
		{"to standard output", good, Options{to: "mjcf"}, report.OK, "", "k = 7"},
		{"no target", good, Options{}, report.Usage, "modelica", ""},
		{"a typing error", good, Options{to: "mcjf"}, report.Usage, `did you mean "mjcf"`, ""},
		{"linear to BAM", good, Options{to: "bam"}, report.Invalid, "servos", ""},
		{"rejected", bad, Options{to: "c"}, report.Quality, "rejected: the record is short", ""},
		{"rejected, forced", bad, Options{to: "c", force: true}, report.OK, "", "the file says so"},
		{"half a law", half, Options{to: "c"}, report.Invalid, "sigma0", ""},
		{"no result", taken, Options{to: "c"}, report.Invalid, "not a result", ""},
		{"no file", "missing.json", Options{to: "c"}, report.Invalid, "missing.json", ""},
	} {
		var stdout, stderr bytes.Buffer
		err := Run(c.path, c.f, &stdout, &stderr)
		if code := report.ExitCode(err); code != c.code || err != nil && !strings.Contains(err.Error(), c.err) ||
			!strings.Contains(stderr.String(), c.warn) {
			t.Errorf("%s: exit code %d, want %d: %v\n%s", c.name, code, c.code, err, stderr.String())
		}
		if c.f.outputPath == "" && c.code == report.OK && stdout.Len() < 500 {
			t.Errorf("%s: %s", c.name, stdout.String())
		}
		if c.path == bad && c.code == report.OK && !strings.Contains(stdout.String(),
			"NOT TO BE TRUSTED: the result is rejected: the record is short") {
			t.Errorf("%s: the file does not say it:\n%s", c.name, stdout.String())
		}
	}
	if text, err := os.ReadFile(taken); err != nil || !strings.Contains(string(text), "SLIDE_FRICTION_FC 20.0f") {
		t.Errorf("%v\n%s", err, text)
	}
}
