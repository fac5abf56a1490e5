package lcp

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"
)

// sweep exchanges the unknowns of row r and column c in the tableau t of rows of length st: Gauss–Jordan in place.
func sweep(t []float64, st, r, c int) {
	top := t[r*st : r*st+st]
	p := 1 / top[c]
	top[c] = 1
	for j, v := range top {
		top[j] = v * p
	}
	for at := 0; at < len(t); at += st {
		row := t[at : at+st]
		f := row[c]
		if f == 0 || at == r*st {
			continue
		}
		row[c] = 0
		axpy(row, top, f)
	}
}

// axpy is y −= f·x, both of the same length.
func axpy(y, x []float64, f float64) { gonum.Implementation{}.Daxpy(len(x), -f, x, 1, y, 1) }

// magnitude is |v| as a whole number that orders as |v| does: the largest of many without a branch.
func magnitude(v float64) int64 { return int64(math.Float64bits(v) &^ (1 << 63)) }
