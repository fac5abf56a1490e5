package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
)

// toyFile writes a contact file of a toy.
func toyFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "toy.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nname: toy\n"+text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Means and extremes are those of the motion, however long the steps of the integrator are, with either engine and after a
// discarded beginning.
func TestStatisticsAreThoseOfTheMotion(t *testing.T) {
	const g = 9.81
	a := g * (math.Sin(0.5) - 0.2*math.Cos(0.5)) // block slides down 0.5 rad with friction 0.2
	down := map[string]float64{"x_mean": a * (1 - 1./64) / 6 / 0.75, "x_min": a / 32, "x_max": a / 2, "x_end": a / 2,
		"mean_abs_x_dot": (a/2 - a/32) / 0.75, "max_abs_x_dot": a}
	w := 10.0 // rad/s, an oscillator without friction
	swing := map[string]float64{"x_mean": 0, "x_max": 0.06, "x_min": -0.06, "mean_abs_x_dot": 2 / math.Pi * 0.06 * w,
		"max_abs_x_dot": 0.06 * w}
	hop := map[string]float64{"y_min": 0.02, "y_max": 0.12, "y_mean": 0.02 + 2./3*0.1, "max_abs_y_dot": math.Sqrt(2 * g * 0.1)}
	fall := math.Sqrt(2 * 0.1 / g)
	for _, c := range []struct {
		name, text string
		want       map[string]float64
		tol        [2]float64 // event-driven, fixed steps of 20 µs
	}{
		{"block", "system: toy\ntoy: {kind: block, slope: 0.5 rad, ground: {mu: 0.2}}\nduration: 1 s\ndiscard: 0.25 s", down,
			[2]float64{1e-9, 1e-4}},
		{"oscillator", "system: toy\ntoy: {kind: oscillator, contact: {mu: 0}}\nduration: 0.62831853071795864 s", swing, [2]float64{1e-4, 1e-3}},
		{"ball", "system: toy\ntoy: {kind: ball, ground: {eps_n: 1}}\nduration: " + fmt.Sprint(4*fall) + " s", hop, [2]float64{1e-6, 1e-3}},
	} {
		for i, kind := range []string{"event-driven", "fixed-step"} {
			r := touch(t, toyFile(t, c.text+"\nengine: {kind: "+kind+", impact: newton}"))
			for k, want := range c.want {
				if v := r.Metrics[k]; v == nil {
					t.Errorf("%s, %s: no %s", c.name, kind, k)
				} else if math.Abs(*v-want) > c.tol[i] {
					t.Errorf("%s, %s: %s = %.10g, want %.10g", c.name, kind, k, *v, want)
				}
			}
		}
	}
}

// The force of a row is that of its time: the ground carries a weight and a sine.
func TestForcesOfRowsAreThoseOfTheirTime(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "a.csv")
	touch(t, toyFile(t, `system: scene
scene:
  bodies:
    - {name: floor, shape: half-plane, fixed: true}
    - {name: box, shape: box, size: [0.2, 0.1], mass: 2, position: [0, 0.05], locked: [angle]}
  pairs: [{a: box, b: floor, mu: 0.5}]
  forces: [{body: box, amplitude: [3, 8], frequency: 2}]
engine: {kind: event-driven}
duration: 1 s
outputs: {every: 10 ms}`), "-o", csv)
	text, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(rows) != 101 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		var r []float64
		for _, f := range strings.Split(row, ",") {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			r = append(r, x)
		}
		s := math.Sin(2 * math.Pi * 2 * r[0])
		n, tang := r[len(r)-2], r[len(r)-1]
		if math.Abs(n-(2*9.81-8*s)) > 1e-9 || math.Abs(math.Abs(tang)-3*math.Abs(s)) > 1e-9 {
			t.Fatalf("at %g s: %g N and %g N, want %g N and ±%g N", r[0], n, tang, 2*9.81-8*s, 3*s)
		}
	}
}

// A run that has no step, or more rows than fit in memory, is refused at once.
func TestRunsOfNoStepOrTooManyRows(t *testing.T) {
	for text, want := range map[string]string{
		"duration: 5 us": "duration: 5e-06 s is less than one step",
		"duration: 1 s\nengine: {kind: event-driven}\noutputs: {every: 1e-12}": "outputs.every: 1e+12 rows in 1 s",
	} {
		_, errs, err := runVerb(newSimulateCmd(), toyFile(t, "system: toy\ntoy: {kind: ball}\n"+text))
		if report.ExitCode(err) != report.Invalid || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", text, report.ExitCode(err), errs)
		}
	}
}

