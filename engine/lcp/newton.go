package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

const (
	fischerSteps = 50
	armijo       = 1e-4
	halvings     = 30
)

// newton looks for a zero of the function of Fischer and Burmeister, scaled,
//
//	Φ_i(z) = z_i + w_i − √(z_i² + w_i²),   w = M̃·z + q̃        [F92]
//
// which is zero where z_i ≥ 0, w_i ≥ 0 and z_i·w_i = 0, by Newton's method with the generalised Jacobian D_z + D_w·M̃ and a line
// search on ½|Φ|², along its gradient where Newton's direction does not go down [DFK96]. The signs it ends with are then tried as a
// basis. It finds solutions where paths turn back, and none where ½|Φ|² has another minimum.
func (s *Solver) newton(limit int, z []float64) (Status, int) {
	n := s.n
	x, w, y, dir := s.x[:n], s.rhs[:n], s.y[:n], s.d[:n]
	for i := range x {
		x[i] = max(-s.q[i]*(s.s[i]/s.sigma), 0)
	}
	merit := s.fischer(x, w, y)
	for step := range min(limit, fischerSteps) {
		if !numeric.Finite(merit) {
			return Numeric, step
		}
		if s.spend(n*n*n/3 + 4*n*n) {
			return PivotLimit, step
		}
		if merit < 1e-24 {
			break
		}
		// y = Φ; J by rows, and the gradient Jᵀ·Φ
		s.lu.Resize(n)
		grad := s.some[:n]
		clear(grad)
		for i := range n {
			dz, dw := fischerSlopes(x[i], w[i])
			row, from := s.lu.A[i*n:i*n+n], s.m[i*n:i*n+n]
			f := dw * s.s[i]
			for j, v := range from {
				row[j] = f * v * s.s[j]
			}
			row[i] += dz
			for j, v := range row {
				grad[j] += v * y[i]
			}
		}
		square := 0.0
		for _, g := range grad {
			square += g * g
		}
		if square <= 1e-28 {
			return RayUnknown, step // another minimum
		}
		slope := -2 * merit
		copy(dir, y)
		if s.lu.Factor() {
			s.lu.Solve(dir)
			for i := range dir {
				dir[i] = -dir[i]
			}
		} else {
			dir[0] = math.Inf(1)
		}
		if !numeric.AllFinite(dir...) || !s.lower(x, w, y, dir, &merit, slope) {
			for i, g := range grad {
				dir[i] = -g
			}
			if !s.lower(x, w, y, dir, &merit, -square) {
				return RayUnknown, step
			}
		}
	}
	for i := range n {
		s.in[i] = x[i] > w[i]
		if !s.in[i] {
			x[i] = 0
		}
	}
	if s.accept(z, x) {
		return Solved, fischerSteps
	}
	return RayUnknown, fischerSteps
}

// lower goes from x along dir, half as far each time, until ½|Φ|² is lower by a share of what its slope promises.
func (s *Solver) lower(x, w, phi, dir []float64, merit *float64, slope float64) bool {
	t, at := 1.0, s.keep[:s.n]
	copy(at, x)
	for range halvings {
		for i := range x {
			x[i] = at[i] + t*dir[i]
		}
		if m := s.fischer(x, w, phi); m <= *merit+armijo*t*slope {
			*merit = m
			return true
		}
		t /= 2
	}
	copy(x, at)
	*merit = s.fischer(x, w, phi)
	return false
}

// fischer fills w and Φ at x and returns ½|Φ|².
func (s *Solver) fischer(x, w, phi []float64) float64 {
	n, sum := s.n, 0.0
	for i := range n {
		v, row := s.q[i]/s.sigma, s.m[i*n:i*n+n]
		for j, xj := range x {
			v += row[j] * s.s[j] * xj
		}
		v *= s.s[i]
		w[i] = v
		// no difference of almost equal numbers where both are positive
		r := math.Hypot(x[i], v)
		if x[i]+v > 0 {
			phi[i] = 2 * x[i] * v / (x[i] + v + r)
		} else {
			phi[i] = x[i] + v - r
		}
		sum += phi[i] * phi[i]
	}
	return sum / 2
}

// fischerSlopes is an element of the generalised derivative of z + w − √(z² + w²).
func fischerSlopes(z, w float64) (dz, dw float64) {
	r := math.Hypot(z, w)
	if r < 1e-14 {
		return 1 - math.Sqrt2/2, 1 - math.Sqrt2/2
	}
	return 1 - z/r, 1 - w/r
}
