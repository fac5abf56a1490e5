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

// The sums see a sine as the integrals do too, with as few points as a window has by default: velocity and acceleration over what they are
// of the position that passes, with 10 to 40 samples a turn.
func TestBumpOfASine(t *testing.T) {
	const h = 1e-2
	for _, n := range []int{8, 12, 24} {
		w := bump(n, h)
		middle := float64(len(w.phi)-1) / 2
		for _, turn := range []float64{40, 20, 10} { // samples
			omega := 2 * math.Pi / (turn * h)
			var passes, v, a float64
			for i := range w.phi {
				sin, cos := math.Sincos(omega * h * (float64(i) - middle))
				passes, v, a = passes+w.phi[i]*cos, v-w.d1[i]*sin, a-w.d2[i]*cos
			}
			v, a = v/(omega*passes)-1, a/(omega*omega*passes)-1
			if math.Abs(v) > 2e-4 || math.Abs(a) > 2e-4 {
				t.Errorf("%d points, %v samples a turn: velocity off by %.2g, acceleration by %.2g", n, turn, v, a)
			}
		}
	}
}
