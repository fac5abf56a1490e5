package configs

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const machineHead = `# Machines

` + "`hil simulate FILE`" + ` runs a machine when FILE has the key ` + "`machine`" + `: rigid bodies on joints, loops, gears, shafts, belts, motors with their circuit, friction.
It is integrated offline to the tolerance of the file. Loops stay closed, and the energies of every part are summed up.

` + "```" + `
hil simulate configs/machine/crank-rocker.yaml                         # a DC motor turns the crank of a four-bar linkage
hil simulate configs/machine/motor-gear-load.yaml --plot run.png       # motor, gear, flexible shaft, load with friction
hil simulate configs/machine/crank-rocker.yaml --animate run.html      # a page that shows it moving
hil simulate configs/machine/slider-crank.yaml -o run.csv              # the torque that a prescribed motion takes
` + "```" + `

[squeezer.yaml](../configs/machine/squeezer.yaml) is a benchmark of solvers, which it meets to ten digits. [double-pendulum.yaml](../configs/machine/double-pendulum.yaml), [four-bar.yaml](../configs/machine/four-bar.yaml) and
[top.yaml](../configs/machine/top.yaml) are further examples.

[configs/machine/benchmarks](../configs/machine/benchmarks) has problems of the library of multibody benchmarks [GDLC06], each compared with another program in the tests:

| file | what it is | end, against the other program | energy |
|---|---|---|---|
| simple-pendulum | a point held by a distance | within 1e-7 m after 10 s | 1e-9 |
| four-bars | four parallelograms through flat positions, where they could fold in five ways | within 3e-8 rad after five turns | 5e-10 |
| bricard | six hinges, no degree of freedom by count, one redundant equation | closed form within 1e-9 rad over 10 s | 4e-10 |
| governor | springs with dampers of 4·10⁴ 1/s | within 1e-7 | 4e-12 |
| five-bodies | the machine of figure 2 of [TZ02], one joint of each kind, two of them cut | within 2e-8 m of Newton and Euler in absolute coordinates | 6e-13 |

## What a machine is

**A body hangs on its parent by one joint.** Body and joint have one name. ` + "`at` and `turn`" + ` say where the joint sits on the parent. The axes of the body are those
of the joint on its side: with all positions zero they are parallel to the axes of the joint on the parent. ` + "`com` and `inertia`" + ` are in axes of the body.
A joint of ` + "`kind: prismatic`" + ` speaks of m, N and kg, every other one of rad, N·m and kg·m².

**Loops** are cut at a joint. A machine that moves in the plane of x and y closes them with ` + "`kind: point`" + `: two equations. ` + "`revolute`" + ` has five,
three of which say nothing new in a plane. Such redundant equations are found, named and taken along: the motion is the same, their forces are those of least norm.

**The start** is made consistent before the run: loops are closed by the shortest way, and velocities follow. The line *start* of the report says how far
the file missed and what was moved. ` + "`start.hold`" + ` keeps joints as they are, ` + "`start.limit` and `start.refuse`" + ` turn a start down that misses by more.

` + "`start.equilibrium`" + ` goes on to the static equilibrium that the positions of the file lead to.

**Motors** stand on joints with one coordinate. ` + "`gear`" + ` is the number of turns of the rotor for one of the joint. The joint feels the inertia of the rotor times gear².
Give a motor a ` + "`voltage`" + `, or ` + "`nodes`" + ` of a circuit.

**Friction** of a joint follows a law of [laws.md](laws.md). With a law without a memory, such as ` + "`coulomb` or `static-coulomb-viscous`" + `, the joint sticks: friction is the torque that
keeps it at rest, up to the break-away level. Arrest and break-away are located to rounding. ` + "`JOINT.friction`" + ` in the table is that torque. With
` + "`friction_speed`" + ` the sign of the velocity is smoothed instead, and what should stick creeps. Laws of bristles are integrated as they are. Laws
with a memory of another kind (` + "`karnopp`, `gms`, `leuven`, `frictional-memory`" + ` …) want friction_speed, and only their steady curve counts.
The load of a joint does not act on its friction.

**Effort** is a torque or force from outside. A **motion** prescribes a joint; the torque that it takes stands in the table as ` + "`JOINT.motion`" + `.

## From another program

` + "`hil import robot.urdf`" + ` shows what a URDF holds, ` + "`hil import robot.xml`" + ` what an MJCF holds. ` + "`-o machine.yaml`" + ` writes it as a machine file. Taken are bodies with masses,
inertias and places, joints with axes, damping, friction and armature, mimic joints as couplings, equality constraints of MJCF as loops and couplings, sites as
frames. The inertia of a body without ` + "`<inertial>`" + ` follows from its shapes in MJCF, but not from a mesh. Shapes themselves, limits, actuators and contacts are not taken;
the file and the report say which. Friction becomes Coulomb's law. The tree has the inertia matrix of MuJoCo, to 1e-14.

## Results

The table has a row for each ` + "`outputs.every`" + `. Units stand behind the names.

| column | what it is |
|---|---|
| ` + "`JOINT.q`, `JOINT.v`" + ` | position and velocity of a revolute or prismatic joint |
| ` + "`JOINT.qw` … `qz`, `wx` … `wz`" + ` | quaternion from the body to the joint's axes on the parent, angular velocity in axes of the body; a free joint also has ` + "`x y z vx vy vz`" + ` |
| ` + "`MOTOR.i`" + ` | current; ` + "`MOTOR.d.i`, `MOTOR.q.i`" + ` of a synchronous motor, ` + "`NAME.u`" + ` the voltage of a capacitor |
| ` + "`JOINT.friction`" + ` | friction of a law with a stick mode, positive against positive motion |
| ` + "`JOINT.friction.bristle`" + ` | states of a law of friction |
| ` + "`LOOP.x`, `LOOP.y`, …, `LOOP.turn_x`" + ` | force and moment of a loop on b, in axes of a |
| ` + "`COUPLING`" + ` | multiplier of a coupling: the joint feels it times its factor |
| ` + "`JOINT.motion`" + ` | torque or force that a prescribed motion takes |
| ` + "`residual`, `residual_rate`" + ` | largest error of the constraints (m, rad) and of their rates |
| ` + "`kinetic`, `potential`" + ` | energies of the bodies; potential is that of gravity and of the springs of joints |
| ` + "`input`, `loss`" + ` | energy that sources, efforts and motions gave, and what turned into heat, since the start |
| ` + "`at.FRAME.x`" + ` … | where a frame of ` + "`outputs.frames`" + ` stands in the world |

The report lists for every part what went in, what turned into heat, the work that it did on the joints, and what it stores. What is left is the error of the
integration. ` + "`energy_error_relative`" + ` is the sum of all, by the largest energy of the run. Above 1e-6, or with a constraint that is missed by more than 1e-8, the run
ends with a warning and exit code 6. So does one that was brought back to its constraints by a leap: near a singular position, such as a parallelogram that is
flat, two motions are possible, and rounding may choose the wrong one. Another tolerance then passes it.

` + "`--plot`" + ` draws positions, speeds, currents, forces and energies over time, and the machine at four times: a line on each body from joint to joint, and the way of one
point, the first of ` + "`outputs.frames`" + `. ` + "`--animate run.html`" + ` writes a page that shows a machine moving; it is for machines that move in a plane.

A machine that cannot go on, such as a drive that pulls a linkage beyond its reach, ends with the time, the positions of its joints and what is wrong, exit code 6. The
table ends there.

## Beside the rig and as its plant

A rig file may name a machine file twice: as a model that is watched beside the rig ([models.md](models.md)), and as the plant behind virtual ports ([plant.md](plant.md)).

` + "```" + `
hil run configs/four-bar-rig.yaml      # a motor turns a four-bar; its pin forces are shown, and a second model runs ahead on the motor's voltage
` + "```" + `

` + "```" + `yaml
models:
  linkage: {kind: machine, file: machine/driven-four-bar.yaml, joints: {crank: {by: motion}}, outputs: [crank, rocker.q, pin]}
  twin:    {kind: machine, file: machine/driven-four-bar.yaml, joints: {crank: {by: command}}, audit: true}
virtual:
  plant: {kind: machine, machine: {file: machine/driven-four-bar.yaml, outputs: [rocker.q, pin]}}
` + "```" + `

**A joint follows an axis** by one of four ways. Its position is ` + "`" + `ratio·axis + offset` + "`" + `.

| ` + "`" + `by` + "`" + ` | what the joint does | what is of interest |
|---|---|---|
| ` + "`" + `motion` + "`" + ` | it is led along the estimated motion of the axis | ` + "`" + `JOINT.motion` + "`" + `, the torque that this takes, and the forces of the loops: inverse dynamics of what hangs on the axis |
| ` + "`" + `current` + "`" + ` | the measured current times K pushes it | ` + "`" + `JOINT.difference` + "`" + `: the machine moves by itself, and comes off the measured position |
| ` + "`" + `effort` + "`" + ` | the measured torque pushes it | the same |
| ` + "`" + `command` + "`" + ` | the command as it left pushes it: a current times K, an effort; the command of a voltage drive is the voltage of the motor on the joint | the same |

Motors of the file on a joint that is led or pushed leave their rotors alone. The model begins where the axes are: it is moved there from the start of the file in parts of 0.02, so
that loops stay in the branch in which the file has them. It begins anew when the drive is switched on, and after a loss.

Signals are called ` + "`" + `MODEL.` + "`" + ` and the name in the table of results above; ` + "`" + `JOINT.a` + "`" + ` is the acceleration. ` + "`" + `outputs` + "`" + ` chooses some of them: ` + "`" + `pin` + "`" + ` stands for all of pin. One machine shows
at most 96 numbers. Multipliers and accelerations belong to the end of the tick. ` + "`" + `MODEL.status` + "`" + ` says how the tick went:

| ` + "`" + `status` + "`" + ` | |
|---|---|
| 0 | as it should |
| 1 | singular position: the forces are those of least norm |
| 2 | lost: the loops cannot be closed where the axes are; the numbers stay as they were |
| 3 | the equations of the step were not met; the numbers are the best so far |
| 4 | a motion of an axis is no finite number; the numbers stay as they were |
| 5 | on its way to where the axes are |

With ` + "`" + `audit` + "`" + ` the powers ` + "`" + `power.in` + "`" + `, ` + "`" + `power.loss` + "`" + `, ` + "`" + `power.stored` + "`" + ` and ` + "`" + `power.missing` + "`" + ` (in − loss − stored) are means over the tick. What is missing is the error of the step where the
machine moves by itself; where it is led, estimates of position, speed and acceleration do not agree with each other, and what they miss is in it too.

**As the plant**, the axes of the rig are joints of the machine, by their names, at most four. Drive, friction, stops, load and heat are those of ` + "`" + `virtual.plant.axes` + "`" + `; the
friction of the joint in the file is taken where nothing is said there, the inertia of rotors is the armature of the joint or ` + "`" + `rotor_inertia` + "`" + ` of a motor on it, and the start is
that of the file. Motors on other joints stay. ` + "`" + `machine.outputs` + "`" + ` adds numbers of the machine to the truth, and sensors may measure them. An arm of two links as a machine moves as the plant
` + "`" + `two-link` + "`" + ` to 1e-7 rad with laws that do not stick. In a step in which a joint comes to rest the two differ: 1e-4 rad at 1 ms, 1e-5 rad at 0.1 ms after a second.

**The fixed step** of both is the implicit midpoint rule with motors, shafts, stops, springs, dampers and friction of the joints implicit, and a projection on the constraints after each
step. It is of order two:

| file, after 0.5 s or its whole length | error at 1 ms | at 0.1 ms |
|---|---|---|
| crank-rocker | 7e-4 | 6e-6 |
| double-pendulum | 7e-6 | 7e-8 |
| four-bar | 1e-6 | 1e-8 |
| motor-gear-load | 1.5e-4 | 1.5e-6 |
| slider-crank | 2e-13 | 2e-13 |
| squeezer | 2 | 0.02 |
| top | 8e-3 | 8e-5 |

The error is the largest of any number of the state, divided by one plus that number. Constraints are met to 1e-10 after every step. A step of the crank-rocker with its motor
takes 2.9 µs, one of the squeezer 12 µs, without allocations; a model that is led 3.7 µs, with the forces of its loops.

## What it does not do

Bodies do not touch each other: that is [contact.md](contact.md). Bodies are rigid; a flexible shaft is an entry of ` + "`shafts`" + `. A coupling has no losses; a gear with losses is a shaft
with ` + "`efficiency`" + `. Steps of ` + "`hil simulate`" + ` are explicit: a stiff machine takes many of them. How the source of these equations is departed from stands in [differences.md](differences.md).

# Keys

Made from the source: ` + "`go test ./configs -run Docs -update`" + `. Numbers have units as in [config.md](config.md). Where two units are given, the first is that of a joint that turns.
`

