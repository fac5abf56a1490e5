package identify

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/identify"
)

// The records of the suite of responses: a machine of one joint whose truth is drawn, integrated here by Runge and Kutta, clean or with one
// thing that the file of the machine does not have.

// responseKind is a kind of record.
type responseKind struct {
	name  string
	clean bool
	on    machineOfSuite
	make  func(b *responseBench)
}

// wrongScale is the number that is wrong by wrongBy where no record tells it: the result has to say which values go with it, and how. "": none.
func (k *responseKind) wrongScale() string {
	_, what, _ := strings.Cut(k.name, ", ")
	return map[string]string{"gain of the voltage": "gain of machine.motors.motor.voltage", "gain of the current": "gain of motor.i",
		"gain of the angle": "gain of rotor.q", "gain of the torque": "gain of machine.bodies.rotor.joint.effort", "clock": "clock"}[what]
}

// wrongBy is by how much numbers are wrong that no record tells.
const wrongBy = 0.02

// machineOfSuite is what stands in the file of the machine.
type machineOfSuite uint8

const (
	motorDriven  machineOfSuite = iota // a motor turns its rotor, u, i and q are recorded
	dryMotor                           // it has dry friction too
	effortDriven                       // a torque turns a mass with dry friction, the torque and q are recorded
	pendulumOnly                       // a torque swings a pendulum, the torque and q are recorded
	brushedMotor                       // a motor whose brushes drop most of its voltage, as the file says
)

// responseBench is a machine before it is recorded. Columns are u, i, q, or tau, q.
type responseBench struct {
	rng                    *rand.Rand
	on                     machineOfSuite
	R, L, K, J, b, fc, mgl float64
	rows                   int
	dt                     float64
	level                  func(t float64) float64       // what the drive is told
	drive                  func(u, i, v float64) float64 // what it gives; nil: that
	torque                 func(t, q, v float64) float64 // that the file does not have
	inductance, motorGain  func(i float64) float64       // relative; nil: 1
	resistance             func(t float64) float64       // relative; nil: 1
	q0, v0                 float64
	uNoise, iNoise, qNoise float64
	edit                   func(columns [][]float64)
	between                string
	clock                  float64                 // by which written times are too large; 0: they are right
	inertia                func(q float64) float64 // relative; nil: 1
}

func newResponseBench(on machineOfSuite, seed uint64) *responseBench {
	r := rand.New(rand.NewPCG(seed, 20261130+uint64(on)))
	vary := func(x float64) float64 { return x * (0.7 + 0.6*r.Float64()) }
	b := &responseBench{rng: r, on: on, R: vary(2), L: 2e-3, K: vary(0.05), J: vary(1e-4), b: vary(2e-4), rows: 1500, dt: 1e-3,
		iNoise: 0.02, qNoise: 2e-3}
	phase, amplitude := 6*r.Float64(), 6+3*r.Float64()
	switch on {
	case dryMotor:
		b.fc, b.rows = vary(0.02), 700
	case effortDriven:
		b.J, b.b, b.fc, amplitude, b.qNoise = vary(0.02), vary(0.05), vary(0.3), 0.6+0.6*r.Float64(), 1e-3
	case pendulumOnly:
		b.J, b.b, b.mgl, amplitude, b.qNoise, b.rows, b.dt = vary(0.02), vary(0.02), vary(1), 0.5+0.3*r.Float64(), 1e-3, 1500, 4e-3
	case brushedMotor:
		amplitude = 2 + r.Float64()
		b.drive = func(u, i, _ float64) float64 { return u - 0.6*math.Tanh(i/0.05) }
	}
	hold := 50 * b.dt
	b.level = func(t float64) float64 {
		k := math.Floor(t/hold + 1e-9)
		return amplitude * math.Sin(k*k+phase)
	}
	return b
}

// near is the speed below which dry friction is rounded.
func (b *responseBench) near() float64 {
	if b.on == dryMotor {
		return 0.3
	}
	return 0.01
}

