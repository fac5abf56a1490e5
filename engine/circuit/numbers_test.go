package circuit

import (
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
)

// A circuit whose numbers were changed is the one that is built with them; refused numbers change nothing; setting allocates nothing.
func TestParams(t *testing.T) {
	c := everything(t)
	ps := c.Params()
	theta := make([]float64, len(ps))
	for k, p := range ps {
		theta[k] = p.Value
	}
	flow := func() []float64 {
		x, dx := make([]float64, len(c.States())), make([]float64, len(c.States()))
		c.Reset(x)
		x[1], x[3], x[4], x[5] = 0.4, 2, 1, -1
		tau := make([]float64, 2)
		c.Flow(0, []float64{0.3, 1e-3}, []float64{20, 0.1}, x, dx, tau)
		return append(dx, tau...)
	}
	before := flow()
	for k := range ps {
		v := theta[k]
		theta[k] *= 1.1
		if err := c.SetParams(theta); err != nil {
			t.Fatal(err)
		}
		after := flow()
		if slices.Equal(before, after) {
			t.Errorf("%s changes nothing", ps[k].Name)
		}
		theta[k] = v
		if err := c.SetParams(theta); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(before, flow()) {
			t.Errorf("%s does not come back", ps[k].Name)
		}
	}
	k := slices.IndexFunc(ps, func(p engine.Param) bool { return p.Name == "coil.C" })
	theta[k] = -1
	if err := c.SetParams(theta); err == nil || !strings.Contains(err.Error(), "coil.C: -1 H·m") {
		t.Error(err)
	}
	if !slices.Equal(before, flow()) {
		t.Error("refused, and changed")
	}
	theta[k] = ps[k].Value
	if a := testing.AllocsPerRun(20, func() { _ = c.SetParams(theta) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}
