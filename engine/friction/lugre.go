package friction

import (
	"math"

	"hilrig/engine"
)

// LuGre is the bristle law of [C95] (1)–(5), with a bristle damping that may fade with speed [O98]:
//
//	dz/dt = v − σ0·|v|/g(v)·z
//	g(v)  = Fc + (Fs − Fc)·exp(−(v/vs)²)
//	F     = σ0·z + σ1(v)·dz/dt + σ2·v + offset,   σ1(v) = σ1·exp(−(v/vd)²)
//
// Departures from the source: g is a force (the source divides it by σ0), Fs is the total break-away level, not the
// increment above Fc, and the offset collects gravity and amplifier offset. With N0 > 0 all forces but the offset are
// multiplied by N/N0: the stiffness of the bristles grows with the load, their deflection stays [theory (6.3)].
//
// For a given motion the step is exact, so it is stable for every dt and keeps |z| ≤ max(|z0|, Fs/σ0).
type LuGre struct {
	Sigma0 float64 // N/m    bristle stiffness
	Sigma1 float64 // N·s/m  bristle damping at rest
	Sigma2 float64 // N·s/m  viscous friction
	Fc     float64 // N      Coulomb level
	Fs     float64 // N      break-away level
	Vs     float64 // m/s    Stribeck velocity
	Vd     float64 // m/s    velocity at which σ1 has decayed to 1/e; 0: constant σ1
	Offset float64 // N      constant force opposing positive motion
	N0     float64 // N      normal load the numbers belong to; 0: the normal load does not matter
}

// StateDim is 1: the mean bristle deflection (m).
func (p *LuGre) StateDim() int { return 1 }

// Reset relaxes the bristles.
func (p *LuGre) Reset(z []float64) { z[0] = 0 }

// States names the bristle deflection.
func (p *LuGre) States() []engine.Signal { return []engine.Signal{{Name: "bristle", Unit: "m"}} }

// Step advances z[0] (m) over in.Dt at the velocity in.V and returns the mean force over the step (N). The mean belongs
// to the middle of the step. A step without length returns the instantaneous force.
func (p *LuGre) Step(z []float64, in Input) float64 {
	s := p.load(in.N)
	if !(in.Dt > 0) {
		return s*(p.Force(z[0], in.V)-p.Offset) + p.Offset
	}
	zn, _, f := p.StepDx(z[0], in.V*in.Dt, in.Dt)
	z[0] = zn
	return s*(f-p.Offset) + p.Offset
}

// load is the factor of all forces at the normal load n.
func (p *LuGre) load(n float64) float64 {
	if p.N0 == 0 {
		return 1
	}
	return n / p.N0
}

// Trial is a step of the scheme. Implicit closes the bristle equation with backward Euler; Explicit and ExplicitPade take
// the deflection at the end for the force.
func (p *LuGre) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w := in.Dt, in.V
	var f, df float64
	switch s {
	case Midpoint:
		f, df = p.meanForce(z[0], w, h)
		zn[0], _, _ = p.StepDx(z[0], h*w, h)
	case Implicit:
		f, df, zn[0] = p.endForce(z[0], w, h)
	case Explicit:
		zn[0], _, _ = p.StepDx(z[0], h*w, h)
		f = p.Sigma0*zn[0] + p.sigma1(w)*(zn[0]-z[0])/h + p.Sigma2*w + p.Offset
	case ExplicitPade:
		zn[0] = p.padeStep(z[0], w, h)
		f = p.Sigma0*zn[0] + p.sigma1(w)*(zn[0]-z[0])/h + p.Sigma2*w + p.Offset
	}
	if p.N0 > 0 {
		k := p.load(in.N)
		f, df = k*(f-p.Offset)+p.Offset, k*df
	}
	return f, df
}

// padeStep is the deflection (m) at the end with e^{−a} ≈ 1/(1+a+a²/2), in one division:
//
//	ζ⁺ = (ζg² + a'·s·g·(g + a'/2))/(g·(g + a'/2) + ½a'·(g + a')),   ζ = σ0z, a' = hσ0|v|
func (p *LuGre) padeStep(z, v, h float64) float64 {
	g, a := p.g(v), h*p.Sigma0*math.Abs(v)
	q := g * (g + a/2)
	return (z*g*g + h*v*q) / (q + a/2*(g+a))
}

