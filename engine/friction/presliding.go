package friction

import (
	"math"

	"hilrig/engine"
)

// PreslidingSpring is the contact that gives way like a spring up to break-away and slides at constant force from there,
// [MOGI] (6.2), (6.3), (6.12):
//
//	F = kt·ξ,   kt = Fb/xb,   dξ/dt = v while |ξ| < xb or ξ·v < 0, else 0
//
// The state ξ (m) is the displacement from the point where the spring is unloaded; it is bounded by xb, and the contact
// drags its spring along while it slides (Prandtl's elastic–ideally plastic element). The source gives the elastic branch
// alone, and with the sign of the force on the body. The force depends on the path only, not on speed or time.
//
// For a given motion the step is exact, the mean force included, whether the contact breaks away inside it or not.
type PreslidingSpring struct {
	Fb float64 // N  break-away force
	Xb float64 // m  displacement at break-away; 1…50 µm in metal contacts
}

// StateDim is 1: the displacement of the spring (m).
func (p *PreslidingSpring) StateDim() int { return 1 }

// Reset unloads the spring.
func (p *PreslidingSpring) Reset(z []float64) { z[0] = 0 }

// States names the displacement of the spring.
func (p *PreslidingSpring) States() []engine.Signal {
	return []engine.Signal{{Name: "spring", Unit: "m"}}
}

// Kt is the stiffness of the contact (N/m), (6.3).
func (p *PreslidingSpring) Kt() float64 { return p.Fb / p.Xb }

// Step advances z[0] (m) over in.Dt at the velocity in.V and returns the mean force over the step (N).
func (p *PreslidingSpring) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		return p.Kt() * z[0]
	}
	zn, mean, _ := p.stepDx(z[0], in.V*in.Dt)
	z[0] = zn
	return p.Kt() * mean
}

// stepDx is the exact step from z (m) over dx (m): displacement at the end, its mean over the path and the derivative of
// the mean with respect to dx. Sliding begins after the part θ = (s·xb − z)/Δx of the path; with e = s·xb − z left to it
//
//	z̄ = s·xb − e²/(2Δx)   instead of   z̄ = z + Δx/2.
func (p *PreslidingSpring) stepDx(z, dx float64) (zn, mean, slope float64) {
	zn = z + dx
	end := math.Copysign(p.Xb, dx)
	switch left := end - z; {
	case math.Abs(zn) <= p.Xb || zn*dx < 0:
		return zn, z + dx/2, 0.5
	case left*dx <= 0: // slides from the start, also from a state beyond the bound
		return end, end, 0
	default:
		r := left / dx // ≤ 1
		return end, end - left*r/2, r * r / 2
	}
}

// Trial is a step of the scheme. The force at the end is that of backward Euler as well as the exact one.
func (p *PreslidingSpring) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	end, mean, ds := p.stepDx(z[0], in.Dt*in.V)
	kt := p.Kt()
	if s == Midpoint {
		zn[0] = end
		return kt * mean, kt * in.Dt * ds
	}
	if ds == 0.5 {
		slope = kt * in.Dt
	}
	zn[0] = end
	return kt * end, slope
}

// Flow is the differential form.
func (p *PreslidingSpring) Flow(z, dz []float64, in Input) float64 {
	dz[0] = in.V
	if math.Abs(z[0]) >= p.Xb && z[0]*in.V > 0 {
		dz[0] = 0
	}
	return p.Kt() * z[0]
}

// Energy is what the spring stores (J); all of it can be had back.
func (p *PreslidingSpring) Energy(z []float64) float64 { return p.Kt() / 2 * z[0] * z[0] }

// Bounds is |ξ| ≤ xb.
func (p *PreslidingSpring) Bounds(top []float64) { top[0] = p.Xb }

// SteadyForce is the force (N) of long sliding.
func (p *PreslidingSpring) SteadyForce(v float64) float64 { return coulomb(p.Fb, v) }

// Stiffness bounds the slopes of the law. The law knows no speed; a break-away displacement in a millisecond stands in.
func (p *PreslidingSpring) Stiffness() Stiffness {
	return Stiffness{K: p.Kt(), Speed: p.Xb / 1e-3}
}

// Levels are Fb on either side of break-away.
func (p *PreslidingSpring) Levels() Levels { return sameLevels(p.Fb, p.Fb) }

// Viscous is zero.
func (p *PreslidingSpring) Viscous(float64) float64 { return 0 }

// Passive is true: the work is stored in the spring or dissipated in sliding, F·v − dV/dt = Fb·|v| or 0.
func (p *PreslidingSpring) Passive() (ok bool, speed float64) { return true, 0 }

func (p *PreslidingSpring) fields() []field {
	return []field{
		{"Fb", "N", &p.Fb, tiny, maxForce, "break-away force"},
		{"xb", "m", &p.Xb, tiny, maxExtent, "displacement at break-away"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *PreslidingSpring) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *PreslidingSpring) SetParams(theta []float64) error {
	return setParams("presliding-spring", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *PreslidingSpring) Validate() error { return checkFields("presliding-spring", p.fields()) }

// coulomb is f·sgn v with sgn 0 = 0 (N).
func coulomb(f, v float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Copysign(f, v)
}
