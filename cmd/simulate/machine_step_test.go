package simulate

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// simulateText runs a file of this text as hil simulate does. r is nil where it has no result.
func simulateText(t *testing.T, text string, f Options) (table map[string][]float64, r map[string]any, stderr string, err error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "file.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f.OutputPath, f.Json = filepath.Join(dir, "run.csv"), true
	var stdout, errs bytes.Buffer
	err = Run(context.Background(), path, f, &stdout, &errs)
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
			t.Fatal(err, stdout.String())
		}
	}
	in, none := os.Open(f.OutputPath)
	if none != nil {
		return nil, r, errs.String(), err
	}
	defer in.Close()
	rows, bad := csv.NewReader(in).ReadAll()
	if bad != nil {
		t.Fatal(bad)
	}
	table = map[string][]float64{}
	for _, row := range rows[1:] {
		for j, name := range rows[0] {
			x, bad := strconv.ParseFloat(row[j], 64)
			if bad != nil {
				t.Fatal(bad)
			}
			table[name] = append(table[name], x)
		}
	}
	return table, r, errs.String(), err
}

// A mass on a spring goes by the implicit midpoint rule, whose steps turn the phase by 2·atan(w·h/2), and keeps its energy.
func TestFixedStepsOfAnOscillator(t *testing.T) {
	const w, h = 20.0, 0.01 // rad/s, s
	table, r, stderr, err := simulateText(t, `{version: 1, name: m, duration: 2 s, outputs: {every: 20 ms}, machine: {gravity: [0, 0, 0], bodies: {
		m: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], stiffness: 400 N/m, position: 0.1 m}, mass: 1 kg}}}}`, Options{Step: 10e-3})
	if err != nil {
		t.Fatal(err, stderr)
	}
	off, exact := 0.0, 0.0
	for k, at := range table["time_s"] {
		if math.Abs(at-0.02*float64(k)) > 1e-12 {
			t.Fatalf("row %d at %g s", k, at)
		}
		off = max(off, math.Abs(table["m.q_m"][k]-0.1*math.Cos(float64(2*k)*2*math.Atan(w*h/2))))
		x, v := 0.1*math.Cos(w*at), -0.1*w*math.Sin(w*at)
		exact = max(exact, math.Abs(table["m.q_m"][k]-x)/(1+math.Abs(x)), math.Abs(table["m.v_m_s"][k]-v)/(1+math.Abs(v)))
	}
	m := r["metrics"].(map[string]any)
	if len(table["time_s"]) != 101 || off > 1e-10 || math.Abs(m["energy_error"].(float64)) > 1e-10 || m["steps"].(float64) != 200 {
		t.Errorf("%d rows, off by %.3g m, energy %v, steps %v", len(table["time_s"]), off, m["energy_error"], m["steps"])
	}
	if got := m["difference_to_integrator_max"].(float64); math.Abs(got-exact) > 1e-6 || exact < 0.01 {
		t.Errorf("the difference to the integrator is %.6g, want %.6g", got, exact)
	}
	if !strings.Contains(stderr, "differ from the integrator") {
		t.Errorf("no warning of a coarse step: %s", stderr)
	}
}

// Machines with loops, friction that sticks, a motor and a motion come to where the integrator brings them, by order two, and what is
// said of the difference is what the tables show.
func TestFixedStepsAgainstTheIntegrator(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		columns []string
	}{
		"loops and a motor":  {"crank-rocker.yaml", []string{"crank.q_rad", "rocker.q_rad", "motor.i_A"}},
		"shaft and friction": {"motor-gear-load.yaml", []string{"rotor.q_rad", "rotor.v_rad_s"}},
		"two links":          {"two-link-arm.yaml", []string{"upper.q_rad", "lower.q_rad"}},
	} {
		text, err := os.ReadFile(filepath.Join("../../configs/machine", c.file))
		if err != nil {
			t.Fatal(err)
		}
		end := func(step float64) (x []float64) {
			table, _, stderr, err := simulateText(t, string(text), Options{Step: step, Duration: 0.4})
			if err != nil {
				t.Fatal(name, err, stderr)
			}
			for _, column := range c.columns {
				if len(table[column]) == 0 {
					t.Fatalf("%s: no column %s", name, column)
				}
				x = append(x, table[column][len(table[column])-1])
			}
			return x
		}
		want, coarse, fine := end(0), end(0.5e-3), end(0.125e-3)
		for i, column := range c.columns {
			a, b := math.Abs(coarse[i]-want[i]), math.Abs(fine[i]-want[i])
			if size := 1 + math.Abs(want[i]); a > 3e-3*size || b > a/8+1e-7*size {
				t.Errorf("%s: %s is off by %.3g at 0.5 ms, %.3g at 0.125 ms, want a sixteenth", name, column, a, b)
			}
		}
	}
}

