package configs

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"hilrig/engine"
	"hilrig/engine/machine"
)

// elementCases are machines whose motion testdata/machine_elements.py knows: a file, or text behind a common head.
var elementCases = []struct {
	name, file, text string
	columns          []string
	within           float64 // of the largest value of each column
}{
	{"relay", "machine/relay.yaml", "", []string{"armature.q", "armature.v", "coil.i"}, 2e-6},
	{"servo", "machine/servo.yaml", "", []string{"crank.q", "rocker.q", "crank.v", "servo.d.i", "servo.q.i"}, 1e-8},
	{"cascade", "", `
  bodies:
    rotor: {parent: ground, joint: {kind: revolute, armature: 2e-4, damping: 1e-5, friction: {law: coulomb, Fc: 0.02}, friction_speed: 1}}
  motors:
    motor: {joint: rotor, R: 1, L: 2 mH, K: 0.05}
  controllers:
    current: {feedback: motor.current, acts_on: motor.voltage, kp: 6 V/A, ki: 3000 V/(A·s), limit: 24 V}
    speed: {feedback: rotor.speed, acts_on: current.reference, reference: {kind: sine, amplitude: 100 rad/s, frequency: 5 Hz}, kp: 0.05 A·s/rad, ki: 1 A/rad, limit: 5 A}
duration: 400 ms
`, []string{"rotor.q", "rotor.v", "motor.i", "speed.integral", "current.integral"}, 1e-8},
	{"lift", "", `
  bodies:
    mass: {parent: ground, mass: 2, joint: {kind: prismatic, stiffness: 500, position: -39.24 mm}}
  controllers:
    hold: {feedback: mass.position, acts_on: mass.effort, reference: {kind: sine, amplitude: 5 cm, frequency: 1 Hz}, kp: 1500 N/m, ki: 8 N/(mm·s), kd: 60 N·s/m, limit: 60 N, every: 5 ms}
duration: 1 s
`, []string{"mass.q", "mass.v", "hold.integral"}, 1e-10},
	{"phases", "", `
  bodies:
    rotor: {parent: ground, joint: {kind: revolute, armature: 5e-4, damping: 1e-3}}
  motors:
    motor: {kind: three-phase, joint: rotor, R: 0.4, Ld: 2 mH, Lq: 3 mH, L0: 0.3 mH, psi: 20 mWb, pole_pairs: 3, nodes: [a, b, c],
            cogging: [{amplitude: 10 mN·m, order: 18}, {amplitude: 4 mN·m, order: 36}]}
  circuit:
    ua: {kind: voltage-source, from: a, to: ground, voltage: {kind: multisine, tones: [{amplitude: 10 V, frequency: 4 Hz}]}}
    ub: {kind: voltage-source, from: b, to: ground, voltage: {kind: multisine, tones: [{amplitude: 10 V, frequency: 4 Hz, phase: -2.0943951023931953}]}}
    uc: {kind: voltage-source, from: c, to: ground, voltage: {kind: multisine, tones: [{amplitude: 10 V, frequency: 4 Hz, phase: 2.0943951023931953}]}}
duration: 300 ms
`, []string{"rotor.q", "rotor.v", "motor.a.i"}, 1e-8},
	{"pulses", "", `
  bodies:
    rotor: {parent: ground, joint: {kind: revolute, armature: 1e-3}}
  motors:
    motor: {joint: rotor, R: 1, L: 2 mH, K: 0.05, nodes: [half, ground], thermal: {ambient: 30 degC, resistance: 4 K/W, capacity: 0.5 J/K}}
  circuit:
    bridge: {kind: voltage-source, from: half, to: ground, pwm: {frequency: 500 Hz, high: 24 V, low: -4 V, duty: {kind: sine, offset: 0.3, amplitude: 0.2, frequency: 3 Hz}}}
    mains: {kind: voltage-source, from: line, to: ground, voltage: {kind: sine, amplitude: 20 V, frequency: 50 Hz}}
    core: {kind: transformer, coupling: 0.95, windings: {primary: {from: line, to: ground, L: 100 mH, R: 0.5}, secondary: {from: out, to: ground, L: 25 mH, R: 0.2}}}
    load: {kind: resistor, from: out, to: ground, R: 5}
duration: 200 ms
`, []string{"rotor.q", "rotor.v", "motor.i", "motor.temperature", "core.primary.i", "core.secondary.i"}, 1e-8},
	{"rows", "", `
  gravity: [0, 0, 0]
  bodies:
    rotor: {parent: ground, joint: {kind: revolute, armature: 1e-3}}
    slider: {parent: ground, mass: 0.5, joint: {kind: prismatic, axis: [1, 0, 0], stiffness: 40}}
  motors:
    motor: {joint: rotor, R: 1, L: 2 mH, K: 0.05, voltage: 12 V}
  rows:
    lead: {of: {slider: -1}, current: {motor: 0.3}, rate: {motor: 2e-4}, offset: {kind: multisine, tones: [{amplitude: 0.05, frequency: 3.183098861837907, phase: 1.5707963267948966}]}}
duration: 200 ms
`, []string{"rotor.q", "rotor.v", "motor.i", "slider.q", "slider.v", "lead"}, 1e-8},
	{"levitation", "", `
  gravity: [0, 0, 9.81]
  bodies:
    ball: {parent: ground, mass: 50 g, joint: {kind: prismatic, position: 6 mm}}
  magnets:
    coil: {joint: ball, R: 5, L_inf: 20 mH, c: 4e-5 H·m, x0: 1 mm}
  controllers:
    current: {feedback: coil.current, acts_on: coil.voltage, kp: 60 V/A, ki: 6000 V/(A·s), limit: 60 V}
    position: {feedback: ball.position, acts_on: current.reference, reference: 0, kp: 188 A/m, kd: 3 A·s/m}
  stops:
    seat: {a: ball, travel: [0, 10 mm], stiffness: 1e6}
duration: 200 ms
`, []string{"ball.q", "ball.v", "coil.i", "current.integral"}, 1e-7},
}

