package simulate

import (
	"math"
	"os"
	"testing"

	"hilrig/configs"
)

// An arm of 0.8 m bends by the sum of its modes, either way; more than a tenth of its length is said with the time.
func TestWarnsOfLargeBending(t *testing.T) {
	data, err := os.ReadFile("../../configs/machine/elastic-arm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := configs.MachineBytes("arm.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		second, third float64 // m  of the last row
		warned        bool
	}{{0.05, 0.029, false}, {0.05, 0.031, true}, {-0.05, -0.029, false}, {-0.05, -0.031, true}, {0.1, -0.1, false}} {
		s := machineRun{cfg: cfg}
		s.columns = []column{{name: "t", x: []float64{0, 1}}, {name: "arm.mode1.q", x: []float64{0, 0}},
			{name: "arm.mode2.q", x: []float64{0, c.second}}, {name: "arm.mode3.q", x: []float64{0, c.third}}}
		warned := false
		s.bends(func(_ string, a ...any) {
			warned = a[0] == "arm" && a[2] == 1.0 && math.Abs(a[1].(float64)-0.081/0.8) < 1e-9
		})
		if warned != c.warned {
			t.Errorf("%g and %g m: warned %v", c.second, c.third, warned)
		}
	}
}
