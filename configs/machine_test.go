package configs

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docs/reference/machine.md has its tables from the tags, behind what people wrote.
func TestMachineDocs(t *testing.T) {
	const keys = "\n# Keys\n\nMade from the source: `make docs`. Numbers have units as in [config.md](config.md). " +
		"Where two units are given, the first is that of a joint that turns.\n"
	page, err := os.ReadFile("../docs/reference/machine.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, ok := strings.Cut(string(page), keys)
	if !ok {
		t.Fatalf("docs/reference/machine.md has no section\n%s", keys)
	}
	current(t, "machine.md", text+keys+Tables(DefaultMachineRun()))
}

func TestMachineExamplesLoad(t *testing.T) {
	files, err := filepath.Glob("machine/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if KindOf(f) != MachineFile {
			t.Errorf("%s is a file of kind %d", f, KindOf(f))
		}
		c, warnings, err := LoadMachine(f)
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v %v", f, warnings, err)
			continue
		}
		if _, err := c.Assembled(); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// What is wrong is named with its key; limits are looked at from both sides.
func TestBadMachines(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"crank-rocker", "parent: crank", "parent: crnk", `machine.bodies.coupler.parent: unknown body "crnk" (did you mean "crank"?)`},
		{"crank-rocker", "crank:\n      parent: ground", "crank:\n      parent: coupler",
			"machine.bodies.crank.parent: bodies hang on each other in a circle (crank on coupler on crank)"},
		{"top", "[0.2e-3, 0.2e-3, 0.4e-3]", "[0.2e-3, 0.2e-3, 0.41e-3]", "machine.bodies.top.inertia: impossible inertia"},
		{"top", "[0.2e-3, 0.2e-3, 0.4e-3]", "[0.2e-3, 0.2e-3, 0.39e-3]", ""},
		{"top", "kind: spherical", "kind: sperical", `"spherical"`},
		{"top", "kind: spherical", "kind: spherical, axis: [1, 0, 0]", "machine.bodies.top.joint.axis: belongs to revolute and prismatic joints"},
		{"top", "kind: spherical", "kind: revolute", "machine.bodies.top.start: belongs to spherical and free joints"},
		{"top", "turn: [0, 0.5 rad, 0]", "at: [1, 0, 0]", "at and speed belong to a free joint"},
		{"top", "mass: 0.5 kg", "mass: -0.5 kg", "machine.bodies.top.mass"},
		{"top", "kind: spherical", "", "machine.bodies.top.joint.kind is missing"},
		{"crank-rocker", "axis: [0, 0, 1], position: 0.5 rad, damping: 0.002 N·m·s/rad", "position: 0.5 m",
			"machine.bodies.crank.joint.position: 0.5 m is in m"},
		{"slider-crank", "position: 0.39 m", "position: 0.39 rad", "machine.bodies.piston.joint.position: 0.39 rad is in rad"},
		{"slider-crank", "kind: revolute, motion:", "kind: revolute, velocity: 19 rad/s, motion:", "the prescribed motion starts with 20"},
		{"slider-crank", "kind: revolute, motion:", "kind: revolute, velocity: 20 rad/s, motion:", ""},
		{"slider-crank", "kind: revolute, motion:", "kind: revolute, effort: 1 N·m, motion:", "machine.bodies.crank.joint.effort"},
		{"crank-rocker", "b: rocker", "b: roker", `machine.loops.pin.b: there is no body or frame "roker" (did you mean "rocker"?)`},
		{"crank-rocker", "b: rocker", "b: crank, length: 3 m", "machine.loops.pin.length"},
		{"crank-rocker", "pin: {kind: point", "pin: {kind: distance", "machine.loops.pin: length 0 m"},
		{"crank-rocker", "b: rocker, at_b: [300 mm, 0, 0]", "b: coupler", "machine.loops.pin: frames"},
		{"crank-rocker", "joint: crank, R", "joint: crnk, R", "machine.motors.motor.joint"},
		{"crank-rocker", ", voltage: 12 V", "", "machine.motors.motor.voltage is missing"},
		{"crank-rocker", "voltage: 12 V", "voltage: 12 V, nodes: [a, ground]", "machine.motors.motor.nodes"},
		{"crank-rocker", "voltage: 12 V", "nodes: [a, ground]", ""},
		{"crank-rocker", "voltage: 12 V", "voltage: 12 V, gear: 0", "machine.motors.motor.gear"},
		{"crank-rocker", "hold: [crank]", "hold: [crnk]", "start.hold[0]"},
		{"crank-rocker", "every: 2 ms", "every: 2 ms, frames: [top]", "outputs.frames[0]"},
		{"crank-rocker", "every: 2 ms", "every: 0.1 µs", "outputs.every"},
		{"squeezer", "a: K3, at_a", "a: K8, at_a", "machine.springs.spring.a: there is no body"},
		{"squeezer", "b: ground, at_b: [0.014", "b: K3, at_b: [0.014", "machine.springs.spring: frames"},
		{"squeezer", "4530 N/m", "4530 N·m/rad", "machine.springs.spring.stiffness"},
		{"squeezer", "4530 N/m", "-1 N/m", "machine.springs.spring.stiffness"},
		{"motor-gear-load", "friction_speed: 0.01 rad/s", "", ""},
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}\n        friction_speed: 0.01 rad/s",
			"friction: {law: frictional-memory, Fc: 0.5, Fs: 0.6, vs: 0.1, Fv: 0.1, tauL: 0.01}", "frictional-memory has a memory"},
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}", "friction: {law: coulomb, Fc: 0.5, backward: {Fc: 0.4}}",
			"no backward, no offset"},
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}\n        friction_speed: 0.01 rad/s",
			"friction: {law: coulomb, Fc: 0.5, backward: {Fc: 0.4}}", ""},
		{"motor-gear-load", "law: coulomb, Fc: 0.5 N·m", "law: dahl, sigma0: 100, Fc: 0.5 N·m, exponent: 1", ""},
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}", "", "friction_speed: of friction, which is missing"},
		{"motor-gear-load", "a: rotor", "a: rotr", "machine.shafts.shaft.a"},
		{"motor-gear-load", "a: rotor", "a: load", "machine.shafts.shaft: the shafts A and B"},
		{"motor-gear-load", "ratio: 10", "ratio: 10, efficiency: 0.9", "machine.shafts.shaft.efficiency_speed is missing"},
		{"motor-gear-load", "armature: 1e-4 kg·m², ", "", "machine.bodies.rotor: mass 0 kg"},
		{"motor-gear-load", "shafts:", "circuit:\n    supply: {kind: resistor, from: a, to: b, R: 1 ohm}\n  shafts:",
			"machine: nodes without a way to ground: nodes a, b"},
		{"motor-gear-load", "shafts:", "circuit:\n    supply: {kind: voltage-source, from: a, to: ground}\n  shafts:",
			"machine.circuit.supply.voltage is missing"},
		{"motor-gear-load", "version: 1", "version: 2", "reads version 1"},
		{"motor-gear-load", "tolerance: 1e-11", "tolerance: 1e-14", "tolerance"},
		{"motor-gear-load", "rotor:\n      parent", "ro.tor:\n      parent", "the name holds"},
	} {
		text, err := os.ReadFile("machine/" + c.file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		bad := strings.Replace(string(text), c.old, c.new, 1)
		if bad == string(text) {
			t.Fatalf("%q is not in %s", c.old, c.file)
		}
		_, _, err = MachineBytes("m.yaml", []byte(bad))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

// In equilibrium the weight hangs on its spring, k·x = m·g, and a motor that stands still carries it with k·n·U/R.
func TestMachineEquilibrium(t *testing.T) {
	for _, c := range []struct {
		more string
		want float64
	}{{"", -2 * 9.81 / 500}, {"motors:\n    motor: {joint: mass, R: 2 ohm, L: 1 mH, K: 0.1, gear: 50, start_current: 3 A, voltage: 6 V}",
		(0.1*50*3 - 2*9.81) / 500}} {
		m, _, err := MachineBytes("m.yaml", []byte("version: 1\nname: m\nduration: 1\nstart: {equilibrium: true}\nmachine:\n  bodies:\n "+
			"   mass: {parent: ground, joint: {kind: prismatic, stiffness: 500 N/m}, mass: 2}\n  "+c.more+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, x, _, err := m.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x[0]-c.want) > 1e-12 {
			t.Errorf("at %.12g m, want %.12g m", x[0], c.want)
		}
	}
}

// A start that misses its loops is closed, or refused with how far it is off.
func TestMachineStart(t *testing.T) {
	text, err := os.ReadFile("machine/crank-rocker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ position, start, want string }{
		{"0.27711649", "hold: [crank], limit: 1e-6", ""},
		{"0.27711649", "hold: [crank], limit: 1e-9", "without moving joint"},
		{"0.27711649", "hold: [crank], refuse: true", ""},
		{"0.27712649", "hold: [crank], refuse: true", "without moving joint"},
		{"0.4", "hold: [crank]", ""},
		{"0.4", "hold: [crank, coupler, rocker]", "cannot be met"},
	} {
		s := strings.NewReplacer("0.27711649", c.position, "hold: [crank], limit: 1e-6", c.start).Replace(string(text))
		m, _, err := MachineBytes("m.yaml", []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		said, err := m.Assembled()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v, want %q", c.start, said, err, c.want)
		}
	}
}

// A prescribed motion that jumps is refused: no torque makes one. A square wave that would jump after the end is not.
func TestMotionThatJumps(t *testing.T) {
	for motion, want := range map[string]string{
		"{kind: levels, levels: [{value: 0, hold: 500 ms}, {value: 0.3, hold: 1 s}]}":              "position jumps from 0 to 0.3 at t = 0.5 s",
		"{kind: levels, rise: 50 ms, levels: [{value: 0, hold: 500 ms}, {value: 0.3, hold: 1 s}]}": "speed jumps from 0 to 6 at t = 0.5 s",
		"{kind: step, amplitude: 0.2, frequency: 1 Hz}":                                            "position jumps from 0.2 to 0 at t = 0.5 s",
		"{kind: step, amplitude: 0.2, frequency: 0.4 Hz}":                                          "",
		"{kind: ramp, velocity: 1}":                                                                "",
	} {
		_, _, err := MachineBytes("file.yaml", []byte(`
version: 1
machine:
  bodies:
    arm: {parent: ground, joint: {kind: revolute, motion: `+motion+`}, mass: 1 kg, com: [0.3 m, 0, 0], inertia: [0.01, 0.01, 0.01]}
duration: 1 s
`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", motion, err, want)
		}
	}
}
