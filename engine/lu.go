package engine

import "math"

// LU solves dense systems of equations A·x = b in place by elimination with row pivoting. The matrix is row-major and
// flat; everything is allocated once.
type LU struct {
	A   []float64 // n×n; the caller's matrix before Factor, its factors afterwards
	n   int
	piv []int
}

// NewLU makes room for n equations.
func NewLU(n int) LU {
	return LU{A: make([]float64, n*n), n: n, piv: make([]int, n)}
}

// Resize makes it a solver of n equations, at most as many as NewLU made room for. A has to be filled afresh.
func (l *LU) Resize(n int) {
	l.n, l.A, l.piv = n, l.A[:n*n], l.piv[:n]
}

// Factor replaces A by its factors. It is false when A is singular or not finite.
func (l *LU) Factor() bool {
	n, a := l.n, l.A
	for k := range n {
		// largest number of the column on or below the diagonal
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		l.piv[k] = p
		if d := a[p*n+k]; d == 0 || math.IsNaN(d) || math.IsInf(d, 0) {
			return false
		}
		if p != k {
			for j := range n {
				a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
			}
		}
		pivot := a[k*n : k*n+n]
		for i := k + 1; i < n; i++ {
			row := a[i*n : i*n+n]
			q := row[k] / pivot[k]
			row[k] = q
			if q == 0 {
				continue
			}
			for j := k + 1; j < n; j++ {
				row[j] -= q * pivot[j]
			}
		}
	}
	return true
}

// Solve replaces b by A⁻¹·b with the factors of A.
func (l *LU) Solve(b []float64) {
	n, a := l.n, l.A
	// rows were exchanged in full, factors included: all exchanges come first
	for k, p := range l.piv {
		b[k], b[p] = b[p], b[k]
	}
	for i := range n {
		row, s := a[i*n:i*n+n], b[i]
		for j := range i {
			s -= row[j] * b[j]
		}
		b[i] = s
	}
	for i := n - 1; i >= 0; i-- {
		row, s := a[i*n:i*n+n], b[i]
		for j := i + 1; j < n; j++ {
			s -= row[j] * b[j]
		}
		b[i] = s / row[i]
	}
}
