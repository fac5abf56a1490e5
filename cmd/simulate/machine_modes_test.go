package simulate

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// root tells whether s meets c[0] + c[1]·s + c[2]·s² … = 0, by its share of the terms.
func root(s complex128, c []float64) float64 {
	sum, size := complex(0, 0), 0.0
	for k, x := range c {
		term := complex(x, 0) * cmplx.Pow(s, complex(float64(k), 0))
		sum, size = sum+term, size+cmplx.Abs(term)
	}
	return cmplx.Abs(sum) / size
}

func machineOf(rest string) string {
	return "{version: 1, name: m, duration: 1 s, machine: {gravity: [0, -9.81, 0], " + rest + "}}"
}

// The eigenvalues of machines whose equations stand in any book: each meets its polynomial, and there are as many as its order.
func TestModesAgainstClosedForms(t *testing.T) {
	const g, hang = 9.81, "position: -1.4 rad, "
	pendulum := func(more string) string {
		return machineOf(`bodies: {arm: {parent: ground, joint: {kind: revolute, ` + more + `}, mass: 2 kg, com: [0.4, 0, 0], inertia_z: 0.05}}`)
	}
	const inertia, weight = 0.05 + 2*0.4*0.4, 2 * g * 0.4
	slide := func(name, on string, mass float64, more string) string {
		return fmt.Sprintf("%s: {parent: %s, joint: {kind: prismatic, axis: [1, 0, 0], %s}, mass: %g kg}", name, on, more, mass)
	}
	for name, c := range map[string]struct {
		text  string
		poly  []float64 // of s
		warns string
	}{
		"pendulum":    {pendulum(hang + "damping: 0.3 N·m·s/rad"), []float64{weight, 0.3, inertia}, ""},
		"damped much": {pendulum(hang + "damping: 20 N·m·s/rad"), []float64{weight, 20, inertia}, ""},
		"upside down": {pendulum("position: 1.5707963267948966 rad, damping: 0.3 N·m·s/rad"), []float64{-weight, 0.3, inertia},
			"unstable"},
		"with dry friction": {pendulum(hang + "friction: {law: coulomb, Fc: 1 N·m}"), []float64{weight, 0, inertia}, "friction that sticks"},
		"two masses": {machineOf("bodies: {" + slide("a", "ground", 3, "stiffness: 500 N/m") + ", " + slide("b", "a", 2,
			"stiffness: 300 N/m") + "}"), []float64{500 * 300, 0, 500*2 + 300*5, 0, 6}, ""},
		"two free masses": {machineOf("bodies: {" + slide("a", "ground", 3, "position: 0") + ", " + slide("b", "a", 2,
			"stiffness: 300 N/m, damping: 4 N·s/m") + "}"), []float64{0, 0, 300 * 5, 4 * 5, 6}, ""},
		"springs in between": {machineOf("bodies: {" + slide("a", "ground", 3, "stiffness: 500 N/m") + ", " + slide("b", "ground", 2,
			"position: 1 m") + "}, springs: {k: {a: a, b: b, stiffness: 300 N/m, length: 1 m}}"), []float64{500 * 300, 0, 500*2 + 300*5, 0, 6}, ""},
		"double pendulum": {machineOf(`bodies: {upper: {parent: ground, joint: {kind: revolute, position: -1.5 rad}, mass: 0.7 kg, com: [0.5, 0, 0]},
			lower: {parent: upper, at: [0.5, 0, 0], joint: {kind: revolute}, mass: 0.7 kg, com: [0.5, 0, 0]}}`), []float64{2 * (g / 0.5) * (g / 0.5), 0, 4 * g / 0.5, 0, 1}, ""},
		"point on a rod": {machineOf("bodies: {x: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], position: 0.1 m}}, y: {parent: x, " +
			"joint: {kind: prismatic, axis: [0, 1, 0], position: -0.7 m}, mass: 1.3 kg}}, " +
			"loops: {rod: {kind: distance, a: ground, b: y, length: 0.71 m}}"), []float64{g / 0.71, 0, 1}, ""},
		"motor with inductance": {machineOf(`bodies: {rotor: {parent: ground, joint: {kind: revolute, armature: 0.002 kg·m², damping: 0.01 N·m·s/rad}}},
			motors: {m: {joint: rotor, kind: dc, R: 0.8 Ω, L: 3 mH, K: 0.12 N·m/A, voltage: 0 V}}`), []float64{0, 0.01*0.8 + 0.12*0.12, 0.002*0.8 + 0.01*0.003, 0.002 * 0.003}, ""},
		"motor on a spring": {machineOf(`bodies: {rotor: {parent: ground, joint: {kind: revolute, armature: 0.002 kg·m², stiffness: 5 N·m/rad}}},
			motors: {m: {joint: rotor, kind: dc, R: 0.8 Ω, L: 3 mH, K: 0.12 N·m/A, voltage: 6 V}}`), []float64{5 * 0.8, 5*0.003 + 0.12*0.12, 0.002 * 0.8, 0.002 * 0.003}, ""},
		"controller": {machineOf("bodies: {" + slide("a", "ground", 2, "damping: 1 N·s/m") + "}, controllers: {p: {feedback: a.position, " +
			"acts_on: a.effort, reference: 0 m, kp: 80 N/m, ki: 100 N/(m·s), kd: 6 N·s/m, limit: 1000 N}}"),
			[]float64{100, 80, 7, 2}, ""},
	} {
		_, r, stderr, err := simulateText(t, c.text, Options{Modes: true})
		if err != nil {
			t.Errorf("%s: %v %s", name, err, stderr)
			continue
		}
		if c.warns == "" && stderr != "" || !strings.Contains(stderr, c.warns) {
			t.Errorf("%s: said %q, want %q", name, stderr, c.warns)
		}
		order, zeros, free := 0, 0, 0
		for c.poly[free] == 0 {
			free++
		}
		for _, m := range r["modes"].([]any) {
			k := m.(map[string]any)
			s := complex(k["real_1_s"].(float64), k["imaginary_1_s"].(float64))
			if order++; imag(s) != 0 {
				order++
			}
			if s == 0 {
				zeros++
			} else if off := root(s, c.poly[free:]); off > 1e-9 {
				t.Errorf("%s: %v misses its polynomial by %.2g", name, s, off)
			}
			if f := k["frequency_Hz"].(float64); math.Abs(2*math.Pi*f-imag(s)) > 1e-12*cmplx.Abs(s) {
				t.Errorf("%s: %v and %g Hz", name, s, f)
			}
			if z, ok := k["damping_ratio"].(float64); ok && math.Abs(z*cmplx.Abs(s)+real(s)) > 1e-12*cmplx.Abs(s) || ok == (s == 0) {
				t.Errorf("%s: %v and a damping ratio of %v", name, s, k["damping_ratio"])
			}
			sum := 0.0
			for _, x := range k["share"].(map[string]any) {
				sum += x.(float64)
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: shares of %v are %g in sum", name, s, sum)
			}
		}
		if order != len(c.poly)-1 || zeros != free {
			t.Errorf("%s: %d eigenvalues, %d of them 0; want %d and %d", name, order, zeros, len(c.poly)-1, free)
		}
	}
}

