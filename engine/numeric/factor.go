package numeric

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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
// What a block does not touch costs nothing: if columns come in the order of their first row, the arrow structure of multiple
// shooting keeps R as sparse as A, and the work grows with the rows of a segment instead of all. Factors of parts of the data
// merge into that of the whole; the order of merging changes rounding only.
type Factor struct {
	n     int
	r     []float64 // n×n row-major, upper
	c     []float64
	rest  float64
	total int

	rows    int       // that fit in a block
	block   []float64 // n+1 columns of length rows, the last is the right-hand side
	fill    int       // rows in it
	nonzero []bool    // columns of the block that are not zero

	dots, steps []float64 // products of the columns with the leading one, and by how much of it they change
	touched     []int
}

// BlockRows is how many rows are reflected at once: enough that the triangle does not count, few enough for the nearest
// cache.
const BlockRows = 128

// NewFactor is the factor of a system with n unknowns and no rows yet.
func NewFactor(n int) *Factor { return NewFactorBlock(n, BlockRows) }

// NewFactorBlock is NewFactor with blocks of so many rows.
func NewFactorBlock(n, rows int) *Factor {
	return &Factor{
		n: n, r: make([]float64, n*n), c: make([]float64, n),
		rows: rows, block: make([]float64, (n+1)*rows), nonzero: make([]bool, n),
		dots: make([]float64, n+1), steps: make([]float64, n+1), touched: make([]int, 0, n+1),
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
		at[j*f.rows] = x
	}
	at[f.n*f.rows] = y
	if f.fill++; f.fill == f.rows {
		f.eat()
	}
}

// AddColumns takes len(y) rows in, a slice per column.
func (f *Factor) AddColumns(w [][]float64, y []float64) {
	if len(w) != f.n {
		panic("numeric: Factor.AddColumns: another number of columns")
	}
	for from := 0; from < len(y); {
		m := min(f.rows-f.fill, len(y)-from)
		for j, col := range w {
			copy(f.column(j, f.fill+m)[f.fill:], col[from:from+m])
		}
		copy(f.column(f.n, f.fill+m)[f.fill:], y[from:from+m])
		from += m
		if f.fill += m; f.fill == f.rows {
			f.eat()
		}
	}
}