// nearlyFlat is a parallelogram whose coupler is 10 nm too long: no step of 1 ms can follow it through its flat position.
const nearlyFlat = `{version: 1, name: m, duration: 2 s, machine: {gravity: [0, 0, 0], bodies: {
	left: {parent: ground, joint: {kind: revolute, position: 90 deg, velocity: -3 rad/s}, mass: 1 kg, com: [0.5, 0, 0], inertia_z: 0.08 kg·m²},
	coupler: {parent: left, at: [1, 0, 0], joint: {kind: revolute, position: -90 deg, velocity: 3 rad/s}, mass: 1 kg, com: [0.5, 0, 0], inertia_z: 0.08 kg·m²},
	right: {parent: ground, at: [1, 0, 0], joint: {kind: revolute, position: 90 deg, velocity: -3 rad/s}, mass: 1 kg, com: [0.5, 0, 0], inertia_z: 0.08 kg·m²}},
	loops: {pin: {kind: point, a: coupler, at_a: [1.00000001, 0, 0], b: right, at_b: [1, 0, 0]}}}}`

func TestFixedStepsRefusedAndSaid(t *testing.T) {
	const slide = `{version: 1, name: m, duration: 1 s, machine: {gravity: [0, 0, 0], bodies: {m: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], velocity: 1 m/s}, mass: 1 kg}}}`
	for name, c := range map[string]struct {
		text string
		step float64
		code int
		want string
	}{
		"longer than all": {slide + "}", 3, report.Usage, "want 1 to"},
		"odd duration":    {slide + "}", 0.3, report.OK, "the run ends at 0.9 s"},
		"odd rows":        {slide + ", outputs: {every: 25 ms}}", 10e-3, report.OK, "rows stand every 0.03 s"},
		"even":            {slide + ", outputs: {every: 20 ms}}", 10e-3, report.OK, ""},
		"beyond the magnet": {`{version: 1, name: m, duration: 1 s, machine: {gravity: [0, 0, 0], bodies: {m: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], position: 1 mm}, mass: 0.1 kg}},
			magnets: {coil: {joint: m, R: 1 Ω, L_inf: 0.01 H, c: 1e-5 H·m, x0: 0.5 mm, voltage: 12 V}}}}`, 1e-3, report.Quality, "stopped at t"},
		"nearly flat": {nearlyFlat, 1e-3, report.Quality, "a singular position of the loops"},
	} {
		_, _, stderr, err := simulateText(t, c.text, Options{Step: c.step})
		if err != nil {
			stderr += err.Error()
		}
		if report.ExitCode(err) != c.code || !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" {
			t.Errorf("%s: exit %d, %s", name, report.ExitCode(err), stderr)
		}
	}
}

