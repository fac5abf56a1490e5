package friction

import (
	"math"

	"hilrig/engine"
)

// Static friction that rises with the dwell time, the time t2 that the body has been at rest. Both laws start from Coulomb
// friction at the instant of arrest, where the sliding friction Fc + Fv·|v| has brought the body to rest, and tend to Fs∞.
// Dwell time is real time counted from the arrest inside its step. A relaxed contact has been at rest for ever: Fs∞.

// forEver is the dwell time (s) of a body that never moved: 30 000 years, beyond which a level does not rise any more.
const forEver = 1e12

// Kato is the law of [MOGI] (6.13) [KM72]:
//
//	Fs(t2) = Fs∞ − (Fs∞ − Fc)·exp(−γ·t2^m),   γ = 0.04…0.64, m = 0.36…0.67 in the source,
//
// with t2 taken relative to 1 s, so that γ is a number. Small γ is a slow rise. Armstrong's non-conformal contact has
// γ = 1.66, m = 0.65.
type Kato struct {
	Fc    float64 // N      Coulomb friction
	FsInf float64 // N      break-away friction after a long rest, total
	Gamma float64 // rate of the rise: after 1 s the share e^−γ of it is left
	M     float64 // exponent of the dwell time
	Fv    float64 // N·s/m  viscous friction
}

// StateDim is 1: the dwell time t2 (s), 0 while sliding.
func (p *Kato) StateDim() int { return 1 }

// Reset is a body that has been at rest for ever.
func (p *Kato) Reset(z []float64) { z[0] = forEver }

// ResetSliding is a body that slides.
func (p *Kato) ResetSliding(z []float64, v float64) { z[0] = 0 }

// States names the dwell time.
func (p *Kato) States() []engine.Signal { return []engine.Signal{{Name: "dwell", Unit: "s"}} }

func (p *Kato) sliding(z []float64, s0 float64, in Input) (f, slope float64) {
	return p.Fc + p.Fv*in.V, p.Fv
}

func (p *Kato) level(z []float64, rest float64) float64 { return p.Level(z[0] + rest) }

func (p *Kato) advanceState(z []float64, h, v float64, stuck bool) { z[0] = dwell(z[0], h, stuck) }

// Level is the break-away friction (N) after a dwell time t2 (s).
func (p *Kato) Level(t2 float64) float64 {
	return p.FsInf - (p.FsInf-p.Fc)*math.Exp(-p.Gamma*math.Pow(max(t2, 0), p.M))
}

// Step is the friction (N) at the velocity in.V; at rest it balances in.Fa up to the break-away level.
func (p *Kato) Step(z []float64, in Input) float64 { return imposed(p, straight{}, z, in) }

// Move advances a mass by in.Dt.
func (p *Kato) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *Kato) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	stepContact(r, p, straight{}, m, x, in, load)
}

// SteadyForce is the sliding friction (N).
func (p *Kato) SteadyForce(v float64) float64 { return straight{fc: p.Fc, fv: p.Fv}.slidingForce(v) }

// Stiffness is the viscous slope of a rigid contact.
func (p *Kato) Stiffness() Stiffness { return Stiffness{C: p.Fv, Speed: jump} }

// Levels are Fs∞ and Fc.
func (p *Kato) Levels() Levels { return sameLevels(p.FsInf, p.Fc) }

// Viscous is Fv·v (N).
func (p *Kato) Viscous(v float64) float64 { return p.Fv * v }

// Energy is zero: a rigid contact stores none (J).
func (p *Kato) Energy([]float64) float64 { return 0 }

// Passive is true: F·v ≥ 0 at every instant.
func (p *Kato) Passive() (ok bool, speed float64) { return true, 0 }

