package friction

import "hilrig/engine"

// Coulomb is dry friction, the same at every speed [MOGI] (6.8), with its level given or from the normal load (6.9):
//
//	F = FC·sgn v for v ≠ 0, |F| ≤ FC at rest;   FC = µ·N if µ > 0, otherwise the parameter Fc.
//
// A contact that lifts off (N < 0) has no friction. With µ > 0 the normal load must be given, by the nominal one at least.
type Coulomb struct {
	rigid
	Fc float64 // N  Coulomb friction
	Mu float64 // coefficient of friction; 0: the level is Fc
	N0 float64 // N  normal load where none is given
}

// line is the level (N) at the normal load n (N).
func (p *Coulomb) line(n float64) straight {
	fc := p.Fc
	if p.Mu > 0 {
		if n == 0 {
			n = p.N0
		}
		fc = p.Mu * max(n, 0)
	}
	return straight{fs: fc, fc: fc}
}

// Step is the friction (N) at the velocity in.V; at rest it balances in.Fa up to the level.
func (p *Coulomb) Step(z []float64, in Input) float64 { return imposed(nil, p.line(in.N), z, in) }

// Move advances a mass by in.Dt.
func (p *Coulomb) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *Coulomb) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	rideLine(r, p.line(in.N), m, x, in, load)
}

// SteadyForce is FC·sgn v (N), under the nominal load.
func (p *Coulomb) SteadyForce(v float64) float64 { return p.line(0).slidingForce(v) }

// Stiffness is that of a rigid contact.
func (p *Coulomb) Stiffness() Stiffness { return Stiffness{Speed: jump} }

// Levels are Fc on either side of rest.
func (p *Coulomb) Levels() Levels { l := p.line(0); return sameLevels(l.fs, l.fc) }

// Viscous is zero.
func (p *Coulomb) Viscous(float64) float64 { return 0 }

func (p *Coulomb) fields() []field {
	return []field{
		{"Fc", "N", &p.Fc, 0, maxForce, "Coulomb friction"},
		{"mu", "", &p.Mu, 0, 1e3, "coefficient of friction, takes the level from the normal load; 0: the level is Fc"},
		{"N0", "N", &p.N0, 0, maxForce, "normal load where none is given, for mu"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Coulomb) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Coulomb) SetParams(theta []float64) error {
	return setParams("coulomb", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *Coulomb) Validate() error { return checkFields("coulomb", p.fields()) }
