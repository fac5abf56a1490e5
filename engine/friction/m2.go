package friction

import (
	"errors"
	"math"

	"hilrig/engine"
)

// M2 blends a sticking and a sliding contact, [MOGI] (6.54)–(6.62):
//
//	F       = s·Fd + (1 − s)·Fst
//	τs·ds/dt = −s + 1 − exp(−(v/v0)²)       s = 1 sliding, 0 stuck; τs carries the memory
//	Fst     = sat(ks·r + ds·v)              sat clips at ±(α0 + α1)
//	dr/dt   = v − s·r/τr                    r: displacement since sticking began, emptied by sliding
//	Fd      = α0·tanh(v/vε) + α2·v
//
// The formulas of the source are lost. This reading is supported by its steady state, α0 + α1·exp(−(v/v0)²) + s·α2·v, the
// common Stribeck curve, as long as the sticking part saturates: ks·τr·|v|/s + ds·|v| ≥ α0 + α1; below, the force dips. The
// sign of the source is smoothed over vε. A contact that is stuck with s > 0 chatters.
//
// For a given motion s is exact; r follows with s̄ = ½(s + s⁺) and the exponential replaced by its rational approximation
// of second order, which never overshoots; the force takes s̄ and r̄ = ½(r + r⁺):
//
//	r⁺ = (r + Δx·(1 + b/2))/(1 + b + b²/2),   b = h·s̄/τr
type M2 struct {
	Alpha0 float64 // N      Coulomb level
	Alpha1 float64 // N      Stribeck increment at rest; may be negative down to −α0
	Alpha2 float64 // N·s/m  viscous friction
	TauS   float64 // s      time in which sliding sets in and dies away
	TauR   float64 // s      time in which sliding empties r
	V0     float64 // m/s    Stribeck velocity
	Ks     float64 // N/m    stiffness of the sticking contact
	Ds     float64 // N·s/m  damping of the sticking contact
	Veps   float64 // m/s    velocity over which the sign of the sliding force changes
}

// StateDim is 2: the share of sliding and the displacement (m).
func (p *M2) StateDim() int { return 2 }

// Reset sticks, unloaded.
func (p *M2) Reset(z []float64) { z[0], z[1] = 0, 0 }

// States names the share of sliding and the displacement since sticking began.
func (p *M2) States() []engine.Signal {
	return []engine.Signal{{Name: "sliding", Unit: ""}, {Name: "displacement", Unit: "m"}}
}

// Step advances z over in.Dt at the velocity in.V and returns the mean force over the step (N). The mean belongs to the
// middle of the step. A step without length returns the instantaneous force.
func (p *M2) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		f, _ := p.force(z[0], z[1], in.V, 0, 0)
		return f
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// Trial is a step of the scheme. Implicit, Explicit and ExplicitPade take s and r at the end for the force, r by backward
// Euler, r⁺ = (r + Δx)/(1 + h·s⁺/τr); the explicit ones chatter in the slope α0/vε unless the step is very short.
func (p *M2) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w := in.Dt, in.V
	q := w / p.V0
	bell := expNeg(q * q)
	left, gone := p.fade(h)
	slip := z[0]*left + (1-bell)*gone
	dslip := 2 * q / p.V0 * bell * gone // ds⁺/dw
	r := z[1]
	if s == Midpoint {
		mean, dmean := 0.5*(z[0]+slip), 0.5*dslip
		c := h / p.TauR
		b := c * mean
		den := 1 / (1 + b*(1+b/2))
		end := (r + h*w*(1+b/2)) * den
		dend := (h*(1+b/2) + c*dmean*(h*w/2-end*(1+b))) * den
		zn[0], zn[1] = slip, end
		return p.force(mean, 0.5*(r+end), w, dmean, 0.5*dend)
	}
	c := h / p.TauR
	den := 1 / (1 + c*slip)
	end := (r + h*w) * den
	zn[0], zn[1] = slip, end
	return p.force(slip, end, w, dslip, (h-end*c*dslip)*den)
}

// fade is e^{−h/τs} and 1 − e^{−h/τs}.
func (p *M2) fade(h float64) (left, gone float64) {
	a := h / p.TauS
	if a < 0.05 {
		// the usual short step, by the series: what is left out is below 0.05⁸/40320 = 1e-15
		gone = a * (1 - a*(1.0/2-a*(1.0/6-a*(1.0/24-a*(1.0/120-a*(1.0/720-a*(1.0/5040)))))))
		return 1 - gone, gone
	}
	return decay(a)
}

