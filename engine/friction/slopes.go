package friction

import (
	"math"

	"hilrig/engine/numeric"
)

// Slopes are the derivatives of a Trial of a law with one state or none: of its force and of the state at the end, with respect to the
// state at the beginning (Z), to the velocity (V), and to every parameter in the order of Params.
type Slopes struct {
	ForceZ, StateZ float64
	ForceV, StateV float64
	Force, State   []float64 // room for all parameters
}

// Sloped is a Smooth law with one state or none whose Trial has derivatives to be had, for the variational equations of a step. They
// hold for Midpoint and Implicit.
type Sloped interface {
	Smooth
	TrialSlopes(s Scheme, z float64, in Input, d *Slopes)
}

// TrialSlopes are the derivatives of meanForce and endForce. With the bristle force ζ = σ0·z both have the form
//
//	F = k·(ζ + A + σ1(v)·rate + σ2·v) + offset,   z⁺ = z + h·rate,
//
// with A = D·(1 − φ1(a)), D = g·sgn v − ζ and rate = D·(|v|/g)·φ1(a) for Midpoint, A = hσ0·rate and
// rate = (v·g − |v|·ζ)/(g + hσ0|v|) for Implicit.
func (p *LuGre) TrialSlopes(scheme Scheme, z float64, in Input, d *Slopes) {
	w, h := in.V, in.Dt
	over := 1 / p.Vs
	r := w * over
	e := expNeg(r * r)
	g, dg := p.Fc+(p.Fs-p.Fc)*e, -2*r*over*e*(p.Fs-p.Fc)
	s1, ds1 := p.sigma1Slope(w)
	s, u, zeta := math.Copysign(1, w), math.Abs(w), p.Sigma0*z

	// with respect to ζ, g, σ0 where ζ stays, and v where g stays
	var rate, rateZeta, rateG, rate0, rateV float64
	var a, aZeta, aG, a0, aV float64
	if scheme == Implicit {
		hs := h * p.Sigma0
		in := 1 / (g + hs*u)
		rate = (w*g - u*zeta) * in
		rateZeta, rateG, rate0, rateV = -u*in, (w-rate)*in, -rate*u*h*in, (g-s*zeta-rate*hs*s)*in
		a, aZeta, aG, a0, aV = hs*rate, hs*rateZeta, hs*rateG, h*rate+hs*rate0, hs*rateV
	} else {
		y := u / g
		b := h * p.Sigma0 * y
		p1, rest, slope := phiRest(b)
		miss := s*g - zeta
		k := miss * (p1 - b*slope) // miss·∂(y·p1)/∂y
		rate = miss * y * p1
		rateZeta, rateG, rate0, rateV = -y*p1, s*y*p1-k*y/g, -miss*y*slope*b/p.Sigma0, k*s/g
		a, aZeta, aG, a0, aV = miss*rest, -rest, s*rest-miss*slope*b/g, miss*slope*b/p.Sigma0, miss*slope*h*p.Sigma0*s/g
	}
	k := 1.0
	if p.N0 > 0 {
		k = p.load(in.N)
	}
	forceZeta, forceG := k*(1+aZeta+s1*rateZeta), k*(aG+s1*rateG)
	d.ForceZ, d.StateZ = p.Sigma0*forceZeta, 1+h*p.Sigma0*rateZeta
	d.ForceV = k*(aV+s1*rateV+ds1*rate+p.Sigma2) + forceG*dg
	d.StateV = h * (rateV + rateG*dg)
	dip := (p.Fs - p.Fc) * e * 2 * r * r * over // ∂g/∂vs
	fade := 0.0                                 // ∂σ1(v)/∂vd
	if p.Vd > 0 {
		q := w / p.Vd
		fade = s1 * 2 * q * q / p.Vd
	}
	share := 1.0
	if p.Vd > 0 && p.Sigma1 > 0 {
		share = s1 / p.Sigma1
	}
	f, x := d.Force[:9], d.State[:9]
	f[0], x[0] = k*(a0+s1*rate0)+z*forceZeta, h*(rate0+z*rateZeta)
	f[1], x[1] = k*share*rate, 0
	f[2], x[2] = k*w, 0
	f[3], x[3] = forceG*(1-e), h*rateG*(1-e)
	f[4], x[4] = forceG*e, h*rateG*e
	f[5], x[5] = forceG*dip, h*rateG*dip
	f[6], x[6] = k*fade*rate, 0
	f[7], x[7] = 1, 0
	f[8], x[8] = 0, 0
	if p.N0 > 0 && in.N > 0 {
		f[8] = -k / p.N0 * (zeta + a + s1*rate + p.Sigma2*w)
	}
}

// TrialSlopes of Fv·|v|^δ·sgn v.
func (p *Viscous) TrialSlopes(_ Scheme, _ float64, in Input, d *Slopes) {
	s, dir := math.Abs(in.V), numeric.Sign(in.V)
	unit, slope := (&Viscous{Fv: 1, Delta: p.Delta}).power(s)
	*d = Slopes{ForceV: p.Fv * slope, Force: d.Force, State: d.State}
	d.Force[0], d.Force[1] = dir*unit, 0
	if s >= creep {
		d.Force[1] = dir * p.Fv * unit * math.Log(s)
	}
	clear(d.State)
}
