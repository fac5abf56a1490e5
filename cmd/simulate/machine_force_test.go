package simulate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

func planeMachine(gravity, rest string) string {
	return "{version: 1, name: m, duration: 1 s, machine: {gravity: " + gravity + ", " + rest + "}}"
}

// Forces and moments on bodies and frames do what closed forms and equal machines say, by the integrator and in fixed steps.
func TestForcesOnBodies(t *testing.T) {
	const arm = "bodies: {arm: {parent: ground, joint: {kind: revolute}, mass: 2 kg, com: [0.4, 0, 0], inertia_z: 0.05}}"
	const inertia = 0.05 + 2*0.4*0.4
	slide := func(forces string) string {
		return planeMachine("[0, 0, 0]", "bodies: {s: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], velocity: 0.5 m/s, friction: "+
			"{law: coulomb, mu: 0.3}}, mass: 2 kg}}, forces: {"+forces+"}")
	}
	for name, c := range map[string]struct {
		text, column string
		want         float64
		of           string // "": a number; or the machine whose column it is
	}{
		"along the body": {planeMachine("[0, 0, 0]", arm+", forces: {p: {on: arm, at: [0.7, 0, 0], along: [0, 2, 0], axes: body, "+
			"force: 3 N}}"), "arm.q_rad", 3 * 0.7 / inertia / 2, ""},
		"on a turned frame": {planeMachine("[0, 0, 0]", arm+", frames: {tip: {body: arm, at: [0.7, 0, 0], turn: [0, 0, 90 deg]}}, forces: "+
			"{p: {on: tip, along: [-1, 0, 0], axes: body, force: 3 N}}"), "arm.q_rad", -3 * 0.7 / inertia / 2, ""},
		"a point of a frame": {planeMachine("[0, 0, 0]", arm+", frames: {tip: {body: arm, at: [0.5, 0, 0]}}, forces: {p: {on: tip, at: [0.2, "+
			"0, 0], along: [0, 1, 0], axes: body, force: -3 N}}"), "arm.q_rad", -3 * 0.7 / inertia / 2, ""},
		"a moment": {planeMachine("[0, 0, 0]", arm+", forces: {p: {on: arm, at: [9, 0, 0], along: [0, 0, -1], torque: 0.5 N·m}}"),
			"arm.q_rad", -0.5 / inertia / 2, ""},
		"a sine": {planeMachine("[0, 0, 0]", arm+", forces: {p: {on: arm, at: [0.7, 0, 0], along: [0, 1, 0], axes: body, force: "+
			"{kind: sine, amplitude: 3 N, frequency: 1 Hz, phase: 90 deg}}}"), "arm.v_rad_s", 0, ""},
		"as gravity acts": {planeMachine("[0, 0, 0]", arm+", forces: {p: {on: arm, at: [0.4, 0, 0], along: [0, -1, 0], force: 19.62 N}}"),
			"arm.q_rad", 0, planeMachine("[0, -9.81, 0]", arm)},
		"a free body": {planeMachine("[0, 0, 0]", "bodies: {b: {parent: ground, joint: {kind: free}, mass: 2 kg, inertia: [0.1, 0.1, "+
			"0.1]}}, forces: {p: {on: b, along: [0, 0, 1], force: 3 N}}"), "b.z_m", 0.75, ""},
		"pressed on a slide": {slide("p: {on: s, along: [0, 0, -1], force: 4 N}, q: {on: s, along: [1, 0, 0], force: 2 N}"), "s.v_m_s",
			0.5 + (2-0.3*4)/2, ""},
		"pressed on the loop": {planeMachine("[0, 0, 0]", fourBar+", forces: {p: {on: coupler, at: [0.15, 0, 0], along: [0, -1, 0], force: "+
			"14.715 N}}"), "crank.q_rad", 0, planeMachine("[0, -9.81, 0]", strings.NewReplacer("mass: 0 kg", "mass: 1.5 kg").Replace(fourBar))},
	} {
		if strings.Contains(c.text, "coupler") { // the same inertia, and gravity on the coupler alone
			c.text = strings.NewReplacer("mass: 0 kg", "mass: 1.5 kg").Replace(c.text)
		}
		run := func(text string, f Options) (float64, map[string]any) {
			table, r, stderr, err := simulateText(t, text, f)
			if err != nil || len(table[c.column]) == 0 {
				t.Fatal(name, err, stderr, len(table[c.column]))
			}
			return table[c.column][len(table[c.column])-1], r["metrics"].(map[string]any)
		}
		want := c.want
		if c.of != "" {
			want, _ = run(c.of, Options{})
		}
		got, m := run(c.text, Options{})
		if math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%s: %s ends at %.10g, want %.10g", name, c.column, got, want)
		}
		if e := m["energy_error_relative"].(float64); math.Abs(e) > 1e-6 {
			t.Errorf("%s: energies miss %.3g", name, e)
		}
		var off, missed [2]float64
		for i, step := range []float64{4e-3, 1e-3} {
			x, m := run(c.text, Options{Step: step})
			off[i], missed[i] = math.Abs(x-got), math.Abs(m["energy_error_relative"].(float64))
		}
		if off[1] > 1e-4 || off[1] > off[0]/8+1e-9 || missed[1] > 1e-4 || missed[1] > missed[0]/8+1e-9 {
			t.Errorf("%s: off by %.3g at 4 ms and %.3g at 1 ms, energies miss %.3g and %.3g", name, off[0], off[1], missed[0], missed[1])
		}
	}
}

