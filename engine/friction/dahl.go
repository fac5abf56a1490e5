package friction

import (
	"math"

	"hilrig/engine"
)

// Dahl is the first bristle law [Dahl68]: the slope of force over displacement falls as the force nears the Coulomb level,
//
//	dF/dx = σ0·|y|^i·sgn y,   y = 1 − (F/Fc)·sgn v,   F = σ0·z.
//
// The state is the deflection z = F/σ0 (m), where the source states the law in the force; i = 1 is the usual exponent, 0
// the presliding spring, below 1 sliding begins after a finite path. The law has neither a peak at break-away nor a
// Stribeck curve, and knows only the path, not speed or time.
//
// For a given motion the step is exact for every i, mean force included. With the path in units of the break-away
// displacement, q = σ0|Δx|/Fc, dy/dq = −y^i integrates to
//
//	y⁺ = y·e^{−L},   L = ln(1 + (i−1)·a)/(i−1),   a = q·y^{i−1}   (i = 1: L = a = q)
//	ȳ = (1/q)·∫y dq = ∫Y^{1−i} dY/q = y·(L/a)·φ1((2−i)·L)
//
// with y⁺ = 0 and ȳ = y/((2−i)·a) once (1−i)·a ≥ 1; forces follow from F = s·Fc·(1 − y), s = sgn Δx.
type Dahl struct {
	Sigma0   float64 // N/m  bristle stiffness
	Fc       float64 // N    Coulomb force
	Exponent float64 //      i; 1: ductile, 0.5…2 seen
}

// StateDim is 1: the bristle deflection (m).
func (p *Dahl) StateDim() int { return 1 }

// Reset relaxes the bristles.
func (p *Dahl) Reset(z []float64) { z[0] = 0 }

// States names the bristle deflection.
func (p *Dahl) States() []engine.Signal { return []engine.Signal{{Name: "bristle", Unit: "m"}} }

// Step advances z[0] (m) over in.Dt at the velocity in.V and returns the mean force over the step (N). The mean belongs
// to the middle of the step. A step without length returns the instantaneous force.
func (p *Dahl) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		return p.Sigma0 * z[0]
	}
	zn, mean := p.StepDx(z[0], in.V*in.Dt)
	z[0] = zn
	return p.Sigma0 * mean
}

// StepDx is the exact step over a displacement dx (m) without reversal from deflection z (m): deflection at the end and
// its mean over the path (both m). σ0·mean·dx is the exact work.
func (p *Dahl) StepDx(z, dx float64) (zn, mean float64) {
	top := p.Fc / p.Sigma0
	s := math.Copysign(top, dx)
	q, y := math.Abs(dx)/top, 1-z/s
	end, avg := p.relax(y, q)
	return z + s*end, z + s*avg
}

// relax is the fall of y over the path q, at its end and on the average: y − y⁺ and y − ȳ, with full relative precision
// also for short paths. Beyond the Coulomb level (y < 0, after a change of parameters) y returns to 0 in the same way.
func (p *Dahl) relax(y, q float64) (end, mean float64) {
	if p.Exponent == 1 {
		e, _, p2 := phi(q)
		return y * e, y * q * p2
	}
	if y == 0 || q == 0 {
		return 0, 0
	}
	m := p.Exponent - 1
	a := q * math.Pow(math.Abs(y), m)
	switch {
	case a*(1+math.Abs(m)) < 0.01:
		// binomial series of (1 + m·a·r)^{−1/m}; the terms left out are below 1e-12 of the first
		term := -y
		for k := 1.0; k <= 6; k++ {
			term *= -a * (1 + (k-1)*m) / k
			end += term
			mean += term / (k + 1)
		}
		return end, mean
	case m*a <= -1: // sliding has begun
		return y, y * (1 - 1/((1-m)*a))
	}
	l := math.Log1p(m*a) / m
	if x := (1 - m) * l; math.Abs(x) > 1e-12 {
		mean = -math.Expm1(-x) / ((1 - m) * a)
	} else {
		mean = l / a
	}
	return -y * math.Expm1(-l), y * (1 - mean)
}

