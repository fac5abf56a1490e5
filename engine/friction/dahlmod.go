package friction

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// DahlModified is the law of Dahl with a Stribeck curve, [MOGI] (6.50)–(6.53):
//
//	F = z + α2·v
//	τ(v)·dz/dt = −z + g(v)·sgn v,   τ(v) = d0/|v|
//	g(v) = α0 + α1·exp(−(v/v0)²)
//
// The state z is a force (N), which relaxes to the steady curve over the path d0; the presliding stiffness is g(0)/d0. The
// formulas of the source are lost: the structure follows its words, and d0 is the parameter missing from its table. There
// is no contact damper, so a body stuck on a spring rings.
//
// For a given motion the step is exact. With a = |Δx|/d0, s = sgn Δx:
//
//	z⁺ = z + (s·g − z)·(1 − e^{−a}),   z̄ = z + (s·g − z)·(1 − φ1(a)),   F̄ = z̄ + α2·v.
//
// It is not passive for all parameters, see Passive.
type DahlModified struct {
	Alpha0 float64 // N      Coulomb level
	Alpha1 float64 // N      Stribeck increment at rest; may be negative down to −α0
	Alpha2 float64 // N·s/m  viscous friction
	V0     float64 // m/s    Stribeck velocity
	D0     float64 // m      relaxation path
}

// StateDim is 1: the internal friction force (N).
func (p *DahlModified) StateDim() int { return 1 }

// Reset relaxes the contact.
func (p *DahlModified) Reset(z []float64) { z[0] = 0 }

// States names the internal force.
func (p *DahlModified) States() []engine.Signal {
	return []engine.Signal{{Name: "bristle_force", Unit: "N"}}
}

// Step advances z[0] (N) over in.Dt at the velocity in.V and returns the mean force over the step (N). The mean belongs to
// the middle of the step. A step without length returns the instantaneous force.
func (p *DahlModified) Step(z []float64, in Input) float64 {
	f := p.Alpha2 * in.V
	if !(in.Dt > 0) {
		return z[0] + f
	}
	e, _, p2, a := p.weights(in.V, in.Dt)
	d := coulomb(p.g(in.V), in.V) - z[0]
	f += z[0] + d*a*p2
	z[0] += d * e
	return f
}

// weights are those of the exact step: 1 − e^{−a}, φ1(a), φ2(a) and a.
func (p *DahlModified) weights(v, h float64) (e, p1, p2, a float64) {
	a = h * math.Abs(v) / p.D0
	e, p1, p2 = phi(a)
	return e, p1, p2, a
}

// Trial is a step of the scheme. Implicit closes the equation of z with backward Euler; Explicit and ExplicitPade take z at
// the end for the force.
func (p *DahlModified) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w := in.Dt, in.V
	z0 := z[0]
	g, dg := p.gSlope(w)
	if w < 0 {
		g, dg = -g, -dg
	}
	d := g - z0
	switch s {
	case Implicit:
		a := h * math.Abs(w) / p.D0
		da := math.Copysign(h/p.D0, w)
		zn[0] = z0 + d*a/(1+a)
		return zn[0] + p.Alpha2*w, (da*(g-zn[0])+a*dg)/(1+a) + p.Alpha2
	case ExplicitPade:
		a := h * math.Abs(w) / p.D0
		e := a * (1 + a/2)
		zn[0] = z0 + d*e/(1+e)
		return zn[0] + p.Alpha2*w, 0
	}
	e, p1, p2, a := p.weights(w, h)
	zn[0] = z0 + d*e
	if s == Explicit {
		return zn[0] + p.Alpha2*w, 0
	}
	d1, _ := dphi(a, e, p1, p2)
	m := a * p2 // 1 − φ1
	return z0 + d*m + p.Alpha2*w, dg*m - d*d1*math.Copysign(h/p.D0, w) + p.Alpha2
}

// Flow is the differential form.
func (p *DahlModified) Flow(z, dz []float64, in Input) float64 {
	dz[0] = (in.V*p.g(in.V) - math.Abs(in.V)*z[0]) / p.D0
	return z[0] + p.Alpha2*in.V
}

// Bounds is |z| ≤ max g.
func (p *DahlModified) Bounds(top []float64) { top[0] = p.Alpha0 + max(0, p.Alpha1) }

// SteadyForce is the force (N) of long sliding at v (m/s), (6.53).
func (p *DahlModified) SteadyForce(v float64) float64 { return coulomb(p.g(v), v) + p.Alpha2*v }

// Stiffness bounds the slopes of the law: a contact loaded to the limit is twice as stiff on the way back.
func (p *DahlModified) Stiffness() Stiffness {
	return Stiffness{K: 2 * (p.Alpha0 + max(0, p.Alpha1)) / p.D0, C: p.Alpha2, Speed: p.V0,
		Fall: max(0, math.Sqrt(2/math.E)*p.Alpha1/p.V0-p.Alpha2)}
}

// Levels are α0 + α1 and α0.
func (p *DahlModified) Levels() Levels { return sameLevels(p.Alpha0+p.Alpha1, p.Alpha0) }

// Viscous is α2·v (N).
func (p *DahlModified) Viscous(v float64) float64 { return p.Alpha2 * v }

