package linear

import (
	"slices"

	"hilrig/engine/numeric"
)

// regressor are the columns with that of the lag, if there is one.
func (r *regression) regressor() ([][]float64, []column) {
	if r.slope == nil {
		return r.w, r.columns
	}
	return append(slices.Clip(r.w), r.slope), append(slices.Clip(r.columns), column{Lag, r.spec.nameOf(Lag), "s"})
}

// mapped is what f makes of every column of the regressor and of the instruments, once where both have it.
func (r *regression) mapped(f func([]float64) []float64) (w, z [][]float64) {
	own, _ := r.regressor()
	for _, col := range own {
		w = append(w, f(col))
	}
	for _, col := range r.z {
		if j := place(own, col); j >= 0 {
			z = append(z, w[j])
		} else {
			z = append(z, f(col))
		}
	}
	return w, z
}

// runs calls f with every range of rows that are kept, one after the other within a piece.
func (r *regression) runs(f func(from, to int)) {
	for from := 0; from < len(r.fittedRows); {
		to := from
		for to < len(r.fittedRows) && r.fittedRows[to] {
			to++
		}
		if to > from {
			f(from, to)
		}
		from = to + 1
	}
}

// factor is that of columns and the right-hand side, in the rows that are kept.
func (r *regression) factor(w [][]float64) *numeric.Factor {
	f := numeric.NewFactor(len(w))
	cut := make([][]float64, len(w))
	r.runs(func(from, to int) {
		for j, col := range w {
			cut[j] = col[from:to]
		}
		f.AddColumns(cut, r.y[from:to])
	})
	return f
}

// fittedRegression is the regression of the rows that are kept, with the lag among its columns. apart: r is left as it is, else its columns
// are used up.
func (r *regression) fittedRegression(apart bool) *regression {
	out := *r
	n := r.rowsKept()
	pick := func(x []float64) []float64 {
		if n == len(x) {
			return x
		}
		y := x[:0]
		if apart {
			y = make([]float64, 0, n)
		}
		r.runs(func(from, to int) { y = append(y, x[from:to]...) })
		return y
	}
	_, out.columns = r.regressor()
	out.w, out.z = r.mapped(pick)
	out.slope = nil
	out.y, out.v, out.q = pick(r.y), pick(r.v), pick(r.q)
	out.pieces, out.pieceRecord = nil, nil
	done := 0
	r.eachPiece(func(rec, from, to int) {
		before := done
		for _, keep := range r.fittedRows[from:to] {
			done += indicator(keep)
		}
		if done > before {
			out.pieces, out.pieceRecord = append(out.pieces, before), append(out.pieceRecord, rec)
		}
	})
	out.fittedRows = slices.Repeat([]bool{true}, n)
	return &out
}

func indicator(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
