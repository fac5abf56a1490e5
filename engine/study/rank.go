package study

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Correlation is a rank correlation with what is known of its error.
type Correlation struct {
	R      float64 // −1 … 1; NaN: nothing can be said, one side is constant or follows from what is held
	Lo, Hi float64 // 95 % interval
	P      float64 // probability of an |R| as large without any relation
	N      int     // points that count: both sides are numbers
}

// undefined is the correlation of what has none.
func undefined(n int) Correlation {
	return Correlation{R: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), P: math.NaN(), N: n}
}

// Ranks gives the rank of every number, 1 for the smallest; equal numbers share the mean of their ranks.
func Ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		mean := float64(i+j+1) / 2 // of i+1 … j
		for _, k := range order[i:j] {
			out[k] = mean
		}
		i = j
	}
	return out
}

// Spearman is the rank correlation of x and y, ties by mean ranks. Pairs in which one is not finite are left out.
//
// The test takes R·√((n−2)/(1−R²)) as Student's t with n−2 degrees of freedom. The interval is that of Fisher's
// z = artanh R with variance (1 + R²/2)/(n−3) [BW00], good down to some ten pairs and |R| up to 0.95.
func Spearman(x, y []float64) Correlation {
	r := Partial([][]float64{x}, y)
	return r[0]
}

// Partial is, for every column of x, its rank correlation with y when the other columns are held: the correlation of what
// linear regressions of both ranks on the ranks of the other columns leave over. Rows with a number that is not finite are
// left out. Test and interval are those of Spearman with one row less for every column held.
//
// It is computed from the correlation matrix of the ranks. Columns that follow from others are held once; a column that
// follows from the others has no correlation of its own, and its R is NaN.
func Partial(x [][]float64, y []float64) []Correlation {
	cols := finiteRows(append(slices.Clip(x), y))
	n, k := len(cols[0]), len(x)
	for i := range cols {
		standardise(cols[i])
	}
	m := k + 1
	c := make([]float64, m*m) // correlations of the ranks
	for i := range m {
		for j := range i + 1 {
			s := 0.0
			for r, v := range cols[i] {
				s += v * cols[j][r]
			}
			c[i*m+j], c[j*m+i] = s, s
		}
	}
	out := make([]Correlation, k)
	for j := range out {
		out[j] = partial(c, m, j, n)
	}
	return out
}

// minVarianceShare is the share of its variance below which a column counts as a combination of others.
const minVarianceShare = 1e-10

// partial eliminates all columns but j and the last from the correlation matrix c (m×m) of n rows.
func partial(c []float64, m, j, n int) Correlation {
	a := slices.Clone(c)
	y := m - 1
	if !(c[j*m+j] > 0.5) || !(c[y*m+y] > 0.5) { // the diagonal is 1, or 0 for a constant
		return undefined(n)
	}
	// sweep out the held columns, the largest remainder first
	held := 0
	open := make([]bool, m)
	for i := range y {
		open[i] = i != j
	}
	for {
		p, best := -1, minVarianceShare
		for i, yes := range open {
			if yes && a[i*m+i] > best {
				p, best = i, a[i*m+i]
			}
		}
		if p < 0 {
			break
		}
		open[p] = false
		held++
		for r := range m {
			if r != p && (open[r] || r == j || r == y) {
				f := a[r*m+p] / best
				for q := range m {
					a[r*m+q] -= f * a[p*m+q]
				}
			}
		}
	}
	if a[j*m+j] < minVarianceShare || a[y*m+y] < minVarianceShare {
		return undefined(n)
	}
	r := a[j*m+y] / math.Sqrt(a[j*m+j]*a[y*m+y])
	return significance(min(max(r, -1), 1), n, held)
}

// significance adds test and interval to a correlation of n rows with so many columns held.
func significance(r float64, n, held int) Correlation {
	out := Correlation{R: r, Lo: -1, Hi: 1, P: math.NaN(), N: n}
	if df := float64(n - 2 - held); df > 0 {
		t := math.Abs(r) * math.Sqrt(df/max(1-r*r, 0))
		out.P = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(t)
		if math.IsInf(t, 1) {
			out.P = 0
		}
	}
	if free := float64(n - 3 - held); free > 0 {
		if math.Abs(r) == 1 {
			out.Lo, out.Hi = r, r
			return out
		}
		const z95 = 1.959963984540054 // 97.5 % point of the normal distribution
		w := z95 * math.Sqrt((1+r*r/2)/free)
		out.Lo, out.Hi = math.Tanh(math.Atanh(r)-w), math.Tanh(math.Atanh(r)+w)
	}
	return out
}

// finiteRows copies the columns without the rows in which one of them is not finite.
func finiteRows(cols [][]float64) [][]float64 {
	out := make([][]float64, len(cols))
	for i := range cols[0] {
		if slices.ContainsFunc(cols, func(c []float64) bool { return c[i]-c[i] != 0 }) {
			continue
		}
		for j, c := range cols {
			out[j] = append(out[j], c[i])
		}
	}
	return out
}

// standardise turns numbers into ranks of mean 0 and square sum 1; all 0 if the numbers are equal.
func standardise(x []float64) {
	r := Ranks(x)
	mean := float64(len(x)+1) / 2
	s := 0.0
	for i := range r {
		r[i] -= mean
		s += r[i] * r[i]
	}
	if s > 0 {
		s = 1 / math.Sqrt(s)
	}
	for i := range x {
		x[i] = r[i] * s
	}
}