// docs/machine.md has its tables from the tags.
func TestMachineDocs(t *testing.T) {
	current(t, "machine.md", machineHead+Tables(DefaultMachineRun()))
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
		{"crank-rocker", "crank:\n      parent: ground", "crank:\n      parent: coupler", "machine.bodies.crank.parent: bodies hang on each other in a circle (crank on coupler on crank)"},
		{"top", "[0.2e-3, 0.2e-3, 0.4e-3]", "[0.2e-3, 0.2e-3, 0.41e-3]", "machine.bodies.top.inertia: impossible inertia"},
		{"top", "[0.2e-3, 0.2e-3, 0.4e-3]", "[0.2e-3, 0.2e-3, 0.39e-3]", ""},
		{"top", "kind: spherical", "kind: sperical", `"spherical"`},
		{"top", "kind: spherical", "kind: spherical, axis: [1, 0, 0]", "machine.bodies.top.joint.axis: belongs to revolute and prismatic joints"},
		{"top", "kind: spherical", "kind: revolute", "machine.bodies.top.start: belongs to spherical and free joints"},
		{"top", "turn: [0, 0.5 rad, 0]", "at: [1, 0, 0]", "at and speed belong to a free joint"},
		{"top", "mass: 0.5 kg", "mass: -0.5 kg", "machine.bodies.top.mass"},
		{"top", "kind: spherical", "", "machine.bodies.top.joint.kind is missing"},
		{"crank-rocker", "axis: [0, 0, 1], position: 0.5 rad, damping: 0.002 N·m·s/rad", "position: 0.5 m", "machine.bodies.crank.joint.position: 0.5 m is in m"},
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
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}\n        friction_speed: 0.01 rad/s", "friction: {law: frictional-memory, Fc: 0.5, Fs: 0.6, vs: 0.1, Fv: 0.1, tauL: 0.01}", "frictional-memory has a memory"},
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}", "friction: {law: coulomb, Fc: 0.5, backward: {Fc: 0.4}}", "no backward, no offset"},
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}\n        friction_speed: 0.01 rad/s", "friction: {law: coulomb, Fc: 0.5, backward: {Fc: 0.4}}", ""},
		{"motor-gear-load", "law: coulomb, Fc: 0.5 N·m", "law: dahl, sigma0: 100, Fc: 0.5 N·m, exponent: 1", ""},
		{"motor-gear-load", "friction: {law: coulomb, Fc: 0.5 N·m}", "", "friction_speed: of friction, which is missing"},
		{"motor-gear-load", "a: rotor", "a: rotr", "machine.shafts.shaft.a"},
		{"motor-gear-load", "a: rotor", "a: load", "machine.shafts.shaft: the shafts A and B"},
		{"motor-gear-load", "ratio: 10", "ratio: 10, efficiency: 0.9", "machine.shafts.shaft.efficiency_speed is missing"},
		{"motor-gear-load", "armature: 1e-4 kg·m², ", "", "machine.bodies.rotor: mass 0 kg"},
		{"motor-gear-load", "shafts:", "circuit:\n    supply: {kind: resistor, from: a, to: b, R: 1 ohm}\n  shafts:", "machine: nodes without a way to ground: nodes a, b"},
		{"motor-gear-load", "shafts:", "circuit:\n    supply: {kind: voltage-source, from: a, to: ground}\n  shafts:", "machine.circuit.supply.voltage is missing"},
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
	}{{"", -2 * 9.81 / 500}, {"motors:\n    motor: {joint: mass, R: 2 ohm, L: 1 mH, K: 0.1, gear: 50, start_current: 3 A, voltage: 6 V}", (0.1*50*3 - 2*9.81) / 500}} {
		m, _, err := MachineBytes("m.yaml", []byte("version: 1\nname: m\nduration: 1\nstart: {equilibrium: true}\nmachine:\n  bodies:\n    mass: {parent: ground, joint: {kind: prismatic, stiffness: 500 N/m}, mass: 2}\n  "+c.more+"\n"))
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
