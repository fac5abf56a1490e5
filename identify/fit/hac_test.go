package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Second differences of white noise over two rows: neighbours do not depend on each other, and sums of m rows, m even, have a variance of 8 whatever m is.
// Windows of m rows see 8/m of each row, where the plug-in sees that neighbours are independent and takes 6.
func TestLongRunOfCancellingScores(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(1, 2))
	w := make([]float64, n+4)
	for k := range w {
		w[k] = rng.NormFloat64()
	}
	g := make([]float64, n)
	for k := range g {
		g[k] = w[k+4] - 2*w[k+2] + w[k]
	}
	for _, m := range []int{16, 32, 64} {
		s, lags := LongRunOver([][]float64{g}, nil, m-1)
		if want := 8. * n / float64(m); lags != m-1 || math.Abs(s[0]-want) > 0.1*want {
			t.Errorf("windows of %d rows: %g with %d lags, want %g", m, s[0], lags, want)
		}
	}
	if s, lags := LongRun([][]float64{g}, nil); lags > 3 || s[0] < 2*n {
		t.Errorf("plug-in: %g with %d lags", s[0], lags)
	}
}
