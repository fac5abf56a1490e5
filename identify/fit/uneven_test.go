package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Noise is alike all along a record, though it depends on its neighbours; what dies away, or grows, is not. Of noise one draw in a thousand
// is told, of noise that depends on its neighbours a few.
func TestUneven(t *testing.T) {
	const rows, draws = 2000, 400
	for _, c := range []struct {
		name        string
		rho         float64
		size        func(share float64) float64
		least, most float64 // share of the draws with a probability below 0.1 %
	}{
		{"noise", 0, func(float64) float64 { return 1 }, 0, 0.01},
		{"noise that depends on its neighbours", 0.9, func(float64) float64 { return 1 }, 0, 0.02},
		{"it dies away", 0.9, func(x float64) float64 { return math.Exp(-2 * x) }, 0.95, 1},
		{"it grows", 0.9, func(x float64) float64 { return math.Exp(2 * (x - 1)) }, 0.95, 1},
		{"it is there at the end only", 0, func(x float64) float64 { return 1 + math.Floor(x+0.1) }, 0.95, 1},
	} {
		rng := rand.New(rand.NewPCG(11, 12))
		told := 0
		for range draws {
			s, x := &Solution{}, 0.0
			for k := range rows {
				x = c.rho*x + math.Sqrt(1-c.rho*c.rho)*rng.NormFloat64()
				s.Residual = append(s.Residual, c.size(float64(k)/rows)*x)
			}
			if Uneven(s) < 1e-3 {
				told++
			}
		}
		if share := float64(told) / draws; share < c.least || share > c.most {
			t.Errorf("%s: uneven in %.3f of the draws, want %g to %g", c.name, share, c.least, c.most)
		}
	}
	if p := Uneven(&Solution{Residual: make([]float64, 100)}); p != 1 {
		t.Errorf("of 100 rows: %g", p)
	}
	if p := Uneven(&Solution{Residual: make([]float64, 1000)}); p != 1 {
		t.Errorf("of nothing: %g", p)
	}
}
