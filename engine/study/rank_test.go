package study

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"hilrig/engine/peer"
)

// SciPy's spearmanr, and partial correlations as Pearson correlations of the residuals of least squares on ranks: another
// program and another way of computing.
const scipyRanks = `
import json, sys, numpy as np, scipy.stats as st
out = []
for c in json.load(sys.stdin):
    x, y = np.array(c["x"], float), np.array(c["y"], float)
    r = st.spearmanr(x[0], y)
    rx, ry = np.array([st.rankdata(v) for v in x]), st.rankdata(y)
    part = []
    for j in range(len(x)):
        A = np.vstack([np.ones(len(y))] + [rx[i] for i in range(len(x)) if i != j]).T
        res = lambda v: v - A @ np.linalg.lstsq(A, v, rcond=None)[0]
        a, b = res(rx[j]), res(ry)
        q = float(a @ b / np.sqrt((a @ a) * (b @ b)))
        df = len(y) - 2 - (len(x) - 1)
        part.append([q, float(2 * st.t.sf(abs(q) * np.sqrt(df / (1 - q * q)), df))])
    out.append({"r": float(r.statistic), "p": float(r.pvalue), "part": part})
print(json.dumps(out))
`

func TestRankCorrelationsAgainstSciPy(t *testing.T) {
	python := peer.Python(t, "scipy.stats")
	type set struct {
		X [][]float64 `json:"x"`
		Y []float64   `json:"y"`
	}
	rng := rand.New(rand.NewPCG(4, 4))
	var sets []set
	for _, c := range []struct {
		n, k int
		ties float64 // numbers are rounded to so many steps
	}{{8, 1, 0}, {30, 2, 0}, {69, 2, 10}, {200, 11, 0}, {240, 11, 6}, {1400, 5, 0}} {
		s := set{Y: make([]float64, c.n)}
		for range c.k {
			col := make([]float64, c.n)
			for i := range col {
				col[i] = rng.NormFloat64()
				if len(s.X) > 0 {
					col[i] += 0.5 * s.X[0][i] // factors that are related
				}
				if c.ties > 0 {
					col[i] = math.Round(col[i] * c.ties / 4)
				}
			}
			s.X = append(s.X, col)
		}
		for i := range s.Y {
			s.Y[i] = rng.NormFloat64() + math.Exp(s.X[0][i]/2)
			if c.k > 1 {
				s.Y[i] -= s.X[1][i]
			}
			if c.ties > 0 {
				s.Y[i] = math.Round(s.Y[i])
			}
		}
		sets = append(sets, s)
	}
	in, err := json.Marshal(sets)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", scipyRanks)
	cmd.Stdin = bytes.NewReader(in)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		R, P float64
		Part [][2]float64
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1e-3+math.Abs(b)) }
	for i, s := range sets {
		got := Spearman(s.X[0], s.Y)
		if !near(got.R, want[i].R) || !near(got.P, want[i].P) {
			t.Errorf("set %d: R = %v, p = %v; SciPy %v, %v", i, got.R, got.P, want[i].R, want[i].P)
		}
		for j, c := range Partial(s.X, s.Y) {
			if w := want[i].Part[j]; !near(c.R, w[0]) || !near(c.P, w[1]) {
				t.Errorf("set %d, factor %d: partial R = %v, p = %v; SciPy %v, %v", i, j, c.R, c.P, w[0], w[1])
			}
		}
	}
}

// Of normal vectors the correlation of ranks is (6/π)·asin(ρ/2) in the population, and the partial one follows from these. A
// 95 % interval must hold it in about 95 of 100 samples; for strong partial correlations of few points it is a little wide.
func TestIntervalsCover(t *testing.T) {
	const trials = 3000
	ranked := func(rho float64) float64 { return 6 / math.Pi * math.Asin(rho/2) }
	for _, c := range []struct {
		n              int
		xy, zy, xz     float64 // correlations of the normal vectors
		partialOfXYbyZ bool
	}{{20, 0, 0, 0, false}, {69, 0.6, 0, 0, false}, {69, -0.85, 0, 0, false}, {240, 0.3, 0, 0, false}, {69, 0.5, 0.6, 0.3, true},
		{30, -0.7, 0.2, 0.4, true}} {
		truth := ranked(c.xy)
		if c.partialOfXYbyZ {
			a, b, d := ranked(c.xy), ranked(c.zy), ranked(c.xz)
			truth = (a - b*d) / math.Sqrt((1-b*b)*(1-d*d))
		}
		rng := rand.New(rand.NewPCG(11, uint64(c.n)))
		x, y, z := make([]float64, c.n), make([]float64, c.n), make([]float64, c.n)
		inside := 0
		for range trials {
			for i := range x {
				// Cholesky factor of the 3×3 correlation matrix
				u, v, w := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
				l22 := math.Sqrt(1 - c.xz*c.xz)
				l32 := (c.zy - c.xy*c.xz) / l22
				x[i] = u
				z[i] = c.xz*u + l22*v
				y[i] = c.xy*u + l32*v + math.Sqrt(1-c.xy*c.xy-l32*l32)*w
			}
			got := Spearman(x, y)
			if c.partialOfXYbyZ {
				got = Partial([][]float64{x, z}, y)[0]
			}
			if got.Lo <= truth && truth <= got.Hi {
				inside++
			}
		}
		if share := float64(inside) / trials; share < 0.935 || share > 0.98 {
			t.Errorf("n = %d, truth %.3f: the interval holds it in %.1f %% of %d samples", c.n, truth, 100*share, trials)
		}
	}
}

