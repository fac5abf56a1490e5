package numeric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The table of numpy.quantile(x, p), and of a sort for samples with many equal values.
func TestQuantile(t *testing.T) {
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	for _, c := range []struct{ p, want float64 }{
		{0, 1}, {0.1, 1}, {0.25, 1.75}, {0.5, 3.5}, {0.9, 6.9}, {1, 9},
	} {
		if got := Quantile(x, c.p); math.Abs(got-c.want) > 1e-14 {
			t.Errorf("quantile %g: %g, want %g", c.p, got, c.want)
		}
	}
	if x[0] != 3 || x[7] != 6 {
		t.Error("Quantile changed its argument")
	}
	if Median([]float64{7}) != 7 || Median([]float64{1, 2}) != 1.5 {
		t.Error("median of one or two")
	}
	if !math.IsNaN(Median(nil)) || !math.IsNaN(Median([]float64{1, math.NaN(), 2})) {
		t.Error("median of nothing, or of no numbers, is a number")
	}
	if inf := math.Inf(1); Median([]float64{inf, inf, 1, inf}) != inf {
		t.Error("median among infinities")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 400; n += 7 {
		x := make([]float64, n)
		for k := range x {
			x[k] = float64(rng.IntN(1 + n/3))
		}
		sorted := slices.Sorted(slices.Values(x))
		for _, p := range []float64{0, 0.01, 0.3, 0.5, 0.77, 1} {
			at := p * float64(n-1)
			lo, hi := sorted[int(at)], sorted[min(int(at)+1, n-1)]
			if got, want := QuantileInPlace(slices.Clone(x), p), lo+(at-math.Floor(at))*(hi-lo); math.Abs(got-want) > 1e-12 {
				t.Fatalf("n %d, p %g: %g, want %g", n, p, got, want)
			}
		}
	}
}

func TestFinite(t *testing.T) {
	if !IsFinite(-1e308) || IsFinite(math.NaN()) || IsFinite(math.Inf(-1)) {
		t.Error("Finite")
	}
	if !AllFinite() || !AllFinite(1, 2) || AllFinite(1, math.Inf(1)) {
		t.Error("AllFinite")
	}
}

func TestInterpolate(t *testing.T) {
	x, y := []float64{0, 1, 3, 3, 4}, []float64{0, 2, 4, 10, 8}
	for _, c := range []struct{ at, want float64 }{
		{-1, 0}, {0, 0}, {0.25, 0.5}, {1, 2}, {2, 3}, {3, 4}, {3.5, 9}, {4, 8}, {9, 8},
	} {
		if got := Interpolate(x, y, c.at); got != c.want {
			t.Errorf("at %g: %g, want %g", c.at, got, c.want)
		}
	}
	if !math.IsNaN(Interpolate(nil, nil, 0)) {
		t.Error("no points are a value")
	}
}

// A quantile by some of the samples is that of all where they are few, and close to it where they are many.
func TestQuantileOf(t *testing.T) {
	of := func(k int) float64 { return math.Abs(math.Sin(float64(k))) }
	for _, n := range []int{0, 1, 1000, 1_000_001} {
		var all []float64
		for k := range n {
			all = append(all, of(k))
		}
		want, off := 0.0, 0.0
		if n > 0 {
			want = Quantile(all, 0.9)
		}
		if n > maxSamples {
			off = 1e-3
		}
		if got := QuantileOf(n, 0.9, of); math.Abs(got-want) > off {
			t.Errorf("%d samples: %g, want %g", n, got, want)
		}
	}
}

// A cubic goes through four points of a cubic, anywhere, and through two of a straight line.
func TestLagrange(t *testing.T) {
	cubic := func(x float64) float64 { return 2 - x + 0.5*x*x - 0.1*x*x*x }
	x := []float64{-1.5, 0, 0.7, 4}
	var y []float64
	for _, v := range x {
		y = append(y, cubic(v))
	}
	for _, at := range []float64{-2, -1.5, 0.3, 0.7, 2, 5} {
		if got := Lagrange(x, y, at); math.Abs(got-cubic(at)) > 1e-13 {
			t.Errorf("at %g: %g, want %g", at, got, cubic(at))
		}
	}
	if got := Lagrange([]float64{1, 3}, []float64{5, 6}, 2); got != 5.5 {
		t.Errorf("half way: %g", got)
	}
}
