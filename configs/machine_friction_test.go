package configs

import (
	"context"
	"math"
	"strings"
	"testing"

	"hilrig/engine/machine"
)

// A coil of 3 Ω draws an anchor of 0.1 kg on a spring of 2 kN/m from 4 mm, under 4 V. The numbers are those of scipy's DOP853 to 1e-11.
func TestElectromagnetFile(t *testing.T) {
	c, _, err := MachineBytes("m.yaml", []byte(`{version: 1, name: m, duration: 50 ms, machine: {gravity: [0, 0, 0], bodies: {
  anchor: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], position: 4 mm, stiffness: 2000 N/m, rest: 4 mm, damping: 1.5 N·s/m}, mass: 0.1}}, magnets: {
  coil: {joint: anchor, R: 3 ohm, L_inf: 5 mH, c: 4e-5, x0: 1 mm, voltage: 4 V}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	m, x, _, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(context.Background(), x, 0, c.Duration, machine.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.00227044, 0.01616788, 1.34527157} {
		if math.Abs(x[i]-want) > 1e-8 {
			t.Errorf("state %d: %.9g, want %.9g", i, x[i], want)
		}
	}
}

// What does not fit a joint's friction, or a motor, is said with its key.
func TestMachineFrictionRefused(t *testing.T) {
	file := func(joint, loop, motor string) string {
		return `{version: 1, name: m, duration: 1 s, machine: {bodies: {a: {parent: ground, joint: {kind: revolute` + joint + `}, mass: 1, com: [0.5, 0, 0], inertia_z: 0.1}},
  loops: {l: {kind: distance, a: ground, at_a: [1, 0.5, 0], b: a, at_b: [1, 0, 0], length: 0.5` + loop + `}}, motors: {m: {joint: a, R: 1, K: 0.1, voltage: 1` + motor + `}}}}`
	}
	if _, _, err := MachineBytes("m.yaml", []byte(file(", friction: {law: coulomb, mu: 0.1}, friction_radius: 5 mm", "", ""))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ joint, loop, motor, want string }{
		{", friction: {law: coulomb, mu: 0.1}", "", "", "a.joint.friction_radius is missing"},
		{", friction: {law: coulomb, Fc: 0.1}, friction_radius: 5 mm", "", "", "give friction_load"},
		{", friction: {law: coulomb, mu: 0.1}, friction_load: 3 N", "", "", "leave friction_load out"},
		{", friction_load: 3 N", "", "", "friction, which is missing"},
		{", friction: {law: coulomb, mu: 0.1}, friction_radius: 5 rad", "", "", "want m (length)"},
		{"", ", friction: {law: coulomb, Fc: 0.1}", "", "l.friction: belongs to a loop of kind revolute"},
		{"", "", ", psi: 0.1", "m.psi: has no effect on a motor of kind dc"},
	} {
		if _, _, err := MachineBytes("m.yaml", []byte(file(c.joint, c.loop, c.motor))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	c, _, err := MachineBytes("m.yaml", []byte(strings.Replace(file("", "", ""), "name: m", "name: m, constraints: glg", 1)))
	if err == nil || !strings.Contains(err.Error(), `did you mean "ggl"?`) {
		t.Errorf("%v: %v", c, err)
	}
}
