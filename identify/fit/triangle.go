package fit

import "math"

// A triangle is the factor R of a matrix that is eaten in blocks of rows, and Qᵀb of its right-hand side:
//
//	[R c]   =  Qᵀ [A b],   ‖A·x + b‖² = ‖R·x + c‖² + rest
//
// by Householder reflections of R on top of the next block. What a block does not touch costs nothing: if columns come in
// the order of their first row, the arrow structure of multiple shooting keeps R as sparse as A, and the work grows with the
// rows of a segment instead of all.
type triangle struct {
	n     int
	r     []float64 // n×n row-major, upper
	c     []float64
	rest  float64
	rows  int       // that fit in a block
	block []float64 // n+1 columns of length rows; the last is the right-hand side
	live  []bool
}

func newTriangle(n, rows int) *triangle {
	return &triangle{
		n: n, r: make([]float64, n*n), c: make([]float64, n),
		rows: rows, block: make([]float64, (n+1)*rows), live: make([]bool, n),
	}
}

// reset empties the triangle, for n columns, at most as many as it was made for.
func (t *triangle) reset(n int) {
	t.n, t.rest = n, 0
	clear(t.r[:n*n])
	clear(t.c[:n])
}

// column j of the block; j = n is the right-hand side.
func (t *triangle) column(j, rows int) []float64 { return t.block[j*t.rows : j*t.rows+rows] }

// eat takes the first rows of the block in; the block is destroyed.
func (t *triangle) eat(rows int) {
	n := t.n
	for j := range n {
		t.live[j] = false
		for _, v := range t.column(j, rows) {
			if v != 0 {
				t.live[j] = true
				break
			}
		}
	}
	b := t.column(n, rows)
	for k := range n {
		if !t.live[k] {
			continue
		}
		x := t.column(k, rows)
		top := t.r[k*n : k*n+n]
		ss := inner(x, x)
		if ss == 0 {
			continue
		}

		// reflect [top[k]; x] to [beta; 0] with 1 − tau·v·vᵀ, v = [1; x/(top[k] − beta)]
		beta := -math.Copysign(math.Sqrt(top[k]*top[k]+ss), top[k])
		tau, in := (beta-top[k])/beta, 1/(top[k]-beta)
		for i := range x {
			x[i] *= in
		}
		top[k] = beta
		for j := k + 1; j < n; j++ {
			if t.live[j] || top[j] != 0 {
				y := t.column(j, rows)
				s := tau * (top[j] + inner(x, y))
				top[j] -= s
				axpy(-s, x, y)
				t.live[j] = true
			}
		}
		s := tau * (t.c[k] + inner(x, b))
		t.c[k] -= s
		axpy(-s, x, b)
	}
	t.rest += inner(b, b)
}

// solve writes the x that makes ‖R·x + c‖ least. A column without any size of its own gets 0.
func (t *triangle) solve(x []float64) {
	n := t.n
	for k := n - 1; k >= 0; k-- {
		row, s := t.r[k*n:k*n+n], -t.c[k]
		for j := k + 1; j < n; j++ {
			s -= row[j] * x[j]
		}
		if row[k] == 0 {
			x[k] = 0
		} else {
			x[k] = s / row[k]
		}
	}
}

// inner is x·y in four sums, twice as fast as in one.
func inner(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}

// axpy adds s·x to y.
func axpy(s float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += s * v
	}
}
