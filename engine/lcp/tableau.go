package lcp

// sweep exchanges the unknowns of row r and column c in the tableau t of rows of length st: Gauss–Jordan in place.
func sweep(t []float64, st, r, c int) {
	top := t[r*st : r*st+st]
	p := 1 / top[c]
	top[c] = 1
	for j := range top {
		top[j] *= p
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
func axpy(y, x []float64, f float64) {
	for len(x) >= 4 && len(y) >= 4 {
		y[0] -= f * x[0]
		y[1] -= f * x[1]
		y[2] -= f * x[2]
		y[3] -= f * x[3]
		x, y = x[4:], y[4:]
	}
	for j, v := range x {
		y[j] -= f * v
	}
}
