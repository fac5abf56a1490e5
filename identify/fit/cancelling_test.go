package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Where the noise of a row takes back that of rows before, as a speed from two positions does, intervals hold the truth in 93 to 97 %:
// windows made errors up to ten times too wide of them. Here y = b·x + Σ w_i·n_(k−i) with columns x of a few periods, solved by the
// normal equations.
func TestIntervalsWhereNeighboursCancel(t *testing.T) {
	const rows, draws = 4000, 200
	for _, c := range []struct {
		name   string
		w      []float64
		pieces []int
		most   float64 // the errors are at most this share of those of independent rows
		least  float64 // and at least this one
	}{
		{"difference of two rows, and a little of the row", []float64{1.05, 0, -1}, nil, 0.2, 0.02},
		{"difference of neighbours", []float64{1.05, -1}, []int{0, 1700}, 0.2, 0.02},
		{"second difference", []float64{1.05, -2, 1}, nil, 0.2, 0.01},
		{"independent rows", []float64{1}, nil, 1.1, 0.9},
		{"neighbours alike", []float64{1, 0.8, 0.6, 0.4}, nil, 3, 1.2},
	} {
		ratio := 0.0
		var shares []float64
		for seed := range uint64(draws) {
			rng := rand.New(rand.NewPCG(seed, 3))
			s := &Solution{FreeParams: []int{0, 1, 2}, Pieces: c.pieces, Dt: 1e-3, Residual: make([]float64, rows)}
			truth := []float64{1, -2, 0.5}
			for j := range truth {
				s.Params = append(s.Params, Param{Param: engine.Param{Name: string(rune('a' + j)), Lo: math.Inf(-1), Hi: math.Inf(1)}})
			}
			var x [3][]float64
			for k := range rows {
				at := 2 * math.Pi * float64(k) / rows
				row := []float64{1, math.Sin(4*at) + 0.5*math.Sin(9.3*at), math.Copysign(1, math.Cos(4*at))}
				for j := range x {
					x[j] = append(x[j], row[j])
				}
				s.Jac = append(s.Jac, row...)
			}
			n := make([]float64, rows+3)
			for k := range n {
				n[k] = rng.NormFloat64()
			}
			for k := range rows {
				for i, w := range c.w {
					s.Residual[k] += w * n[k+3-i]
				}
			}
			off := threeByThree(x, s.Residual)
			for j := range x {
				floats.AddScaled(s.Residual, -off[j], x[j])
				s.Params[j].Value = truth[j] + off[j]
			}
			a, held := assessed(t, s), 0.0
			for j := range truth {
				e := &a.Estimates[j]
				if covers(e.Interval(a.Residual.White), truth[j]) {
					held += 1.0 / 3
				}
				ratio += *e.Err(a.Residual.White) / *e.StdErr / (3 * draws)
			}
			shares = append(shares, held)
		}
		held, scatter := stat.MeanStdDev(shares, nil)
		err := scatter / math.Sqrt(draws) // intervals of one record depend on each other
		t.Logf("%s: %.1f ± %.1f %%, errors %.3f of those of independent rows", c.name, 100*held, 100*err, ratio)
		if held < 0.93-2*err || held > 0.97+2*err || ratio > c.most || ratio < c.least {
			t.Errorf("%s: %.1f ± %.1f %% of the intervals hold the truth, errors are %.3f of those of independent rows", c.name, 100*held, 100*err,
				ratio)
		}
	}
}

// threeByThree is the least squares solution for three columns by Cramer's rule.
func threeByThree(x [3][]float64, y []float64) (b [3]float64) {
	var a [3][4]float64
	for i := range x {
		for j := range x {
			a[i][j] = floats.Dot(x[i], x[j])
		}
		a[i][3] = floats.Dot(x[i], y)
	}
	det := func(c [3]int) float64 {
		return a[0][c[0]]*(a[1][c[1]]*a[2][c[2]]-a[1][c[2]]*a[2][c[1]]) -
			a[0][c[1]]*(a[1][c[0]]*a[2][c[2]]-a[1][c[2]]*a[2][c[0]]) +
			a[0][c[2]]*(a[1][c[0]]*a[2][c[1]]-a[1][c[1]]*a[2][c[0]])
	}
	whole := det([3]int{0, 1, 2})
	return [3]float64{det([3]int{3, 1, 2}) / whole, det([3]int{0, 3, 2}) / whole, det([3]int{0, 1, 3}) / whole}
}
