package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The mean force over any path equals that of many short paths, each of which breaks away in one of them only.
func TestPreslidingSpringMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := PreslidingSpring{Fb: 1.5, Xb: 1e-5}
		z0 := rapid.Float64Range(-1, 1).Draw(t, "z") * p.Xb
		dx := rapid.Float64Range(-4, 4).Draw(t, "dx") * p.Xb
		whole, parts := []float64{z0}, []float64{z0}
		f := p.Step(whole, Input{Dt: 1e-3, V: dx / 1e-3})
		mean := 0.0
		const n = 4000
		for range n {
			mean += p.Step(parts, Input{Dt: 1e-3 / n, V: dx / 1e-3}) / n
		}
		if math.Abs(f-mean) > 1e-11 || math.Abs(whole[0]-parts[0]) > 1e-11*p.Xb {
			t.Fatalf("from %g over %g m: mean %g N, end %g m; in parts %g N, %g m", z0, dx, f, whole[0], mean, parts[0])
		}
		// [MOGI] (6.2), (6.12): elastic up to xb, constant beyond
		if end := min(max(z0+dx, -p.Xb), p.Xb); math.Abs(whole[0]-end) > 1e-15*p.Xb {
			t.Fatalf("end at %g m, want %g m", whole[0], end)
		}
	})
}

// A cycle of ±A beyond break-away is a parallelogram of 4·Fb·(A − xb); within break-away it costs nothing.
func TestPreslidingSpringLoop(t *testing.T) {
	p := PreslidingSpring{Fb: 2, Xb: 1e-5}
	for _, c := range []struct{ amplitude, want float64 }{{0.9e-5, 0}, {3e-5, 4 * 2 * 2e-5}, {1, 4 * 2 * (1 - 1e-5)}} {
		z := []float64{0}
		work := 0.0
		leg := func(dx float64) float64 {
			return p.Step(z, Input{Dt: 1, V: dx}) * dx
		}
		leg(c.amplitude)
		work = leg(-2*c.amplitude) + leg(2*c.amplitude)
		if math.Abs(work-c.want) > 1e-12*max(c.want, p.Fb*p.Xb) {
			t.Errorf("±%g m: loop work %g J, want %g J", c.amplitude, work, c.want)
		}
	}
}
