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

	dots, steps []float64 // products of the columns with the leading one, and by how much of it they change
	touched     []int
}

func newTriangle(n, rows int) *triangle {
	return &triangle{
		n: n, r: make([]float64, n*n), c: make([]float64, n),
		rows: rows, block: make([]float64, (n+1)*rows), live: make([]bool, n),
		dots: make([]float64, n+1), steps: make([]float64, n+1), touched: make([]int, 0, n+1),
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
//
// A pass over the rows changes the columns behind the leading one and forms the products that the next reflection needs, of
// the changed numbers, so that a reflection touches every number once.
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
	known := false // the products with column k
	for k := range n {
		if !t.live[k] {
			continue
		}
		if !known {
			t.products(k, rows)
		}
		top, ss := t.r[k*n:k*n+n], t.dots[k]
		if known = ss != 0; !known {
			continue
		}

		// reflect [top[k]; x] to [beta; 0] with 1 − tau·v·vᵀ, v = [1; x·in]
		beta := -math.Copysign(math.Sqrt(top[k]*top[k]+ss), top[k])
		tau, in := (beta-top[k])/beta, 1/(top[k]-beta)
		top[k] = beta
		t.touched = t.touched[:0]
		for j := k + 1; j < n; j++ {
			if t.live[j] || top[j] != 0 {
				s := tau * (top[j] + in*t.dots[j])
				top[j] -= s
				t.steps[j], t.live[j] = s*in, true
				t.touched = append(t.touched, j)
			}
		}
		s := tau * (t.c[k] + in*t.dots[n])
		t.c[k] -= s
		t.steps[n] = s * in
		t.touched = append(t.touched, n)
		t.reflect(t.column(k, rows))
	}
	b := t.column(n, rows)
	t.rest += inner(b, b)
}

// products forms those of column k with itself and what stands behind it.
func (t *triangle) products(k, rows int) {
	x := t.column(k, rows)
	for j := k; j <= t.n; j++ {
		t.dots[j] = 0
		if j == t.n || t.live[j] {
			t.dots[j] = inner(x, t.column(j, rows))
		}
	}
}

// reflect changes the columns that are touched by −steps·x, and leaves their products with the first of them: the next
// leading one together with its neighbour, the others in pairs.
func (t *triangle) reflect(x []float64) {
	at, rows := t.touched, len(x)
	if len(at) == 1 {
		axpy(-t.steps[at[0]], x, t.column(at[0], rows))
		return
	}
	clear(t.dots[at[0]:t.n])
	p := t.column(at[0], rows)
	t.dots[at[0]], t.dots[at[1]] = reflectLead(x, p, t.column(at[1], rows), t.steps[at[0]], t.steps[at[1]])
	for at = at[2:]; len(at) >= 2; at = at[2:] {
		i, j := at[0], at[1]
		t.dots[i], t.dots[j] = reflectPair(x, p, t.column(i, rows), t.column(j, rows), t.steps[i], t.steps[j])
	}
	if len(at) == 1 {
		t.dots[at[0]] = reflectOne(x, p, t.column(at[0], rows), t.steps[at[0]])
	}
}

// reflectLead changes p and q by −sp·x and −sq·x and gives p·p and p·q.
func reflectLead(x, p, q []float64, sp, sq float64) (pp, pq float64) {
	p, q = p[:len(x)], q[:len(x)]
	for i, v := range x {
		a, b := p[i]-sp*v, q[i]-sq*v
		p[i], q[i] = a, b
		pp += a * a
		pq += a * b
	}
	return pp, pq
}

// reflectPair changes y and z by −sy·x and −sz·x and gives p·y and p·z.
func reflectPair(x, p, y, z []float64, sy, sz float64) (py, pz float64) {
	p, y, z = p[:len(x)], y[:len(x)], z[:len(x)]
	for i, v := range x {
		a, b, u := y[i]-sy*v, z[i]-sz*v, p[i]
		y[i], z[i] = a, b
		py += u * a
		pz += u * b
	}
	return py, pz
}

// reflectOne is half of a pair.
func reflectOne(x, p, y []float64, s float64) (py float64) {
	p, y = p[:len(x)], y[:len(x)]
	for i, v := range x {
		a := y[i] - s*v
		y[i] = a
		py += p[i] * a
	}
	return py
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