// rate is the derivative of i, q, v under u.
func (b *responseBench) rate(t float64, x [3]float64, u float64) (y [3]float64) {
	i, q, v := x[0], x[1], x[2]
	rub := b.b*v + b.fc*math.Tanh(v/b.near()) + b.mgl*math.Sin(q)
	if b.torque != nil {
		rub += b.torque(t, q, v)
	}
	J := b.J
	if b.inertia != nil { // J(q)·dv/dt + J'·v²/2 = …
		const h = 1e-5
		J *= b.inertia(q)
		rub += b.J * (b.inertia(q+h) - b.inertia(q-h)) / (4 * h) * v * v
	}
	if b.on == effortDriven || b.on == pendulumOnly {
		return [3]float64{0, v, (u - rub) / J}
	}
	R, L, K := b.R, b.L, b.K
	if b.resistance != nil {
		R *= b.resistance(t)
	}
	if b.inductance != nil {
		L *= b.inductance(i)
	}
	if b.motorGain != nil {
		K *= b.motorGain(i)
	}
	return [3]float64{(u - R*i - b.K*v) / L, v, (K*i - rub) / J}
}

// columns are u, i, q or tau, q.
func (b *responseBench) columns() (c [][]float64) {
	c = make([][]float64, 3)
	x := [3]float64{0, b.q0, b.v0}
	const sub = 40
	for k := range b.rows {
		t := float64(k) * b.dt
		u := b.level(t)
		c[0] = append(c[0], u+b.uNoise*b.rng.NormFloat64())
		c[1] = append(c[1], x[0]+b.iNoise*b.rng.NormFloat64())
		c[2] = append(c[2], x[1]+b.qNoise*b.rng.NormFloat64())
		for s := range sub {
			h := b.dt / sub
			at := t + float64(s)*h
			given := func(t float64, x [3]float64) float64 {
				w := u
				if b.between == "line" {
					w = b.level(t)
				}
				if b.drive != nil {
					return b.drive(w, x[0], x[2])
				}
				return w
			}
			step := func(by float64, y [3]float64) (z [3]float64) {
				for i := range z {
					z[i] = x[i] + by*y[i]
				}
				return z
			}
			f := func(t float64, x [3]float64) [3]float64 { return b.rate(t, x, given(t, x)) }
			k1 := f(at, x)
			k2 := f(at+h/2, step(h/2, k1))
			k3 := f(at+h/2, step(h/2, k2))
			k4 := f(at+h, step(h, k3))
			for i := range x {
				x[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
			}
		}
	}
	if b.on == effortDriven || b.on == pendulumOnly {
		c = [][]float64{c[0], c[2]}
	}
	if b.edit != nil {
		b.edit(c)
	}
	return c
}

// write writes the record and the files of machine and fit.
func (b *responseBench) write(t *testing.T) (file string, truth map[string]float64) {
	t.Helper()
	c := b.columns()
	names := "t,u,i,q\n"
	joint, outputs, parameters, motors, input := "{kind: revolute, armature: 2e-4 kg·m², damping: 1e-4 N·m·s/rad}", "", "", "", ""
	truth = map[string]float64{"R": b.R, "K": b.K, "J": b.J, "b": b.b, "Fc": b.fc, "m": b.mgl / (9.81 * 0.1)}
	mass := ""
	switch b.on {
	case motorDriven, dryMotor, brushedMotor:
		motors = "  motors: {motor: {joint: rotor, R: 1 ohm, L: 2 mH, K: 0.04 N·m/A, voltage: 12 V}}\n"
		input = "machine.motors.motor.voltage, column: {name: u, unit: V}"
		outputs = "  - {name: motor.i, column: {name: i, unit: A}}\n"
		parameters = "  - {path: machine.motors.motor.R, name: R, range: [0.2 ohm, 9 ohm]}\n" +
			"  - {path: machine.motors.motor.K, name: K, range: [0.005 N·m/A, 0.5 N·m/A]}\n" +
			"  - {path: machine.bodies.rotor.joint.armature, name: J, range: [1e-5 kg·m², 1e-3 kg·m²]}\n" +
			"  - {path: machine.bodies.rotor.joint.damping, name: b, range: [1e-5 N·m·s/rad, 5e-3 N·m·s/rad]}\n"
		if b.on == brushedMotor {
			motors = strings.Replace(motors, "voltage: 12 V", "brush_drop: 0.6 V, drop_current: 50 mA, voltage: 12 V", 1)
		}
		if b.on == dryMotor {
			joint = "{kind: revolute, armature: 2e-4 kg·m², damping: 1e-4 N·m·s/rad, friction: {law: coulomb, Fc: 0.01 N·m}, " +
				"friction_speed: 0.3 rad/s}"
			parameters += "  - {path: machine.bodies.rotor.joint.friction.Fc, name: Fc, range: [1e-3 N·m, 0.2 N·m]}\n"
		}
	case effortDriven:
		names = "t,u,q\n"
		joint = "{kind: revolute, armature: 0.05 kg·m², damping: 0.01 N·m·s/rad, effort: 0 N·m, " +
			"friction: {law: coulomb, Fc: 0.1 N·m}, friction_speed: 0.01 rad/s}"
		input = "machine.bodies.rotor.joint.effort, column: {name: u, unit: N·m}"
		parameters = "  - {path: machine.bodies.rotor.joint.armature, name: J, range: [1e-3 kg·m², 1 kg·m²]}\n" +
			"  - {path: machine.bodies.rotor.joint.damping, name: b, range: [1e-3 N·m·s/rad, 1 N·m·s/rad]}\n" +
			"  - {path: machine.bodies.rotor.joint.friction.Fc, name: Fc, range: [0.01 N·m, 3 N·m]}\n"
	case pendulumOnly:
		names = "t,u,q\n"
		joint = "{kind: revolute, axis: [0, 0, 1], armature: 0.05 kg·m², damping: 0.01 N·m·s/rad, effort: 0 N·m}"
		mass = "      mass: 0.5 kg\n      com: [0, -0.1, 0]\n"
		input = "machine.bodies.rotor.joint.effort, column: {name: u, unit: N·m}"
		parameters = "  - {path: machine.bodies.rotor.joint.armature, name: J, range: [1e-4 kg·m², 1 kg·m²]}\n" +
			"  - {path: machine.bodies.rotor.joint.damping, name: b, range: [1e-3 N·m·s/rad, 1 N·m·s/rad]}\n" +
			"  - {path: machine.bodies.rotor.mass, name: m, range: [0.1 kg, 9 kg]}\n"
		truth["J"] -= truth["m"] * 0.01
	}
	var text strings.Builder
	text.WriteString(names)
	for k := range c[0] {
		fmt.Fprintf(&text, "%.7f", float64(k)*b.dt*cmp.Or(b.clock, 1))
		for _, x := range c {
			fmt.Fprintf(&text, ",%.7g", x[k])
		}
		text.WriteByte('\n')
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "fit.yaml")
	gravity := "  gravity: [0, 0, 0]\n"
	if mass != "" {
		gravity = "  gravity: [0, -9.81, 0]\n"
	}
	between := ""
	if b.between != "" {
		between = "between: " + b.between + "\n"
	}
	for name, text := range map[string]string{"record.csv": text.String(),
		"machine.yaml": "version: 1\nname: rotor\nmachine:\n" + gravity + "  bodies:\n    rotor:\n      parent: ground\n" +
			"      joint: " + joint + "\n" + mass + motors + "duration: 500 ms\n",
		"fit.yaml": "version: 1\nmachine: machine.yaml\ndata: {file: record.csv, time: {name: t, unit: s}}\n" + between +
			"inputs: [{path: " + input + "}]\noutputs:\n" + outputs + "  - {name: rotor.q, column: {name: q, unit: rad}}\nstarts: 0\nparameters:\n" +
			parameters} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return file, truth
}

// editing spoils columns.
func editing(f func(b *responseBench, c [][]float64)) func(b *responseBench) {
	return func(b *responseBench) { b.edit = func(c [][]float64) { f(b, c) } }
}

func (b *responseBench) shift(x []float64, by int) {
	y := slices.Clone(x)
	for k := range x {
		x[k] = y[min(max(k-by, 0), len(x)-1)]
	}
}

func lowPass(x []float64, share float64) {
	at := x[0]
	for k, v := range x {
		at += share * (v - at)
		x[k] = at
	}
}

func rounded(x []float64, step float64) {
	for k := range x {
		x[k] = step * math.Round(x[k]/step)
	}
}

// gainOfColumn makes a column larger or smaller, as the seed has it.
func gainOfColumn(i int) func(b *responseBench) {
	return func(b *responseBench) {
		gain := 1 - wrongBy + 2*wrongBy*float64(b.rng.IntN(2))
		b.edit = func(c [][]float64) {
			for k := range c[i] {
				c[i][k] *= gain
			}
		}
	}
}

// wrongClock writes times that run fast or slow.
func wrongClock(b *responseBench) { b.clock = 1 - wrongBy + 2*wrongBy*float64(b.rng.IntN(2)) }

// loadedBy is a torque that the file does not have, in N·m at the top speed of 100 rad/s or a torque of 1 N·m.
func loadedBy(f func(b *responseBench) func(t, q, v float64) float64) func(b *responseBench) {
	return func(b *responseBench) { b.torque = f(b) }
}

var responseKinds = slices.Concat(motorKinds(motorDriven, "motor"), motorKinds(dryMotor, "dry motor"), effortKinds, pendulumKinds,
	brushedKinds)

// motorKinds are records of a motor.
func motorKinds(on machineOfSuite, name string) (list []responseKind) {
	add := func(what string, clean bool, f func(b *responseBench)) {
		list = append(list, responseKind{name + ", " + what, clean, on, f})
	}
	last := func(c [][]float64) []float64 { return c[len(c)-1] }
	add("levels", true, func(b *responseBench) {})
	add("sines, between samples too", true, func(b *responseBench) {
		b.between = "line"
		a, f := 7+2*b.rng.Float64(), 1.3+b.rng.Float64()
		b.level = func(t float64) float64 { return a * (math.Sin(2*math.Pi*f*t) + 0.5*math.Sin(2*math.Pi*3.7*f*t)) }
	})
	add("noisy", true, func(b *responseBench) { b.iNoise, b.qNoise = 0.15, 0.02 })
	add("long", true, func(b *responseBench) { b.rows = 4000 })
	if on == motorDriven {
		add("little drag", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
			return func(_, _, v float64) float64 { return 0.1 * b.b / 60 * v * math.Abs(v) }
		}))
		add("drag", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
			return func(_, _, v float64) float64 { return 0.6 * b.b / 60 * v * math.Abs(v) }
		}))
		add("dry friction", false, func(b *responseBench) { b.fc = 0.004 })
		add("little dry friction", false, func(b *responseBench) { b.fc = 0.0008 })
		add("voltage noise", false, func(b *responseBench) { b.uNoise = 0.5 })
		add("gain of the current", false, gainOfColumn(1))
		add("another inductance", false, func(b *responseBench) { b.L *= 1.4 })
		add("inductance saturates", false, func(b *responseBench) { b.inductance = func(i float64) float64 { return 1 / (1 + i*i/9) } })
		add("angle quantised", false, editing(func(_ *responseBench, c [][]float64) { rounded(c[2], 0.05) }))
		add("current quantised", false, editing(func(_ *responseBench, c [][]float64) { rounded(c[1], 0.5) }))
		add("voltage quantised", false, editing(func(_ *responseBench, c [][]float64) { rounded(c[0], 1) }))
		add("spikes of the angle", false, editing(func(b *responseBench, c [][]float64) {
			for range 4 {
				c[2][100+b.rng.IntN(1000)] += 3
			}
		}))
		add("current reads zero now and then", false, editing(func(b *responseBench, c [][]float64) {
			for range 30 {
				c[1][b.rng.IntN(len(c[1]))] = 0
			}
		}))
		add("angle stays for 20 samples", false, editing(func(b *responseBench, c [][]float64) {
			at := 300 + b.rng.IntN(900)
			for k := range 20 {
				c[2][at+k] = c[2][at]
			}
		}))
		add("jitter", false, func(b *responseBench) {
			b.edit = func(c [][]float64) {
				for _, x := range c[1:] {
					y := slices.Clone(x)
					for k := 1; k+1 < len(x); k++ {
						s := 0.3 * b.rng.NormFloat64()
						x[k] = y[k] + s*(y[k+1]-y[k-1])/2
					}
				}
			}
		})
		add("turning at the beginning", false, func(b *responseBench) { b.v0 = 20 })
		add("current cut", false, editing(func(_ *responseBench, c [][]float64) {
			for k := range c[1] {
				c[1][k] = min(max(c[1][k], -1.5), 1.5)
			}
		}))
		add("encoder off its centre", false, editing(func(_ *responseBench, c [][]float64) {
			for k, q := range c[2] {
				c[2][k] = q + 0.05*math.Sin(q)
			}
		}))
		add("play before the encoder", false, editing(func(_ *responseBench, c [][]float64) {
			at := c[2][0]
			for k, q := range c[2] {
				at = min(max(at, q-0.05), q+0.05)
				c[2][k] = at
			}
		}))
		add("inertia changes along the turn", false, func(b *responseBench) {
			b.inertia = func(q float64) float64 { return 1 + 0.3*math.Sin(q) }
		})
	}
	add("gain of the voltage", false, gainOfColumn(0))
	add("gain of the angle", false, gainOfColumn(2))
	add("clock", false, wrongClock)
	add("Stribeck dip", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		f := 0.6 * max(b.fc, 0.004)
		return func(_, _, v float64) float64 { return f * math.Tanh(v/0.01) * math.Exp(-v*v/100) }
	}))
	add("imbalance", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, _ float64) float64 { return 0.004 * math.Sin(q+0.7) }
	}))
	add("cogging", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, _ float64) float64 { return 0.008 * math.Sin(12*q) }
	}))
	add("spring", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, _ float64) float64 { return 2e-4 * q }
	}))
	add("constant torque", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, _ float64) float64 { return 0.004 }
	}))
	add("friction by direction", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.3 * b.b * math.Abs(v) }
	}))
	add("friction falls", false, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(t, _, v float64) float64 { return 0.4 * b.b * v * (1 - 2*t/1.5) }
	}))
	add("zero of the voltage", false, editing(func(_ *responseBench, c [][]float64) {
		for k := range c[0] {
			c[0][k] += 0.3
		}
	}))
	add("zero of the current drifts", false, editing(func(_ *responseBench, c [][]float64) {
		for k := range c[1] {
			c[1][k] += 0.2 * float64(k) / 1500
		}
	}))
	add("brushes", false, func(b *responseBench) { b.drive = func(u, i, _ float64) float64 { return u - 0.4*math.Tanh(i/0.02) } })
	add("winding warms up", false, func(b *responseBench) { b.resistance = func(t float64) float64 { return 1 + 0.1*t } })
	add("motor saturates", false, func(b *responseBench) { b.motorGain = func(i float64) float64 { return 1 / (1 + math.Abs(i)/20) } })
	add("voltage limited", false, func(b *responseBench) { b.drive = func(u, _, _ float64) float64 { return min(max(u, -5.5), 5.5) } })
	add("dead zone of the drive", false, func(b *responseBench) {
		b.drive = func(u, _, _ float64) float64 { return math.Copysign(max(math.Abs(u)-0.3, 0), u) }
	})
	add("gain by direction", false, func(b *responseBench) {
		b.drive = func(u, _, _ float64) float64 { return u + 0.08*max(u, 0) }
	})
	add("current one sample late", false, editing(func(b *responseBench, c [][]float64) { b.shift(c[1], 1) }))
	add("voltage one sample late", false, editing(func(b *responseBench, c [][]float64) { b.shift(c[0], 1) }))
	add("angle two samples late", false, editing(func(b *responseBench, c [][]float64) { b.shift(c[2], 2) }))
	add("current behind 3 ms", false, editing(func(_ *responseBench, c [][]float64) { lowPass(c[1], 0.28) }))
	add("angle behind 8 ms", false, editing(func(_ *responseBench, c [][]float64) { lowPass(last(c), 0.12) }))
	return list
}

