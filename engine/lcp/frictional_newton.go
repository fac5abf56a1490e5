package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

const newtonSteps = 20

// newton takes damped steps on the projections
//
//	p_N = max(0, p_N − v_N/D_NN),   p_T = p_T − v_T/D_TT clipped to ±μ·max(0, p_N − v_N/D_NN)      [AC91]
//
// The branch of each contact is a state, and the full step is the solution of the equations of those states; the step is
// halved until the residual of the projections falls.
func (f *Frictional) newton(count *int) {
	w, p := 2*f.n, f.gs[:2*f.n]
	copy(p, f.keep[:w])
	merit := f.project(p)
	for range newtonSteps {
		*count++
		f.equations()
		if f.judge(); f.bestR <= FrictionTol {
			return
		}
		// from p towards f.p
		for step := 1.0; ; step /= 2 {
			for i, x := range p {
				f.keep[i] = x + step*(f.p[i]-x)
			}
			m := f.project(f.keep[:w])
			if !numeric.Finite(m) {
				return
			}
			if m < merit || step < 1.0/64 {
				merit = m
				break
			}
		}
		copy(p, f.keep[:w])
	}
}

// project is the squared residual of the projections at p; the states become those of the branches.
func (f *Frictional) project(p []float64) float64 {
	w, sum := 2*f.n, 0.0
	for i := range f.n {
		vn, vt := f.b[2*i], f.b[2*i+1]
		rowN, rowT := f.d[2*i*w:2*i*w+w], f.d[(2*i+1)*w:(2*i+1)*w+w]
		for j, x := range p {
			vn += rowN[j] * x
			vt += rowT[j] * x
		}
		an, at := p[2*i]-vn*f.ig[2*i], p[2*i+1]-vt*f.ig[2*i+1]
		bound := f.mu[i] * max(an, 0)
		st, ct := Stick, at
		switch {
		case an <= 0:
			st, an, ct = Open, 0, 0
		case at > bound:
			st, ct = SlipMinus, bound
		case at < -bound:
			st, ct = SlipPlus, -bound
		}
		f.st[i] = st
		en, et := p[2*i]-an, p[2*i+1]-ct
		sum += en*en*f.dg[2*i] + et*et*f.dg[2*i+1]
	}
	return math.Sqrt(sum)
}