// g is the steady friction without its viscous part (N), (6.52).
func (p *DahlModified) g(v float64) float64 {
	b, _ := bell(v, p.V0)
	return p.Alpha0 + p.Alpha1*b
}

// gSlope is g and its derivative.
func (p *DahlModified) gSlope(v float64) (g, dg float64) {
	b, db := bell(v, p.V0)
	return p.Alpha0 + p.Alpha1*b, p.Alpha1 * db
}

// Energy is a storage function (J): as long as the law is passive no motion gives back more. The contact cannot have a
// unique one, because its stiffness g(v)/d0 depends on the speed at which it is loaded and unloaded. With gT the largest
// and gL the least g, the work of loading slowly up to zc = (gT − gL)/2, and what fast unloading gives back above it:
//
//	dV/dz = d0·z/(gT − z) for z ≤ zc,   d0·z/(gL + z) above   (α1 < 0: the latter for all z)
func (p *DahlModified) Energy(z []float64) float64 {
	low, zc := p.Alpha0+min(0, p.Alpha1), max(0, p.Alpha1)/2
	x := math.Abs(z[0])
	c := min(x, zc)
	top := p.Alpha0 + max(0, p.Alpha1)
	// logarithms relative to their first term, so that a small z keeps its digits
	e := top*lossLog(-c/top) + low*(lossLog(x/low)-lossLog(c/low))
	return p.D0 * e
}

// lossLog is x − ln(1+x) for x > −1.
func lossLog(x float64) float64 {
	if math.Abs(x) < 1e-3 {
		return x * x * (1.0/2 - x*(1.0/3-x*(1.0/4-x*(1.0/5-x*(1.0/6)))))
	}
	return x - math.Log1p(x)
}

// Passive tells whether no motion from the relaxed state takes more work out than was put in. The presliding stiffness
// g(v)/d0 falls with speed, so a small load put on slowly and taken off fast returns more than it cost, unless viscous
// friction takes the surplus.
//
// Per length of path, the work is z·s + α2|v| and the change of z is (g·s − z)/d0. A storage V(z) must not grow faster than
// the work on the way up, nor fall slower on the way down, at any speeds, for every z > 0:
//
//	(z − α2·v)/(g(v) + z) ≤ dV/dz/d0 ≤ (z + α2·u)/(g(u) − z),   u, v ≥ 0.
//
// If left exceeds right at some z, u, v, a small cycle there gives work for ever. For α1 > 0 the tightest u is 0, so the
// law is passive exactly when 2z² − (Δ + α2v)·z + α2·v·gT ≥ 0 for all v and z ≤ Δ/2, Δ = g(0) − g(v), that is
//
//	(Δ + α2·v)² ≤ 8·α2·v·g(0)   wherever   α2·v < Δ.
//
// For α1 < 0 the tightest v is 0, and z·(Δ − 2z) ≤ α2·u·(g(0) + z) with Δ = g(u) − g(0) gives (Δ − α2u)² ≤ 8·α2·u·g(0)
// there. Speeds are searched on a grid of 25 a decade; without viscous friction the contact is active at any speed.
func (p *DahlModified) Passive() (ok bool, speed float64) {
	if p.Alpha1 == 0 {
		return true, 0
	}
	if p.Alpha2 == 0 {
		return false, 0
	}
	active := func(v float64) bool {
		rest, visc := p.Alpha0+p.Alpha1, p.Alpha2*v
		r := v / p.V0
		delta := math.Abs(p.Alpha1 * math.Expm1(-r*r))
		d := delta + math.Copysign(visc, p.Alpha1)
		return visc < delta && d*d > 8*visc*rest
	}
	const perDecade = 25
	for v := range speeds(1e-8*p.V0, max(100*p.V0, math.Abs(p.Alpha1)/p.Alpha2), perDecade) {
		if active(v) {
			return false, onset(v/math.Pow(10, 1.0/perDecade), v, active)
		}
	}
	return true, 0
}

func (p *DahlModified) fields() []field {
	return []field{
		{"alpha0", "N", &p.Alpha0, tiny, maxForce, "Coulomb friction"},
		{"alpha1", "N", &p.Alpha1, -maxForce, maxForce, "Stribeck increment at rest"},
		{"alpha2", "N·s/m", &p.Alpha2, 0, maxDamping, "viscous friction"},
		{"v0", "m/s", &p.V0, tiny, maxSpeed, "Stribeck velocity"},
		{"d0", "m", &p.D0, tiny, maxExtent, "path over which the force relaxes"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *DahlModified) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *DahlModified) SetParams(theta []float64) error {
	return setParams("dahl-modified", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, and a break-away level α0 + α1 that is not positive.
func (p *DahlModified) Validate() error {
	return errors.Join(checkFields("dahl-modified", p.fields()), checkBreakaway("dahl-modified", p.Alpha0, p.Alpha1))
}

// checkBreakaway reports a break-away level alpha0 + alpha1 that is not positive.
func checkBreakaway(law string, alpha0, alpha1 float64) error {
	if sum := alpha0 + alpha1; sum < tiny {
		return fmt.Errorf("%s: alpha0 + alpha1: %g N, want > 0", law, sum)
	}
	return nil
}
