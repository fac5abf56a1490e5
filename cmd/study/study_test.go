package study

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// A grid over the speed of a drawn mass: the largest speed of the mass without friction on a stiff spring is twice that of the spring's
// end, v(1 − cos ωt), whatever the mass.
func TestGridAgainstClosedForm(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("base.yaml", `version: 1
name: drawn
plant: {kind: drawn-mass, mass: 2 kg, spring: 200 N/m}
friction: [{law: viscous, Fv: 1e-9 N·s/m, delta: 1}]
input: {kind: ramp, velocity: 0.1 m/s}
step: 0.1 ms
duration: 1 s
`)
	file := write("study.yaml", `version: 1
name: speeds
base: base.yaml
vary: [{path: input.velocity, name: speed, values: [0.1 m/s, -0.2 m/s, 0.4 m/s]}]
design: {kind: grid}
metrics: [velocity_max, velocity_min]
`)
	out := filepath.Join(dir, "results")
	var said, errs bytes.Buffer
	if err := Run(context.Background(), func() bool { return false }, file,
		Options{OutputFolder: out, Format: "csv", Resume: true, Changed: func(name string) bool { return name == "out" }}, &said,
		&errs); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	f, err := os.Open(filepath.Join(out, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		for _, key := range []string{"speed", "velocity_max", "velocity_min"} {
			if strings.HasPrefix(name, key) {
				at[key] = i
			}
		}
	}
	for _, row := range rows[1:] {
		number := func(key string) float64 {
			x, err := strconv.ParseFloat(row[at[key]], 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		v := number("speed")
		if most := max(number("velocity_max"), -number("velocity_min")); most < 1.999*max(v, -v) || most > 2.001*max(v, -v) {
			t.Errorf("at %g m/s the mass reaches %g m/s, want twice as much", v, most)
		}
	}
	if err := Run(context.Background(), func() bool { return false }, filepath.Join(dir, "none.yaml"),
		Options{Format: "csv", Changed: func(string) bool { return false }}, &said, &errs); report.ExitCode(err) != report.Invalid {
		t.Errorf("a file that is not there: %v", err)
	}
}
