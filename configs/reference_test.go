package configs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/engine/reference"
)

// fastest are the highest frequency (Hz) and speed (rad/s) of the examples that have any, worked out by hand.
var fastest = map[reference.Kind][2]float64{
	"ramp":      {0, 3},
	"trapezoid": {0, 2}, // √(1·4): too short to cruise
	"sine":      {2, 2 * math.Pi},
	"multisine": {3, 5 * math.Pi},
	"chirp":     {4, 8 * math.Pi},
	"file":      {0, 1.5}, // a cubic from rest to rest over 1 rad in 1 s
	"levels":    {0, 4},
}

// Every shape loads in a rig file and as the input of a simulation, is fast as it should be, and lacks what it needs.
func TestEveryShape(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "motion.csv"), []byte("time_s,position_rad,velocity_rad_s\n0,0,0\n1,1,0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	demo := string(DemoYAML())
	i, j := strings.Index(demo, "\n    reference:"), strings.Index(demo, "\n    control:")
	if i < 0 || j < i {
		t.Fatal("the demo has no reference before its control")
	}
	for _, shape := range reference.Shapes {
		rig := func(section string) error {
			_, _, err := CheckBytes(filepath.Join(dir, "rig.yaml"),
				[]byte(strings.ReplaceAll(demo[:i], "max_speed", "# max_speed")+"\n    reference: "+section+demo[j:]))
			return err
		}
		if err := rig(shape.Example); err != nil {
			t.Errorf("rig, %s: %v", shape.Kind, err)
		}
		simulate := func(section string) (*Simulate, error) {
			c, _, err := SimulateBytes(filepath.Join(dir, "x.yaml"), fmt.Appendf(nil, "version: 1\nname: x\naxis: rotary\nplant: {kind: "+
				"imposed-motion}\ninput: %s\n"+
				"friction: {law: coulomb, Fc: 1, mu: 0, N0: 0}\nstep: 1 ms\nduration: 1 s\n", section))
			return c, err
		}
		c, err := simulate(shape.Example)
		if err != nil {
			t.Errorf("simulate, %s: %v", shape.Kind, err)
			continue
		}
		g := c.Input.Generator()
		f, v := reference.Fastest(g)
		if want, ok := fastest[shape.Kind]; ok && (f != want[0] || math.Abs(v-want[1]) > 1e-12*want[1]) {
			t.Errorf("%s: %g Hz, %g rad/s, want %g, %g", shape.Kind, f, v, want[0], want[1])
		}
		const h = 1e-4 // s
		for x, k := pos(g, 0), 1; k <= 20e4; k++ {
			y := pos(g, float64(k)*h)
			switch step := math.Abs(y - x); {
			case step > 0.1 && shape.Kind == "step": // a jump has no speed
			case step > v*h*(1+1e-9)+1e-12:
				t.Fatalf("%s: moves by %g rad in %g s before %g s, faster than %g rad/s", shape.Kind, step, h, float64(k)*h, v)
			}
			x = y
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
}

func pos(g reference.Generator, t float64) float64 {
	x, _, _ := g.At(t)
	return x
}
