package population

import (
	"math"

	"hilrig/engine"
)

// slopes is one member with the derivatives of its state, a lane for every parameter in the order of theta. What belongs to
// the member stands in all lanes of the octet. With
//
//	κ = h/M·(1 + σ1/(hσ0)),  b = hσ0|v|,  n = b·g + b²/2,  q = n/(g² + n),  P = q·(g·sgn v − ζ)
//
// the step is v⁺ = v + h/M·(u − offset − σ2·v − ζ) − κ·P, ζ⁺ = ζ + P, and is differentiated as it stands. With
// w = g·(g + b)/(g² + n)² the derivatives of q are ∂q/∂b = g·w and ∂q/∂g = −b·w. For every parameter θ
//
//	dv⁺ = vv·dv + vz·dζ + pv,   dζ⁺ = zv·dv + zz·dζ + pz
//
// where pz = ∂P/∂θ and pv = −κ·pz + what θ does besides. The vector step knows the fields by their places.
type slopes struct {
	octet
	dv, dz, dx [8]float64 // of velocity, bristle force and position

	// which parameter feels what: ∂P is felt by Fs, Fc, σ0 and vs, v − v⁺ by M, P by σ0 and σ1, v by σ2, and 1 by offset
	inFs, inFc, inS0, inVs [8]float64
	byDv, byP, byV, by1    [8]float64

	steep [8]float64 // −2·(Fs − Fc)/vs²
	drag  [8]float64 // 1 − σ2·h/M
	over  [8]float64 // −1/vs

	_ [14][8]float64 // of the vector step
}

// sloper advances a member with its derivatives, and writes for every row 16 numbers to errs: the error four times, its
// derivatives with respect to the eight parameters, and nothing.
type sloper func(s *slopes, rows []row, errs []float64)

const slopeRow = 16

// set makes the slopes of the member in the first lane of o, at the first sample: there only the half step back depends on
// the parameters.
func (s *slopes) set(k *Kernel, o *octet, theta []float64) {
	m, sigma0, sigma1, vs := theta[thM], theta[thSigma0], theta[thSigma1], theta[thVs]
	*s = slopes{}
	for l := range 8 {
		s.v[l], s.z[l], s.x[l], s.cost[l] = o.v[0], o.z[0], o.x[0], o.cost[0]
		s.cap[l], s.bell[l], s.df[l], s.fc[l], s.hs0[l], s.hq[l] = o.cap[0], o.bell[0], o.df[0], o.fc[0], o.hs0[0], o.hq[0]
		s.hk[l], s.hm[l], s.s2[l], s.off[l], s.h[l] = o.hk[0], o.hm[0], o.s2[0], o.off[0], o.h[0]
		s.steep[l], s.drag[l], s.over[l] = -2*s.df[0]/(vs*vs), 1-s.hm[0]*s.s2[0], -1/vs
	}
	h, hm := s.h[0], s.hm[0]
	s.dv[thM] = (k.v0 - s.v[0]) / m
	s.dv[thSigma1], s.dv[thSigma2], s.dv[thOffset] = 0.5*hm*k.v0, 0.5*hm*k.v0, 0.5*hm
	s.inFs[thFs], s.inFc[thFc], s.inS0[thSigma0], s.inVs[thVs] = 1, 1, 1, 1
	s.byDv[thM], s.byV[thSigma2], s.by1[thOffset] = 1/m, -hm, -hm
	s.byP[thSigma0], s.byP[thSigma1] = hm*sigma1/(h*sigma0*sigma0), -hm/(h*sigma0)
}

// Follow writes the residuals of a member to r, with the bits of Residuals, and keeps their derivatives with respect to all
// parameters until it is called again. They are the derivatives of the scheme itself, without any difference. A member that
// failed has large residuals, derivatives of zero, and the status NonFinite. A member whose sum of squares exceeds limit is
// given up at the end of a block: whole is false, and residuals and derivatives are worth nothing. The first call allocates.
func (k *Kernel) Follow(theta, r []float64, limit float64) (st engine.Status, whole bool) {
	if k.kept[0] == nil {
		buf := make([]float64, thetaLen*k.Rows())
		for f := range k.kept {
			k.kept[f] = buf[f*k.Rows() : (f+1)*k.Rows()]
		}
	}
	ok := k.load(0, theta)
	if ok {
		s := &k.slopes
		s.set(k, &k.oct[0], theta)
		for at := 0; at < len(k.rows); at += blockRows {
			block := k.rows[at:min(at+blockRows, len(k.rows))]
			k.slope(s, block, k.errs)
			if s.cost[0] > limit {
				return engine.OK, false
			}
			first := (k.every - at%k.every) % k.every // row of the block with its first sample
			if first < len(block) {
				k.keep(r, (at+first)/k.every, k.errs[first*slopeRow:len(block)*slopeRow])
			}
		}
		// once beyond all numbers, a derivative stays there
		ok = s.cost[0] < k.Worst()
		for f := range s.dv {
			d := s.dv[f] + s.dz[f] + s.dx[f]
			ok = ok && d-d == 0
		}
	}
	if !ok {
		k.failed(r)
		for _, c := range k.kept {
			clear(c)
		}
		return engine.NonFinite, true
	}
	return engine.OK, true
}

