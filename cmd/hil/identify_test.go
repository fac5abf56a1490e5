package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify/linear"
)

// axisRecord writes a configuration and the record of a slide of 12 kg with friction, in units that are not SI. change is
// pairs of old and new text in either file.
func axisRecord(t *testing.T, sign float64, change ...string) (config string) {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("timestamp,pos,u\n# ms,mm,V\n")
	for k := range 12000 {
		s := float64(k) * 1e-3
		var q, v, a float64
		for _, tone := range [][2]float64{{0.2, 2}, {0.05, 7}} { // m, rad/s
			sin, cos := math.Sincos(tone[1] * s)
			q, v, a = q+tone[0]*sin, v+tone[0]*tone[1]*cos, a-tone[0]*tone[1]*tone[1]*sin
		}
		fmt.Fprintf(&b, "%d,%.6f,%.6f\n", k, 1e3*q, sign*(12*a+30*v+math.Copysign(5, v)-1.5)/2.5)
	}
	yaml := `version: 1
axis: linear
data:
  file: record.csv
  columns:
    time: {name: timestamp, unit: ms}
    position: {name: pos, unit: mm}
    force: {name: u, unit: V, gain: 2.5 N/V}
`
	text := b.String()
	for i := 0; i+1 < len(change); i += 2 {
		if !strings.Contains(yaml+text, change[i]) {
			t.Fatalf("%q is in neither file", change[i])
		}
		yaml, text = strings.Replace(yaml, change[i], change[i+1], 1), strings.Replace(text, change[i], change[i+1], 1)
	}
	for name, content := range map[string]string{"axis.yaml": yaml, "record.csv": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "axis.yaml")
}

// The verb as a script sees it: exit codes, messages, and standard output.
func TestIdentifyVerb(t *testing.T) {
	t.Parallel()
	good := axisRecord(t, 1)
	dir := filepath.Dir(good)
	existing := filepath.Join(dir, "kept.json")
	if err := os.WriteFile(existing, []byte("keep me"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string // on stdout for code 0, else on stderr
	}{
		{"good", []string{good}, report.OK, []string{"force = M·a + Fv·v + Fc·sgn(v) + offset", "12.0", "identified", "next: hil identify"}},
		{"validated by itself", []string{good, "--validate", filepath.Join(dir, "record.csv"), "--require-fit", "99"}, report.OK,
			[]string{"validation"}},
		{"asymmetric", []string{good, "--asymmetric"}, report.OK, []string{"Fc+", "Fv-"}},
		{"no file", []string{}, report.Usage, []string{"no argument given; want "}},
		{"missing configuration", []string{filepath.Join(dir, "no.yaml")}, report.Invalid, []string{"no.yaml"}},
		{"missing record", []string{good, "--data", "nowhere.csv"}, report.Invalid, []string{"nowhere.csv", "no such file"}},
		{"misspelt term", []string{good, "--terms", "inertia,viscus"}, report.Usage, []string{`did you mean "viscous"?`}},
		{"nothing to split", []string{good, "--terms", "inertia,offset", "--asymmetric"}, report.Usage, []string{"nothing to split"}},
		{"impossible gate", []string{good, "--require-fit", "101"}, report.Usage, []string{"want 0 to 100"}},
		{"kept file", []string{good, "-o", existing}, report.Usage, []string{"kept.json exists"}},
		{"unidentifiable", []string{good, "--terms", "inertia,viscous,coulomb+,coulomb-,offset"}, report.Quality,
			[]string{"not identifiable", "coulomb+ − coulomb- − offset = 0"}},
		{"misses the gate", []string{good, "--terms", "inertia,viscous", "--require-fit", "99"}, report.Quality,
			[]string{"below the 99 % that are required"}},
		{"wrong sign", []string{axisRecord(t, -1)}, report.Quality, []string{"rejected: M is negative", "sign of force or position"}},
		{"unit of another kind", []string{axisRecord(t, 1, "unit: mm}", "unit: mV}")}, report.Invalid,
			[]string{"axis.yaml:", "V (voltage)", "want m (length)", "^"}},
		{"unit the file contradicts", []string{axisRecord(t, 1, "unit: mm}", "unit: m}")}, report.Invalid,
			[]string{"record.csv:2", `"pos" is in mm, the configuration says m`}},
		{"misspelt key", []string{axisRecord(t, 1, "axis: linear", "axsi: linear")}, report.Invalid, []string{`did you mean "axis"?`}},
		{"missing column", []string{axisRecord(t, 1, "timestamp,pos,u", "timestamp,pso,u")}, report.Invalid,
			[]string{`record.csv:1: no column "pos"`, `Did you mean "pso"?`}},
		{"truncated row", []string{axisRecord(t, 1, "\n700,", "\n699.5\n700,")}, report.Invalid, []string{"record.csv:703: 1 cells"}},
		{"reordered rows", []string{axisRecord(t, 1, "\n700,", "\n600,")}, report.Invalid, []string{"record.csv:703: time goes back by 0.099 s"}},
		{"segments of a driven axis", []string{axisRecord(t, 1, "axis: linear\n",
			"axis: linear\nmodel: {law: coulomb, terms: [viscous, offset]}\nsegments: 4\n"), "--method", "regress,multishoot"}, report.OK,
			[]string{"multiple shooting"}},
		{"velocity steps without a velocity", []string{good, "--method", "velocity-step"}, report.Invalid,
			[]string{"record.csv: no velocity", "data.columns.velocity"}},
		{"state without an evolution", []string{good, "--resume", filepath.Join(dir, "state.json")}, report.Usage,
			[]string{"only an evolution keeps its state"}},
		{"state that cannot be kept", []string{good, "--method", "aep", "--resume", filepath.Join(dir, "no", "state.json")}, report.Invalid,
			[]string{"--resume", "cannot write there"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := execute(t, append([]string{"identify"}, c.args...)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, errs)
			}
			where := errs
			if c.code == report.OK {
				where = out
			}
			for _, s := range c.says {
				if !strings.Contains(where, s) {
					t.Errorf("…%s… is missing in\n%s", s, where)
				}
			}
			if c.code == report.Invalid && out != "" {
				t.Errorf("stdout of a failure: %s", out)
			}
		})
	}
	if kept, _ := os.ReadFile(existing); string(kept) != "keep me" {
		t.Errorf("an existing file was written over: %q", kept)
	}
}