// Every example can be seen moving, as its last line says.
func TestEveryExampleHasAPicture(t *testing.T) {
	files, err := filepath.Glob("../../configs/contact/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		touch(t, f, "--duration", "20ms", "--animate", filepath.Join(t.TempDir(), "a.html"))
	}
}

// Means of a row times its length add up to the change of momentum, impulses of impacts included, however far apart rows are: a ball that
// bounces with losses, and a box that lands, slides and stops.
func TestForcesTimesIntervalsAreTheChangeOfMomentum(t *testing.T) {
	const g = 9.81
	column := func(file, name string) (out []float64) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSpace(string(text)), "\n")
		at := slices.Index(strings.Split(rows[0], ","), name)
		if at < 0 {
			t.Fatalf("no %s in %s", name, rows[0])
		}
		for _, row := range rows[1:] {
			x, err := strconv.ParseFloat(strings.Split(row, ",")[at], 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
		return out
	}
	for _, c := range []struct {
		name, scene string
		m, vx, time float64
		endX, endY  float64 // m/s, of the closed form
		tol         [2]float64
	}{
		// it falls for 0.1 s and comes with 0.981 m/s, again after 0.1 s with half of that, and flies off with a quarter
		{"ball", "{name: body, shape: disc, radius: 0.02, mass: 0.3, position: [0, 0.06905]}\n  pairs: [{a: body, b: floor, eps_n: 0.5}]", 0.3,
			0, 0.23, 0, 0.25*0.981 - g*0.03, [2]float64{1e-8, 1e-3}},
		{"box", "{name: body, shape: box, size: [0.2, 0.02], mass: 2, position: [0, 0.05905], velocity: [1, 0], locked: [angle]}\n  pairs: " +
			"[{a: body, b: floor, mu: 0.4}]", 2, 1, 0.5, 0, 0, [2]float64{1e-8, 1e-3}},
		{"box that still slides", "{name: body, shape: box, size: [0.2, 0.02], mass: 2, position: [0, 0.05905], velocity: [-1, 0], locked: " +
			"[angle]}\n  pairs: [{a: body, b: floor, mu: 0.4}]", 2, -1, 0.15, -1 + 0.4*0.981 + 0.4*g*0.05, 0, [2]float64{1e-8, 1e-3}},
	} {
		for i, engine := range []string{"event-driven", "fixed-step"} {
			for _, every := range []float64{1e-3, 0.01, c.time} {
				csv := filepath.Join(t.TempDir(), "a.csv")
				touch(t, toyFile(t, "system: scene\nscene:\n  bodies:\n    - {name: floor, shape: half-plane, fixed: true}\n    - "+c.scene+
					fmt.Sprintf("\nengine: {kind: %s}\nduration: %g s\noutputs: {every: %g}", engine, c.time, every)), "-o", csv)
				sum := func(name string) (s float64) {
					for _, f := range column(csv, name) {
						s += f * every
					}
					return s
				}
				vx, vy := column(csv, "body.x_dot_m_s"), column(csv, "body.y_dot_m_s")
				end := len(vx) - 1
				what := fmt.Sprintf("%s, %s, rows of %g s", c.name, engine, every)
				for _, w := range []struct {
					name      string
					got, want float64
					tol       float64
				}{
					{"speed along x", vx[end], c.endX, c.tol[i]}, {"speed along y", vy[end], c.endY, c.tol[i]},
					{"normal", sum("mean_normal_force_N"), c.m * (vy[end] + g*c.time), 1e-7},
					{"tangential", sum("mean_tangential_force_N"), c.m * (vx[end] - c.vx), 1e-7},
				} {
					if math.Abs(w.got-w.want) > w.tol {
						t.Errorf("%s: %s: %.9g, want %.9g", what, w.name, w.got, w.want)
					}
				}
			}
		}
	}
}