// The masses of a symmetric pair move together in the slow mode and against each other in the fast one.
func TestShapesOfModes(t *testing.T) {
	_, r, stderr, err := simulateText(t, machineOf(`bodies: {a: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], stiffness: 100 N/m}, mass: 1 kg},
		b: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], position: 1 m, stiffness: 100 N/m, rest: 1 m}, mass: 1 kg}}, springs: {k: {a: a, b: b, stiffness: 40 N/m, length: 1 m}}`), Options{Modes: true})
	if err != nil {
		t.Fatal(err, stderr)
	}
	var ratios []float64
	for _, m := range r["modes"].([]any) {
		shape := m.(map[string]any)["shape"].(map[string]any)
		at := func(name string) complex128 {
			x := shape[name].([]any)
			return complex(x[0].(float64), x[1].(float64))
		}
		ratio := at("a.q_m") / at("b.q_m")
		if math.Abs(imag(ratio)) > 1e-9 {
			t.Errorf("ratio %v", ratio)
		}
		ratios = append(ratios, math.Round(1e9*real(ratio))/1e9)
	}
	if !slices.Equal(ratios, []float64{1, -1}) {
		t.Errorf("ratios %v", ratios)
	}
}

func TestModesRefused(t *testing.T) {
	free := "bodies: {a: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0]%s}, mass: 1 kg}}"
	for name, c := range map[string]struct {
		text string
		f    Options
		code int
		want string
	}{
		"no equilibrium": {machineOf(fmt.Sprintf(free, ", effort: 3 N")), Options{}, report.Quality, "source at 0"},
		"moving motion": {machineOf(fmt.Sprintf(free, ", motion: {kind: sine, amplitude: 1 m, frequency: 1 Hz}")), Options{}, report.Quality,
			"moves at the start"},
		"all held": {machineOf(fmt.Sprintf(free, ", motion: {kind: constant, offset: 0 m}")), Options{}, report.Quality,
			"no degree of freedom"},
		"sampled": {machineOf(fmt.Sprintf(free, "") + ", controllers: {p: {feedback: a.position, acts_on: a.effort, reference: 0 m, " +
			"kp: 80 N/m, limit: 1000 N, every: 1 ms}}"), Options{}, report.Quality, "samples"},
		"controlled away": {machineOf(fmt.Sprintf(free, "") + ", controllers: {p: {feedback: a.position, acts_on: a.effort, reference: 1 m, " +
			"kp: 80 N/m, limit: 1000 N}}"), Options{}, report.Quality, "does not rest"},
		"with a step": {machineOf(fmt.Sprintf(free, "")), Options{Step: 1e-3}, report.Usage, "no step"},
		"no machine": {"{version: 1, name: s, system: scene, duration: 1 s, engine: {step: 1 ms}, scene: {bodies: [{name: a, shape: disc, " +
			"radius: 1 m, mass: 1 kg}], pairs: []}}", Options{}, report.Usage, "--modes is for a machine"},
	} {
		f := c.f
		f.Modes = true
		_, _, _, err := simulateText(t, c.text, f)
		if err == nil || report.ExitCode(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, exit %d; want %d, %q", name, err, report.ExitCode(err), c.code, c.want)
		}
	}
}

