package friction

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Curve is a shape of the fall from break-away to Coulomb friction, as a share of Fs − Fc left at r = |v|/vs.
type Curve uint8

const (
	HessSoom    Curve = iota // 1/(1 + r²), the Lorentz curve of [MOGI] (6.16) [HS90]
	BoPavelescu              // exp(−r^δ), (6.17) [BP82]; δ = 0.5…1 in the source, 2 Armstrong's Gauss curve [A94]
	Tustin                   // exp(−r), (6.18) [Tustin47]
)

var curveNames = []string{"stribeck-hess-soom", "stribeck-bo-pavelescu", "stribeck-tustin"}

// String is the name of the law with that curve.
func (c Curve) String() string {
	if int(c) < len(curveNames) {
		return curveNames[c]
	}
	return "unknown curve"
}

// Stribeck is friction that falls with speed before viscosity takes over (6.16)–(6.18), on a contact with a rigid stick
// mode:
//
//	F = (Fc + (Fs − Fc)·share(|v|/vs) + Fv·|v|)·sgn v,   |F| ≤ Fs at rest.
//
// Departures from the source: Fs is the total break-away level, not the increment above Fc, and may lie below it: a contact that
// strengthens with speed. The body then slides from Fs on all the same, since the curve begins there. At v = 0 the curve is ±Fs, with
// the sign of the applied force. Gauss and Lorentz agree to (v/vs)⁴ at the start but not in the tail: at 3·vs Gauss leaves
// 0.01 % of the increment, Lorentz 10 %.
type Stribeck struct {
	rigid
	Fc    float64 // N      Coulomb friction
	Fs    float64 // N      break-away friction, total
	Vs    float64 // m/s    Stribeck velocity
	Fv    float64 // N·s/m  viscous friction
	Delta float64 // exponent of BoPavelescu
	Curve Curve
}

// share is what is left of Fs − Fc at r = s/vs ≥ 0, and its derivative.
func (p *Stribeck) share(r float64) (share, by float64) {
	switch p.Curve {
	case HessSoom:
		share = 1 / (1 + r*r)
		return share, -2 * r * share * share
	case BoPavelescu:
		if r == 0 {
			return 1, 0
		}
		q := r * r
		if p.Delta != 2 {
			q = math.Pow(r, p.Delta)
		}
		if share = expNeg(q); share > 0 { // behind it q may be infinite
			by = -p.Delta * q / r * share
		}
		return share, by
	}
	share = expNeg(r)
	return share, -share
}

// At is the sliding friction (N) and its slope (N·s/m) at the speed s ≥ 0 (m/s).
func (p *Stribeck) At(s float64) (f, slope float64) {
	share, by := p.share(s / p.Vs)
	return p.Fc + (p.Fs-p.Fc)*share + p.Fv*s, (p.Fs-p.Fc)/p.Vs*by + p.Fv
}

func (p *Stribeck) sliding(z []float64, s0 float64, in Input) (f, slope float64) { return p.At(in.V) }

func (p *Stribeck) level([]float64, float64) float64 { return p.Fs }

func (p *Stribeck) advanceState([]float64, float64, float64, bool) {}

// Step is the friction (N) at the velocity in.V; at rest it balances in.Fa up to the break-away level.
func (p *Stribeck) Step(z []float64, in Input) float64 { return imposed(p, straight{}, z, in) }

// Move advances a mass by in.Dt.
func (p *Stribeck) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *Stribeck) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	stepContact(r, p, straight{}, m, x, in, load)
}

// SteadyForce is the curve (N).
func (p *Stribeck) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	f, _ := p.At(math.Abs(v))
	return math.Copysign(f, v)
}

// Stiffness has the steepest fall of the curve: 3√3/8 of (Fs − Fc)/vs at r = 1/√3 for HessSoom, δ·r^{δ−1}·exp(−r^δ) of it at
// r^δ = 1 − 1/δ for BoPavelescu. For δ < 1 the curve falls upright from v = 0; the slope at vs/1000 stands for it.
func (p *Stribeck) Stiffness() Stiffness {
	top := 1.0
	switch p.Curve {
	case HessSoom:
		top = 3 * math.Sqrt(3) / 8
	case BoPavelescu:
		r := 1e-3
		if p.Delta > 1 {
			r = math.Pow(1-1/p.Delta, 1/p.Delta)
		}
		if p.Delta != 1 {
			top = p.Delta * math.Pow(r, p.Delta-1) * math.Exp(-math.Pow(r, p.Delta))
		}
	}
	return Stiffness{C: p.Fv, Fall: max(0, top*(p.Fs-p.Fc)/p.Vs-p.Fv), Speed: p.Vs}
}

// Levels are Fs and Fc.
func (p *Stribeck) Levels() Levels { return sameLevels(p.Fs, p.Fc) }

// Viscous is Fv·v (N).
func (p *Stribeck) Viscous(v float64) float64 { return p.Fv * v }

func (p *Stribeck) fields() []field {
	fs := []field{
		{"Fc", "N", &p.Fc, 0, maxForce, "Coulomb friction"},
		{"Fs", "N", &p.Fs, 0, maxForce, "break-away friction (total, not the increment); may lie below Fc"},
		{"vs", "m/s", &p.Vs, tiny, maxSpeed, "Stribeck velocity"},
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction"},
	}
	if p.Curve == BoPavelescu {
		fs = append(fs, field{"delta", "", &p.Delta, 0.1, 20, "exponent of the fall; 2: Gauss curve"})
	}
	return fs
}

// Params lists the parameters in the order of SetParams.
func (p *Stribeck) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Stribeck) SetParams(theta []float64) error {
	return setParams(p.Curve.String(), p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range and an unknown curve.
func (p *Stribeck) Validate() error {
	if int(p.Curve) >= len(curveNames) {
		return fmt.Errorf("stribeck: curve %d is unknown", p.Curve)
	}
	return checkFields(p.Curve.String(), p.fields())
}
