package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The keys at the end of docs/reference/identify-response.md are made from the tags.
func TestResponseFitDocs(t *testing.T) {
	keysAtEnd(t, "identify-response.md", DefaultResponseFit())
}

// responseFile writes the example with one change beside its machine, and loads it.
func responseFile(t *testing.T, old, new string) error {
	t.Helper()
	text, err := os.ReadFile("identify/machine-response.yaml")
	if err != nil {
		t.Fatal(err)
	}
	machine, _ := filepath.Abs("machine/drive-guess.yaml")
	out := strings.Replace(string(text), old, new, 1)
	if out == string(text) {
		t.Fatalf("the example has no %q", old)
	}
	name := filepath.Join(t.TempDir(), "fit.yaml")
	if err := os.WriteFile(name, []byte(strings.Replace(out, "../machine/drive-guess.yaml", machine, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err = LoadResponseFit(name)
	return err
}

// Bad files are refused with their place and what to do.
func TestBadResponseFits(t *testing.T) {
	const k, u, load = "path: machine.motors.motor.K", "path: machine.motors.motor.voltage", "name: load.q, column: {name: load, unit: rad}"
	for _, c := range []struct{ old, new, want string }{
		{"version: 1", "version: 2", "this program reads version 1"},
		{"  file: data/drive-1.csv.gz\n", "", "data.file is missing"},
		{"  time: {name: t, unit: s}\n", "", "data.time is missing"},
		{"unit: s}", "unit: N}", "data.time"},
		{k, "path: machine.motors.motor.k", `did you mean "K"`},
		{k, "path: machine.motors.engine.K", "engine"},
		{k, "path: duration", "paths begin with machine."},
		{k + ", name: K", k + ", name: R", "two parameters are called R"},
		{k + ", name: K", k + ", name: \"x0[1]\"", "name of a beginning"},
		{"range: [0.2 ohm, 5 ohm]", "range: [5 ohm, 0.2 ohm]", "rising"},
		{"range: [0.2 ohm, 5 ohm]", "range: [-1 ohm, 5 ohm]", "parameters[1]"},
		{"range: [0.2 ohm, 5 ohm]", "range: [0.2 V, 5 V]", "parameters[1]"},
		{"range: [0.2 ohm, 5 ohm]", "range: [0.2 ohm, 5 ohm], start: 7 ohm", "outside of the range"},
		{"range: [0.2 ohm, 5 ohm]", "range: [0.2 ohm, 5 ohm], start: 1 V", "parameters[1].start"},
		{"range: [0.2 ohm, 5 ohm]", "range: [0 ohm, 5 ohm], scale: log", "logarithmic"},
		{"path: machine.motors.motor.R", k, "searched twice"},
		{u, "path: machine.motors.motor.volts", "no voltage"},
		{u, k, "no voltage, current, switch or effort"},
		{"column: {name: u, unit: V}", "column: {name: u, unit: A}", "inputs[0].column"},
		{"column: {name: u, unit: V}", "column: {unit: V}", "inputs[0].column.name is missing"},
		{load, strings.Replace(load, "load.q", "lode.q", 1), `did you mean "load.q"`},
		{load, strings.Replace(load, "load.q", "load", 1), "is several numbers"},
		{load, strings.Replace(load, "unit: rad", "unit: m", 1), "outputs[2].column"},
		{load, load + ", noise: 1 V", "outputs[2].noise"},
		{load, load + ", noise: 0 rad", "outputs[2].noise"},
		{"validate:", "begin: [shaft]\nvalidate:", "begin[0]"},
		{"validate:", "steps: 100\nvalidate:", "steps"},
		{"validate:", "between: spline\nvalidate:", "between"},
		{"outputs:", "output:", "unknown key"},
	} {
		if err := responseFile(t, c.old, c.new); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	if err := responseFile(t, "validate: [data/drive-2.csv.gz]", "begin: [load, rotor]\nbetween: line"); err != nil {
		t.Error(err)
	}
}