// element is the machine of a case.
func element(t testing.TB, k int) *MachineRun {
	t.Helper()
	e := &elementCases[k]
	text := []byte("version: 1\nname: " + e.name + "\ntolerance: 1e-11\nmachine:" + e.text)
	if e.file != "" {
		var err error
		if text, err = os.ReadFile(e.file); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := MachineBytes(e.name, text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// peers are the numbers of the other program: of each case the time and its columns.
func peers(t testing.TB) map[string][][]float64 {
	t.Helper()
	f, err := os.Open("testdata/machine_elements.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][][]float64{}
	for _, row := range rows {
		var x []float64
		for _, s := range row[1:] {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
		out[row[0]] = append(out[row[0]], x)
	}
	return out
}

// place of each column among those of the machine.
func placesOf(t testing.TB, m *machine.Machine, names []string) (at []int) {
	t.Helper()
	for _, name := range names {
		found := -1
		for i, c := range m.Columns() {
			if c.Name == name {
				found = i
			}
		}
		if found < 0 {
			t.Fatalf("no column %s", name)
		}
		at = append(at, found)
	}
	return at
}

// Every element of a machine moves as SciPy says, and its energies close.
func TestMachineElements(t *testing.T) {
	all := peers(t)
	for k := range elementCases {
		e := &elementCases[k]
		want := all[e.name]
		c := element(t, k)
		m, x, _, err := c.Begin()
		if err != nil {
			t.Fatal(err)
		}
		at, row, n := placesOf(t, m, e.columns), make([]float64, len(m.Columns())), 0
		peak, miss := make([]float64, len(at)), make([]float64, len(at))
		r, err := m.Run(context.Background(), x, 0, c.Duration,
			machine.Options{Rtol: c.Tolerance, Atol: 1e-2 * c.Tolerance, SampleInterval: want[1][0]}, func(s *machine.Sample) error {
				if m.Row(s, row); n > 0 { // at the start a controller has sampled already
					for i, p := range at {
						peak[i], miss[i] = math.Max(peak[i], math.Abs(want[n][i+1])), math.Max(miss[i], math.Abs(row[p]-want[n][i+1]))
					}
				}
				n++
				return nil
			})
		if err != nil || n != len(want) {
			t.Fatalf("%s: %d rows, want %d: %v", e.name, n, len(want), err)
		}
		for i := range at {
			if !(miss[i] <= e.within*peak[i]) {
				t.Errorf("%s: %s is off by %.3g of %.6g, want %.3g of it", e.name, e.columns[i], miss[i], peak[i], e.within)
			}
		}
		closes := 1e-9
		if e.name == "relay" {
			closes = 1e-8 // of the seat alone, whose force has a corner where steps do not end; all in all it is 1e-11
		}
		if sum := r.Audit.Total(); r.Audit.Check(closes) != nil || !(sum.Relative() < 1e-9) {
			t.Errorf("%s: %v", e.name, r.Audit.Check(closes))
		}
		t.Logf("%s: off by %.2g, peaks %.4g; %d steps", e.name, miss, peak, r.Accepted)
	}
}

// A row leads a joint with dry friction through its turns: the motion does not feel it, the energies close, and both integrators agree.
func TestMachineRowUnderFriction(t *testing.T) {
	c, _, err := MachineBytes("m.yaml", []byte("version: 1\nname: m\nduration: 300 ms\nmachine:\n  gravity: [0, 0, 0]\n  bodies:\n"+
		"    rotor: {parent: ground, joint: {kind: revolute, armature: 1e-3}}\n"+
		"    slider: {parent: ground, mass: 0.5, joint: {kind: prismatic, stiffness: 40, friction: {law: coulomb, Fc: 3}}}\n"+
		"  motors:\n    motor: {joint: rotor, R: 1, L: 2 mH, K: 0.05, voltage: {kind: sine, amplitude: 12 V, frequency: 5 Hz}}\n"+
		"  rows:\n    lead: {of: {slider: -1}, current: {motor: 0.3}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, x, _, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	at := placesOf(t, m, []string{"slider.q", "slider.v", "motor.i", "lead.sigma"})
	r, err := m.Run(context.Background(), x, 0, c.Duration, machine.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Audit.Check(1e-9); err != nil || r.Turns < 3 || r.Kick > 1e-9 {
		t.Errorf("%d turns, brought back by %.3g m/s: %v", r.Turns, r.Kick, err)
	}
	if v, want := x[at[1]], 0.3*x[at[2]]; math.Abs(v-want) > 1e-9 {
		t.Errorf("speed %.12g m/s, want %.12g", v, want)
	}
	if math.Abs(x[at[0]]+x[at[3]]) > 1e-12 {
		t.Errorf("%.12g m and −%.12g m", x[at[0]], x[at[3]])
	}
	off := func(n int) (worst float64) {
		y, _ := stepped(t, c, c.Duration, n)
		for _, p := range at {
			worst = math.Max(worst, math.Abs(y[p]-x[p]))
		}
		return worst
	}
	if coarse, fine := off(300), off(3000); !(coarse < 1e-4) || !(fine < coarse/50) {
		t.Errorf("error %.3g at 1 ms, %.3g at 0.1 ms", coarse, fine)
	}
}

// The fixed step goes where the integrator of adaptive steps goes, by order two, and allocates nothing.
func TestMachineElementsStep(t *testing.T) {
	for k := range elementCases {
		e := &elementCases[k]
		c := element(t, k)
		end, n := math.Min(c.Duration, 0.2), 200
		if e.name == "servo" {
			n = 2000 // its steps are cut where it samples, every 100 µs
		}
		if e.name == "relay" {
			end, n = 0.02, 400 // before the seat, whose contact takes steps below √(m/k)/10
		}
		m, want, _, err := c.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(context.Background(), want, 0, end, machine.Options{Rtol: 1e-11, Atol: 1e-13}, nil); err != nil {
			t.Fatal(err)
		}
		off := func(n int) (worst float64) {
			s, x, err := c.Stepper(machine.StepOptions{})
			if err != nil {
				t.Fatal(err)
			}
			h, i := end/float64(n), 0
			step := func() {
				if st := s.Step(float64(i)*h, h, x); st != engine.OK {
					t.Fatalf("%s: step %d: %v: %s", e.name, i, st, s.StatusText())
				}
				i++
			}
			for i < n-10 {
				step()
			}
			if a := testing.AllocsPerRun(8, step); a > 0 {
				t.Errorf("%s: %g allocations in a step", e.name, a)
			}
			for i < n {
				step()
			}
			for _, p := range placesOf(t, m, e.columns) {
				if p >= len(x) {
					continue // a multiplier is that of an instant
				}
				worst = math.Max(worst, math.Abs(x[p]-want[p])/(1+math.Abs(want[p])))
			}
			return worst
		}
		coarse, fine := off(n), off(10*n)
		order := 50.0
		if e.name == "levitation" {
			order = 4 // it leaves its limit inside a step, which is known to the step
		}
		if !(fine < coarse/order) && fine > 1e-9 || coarse > 0.05 {
			t.Errorf("%s: error %.3g at %d steps, %.3g at %d", e.name, coarse, n, fine, 10*n)
		}
		t.Logf("%s: error %.3g at %.3g s, %.3g at a tenth of it", e.name, coarse, end/float64(n), fine)
	}
}

// A gear with a negative ratio turns its motor the other way: two joints with the same motor and the same voltages go opposite ways.
func TestMachineMotorsTurnedRound(t *testing.T) {
	c, _, err := MachineBytes("m.yaml", []byte("version: 1\nname: m\nduration: 50 ms\nmachine:\n  gravity: [0, 0, 0]\n  bodies:\n"+
		"    a: {parent: ground, joint: {kind: revolute, armature: 2e-3}}\n    b: {parent: ground, joint: {kind: revolute, armature: 2e-3}}\n"+
		"    c: {parent: ground, joint: {kind: revolute, armature: 2e-3}}\n    d: {parent: ground, joint: {kind: revolute, armature: 2e-3}}\n"+
		"  motors:\n"+turned("m", "a", "synchronous", 3, "ud: -1 V, uq: 4 V")+turned("n", "b", "synchronous", -3, "ud: -1 V, uq: 4 V")+
		turned("o", "c", "three-phase", 2, "nodes: [u, v, ground]")+turned("p", "d", "three-phase", -2, "nodes: [u, v, ground]")+
		"  circuit:\n    eu: {kind: voltage-source, from: u, to: ground, voltage: 5}\n    ev: {kind: voltage-source, from: v, to: ground, "+
		"voltage: {kind: sine, amplitude: 3, frequency: 30}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, x, _, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Run(context.Background(), x, 0, c.Duration, machine.Options{}, nil)
	if err != nil || r.Audit.Check(1e-9) != nil {
		t.Fatal(err, r.Audit.Check(1e-9))
	}
	at := placesOf(t, m, []string{"a.q", "b.q", "c.q", "d.q"})
	for k := 0; k < 4; k += 2 {
		if q, p := x[at[k]], x[at[k+1]]; !(math.Abs(q) > 0.01) || math.Abs(q+p) > 1e-9 {
			t.Errorf("%.12g rad and %.12g rad, want the opposite", q, p)
		}
	}
}

// A reluctance motor has no magnets, psi: 0. At rest its torque is 3/2·p·(Ld − Lq)·(ud/R)·(uq/R), which winds up a spring.
func TestMachineReluctanceMotor(t *testing.T) {
	c, _, err := MachineBytes("m.yaml", []byte("version: 1\nname: m\nduration: 3 s\nmachine:\n  gravity: [0, 0, 0]\n  bodies:\n"+
		"    rotor: {parent: ground, joint: {kind: revolute, armature: 1e-3, stiffness: 2, damping: 0.05}}\n"+
		"  motors:\n    m: {kind: synchronous, joint: rotor, R: 0.5, Ld: 20 mH, Lq: 5 mH, psi: 0, pole_pairs: 2, ud: 2 V, uq: 3 V}\n"))
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
	if q, want := x[placesOf(t, m, []string{"rotor.q"})[0]], 1.5*2*(20e-3-5e-3)*(2/0.5)*(3/0.5)/2; math.Abs(q-want) > 1e-6 {
		t.Errorf("%.9g rad, want %.9g", q, want)
	}
}

// turned is a motor with a gear.
func turned(name, joint, kind string, gear float64, fed string) string {
	return fmt.Sprintf("    %s: {kind: %s, joint: %s, gear: %g, R: 0.6, Ld: 3 mH, Lq: 4 mH, psi: 60 mWb, pole_pairs: 4, cogging: "+
		"[{amplitude: 0.01, order: 24}], %s}\n", name, kind, joint, gear, fed)
}

// The table has the current of a motor without inductance, (u − K·w)/R.
func TestMachineCurrentWithoutInductance(t *testing.T) {
	c, _, err := MachineBytes("m.yaml", []byte("version: 1\nname: m\nduration: 100 ms\nmachine:\n  gravity: [0, 0, 0]\n  bodies:\n"+
		"    rotor: {parent: ground, joint: {kind: revolute, armature: 1e-3}}\n"+
		"    other: {parent: ground, joint: {kind: revolute, armature: 1e-3}}\n"+
		"  motors:\n    motor: {joint: rotor, gear: -2, R: 0.5, K: 0.1, voltage: {kind: ramp, rate: 30}}\n    held: {joint: other, R: 0.5, "+
		"K: 0.1}\n"+
		"  controllers:\n    speed: {feedback: other.speed, acts_on: held.voltage, reference: 3, kp: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, x, _, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	at, row := placesOf(t, m, []string{"rotor.v", "motor.i", "other.v", "held.i"}), make([]float64, len(m.Columns()))
	if _, err := m.Run(context.Background(), x, 0, c.Duration, machine.Options{SampleInterval: 0.01}, func(s *machine.Sample) error {
		m.Row(s, row)
		if i, want := row[at[1]], (30*s.T+0.1*2*row[at[0]])/0.5; math.Abs(i-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("at %g s %.12g A, want %.12g", s.T, i, want)
		}
		if i, want := row[at[3]], (2*(3-row[at[2]])-0.1*row[at[2]])/0.5; math.Abs(i-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("at %g s %.12g A under control, want %.12g", s.T, i, want)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A row follows the rate of a current from the start on: i″ = ω·u/L there, which m·Rate times is the force.
func TestMachineRowAtTheStart(t *testing.T) {
	c, _, err := MachineBytes("m.yaml", []byte("version: 1\nname: m\nduration: 20 ms\nmachine:\n  gravity: [0, 0, 0]\n  bodies:\n"+
		"    slider: {parent: ground, mass: 0.5, joint: {kind: prismatic}}\n"+
		"  circuit:\n    source: {kind: voltage-source, from: a, to: ground, voltage: {kind: sine, amplitude: 10 V, frequency: 5 Hz}}\n "+
		"   coil: {kind: inductor, from: a, to: ground, L: 50 mH}\n"+
		"  rows:\n    lead: {of: {slider: 1}, rate: {coil: -2e-3}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, x, _, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	at, row := placesOf(t, m, []string{"lead"}), make([]float64, len(m.Columns()))
	const w = 2 * math.Pi * 5
	r, err := m.Run(context.Background(), x, 0, c.Duration, machine.Options{SampleInterval: 1e-3}, func(s *machine.Sample) error {
		m.Row(s, row)
		if force, want := row[at[0]], 0.5*2e-3*10*w/50e-3*math.Cos(w*s.T); math.Abs(force-want) > 1e-7 {
			t.Errorf("at %g s %.9g N, want %.9g", s.T, force, want)
		}
		return nil
	})
	if err != nil || r.Kick > 1e-9 {
		t.Errorf("brought back by %.3g m/s: %v", r.Kick, err)
	}
}
