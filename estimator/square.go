package estimator

import "math"

// square is a matrix for the state and the input of an electrical axis. It lives where it is declared: nothing is allocated.
type square [nX + 1][nX + 1]float64

// norm is the largest sum of the magnitudes of a column.
func (m *square) norm() (top float64) {
	for j := range m {
		sum := 0.0
		for i := range m {
			sum += math.Abs(m[i][j])
		}
		top = max(top, sum)
	}
	return top
}

// product is a·b.
func (m *square) product(a, b *square) {
	for i := range m {
		for j := range m {
			sum := 0.0
			for k := range m {
				sum += a[i][k] * b[k][j]
			}
			m[i][j] = sum
		}
	}
}

// congruent is f·s·fᵀ.
func (m *square) congruent(f, s *square) {
	var fs square
	fs.product(f, s)
	for i := range m {
		for j := range m {
			sum := 0.0
			for k := range m {
				sum += fs[i][k] * f[j][k]
			}
			m[i][j] = sum
		}
	}
}

// add adds times·a.
func (m *square) add(a *square, times float64) {
	for i := range m {
		for j := range m {
			m[i][j] += times * a[i][j]
		}
	}
}

const expTerms = 16 // of the series: what is left out of a matrix of norm ½ is below 1e-18 of it

// exp is e^{a·t}, by the series of e^{a·t/2ⁿ} with a norm of at most ½, squared n times [ML03, method 3]. It is e − 1 that is
// squared, E ← 2E + E²: the small entries of a short time keep their digits.
func (m *square) exp(a *square, t float64) {
	var x, term, next square
	n := 0
	if norm := a.norm() * math.Abs(t); norm > 0.5 {
		n = max(0, math.Ilogb(norm)+2)
	}
	x.add(a, math.Ldexp(t, -n))
	// Horner: e − 1 = x·(1 + x/2·(1 + x/3·(…)))
	term = square{}
	for k := expTerms; k >= 1; k-- {
		for i := range term {
			term[i][i]++
		}
		next.product(&x, &term)
		term = square{}
		term.add(&next, 1/float64(k))
	}
	for range n {
		next.product(&term, &term)
		next.add(&term, 2)
		term = next
	}
	*m = term
	for i := range m {
		m[i][i]++
	}
}