// effortKinds are records of a mass with dry friction that a torque turns.
var effortKinds = []responseKind{
	{"mass, levels", true, effortDriven, func(b *responseBench) {}},
	{"mass, noisy", true, effortDriven, func(b *responseBench) { b.qNoise = 0.01 }},
	{"mass, fine", true, effortDriven, func(b *responseBench) { b.qNoise = 1e-4 }},
	{"mass, drag", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.1 * b.b * v * math.Abs(v) }
	})},
	{"mass, little drag", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.015 * b.b * v * math.Abs(v) }
	})},
	{"mass, dip", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.5 * b.fc * math.Tanh(v/0.01) * math.Exp(-v*v/0.25) }
	})},
	{"mass, little dip", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.1 * b.fc * math.Tanh(v/0.01) * math.Exp(-v*v/1) }
	})},
	{"mass, wide dip", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.1 * b.fc * math.Tanh(v/0.01) * math.Exp(-v*v/4) }
	})},
	{"mass, wide dip under noise", false, effortDriven, func(b *responseBench) {
		b.qNoise = 0.01
		b.torque = func(_, _, v float64) float64 { return 0.2 * b.fc * math.Tanh(v/0.01) * math.Exp(-v*v/4) }
	}},
	{"mass, constant torque", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.05 }
	})},
	{"mass, weight", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, v float64) float64 { return 0.1 * math.Sin(q) }
	})},
	{"mass, friction by direction", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, v float64) float64 { return 0.15 * b.fc * math.Abs(math.Tanh(v/0.01)) }
	})},
	{"mass, friction along the way", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, v float64) float64 { return 0.3 * b.fc * math.Tanh(v/0.01) * math.Sin(q) }
	})},
	{"mass, friction falls", false, effortDriven, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(t, _, v float64) float64 { return 0.3 * b.fc * math.Tanh(v/0.01) * (1 - 2*t/1.5) }
	})},
	{"mass, gear of 0.85", false, effortDriven, func(b *responseBench) {
		b.drive = func(u, _, v float64) float64 { return u - 0.15*math.Abs(u)*math.Tanh(v/0.01) }
	}},
	{"mass, torque cut", false, effortDriven, func(b *responseBench) {
		b.drive = func(u, _, _ float64) float64 { return min(max(u, -0.7), 0.7) }
	}},
	{"mass, torque behind 3 ms", false, effortDriven, editing(func(_ *responseBench, c [][]float64) { lowPass(c[0], 0.28) })},
	{"mass, torque 2 samples late", false, effortDriven, editing(func(b *responseBench, c [][]float64) { b.shift(c[0], 2) })},
	{"mass, gain of the torque", false, effortDriven, gainOfColumn(0)},
	{"mass, gain of the angle", false, effortDriven, gainOfColumn(1)},
	{"mass, clock", false, effortDriven, wrongClock},
	{"mass, noise of the torque", false, effortDriven, func(b *responseBench) { b.uNoise = 0.1 }},
}

