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
// multiplied by N/N0: the stiffness of the bristles grows with the load, their deflection stays [MOGI] (6.3).
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
	rate, _, f := p.relax(z[0], in.V, in.Dt)
	z[0] += in.Dt * rate
	return s*f + p.Offset
}

// load is the factor of all forces at the normal load n; a contact that lifts off (n < 0) has none.
func (p *LuGre) load(n float64) float64 {
	if p.N0 == 0 || n == 0 {
		return 1
	}
	return max(0, n) / p.N0
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

// Levels are Fs and Fc.
func (p *LuGre) Levels() Levels {
	l := sameLevels(p.Fs, p.Fc)
	l.Offset = p.Offset
	return l
}

// Viscous is σ2·v (N).
func (p *LuGre) Viscous(v float64) float64 { return p.Sigma2 * v }

// Force is the instantaneous force (N) at deflection z (m) and velocity v (m/s).
func (p *LuGre) Force(z, v float64) float64 {
	dz := v - p.Sigma0*math.Abs(v)*z/p.g(v)
	return p.Sigma0*z + p.sigma1(v)*dz + p.Sigma2*v + p.Offset
}

// SteadyForce is the force (N) of long sliding at v (m/s): g(v)·sgn v + σ2·v + offset. At v = 0 the force is whatever holds the
// body, anywhere between −Fs and +Fs; SteadyForce returns the offset there.
func (p *LuGre) SteadyForce(v float64) float64 {
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
		{"sigma0", "N/m", &p.Sigma0, tiny, maxStiffness, "bristle stiffness"},
		{"sigma1", "N·s/m", &p.Sigma1, 0, maxDamping, "bristle damping at rest"},
		{"sigma2", "N·s/m", &p.Sigma2, 0, maxDamping, "viscous friction"},
		{"Fc", "N", &p.Fc, tiny, maxForce, "Coulomb friction"},
		{"Fs", "N", &p.Fs, tiny, maxForce, "break-away friction (total, not the increment)"},
		{"vs", "m/s", &p.Vs, tiny, maxSpeed, "Stribeck velocity"},
		{"vd", "m/s", &p.Vd, 0, maxSpeed, "velocity at which sigma1 has faded to 1/e; 0: it does not fade"},
		{"offset", "N", &p.Offset, -maxForce, maxForce, "constant force opposing positive motion"},
		{"N0", "N", &p.N0, 0, maxForce, "normal load the numbers belong to; 0: the normal load does not matter"},
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
