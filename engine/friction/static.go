package friction

import (
	"math"

	"hilrig/engine"
)

// StaticCoulombViscous is static friction [MOGI] (6.11) with Coulomb (6.8) and viscous friction (6.10) of the sliding body:
//
//	F = u                      at rest with |u| ≤ Fs
//	F = (Fc + Fv·|v|^δ)·sgn v  sliding
//
// Departure from the source: Fs is the total break-away level, not the increment above Fc. The force drops from Fs to Fc at
// the instant of release; (6.11) gives Fs at rest under a larger load, an instant that takes no time.
type StaticCoulombViscous struct {
	rigid
	Fc    float64 // N      Coulomb friction
	Fs    float64 // N      break-away friction, total
	Fv    float64 // N·s/m  viscous friction, the force at 1 m/s
	Delta float64 // exponent of the viscous part
}

// contact is the law as the machine wants it: nil and a line for the linear viscous part.
func (p *StaticCoulombViscous) contact() (contact, straight) {
	if p.Delta == 1 {
		return nil, straight{fs: p.Fs, fc: p.Fc, fv: p.Fv}
	}
	return p, straight{}
}

func (p *StaticCoulombViscous) sliding(z []float64, s0 float64, in Input) (f, slope float64) {
	v := Viscous{Fv: p.Fv, Delta: p.Delta}
	f, slope = v.power(in.V)
	return p.Fc + f, slope
}

func (p *StaticCoulombViscous) level([]float64, float64) float64 { return p.Fs }

func (p *StaticCoulombViscous) advanceState([]float64, float64, float64, bool) {}

// Step is the friction (N) at the velocity in.V; at rest it balances in.Fa up to the break-away level.
func (p *StaticCoulombViscous) Step(z []float64, in Input) float64 {
	c, line := p.contact()
	return imposed(c, line, z, in)
}

// Move advances a mass by in.Dt.
func (p *StaticCoulombViscous) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *StaticCoulombViscous) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	if c, line := p.contact(); c == nil {
		rideLine(r, line, m, x, in, load)
	} else {
		stepContact(r, c, line, m, x, in, load)
	}
}

// SteadyForce is the sliding friction (N).
func (p *StaticCoulombViscous) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	f, _ := p.sliding(nil, 0, Input{V: math.Abs(v)})
	return math.Copysign(f, v)
}

// Stiffness is the steepest slope of the viscous part.
func (p *StaticCoulombViscous) Stiffness() Stiffness {
	v := Viscous{Fv: p.Fv, Delta: p.Delta}
	return Stiffness{C: v.steepest(), Speed: jump}
}

// Levels are Fs and Fc.
func (p *StaticCoulombViscous) Levels() Levels { return sameLevels(p.Fs, p.Fc) }

// Viscous is Fv·|v|^δ·sgn v (N).
func (p *StaticCoulombViscous) Viscous(v float64) float64 {
	return (&Viscous{Fv: p.Fv, Delta: p.Delta}).SteadyForce(v)
}

func (p *StaticCoulombViscous) fields() []field {
	return []field{
		{"Fc", "N", &p.Fc, 0, maxForce, "Coulomb friction"},
		{"Fs", "N", &p.Fs, 0, maxForce, "break-away friction (total, not the increment)"},
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction, the force at 1 m/s"},
		{"delta", "", &p.Delta, 0.1, 3, "exponent of the velocity in the viscous part; 1: linear"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *StaticCoulombViscous) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *StaticCoulombViscous) SetParams(theta []float64) error {
	return setParams("static-coulomb-viscous", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, and a static level below the sliding one: a body would break away and
// be held again at once.
func (p *StaticCoulombViscous) Validate() error {
	return checkLevels("static-coulomb-viscous", p.fields(), "Fs", p.Fc)
}
