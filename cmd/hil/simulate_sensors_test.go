package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A CSV with sensors holds the truth plus noise of the given size, in whole steps, under names that say so; nothing else of
// the run changes.
func TestSensorsStandBeforeTheCSV(t *testing.T) {
	dir := t.TempDir()
	const run = "plant: {kind: imposed-force, mass: 1 kg}\nfriction: [lugre, {law: lugre, label: twin, defaults: public}]\n" +
		"input: {kind: sine, amplitude: 3 N, frequency: 1 Hz}\nduration: 20 s\noutputs: {columns: [%s]}\n"
	simulate := func(name, columns, sensors string) (csv map[string][]float64, said string) {
		t.Helper()
		in, out := filepath.Join(dir, name+".yaml"), filepath.Join(dir, name+".csv")
		if err := os.WriteFile(in, fmt.Appendf(nil, run+"%s\n", columns, sensors), 0o644); err != nil {
			t.Fatal(err)
		}
		said, errs, err := runVerb(newSimulateCmd(), in, "-o", out)
		if err != nil || strings.Contains(errs, "hil:") {
			t.Fatal(err, errs)
		}
		return readCSV(t, out), said
	}
	const sensors = "sensors: {seed: 5, position: {noise: 1 µm, resolution: 10 µm}, velocity: {noise: 1 mm/s}, force: {resolution: 0.25 N}}"
	exact, plain := simulate("exact", "position, velocity, load, friction, input", "")
	seen, said := simulate("seen", "position, velocity, load, friction, input", sensors)
	for _, c := range []struct {
		name       string
		sd, step   float64 // of the noise, of the steps
		unmeasured bool
	}{
		{"lugre.position_m", math.Hypot(1e-6, 10e-6/math.Sqrt(12)), 10e-6, false}, {"lugre.velocity_m_s", 1e-3, 0, false},
		{"twin.velocity_m_s", 1e-3, 0, false}, {"lugre.load_N", 0.25 / math.Sqrt(12), 0.25, false}, {"lugre.input_N", 0, 0, true},
	} {
		name := strings.Replace(c.name, ".", ".measured_", 1)
		if c.unmeasured {
			name = c.name
		}
		x, y := exact[c.name], seen[name]
		if len(y) != len(x) {
			t.Fatalf("%s: %d rows, the exact run has %d; columns %v", name, len(y), len(x), len(seen))
		}
		sum := 0.0
		for k := range x {
			sum += (y[k] - x[k]) * (y[k] - x[k])
			if n := y[k] / c.step; c.step > 0 && math.Abs(n-math.Round(n)) > 1e-6 {
				t.Fatalf("%s: %g is no whole number of steps of %g", name, y[k], c.step)
			}
		}
		// the spread of steps of a smooth signal is that of a uniform error to some percent
		if sd := math.Sqrt(sum / float64(len(x))); math.Abs(sd-c.sd) > 0.05*c.sd {
			t.Errorf("%s: %g rms off the truth, want %g", name, sd, c.sd)
		}
	}
	same, apart := true, 0.0
	for k, v := range seen["lugre.measured_velocity_m_s"] {
		d, e := v-exact["lugre.velocity_m_s"][k], seen["twin.measured_velocity_m_s"][k]-exact["twin.velocity_m_s"][k]
		apart += d * e / float64(len(exact["time_s"]))
		same = same && d == e
	}
	if same || math.Abs(apart) > 0.05*1e-6 {
		t.Errorf("the laws share their noise: covariance %g", apart)
	}

	// the noise of a column is its own, whatever stands beside it
	alone, _ := simulate("alone", "velocity", sensors)
	for k, v := range alone["lugre.measured_velocity_m_s"] {
		if v != seen["lugre.measured_velocity_m_s"][k] {
			t.Fatalf("row %d: another noise without the other columns", k)
		}
	}
	other, _ := simulate("other", "velocity", strings.Replace(sensors, "seed: 5", "seed: 6", 1))
	if other["lugre.measured_velocity_m_s"][7] == seen["lugre.measured_velocity_m_s"][7] {
		t.Error("the seed changes nothing")
	}

	// what is printed about the run is exact and says what the CSV is
	head, rest, ok := strings.Cut(said, "the CSV is what sensors show")
	_, rest, _ = strings.Cut(rest, "\n\n")
	cut := func(s string) string { s, _, _ = strings.Cut(s, "next:"); return s }
	if !ok || cut(head+rest) != cut(plain) {
		t.Errorf("without sensors\n%s\nwith them\n%s", plain, said)
	}
}
