package configs

import (
	"math"
	"path/filepath"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine/machine"
)

// What half steps say of the error of a step is what the integrator of adaptive steps says of it.
func TestCoarseIsTheError(t *testing.T) {
	const h, n = 1e-3, 200
	for _, f := range []string{"crank-rocker", "double-pendulum", "motor-gear-load", "top"} {
		c, _, err := LoadMachine(filepath.Join("machine", f+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		found, err := machine.MeasureCoarseness(func() (*machine.Stepper, []float64, error) { return c.Stepper(machine.StepOptions{}) }, nil, h,
			n)
		if err != nil || found.Reason != "" {
			t.Fatal(f, err, found.Reason)
		}
		at := int(math.Round(found.T / h))
		want := endOf(t, c, found.T)
		got, s := stepped(t, c, found.T, at)
		off := 0.0
		for i, g := range s.M.Columns()[:len(got)] {
			if g.Name == found.Signal {
				off = math.Abs(got[i]-want[i]) / (1 + math.Abs(want[i]))
			}
		}
		if r := found.Error / off; !(r > 0.8 && r < 1.25) {
			t.Errorf("%s: %s is off by %.3g at %.3g s, half steps say %.3g", f, found.Signal, off, found.T, found.Error)
		}
	}
}

// Steps of 1 ms are too coarse for the squeezer, and said to be; they are good enough for a crank-rocker.
func TestCoarseIsSaid(t *testing.T) {
	for f, coarse := range map[string]bool{"squeezer": true, "crank-rocker": false} {
		c, _, err := LoadMachine(filepath.Join("machine", f+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		r := schema.NewReport(nil)
		c.checkStep(r, "machine", []string{c.Machine.Bodies[0].Name}, 1e-3)
		if n := len(r.Warnings()); n > 1 || (n == 1) != coarse || len(r.Problems()) > 0 {
			t.Errorf("%s: %v", f, r.Warnings())
		}
	}
}
