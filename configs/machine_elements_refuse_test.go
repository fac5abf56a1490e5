package configs

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/engine/machine"
)

const elementsHead = "version: 1\nname: m\nduration: 100 ms\nmachine:\n  gravity: [0, 0, 0]\n  bodies:\n" +
	"    rot: {parent: ground, joint: {kind: revolute, armature: 1e-3}}\n" +
	"    led: {parent: ground, joint: {kind: revolute, armature: 1e-3, motion: 1}}\n" +
	"    slide: {parent: ground, mass: 0.1, joint: {kind: prismatic, position: 3 mm}}\n" +
	"    ball: {parent: ground, mass: 1, inertia: [1, 1, 1], joint: {kind: spherical}}\n"

const dcMotor = "  motors:\n    motor: {joint: rot, R: 1, L: 1 mH, K: 0.1"

// What does not fit is refused with its place and a way on.
func TestMachineElementsRefuse(t *testing.T) {
	magnet := func(keys string) string { return "  magnets:\n    coil: {R: 10, voltage: 24 V, " + keys + "}\n" }
	controller := func(keys string) string { return "  controllers:\n    a: {" + keys + "}\n" }
	for _, c := range []struct{ text, want string }{
		{magnet("joint: ball, c: 2e-5, x0: 0.4 mm"), "machine.magnets.coil.joint: the joint ball is spherical"},
		{magnet("joint: slid, c: 2e-5, x0: 0.4 mm"), `no revolute or prismatic joint "slid" (did you mean "slide"?)`},
		{magnet("joint: rot, c: 2e-5 H·m, x0: 1"), "machine.magnets.coil.c: in H·m, and this joint wants H·rad"},
		{magnet("joint: slide, c: 2e-5, x0: 0.4 mm, closed: 1 rad"), "machine.magnets.coil.closed: in rad"},
		{magnet("joint: slide, c: 2e-5"), "machine.magnets.coil.x0 is missing"},
		{magnet("joint: slide, c: 2e-5, x0: 0.4 mm, closed: 10 mm"), "the gap is -0.007 m at the start, below −x0/2"},
		{magnet("joint: slide, c: 2e-5, x0: 0.4 mm, nodes: [a, b]"), "machine.magnets.coil.nodes: voltage says it already"},
		{"start: {equilibrium: true}\n" + magnet("joint: slide, c: 2e-5, x0: 0.4 mm, start_current: 1 A"),
			"the force of the magnet coil depends on where the joint is"},
		{dcMotor + "}\n", "or a controller that acts_on it"},
		{dcMotor + "}\n" + controller("feedback: rot.speed, acts_on: motor.voltage, reference: 5, kp: 1") + "    b: {feedback: rot.position, " +
			"acts_on: motor.voltage, reference: 5, kp: 1}\n", "machine.controllers.b: sets motor.voltage, which the controller a sets already"},
		{dcMotor + ", voltage: 3}\n" + controller("feedback: rot.speed, acts_on: motor.voltage, reference: 5, kp: 1"),
			"machine.controllers.a.acts_on: machine.motors.motor has a voltage"},
		{strings.Replace(dcMotor, "L: 1 mH, ", "", 1) + "}\n" + controller("feedback: motor.current, acts_on: motor.voltage, reference: "+
			"5, kp: 1"), "is an algebraic loop; give machine.motors.motor.L"},
		{dcMotor + "}\n" + controller("feedback: rot.speed, acts_on: motor.voltage, reference: 5, kp: 1 V/A"), "machine.controllers.a.kp: 1 V/A"},
		{dcMotor + "}\n" + controller("feedback: rot.speed, acts_on: motor.voltage, reference: 5 m/s, kp: 1"),
			"machine.controllers.a.reference: in m/s, and the feedback rot.speed is in rad/s"},
		{controller("feedback: slide.position, acts_on: slide.effort, reference: 5 mm, kp: 1 N·m/rad"),
			"machine.controllers.a.kp: in N·m/rad, and this joint wants N/m"},
		{controller("feedback: led.speed, acts_on: led.effort, reference: 5, kp: 1"), "the motion of the joint led is prescribed"},
		{controller("feedback: ball.speed, acts_on: rot.effort, reference: 5, kp: 1"), "the joint ball is spherical"},
		{controller("feedback: rot.velocity, acts_on: rot.effort, reference: 5, kp: 1"), `"rot.velocity"; want JOINT.position`},
		{controller("feedback: rot.speed, acts_on: rot.effort, reference: 5"), "machine.controllers.a.kp is missing"},
		{controller("feedback: rot.speed, acts_on: rot.effort, kp: 1"), "machine.controllers.a.reference is missing"},
		{controller("feedback: rot.speed, acts_on: rot.effort, reference: 1, kp: 1, kd: 1"),
			"machine.controllers.a.kd: acts on the rate of the error"},
		{controller("feedback: rot.speed, acts_on: b.reference, kp: 1") + "    b: {feedback: rot.speed, acts_on: a.reference, kp: 1}\n",
			"in a ring"},
		{controller("feedback: rot.speed, acts_on: a.reference, kp: 1"), "does not set its own reference"},
		{dcMotor + ", voltage: 2}\n" + controller("kind: field-oriented, motor: motor, iq: 1, kp: 1"), "want one of kind synchronous"},
		{"start: {equilibrium: true}\n" + controller("feedback: rot.speed, acts_on: rot.effort, reference: 5, kp: 1"),
			"start.equilibrium: what the controller a sets depends"},
		{dcMotor + ", voltage: 2}\n  rows:\n    r: {of: {rot: 1}, current: {mtor: 2}}\n",
			`machine.rows.r.current.mtor: there is no motor, magnet or inductor "mtor"`},
		{dcMotor + ", voltage: 2}\n  rows:\n    r: {of: {ball: 1}, current: {motor: 2}}\n",
			"machine.rows.r.of.ball: the joint ball is spherical"},
		{dcMotor + ", voltage: 2}\n  rows:\n    r: {of: {slide: 1}, current: {motor: 2}, offset: 1 rad/s}\n", "machine.rows.r.offset: in rad/s"},
		{"constraints: ggl\n" + dcMotor + ", voltage: 2}\n  rows:\n    r: {of: {slide: 1}, current: {motor: 2}}\n",
			"constraints: ggl does not know rows"},
		{dcMotor + ", nodes: [a, ground]}\n  circuit:\n    s: {kind: voltage-source, from: a, to: ground, pwm: {frequency: 1 kHz, high: 10, " +
			"duty: 1.5}}\n", "machine.circuit.s.pwm.duty: 1.5, want 0 to 1"},
		{oneElement("capacitor, C: 1 mF, R: 5"), "machine.circuit.x.R: belongs to resistor, inductor, voltage-source; this is of kind capacitor"},
		{oneElement("resistor, R: 5, C: 1 mF"), "machine.circuit.x.C: belongs to capacitor"},
		{oneElement("resistor, R: 5, voltage: 3"), "machine.circuit.x.voltage: belongs to voltage-source"},
		{oneElement("switch, on: 1, off: 1e5, closed: 1, knee: 0.7"), "machine.circuit.x.knee: belongs to diode"},
		{oneElement("current-source, current: 1, R: 5"), "machine.circuit.x.R: belongs to"},
		{oneElement("resistor, R: 5, pwm: {frequency: 1 kHz, high: 10, duty: 0.5}"), "machine.circuit.x.pwm: belongs to voltage-source, switch"},
		{oneElement("diode, off: 1e5"), "machine.circuit.x.on is missing"},
		{oneElement("resistor"), "machine.circuit.x.R is missing"},
		{"  stops:\n    x: {a: rot, ratio: 0, travel: [-1 rad, 1 rad], stiffness: 100}\n",
			"machine.stops.x.ratio: 0, want a number other than 0"},
		{"  shafts:\n    x: {a: rot, b: ground, ratio: 0, stiffness: 100}\n", "machine.shafts.x.ratio: 0"},
		{dcMotor + ", voltage: 2, cogging: [{amplitude: 1, order: 2}]}\n", "machine.motors.motor.cogging: has no effect on a motor of kind dc"},
		{"  motors:\n    m: {kind: three-phase, joint: rot, R: 1, Ld: 1 mH, Lq: 1 mH, psi: 0.1, pole_pairs: 2, L0: 1 mH, nodes: [a, b]}\n",
			"machine.motors.m.nodes: 2, want three"},
		{"  motors:\n    m: {kind: synchronous, joint: rot, R: 1, Ld: 2 mH, Lq: 1 mH, pole_pairs: 2, uq: 1}\n",
			"machine.motors.m.psi is missing"},
		{"  motors:\n    m: {kind: synchronous, joint: rot, R: 1, Ld: 1 mH, Lq: 1 mH, psi: 0, pole_pairs: 2, uq: 1}\n",
			"this motor has no torque"},
		{dcMotor + ", voltage: 2, brush_drop: 1 V}\n", "machine.motors.motor.drop_current is missing"},
		{dcMotor + ", voltage: 2, drop_current: 1 A}\n", "machine.motors.motor.drop_current: has no effect without brush_drop"},
	} {
		head := elementsHead
		if key, rest, ok := strings.Cut(c.text, "\n"); ok && !strings.HasPrefix(key, " ") {
			head, c.text = strings.Replace(head, "machine:", key+"\nmachine:", 1), rest
		}
		_, _, err := MachineBytes("m.yaml", []byte(head+c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot %v\nwant %q", c.text, err, c.want)
		}
	}
}

// oneElement is a motor with an element beside it.
func oneElement(keys string) string {
	return dcMotor + ", nodes: [a, ground]}\n  circuit:\n    s: {kind: voltage-source, from: a, to: ground, voltage: 5, R: 0.1}\n    x: " +
		"{kind: " + keys + ", from: a, to: ground}\n"
}

// What several keys lack is said each time in the same order, and of each of them.
func TestMachineMissingKeysInOrder(t *testing.T) {
	for _, c := range [][]string{
		{dcMotor + ", nodes: [a, ground]}\n  circuit:\n    s: {on: 1}\n", "circuit.s.from is", "circuit.s.kind is", "circuit.s.to is"},
		{dcMotor + ", nodes: [a, ground]}\n  circuit:\n    s: {kind: transformer, windings: {p: {L: 1 mH}, s: {from: a, to: ground, L: 1 mH}}}\n",
			"windings.p.from is", "windings.p.to is"},
	} {
		for range 20 {
			_, _, err := MachineBytes("m.yaml", []byte(elementsHead+c[0]))
			rest := fmt.Sprint(err)
			for _, want := range c[1:] {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%v\nwant %q in order", err, c[1:])
				}
				rest = after
			}
		}
	}
}

