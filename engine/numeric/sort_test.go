package numeric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Sorted numbers are those of package slices, whatever their size and sign.
func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func(k int) float64{
		"normal":     func(int) float64 { return rng.NormFloat64() },
		"all sizes":  func(int) float64 { return math.Copysign(math.Exp(1400*(rng.Float64()-0.5)), rng.Float64()-0.5) },
		"few levels": func(int) float64 { return 0.1 * float64(rng.IntN(5)) },
		"one":        func(int) float64 { return -3 },
		"falling":    func(k int) float64 { return -float64(k) },
		"infinite":   func(k int) float64 { return []float64{math.Inf(1), math.Inf(-1), 1, -1}[k%4] },
	}
	for name, draw := range draws {
		for _, n := range []int{0, 1, 2, fewToSort - 1, fewToSort, 3*fewToSort + 1} {
			x := make([]float64, n)
			for k := range x {
				x[k] = draw(k)
			}
			want := slices.Sorted(slices.Values(x))
			if n > 0 {
				if lo, hi := Range(x); lo != want[0] || hi != want[n-1] || Largest(x) != max(-want[0], want[n-1]) {
					t.Errorf("%s: range %g … %g, largest %g, want %g … %g", name, lo, hi, Largest(x), want[0], want[n-1])
				}
			}
			if Sort(x); !slices.Equal(x, want) {
				t.Errorf("%s: %d numbers are not sorted", name, n)
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 1<<17)
	y := make([]float64, len(x))
	for k := range x {
		x[k] = rng.NormFloat64()
	}
	for b.Loop() {
		copy(y, x)
		Sort(y)
	}
}
