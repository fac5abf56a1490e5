package numeric

import (
	"errors"
	"math"
)

// Factor solves a tall least-squares system as its rows come, in constant memory. Rows gather in a block; a full block is
// taken into the triangular factor by Householder reflections,
//
//	[R c]         [R c]
//	[0 b']  =  Qᵀ [A b],      ‖A_all·θ − b_all‖² = ‖R·θ − c‖² + rest,
//
// so that the error is that of an orthogonal factorisation of all rows at once [DGHL12]: it grows with the condition
// number κ, not with κ² as that of sums of products does. The reflections bound the error of every column by its own length,
// which is why columns of any size may stand side by side without being scaled.
//
// Factors of parts of the data merge into that of the whole; the order of merging changes rounding only.
type Factor struct {
	n     int
	r     []float64 // n×n row-major, upper
	c     []float64
	rest  float64
	total int

	block []float64 // n+1 columns of blockRows, the last is the right-hand side
	fill  int       // rows in it
	dots  []float64 // of the leading column with itself and those behind it
	steps []float64 // by which the columns behind it change
}

// blockRows is how many rows are reflected at once: enough that the triangle does not count, few enough for the nearest
// cache.
const blockRows = 128

// NewFactor is the factor of a system with n unknowns and no rows yet.
func NewFactor(n int) *Factor {
	return &Factor{
		n: n, r: make([]float64, n*n), c: make([]float64, n),
		block: make([]float64, (n+1)*blockRows), dots: make([]float64, n+1), steps: make([]float64, n+1),
	}
}

// Rows is the number of rows so far.
func (f *Factor) Rows() int { return f.total + f.fill }

// Add takes one row in.
func (f *Factor) Add(row []float64, y float64) {
	if len(row) != f.n {
		panic("numeric: Factor.Add: row of another length")
	}
	at := f.block[f.fill:]
	for j, x := range row {
		at[j*blockRows] = x
	}
	at[f.n*blockRows] = y
	if f.fill++; f.fill == blockRows {
		f.eat()
	}
}

// AddColumns takes len(y) rows in, a slice per column.
func (f *Factor) AddColumns(w [][]float64, y []float64) {
	if len(w) != f.n {
		panic("numeric: Factor.AddColumns: another number of columns")
	}
	for from := 0; from < len(y); {
		m := min(blockRows-f.fill, len(y)-from)
		for j, col := range w {
			copy(f.column(j, f.fill+m)[f.fill:], col[from:from+m])
		}
		copy(f.column(f.n, f.fill+m)[f.fill:], y[from:from+m])
		from += m
		if f.fill += m; f.fill == blockRows {
			f.eat()
		}
	}
}

// Merge takes the rows of g in, which stays as it is but for its open block being closed.
func (f *Factor) Merge(g *Factor) {
	if g.n != f.n {
		panic("numeric: Factor.Merge: another number of unknowns")
	}
	g.eat()
	total := f.Rows() + g.total
	for i := range g.n {
		f.Add(g.r[i*g.n:i*g.n+g.n], g.c[i])
	}
	f.eat()
	f.rest += g.rest
	f.total = total
}

// Reset empties the factor.
func (f *Factor) Reset() {
	clear(f.r)
	clear(f.c)
	f.rest, f.total, f.fill = 0, 0, 0
}

// Triangle is R, row-major, its lower part zero, and c. They stay valid until the next row.
func (f *Factor) Triangle() (r, c []float64) {
	f.eat()
	return f.r, f.c
}

// SumSquares is the least ‖W·θ − y‖².
func (f *Factor) SumSquares() float64 {
	f.eat()
	return f.rest
}

// Solve writes the θ that makes ‖W·θ − y‖ least. Columns that depend on each other to rounding are an error.
func (f *Factor) Solve(theta []float64) error {
	f.eat()
	n := f.n
	for k := n - 1; k >= 0; k-- {
		row, s, length := f.r[k*n:k*n+n], f.c[k], 0.0
		for i := range k + 1 {
			length = math.Hypot(length, f.r[i*n+k])
		}
		if !(math.Abs(row[k]) > 0x1p-52*length) || math.IsInf(length, 0) {
			return errDependent
		}
		for j := k + 1; j < n; j++ {
			s -= row[j] * theta[j]
		}
		theta[k] = s / row[k]
	}
	return nil
}