// What nothing can be said about is NaN, and what is certain is certain.
func TestCorrelationsAtTheirLimits(t *testing.T) {
	n := 40
	a, b, sum, flat, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range a {
		a[i], b[i], flat[i] = rng.Float64(), rng.Float64(), 3
		y[i] = math.Exp(5 * a[i])
	}
	copy(sum, Ranks(b)) // the same ranks as b
	if r := Spearman(a, y); math.Abs(r.R-1) > 1e-15 || r.P != 0 {
		t.Errorf("a monotone relation: %+v", r)
	}
	if r := Spearman(flat, y); !math.IsNaN(r.R) || r.N != n {
		t.Errorf("a constant factor: %+v", r)
	}
	got := Partial([][]float64{a, b, sum, flat}, noisy(y, rng))
	if math.IsNaN(got[0].R) || !math.IsNaN(got[1].R) || !math.IsNaN(got[2].R) || !math.IsNaN(got[3].R) {
		t.Errorf("two factors that are one, and a constant: %+v", got)
	}
	// held twice or once is the same, and the degrees of freedom are counted once
	y2 := noisy(y, rng)
	if p, q := Partial([][]float64{a, b, sum}, y2)[0], Partial([][]float64{a, b}, y2)[0]; math.Abs(p.R-q.R) > 1e-12 ||
		math.Abs(p.P-q.P) > 1e-12 {
		t.Errorf("a factor held twice: %+v, once: %+v", p, q)
	}
	y[3], a[5] = math.NaN(), math.Inf(1)
	if r := Spearman(a, y); r.N != n-2 || r.R < 1-1e-12 {
		t.Errorf("two rows without numbers: %+v", r)
	}
	if r := Spearman(a[:2], y[:2]); r.Lo != -1 || r.Hi != 1 {
		t.Errorf("two points: %+v", r)
	}
	if r := Spearman(nil, nil); !math.IsNaN(r.R) {
		t.Errorf("no points: %+v", r)
	}
}

func noisy(y []float64, rng *rand.Rand) []float64 {
	out := slices.Clone(y)
	for i := range out {
		out[i] += 50 * rng.NormFloat64()
	}
	return out
}

func TestRanksShareTies(t *testing.T) {
	if got := Ranks([]float64{3, 1, 3, 2, 3}); !slices.Equal(got, []float64{4, 1, 4, 2, 4}) {
		t.Errorf("%v", got)
	}
}

func TestSummariesOfReplicates(t *testing.T) {
	nan := math.NaN()
	v := []float64{1, 3, 10, 14, nan, 5} // three points, twice each
	s := Summarise(v, 2)
	// within: variances 2, 8, none; pooled (2 + 8)/2
	if s.N != 5 || s.WithinDF != 2 || math.Abs(s.WithinSD-math.Sqrt(5)) > 1e-15 || s.Median != 5 || s.Min != 1 || s.Max != 14 ||
		math.Abs(s.Mean-6.6) > 1e-15 {
		t.Errorf("%+v", s)
	}
	if want := (math.Sqrt2/2 + math.Sqrt(8)/12) / 2; math.Abs(s.RelativeWithin-want) > 1e-15 {
		t.Errorf("relative %v, want %v", s.RelativeWithin, want)
	}
	if m := Means(v, 2); m[0] != 2 || m[1] != 12 || m[2] != 5 {
		t.Errorf("%v", m)
	}
	if s := Summarise([]float64{nan}, 1); s.N != 0 || !math.IsNaN(s.Mean) {
		t.Errorf("%+v", s)
	}
	x, y := RunningMedian([]float64{4, 1, 3, 2, nan}, []float64{40, 10, 30, 20, 1}, 3)
	if !slices.Equal(x, []float64{2, 3}) || !slices.Equal(y, []float64{20, 30}) {
		t.Errorf("%v %v", x, y)
	}
}