func (p *Kato) fields() []field {
	return []field{
		{"Fc", "N", &p.Fc, 0, maxForce, "Coulomb friction, the break-away level right after a slip"},
		{"Fs_inf", "N", &p.FsInf, 0, maxForce, "break-away friction after a long rest (total, not the increment)"},
		{"gamma", "", &p.Gamma, 0, 1e6, "rate of the rise, after 1 s the share exp(-gamma) of it is left; 0: it does not rise"},
		{"m", "", &p.M, 0.01, 3, "exponent of the dwell time"},
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Kato) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Kato) SetParams(theta []float64) error {
	return setParams("rising-static-kato", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, and a level that would fall with time.
func (p *Kato) Validate() error {
	return checkLevels("rising-static-kato", p.fields(), "Fs_inf", p.Fc)
}

// RisingStatic is the law of (6.14) [A94]:
//
//	Fs,b = Fs,a + (Fs∞ − Fs,a)·t2/(t2 + γ),
//
// Fs,a the level at the end of the slip before and Fs,b that at break-away. Here sliding is Coulomb and viscous friction, so
// Fs,a = Fc after every slip; a contact that never moved has Fs,a = Fs∞. With γ = 0 the level is Fs∞ at once.
type RisingStatic struct {
	Fc    float64 // N      Coulomb friction
	FsInf float64 // N      break-away friction after a long rest, total
	Gamma float64 // s      dwell time after which half of the rise is done
	Fv    float64 // N·s/m  viscous friction
}

// StateDim is 2: the dwell time t2 (s), 0 while sliding, and the level Fs,a (N).
func (p *RisingStatic) StateDim() int { return 2 }

// Reset is a body that never moved.
func (p *RisingStatic) Reset(z []float64) { z[0], z[1] = 0, p.FsInf }

// ResetSliding is a body that slides.
func (p *RisingStatic) ResetSliding(z []float64, v float64) { z[0], z[1] = 0, p.Fc }

// States names dwell time and level.
func (p *RisingStatic) States() []engine.Signal {
	return []engine.Signal{{Name: "dwell", Unit: "s"}, {Name: "arrest_level", Unit: "N"}}
}

func (p *RisingStatic) sliding(z []float64, s0 float64, in Input) (f, slope float64) {
	return p.Fc + p.Fv*in.V, p.Fv
}

func (p *RisingStatic) level(z []float64, rest float64) float64 {
	return p.Level(z[1], z[0]+rest)
}

func (p *RisingStatic) advanceState(z []float64, h, v float64, stuck bool) {
	z[0] = dwell(z[0], h, stuck)
	if !stuck {
		z[1] = p.Fc
	}
}

// Level is the break-away friction (N) after a dwell time t2 (s) that began at the level from (N).
func (p *RisingStatic) Level(from, t2 float64) float64 {
	if p.Gamma == 0 {
		return p.FsInf
	}
	t2 = max(t2, 0)
	return from + (p.FsInf-from)*t2/(t2+p.Gamma)
}

// Step is the friction (N) at the velocity in.V; at rest it balances in.Fa up to the break-away level.
func (p *RisingStatic) Step(z []float64, in Input) float64 { return imposed(p, straight{}, z, in) }

// Move advances a mass by in.Dt.
func (p *RisingStatic) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *RisingStatic) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	stepContact(r, p, straight{}, m, x, in, load)
}

// SteadyForce is the sliding friction (N).
func (p *RisingStatic) SteadyForce(v float64) float64 {
	return straight{fc: p.Fc, fv: p.Fv}.slidingForce(v)
}

// Stiffness is the viscous slope of a rigid contact.
func (p *RisingStatic) Stiffness() Stiffness { return Stiffness{C: p.Fv, Speed: jump} }

// Levels are Fs∞ and Fc.
func (p *RisingStatic) Levels() Levels { return sameLevels(p.FsInf, p.Fc) }

// Viscous is Fv·v (N).
func (p *RisingStatic) Viscous(v float64) float64 { return p.Fv * v }

// Energy is zero: a rigid contact stores none (J).
func (p *RisingStatic) Energy([]float64) float64 { return 0 }

// Passive is true: F·v ≥ 0 at every instant.
func (p *RisingStatic) Passive() (ok bool, speed float64) { return true, 0 }

func (p *RisingStatic) fields() []field {
	return []field{
		{"Fc", "N", &p.Fc, 0, maxForce, "Coulomb friction, the break-away level right after a slip"},
		{"Fs_inf", "N", &p.FsInf, 0, maxForce, "break-away friction after a long rest (total, not the increment)"},
		{"gamma", "s", &p.Gamma, 0, maxExtent, "dwell time after which half of the rise is done; 0: it rises at once"},
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *RisingStatic) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *RisingStatic) SetParams(theta []float64) error {
	return setParams("rising-static-armstrong", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, and a level that would fall with time.
func (p *RisingStatic) Validate() error {
	return checkLevels("rising-static-armstrong", p.fields(), "Fs_inf", p.Fc)
}

// dwell is the dwell time after h (s) more of rest, or of slip.
func dwell(t2, h float64, stuck bool) float64 {
	if stuck {
		return t2 + h
	}
	return 0
}