// endForce is one backward Euler step at velocity w: force, slope and deflection at the end,
// Z(w) = (z + hw)/(1 + hσ0|w|/g(w)).
func (p *LuGre) endForce(z, w, h float64) (f, df, zn float64) {
	g, dg := p.gSlope(w)
	s1, ds1 := p.sigma1Slope(w)
	s := math.Copysign(1, w)
	a := h * p.Sigma0 * math.Abs(w) / g
	da := h * p.Sigma0 * (s - math.Abs(w)*dg/g) / g
	zn = (z + h*w) / (1 + a)
	dz := (h - zn*da) / (1 + a)
	rate := (zn - z) / h
	f = p.Sigma0*zn + s1*rate + p.Sigma2*w + p.Offset
	return f, p.Sigma0*dz + ds1*rate + s1*dz/h + p.Sigma2, zn
}

// Flow is the differential form.
func (p *LuGre) Flow(z, dz []float64, in Input) float64 {
	dz[0] = in.V - p.Sigma0*math.Abs(in.V)*z[0]/p.g(in.V)
	return p.load(in.N)*(p.Force(z[0], in.V)-p.Offset) + p.Offset
}

// Energy is what the bristles store (J), at the normal load N0.
func (p *LuGre) Energy(z []float64) float64 { return p.Sigma0 / 2 * z[0] * z[0] }

// Bounds is |z| ≤ max(Fs, Fc)/σ0.
func (p *LuGre) Bounds(top []float64) { top[0] = max(p.Fs, p.Fc) / p.Sigma0 }

// Stiffness bounds the slopes of the law.
func (p *LuGre) Stiffness() Stiffness {
	// the Gaussian falls steepest at vs/√2, with √(2/e)/vs
	return Stiffness{K: p.Sigma0, C: p.Sigma1 + p.Sigma2, Speed: p.Vs,
		Fall: max(0, math.Sqrt(2/math.E)*(p.Fs-p.Fc)/p.Vs-p.Sigma2)}
}

// StepDx is the exact step for a displacement dx (m) made at constant velocity within h > 0 (s), from deflection z (m).
// It returns the deflection at the end, its mean over the step (both m) and the mean force (N). force·dx is the exact
// work of the continuous law, so the sampled law is passive exactly when the continuous one is.
//
// With a = σ0|Δx|/g:  z⁺ = z·e^{−a} + Δx·φ1(a),  z̄ = z·φ1(a) + Δx·φ2(a),  F̄ = σ0·z̄ + σ1·(z⁺ − z)/h + σ2·v + offset.
func (p *LuGre) StepDx(z, dx, h float64) (zn, mean, force float64) {
	v := dx / h
	a := p.Sigma0 * math.Abs(dx) / p.g(v)
	e, p1, p2 := phi(a)
	dz := dx*p1 - z*e
	mean = z*p1 + dx*p2
	return z + dz, mean, p.Sigma0*mean + p.sigma1(v)*dz/h + p.Sigma2*v + p.Offset
}

// Force is the instantaneous force (N) at deflection z (m) and velocity v (m/s).
func (p *LuGre) Force(z, v float64) float64 {
	dz := v - p.Sigma0*math.Abs(v)*z/p.g(v)
	return p.Sigma0*z + p.sigma1(v)*dz + p.Sigma2*v + p.Offset
}

// Steady is the force (N) of long sliding at v (m/s): g(v)·sgn v + σ2·v + offset. At v = 0 the force is whatever holds the
// body, anywhere between −Fs and +Fs; Steady returns the offset there.
func (p *LuGre) Steady(v float64) float64 {
	if v == 0 {
		return p.Offset
	}
	return math.Copysign(p.g(v), v) + p.Sigma2*v + p.Offset
}

// Scaled is the law with all its forces multiplied by s, as a change of temperature or normal load does; bristles of the
// same deflection carry s times the force. The offset is not friction and stays.
func (p *LuGre) Scaled(s float64) LuGre {
	q := *p
	q.Sigma0, q.Sigma1, q.Sigma2, q.Fc, q.Fs = s*q.Sigma0, s*q.Sigma1, s*q.Sigma2, s*q.Fc, s*q.Fs
	return q
}

