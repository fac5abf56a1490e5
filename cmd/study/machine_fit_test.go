package study

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rotorFiles are a folder with a rotor of 0.02 kg·m² and 0.05 N·m·s/rad, and two recordings of it: one of its answer to a torque that
// is held between samples, in closed form, and one of a motion of two sines with the torque that it takes.
func rotorFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	const inertia, damping, dt = 0.02, 0.05, 5e-3
	var held, smooth strings.Builder
	held.WriteString("t,T,q\n")
	smooth.WriteString("t,T,q\n")
	q, w := 0.0, 0.0
	for k := range 600 {
		at := float64(k) * dt
		torque := 0.3*math.Sin(3*at) + 0.2*math.Sin(11*at)
		fmt.Fprintf(&held, "%.17g,%.17g,%.17g\n", at, torque, q)
		end, fade := torque/damping, math.Exp(-damping*dt/inertia) // J·dw/dt = T − b·w
		q += end*dt + (w-end)*(1-fade)*inertia/damping
		w = end + (w-end)*fade
		v, a := 3*math.Cos(3*at)+2.2*math.Cos(11*at), -9*math.Sin(3*at)-24.2*math.Sin(11*at)
		fmt.Fprintf(&smooth, "%.17g,%.17g,%.17g\n", at, inertia*a+damping*v, math.Sin(3*at)+0.2*math.Sin(11*at))
	}
	dir := t.TempDir()
	files["held.csv"], files["smooth.csv"] = held.String(), smooth.String()
	files["rotor.yaml"] = `version: 1
name: rotor
machine:
  bodies:
    rotor: {parent: ground, joint: {kind: revolute, axis: [0, 0, 1], armature: 0.01 kg·m², damping: 0.1 N·m·s/rad}}
duration: 1 s
`
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "study.yaml")
}

// A fit of the response of a machine, and one of its torques, as the base of a study: each run gives what went into the recording, whatever
// is varied (the torques that over the armature of the file, 0.01 kg·m², and with a body without mass), and the manifest knows the file
// of the machine.
func TestStudyOfMachineFits(t *testing.T) {
	for name, c := range map[string]struct {
		fit, vary, inertia, damping string
		want                        float64 // kg·m²
	}{
		"response": {`version: 1
name: response
machine: rotor.yaml
data: {file: held.csv, time: {name: t, unit: s}}
inputs: [{path: machine.bodies.rotor.joint.effort, column: {name: T, unit: N·m}}]
outputs: [{name: rotor.q, column: {name: q, unit: rad}}]
parameters:
  - {path: machine.bodies.rotor.joint.armature, name: J, range: [1e-3 kg·m², 1 kg·m²]}
  - {path: machine.bodies.rotor.joint.damping, name: b, range: [1e-3 N·m·s/rad, 1 N·m·s/rad]}
`, `{path: "parameters[0].range", name: where, values: [[1e-3 kg·m², 1 kg·m²], [5e-3 kg·m², 0.1 kg·m²]]}`, "J_kgm2", "b_Nms_rad", 0.02},
		"torques": {`version: 1
name: torques
machine: rotor.yaml
data: {file: smooth.csv, time: {name: t, unit: s}, joints: {rotor: {position: {name: q, unit: rad}, torque: {name: T, unit: N·m}}}}
terms: [inertia, viscous]
`, `{path: filter.cutoff, range: [10 Hz, 20 Hz], levels: 2}`, "rotor.izz_kgm2", "rotor.Fv_Nms_rad", 0.01},
	} {
		file := rotorFiles(t, map[string]string{"fit.yaml": c.fit, "study.yaml": "version: 1\nname: s\nbase: " +
			"fit.yaml\nvary: [" + c.vary + "]\ndesign: {kind: grid}\n"})
		table, sum := results(t, file)
		if len(table["run"]) != 2 || len(table[c.inertia]) != 2 {
			t.Fatalf("%s: %v", name, table)
		}
		for i := range 2 {
			if j, b := numberOf(t, table[c.inertia][i]), numberOf(t, table[c.damping][i]); math.Abs(j/c.want-1) > 1e-3 ||
				math.Abs(b/0.05-1) > 1e-2 || table[fitVerdict][i] == "rejected" {
				t.Errorf("%s, run %d: %g kg·m², %g N·m·s/rad, %s %s", name, i, j, b, table[fitVerdict][i], table[fitReason])
			}
		}
		if name == "response" && (table["where"][1] != "[5e-3 kg·m², 0.1 kg·m²]" || sum.Fits.SameOptimum != 2) {
			t.Errorf("%s: %q, %+v", name, table["where"], sum.Fits)
		}
		s, _, err := load(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.manifest(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Inputs); !strings.Contains(got, "rotor.yaml") || !strings.Contains(got, ".csv") {
			t.Errorf("%s: inputs %s", name, got)
		}
	}
}