// Trial is a step of the scheme. The force at the end is known exactly for a given motion, so Implicit takes it instead of
// a backward Euler step; ExplicitPade does without the exponential when i = 1.
//
// The mean force depends on Δx alone, and d(F̄·Δx)/dΔx is the force at the end: dF̄/dw = (F⁺ − F̄)/w.
func (p *Dahl) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w := in.Dt, in.V
	top := p.Fc / p.Sigma0
	sg := math.Copysign(top, w)
	q, y := h*math.Abs(w)/top, 1-z[0]/sg
	if s == ExplicitPade && p.Exponent == 1 {
		e := q * (1 + q/2)
		zn[0] = z[0] + sg*y*e/(1+e)
		return p.Sigma0 * zn[0], 0
	}
	end, avg := p.relax(y, q)
	z0 := z[0]
	zn[0] = z0 + sg*end
	if s == Midpoint {
		if slope = p.Fc * (end - avg) / math.Abs(w); !(q > 1e-300) {
			slope = h * p.tangent(y) / 2
		}
		return p.Sigma0 * (z0 + sg*avg), slope
	}
	return p.Sigma0 * zn[0], h * p.tangent(y-end)
}

// tangent is dF/dx (N/m) at y.
func (p *Dahl) tangent(y float64) float64 {
	switch {
	case p.Exponent == 1:
		return p.Sigma0 * y
	case y == 0:
		return 0
	}
	return p.Sigma0 * math.Copysign(math.Pow(math.Abs(y), p.Exponent), y)
}

// Flow is the differential form.
func (p *Dahl) Flow(z, dz []float64, in Input) float64 {
	dz[0] = in.V * p.tangent(1-z[0]*p.Sigma0/math.Copysign(p.Fc, in.V)) / p.Sigma0
	return p.Sigma0 * z[0]
}

// Energy is the storage σ0·z²/2 (J). It bounds what the bristles can give back; unloading itself dissipates.
func (p *Dahl) Energy(z []float64) float64 { return p.Sigma0 / 2 * z[0] * z[0] }

// Bounds is |z| ≤ Fc/σ0.
func (p *Dahl) Bounds(top []float64) { top[0] = p.Fc / p.Sigma0 }

// SteadyForce is the force (N) of long sliding.
func (p *Dahl) SteadyForce(v float64) float64 { return coulomb(p.Fc, v) }

// Stiffness bounds the slopes of the law: bristles bent to the limit are 2^i times as stiff on the way back. The law knows
// no speed; a break-away displacement in a millisecond stands in.
func (p *Dahl) Stiffness() Stiffness {
	return Stiffness{K: p.Sigma0 * math.Exp2(p.Exponent), Speed: p.Fc / p.Sigma0 / 1e-3}
}

// Levels are Fc: the law has no peak.
func (p *Dahl) Levels() Levels { return sameLevels(p.Fc, p.Fc) }

// Viscous is zero.
func (p *Dahl) Viscous(float64) float64 { return 0 }

// Passive is true: with V = σ0·z²/2 the balance is F·v − dV/dt = F·v·(1 − y^i), and F·v and 1 − y have the same sign.
func (p *Dahl) Passive() (ok bool, speed float64) { return true, 0 }

func (p *Dahl) fields() []field {
	return []field{
		{"sigma0", "N/m", &p.Sigma0, tiny, maxStiffness, "bristle stiffness"},
		{"Fc", "N", &p.Fc, tiny, maxForce, "Coulomb friction"},
		{"exponent", "", &p.Exponent, 0, 5, "exponent i of the slope; 1: ductile, 0: elastic up to sliding"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Dahl) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Dahl) SetParams(theta []float64) error {
	return setParams("dahl", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *Dahl) Validate() error { return checkFields("dahl", p.fields()) }