// g is the steady friction without its viscous part (N).
func (p *LuGre) g(v float64) float64 {
	r := v / p.Vs
	return p.Fc + (p.Fs-p.Fc)*math.Exp(-r*r)
}

// gSlope is g and its derivative.
func (p *LuGre) gSlope(v float64) (g, dg float64) {
	r := v / p.Vs
	bell := (p.Fs - p.Fc) * math.Exp(-r*r)
	return p.Fc + bell, -2 * r / p.Vs * bell
}

// sigma1Slope is the bristle damping and its derivative.
func (p *LuGre) sigma1Slope(v float64) (s1, ds1 float64) {
	if p.Vd == 0 {
		return p.Sigma1, 0
	}
	q := v / p.Vd
	s1 = p.Sigma1 * math.Exp(-q*q)
	return s1, -2 * q / p.Vd * s1
}

// meanForce is F̄ of StepDx for Δx = h·w and its derivative with respect to w.
func (p *LuGre) meanForce(z, w, h float64) (f, df float64) {
	g, dg := p.gSlope(w)
	s1, ds1 := p.sigma1Slope(w)
	s, dx := 1.0, h*w
	if w < 0 {
		s = -1
	}
	a := p.Sigma0 * math.Abs(dx) / g
	da := h * p.Sigma0 * (s - math.Abs(w)*dg/g) / g
	e, p1, p2 := phi(a)
	d1, d2 := dphi(a, e, p1, p2)

	mean := z*p1 + dx*p2
	dmean := (z*d1+dx*d2)*da + h*p2
	rate := (dx*p1 - z*e) / h
	drate := ((dx*d1-z*(1-e))*da + h*p1) / h
	f = p.Sigma0*mean + s1*rate + p.Sigma2*w + p.Offset
	return f, p.Sigma0*dmean + ds1*rate + s1*drate + p.Sigma2
}

// sigma1 is the bristle damping at speed v (N·s/m).
func (p *LuGre) sigma1(v float64) float64 {
	if p.Vd == 0 {
		return p.Sigma1
	}
	r := v / p.Vd
	return p.Sigma1 * math.Exp(-r*r)
}

// Relax returns the response of the bristle to a further constant input in its equation during the step of StepDx: with
// dz/dt = … + p/h the deflection at the end changes by p·end and its mean over the step by p·mean.
func (p *LuGre) Relax(dx, h float64) (end, mean float64) {
	_, end, mean = phi(p.Sigma0 * math.Abs(dx) / p.g(dx/h))
	return end, mean
}

// Damping is the bristle damping σ1 at speed v (N·s/m).
func (p *LuGre) Damping(v float64) float64 { return p.sigma1(v) }

func (p *LuGre) fields() []field {
	return []field{
		{"sigma0", "N/m", &p.Sigma0, tiny, stiff, "bristle stiffness"},
		{"sigma1", "N·s/m", &p.Sigma1, 0, damp, "bristle damping at rest"},
		{"sigma2", "N·s/m", &p.Sigma2, 0, damp, "viscous friction"},
		{"Fc", "N", &p.Fc, tiny, force, "Coulomb friction"},
		{"Fs", "N", &p.Fs, tiny, force, "break-away friction (total, not the increment)"},
		{"vs", "m/s", &p.Vs, tiny, fast, "Stribeck velocity"},
		{"vd", "m/s", &p.Vd, 0, fast, "velocity at which sigma1 has faded to 1/e; 0: it does not fade"},
		{"offset", "N", &p.Offset, -force, force, "constant force opposing positive motion"},
		{"N0", "N", &p.N0, 0, force, "normal load the numbers belong to; 0: the normal load does not matter"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *LuGre) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *LuGre) SetParams(theta []float64) error {
	return setParams("lugre", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range. Fs may lie below Fc (a contact that strengthens with speed), but not
// at zero: g would vanish.
func (p *LuGre) Validate() error { return checkFields("lugre", p.fields()) }
