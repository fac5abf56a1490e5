package identify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify"
)

const driveFile = "../../configs/identify/machine-response.yaml"

// truth of identify/response/testdata/drive.py
var driveTruth = map[string]float64{"K": 0.05, "R": 1, "L": 2e-3, "J_motor": 1e-4, "J_load": 0.02, "Fc_load": 0.5, "k_shaft": 50,
	"c_shaft": 0.02}

// changed writes a file with other text into a folder of its own, with paths that still hold, and gives its name.
func changed(t *testing.T, file string, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	configsDir, _ := filepath.Abs("../../configs")
	out := strings.NewReplacer(pairs...).Replace(string(text))
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(string(text), pairs[i]) {
			t.Fatalf("%s has no %q", file, pairs[i])
		}
	}
	out = strings.NewReplacer("../machine/", configsDir+"/machine/", "data/drive", configsDir+"/identify/data/drive").Replace(out)
	name := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(name, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func responseOf(t *testing.T, file string, f Options) (r Identification, err error) {
	t.Helper()
	f.json = true
	out, errs, err := runMachineFile(t, file, f)
	if out == "" {
		t.Fatalf("%v\n%s", err, errs)
	}
	if bad := json.Unmarshal([]byte(out), &r); bad != nil {
		t.Fatal(bad)
	}
	return r, err
}

// holds tells whether the intervals hold what was put in; of twenty, one may miss by a little.
func holds(t *testing.T, r *identify.Result, truth map[string]float64, within float64) {
	t.Helper()
	for name, want := range truth {
		p, ok := r.Param(name)
		if !ok || p.CI == nil {
			t.Errorf("%s: no interval", name)
		} else if half := (p.CI[1] - p.CI[0]) / 2; math.Abs(p.Value-want) > 1.5*half || math.Abs(p.Value-want) > within*want {
			t.Errorf("%s = %g ± %g, put in %g", name, p.Value, half, want)
		}
	}
}

// The example finds motor, shaft and load from guesses that are off by a factor of two, and writes them into the file of the machine.
func TestResponseExample(t *testing.T) {
	written := filepath.Join(t.TempDir(), "found.yaml")
	r, err := responseOf(t, driveFile, Options{writeMachine: written})
	if err != nil || r.Verdict != identify.Identified {
		t.Errorf("%s %v: %v", r.Verdict, r.Reasons, err)
	}
	holds(t, r.Result, driveTruth, 0.01)
	for _, o := range r.Response.Outputs {
		if o.Percent < 99 || o.Valid == nil || *o.Valid < 99 {
			t.Errorf("output %s: fit %.1f %%, validation %v", o.Name, o.Percent, o.Valid)
		}
	}
	for i, noise := range []float64{0.05, 5e-3, 1e-3} {
		if got := r.Response.Outputs[i].Noise; math.Abs(got/noise-1) > 0.05 {
			t.Errorf("noise of %s %g, put in %g", r.Response.Outputs[i].Name, got, noise)
		}
	}
	run, _, err := configs.LoadMachine(written)
	if err != nil {
		t.Fatal(err)
	}
	if k := run.Machine.Shafts[0].Stiffness; math.Abs(k-50) > 0.1 {
		t.Errorf("stiffness %g as written", k)
	}
}

// A linkage with a closed loop, from a record that begins somewhere, with a speed: where is searched, and the loop stays in its branch.
func TestResponseOfALoop(t *testing.T) {
	record, _ := filepath.Abs("../../identify/response/testdata/rocker.csv.gz")
	machine, _ := filepath.Abs("../../configs/machine/crank-rocker.yaml")
	file := filepath.Join(t.TempDir(), "rocker.yaml")
	text := `
version: 1
machine: ` + machine + `
data: {file: ` + record + `, time: {name: t, unit: s}}
inputs: [{path: machine.motors.motor.voltage, column: {name: u, unit: V}}]
outputs:
  - {name: motor.i, column: {name: i, unit: A}}
  - {name: crank.q, column: {name: crank, unit: rad}}
  - {name: rocker.q, column: {name: rocker, unit: rad}, noise: 1 mrad}
begin: [crank]
starts: 0
parameters:
  - {path: machine.motors.motor.K, name: K, range: [0.1 N·m/A, 1 N·m/A], start: 0.2 N·m/A}
  - {path: machine.motors.motor.R, name: R, range: [0.5 ohm, 10 ohm], start: 4 ohm}
  - {path: machine.motors.motor.rotor_inertia, name: J, range: [1e-4 kg·m², 1e-2 kg·m²], start: 2e-3 kg·m²}
  - {path: machine.bodies.crank.joint.damping, name: B, range: [0.0002 N·m·s/rad, 0.02 N·m·s/rad]}
  - {path: machine.bodies.rocker.mass, name: m, range: [0.1 kg, 1 kg], start: 0.5 kg}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := responseOf(t, file, Options{})
	if err != nil || r.Verdict != identify.Identified {
		t.Errorf("%s %v: %v", r.Verdict, r.Reasons, err)
	}
	holds(t, r.Result, map[string]float64{"K": 0.3, "R": 2, "J": 1e-3, "B": 2e-3, "m": 0.3, "x0[1].crank": 2, "v0[1].crank": 5}, 0.03)
}

// What the record cannot tell, and a machine that is another one, are not called identified.
func TestDoubtfulResponses(t *testing.T) {
	one := `  - {path: machine.motors.motor.R, name: R, range: [0.2 ohm, 5 ohm]}
  - {path: machine.motors.motor.L, name: L, range: [0.2 mH, 20 mH]}
  - {path: machine.bodies.rotor.joint.armature, name: J_motor, range: [1e-5 kg·m², 1e-3 kg·m²]}
  - {path: machine.bodies.load.joint.armature, name: J_load, range: [2e-3 kg·m², 0.2 kg·m²]}
  - {path: machine.bodies.load.joint.friction.Fc, name: Fc_load, range: [0.05 N·m, 5 N·m]}
  - {path: machine.shafts.shaft.stiffness, name: k_shaft, range: [5 N·m/rad, 500 N·m/rad]}
  - {path: machine.shafts.shaft.damping, name: c_shaft, range: [0.001 N·m·s/rad, 0.5 N·m·s/rad]}
validate: [data/drive-2.csv.gz]
`
	for _, c := range []struct {
		name, old, new string
		verdict        identify.Verdict
		reason         string
	}{
		{"one parameter is free, the others are wrong", one, "starts: 0\n", identify.Weak, "output"},
		{"the other direction", "range: [0.001 N·m·s/rad, 0.5 N·m·s/rad]}\nvalidate: [data/drive-2.csv.gz]",
			"range: [0.001 N·m·s/rad, 0.5 N·m·s/rad]}\nstarts: 0", identify.Rejected, "load.q"},
		{"two that no output tells apart", one, `  - {path: machine.bodies.rotor.joint.armature, name: a, range: [1e-5 kg·m², 1e-3 kg·m²]}
  - {path: machine.motors.motor.rotor_inertia, name: b, range: [1e-5 kg·m², 1e-3 kg·m²], start: 1e-4 kg·m²}
starts: 0
`, identify.Rejected, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pairs := []string{c.old, c.new}
			if c.reason == "load.q" {
				pairs = append(pairs, "column: {name: load, unit: rad}", "column: {name: load, unit: rad, gain: \"-1\"}")
			}
			r, err := responseOf(t, changed(t, driveFile, pairs...), Options{})
			if r.Verdict != c.verdict || (c.verdict == identify.Rejected) != (report.ExitCode(err) == report.Quality) {
				t.Errorf("%s (%v): %v", r.Verdict, r.Reasons, err)
			}
			if !strings.Contains(strings.Join(r.Because(), "\n"), c.reason) {
				t.Errorf("reasons %v say nothing of %s", r.Reasons, c.reason)
			}
		})
	}
}

// nearTruth lets the search of the example begin at what was put in, where it is not the search that is tried.
var nearTruth = []string{
	"[0.01 N·m/A, 0.2 N·m/A]", "[0.01 N·m/A, 0.2 N·m/A], start: 0.05 N·m/A", "[0.2 ohm, 5 ohm]", "[0.2 ohm, 5 ohm], start: 1 ohm",
	"[0.2 mH, 20 mH]", "[0.2 mH, 20 mH], start: 2 mH", "[1e-5 kg·m², 1e-3 kg·m²]", "[1e-5 kg·m², 1e-3 kg·m²], start: 1e-4 kg·m²",
	"[2e-3 kg·m², 0.2 kg·m²]", "[2e-3 kg·m², 0.2 kg·m²], start: 0.02 kg·m²", "[0.05 N·m, 5 N·m]", "[0.05 N·m, 5 N·m], start: 0.5 N·m",
	"[5 N·m/rad, 500 N·m/rad]", "[5 N·m/rad, 500 N·m/rad], start: 50 N·m/rad",
	"[0.001 N·m·s/rad, 0.5 N·m·s/rad]", "[0.001 N·m·s/rad, 0.5 N·m·s/rad], start: 0.02 N·m·s/rad",
}

// A wrong gain of the voltage scales motor, shaft and load alike, but for two dampings that are given: next to nothing is left over. It is
// named, and the intervals hold what was put in.
func TestResponseWithAWrongGain(t *testing.T) {
	r, err := responseOf(t, changed(t, driveFile, append(nearTruth, "column: {name: u, unit: V}",
		`column: {name: u, unit: V, gain: "1.03"}`, "validate: [data/drive-2.csv.gz]", "starts: 0")...), Options{})
	if err != nil || r.Verdict != identify.Weak || !strings.Contains(strings.Join(r.Because(), "\n"),
		"another gain of machine.motors.motor.voltage") {
		t.Errorf("%s %v: %v", r.Verdict, r.Reasons, err)
	}
	if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, "gains of inputs and outputs, clock. The intervals do not hold errors of") {
		t.Errorf("gains that nothing says to be uncertain: %s", text)
	}
	for name, want := range driveTruth {
		if p, _ := r.Param(name); p.CI == nil || want < p.CI[0] || want > p.CI[1] {
			t.Errorf("%s = %g in %v, put in %g", name, p.Value, p.CI, want)
		}
	}
}

// No record tells a wrong gain of the current: with i·g the same motion has R/g, L/g, and g times each inertia, friction and stiffness.
// Where the file says how well the gain is known, the intervals hold what was put in.
func TestResponseWithAnUncertainGain(t *testing.T) {
	for _, gain := range uncertainGains {
		r, err := responseOf(t, changed(t, driveFile, append(nearTruth, "column: {name: i, unit: A}",
			fmt.Sprintf(`column: {name: i, unit: A, gain: "%g"}`, gain), "validate: [data/drive-2.csv.gz]",
			"starts: 0\nuncertainty: {gain: 2 %}")...), Options{})
		if text := strings.Join(r.Warnings, "\n"); err != nil ||
			!strings.Contains(text, "gains of inputs and outputs ±2 %, clock. The intervals hold that") {
			t.Errorf("gain %g: %v, %s", gain, err, text)
		}
		for name, power := range map[string]float64{"R": -1, "L": -1, "J_motor": 1, "J_load": 1, "Fc_load": 1, "k_shaft": 1, "c_shaft": 1} {
			truth := driveTruth[name]
			p, _ := r.Param(name)
			if closedForm := truth * math.Pow(gain, power); math.Abs(p.Value/closedForm-1) > 0.005 {
				t.Errorf("gain %g: %s = %g, the closed form says %g", gain, name, p.Value, closedForm)
			}
			if p.CI == nil || truth < p.CI[0] || truth > p.CI[1] || p.CI[1]-p.CI[0] < 0.07*p.Value || p.CI[1]-p.CI[0] > 0.2*p.Value {
				t.Errorf("gain %g, known to 2 %%: %s = %g in %v, put in %g", gain, name, p.Value, p.CI, truth)
			}
			if half := (p.CI[1] - p.CI[0]) / 2; p.Error == nil || math.Abs(half/(1.96**p.Error)-1) > 0.1 {
				t.Errorf("gain %g: %s has an error of %v beside an interval of ± %g", gain, name, p.Error, half)
			}
		}
	}
}

// A column that is late takes the samples of all others that it has none beside.
func TestResponseOfALateColumn(t *testing.T) {
	file := changed(t, driveFile, "column: {name: load, unit: rad}", "column: {name: load, unit: rad, delay: 3 ms}")
	cfg, _, err := configs.LoadResponseFit(file)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := readResponses(context.Background(), cfg, cfg.Data.Files(), false, report.NewProgress(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	r := recs.recordings[0] // of 2000 samples every 1 ms
	for _, x := range append(slices.Clone(r.Inputs), r.Outputs...) {
		if len(x) != 1997 {
			t.Errorf("%d samples, want 1997", len(x))
		}
	}
}
