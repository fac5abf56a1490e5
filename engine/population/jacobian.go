package population

import (
	"math"

	"hilrig/engine"
)

// Jacobian writes the residuals of a member to r and their derivatives with respect to the parameters in the places free of
// theta to j, row-major, Rows × len(free). They are the derivatives of the scheme itself, without any difference: the step
//
//	v⁺ = v + h/M·(u − offset − σ2·v − ζ) − κ·P,   ζ⁺ = ζ + P,   P = q·(g·sgn v − ζ)
//
// with κ = h/M·(1 + σ1/(hσ0)), b = hσ0|v| and q = n/(g² + n), n = b·g + b²/2, is differentiated as it stands. With
// w = g·(g + b)/(g² + n)² the derivatives of q are ∂q/∂b = g·w and ∂q/∂g = −b·w. The residuals have the bits of Residuals.
// A member that failed has large residuals without derivatives, and the status NonFinite.
func (k *Kernel) Jacobian(theta, r []float64, free []int, j []float64) engine.Status {
	cols := len(free)
	j = j[:k.Rows()*cols]
	fail := func() engine.Status {
		k.failed(r)
		clear(j)
		return engine.NonFinite
	}
	if !k.load(0, theta) {
		return fail()
	}
	o := &k.oct[0]
	v, z, x, cost := o.v[0], o.z[0], o.x[0], 0.0
	cap, beta, df, fc := o.cap[0], o.bell[0], o.df[0], o.fc[0]
	hs0, hq, hk, hm, s2, off, h := o.hs0[0], o.hq[0], o.hk[0], o.hm[0], o.s2[0], o.off[0], o.h[0]
	m, sigma0, sigma1, vs := theta[thM], theta[thSigma0], theta[thSigma1], theta[thVs]
	hkS0, hkS1 := -hm*sigma1/(h*sigma0*sigma0), hm/(h*sigma0)
	overM, overVs, steep := 1/m, 1/vs, -2*df/(vs*vs)
	drag := 1 - hm*s2

	// derivatives of velocity, bristle force and position; at the first sample only the half step back counts
	var dv, dz, dx, pv, pz [thetaLen]float64
	dv[thM] = (k.v0 - v) * overM
	dv[thSigma1], dv[thSigma2], dv[thOffset] = 0.5*hm*k.v0, 0.5*hm*k.v0, 0.5*hm
	pv[thOffset] = -hm

	row, due := 0, 0
	for i := range k.rows {
		in := &k.rows[i]

		// the step, as in stepPortable
		s := float64(v * v)
		hb := float64(s * hq)
		if s > cap {
			s = cap
		}
		e := bell(s, beta)
		g := math.FMA(e, df, fc)
		b := math.Abs(v) * hs0
		n := math.FMA(b, g, hb)
		den := math.FMA(g, g, n)
		q := n / den
		sign := math.Copysign(1, v)
		miss := math.Copysign(g, v) - z
		vn := math.FMA(-q, float64(miss*hk), math.FMA(math.FMA(-s2, v, in.u-off)-z, hm, v))
		err := math.FMA(x, in.wx, math.FMA(v+vn, in.wv, in.my))
		cost = math.FMA(err, err, cost)

		// what it passes on
		w := g * (g + b) / (den * den)
		pb := miss * w
		pg := sign*q - b*pb
		pb *= g
		fall := pg * steep * e * v
		p := q * miss
		zv := fall + pb*sign*hs0
		vv, vz, zz := drag-hk*zv, hk*q-hm, 1-q

		// what the parameters add
		zFs, zSigma0 := pg*e, pb*math.Abs(v)*h
		zFc, zVs := pg-zFs, -fall*v*overVs
		pz[thSigma0], pz[thFc], pz[thFs], pz[thVs] = zSigma0, zFc, zFs, zVs
		pv[thM], pv[thSigma1], pv[thSigma2] = (v-vn)*overM, -p*hkS1, -hm*v
		pv[thSigma0], pv[thFc], pv[thFs], pv[thVs] = -hk*zSigma0-p*hkS0, -hk*zFc, -hk*zFs, -hk*zVs

		if due == 0 {
			r[row] = err
			out := j[row*cols : row*cols+cols]
			for c, f := range free {
				f &= thetaLen - 1
				out[c] = in.wv*(dv[f]+vv*dv[f]+vz*dz[f]+pv[f]) + in.wx*dx[f]
			}
			row, due = row+1, k.every
		}
		due--
		for _, f := range free {
			f &= thetaLen - 1
			a, c := dv[f], dz[f]
			dv[f], dz[f] = vv*a+vz*c+pv[f], zv*a+zz*c+pz[f]
			dx[f] += h * dv[f]
		}
		x = math.FMA(h, vn, x)
		v, z = vn, math.FMA(q, miss, z)
	}
	if !(cost < k.Worst()) {
		return fail()
	}
	for f := range dv { // once beyond all numbers, a derivative stays there
		if d := dv[f] + dz[f] + dx[f]; d-d != 0 {
			return fail()
		}
	}
	return engine.OK
}