// keep sorts what the sloper wrote into residuals and columns of derivatives, from sample out on.
func (k *Kernel) keep(r []float64, out int, errs []float64) {
	step := k.every * slopeRow
	n := (len(errs) + step - 1) / step
	r = r[out : out+n]
	for i := range r {
		r[i] = errs[i*step]
	}
	for f, c := range &k.kept {
		c = c[out : out+n]
		for i := range c {
			c[i] = errs[i*step+4+f]
		}
	}
}

// Derivatives are those that Follow kept, with respect to the parameter in place i of theta, one for every sample. They are
// valid until Follow is called again.
func (k *Kernel) Derivatives(i int) []float64 { return k.kept[i] }

// slopesPortable is the sloper in Go. Only the first lane of the octet is advanced.
func slopesPortable(o *slopes, rows []row, errs []float64) {
	v, z, x, cost := o.v[0], o.z[0], o.x[0], o.cost[0]
	cap, beta, df, fc := o.cap[0], o.bell[0], o.df[0], o.fc[0]
	hs0, hq, hk, hm, s2, off, h := o.hs0[0], o.hq[0], o.hk[0], o.hm[0], o.s2[0], o.off[0], o.h[0]
	steep, drag, over := o.steep[0], o.drag[0], o.over[0]
	byM, byS0, byS1 := o.byDv[thM], o.byP[thSigma0], o.byP[thSigma1]
	var pv, pz [thetaLen]float64
	pv[thOffset] = -hm
	for i := range rows {
		in := &rows[i]
		out := errs[i*slopeRow : i*slopeRow+slopeRow]

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
		miss := math.Copysign(g, v) - z
		vn := math.FMA(-q, float64(miss*hk), math.FMA(math.FMA(-s2, v, in.u-off)-z, hm, v))
		err := math.FMA(x, in.wx, math.FMA(v+vn, in.wv, in.my))
		cost = math.FMA(err, err, cost)
		out[0], out[1], out[2], out[3] = err, err, err, err

		// what it passes on
		pb := float64(miss * float64(float64(g*(g+b))/float64(den*den)))
		pg := math.FMA(-b, pb, math.Copysign(q, v))
		pb = float64(pb * g)
		fall := float64(float64(pg*steep) * float64(e*v))
		p := float64(q * miss)
		zv := math.FMA(pb, math.Copysign(hs0, v), fall)
		vv, vz, zz := math.FMA(-hk, zv, drag), math.FMA(hk, q, -hm), 1-q

		// what the parameters add
		zFs, zS0, zVs := float64(pg*e), float64(float64(pb*math.Abs(v))*h), float64(float64(fall*v)*over)
		zFc := pg - zFs
		pz[thFs], pz[thFc], pz[thSigma0], pz[thVs] = zFs, zFc, zS0, zVs
		pv[thM], pv[thSigma1], pv[thSigma2] = (v-vn)*byM, p*byS1, -hm*v
		pv[thSigma0], pv[thFc] = math.FMA(-hk, zS0, float64(p*byS0)), -hk*zFc
		pv[thFs], pv[thVs] = -hk*zFs, -hk*zVs
		for f := range pv {
			a, c, y := o.dv[f], o.dz[f], o.dx[f]
			an := math.FMA(vv, a, math.FMA(vz, c, pv[f]))
			o.dv[f], o.dz[f] = an, math.FMA(zz, c, math.FMA(zv, a, pz[f]))
			o.dx[f] = math.FMA(h, an, y)
			out[4+f] = math.FMA(in.wx, y, float64(in.wv*(a+an)))
		}
		x = math.FMA(h, vn, x)
		v, z = vn, math.FMA(q, miss, z)
	}
	o.v[0], o.z[0], o.x[0], o.cost[0] = v, z, x, cost
}