// pendulumKinds are records of a pendulum that a torque swings.
var pendulumKinds = []responseKind{
	{"pendulum, levels", true, pendulumOnly, func(b *responseBench) {}},
	{"pendulum, fine", true, pendulumOnly, func(b *responseBench) { b.qNoise = 1e-4 }},
	{"pendulum, noisy", true, pendulumOnly, func(b *responseBench) { b.qNoise = 0.02 }},
	{"pendulum, gain of the torque", false, pendulumOnly, gainOfColumn(0)},
	{"pendulum, gain of the angle", false, pendulumOnly, gainOfColumn(1)},
	{"pendulum, clock", false, pendulumOnly, wrongClock},
	{"pendulum, drag", false, pendulumOnly, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, _, v float64) float64 { return 0.15 * b.b * v * math.Abs(v) }
	})},
	{"pendulum, dry friction", false, pendulumOnly, func(b *responseBench) { b.fc = 0.01 }},
	{"pendulum, zero of the angle", false, pendulumOnly, editing(func(_ *responseBench, c [][]float64) {
		for k := range c[1] {
			c[1][k] += 0.05
		}
	})},
	{"pendulum, stop", false, pendulumOnly, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, _ float64) float64 { return 3 * max(0, q-0.5) }
	})},
	{"pendulum, spring", false, pendulumOnly, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(_, q, _ float64) float64 { return 0.1 * b.mgl * q }
	})},
	{"pendulum, angle 3 samples late", false, pendulumOnly, editing(func(b *responseBench, c [][]float64) { b.shift(c[1], 3) })},
	{"pendulum, moving at the beginning", false, pendulumOnly, func(b *responseBench) { b.q0 = 0.1 }},
	{"pendulum, friction falls", false, pendulumOnly, loadedBy(func(b *responseBench) func(t, q, v float64) float64 {
		return func(t, _, v float64) float64 { return 0.4 * b.b * v * (1 - 2*t/6) }
	})},
}

