package bristle

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/numeric"
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
// A force that is a mean is wrong by (n_k + n_k+1)/2, n_k the error of its sensor at sample k. Then n_k is a state too, with the
// covariance c of (x, v, ζ) and n_k:
//
//	P ← Φ·P·Φᵀ + (Φ·c·γᵀ + γ·cᵀ·Φᵀ)/2 + (Var n_k + σu²)/4·γ·γᵀ,    c ← σu²/2·γ,    Var n_k+1 = σu².
//
// At a sample the position corrects the state: e = y − x, S = P_xx + R, R the variance of the position, q²/12 for an encoder
// of count q. Rows are the prediction errors in units of their own scatter,
//
//	r_k = −e_k/√S_k·(G/G₀)^(β/2),    G the geometric mean of the S_k, β the share of σu² that acts on the mass.
//
// A force that acts on the mass and is not recorded makes the axis move: its prediction errors shrink with 1/M, and the
// likelihood is Σ(e²/S + ln S); with β = 1 the sum of squares is least where that is. An error of the force sensor does not
// act on the mass. It passes through the model and not through the axis, so Σ e²/S of it is the same for every model, and
// ln S would pull M up, by the part of σu² in the mean square of M·dv/dt: β = 0. For errors of both kinds the derivative of
// Σ e²/S + β·ln S vanishes at the truth.
type filter struct {
	d           *data
	m           *model
	noise       noise
	share       float64 // β
	substeps    int
	u           []float64 // mean force of every sub-step
	fixedValues theta     // values of what is fixed
	ref         float64   // ln G₀

	mover mover
	work  *atomic.Int64 // evaluations of the steps of all clones
	s     []float64     // S of every sample
}

// Residuals implements fit.Evaluator; q are the free parameters.
func (f *filter) Residuals(q, r []float64) engine.Status {
	t := f.fixedValues
	for j, i := range f.m.freeParams {
		t[i] = q[j]
	}
	logS, ok := f.run(&t, r)
	if !ok {
		// large, and larger the earlier the filter failed
		for k := range r {
			if !numeric.IsFinite(r[k]) || math.Abs(r[k]) > 1e3 {
				r[k] = 1e3
			}
		}
		return engine.NonFinite
	}
	floats.Scale(-f.level(logS), r)
	return engine.OK
}

// level is (G/G₀)^(β/2); a factor of a thousand is as bad as it gets.
func (f *filter) level(logS float64) float64 {
	return math.Exp(0.5 * f.share * min(max(logS-f.ref, -14), 14))
}

// run filters the record with the parameters t, writes e/√S to r and returns the mean of ln S.
func (f *filter) run(t *theta, r []float64) (logS float64, ok bool) {
	at := 0
	f.mover.work = 0
	defer func() { f.work.Add(int64(f.mover.work)) }()
	for _, p := range f.d.spans {
		sum, ok := f.piece(t, p, f.u[at:], r)
		if !ok {
			return 0, false
		}
		logS += sum
		at += (p.stop - p.start - 1) * f.substeps
	}
	return logS / float64(len(r)), true
}

// piece filters one piece and returns the sum of ln S. Where it fails it fills the rest of r with large numbers.
func (f *filter) piece(t *theta, p span, us, r []float64) (logS float64, ok bool) {
	n, h := f.substeps, p.h
	m := &f.mover
	m.set(t, h/float64(n))
	rr, qq := f.noise.position, f.noise.force

	// the velocity is known as well as two samples tell it, under a force that may have jumped; of the bristles only the
	// largest load, or that they are relaxed
	y, level := f.d.y, max(t[coulomb], t[breakout])
	jump := h * f.d.maxForce / t[inertia]
	s := state{x: y[p.start], v: (y[p.start+1] - y[p.start]) / h}
	pxx, pxv, pxz := rr, 0.0, 0.0
	pvv, pvz, pzz := 2*rr/(h*h)+jump*jump, 0.0, level*level/3
	if f.m.presliding {
		pzz = 0
	}
	var n0, vn, cx, cv, cz float64 // error of the force at the sample, its variance, and c
	fresh := qq
	if f.d.means {
		vn, fresh = qq, qq/4
	}
	product := 1.0
	ahead := 0.0 // change of velocity in the sub-step before, a guess for the next
	for k := p.start; ; k++ {
		// correct
		e, sk := y[k]-s.x, pxx+rr
		over := 1 / sk
		kx, kv, kz := pxx*over, pxv*over, pxz*over
		s.x += kx * e
		s.v += kv * e
		s.z += kz * e
		left := rr * over
		n0 += cx * over * e
		vn -= cx * over * cx
		cv -= kv * cx
		cz -= kz * cx
		cx *= left
		pvv -= kv * pxv
		pvz -= kv * pxz
		pzz -= kz * pxz
		pxx *= left
		pxv *= left
		pxz *= left
		r[k] = e * math.Sqrt(over)
		f.s[k] = sk
		if product *= sk; !(product > 1e-250 && product < 1e250) { // one logarithm for many
			logS, product = logS+math.Log(product/sk)+math.Log(sk), 1
		}
		good := sk > 0 && math.Abs(e) < 1e6*math.Sqrt(sk)
		if good && k+1 == p.stop {
			return logS + math.Log(product), true
		}

		// predict
		t := tangent{vv: 1, zz: 1}
		for i := 0; good && i < n; i++ {
			v := s.v
			_, good = m.move(&s, us[(k-p.start)*n+i]+n0/2, v+ahead/2, &t)
			ahead = s.v - v
		}
		if !good {
			for ; k < len(r); k++ {
				r[k] = 1e3
			}
			return 0, false
		}
		// Φ·P row by row, then ·Φᵀ
		qq := fresh + vn/4
		ax, av, az := pxx+t.xv*pxv+t.xz*pxz, pxv+t.xv*pvv+t.xz*pvz, pxz+t.xv*pvz+t.xz*pzz
		bv, bz := t.vv*pvv+t.vz*pvz, t.vv*pvz+t.vz*pzz
		ev, ez := t.zv*pvv+t.zz*pvz, t.zv*pvz+t.zz*pzz
		pxx = ax + t.xv*av + t.xz*az + qq*t.xu*t.xu
		pxv = t.vv*av + t.vz*az + qq*t.xu*t.vu
		pxz = t.zv*av + t.zz*az + qq*t.xu*t.zu
		pvv = t.vv*bv + t.vz*bz + qq*t.vu*t.vu
		pvz = t.zv*bv + t.zz*bz + qq*t.vu*t.zu
		pzz = t.zv*ev + t.zz*ez + qq*t.zu*t.zu
		if f.d.means {
			gx, gv, gz := (cx+t.xv*cv+t.xz*cz)/2, (t.vv*cv+t.vz*cz)/2, (t.zv*cv+t.zz*cz)/2
			pxx += 2 * gx * t.xu
			pxv += gx*t.vu + gv*t.xu
			pxz += gx*t.zu + gz*t.xu
			pvv += 2 * gv * t.vu
			pvz += gv*t.zu + gz*t.vu
			pzz += 2 * gz * t.zu
			n0, vn, cx, cv, cz = 0, f.noise.force, f.noise.force/2*t.xu, f.noise.force/2*t.vu, f.noise.force/2*t.zu
		}
	}
}

// clone is a filter for another worker.
func (f *filter) clone() *filter {
	g := *f
	g.s = make([]float64, len(f.s))
	return &g
}
