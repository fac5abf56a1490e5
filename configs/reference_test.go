package configs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/reference"
)

// examples of every shape, by kind: keys, and the highest frequency (Hz) and speed (rad/s) worked out by hand.
var shapeExamples = map[reference.Kind]struct {
	keys             string
	frequency, speed float64
}{
	"constant":  {"", 0, 0},
	"step":      {"amplitude: 2, frequency: 0.5 Hz", 0, 0},
	"ramp":      {"velocity: -3", 0, 3},
	"trapezoid": {"amplitude: -1, velocity: 5, acceleration: 4", 0, 2}, // √(1·4): too short to cruise
	"sine":      {"amplitude: -0.5, frequency: 2 Hz", 2, 2 * math.Pi},
	"multisine": {"tones: [{amplitude: 1, frequency: 1 Hz}, {amplitude: 0.5, frequency: 3 Hz, phase: 1}]", 3, 5 * math.Pi},
	"chirp":     {"amplitude: 1, frequency: 4 Hz, frequency_end: 1 Hz, sweep: 10 s", 4, 8 * math.Pi},
	"file":      {"file: motion.csv", 0, 1.5}, // a cubic from rest to rest over 1 rad in 1 s
	"levels":    {"levels: [{value: 1, hold: 1 s}, {value: -1, hold: 1 s}], rise: 0.5 s", 0, 4},
}

// Every shape loads in a rig file and as the input of a simulation, is fast as it should be, and lacks what it needs.
func TestEveryShape(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "motion.csv"), []byte("time_s,position_rad,velocity_rad_s\n0,0,0\n1,1,0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	demo := string(DemoYAML())
	i, j := strings.Index(demo, "\nreference:"), strings.Index(demo, "\ncontrol:")
	if i < 0 || j < i {
		t.Fatal("the demo has no reference before its control")
	}
	docs, err := os.ReadFile("../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range reference.Shapes {
		ex, ok := shapeExamples[shape.Kind]
		if !ok {
			t.Errorf("%s has no example here", shape.Kind)
			continue
		}
		if !strings.Contains(string(docs), "`"+string(shape.Kind)+"`") {
			t.Errorf("docs/simulate.md does not know %s", shape.Kind)
		}
		section := strings.TrimSuffix(fmt.Sprintf("{kind: %s, %s", shape.Kind, ex.keys), ", ") + "}"
		rig := func(section string) error {
			_, _, err := CheckBytes(filepath.Join(dir, "rig.yaml"), []byte(strings.ReplaceAll(demo[:i], "max_speed", "# max_speed")+"\nreference: "+section+demo[j:]))
			return err
		}
		if err := rig(section); err != nil {
			t.Errorf("rig, %s: %v", shape.Kind, err)
		}
		simulate := func(section string) (*Simulate, error) {
			c, _, err := SimulateBytes(filepath.Join(dir, "x.yaml"), fmt.Appendf(nil, "version: 1\nname: x\naxis: rotary\nplant: {kind: imposed-motion}\ninput: %s\n"+
				"friction: {law: coulomb, Fc: 1, mu: 0, N0: 0}\nstep: 1 ms\nduration: 1 s\n", section))
			return c, err
		}
		c, err := simulate(section)
		if err != nil {
			t.Errorf("simulate, %s: %v", shape.Kind, err)
			continue
		}
		if f, v := reference.Fastest(c.Input.Generator()); f != ex.frequency || math.Abs(v-ex.speed) > 1e-12*ex.speed {
			t.Errorf("%s: %g Hz, %g rad/s, want %g, %g", shape.Kind, f, v, ex.frequency, ex.speed)
		}
		for _, n := range shape.Needs {
			lacking := fmt.Sprintf("{kind: %s}", shape.Kind)
			if err := rig(lacking); err == nil || !strings.Contains(err.Error(), "reference."+n.Key+" is missing") {
				t.Errorf("rig, %s without %s: %v", shape.Kind, n.Key, err)
			}
			if _, err := simulate(lacking); err == nil || !strings.Contains(err.Error(), "input."+n.Key+" is missing") {
				t.Errorf("simulate, %s without %s: %v", shape.Kind, n.Key, err)
			}
		}
	}
	for kind := range shapeExamples {
		if !slices.Contains(kind.Words(), string(kind)) {
			t.Errorf("%s is no shape", kind)
		}
	}
}