// The list of events of a ball: its impacts come when and as strong as the closed form says.
func TestEventsAreListed(t *testing.T) {
	text := `system: scene
scene:
  bodies:
    - {name: floor, shape: half-plane, fixed: true}
    - {name: "ball, small", shape: disc, radius: 0.02, mass: 0.3, position: [0, 0.06905], velocity: [5, 0]}
  pairs: [{a: all, b: all, eps_n: 0.5, mu: 0.1}]
duration: 0.22 s
engine: {kind: event-driven}`
	dir := t.TempDir()
	list := filepath.Join(dir, "events.json")
	r := touch(t, toyFile(t, text), "--events", list)
	if r.Files["events"] != list {
		t.Errorf("files: %v", r.Files)
	}
	data, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var rows []simulate.EventRow
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 {
		t.Fatalf("%d events, want two closings and two impacts: %+v", len(rows), rows)
	}
	for k, e := range rows {
		hit := float64(k / 2)
		normal, tangential := 0.0, 0.0
		if e.Kind == "impact" {
			normal = 0.3 * 1.5 * 0.981 * math.Pow(0.5, hit)
			tangential = -0.1 * normal
		}
		if want := [2]string{"closing", "impact"}[k%2]; e.Kind != want || e.A != "ball, small" || e.B != "floor" {
			t.Errorf("%d: %+v, want a %s of the ball on the floor", k, e, want)
		}
		if math.Abs(e.T-0.1*(1+hit)) > 1e-9 || math.Abs(e.Normal-normal) > 1e-8 || math.Abs(e.Tangential-tangential) > 1e-8 {
			t.Errorf("%d: %+v, want %g s, %g and %g N·s", k, e, 0.1*(1+hit), normal, tangential)
		}
	}
	list = filepath.Join(dir, "events.csv")
	touch(t, toyFile(t, text), "--events", list)
	if data, err = os.ReadFile(list); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != 5 || strings.Join(table[0], " ") != "time_s kind a b normal_impulse_Ns tangential_impulse_Ns" {
		t.Fatalf("%q", table)
	}
	for k, e := range rows {
		if w := []string{fmt.Sprint(e.T), e.Kind, e.A, e.B, fmt.Sprint(e.Normal), fmt.Sprint(e.Tangential)}; !slices.Equal(table[k+1], w) {
			t.Errorf("row %d: %q, want %q", k, table[k+1], w)
		}
	}
	for _, args := range [][]string{{"--events", filepath.Join(dir, "e.txt")},
		{"--events", filepath.Join(dir, "e.csv"), "-o", filepath.Join(dir, "e.csv")}} {
		if _, _, err := runVerb(newSimulateCmd(), append(args, toyFile(t, text))...); report.ExitCode(err) != report.Usage {
			t.Errorf("%v: %v", args, err)
		}
	}
	_, _, err = runVerb(newSimulateCmd(), toyFile(t, strings.Replace(text, "event-driven", "fixed-step", 1)), "--events",
		filepath.Join(dir, "f.csv"))
	if report.ExitCode(err) != report.Usage || !strings.Contains(err.Error(), "event-driven") {
		t.Errorf("fixed-step: %v", err)
	}
	_, _, err = runVerb(newSimulateCmd(), "../../configs/stick-slip.yaml", "--events", filepath.Join(dir, "g.csv"))
	if report.ExitCode(err) != report.Usage {
		t.Errorf("friction law: %v", err)
	}
}

// What is written changes nothing of the motion: every number of an event-driven run is the same to the last bit with rows as close or as
// far apart as may be.
func TestRowsChangeNothingOfAnEventDrivenRun(t *testing.T) {
	t.Parallel()
	text := `system: scene
scene:
  bodies:
    - {name: floor, shape: half-plane, fixed: true}
    - {name: rod, shape: box, size: [0.3, 0.02], mass: 1, position: [0, 0.01], velocity: [1, 0]}
    - {name: stone, shape: disc, radius: 0.03, mass: 0.2, position: [0.6, 0.2], velocity: [-0.7, 0], spin: 30}
  pairs: [{a: all, b: all, eps_n: 0.4, mu: 0.2}]
  springs: [{a: ground, b: stone, at_a: [0.5, 0.3], stiffness: 20}]
duration: 0.7 s
engine: {kind: event-driven}
outputs: {every: `
	first := touch(t, toyFile(t, text+"0}"))
	if first.Solver["impacts"] < 2 || first.Solver["stops"] < 1 {
		t.Fatalf("too little happens: %v", first.Solver)
	}
	for _, every := range []string{"20 us", "1.7 ms", "13 ms", "0.7 s"} {
		r := touch(t, toyFile(t, text+every+"}"), "-o", filepath.Join(t.TempDir(), "a.csv"))
		for k, v := range first.Metrics {
			if *r.Metrics[k] != *v {
				t.Errorf("rows every %s: %s = %v, not %v", every, k, *r.Metrics[k], *v)
			}
		}
		if !maps.Equal(r.Solver, first.Solver) {
			t.Errorf("rows every %s: %v, not %v", every, r.Solver, first.Solver)
		}
	}
}
