package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Second differences of white noise over two rows: neighbours do not depend on each other, and sums of any rows have a variance of 8, of
// what is beyond their ends. Cosines see that, at their ends twice as much; the plug-in sees that neighbours are independent and takes 6
// of each row.
func TestLongRunOfCancellingScores(t *testing.T) {
	const n, draws = 20000, 40
	var g []float64
	for _, period := range []int{1000, 4000} {
		mean := 0.0
		for seed := range uint64(draws) {
			rng := rand.New(rand.NewPCG(seed, 2))
			w := make([]float64, n+4)
			for k := range w {
				w[k] = rng.NormFloat64()
			}
			g = make([]float64, n)
			for k := range g {
				g[k] = w[k+4] - 2*w[k+2] + w[k]
			}
			s, dof := LongRunSlow([][]float64{g}, Drawing{}, nil, period)
			if dof != 2*n/period {
				t.Fatalf("%d cosines for periods of %d rows", dof, period)
			}
			mean += s[0] / draws
		}
		if mean < 8 || mean > 32 {
			t.Errorf("periods of %d rows: %g, want about 16", period, mean)
		}
	}
	if s, lags := LongRun([][]float64{g}, nil); lags > 3 || s[0] < 2*n {
		t.Errorf("plug-in: %g with %d lags", s[0], lags)
	}
}

// Sums of scores that follow their neighbours, over their standard errors, have the tails that are said, of one piece and of three.
func TestLongRunSlowHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, draws = 600, 2000
	for _, pieces := range [][]int{nil, {0, 150, 400}} {
		held := 0
		for range draws {
			g := make([]float64, n)
			x, sum := 0.0, 0.0
			for k := range g {
				x = 0.5*x + rng.NormFloat64()
				g[k] = 1 + x
				sum += x
			}
			mean := 1 + sum/n
			for k := range g { // what least squares leaves
				g[k] -= mean
			}
			s, dof := LongRunSlow([][]float64{g}, Drawing{}, pieces, 60)
			if math.Abs(sum) <= math.Sqrt(s[0])*(distuv.StudentsT{Sigma: 1, Nu: float64(dof)}).Quantile(0.975) {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.93 || share > 0.965 {
			t.Errorf("pieces %v: %.1f %% of the sums are within their intervals", pieces, 100*share)
		}
	}
}

// Of a single row the share that the fit takes is made up for as of a window of one row: b/√(1 − h) along q, and nothing across.
func TestUndrawnRow(t *testing.T) {
	q := [][]float64{{0, 0.3}, {0, -0.4}}
	b := [][]float64{{3*0.6 + 2*0.8}, {-3*0.8 + 2*0.6}} // 3 along q of length a half, 2 across
	undrawnRows(q, 1, b)
	long := 3 / math.Sqrt(1-0.25)
	for i, want := range []float64{long*0.6 + 2*0.8, -long*0.8 + 2*0.6} {
		if math.Abs(b[i][0]-want) > 1e-9 {
			t.Errorf("component %d is %.12g, want %.12g", i, b[i][0], want)
		}
	}
}

// Of windows G = 0, and with the axes (0.6, 0.8) and (−0.8, 0.6) and other shares, each along its axis is divided by the root of one less
// its share.
func TestUndrawn(t *testing.T) {
	along, across, shares := []float64{3, 3, -5}, []float64{2, 2, 0}, [][2]float64{{}, {0.25, 0.01}, {0.7, 0}}
	g, b, room := make([][]float64, 3), make([][]float64, 2), make([][]float64, 5)
	for i := range room {
		room[i] = make([]float64, 4)
	}
	for k, h := range shares {
		for i, x := range []float64{0.36*h[0] + 0.64*h[1], 0.48 * (h[0] - h[1]), 0.64*h[0] + 0.36*h[1]} {
			g[i] = append(g[i], x)
		}
		b[0], b[1] = append(b[0], 0.6*along[k]-0.8*across[k]), append(b[1], 0.8*along[k]+0.6*across[k])
	}
	undrawn(g, b, room)
	for k, h := range shares {
		x, y := along[k]/math.Sqrt(1-h[0]), across[k]/math.Sqrt(1-h[1])
		for i, want := range []float64{0.6*x - 0.8*y, 0.8*x + 0.6*y} {
			if math.Abs(b[i][k]-want) > 1e-8 {
				t.Errorf("window %d, component %d is %.12g, want %.12g", k, i, b[i][k], want)
			}
		}
	}
}