// A magnet without a seat ends the run where its formula does, in both directions of its joint the same, by both integrators.
func TestMachineMagnetBeyond(t *testing.T) {
	ends := map[bool]float64{}
	for _, reverse := range []bool{false, true} {
		keys := "closed: 0"
		if reverse {
			keys = "closed: 6 mm, reverse: true" // from 3 mm on too
		}
		c, warnings, err := MachineBytes("m.yaml", []byte(elementsHead+"  magnets:\n    coil: {R: 10, voltage: 24 V, joint: slide, c: 2e-5, "+
			"x0: 0.4 mm, L_inf: 30 mH, "+keys+"}\n"))
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Msg, "no stop holds the gap open") {
			t.Fatal(warnings, err)
		}
		m, x, _, err := c.Begin()
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(context.Background(), x, 0, c.Duration, machine.Options{}, nil)
		stop, ok := err.(*machine.Failure)
		if !ok || !strings.Contains(stop.Problem, "magnet coil: the gap x = -0.000200") {
			t.Fatal(err)
		}
		ends[reverse] = x[2]
		s, x, err := c.Stepper(machine.StepOptions{})
		if err != nil {
			t.Fatal(err)
		}
		at := 0.0
		for at < stop.T+1e-3 && s.Step(at, 1e-4, x) == 0 {
			at += 1e-4
		}
		if math.Abs(at-stop.T) > 2e-4 || !strings.Contains(s.StatusText(), "magnet coil") {
			t.Errorf("the fixed steps end at %g s with %q, want %g s", at, s.StatusText(), stop.T)
		}
	}
	if math.Abs(ends[false]+ends[true]-6e-3) > 1e-6 {
		t.Errorf("the magnets end at %g m and %g m, want one as far as the other", ends[false], ends[true])
	}
}

// A joint that an axis drives takes its motors away, and the controllers that lead to them, inner and outer.
func TestMachineDrivenWithoutControllers(t *testing.T) {
	c, _, err := LoadMachine("machine/servo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run := c.withDrivenJoints([]string{"crank"}, false)
	if len(run.Machine.Controllers) != 0 || len(run.Machine.Motors) != 0 || len(c.Machine.Controllers) != 2 {
		t.Errorf("%d controllers and %d motors are left, of %d", len(run.Machine.Controllers), len(run.Machine.Motors),
			len(c.Machine.Controllers))
	}
	if _, _, err := run.Stepper(machine.StepOptions{MotionJoints: []string{"crank"}}); err != nil {
		t.Error(err)
	}
	if other := c.withDrivenJoints([]string{"rocker"}, false); len(other.Machine.Controllers) != 2 {
		t.Errorf("%d controllers are left, want 2", len(other.Machine.Controllers))
	}
}