// JSON alone on standard output, the same in the file; a refusal has reasons and no parameters.
func TestIdentifyJSON(t *testing.T) {
	t.Parallel()
	config := axisRecord(t, 1)
	file := filepath.Join(filepath.Dir(config), "result.json")
	out, errs, code := execute(t, "identify", config, "--json", "-o", file)
	var r struct {
		Verdict    string
		Parameters []struct {
			Name, Unit string
			Value      float64
			StdErr     float64    `json:"std_err"`
			CI95       [2]float64 `json:"interval"`
		}
		Condition float64
		Fit       struct {
			Percent float64 `json:"fit_percent"`
		}
		Data struct{ SHA256 string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != report.OK {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	if r.Verdict != "identified" || len(r.Parameters) != 5 || math.Abs(r.Parameters[0].Value-12) > 0.01 || r.Parameters[0].Unit != "kg" ||
		len(r.Data.SHA256) != 64 {
		t.Errorf("%+v", r)
	}
	stored, err := os.ReadFile(file)
	if err != nil || string(stored) != out {
		t.Errorf("the file differs from standard output (%v)", err)
	}
	if _, _, code := execute(t, "identify", config, "-o", file); code != report.Usage {
		t.Errorf("exit code %d on an existing file, want %d", code, report.Usage)
	}
	if _, errs, code := execute(t, "identify", config, "-o", file, "--force"); code != report.OK {
		t.Errorf("exit code %d with --force\n%s", code, errs)
	}

	out, _, code = execute(t, "identify", config, "--json", "--terms", "inertia,coulomb+,coulomb-,offset")
	var refused map[string]any
	if err := json.Unmarshal([]byte(out), &refused); err != nil || code != report.Quality {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	if _, has := refused["parameters"]; has || refused["verdict"] != "not identifiable" {
		t.Errorf("a refusal with parameters: %s", out)
	}
}

// The example files end with 0 where their records are at hand.
func TestIdentifyExamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"emps", "pendulum"} {
		path := "../../configs/" + name + ".yaml"
		cfg, err := configs.LoadIdentify(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(cfg.Data.File); err != nil {
			t.Logf("%s: its record is not here, not run", name)
			continue
		}
		if out, errs, code := execute(t, "identify", path); code != report.OK || !strings.Contains(out, "identified: ") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, errs)
		}
		if name != "emps" {
			continue
		}
		out, errs, code := execute(t, "identify", path, "--json")
		var r struct {
			linear.Result
			Condition float64 `json:"condition"`
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != report.OK {
			t.Fatalf("%v, exit code %d\n%s", err, code, errs)
		}
		// published [EMPS]
		for i, want := range []float64{95.1089, 203.5034, 20.3935, -3.1648} {
			if e := r.Estimates[i]; math.Abs(e.Value/want-1) > 0.005 {
				t.Errorf("%s = %g %s, published %g", e.Symbol, e.Value, e.Unit, want)
			}
		}
		if math.Abs(r.Condition-25.99) > 0.1 {
			t.Errorf("condition %g, published 25.99", r.Condition)
		}
	}
}

// The words that the file accepts for terms are those that the fit knows.
func TestIdentifyTermsAgree(t *testing.T) {
	dir := t.TempDir()
	for i, term := range append(slices.Clone(linear.Terms), "no-such-term") {
		path := filepath.Join(dir, "axis.yaml")
		text := fmt.Sprintf("data: {file: x.csv, rate: 1 kHz, columns: {position: {name: q, unit: m}, force: {name: f, unit: "+
			"N}}}\nterms: [%q]\n", term)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := configs.LoadIdentify(path); (err == nil) != (i < len(linear.Terms)) {
			t.Errorf("%s: %v", term, err)
		}
	}
}
