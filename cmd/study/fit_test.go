package study

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hilrig/engine/study"
)

// results runs a study file and gives its table by columns, and its summary.
func results(t *testing.T, file string) (map[string][]string, *Summary) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "results")
	var said, errs bytes.Buffer
	f := Options{OutputFolder: out, Format: "csv", Resume: true, Changed: func(name string) bool { return name == "out" }}
	if err := Run(context.Background(), func() bool { return false }, file, f, &said, &errs); err != nil {
		t.Fatalf("%v\n%s%s", err, said.String(), errs.String())
	}
	text, err := os.ReadFile(filepath.Join(out, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table := map[string][]string{}
	for i, name := range rows[0] {
		for _, r := range rows[1:] {
			table[name] = append(table[name], r[i])
		}
	}
	var sum Summary
	if text, err = os.ReadFile(filepath.Join(out, "summary.json")); err == nil {
		err = json.Unmarshal(text, &sum)
	}
	if err != nil {
		t.Fatal(err)
	}
	return table, &sum
}

func numberOf(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// slider writes recordings of a mass of 2 kg with 3 N of Coulomb and 5 N·s/m of viscous friction under a slow force of two sines that
// is held between samples: steps of 1/40 of a sample, friction at rest as large as the force.
func slider(t *testing.T, path string, phase float64) {
	t.Helper()
	const mass, coulomb, viscous, dt, sub = 2.0, 3.0, 5.0, 5e-3, 40
	x, v := 0.0, 0.0
	var b strings.Builder
	b.WriteString("t,x,F\n")
	for k := range 800 {
		at := float64(k) * dt
		force := 14*math.Sin(4*at+phase) + 9*math.Sin(11*at)
		fmt.Fprintf(&b, "%.17g,%.17g,%.17g\n", at, x, force)
		for range sub {
			const h = dt / sub
			next := v + h*(force-viscous*v)/mass
			if drop := h * coulomb / mass; math.Abs(next) > drop {
				next -= math.Copysign(drop, next)
			} else {
				next = 0
			}
			x, v = x+h*(v+next)/2, next
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

const sliderFit = `version: 1
name: slider
axis: linear
data:
  file: a.csv
  columns:
    time: {name: t, unit: s}
    position: {name: x, unit: m}
    force: {name: F, unit: N}
METHOD
`

// sliders makes four recordings, an identification file and a study in a folder.
func sliders(t *testing.T, method, study string) string {
	t.Helper()
	dir := t.TempDir()
	for k, name := range []string{"a", "b", "c", "d"} {
		slider(t, filepath.Join(dir, name+".csv"), float64(k))
	}
	for name, text := range map[string]string{"fit.yaml": strings.Replace(sliderFit, "METHOD", method, 1),
		"study.yaml": "version: 1\nname: s\nbase: fit.yaml\n" + study} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "study.yaml")
}

// Each recording by itself: the mass that went in comes out of all of them.
func TestStudyOfRecordings(t *testing.T) {
	table, sum := results(t, sliders(t, "method: [regress]", "vary: [{path: data.file, name: log, files: \"?.csv\"}]\ndesign: {kind: list}\n"))
	if got := strings.Join(table["log"], " "); got != "a.csv b.csv c.csv d.csv" {
		t.Fatalf("%s in %v", got, table)
	}
	for i, m := range table["M_kg"] {
		if x := numberOf(t, m); math.Abs(x-2) > 0.04 {
			t.Errorf("%s: mass %g kg, want 2", table["log"][i], x)
		}
		if table[fitVerdict][i] == "" {
			t.Errorf("%s: no verdict", table["log"][i])
		}
	}
	if sum.Fits == nil || sum.Fits.BestRun < 0 || len(sum.Words) != 1 {
		t.Errorf("%+v", sum)
	}
}

// A bootstrap over the recordings: run 0 is the fit of all, and the interval holds the truth.
func TestBootstrapOfRecordings(t *testing.T) {
	table, sum := results(t, sliders(t, "method: [regress]", "records: \"?.csv\"\ndesign: {kind: bootstrap, runs: 12}\n"))
	if len(table["run"]) != 12 || table["M_kg"][0] == table["M_kg"][1] && table["M_kg"][1] == table["M_kg"][2] {
		t.Fatalf("%v", table["M_kg"])
	}
	for _, m := range sum.Metrics {
		if m.Name == "M" && (m.Interval == nil || m.Interval[0] > 2.02 || m.Interval[1] < 1.98) {
			t.Errorf("%+v", m.Interval)
		}
	}
}

// Laws side by side over two recordings together, and many starts that end in one place.
func TestLawsAndStarts(t *testing.T) {
	const lm = "method: [lm]\nmodel: {law: coulomb, terms: [viscous], initial: rest, output: position, drive: force}\nparameters: {M: " +
		"{start: 1.5, min: 0.5, max: 8}, Fc: {start: 2, min: 0.1, max: 10}, Fv: {start: 3, min: 0.1, max: 20}}\nlm: {draws: 0}"
	table, sum := results(t, sliders(t, lm, "records: \"[ab].csv\"\nset: {parameters: {M: {start: 1.5, min: 0.5, max: 8}}}\nvary: [{path: "+
		"model.law, name: law, values: [coulomb, viscous]}]\ndesign: {kind: grid}\nmax_failed: 100 %\n"))
	if sum.Fits == nil || len(sum.Fits.Models) != 2 || sum.Fits.Models[0].Value != "coulomb" || sum.Fits.Models[0].Wins != 1 ||
		!strings.Contains(sum.Fits.Headline, "law = coulomb describes the recordings best") {
		t.Errorf("%+v\n%v", sum.Fits, table)
	}
	// spans of a recording and filters are no models: AICc does not compare them
	for _, factor := range []string{"{path: data.span, values: [[0 s, 1 s], [0 s, 3 s]]}", "{path: data.file, values: [a.csv, b.csv]}"} {
		if _, sum := results(t, sliders(t, lm, "vary: ["+factor+"]\ndesign: {kind: grid}\n")); sum.Fits == nil || len(sum.Fits.Models) != 0 ||
			!strings.Contains(sum.Fits.Headline, "the best of 2 fits is run ") {
			t.Errorf("%s: %+v", factor, sum.Fits)
		}
	}
	table, sum = results(t, sliders(t, lm, "vary: [{path: parameters.M.start, name: M0, range: [1 kg, 4 kg]}, {path: parameters.Fc.start, "+
		"range: [1 N, 6 N]}]\ndesign: {kind: sobol, runs: 4}\n"))
	if sum.Fits == nil || sum.Fits.SameOptimum < 3 {
		t.Errorf("%+v\n%v", sum.Fits, table)
	}
}

// A key of a machine: the period of a pendulum of small swing grows with the root of its length, so that its largest speed falls with it.
func TestStudyOfMachine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("pendulum.yaml", `version: 1
name: pendulum
machine:
  gravity: [0, -9.81, 0]
  bodies:
    bob: {parent: ground, mass: 1, com: [0, -1 m, 0], inertia_z: 1e-9, joint: {kind: revolute, axis: [0, 0, 1], position: 0.01 rad}}
duration: 3 s
outputs: {every: 1 ms}
`)
	table, _ := results(t, write("study.yaml", "version: 1\nname: s\nbase: pendulum.yaml\nvary: [{path: machine.bodies.bob.mass, name: "+
		"mass, values: [1 kg, 2 kg, 5 kg]}]\ndesign: {kind: list}\n"))
	speed := ""
	for name := range table {
		if strings.Contains(name, "bob") && strings.Contains(name, ".max") && strings.HasSuffix(name, "rad_s") {
			speed = name
		}
	}
	if len(table[speed]) != 3 {
		t.Fatalf("no speed among %v", table)
	}
	for i, x := range table[speed] {
		if got, want := numberOf(t, x), 0.01*math.Sqrt(9.81); math.Abs(got-want) > 1e-4*want {
			t.Errorf("mass %s: %g rad/s, want %g whatever the mass", table["mass_kg"][i], got, want)
		}
	}
}

// A factor of words has its words on the axis; an axis reaches down to zero only where the spread of the values is not lost by that.
func TestFigureOfWords(t *testing.T) {
	s, _, err := load(sliders(t, "method: [regress]", "vary: [{path: data.file, name: log, values: [b.csv, a.csv, d.csv]}]\ndesign: {kind: "+
		"list}\nfigures: [{name: f, kind: scatter, x: log, y: M}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		masses []float64
		zero   bool
	}{{[]float64{2, 2.01, 2.02}, false}, {[]float64{-2.02, -2, -2.01}, false}, {[]float64{1, 2, 3}, true}, {[]float64{-1, 2, 3}, true}} {
		s.outcomes = nil
		for run, m := range c.masses {
			s.outcomes = append(s.outcomes, study.Outcome{Run: run, Metrics: []study.Metric{{Name: "M", Unit: "kg", Value: m}}})
		}
		fig, err := s.figure(t.Context(), &s.cfg.Figures[0])
		if err != nil {
			t.Fatal(err)
		}
		p := fig.Columns[0].Panels[0]
		if got := fmt.Sprint(p.X.Names, p.Series[0].X, p.Y.Zero); got != fmt.Sprint([]string{"b.csv", "a.csv", "d.csv"}, []float64{1, 2, 3},
			c.zero) || fig.Title != "f" {
			t.Errorf("%v: %s, %q", c.masses, got, fig.Title)
		}
	}
}
