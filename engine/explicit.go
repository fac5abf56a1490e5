package engine

import "hilrig/engine/numeric"

// SemiImplicit is the symplectic Euler method for x = [q | v | a]: velocities and auxiliary states first, from the forces
// at the old position, then positions with the new velocity:
//
//	v⁺ = v + h·dv(t, q, v, a),   a⁺ = a + h·da(t, q, v, a),   q⁺ = q + h·dq(t, q, v⁺, a⁺).
//
// First order. For a separable Hamiltonian it keeps the symplectic form, so the energy error oscillates within O(h) and
// does not grow [HLW06 VI.3]. An oscillation of angular frequency ω is stable for hω < 2. dq is asked a second time,
// because it need not be v itself (quaternions, reduced coordinates).
type SemiImplicit struct {
	nq      int
	y, d, e []float64
}

// NewSemiImplicit makes the stepper of a layout.
func NewSemiImplicit(l Layout) *SemiImplicit {
	n := l.NQ + l.NV + l.NA
	return &SemiImplicit{nq: l.NQ, y: make([]float64, n), d: make([]float64, n), e: make([]float64, n)}
}

// Step advances x.
func (s *SemiImplicit) Step(f RHS, t, h float64, x []float64) Status {
	wantLen("SemiImplicit", x, s.y)
	f(t, x, s.d)
	copy(s.y, x)
	for i := s.nq; i < len(x); i++ {
		s.y[i] += h * s.d[i]
	}
	f(t, s.y, s.e)
	for i := range s.nq {
		s.y[i] += h * s.e[i]
	}
	if !numeric.AllFinite(s.y...) {
		return NonFinite
	}
	copy(x, s.y)
	return OK
}

// RK4 is the classic Runge–Kutta method of fourth order, stable for hω < 2.828 on the imaginary axis and h|λ| < 2.785 on
// the negative real one [HNW93 II.1].
type RK4 struct {
	y, k, sum []float64
}

// NewRK4 makes a stepper for n states.
func NewRK4(n int) *RK4 {
	return &RK4{y: make([]float64, n), k: make([]float64, n), sum: make([]float64, n)}
}

// Step advances x.
func (s *RK4) Step(f RHS, t, h float64, x []float64) Status {
	wantLen("RK4", x, s.y)
	f(t, x, s.k)
	copy(s.sum, s.k)
	s.stage(f, t+h/2, h/2, 2, x)
	s.stage(f, t+h/2, h/2, 2, x)
	s.stage(f, t+h, h, 1, x)
	for i := range x {
		s.y[i] = x[i] + h/6*s.sum[i]
	}
	if !numeric.AllFinite(s.y...) {
		return NonFinite
	}
	copy(x, s.y)
	return OK
}

// stage puts the slope at x + g·k into k and adds it to the sum with a weight.
func (s *RK4) stage(f RHS, t, g, weight float64, x []float64) {
	for i := range x {
		s.y[i] = x[i] + g*s.k[i]
	}
	f(t, s.y, s.k)
	for i := range x {
		s.sum[i] += weight * s.k[i]
	}
}

// wantLen stops a caller whose state has another length than the stepper was made for.
func wantLen(who string, x, y []float64) {
	if len(x) != len(y) {
		panic("engine: " + who + ": state has another length than the stepper was made for")
	}
}
