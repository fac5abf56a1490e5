package estimator

import "math"

// Square-root information of least squares with rlsN unknowns: the upper triangle [R | d; 0 | ρ], rlsW×rlsW row-major,
// with RᵀR the information, R·θ = d the normal equations and ρ² the sum of squared residuals.

// rotateIn adds one equation [aᵀ | b] by Givens rotations; row is used up.
func rotateIn(t *[rlsW * rlsW]float64, row *[rlsW]float64) {
	for i := range rlsW {
		if row[i] == 0 {
			continue
		}
		p := t[i*rlsW+i]
		q := math.Hypot(p, row[i])
		c, s := p/q, row[i]/q
		t[i*rlsW+i] = q
		for j := i + 1; j < rlsW; j++ {
			a, b := t[i*rlsW+j], row[j]
			t[i*rlsW+j] = c*a + s*b
			row[j] = c*b - s*a
		}
	}
}

// invertUpper writes R⁻¹ (rlsN×rlsN row-major, upper triangular); false when R is singular to working precision.
func invertUpper(t *[rlsW * rlsW]float64, inv *[rlsN * rlsN]float64) bool {
	for j := range rlsN {
		// length of column j of the regressors
		norm := 0.0
		for i := range j + 1 {
			norm = math.Hypot(norm, t[i*rlsW+j])
		}
		if !(t[j*rlsW+j] > 1e-9*norm) {
			return false
		}
		inv[j*rlsN+j] = 1 / t[j*rlsW+j]
		for i := j - 1; i >= 0; i-- {
			s := 0.0
			for k := i + 1; k <= j; k++ {
				s += t[i*rlsW+k] * inv[k*rlsN+j]
			}
			inv[i*rlsN+j] = -s / t[i*rlsW+i]
		}
	}
	return true
}

// conditionBound is ‖S‖·‖S⁻¹‖ in the Frobenius norm for S, R with columns of unit length: √n times the root of the sum of
// the variance inflation factors. It lies between the condition number and n/2·(cond + 1/cond) and costs no eigenvalues.
func conditionBound(t *[rlsW * rlsW]float64, inv *[rlsN * rlsN]float64) float64 {
	sum := 0.0
	for i := range rlsN {
		col, row := 0.0, 0.0
		for k := range i + 1 {
			col += t[k*rlsW+i] * t[k*rlsW+i]
		}
		for k := i; k < rlsN; k++ {
			row += inv[i*rlsN+k] * inv[i*rlsN+k]
		}
		sum += col * row
	}
	return math.Sqrt(rlsN * sum)
}