// A phase acts wherever a sine stands: on a joint, as a motion, on a body of a scene, and in its shaking; closed forms.
func TestPhaseOfSinesInFiles(t *testing.T) {
	const w, phase, end = 2 * math.Pi * 0.8, -50 * math.Pi / 180, 1.5
	pushed := func(a float64) float64 { // way of a mass from rest under a·sin(w·t + phase)
		return a / w * (math.Cos(phase)*end - (math.Sin(w*end+phase)-math.Sin(phase))/w)
	}
	last := func(table map[string][]float64, column string) float64 {
		if x := table[column]; len(x) > 0 {
			return x[len(x)-1]
		}
		t.Fatalf("no column %s", column)
		return 0
	}
	table, _, stderr, err := simulateText(t, `{version: 1, name: m, duration: 1.5 s, machine: {gravity: [0, 0, 0], bodies: {
		m: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], effort: {kind: sine, amplitude: 3 N, frequency: 0.8 Hz, phase: -50 deg}}, mass: 2 kg},
		led: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], motion: {kind: sine, amplitude: 0.2 m, frequency: 0.8 Hz, phase: -50 deg}}, mass: 2 kg}}}}`, Options{})
	if err != nil {
		t.Fatal(err, stderr)
	}
	if got, want := last(table, "m.q_m"), pushed(1.5); math.Abs(got-want) > 1e-9 {
		t.Errorf("effort: %.10g m, want %.10g", got, want)
	}
	if got, want := last(table, "led.q_m"), 0.2*math.Sin(w*end+phase); math.Abs(got-want) > 1e-9 ||
		math.Abs(table["led.q_m"][0]-0.2*math.Sin(phase)) > 1e-12 {
		t.Errorf("motion: %.10g m, want %.10g", got, want)
	}
	// the base shakes under a mass that a spring of 1e6 N/m, without friction, holds to it
	table, _, stderr, err = simulateText(t, `{version: 1, name: s, system: scene, duration: 1.5 s, engine: {step: 0.1 ms}, scene: {gravity: [0, 0], bodies: [
		{name: base, shape: box, size: [1 m, 40 mm], position: [0, -1 m], fixed: true, shake: {amplitude: [20 mm, 0], frequency: 0.8 Hz, phase: -50 deg}},
		{name: free, shape: disc, radius: 40 mm, mass: 2 kg, position: [0.5 m, 1 m]}, {name: led, shape: disc, radius: 10 mm, mass: 0.1 kg, position: [0, -2 m], locked: [y, angle]}],
		springs: [{a: base, b: led, at_a: [-1 m, -1 m], at_b: [0, 0], stiffness: 1e5 N/m, damping: 100 N·s/m}],
		forces: [{body: free, amplitude: [3 N, -2 N], frequency: 0.8 Hz, phase: -50 deg}], pairs: [{a: free, b: base, mu: 0.4, eps_n: 0.1}]}}`, Options{})
	if err != nil {
		t.Fatal(err, stderr)
	}
	for column, want := range map[string]float64{"free.x_m": 0.5 + pushed(1.5), "free.y_m": 1 - pushed(1)} {
		if got := last(table, column); math.Abs(got-want) > 1e-3 {
			t.Errorf("force: %s ends at %.6g, want %.6g", column, got, want)
		}
	}
	if got, want := last(table, "led.x_m"), 0.02*(math.Sin(w*end+phase)-math.Sin(phase)); math.Abs(got-want) > 1e-4 {
		t.Errorf("shake: %.6g m, want %.6g", got, want)
	}
}

// Where fixed steps are off the integrator, the report names a step that is short enough: with it nothing is said. A four-bar at 15 rad/s.
func TestStepThatIsNamed(t *testing.T) {
	text := `{version: 1, name: b, duration: 500 ms, machine: {gravity: [0, -9.81, 0], bodies: {
		crank: {joint: {kind: revolute, velocity: 15, position: 1}, mass: 0.5 kg, com: [0.1, 0, 0], inertia_z: 2e-3},
		coupler: {parent: crank, at: [0.2, 0, 0], joint: {kind: revolute, position: -0.5}, mass: 0.5 kg, com: [0.2, 0, 0], inertia_z: 5e-3},
		rocker: {at: [0.5, 0, 0], joint: {kind: revolute, position: 1.5}, mass: 0.5 kg, com: [0.15, 0, 0], inertia_z: 4e-3}},
		loops: {pin: {kind: point, a: coupler, at_a: [0.4, 0, 0], b: rocker, at_b: [0.36, 0, 0]}}}}`
	_, r, stderr, err := simulateText(t, text, Options{Step: 5e-3})
	if err != nil {
		t.Fatal(err, stderr)
	}
	off := r["metrics"].(map[string]any)["difference_to_integrator_max"].(float64)
	_, rest, found := strings.Cut(stderr, "--step ")
	if !found || off < 1e-4 {
		t.Fatalf("off by %g: %s", off, stderr)
	}
	step, _, _ := strings.Cut(rest, " ")
	h, err := report.ParseSeconds(step)
	if err != nil {
		t.Fatal(err)
	}
	if _, r, stderr, err = simulateText(t, text, Options{Step: h}); err != nil {
		t.Fatal(step, err, stderr)
	}
	now := r["metrics"].(map[string]any)["difference_to_integrator_max"].(float64)
	t.Logf("5 ms: %.3g, %s: %.3g", off, step, now)
	if now > 1e-4 || strings.Contains(stderr, "differ") {
		t.Errorf("5 ms off by %.3g, %s by %.3g: %s", off, step, now, stderr)
	}
}
