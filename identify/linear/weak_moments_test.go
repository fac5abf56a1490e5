package linear

import (
	"math"
	"testing"
)

// The sums of a test function see rest, constant velocity and constant acceleration as the integrals do, also in short
// windows far from position zero.
func TestBumpMoments(t *testing.T) {
	const h = 1e-3
	for _, n := range []int{8, 32, 200} {
		w := bump(n, h)
		var v, a, mean float64
		for i := range w.phi {
			s := float64(i) * h
			x := 0.3 + 0.2*s + 1.5*s*s/2
			v -= w.d1[i] * x
			a += w.d2[i] * x
			mean += w.phi[i] * (0.2 + 1.5*s)
		}
		if math.Abs(v-mean) > 1e-9 || math.Abs(a-1.5) > 1e-6 {
			t.Errorf("%d points: velocity %.12g, want %.12g; acceleration %.9g, want 1.5", n, v, mean, a)
		}
	}
}