// fourBar is a linkage whose coupler alone has a mass; its other bars have rotors.
const fourBar = `bodies: {crank: {parent: ground, joint: {kind: revolute, position: 1.2 rad, armature: 0.05 kg·m²}},
	coupler: {parent: crank, at: [0.2, 0, 0], joint: {kind: revolute, position: -1 rad}, mass: 0 kg, com: [0.15, 0, 0], inertia_z: 0.02},
	rocker: {parent: ground, at: [0.4, 0, 0], joint: {kind: revolute, position: 1.4 rad, armature: 0.05 kg·m²}}},
	loops: {pin: {kind: point, a: coupler, at_a: [0.35, 0, 0], b: rocker, at_b: [0.3, 0, 0]}}`

// A force on the tip of an elastic beam bends it by F·l³/(3·E·I), in equilibrium.
func TestForceOnAnElasticTip(t *testing.T) {
	text := `{version: 1, name: m, duration: 10 ms, start: {equilibrium: true}, machine: {gravity: [0, 0, 0], bodies: {beam: {parent: ground, joint: {kind: fixed},
		flexible: {length: 0.5 m, second_moment: 106.6666666666667 mm⁴, area: 80 mm², young: 210 GPa, density: 7800 kg/m³, bends: z, elements: 12, modes: 12}}}, forces: {p: {on: beam.tip, along: [0, 0, 1], force: %g N}}}}`
	for _, force := range []float64{1, -2} {
		table, _, stderr, err := simulateText(t, fmt.Sprintf(text, force), Options{})
		if err != nil {
			t.Fatal(err, stderr)
		}
		sum := 0.0
		for name, x := range table {
			if strings.Contains(name, "mode") && strings.HasSuffix(name, ".q_m") {
				sum += x[len(x)-1]
			}
		}
		if want := force * 0.125 / (3 * 210e9 * 0.02 * math.Pow(0.004, 3) / 12); math.Abs(sum-want) > 0.02*math.Abs(want) {
			t.Errorf("%g N: the tip is at %.6g m, want %.6g", force, sum, want)
		}
	}
}

func TestForcesRefused(t *testing.T) {
	for force, want := range map[string]string{
		"{on: arn, along: [1, 0, 0], force: 1 N}":             `no body or frame "arn"`,
		"{on: ground, along: [1, 0, 0], force: 1 N}":          "has no effect",
		"{along: [1, 0, 0], force: 1 N}":                      "on is missing",
		"{on: arm, force: 1 N}":                               "along is missing",
		"{on: arm, along: [1, 0, 0]}":                         "force and torque are missing",
		"{on: arm, along: [1, 0, 0], force: 1 N·m}":           "N·m",
		"{on: arm, along: [1, 0, 0], force: 1 N, axes: moon}": "world",
	} {
		_, _, stderr, err := simulateText(t, planeMachine("[0, 0, 0]", "bodies: {arm: {parent: ground, joint: {kind: revolute}, mass: 2 kg, "+
			"com: [0.4, 0, 0]}}, forces: {p: "+force+"}"), Options{})
		if report.ExitCode(err) != report.Invalid || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v %s, want %q", force, err, stderr, want)
		}
	}
}
