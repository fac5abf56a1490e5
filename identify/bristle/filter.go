package bristle

import (
	"math"

	"hilrig/engine"
)

// noise are the variances that weigh the encoder against the force.
type noise struct {
	position float64 // m²  of the measured position
	force    float64 // N²  of the force, from sample to sample
}

// filter is an extended Kalman filter on (x, v, ζ). Between samples the model runs in sub-steps under the recorded force;
// the covariance follows with the exact derivative of these steps,
//
//	P ← Φ·P·Φᵀ + σu²·γ·γᵀ,    γ = ∂(x, v, ζ)/∂u for a force that is wrong by the same amount from sample to sample.
//
// At a sample the position corrects the state: e = y − x, S = P_xx + R, R the variance of the position, q²/12 for an encoder
// of count q. Rows are the prediction errors in units of their own scatter,
//
//	r_k = −e_k/√S_k·√(G/G₀),    G the geometric mean of the S_k,
//
// so that their sum of squares is least where the likelihood Σ(e²/S + ln S) is, up to a common factor of all S: without G a
// fit would gain by predicting badly, with a light mass for example, whose S is large.
type filter struct {
	d        *data
	m        *model
	noise    noise
	substeps int
	u        []float64 // mean force of every sub-step
	at       theta     // values of what is fixed
	ref      float64 // ln G₀

	mover mover
	s     []float64 // S of every sample
}

// Residuals implements fit.Evaluator; q are the free parameters.
func (f *filter) Residuals(q, r []float64) engine.Status {
	t := f.at
	for j, i := range f.m.free {
		t[i] = q[j]
	}
	logS, ok := f.run(&t, r)
	if !ok {
		// large, and larger the earlier the filter failed
		for k := range r {
			if !finite(r[k]) || math.Abs(r[k]) > 1e3 {
				r[k] = 1e3
			}
		}
		return engine.NonFinite
	}
	// a factor of a thousand is as bad as it gets
	c := -math.Exp(0.5 * min(max(logS-f.ref, -14), 14))
	for k := range r {
		r[k] *= c
	}
	return engine.OK
}

// run filters the record with the parameters t, writes e/√S to r and returns the mean of ln S.
func (f *filter) run(t *theta, r []float64) (logS float64, ok bool) {
	y, n := f.d.y, f.substeps
	m := &f.mover
	m.set(t, f.d.h/float64(n))
	rr, qq := f.noise.position, f.noise.force

	// the velocity is known as well as two samples tell it, under a force that may have jumped; of the bristles only the
	// largest load
	h, level := f.d.h, max(t[coulomb], t[breakout])
	jump := h * (f.d.most + level) / t[inertia]
	s := state{x: y[0], v: (y[1] - y[0]) / h}
	pxx, pxv, pxz := rr, 0.0, 0.0
	pvv, pvz, pzz := 2*rr/(h*h)+jump*jump, 0.0, level*level/3
	ahead := 0.0 // change of velocity in the sub-step before, a guess for the next
	for k := range y {
		// correct
		e, sk := y[k]-s.x, pxx+rr
		over := 1 / sk
		kx, kv, kz := pxx*over, pxv*over, pxz*over
		s.x += kx * e
		s.v += kv * e
		s.z += kz * e
		left := rr * over
		pvv -= kv * pxv
		pvz -= kv * pxz
		pzz -= kz * pxz
		pxx *= left
		pxv *= left
		pxz *= left
		r[k] = e * math.Sqrt(over)
		f.s[k] = sk
		logS += math.Log(sk)
		if !(sk > 0) || !(math.Abs(e) < 1e6*math.Sqrt(sk)) {
			for ; k < len(y); k++ {
				r[k] = 1e3
			}
			return 0, false
		}
		if k+1 == len(y) {
			break
		}

		// predict
		t := tangent{vv: 1, zz: 1}
		for _, u := range f.u[k*n : k*n+n] {
			v := s.v
			if _, ok := m.move(&s, u, v+ahead/2, &t); !ok {
				for ; k < len(y); k++ {
					r[k] = 1e3
				}
				return 0, false
			}
			ahead = s.v - v
		}
		// Φ·P row by row, then ·Φᵀ
		ax, av, az := pxx+t.xv*pxv+t.xz*pxz, pxv+t.xv*pvv+t.xz*pvz, pxz+t.xv*pvz+t.xz*pzz
		bv, bz := t.vv*pvv+t.vz*pvz, t.vv*pvz+t.vz*pzz
		cv, cz := t.zv*pvv+t.zz*pvz, t.zv*pvz+t.zz*pzz
		pxx = ax + t.xv*av + t.xz*az + qq*t.xu*t.xu
		pxv = t.vv*av + t.vz*az + qq*t.xu*t.vu
		pxz = t.zv*av + t.zz*az + qq*t.xu*t.zu
		pvv = t.vv*bv + t.vz*bz + qq*t.vu*t.vu
		pvz = t.zv*bv + t.zz*bz + qq*t.vu*t.zu
		pzz = t.zv*cv + t.zz*cz + qq*t.zu*t.zu
	}
	return logS / float64(len(y)), true
}

// clone is a filter for another worker.
func (f *filter) clone() *filter {
	g := *f
	g.s = make([]float64, len(f.s))
	return &g
}