// Condition is ‖S‖·‖S⁻¹‖ in the Frobenius norm for S, R with columns of unit length. It lies between the condition number κ
// of the columns so scaled and n/2·(κ + 1/κ), and costs no singular values. +Inf where columns depend on each other.
func (f *Factor) Condition() float64 {
	f.eat()
	n, sum := f.n, 0.0
	e := make([]float64, n)
	for j := range n {
		// row j of R⁻¹ from rᵀ·Rᵀ = e_jᵀ: forward, since its part before j is zero
		clear(e)
		row := 0.0
		for k := j; k < n; k++ {
			s := 0.0
			if k == j {
				s = 1
			}
			for i := j; i < k; i++ {
				s -= e[i] * f.r[i*n+k]
			}
			e[k] = s / f.r[k*n+k]
			row = math.Hypot(row, e[k])
		}
		column := 0.0
		for i := range j + 1 {
			column = math.Hypot(column, f.r[i*n+j])
		}
		sum += column * row * column * row
	}
	if !Finite(sum) {
		return math.Inf(1)
	}
	return math.Sqrt(float64(n) * sum)
}

var errDependent = errors.New("least squares: columns depend on each other, or are not finite")

// column j of the block, its first rows.
func (f *Factor) column(j, rows int) []float64 { return f.block[j*blockRows:][:rows] }

// eat reflects the block into the triangle. A pass over the rows changes the columns behind the leading one and forms the
// products that the next reflection needs, of the changed numbers, so that every number is touched once per reflection.
func (f *Factor) eat() {
	n, m := f.n, f.fill
	if m == 0 {
		return
	}
	f.total += m
	f.fill = 0
	f.products(0, m)
	for k := range n {
		top := f.r[k*n : k*n+n]
		ss := f.dots[k]
		if ss == 0 {
			f.products(k+1, m)
			continue
		}

		// reflect [top[k]; x] to [beta; 0] with 1 − tau·v·vᵀ, v = [1; x·in]
		beta := -math.Copysign(math.Sqrt(top[k]*top[k]+ss), top[k])
		tau, in := (beta-top[k])/beta, 1/(top[k]-beta)
		top[k] = beta
		for j := k + 1; j < n; j++ {
			s := tau * (top[j] + in*f.dots[j])
			top[j] -= s
			f.steps[j] = s * in
		}
		s := tau * (f.c[k] + in*f.dots[n])
		f.c[k] -= s
		f.steps[n] = s * in

		// columns behind: the next leading one together with its neighbour, the others in pairs
		x := f.column(k, m)
		if k+1 == n {
			f.dots[n] = reflectLast(x, f.column(n, m), f.steps[n])
			continue
		}
		f.dots[k+1], f.dots[k+2] = reflectLead(x, f.column(k+1, m), f.column(k+2, m), f.steps[k+1], f.steps[k+2])
		j := k + 3
		for ; j < n; j += 2 {
			f.dots[j], f.dots[j+1] = reflectPair(x, f.column(k+1, m), f.column(j, m), f.column(j+1, m), f.steps[j], f.steps[j+1])
		}
		if j == n {
			f.dots[n] = reflectOne(x, f.column(k+1, m), f.column(n, m), f.steps[n])
		}
	}
	f.rest += f.dots[n]
}

// products forms those of column k with itself and the columns behind it.
func (f *Factor) products(k, m int) {
	x, j := f.column(k, m), k
	for ; j+3 <= f.n; j += 4 {
		f.dots[j], f.dots[j+1], f.dots[j+2], f.dots[j+3] = fourProducts(x, f.column(j, m), f.column(j+1, m), f.column(j+2, m), f.column(j+3, m))
	}
	for ; j <= f.n; j++ {
		f.dots[j] = quartered(x, f.column(j, m))
	}
}

func fourProducts(x, a, b, c, d []float64) (xa, xb, xc, xd float64) {
	a, b, c, d = a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
	for i, v := range x {
		xa += v * a[i]
		xb += v * b[i]
		xc += v * c[i]
		xd += v * d[i]
	}
	return xa, xb, xc, xd
}

// quartered is x·y in four sums, which do not wait for each other.
func quartered(x, y []float64) float64 {
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

func reflectOne(x, p, y []float64, s float64) (py float64) {
	p, y = p[:len(x)], y[:len(x)]
	for i, v := range x {
		a := y[i] - s*v
		y[i] = a
		py += p[i] * a
	}
	return py
}

func reflectLast(x, y []float64, s float64) (yy float64) {
	y = y[:len(x)]
	for i, v := range x {
		a := y[i] - s*v
		yy += a * a
	}
	return yy
}
