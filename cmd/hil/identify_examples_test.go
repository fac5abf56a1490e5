package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	cmdidentify "hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify"
)

const identifyExamples = "../../configs/identify/"

// heads are the commands that an example names, in the comments at its head and as the source of its record.
var heads = regexp.MustCompile(`(?m)^.*?\bhil (simulate|identify|compare) (\S+)(?: -o (\S+))?`)

// exampleFolder is a copy of the examples in a folder of their own, with room for records beside it.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, _ := filepath.Glob(identifyExamples + "*.yaml")
	for _, sub := range []string{"configs/identify/data", "runs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "configs/identify", filepath.Base(f)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// identified runs an example and returns its result.
func identified(t *testing.T, path string) *identify.Result {
	t.Helper()
	out, errs, code := execute(t, "identify", path, "--json")
	var r cmdidentify.Identification
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != report.OK && code != report.Quality {
		t.Fatalf("exit code %d, %v\n%s", code, err, errs)
	}
	if (code == report.Quality) != (r.Verdict == identify.Rejected) {
		t.Errorf("exit code %d with the verdict %s", code, r.Verdict)
	}
	return r.Result
}

// truthOf are the numbers of a file to simulate, by the names that identify has for them.
func truthOf(t *testing.T, path string, into map[string]float64) {
	t.Helper()
	c, _, err := configs.LoadSimulate(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Friction[0].Model.Params() {
		into[p.Name] = p.Value
	}
	if c.Plant.Mass > 0 {
		into["M"], into["kd"] = c.Plant.Mass, c.Plant.Spring
	}
}

// Records are made as each example says, and every parameter comes back: the truth lies in the 95 % interval or
// within three standard errors, no interval is wide, and the verdict says that all is known.
func TestSyntheticExamplesGiveBackTheTruth(t *testing.T) {
	t.Parallel()
	dir := exampleFolder(t)
	files, _ := filepath.Glob(filepath.Join(dir, "configs/identify/*.yaml"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		cmds := heads.FindAllStringSubmatch(string(text), -1)
		made := slices.ContainsFunc(cmds, func(c []string) bool { return c[1] == "simulate" })
		if configs.KindOf(f) != configs.IdentifyFile || !made {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		t.Run(name, func(t *testing.T) {
			truth := map[string]float64{}
			for _, c := range cmds {
				if c[1] != "simulate" {
					continue
				}
				truthOf(t, filepath.Join(dir, c[2]), truth)
				if _, errs, code := execute(t, "simulate", filepath.Join(dir, c[2]), "-o", filepath.Join(dir, c[3])); code != report.OK {
					t.Fatalf("%s: exit code %d\n%s", c[2], code, errs)
				}
			}
			r := identified(t, f)
			if r.Verdict != identify.Identified {
				t.Errorf("%s: %v", r.Verdict, r.Reasons)
			}
			for i := range r.Parameters {
				p := &r.Parameters[i]
				if p.Fixed || p.State() {
					continue
				}
				want, known := truth[p.Name]
				se, ci := r.Err(p), r.Interval(p)
				if !known || se == nil || ci == nil {
					t.Errorf("%s = %g ± %v: what is the truth?", p.Name, p.Value, se)
					continue
				}
				off := (p.Value - want) / *se
				t.Logf("%s = %.6g ± %.2g %s, truth %g: %.1f standard errors off", p.Name, p.Value, *se, p.Unit, want, off)
				if inside := ci[0] <= want && want <= ci[1]; !inside && math.Abs(off) > 3 {
					t.Errorf("%s: %g … %g and %.1f standard errors do not reach the truth, %g", p.Name, ci[0], ci[1], math.Abs(off), want)
				}
				if want != 0 && *se > 0.03*math.Abs(want) {
					t.Errorf("%s = %g ± %g %s is known poorly", p.Name, p.Value, *se, p.Unit)
				}
			}
		})
	}
}

// near says that a parameter lies within tol of what a README states.
func near(r *identify.Result, name string, want, tol float64) error {
	p, ok := r.Param(name)
	if !ok {
		return fmt.Errorf("no parameter %s", name)
	}
	if math.Abs(p.Value-want) > tol {
		return fmt.Errorf("%s = %g %s, want %g to %g", name, p.Value, p.Unit, want, tol)
	}
	return nil
}

// below says that the residual is no larger than what peers reach.
func below(r *identify.Result, most float64) error {
	if r.Fit.RMS > most {
		return fmt.Errorf("residual %g %s rms, want at most %g", r.Fit.RMS, r.Fit.Unit, most)
	}
	return nil
}

// The measured examples give what the descriptions of the data sets state, and the verdict that the data support.
func TestMeasuredExamplesReachTheirPeers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		verdicts []identify.Verdict
		check    func(r *identify.Result) []error
	}{
		{"swing", nil, func(r *identify.Result) []error {
			return []error{near(r, "Fv", 0.058, 0.002), near(r, "mgs", 64, 0.3), below(r, 0.0135)} // peers take the recorded beginnings as exact
		}},
		{"rolling-ball", []identify.Verdict{identify.Weak}, func(r *identify.Result) []error {
			return []error{near(r, "offset", -0.160, 0.001), below(r, 0.6e-3)}
		}},
		{"ball-pair", []identify.Verdict{identify.Weak}, func(r *identify.Result) []error {
			return []error{near(r, "Fc", 1.106, 0.006)}
		}},
		{"screw-drive1", []identify.Verdict{identify.Weak}, func(r *identify.Result) []error { return []error{below(r, 0.0325e-3)} }},
		{"screw-drive3", []identify.Verdict{identify.Weak}, func(r *identify.Result) []error { return []error{below(r, 0.0265e-3)} }},
		{"pendulum-sysid", []identify.Verdict{identify.Rejected}, func(r *identify.Result) []error {
			if *r.Fit.Percent > 40 {
				return []error{fmt.Errorf("fit %.1f %%, and no parameters explain this record so well", *r.Fit.Percent)}
			}
			return nil
		}},
		{"two-joint", []identify.Verdict{identify.Weak}, func(r *identify.Result) []error {
			return []error{near(r, "Fc1", 0.10, 0.02), near(r, "Fc2", 0.10, 0.02)}
		}},
		{"emps-lugre", nil, func(r *identify.Result) []error {
			return []error{below(r, 1.78), near(r, "M", 95.1, 0.5)}
		}},
		{"emps-open-loop", nil, func(r *identify.Result) []error { return []error{below(r, 2.30e-3)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := identifyExamples + c.name + ".yaml"
			cfg, err := configs.LoadIdentify(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range cfg.Files() {
				if _, err := os.Stat(f); err != nil {
					t.Skipf("its record %s is not here", f)
				}
			}
			r := identified(t, path)
			for _, err := range c.check(r) {
				if err != nil {
					t.Error(err)
				}
			}
			if c.verdicts != nil && !slices.Contains(c.verdicts, r.Verdict) {
				t.Errorf("%s, want %v: %v", r.Verdict, c.verdicts, r.Reasons)
			}
			t.Logf("%s: %v", r.Headline(), r.Reasons)
		})
	}
}

// hil check says of every example what it asks for, and warns about none.
func TestCheckDescribesIdentification(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(identifyExamples + "*.yaml")
	if len(files) < 20 {
		t.Fatalf("%d examples", len(files))
	}
	for _, f := range files {
		out, errs, code := execute(t, "check", f)
		if code != report.OK || !strings.Contains(out, ": ok\n") || !strings.Contains(out, "next: hil ") {
			t.Errorf("%s: exit code %d\n%s%s", f, code, out, errs)
		}
		if configs.KindOf(f) == configs.IdentifyFile && strings.Contains(out, "warning:") {
			t.Errorf("%s", out)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "axis.yaml")
	text := "axis: rotary\ndata: {file: x.csv, rate: 1 kHz, columns: {position: {name: q, unit: deg, add: -180 deg}, force: {name: i, unit: " +
		"mA, gain: 42 mN·m/A}}}\n" +
		"method: [lm]\nmodel: {law: coulomb}\nparameters: {J: 2e-4, Fc: {start: 3 mN·m, min: 1e-3}}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, code := execute(t, "check", path)
	for _, want := range []string{
		"method         lm\n", "coulomb, under the recorded force, position compared", "position = q · 0.0174533 -3.14159 rad",
		"force = i · 4.2e-05 N·m",
		"J = 0.0002 kg·m², known", "Fc searched from 0.003 N·m, between 0.001 and what the record says N·m", "x.csv is not there",
		"once the records are there",
	} {
		if !strings.Contains(out, want) || code != report.OK {
			t.Errorf("exit code %d, …%s… is missing in\n%s", code, want, out)
		}
	}
}

// A setting that no method looks at is an error, and a constant force that is known counts for all of them.
func TestSettingsThatNothingReads(t *testing.T) {
	const head = "axis: linear\ndata: {file: x.csv, rate: 1 kHz, columns: {position: {name: q, unit: m}, force: {name: u, unit: N}}}\n"
	for _, c := range []struct{ text, want string }{
		{"method: [lm]\nmodel: {law: coulomb}\naep: {members: 40}\n", "aep: not used by lm; it belongs to aep"},
		{"model: {law: lugre}\n", "model.law: not used by regress"},
		{"model: {lag: free, drive: spring}\n", "model.drive: not used by regress"},
		{"parameters: {Fc: 3 N}\n", "parameters: not used by regress"},
		{"bootstrap: 100\n", "bootstrap: not used by regress"},
		{"parameters: {offset: 3 N}\n", ""},
		{"method: [aep, lm]\nmodel: {law: coulomb, drive: force}\naep: {members: 40}\nbootstrap: 50\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "axis.yaml")
		if err := os.WriteFile(path, []byte(head+c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, errs, code := execute(t, "check", path)
		if said := out + errs; c.want != "" && (code != report.Invalid || !strings.Contains(said, c.want)) || c.want == "" &&
			strings.Contains(said, "not used") {
			t.Errorf("%sexit code %d, want …%s… in\n%s", c.text, code, c.want, said)
		}
	}
}