// A position on which no force depends is called free: the value that is told of it is one of many. Those that gravity or springs hold are
// not.
func TestModesSayWhatIsFree(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"upright axis": {`{version: 1, name: m, duration: 1 s, machine: {gravity: [0, 0, -9.81], bodies: {
			turn: {parent: ground, joint: {kind: revolute, axis: [0, 0, 1], position: 0.3 rad, damping: 0.1 N·m·s/rad}, mass: 1 kg, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01]},
			hangs: {parent: turn, at: [0.2, 0, 0], joint: {kind: revolute, axis: [0, 1, 0]}, mass: 1 kg, com: [0, 0, -0.3], inertia: [0.01, 0.01, 0.01]}}}}`, []string{"turn.q_rad"}},
		"held by a spring": {machineOf("bodies: {a: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0], stiffness: 1e-3 N/m}, " +
			"mass: 1 kg}}"), nil},
		"two on a spring": {machineOf("bodies: {a: {parent: ground, joint: {kind: prismatic, axis: [1, 0, 0]}, mass: 1 kg}, b: {parent: " +
			"ground, joint: {kind: prismatic, axis: [1, 0, 0], position: 1 m}, mass: 1 kg}}, springs: {k: {a: a, b: b, stiffness: 300 N/m, " +
			"length: 1 m}}"), []string{"a.q_m", "b.q_m"}},
	} {
		_, r, stderr, err := simulateText(t, c.text, Options{Modes: true})
		if err != nil {
			t.Errorf("%s: %v %s", name, err, stderr)
			continue
		}
		var got []string
		for _, x := range r["free"].([]any) {
			got = append(got, x.(string))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: free are %v, want %v", name, got, c.want)
		}
	}
}