// AddBlock takes in as many rows, at most those of a block, as set writes: column j of them, the right-hand side for j = n.
// The columns hold other numbers before.
func (f *Factor) AddBlock(rows int, set func(j int, column []float64)) {
	f.eat()
	for j := range f.n + 1 {
		set(j, f.column(j, rows))
	}
	f.fill = rows
	f.eat()
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

// Set makes f a copy of g, which has as many unknowns.
func (f *Factor) Set(g *Factor) {
	g.eat()
	copy(f.r, g.r)
	copy(f.c, g.c)
	f.rest, f.total, f.fill = g.rest, g.total, 0
}

// Leading makes f the factor of the first unknowns of g, as many as f has: the others are zero.
func (f *Factor) Leading(g *Factor) {
	g.eat()
	for i := range f.n {
		copy(f.r[i*f.n:][:f.n], g.r[i*g.n:])
	}
	copy(f.c, g.c)
	f.rest, f.total, f.fill = g.rest, g.total, 0
	for _, c := range g.c[f.n:] {
		f.rest += c * c
	}
}

// Scale weighs all rows so far by s.
func (f *Factor) Scale(s float64) {
	f.eat()
	floats.Scale(s, f.r)
	floats.Scale(s, f.c)
	f.rest *= s * s
}

// Reset empties the factor.
func (f *Factor) Reset() { f.Resize(f.n) }

// Resize empties the factor, for n unknowns, at most as many as it was made for.
func (f *Factor) Resize(n int) {
	f.n = n
	f.r, f.c = f.r[:n*n], f.c[:n]
	clear(f.r)
	clear(f.c)
	f.rest, f.total, f.fill = 0, 0, 0
}

// Triangle is R, row-major, its lower part zero, and c. They stay valid until the next row.
func (f *Factor) Triangle() (r, c []float64) {
	f.eat()
	return f.r, f.c
}

// SumSquares is the least ‖A·θ − b‖².
func (f *Factor) SumSquares() float64 {
	f.eat()
	return f.rest
}

// Solve writes the θ that makes ‖A·θ − b‖ least. Columns that depend on each other to rounding are an error.
func (f *Factor) Solve(theta []float64) error {
	f.eat()
	n := f.n
	for k := n - 1; k >= 0; k-- {
		row, s, length := f.r[k*n:k*n+n], f.c[k], 0.0
		for i := range k + 1 {
			length = math.Hypot(length, f.r[i*n+k])
		}
		if !(math.Abs(row[k]) > ulp*length) || math.IsInf(length, 0) {
			return errDependent
		}
		for j := k + 1; j < n; j++ {
			s -= row[j] * theta[j]
		}
		theta[k] = s / row[k]
	}
	return nil
}

var errDependent = errors.New("least squares: columns depend on each other, or are not finite")

// Errors writes the standard errors of θ for white noise of size one in b, the roots of the diagonal of (AᵀA)⁻¹. The
// condition is ‖S‖·‖S⁻¹‖ in the Frobenius norm for S, R with columns of unit length: √n times the root of the sum of the
// variance inflation factors. It lies between the condition number κ of the columns so scaled and n/2·(κ + 1/κ), and costs no
// singular values. +Inf where columns depend on each other.
func (f *Factor) Errors(se []float64) (condition float64) {
	f.eat()
	n, sum := f.n, 0.0
	e := f.dots[:n]
	for j := range n {
		// row j of R⁻¹, from x·R = e_j
		row, column := 0.0, 0.0
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
		for i := range j + 1 {
			column = math.Hypot(column, f.r[i*n+j])
		}
		se[j] = row
		sum += column * row * column * row
	}
	if !IsFinite(sum) {
		return math.Inf(1)
	}
	return math.Sqrt(float64(n) * sum)
}

// column j of the block, its first rows.
func (f *Factor) column(j, rows int) []float64 { return f.block[j*f.rows:][:rows] }

// eat reflects the block into the triangle. A pass over the rows changes the columns behind the leading one and forms the
// products that the next reflection needs, of the changed numbers, so that every number is touched once per reflection.
func (f *Factor) eat() {
	n, m := f.n, f.fill
	if m == 0 {
		return
	}
	f.total += m
	f.fill = 0
	for j := range n {
		f.nonzero[j] = slices.ContainsFunc(f.column(j, m), func(v float64) bool { return v != 0 })
	}
	known := false // the products with column k
	for k := range n {
		if !f.nonzero[k] {
			continue
		}
		if !known {
			f.products(k, m)
		}
		top, ss := f.r[k*n:k*n+n], f.dots[k]
		if known = ss != 0; !known {
			continue
		}

		// reflect [top[k]; x] to [beta; 0] with 1 − tau·v·vᵀ, v = [1; x·in]
		beta := -math.Copysign(math.Sqrt(top[k]*top[k]+ss), top[k])
		tau, in := (beta-top[k])/beta, 1/(top[k]-beta)
		top[k] = beta
		f.touched = f.touched[:0]
		for j := k + 1; j < n; j++ {
			if f.nonzero[j] || top[j] != 0 {
				s := tau * (top[j] + in*f.dots[j])
				top[j] -= s
				f.steps[j], f.nonzero[j] = s*in, true
				f.touched = append(f.touched, j)
			}
		}
		s := tau * (f.c[k] + in*f.dots[n])
		f.c[k] -= s
		f.steps[n] = s * in
		f.touched = append(f.touched, n)
		f.reflect(f.column(k, m))
	}
	b := f.column(n, m)
	f.rest += floats.Dot(b, b)
}

// products forms those of column k with itself and what stands behind it.
func (f *Factor) products(k, m int) {
	x := f.column(k, m)
	for j := k; j <= f.n; j++ {
		f.dots[j] = 0
		if j == f.n || f.nonzero[j] {
			f.dots[j] = floats.Dot(x, f.column(j, m))
		}
	}
}

// reflect changes the columns that are touched by −steps·x, and leaves their products with the first of them: the next
// leading one together with its neighbour, the others in pairs.
func (f *Factor) reflect(x []float64) {
	at, m := f.touched, len(x)
	if len(at) == 1 {
		floats.AddScaled(f.column(at[0], m), -f.steps[at[0]], x)
		return
	}
	clear(f.dots[at[0]:f.n])
	p := f.column(at[0], m)
	f.dots[at[0]], f.dots[at[1]] = reflectLead(x, p, f.column(at[1], m), f.steps[at[0]], f.steps[at[1]])
	for at = at[2:]; len(at) >= 2; at = at[2:] {
		i, j := at[0], at[1]
		f.dots[i], f.dots[j] = reflectPair(x, p, f.column(i, m), f.column(j, m), f.steps[i], f.steps[j])
	}
	if len(at) == 1 {
		f.dots[at[0]] = reflectOne(x, p, f.column(at[0], m), f.steps[at[0]])
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

func reflectOne(x, p, y []float64, s float64) (py float64) {
	p, y = p[:len(x)], y[:len(x)]
	for i, v := range x {
		a := y[i] - s*v
		y[i] = a
		py += p[i] * a
	}
	return py
}