// brushedKinds are records of a motor whose current goes through the drop of its brushes.
var brushedKinds = []responseKind{
	{"brushed motor, levels", true, brushedMotor, func(b *responseBench) {}},
	{"brushed motor, few samples", true, brushedMotor, func(b *responseBench) { b.rows, b.dt = 1500, 2e-3 }},
	{"brushed motor, fine", true, brushedMotor, func(b *responseBench) { b.iNoise, b.qNoise = 2e-3, 2e-4 }},
	{"brushed motor, a larger drop", false, brushedMotor, func(b *responseBench) {
		b.drive = func(u, i, _ float64) float64 { return u - 0.8*math.Tanh(i/0.05) }
	}},
	{"brushed motor, a softer drop", false, brushedMotor, func(b *responseBench) {
		b.drive = func(u, i, _ float64) float64 { return u - 0.6*math.Tanh(i/0.2) }
	}},
}

// gateKinds are those of which one record is tried without the tag soak.
var gateKinds = []string{"motor, levels", "motor, little drag", "motor, imbalance", "mass, levels", "pendulum, dry friction",
	"motor, gain of the angle", "pendulum, clock", "mass, wide dip under noise", "brushed motor, levels"}

// No value of any kind of response is wrong with confidence, clean ones are identified, and their intervals hold what was put in.
func TestResponseSuite(t *testing.T) {
	seeds, alarms, clean, held, intervals, squares := uint64(1), 0, 0, 0, 0, 0.0
	if soak {
		seeds = 5
	}
	for _, k := range responseKinds {
		if !soak && !slices.Contains(gateKinds, k.name) {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			ident, why := 0, map[string]int{}
			for seed := range seeds {
				b := newResponseBench(k.on, seed+1)
				k.make(b)
				file, truth := b.write(t)
				r, _ := responseOf(t, file, Options{})
				if r.Verdict == identify.Identified {
					ident++
				} else if len(r.Reasons) > 0 {
					text := r.Reasons[0].Text
					why[text[:min(len(text), 100)]]++
				}
				for i := range r.Parameters {
					p := &r.Parameters[i]
					if p.CI == nil {
						continue
					}
					want, half := truth[p.Name], (p.CI[1]-p.CI[0])/2
					miss := math.Abs(want - (p.CI[0]+p.CI[1])/2)
					if k.clean {
						intervals++
						squares += miss * miss / half / half
						if miss <= half {
							held++
						}
					}
					said := 0.0 // by which the value goes with what is wrong
					for _, s := range p.ScalesWith {
						if s.Name == k.wrongScale() {
							said = wrongBy * s.Percent * math.Abs(p.Value)
						}
					}
					if p.Worth == string(identify.Identified) && miss > 2*half+1.1*said && math.Abs(p.Value-want) > 0.03*want {
						t.Errorf("seed %d: %s is %+.1f %% off, known to ±%.1f %%", seed+1, p.Name, 100*(p.Value/want-1), 100*half/want)
					}
					if miss > half && said > half && !strings.Contains(p.IntervalSource, k.wrongScale()) {
						t.Errorf("seed %d: %s is %+.1f %% off by the %s: %s", seed+1, p.Name, 100*(p.Value/want-1), k.wrongScale(), p.IntervalSource)
					}
				}
			}
			if k.clean {
				clean, alarms = clean+int(seeds), alarms+int(seeds)-ident
			}
			t.Logf("identified %d of %d %v", ident, seeds, why)
		})
	}
	t.Logf("%d of %d clean records are not identified; %d of their %d intervals hold what was put in; values miss by %.2g of half an interval, rms",
		alarms, clean, held, intervals, math.Sqrt(squares/float64(max(1, intervals))))
	if float64(alarms) > 0.05*float64(clean) || intervals >= 40 && float64(held) < 0.9*float64(intervals) {
		t.Error("want at most 5 % not identified, and 95 % of the intervals")
	}
}
