package fit

import (
	"math"
	"testing"

	"hilrig/engine"
)

// Suspects that repeat along the way are sines and cosines of it, with half a cycle more in the span from one to the next, beginning with
// two cycles, also far from zero and at rows that are not looked at.
func TestCoggingColumns(t *testing.T) {
	const n, span = 3 * unmodelledRows, 0.2
	s := &Solution{Unit: "N", Dt: 1e-3, Params: []Param{{Param: engine.Param{Name: "Fv", Value: 1}}}, FreeParams: []int{0}}
	for k := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / n)
		s.Position, s.Velocity = append(s.Position, 3-span/2*cos), append(s.Velocity, sin)
	}
	s.Residual, s.Measured, s.Jac = make([]float64, n), s.Velocity, s.Velocity
	halves := 4
	for _, sp := range Suspects(s, false, true) {
		if sp.Kind != "cogging" {
			continue
		}
		for k := range n {
			sin, cos := math.Sincos(math.Pi * float64(halves) / span * s.Position[k])
			if x, y := sp.Columns[0](k), sp.Columns[1](k); math.Abs(x-sin) > 1e-10 || math.Abs(y-cos) > 1e-10 {
				t.Fatalf("%s: row %d is %.12g and %.12g, want %.12g and %.12g", sp.What, k, x, y, sin, cos)
			}
		}
		halves++
	}
	if halves < 100 {
		t.Errorf("%d half cycles at most", halves)
	}
}
