package rotation

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// Matrix is a 3×3 matrix by value, rows first. r3.Mat keeps its numbers behind a pointer.
type Matrix [3][3]float64

// Eye is the unit matrix.
var Eye = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}

// Diag is the matrix with d on its diagonal.
func Diag(d r3.Vec) Matrix { return Matrix{{d.X, 0, 0}, {0, d.Y, 0}, {0, 0, d.Z}} }

// Skew is [v]×: Skew(v)·x = v × x.
func Skew(v r3.Vec) Matrix {
	return Matrix{{0, -v.Z, v.Y}, {v.Z, 0, -v.X}, {-v.Y, v.X, 0}}
}

// OuterProduct is a·bᵀ.
func OuterProduct(a, b r3.Vec) Matrix {
	return Matrix{{a.X * b.X, a.X * b.Y, a.X * b.Z}, {a.Y * b.X, a.Y * b.Y, a.Y * b.Z}, {a.Z * b.X, a.Z * b.Y, a.Z * b.Z}}
}

// Mul is M·b.
func (m Matrix) Mul(b Matrix) (c Matrix) {
	for i := range 3 {
		for j := range 3 {
			c[i][j] = m[i][0]*b[0][j] + m[i][1]*b[1][j] + m[i][2]*b[2][j]
		}
	}
	return c
}

// Vec is M·v.
func (m Matrix) Vec(v r3.Vec) r3.Vec {
	return r3.Vec{
		X: m[0][0]*v.X + m[0][1]*v.Y + m[0][2]*v.Z,
		Y: m[1][0]*v.X + m[1][1]*v.Y + m[1][2]*v.Z,
		Z: m[2][0]*v.X + m[2][1]*v.Y + m[2][2]*v.Z,
	}
}

// TVec is Mᵀ·v.
func (m Matrix) TVec(v r3.Vec) r3.Vec {
	return r3.Vec{
		X: m[0][0]*v.X + m[1][0]*v.Y + m[2][0]*v.Z,
		Y: m[0][1]*v.X + m[1][1]*v.Y + m[2][1]*v.Z,
		Z: m[0][2]*v.X + m[1][2]*v.Y + m[2][2]*v.Z,
	}
}

// T is Mᵀ.
func (m Matrix) T() Matrix {
	return Matrix{{m[0][0], m[1][0], m[2][0]}, {m[0][1], m[1][1], m[2][1]}, {m[0][2], m[1][2], m[2][2]}}
}

// Add is M + s·b.
func (m Matrix) Add(s float64, b Matrix) Matrix {
	for i := range 3 {
		for j := range 3 {
			m[i][j] += s * b[i][j]
		}
	}
	return m
}

// Scale is s·M.
func (m Matrix) Scale(s float64) Matrix {
	for i := range 3 {
		for j := range 3 {
			m[i][j] *= s
		}
	}
	return m
}

// Det is the determinant.
func (m Matrix) Det() float64 {
	return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) - m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) + m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
}

// SolveSPD solves M·x = b for a symmetric positive definite M by Cholesky's factors; only the lower triangle is read. ok is false
// where M is not positive definite.
func (m Matrix) SolveSPD(b r3.Vec) (x r3.Vec, ok bool) {
	if !(m[0][0] > 0) {
		return x, false
	}
	// M = L·D·Lᵀ
	l10, l20 := m[1][0]/m[0][0], m[2][0]/m[0][0]
	d1 := m[1][1] - l10*m[1][0]
	if !(d1 > 0) {
		return x, false
	}
	s := m[2][1] - l20*m[1][0]
	l21 := s / d1
	d2 := m[2][2] - l20*m[2][0] - l21*s
	if !(d2 > 0) {
		return x, false
	}
	y1 := b.Y - l10*b.X
	x.Z = (b.Z - l20*b.X - l21*y1) / d2
	x.Y = y1/d1 - l21*x.Z
	x.X = b.X/m[0][0] - l10*x.Y - l20*x.Z
	return x, true
}

// InverseSPD is the inverse of a symmetric positive definite M.
func (m Matrix) InverseSPD() (inv Matrix, ok bool) {
	for j, e := range [3]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}} {
		c, ok := m.SolveSPD(e)
		if !ok {
			return Matrix{}, false
		}
		inv[0][j], inv[1][j], inv[2][j] = c.X, c.Y, c.Z
	}
	return inv, true
}

// Eigen gives the eigenvalues of a symmetric M in rising order and its unit eigenvectors as the columns of a rotation matrix.
func (m Matrix) Eigen() (values [3]float64, vectors Matrix) {
	var a, v [16]float64
	for i := range 3 {
		for j := range 3 {
			a[3*i+j] = m[i][j]
		}
	}
	jacobi(a[:9], v[:9], 3)
	order := [3]int{0, 1, 2}
	for i := 1; i < 3; i++ {
		for k := i; k > 0 && a[4*order[k]] < a[4*order[k-1]]; k-- {
			order[k], order[k-1] = order[k-1], order[k]
		}
	}
	for j, from := range order {
		values[j] = a[4*from]
		for i := range 3 {
			vectors[i][j] = v[3*i+from]
		}
	}
	if vectors.Det() < 0 {
		for i := range 3 {
			vectors[i][0] = -vectors[i][0]
		}
	}
	return values, vectors
}

// jacobi diagonalises the symmetric n×n matrix a (rows first) by plane rotations [GVL13] 8.5, cyclic by rows: the eigenvalues
// stay on the diagonal of a, the eigenvectors are the columns of v.
func jacobi(a, v []float64, n int) {
	size := 0.0
	for i := range n {
		for j := range n {
			v[n*i+j] = 0
			size += a[n*i+j] * a[n*i+j]
		}
		v[n*i+i] = 1
	}
	for range 30 { // quadratic convergence: 5 to 7 sweeps
		off := 0.0
		for i := range n {
			for j := range i {
				off += a[n*i+j] * a[n*i+j]
			}
		}
		if !(off > 1e-34*size) {
			return
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				apq := a[n*p+q]
				if apq == 0 {
					continue
				}
				// the smaller of the two angles that make the element zero
				theta := (a[n*q+q] - a[n*p+p]) / (2 * apq)
				t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for k := range n {
					x, y := a[n*k+p], a[n*k+q]
					a[n*k+p], a[n*k+q] = c*x-s*y, s*x+c*y
				}
				for k := range n {
					x, y := a[n*p+k], a[n*q+k]
					a[n*p+k], a[n*q+k] = c*x-s*y, s*x+c*y
				}
				a[n*p+q], a[n*q+p] = 0, 0
				for k := range n {
					x, y := v[n*k+p], v[n*k+q]
					v[n*k+p], v[n*k+q] = c*x-s*y, s*x+c*y
				}
			}
		}
	}
}