// force is the force (N) at the share s, displacement r and velocity v, and its derivative with respect to v along
// ds/dv, dr/dv.
func (p *M2) force(s, r, v, ds, dr float64) (f, df float64) {
	// tanh(v/vε) by one exponential; beyond 19 it is 1 to the last digit
	t := 1.0
	x := math.Abs(v) / p.Veps
	if x < 19 {
		e := expNeg(2 * x)
		t = (1 - e) / (1 + e)
	}
	fd, dfd := p.Alpha0*math.Copysign(t, v)+p.Alpha2*v, p.Alpha0/p.Veps*(1-t*t)+p.Alpha2
	fs, dfs := p.Ks*r+p.Ds*v, p.Ks*dr+p.Ds
	if top := p.Alpha0 + p.Alpha1; math.Abs(fs) > top {
		fs, dfs = math.Copysign(top, fs), 0
	}
	return s*fd + (1-s)*fs, ds*(fd-fs) + s*dfd + (1-s)*dfs
}

// Flow is the differential form.
func (p *M2) Flow(z, dz []float64, in Input) float64 {
	s, r, v := z[0], z[1], in.V
	q := v / p.V0
	dz[0] = (-math.Expm1(-q*q) - s) / p.TauS
	dz[1] = v - s*r/p.TauR
	f, _ := p.force(s, r, v, 0, 0)
	return f
}

// Bounds is s ≤ 1; the displacement is not bounded, because slow creep does not empty it.
func (p *M2) Bounds(top []float64) { top[0], top[1] = 1, math.Inf(1) }

// SteadyForce is the force (N) of long sliding at v (m/s), where r = τr·v/s. It is the Stribeck curve where the sticking part
// saturates, and less where it does not.
func (p *M2) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	q := v / p.V0
	s := -math.Expm1(-q * q)
	// a share that underflows leaves a displacement without bound
	f, _ := p.force(s, p.TauR*v/max(s, 1e-300), v, 0, 0)
	return f
}

// Stiffness bounds the slopes of the law. The fall of the steady curve is that of the Stribeck curve or, where the sticking
// part does not saturate, the steepest found between 1e-3 and 1e2 times v0, at 50 speeds a decade.
func (p *M2) Stiffness() Stiffness {
	fall := math.Sqrt(2/math.E) * max(0, p.Alpha1) / p.V0
	step := math.Pow(10, 1.0/50)
	lo := 1e-3 * p.V0
	f := p.SteadyForce(lo)
	for range 250 {
		hi := lo * step
		g := p.SteadyForce(hi)
		fall = max(fall, (f-g)/(hi-lo))
		lo, f = hi, g
	}
	return Stiffness{K: p.Ks, C: max(p.Ds, p.Alpha0/p.Veps+p.Alpha2), Fall: fall, Speed: p.V0}
}

// Levels are α0 + α1 and α0.
func (p *M2) Levels() Levels { return sameLevels(p.Alpha0+p.Alpha1, p.Alpha0) }

// Viscous is s·α2·v (N), s the share of sliding at that speed.
func (p *M2) Viscous(v float64) float64 {
	q := v / p.V0
	return -math.Expm1(-q*q) * p.Alpha2 * v
}

// Passive reports that passivity is not assured, from speed 0 on: the law has no storage function. The force of the
// sticking contact is weighted with 1 − s, so its stored energy ∫sat(ks·r)dr comes back with a weight that grows while s
// dies away, and s lags the motion by τs. A short slide at high speed that ends in sticking is paid with the sliding force
// and given back with the larger sticking force when τr ≫ τs. Whether a given set can be driven that way depends on the
// motion; no onset is claimed.
func (p *M2) Passive() (ok bool, speed float64) { return false, 0 }

func (p *M2) fields() []field {
	return []field{
		{"alpha0", "N", &p.Alpha0, tiny, maxForce, "Coulomb friction"},
		{"alpha1", "N", &p.Alpha1, -maxForce, maxForce, "Stribeck increment at rest"},
		{"alpha2", "N·s/m", &p.Alpha2, 0, maxDamping, "viscous friction"},
		{"tau_s", "s", &p.TauS, tiny, maxExtent, "time in which sliding sets in and dies away"},
		{"tau_r", "s", &p.TauR, tiny, maxExtent, "time in which sliding empties the displacement"},
		{"v0", "m/s", &p.V0, tiny, maxSpeed, "Stribeck velocity"},
		{"ks", "N/m", &p.Ks, 0, maxStiffness, "stiffness of the sticking contact"},
		{"ds", "N·s/m", &p.Ds, 0, maxDamping, "damping of the sticking contact"},
		{"veps", "m/s", &p.Veps, tiny, maxSpeed, "velocity over which the sign of the sliding force changes"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *M2) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *M2) SetParams(theta []float64) error { return setParams("m2", p.fields(), theta, p.Validate) }

// Validate reports every parameter outside its range, and a break-away level α0 + α1 that is not positive.
func (p *M2) Validate() error {
	return errors.Join(checkFields("m2", p.fields()), checkBreakaway("m2", p.Alpha0, p.Alpha1))
}
