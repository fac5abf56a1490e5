package friction

import "math"

// The steps of LuGre. A displacement Δx made at constant velocity v during h relaxes the bristles towards the force g of
// steady sliding, by a = σ0|Δx|/g. In force units, ζ = σ0·z, with D = g·sgn v − ζ what is missing:
//
//	dz/dt, mean   (z⁺ − z)/h = (|v|/g)·φ1(a)·D
//	mean force    F̄ = ζ + D·(1 − φ1(a)) + σ1(v)·(z⁺ − z)/h + σ2·v
//
// One exponential serves them and their derivatives, there is no division by h or by v, and no case v = 0. Divisions by
// parameters are multiplications by reciprocals: v comes last, and what hangs on it should be short.

// StepDx is the exact step for a displacement dx (m) made at constant velocity within h > 0 (s), from deflection z (m).
// It returns the deflection at the end, its mean over the step (both m) and the mean force (N). force·dx is the exact
// work of the continuous law, so the sampled law is passive exactly when the continuous one is.
func (p *LuGre) StepDx(z, dx, h float64) (zn, mean, force float64) {
	rate, mean, f := p.relax(z, dx/h, h)
	return z + h*rate, mean, f + p.Offset
}

// relax is the exact step at velocity v for h: the mean of dz/dt (m/s), the mean deflection (m) and the mean force without
// the offset (N).
func (p *LuGre) relax(z, v, h float64) (rate, mean, force float64) {
	g := p.g(v)
	y := math.Abs(v) / g
	p1, rest, _ := phiRest(h * p.Sigma0 * y)
	zeta := p.Sigma0 * z
	miss := math.Copysign(g, v) - zeta
	rate = miss * y * p1
	return rate, z + miss*rest/p.Sigma0, zeta + miss*rest + p.sigma1(v)*rate + p.Sigma2*v
}

// Trial is a step of the scheme. Implicit closes the bristle equation with backward Euler; Explicit and ExplicitPade take
// the deflection at the end for the force.
func (p *LuGre) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	force, slope, zn[0] = p.trial(s, z[0], in)
	return force, slope
}

// trial is Trial without slices.
func (p *LuGre) trial(s Scheme, z float64, in Input) (f, df, zn float64) {
	switch s {
	case Midpoint:
		f, df, zn = p.meanForce(z, in.V, in.Dt)
	case Implicit:
		f, df, zn = p.endForce(z, in.V, in.Dt)
	default:
		f, zn = p.explicit(s, z, in.V, in.Dt)
	}
	if p.N0 > 0 {
		k := p.load(in.N)
		f, df = k*f, k*df
	}
	return f + p.Offset, df, zn
}

// meanForce is the exact step at velocity w: mean force without the offset, its derivative with respect to w, and the
// deflection at the end.
func (p *LuGre) meanForce(z, w, h float64) (f, df, zn float64) {
	g, dg := p.gSlope(w)
	s1, ds1 := p.sigma1Slope(w)
	s := math.Copysign(1, w)
	over, hs := 1/g, h*p.Sigma0
	y := math.Abs(w) * over
	dy := (s - y*dg) * over
	p1, rest, slope := phiRest(hs * y)
	da := hs * dy

	zeta := p.Sigma0 * z
	miss, dmiss := s*g-zeta, s*dg
	rate := miss * y * p1
	drate := (dmiss*y+miss*dy)*p1 - miss*y*slope*da
	f = zeta + miss*rest + s1*rate + p.Sigma2*w
	df = dmiss*rest + miss*slope*da + ds1*rate + s1*drate + p.Sigma2
	return f, df, z + h*rate
}

// endForce is one backward Euler step at velocity w, Z(w) = (z + hw)/(1 + a): force at the end without the offset, its
// derivative, and the deflection at the end.
func (p *LuGre) endForce(z, w, h float64) (f, df, zn float64) {
	g, dg := p.gSlope(w)
	s1, ds1 := p.sigma1Slope(w)
	s := math.Copysign(1, w)
	// with a = hσ0|w|/g:  1/(1 + a) = g/(g + hσ0|w|),  (Z − z)/h = (w − (|w|/g)·ζ)/(1 + a)
	hs, u := h*p.Sigma0, math.Abs(w)
	over := 1 / (g + hs*u)
	zeta := p.Sigma0 * z
	rate := (w*g - u*zeta) * over
	drate := (g + w*dg - s*zeta - rate*(dg+hs*s)) * over
	f = zeta + (hs+s1)*rate + p.Sigma2*w
	return f, (hs+s1)*drate + ds1*rate + p.Sigma2, z + h*rate
}

// explicit is the step of the two explicit schemes at velocity v: force at the end of the step without the offset, with the
// damping of its middle, and the deflection at the end. ExplicitPade has e^{−a} ≈ 1/(1 + a + a²/2) and
// φ1 ≈ (1 + a/2)/(1 + a + a²/2), which leaves one division.
func (p *LuGre) explicit(s Scheme, z, v, h float64) (f, zn float64) {
	g := p.g(v)
	u, hs, zeta := math.Abs(v), h*p.Sigma0, p.Sigma0*z
	miss := math.Copysign(g, v) - zeta
	var rate float64
	if s == ExplicitPade {
		b := hs * u // a·g
		c := g + 0.5*b
		rate = miss * u * c / (g*(g+b) + 0.5*b*b)
	} else {
		y := u / g
		p1, _, _ := phiRest(hs * y)
		rate = miss * y * p1
	}
	return zeta + (hs+p.sigma1(v))*rate + p.Sigma2*v, z + h*rate
}

// g is the steady friction without its viscous part (N).
func (p *LuGre) g(v float64) float64 {
	r := v * (1 / p.Vs)
	g := p.Fc + (p.Fs-p.Fc)*expNeg(r*r)
	if g < p.Fs && g < p.Fc { // rounding only: Fs far below Fc would vanish beside it
		return min(p.Fs, p.Fc)
	}
	return g
}

// gSlope is g and its derivative.
func (p *LuGre) gSlope(v float64) (g, dg float64) {
	over := 1 / p.Vs
	r := v * over
	bell := (p.Fs - p.Fc) * expNeg(r*r)
	if bell == 0 { // no Stribeck dip, or far beyond it, where r may be infinite
		return p.Fc, 0
	}
	if g = p.Fc + bell; g < p.Fs && g < p.Fc {
		g = min(p.Fs, p.Fc)
	}
	return g, -2 * r * over * bell
}

// sigma1 is the bristle damping at speed v (N·s/m).
func (p *LuGre) sigma1(v float64) float64 {
	if p.Vd == 0 {
		return p.Sigma1
	}
	r := v * (1 / p.Vd)
	return p.Sigma1 * expNeg(r*r)
}

// sigma1Slope is the bristle damping and its derivative.
func (p *LuGre) sigma1Slope(v float64) (s1, ds1 float64) {
	if p.Vd == 0 {
		return p.Sigma1, 0
	}
	over := 1 / p.Vd
	r := v * over
	if s1 = p.Sigma1 * expNeg(r*r); s1 == 0 {
		return 0, 0
	}
	return s1, -2 * r * over * s1
}
