package configs

import (
	"math"
	"testing"
)

// The equilibrium counts what shafts and stops do where it is, not where the file begins: an arm on a torsion spring, 12·q = 9.81·0.3·cos q
// (SciPy: brentq), and a mass that sinks into its floor by its weight over the stiffness.
func TestEquilibriumOfShaftAndStop(t *testing.T) {
	c, _, err := MachineBytes("file.yaml", []byte(`
version: 1
machine:
  bodies:
    arm: {parent: ground, joint: {kind: revolute, axis: [0, 1, 0], position: 0.2 rad}, mass: 1 kg, com: [0.3 m, 0, 0], inertia: [0.01, 0.01, 0.01]}
    slide: {parent: ground, joint: {kind: prismatic, axis: [0, 0, 1], position: 10 mm}, mass: 2 kg}
  shafts: {twist: {a: arm, b: ground, stiffness: 12 N·m/rad}}
  stops: {floor: {a: slide, b: ground, travel: [0 m, 1 m], stiffness: 1e4 N/m}}
start: {equilibrium: true}
duration: 1 s
`))
	if err != nil {
		t.Fatal(err)
	}
	_, x, _, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.238318336647246, -2 * 9.81 / 1e4} {
		if math.Abs(x[i]-want) > 1e-9 {
			t.Errorf("joint %d settles at %.12g, want %.12g", i, x[i], want)
		}
	}
}

// Friction holds an arm of 0.981 N·m where the file has it if its level is 1.1 N·m; with 0.5 N·m it hangs down.
func TestEquilibriumWithFriction(t *testing.T) {
	for fc, want := range map[string]float64{"1.1": 0, "0.5": math.Pi / 2} {
		c, _, err := MachineBytes("file.yaml", []byte(`
version: 1
machine:
  bodies:
    arm: {parent: ground, joint: {kind: revolute, axis: [0, 1, 0], friction: {law: coulomb, Fc: `+fc+`}}, mass: 1 kg, com: [0.1 m, 0, 0], inertia: [0.01, 0.01, 0.01]}
start: {equilibrium: true}
duration: 1 s
`))
		if err != nil {
			t.Fatal(err)
		}
		_, x, done, err := c.Begin()
		if err != nil || math.Abs(x[0]-want) > 1e-9 || done.Unstable {
			t.Errorf("%s N·m: %.12g rad, want %.12g; unstable %v, %v", fc, x[0], want, done.Unstable, err)
		}
	}
}
