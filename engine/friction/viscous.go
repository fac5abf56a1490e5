package friction

import (
	"math"

	"hilrig/engine"
)

// Viscous is the friction of a fluid film [MOGI] (6.10), linear for δ = 1:
//
//	F = Fv·|v|^δ·sgn v,
//
// with |v|^δ taken relative to 1 m/s, so that Fv stays in N·s/m whatever the exponent.
// It has no stick mode and no state. For δ < 1 the curve would stand upright at v = 0; below 1 nm/s a straight line takes its
// place, so that a body comes to rest within nm/s in a finite time, not exactly.
type Viscous struct {
	rigid
	Fv    float64 // N·s/m  viscous friction, the force at 1 m/s
	Delta float64 // exponent
}

// creep is the speed (m/s) below which an upright curve is a straight line.
const creep = 1e-9

// power is Fv·s^δ and its slope at the speed s ≥ 0.
func (p *Viscous) power(s float64) (f, df float64) {
	switch {
	case p.Delta == 1:
		return p.Fv * s, p.Fv
	case p.Delta < 1 && s < creep:
		df = p.Fv * math.Pow(creep, p.Delta-1)
		return df * s, df
	}
	df = p.Fv * math.Pow(s, p.Delta-1)
	return df * s, p.Delta * df
}

// Step is the friction (N) at the velocity in.V.
func (p *Viscous) Step(z []float64, in Input) float64 {
	f, _ := p.power(math.Abs(in.V))
	return math.Copysign(f, in.V)
}

// Trial is the friction at the velocity of the scheme; all schemes agree on it.
func (p *Viscous) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	f, df := p.power(math.Abs(in.V))
	return math.Copysign(f, in.V), df
}

// Flow is the differential form: a force without a state.
func (p *Viscous) Flow(z, dz []float64, in Input) float64 { return p.Step(z, in) }

// SteadyForce is the law itself (N).
func (p *Viscous) SteadyForce(v float64) float64 { return p.Step(nil, Input{V: v}) }

// Stiffness is the steepest slope: for δ > 1 at the largest speed provided for, which leaves the explicit schemes no step
// that is of use. A power has no speed of its own; 1 m/s stands for it.
func (p *Viscous) Stiffness() Stiffness { return Stiffness{C: p.steepest(), Speed: 1} }

// Levels are zero: a film holds nothing.
func (p *Viscous) Levels() Levels { return Levels{} }

// Viscous is the law itself (N).
func (p *Viscous) Viscous(v float64) float64 { return p.SteadyForce(v) }

// steepest is the largest slope up to the speed fast (N·s/m).
func (p *Viscous) steepest() float64 {
	_, low := p.power(0)
	_, high := p.power(maxSpeed)
	return max(low, high)
}

func (p *Viscous) fields() []field {
	return []field{
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction, the force at 1 m/s"},
		{"delta", "", &p.Delta, 0.1, 3, "exponent of the velocity; 1: linear"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Viscous) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Viscous) SetParams(theta []float64) error {
	return setParams("viscous", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *Viscous) Validate() error { return checkFields("viscous", p.fields()) }
