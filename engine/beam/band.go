package beam

import "math"

// width is the half bandwidth: an element joins four neighbouring coordinates.
const width = 3

// Band is a symmetric matrix with three diagonals on either side, its lower half by rows: row i holds columns i−3 to i.
type Band struct {
	N int
	A []float64 // 4·N; numbers outside the matrix are zero
}

// NewBand is zero.
func NewBand(n int) Band { return Band{N: n, A: make([]float64, (width+1)*n)} }

// At is an element; zero outside the band.
func (m *Band) At(r, c int) float64 {
	if c > r {
		r, c = c, r
	}
	if r-c > width {
		return 0
	}
	return m.A[(width+1)*r+width-(r-c)]
}

// add to an element with c ≤ r and its mirror image.
func (m *Band) add(r, c int, v float64) { m.A[(width+1)*r+width-(r-c)] += v }

// Sum makes it a·x + b·y.
func (m *Band) Sum(a float64, x *Band, b float64, y *Band) {
	for i := range m.A {
		m.A[i] = a*x.A[i] + b*y.A[i]
	}
}

// Mul writes the matrix times x to y.
func (m *Band) Mul(x, y []float64) {
	n := m.N
	x, y = x[:n], y[:n]
	for i := range y {
		row := m.A[4*i : 4*i+4]
		s := row[3] * x[i]
		for d := 1; d <= width && d <= i; d++ {
			a := row[3-d]
			s += a * x[i-d]
			y[i-d] += a * x[i]
		}
		y[i] = s
	}
}

// Form is xᵀ·A·y.
func (m *Band) Form(x, y []float64) (sum float64) {
	for i := range m.N {
		row := m.A[4*i : 4*i+4]
		sum += row[3] * x[i] * y[i]
		for d := 1; d <= width && d <= i; d++ {
			sum += row[3-d] * (x[i]*y[i-d] + x[i-d]*y[i])
		}
	}
	return sum
}

// Factor replaces the matrix by its factors L·Lᵀ, the diagonal of L inverted. It is false when the matrix is not positive definite.
func (m *Band) Factor() bool {
	for i := range m.N {
		row := m.A[4*i : 4*i+4]
		for d := min(width, i); d >= 0; d-- {
			j := i - d
			s := row[3-d]
			other := m.A[4*j : 4*j+4]
			for k := max(0, i-width, j-width); k < j; k++ {
				s -= row[3-(i-k)] * other[3-(j-k)]
			}
			if d > 0 {
				row[3-d] = s * other[3]
				continue
			}
			if !(s > 0) || math.IsInf(s, 0) {
				return false
			}
			row[3] = 1 / math.Sqrt(s)
		}
	}
	return true
}

// Solve replaces x by A⁻¹·x with the factors of A.
func (m *Band) Solve(x []float64) {
	n := m.N
	x, a := x[:n], m.A[:4*n]
	// the last three numbers stay at hand; outside the matrix they meet zeros
	var x1, x2, x3 float64
	for i := range x {
		row := a[4*i : 4*i+4]
		x1, x2, x3 = (x[i]-row[2]*x1-row[1]*x2-row[0]*x3)*row[3], x1, x2
		x[i] = x1
	}
	// with the columns of the lower half, each number is taken off those above it
	for i := n - 1; i >= width; i-- {
		row := a[4*i : 4*i+4]
		v := x[i] * row[3]
		x[i] = v
		x[i-1] -= row[2] * v
		x[i-2] -= row[1] * v
		x[i-3] -= row[0] * v
	}
	for i := min(width, n) - 1; i >= 0; i-- {
		v := x[i] * a[4*i+3]
		x[i] = v
		for d := 1; d <= i; d++ {
			x[i-d] -= a[4*i+3-d] * v
		}
	}
}
