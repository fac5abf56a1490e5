package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

const manipulatorFile = "../../configs/manipulator.yaml"

// changedManipulator is the example with changes.
func changedManipulator(t *testing.T, changes ...string) string {
	t.Helper()
	data, err := os.ReadFile(manipulatorFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	file := filepath.Join(t.TempDir(), "manipulator.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

type manipulatorJSON struct {
	Left    *float64 `json:"left_s"`
	Metrics map[string]float64
	Units   map[string]string
	Events  []struct {
		T        float64 `json:"time_s"`
		Kind     string
		From, To int
	}
	Files    map[string]string
	Warnings []string
}

// The example runs by every method, and its numbers are those of the published table; files are what they say.
func TestSimulateManipulator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, method := range []string{"", "method: {kind: full}\n", "method: {kind: step, step: 0.5 ms}\n"} {
		file := changedManipulator(t, "every: 2 ms\n", "every: 100 ms\n"+method)
		table, events, page, plot := filepath.Join(dir, "run.csv"), filepath.Join(dir, "events.json"), filepath.Join(dir, "run.html"),
			filepath.Join(dir, "run.svg")
		out, errs, code := execute(t, "simulate", file, "--json", "-o", table, "--events", events, "--animate", page, "--plot", plot, "--force")
		if code != 0 {
			t.Fatalf("%q: code %d\n%s", method, code, errs)
		}
		var r manipulatorJSON
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.Left != nil || r.Units["tau1_max"] != "N·m" || r.Metrics["borders"] != 6 {
			t.Errorf("%q: %s", method, out)
		}
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		head, last := strings.Split(lines[0], ","), strings.Split(lines[len(lines)-1], ",")
		if len(lines) != 12 {
			t.Fatalf("%d lines", len(lines))
		}
		for name, want := range map[string]float64{"time_s": 1, "q2_rad": -0.2957798, "q3_m": 0.1054508, "q4_rad": -0.1474073,
			"tip_x_m": 0.6327785, "w3_m": 0.0006816, "w5_m": 0.0018880, "lambda_N": -2.3912, "tau1_Nm": 1.3967} {
			tol := 2e-7
			if name == "lambda_N" || name == "tau1_Nm" {
				tol = 2e-4
			}
			found := false
			for i := range head {
				if head[i] == name {
					found = true
					var x float64
					if err := json.Unmarshal([]byte(last[i]), &x); err != nil || math.Abs(x-want) > tol {
						t.Errorf("%q: %s at 1 s is %s, want %g", method, name, last[i], want)
					}
				}
			}
			if !found {
				t.Errorf("no column %s in %s", name, lines[0])
			}
		}
		var list []map[string]any
		data, _ := os.ReadFile(events)
		if err := json.Unmarshal(data, &list); err != nil || list[0]["kind"] != "border" ||
			math.Abs(list[0]["time_s"].(float64)-0.3083162) > 2e-7 {
			t.Errorf("%q: events %s", method, data)
		}
		if data, _ := os.ReadFile(page); !strings.Contains(string(data), `"element 10"`) || strings.Contains(string(data), "{{DATA}}") {
			t.Errorf("the page has no beam")
		}
		if data, _ := os.ReadFile(plot); !strings.Contains(string(data), "<svg") {
			t.Errorf("no figure")
		}
	}
}

// A tip that leaves the beam ends the run with time and place; what was reached is written.
func TestSimulateManipulatorLeaves(t *testing.T) {
	t.Parallel()
	file := changedManipulator(t, "rate: 1 rad/s", "rate: 0.5 rad/s", "duration: 1 s", "duration: 3 s", "every: 2 ms", "every: 50 ms")
	table := filepath.Join(t.TempDir(), "run.csv")
	out, errs, code := execute(t, "simulate", file, "-o", table)
	if code != report.Quality || !strings.Contains(errs, "the load left the beam over its right end at t = 1.9374333") ||
		!strings.Contains(out, "1.9374333 s   the tip leaves the beam") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	if text, err := os.ReadFile(table); err != nil || !strings.Contains(string(text), "\n1.93743") {
		t.Errorf("%v\n%s", err, text)
	}
}

// What cannot run says why, with its exit code.
func TestSimulateManipulatorRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		changes, flags []string
		want           string
		code           int
	}{
		{[]string{"left: {kind: clamped}", "left: {kind: free}", "right: {kind: clamped}", "right: {kind: pinned}"}, nil,
			"the supports do not hold the beam", report.Invalid},
		{[]string{"at: [0.5 m, 0.68 m]", "at: [-0.5 m, 0.68 m]"}, nil, "the equilibrium lies beside the beam", report.Invalid},
		{[]string{"elements: 10", "elements: 200"}, nil, "too stiff for an adaptive method", report.Invalid},
		{nil, []string{"--law", "lugre"}, "--law and --motion are not for a chain on a beam", report.Usage},
		{nil, []string{"--step", "3ms"}, "no whole number of steps", report.Usage},
		{nil, []string{"--duration", "-1"}, "want > 0", report.Usage},
		{[]string{"elements: 10", "elements: 0"}, nil, "beam.elements: 0, want 1 to 1000", report.Invalid},
	} {
		args := append([]string{"simulate", changedManipulator(t, c.changes...)}, c.flags...)
		if _, errs, code := execute(t, args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v %v: code %d, %s; want %d, %q", c.changes, c.flags, code, errs, c.code, c.want)
		}
	}
	if out, errs, code := execute(t, "simulate", changedManipulator(t, "elements: 10", "elements: 200"), "--step", "1ms", "--duration",
		"0.1s"); code != 0 {
		t.Errorf("200 elements by fixed steps: code %d\n%s%s", code, out, errs)
	}
	if out, _, code := execute(t, "check", manipulatorFile); code != 0 || !strings.Contains(out, "simulate ") {
		t.Errorf("check: code %d\n%s", code, out)
	}
	if _, errs, code := execute(t, "run", manipulatorFile); code != report.Invalid || !strings.Contains(errs, "describes a chain on a beam") {
		t.Errorf("run: code %d\n%s", code, errs)
	}
}

// A unilateral contact lifts off and comes back, and says so.
func TestSimulateManipulatorLiftsOff(t *testing.T) {
	t.Parallel()
	file := changedManipulator(t, "rate: 1 rad/s, ramp: 0.1 s", "rate: 2 rad/s, ramp: 0.02 s", "tip: [300 mm, 0]",
		"tip: [300 mm, 0]\n  gravity: 0.5 m/s²\n  unilateral: true", "duration: 1 s", "duration: 0.2 s")
	out, errs, code := execute(t, "simulate", file)
	if code != 0 || !strings.Contains(out, "0.0219297 s   the tip lifts off") ||
		!strings.Contains(out, "0.0349337 s   the tip meets the beam, with an impulse of 0.001575 N·s") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}
