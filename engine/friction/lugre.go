package friction

import "math"

// LuGre is the bristle law of [C95] (1)–(5), with a bristle damping that may fade with speed [O98]:
//
//	dz/dt = v − σ0·|v|/g(v)·z
//	g(v)  = Fc + (Fs − Fc)·exp(−(v/vs)²)
//	F     = σ0·z + σ1(v)·dz/dt + σ2·v + offset,   σ1(v) = σ1·exp(−(v/vd)²)
//
// Departures from the source: g is a force (the source divides it by σ0), Fs is the total break-away level, not the
// increment above Fc, and the offset collects gravity and amplifier offset.
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
}

// StateDim is 1: the mean bristle deflection (m).
func (p *LuGre) StateDim() int { return 1 }

// Reset relaxes the bristles.
func (p *LuGre) Reset(z []float64) { z[0] = 0 }

// Step advances z[0] (m) over in.Dt at the velocity in.V and returns the mean force over the step (N). The mean belongs
// to the middle of the step. Fa and N are not used. A step without length returns the instantaneous force.
func (p *LuGre) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		return p.Force(z[0], in.V)
	}
	zn, _, f := p.StepDx(z[0], in.V*in.Dt, in.Dt)
	z[0] = zn
	return f
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
