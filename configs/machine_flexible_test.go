package configs

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"hilrig/engine/machine"
)

// elasticArm is the example with changes.
func elasticArm(t *testing.T, changes ...string) *MachineRun {
	t.Helper()
	data, err := os.ReadFile("machine/elastic-arm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	c, _, err := MachineBytes("elastic-arm.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wholeEffort is the effort of the example as its file has it.
const wholeEffort = "effort: {kind: levels, levels: [{value: 0.6 N·m, hold: 400 ms}, {value: -0.6 N·m, hold: 400 ms}, {value: 0 N·m, " +
	"hold: 2 s}]}"

// Small motions of the example are those of testdata/elastic_arm.py, where no frame turns and no mode is chosen: with three modes but for
// what they leave out, with twelve to five digits.
func TestElasticArm(t *testing.T) {
	table := [][3]float64{ // s, rad, m
		{0.05, 1.880074944e-05, -9.797231909e-08}, {0.10, 2.648294510e-05, 8.901951821e-06}, {0.20, 7.060128295e-05, 4.219858801e-05},
		{0.40, 2.213938030e-04, 1.798874019e-04}, {0.70, 6.574890989e-04, 5.538972794e-04}, {1.00, 1.334905141e-03, 1.130386346e-03},
	}
	for _, k := range []struct {
		modes, sense string
		end, within  float64
	}{{"modes: 3", "", 0.4, 1.5e-3}, {"modes: 3", "-", 0.4, 1.5e-3}, {"modes: 12", "", 0.2, 2e-5}} {
		c := elasticArm(t, "modes: 3", k.modes, wholeEffort, "effort: "+k.sense+"0.6 mN·m")
		m, x, _, err := c.Begin()
		if err != nil {
			t.Fatal(err)
		}
		load, err := m.Model.Frame("load")
		if err != nil {
			t.Fatal(err)
		}
		side := 1.0
		if k.sense != "" {
			side = -1
		}
		start := append([]float64(nil), x...)
		for _, row := range table {
			if row[0] > k.end {
				break
			}
			copy(x, start)
			if _, err := m.Run(context.Background(), x, 0, row[0], machine.Options{Rtol: 1e-9, Atol: 1e-13}, func(s *machine.Sample) error {
				if s.T < row[0] {
					return nil
				}
				_, at := m.Model.FramePose(m.Data, load)
				if e, d := math.Abs(side*s.X[0]-row[1]), math.Abs(side*at.Y-row[2]); e > k.within*row[1] || d > k.within*0.85*row[1] {
					t.Errorf("%s, %g s: hub off by %.2g of %.3g rad, load by %.2g of %.3g m", k.modes, row[0], e, row[1], d, row[2])
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// An arm that is clamped sags under its own weight and that of its load as beams do: ρ·A·g·L⁴/(8·EI) + m·g·L³/(3·EI), either
// way.
func TestElasticArmSags(t *testing.T) {
	for _, k := range []struct{ bends, gravity string }{{"y", "[0, -9.81, 0]"}, {"y", "[0, 9.81, 0]"}, {"z", "[0, 0, -9.81]"},
		{"z", "[0, 0, 9.81]"}} {
		c := elasticArm(t, "gravity: [0, 0, 0]", "gravity: "+k.gravity, "modes: 3", "modes: 16\n        bends: "+k.bends, "load:\n", "load:\n",
			"joint: {kind: revolute, armature: 0.02 kg·m², damping: 0.002 N·m·s/rad, "+wholeEffort+"}", "joint: {kind: fixed}\n      mass: 1 kg",
			"duration: 2 s", "duration: 2 s\nstart: {equilibrium: true}", "second_moment: 45 mm⁴", "second_moment: 4500 mm⁴")
		m, x, _, err := c.Begin()
		if err != nil {
			t.Fatal(err)
		}
		const stiffness = 210e9 * 4500e-12
		want := 7850*60e-6*9.81*math.Pow(0.8, 4)/(8*stiffness) + 0.15*9.81*math.Pow(0.8, 3)/(3*stiffness)
		sag := 0.0 // modes are told by the deflection of the tip
		for _, a := range x[:m.Model.NQ()] {
			sag += a
		}
		if !strings.Contains(k.gravity, "-") {
			sag = -sag
		}
		if math.Abs(sag+want) > 1e-6*want {
			t.Errorf("bends %s, gravity %s: %.9g m, want %.9g m", k.bends, k.gravity, sag, -want)
		}
	}
}

// What a flexible body cannot be is said.
func TestElasticArmRefused(t *testing.T) {
	data, err := os.ReadFile("machine/elastic-arm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ from, to, want string }{
		{"modes: 3", "modes: 17", "17, and 8 elements have 16"},
		{"middle: {x: 0.4 m}", "middle: {x: 0.9 m}", "0.9 m, and the beam ends at 0.8 m"},
		{"middle: {x: 0.4 m}", "tip: {x: 0.4 m}", "the tip is there already"},
		{"parent: arm.tip", "parent: arm.tp", `"arm.tp"`},
		{"parent: arm.tip", "parent: arm", "machine.bodies.load.parent: arm is the clamp of an elastic body, and what stands there does not " +
			"bend it: take arm.quarter or arm.middle"},
		{"duration:", "  frames: {end: {body: arm, at: [0.8, 0, 0]}}\nduration:", "machine.frames.end.body: arm is the clamp"},
		{"duration:", "  springs: {k: {a: ground, at_a: [1, 1, 0], b: arm, stiffness: 10}}\nduration:", "machine.springs.k.b: arm is the clamp"},
		{"duration:", "  loops: {pin: {kind: point, a: arm, at_a: [0.8, 0, 0], b: ground}}\nduration:", "machine.loops.pin.a: arm is the clamp"},
		{"      flexible:", "      mass: 1 kg\n      flexible:", "has the mass of its beam"},
		{"length: 0.8 m", "length: -0.8 m", "length"},
		{"second_moment: 45 mm⁴", "second_moment: 45 mm²", "second_moment"},
		{"bends: y", "bends: x", "bends"},
	} {
		text := strings.Replace(string(data), "modes: 3", "modes: 3\n        bends: y", 1)
		text = strings.Replace(text, k.from, k.to, 1)
		if _, _, err := MachineBytes("arm.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, want %q", k.to, err, k.want)
		}
	}
	rig, err := os.ReadFile("two-link-mechanism.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(rig), "      mass: 0.8 kg\n      com: [0, -150 mm, 0]\n      inertia_z: 0.009 kg·m²\n",
		"      flexible: {length: 0.4 m, young: 210 GPa, second_moment: 45 mm⁴, area: 60 mm², density: 7850 kg/m³}\n", 1)
	if _, err := LoadBytes("rig.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "the bodies of a mechanism are rigid") {
		t.Errorf("mechanism: %v", err)
	}
}

// Torques do not tell the parameters of a body that bends.
func TestElasticArmHasNoRegression(t *testing.T) {
	const fit = `{version: 1, machine: machine/elastic-arm.yaml, data: {file: run.csv, time: {name: t, unit: s}, joints: {hub: {position: {name: q, unit: rad}, torque: {name: u, unit: N·m}}}}}`
	if _, _, err := MachineFitBytes("fit.yaml", []byte(fit)); err == nil || !strings.Contains(err.Error(), "body arm of "+
		"machine/elastic-arm.yaml is flexible") {
		t.Error(err)
	}
}
