package friction

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The logarithm agrees with that of the standard library to two units in the last place: every power of two and every interval
// of the table, next to 1, and numbers that take the longer way.
func TestLogarithm(t *testing.T) {
	worst := 0.0
	check := func(x float64) {
		got, want := ln(x), math.Log(x)
		if got == want || math.IsNaN(got) && math.IsNaN(want) {
			return
		}
		u := math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
		worst = max(worst, u)
		if !(u <= 2) {
			t.Fatalf("ln(%g) = %.17g, want %.17g: %g units", x, got, want, u)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for e := -1074; e < 1024; e++ {
		for range 50 {
			check(math.Ldexp(1+rnd.Float64(), e))
		}
		check(math.Ldexp(1, e))
	}
	for i := range 1 << 12 { // both sides of the edges of the intervals
		x := 0.5 + float64(i)/(1<<11)
		check(x)
		check(math.Nextafter(x, 0))
		check(math.Nextafter(x, 3))
	}
	for e := -60; e < -1; e++ {
		for range 20 {
			d := math.Ldexp(1+rnd.Float64(), e)
			check(1 + d)
			check(1 - d/2)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64,
		math.SmallestNonzeroFloat64, 0x1p-1022} {
		check(x)
	}
	t.Logf("at most %.2f units", worst)
}

func BenchmarkLogarithm(b *testing.B) {
	for _, c := range []struct {
		name string
		f    func(float64) float64
	}{{"ln", ln}, {"math", math.Log}} {
		b.Run(c.name, func(b *testing.B) {
			x := 0.3
			for b.Loop() {
				x = 0.3 + 1e-9*c.f(x) // each waits for the one before
			}
			costSink = x
		})
	}
}
