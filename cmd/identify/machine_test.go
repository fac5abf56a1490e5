package identify

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify"
)

func runMachineFile(t *testing.T, path string, f Options) (out, errs string, err error) {
	t.Helper()
	if f.Changed == nil {
		f.Changed = func(string) bool { return false }
	}
	var stdout, stderr bytes.Buffer
	err = Run(context.Background(), path, f, &stdout, &stderr)
	return stdout.String(), stderr.String(), err
}

const armFile = "../../configs/identify/machine-arm.yaml"

// truth of configs/identify/machine-arm.yaml, identify/machine/testdata/arms.py.
var armTruth = map[string]float64{"base.Fc": 1.5, "upper.Fc": 1.1, "fore.Fc": 0.6, "base.Fv": 0.8, "upper.Fv": 0.6, "fore.Fv": 0.3,
	"fore.mcx": 0.3, "fore.mcy": 0.04, "fore.izz": 0.0648, "fore.armature": 0.03}

// The example finds the arm, and the file that it writes reproduces the torques of both records.
func TestMachineExample(t *testing.T) {
	written := filepath.Join(t.TempDir(), "found.yaml")
	out, errs, err := runMachineFile(t, armFile, Options{json: true, writeMachine: written})
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	var r Identification
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Verdict != identify.Identified || len(r.Machine.Base) != 25 || !r.Machine.Possible {
		t.Errorf("%s, %d base parameters: %v", r.Verdict, len(r.Machine.Base), r.Reasons)
	}
	for name, want := range armTruth {
		p, ok := r.Param(name)
		if !ok || p.CI == nil {
			t.Errorf("%s: no interval", name)
		} else if half := (p.CI[1] - p.CI[0]) / 2; math.Abs(p.Value-want) > 1.5*half { // one of twenty may miss by a little
			t.Errorf("%s = %g ± %g, put in %g", name, p.Value, half, want)
		}
	}
	for _, j := range r.Machine.Joints {
		if j.Percent < 94 || *j.Valid < 94 || j.Written < j.Percent-1 {
			t.Errorf("joint %s: fit %.1f %%, validation %.1f %%, as written %.1f %%", j.Name, j.Percent, *j.Valid, j.Written)
		}
	}
	run, _, err := configs.LoadMachine(written)
	if err != nil {
		t.Fatal(err)
	}
	if x := run.Machine.Bodies[2].Joint.Damping; math.Abs(x-0.3) > 0.02 {
		t.Errorf("damping of the last joint %g as written", x)
	}
	// what was written explains the records without a change
	fit, err := os.ReadFile(armFile)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := filepath.Abs("../../configs/identify/data")
	text := strings.NewReplacer("../machine/arm.yaml", written, "data/", data+"/").Replace(string(fit))
	again := filepath.Join(t.TempDir(), "again.yaml")
	if err := os.WriteFile(again, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, errs, err = runMachineFile(t, again, Options{json: true}); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	var second Identification
	if err := json.Unmarshal([]byte(out), &second); err != nil {
		t.Fatal(err)
	}
	for i, b := range second.Machine.Base {
		if first := r.Machine.Base[i]; !strings.HasSuffix(b.Name, "offset") && math.Abs(b.Start-first.Written) > 1e-9 {
			t.Errorf("%s starts at %.12g, written was %.12g", b.Name, b.Start, first.Written)
		}
	}
	text2, _, err := runMachineFile(t, armFile, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"25 base parameters", "upper.izz_R", "0.2025·fore.mass", "no torque of this machine feels base.mass",
		"verdict      identified", "real bodies can have these parameters", "of 25 base parameters", "next: "} {
		if !strings.Contains(text2, want) {
			t.Errorf("no %q in\n%s", want, text2)
		}
	}
}

// What a machine cannot take is refused, and so is what cannot be written.
func TestMachineRefusals(t *testing.T) {
	flag := func(name string) func(string) bool { return func(x string) bool { return x == name } }
	there := filepath.Join(t.TempDir(), "there.yaml")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		f    Options
		want string
		code int
	}{
		{armFile, Options{Changed: flag("terms")}, "--terms is not for a machine", report.Usage},
		{armFile, Options{Changed: flag("data")}, "--data is not for a machine", report.Usage},
		{armFile, Options{writeMachine: there}, "--force writes over it", report.Usage},
		{"../../configs/emps.yaml", Options{writeMachine: "x.yaml"}, "--write-machine is for a machine", report.Usage},
		{armFile, Options{RequireFit: 99.9}, "99.9", report.Quality},
	} {
		_, _, err := runMachineFile(t, c.path, c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) || report.ExitCode(err) != c.code {
			t.Errorf("%v, exit code %d, want %q and %d", err, report.ExitCode(err), c.want, c.code)
		}
	}
	// columns and files that are not there, with the joint or file
	fit, err := os.ReadFile(armFile)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := filepath.Abs("../../configs/identify/data")
	arm, _ := filepath.Abs("../../configs/machine/arm.yaml")
	for _, c := range []struct{ old, new, want string }{
		{"name: q2", "name: q9", "joint upper"},
		{"machine-arm-1", "machine-arm-9", "machine-arm-9"},
		{"machine-arm-2", "machine-arm-9", "validation"},
		{"cutoff: 8 Hz", "cutoff: 120 Hz", "half the sampling rate"},
	} {
		text := strings.Replace(string(fit), c.old, c.new, 1)
		text = strings.NewReplacer("../machine/arm.yaml", arm, "data/", data+"/").Replace(text)
		path := filepath.Join(t.TempDir(), "bad.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := runMachineFile(t, path, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || report.ExitCode(err) != report.Invalid {
			t.Errorf("%s: %v, exit code %d, want %q", c.new, err, report.ExitCode(err), c.want)
		}
	}
}
