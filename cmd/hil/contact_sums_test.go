package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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
	down := map[string]float64{"x_mean": a * (1 - 1./64) / 6 / 0.75, "x_min": a / 32, "x_max": a / 2, "x_end": a / 2, "mean_abs_x_dot": (a/2 - a/32) / 0.75, "max_abs_x_dot": a}
	w := 10.0 // rad/s, an oscillator without friction
	swing := map[string]float64{"x_mean": 0, "x_max": 0.06, "x_min": -0.06, "mean_abs_x_dot": 2 / math.Pi * 0.06 * w, "max_abs_x_dot": 0.06 * w}
	hop := map[string]float64{"y_min": 0.02, "y_max": 0.12, "y_mean": 0.02 + 2./3*0.1, "max_abs_y_dot": math.Sqrt(2 * g * 0.1)}
	fall := math.Sqrt(2 * 0.1 / g)
	for _, c := range []struct {
		name, text string
		want       map[string]float64
		tol        [2]float64 // event-driven, fixed steps of 20 µs
	}{
		{"block", "system: toy\ntoy: {kind: block, slope: 0.5 rad, ground: {mu: 0.2}}\nduration: 1 s\ndiscard: 0.25 s", down, [2]float64{1e-9, 1e-4}},
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
		if exitCode(err) != exitInvalid || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", text, exitCode(err), errs)
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
