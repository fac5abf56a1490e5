package friction

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Karnopp is the law of [K85] with force as its input [MOGI] (6.41)–(6.43):
//
//	dp/dt = u − F,   v = 0 while |p| < M·Dv, otherwise p/M
//	F = u                      v = 0, |u| ≤ Fs
//	F = Fs·sgn u               v = 0, |u| > Fs
//	F = Fc·sgn v + Fv·v        v ≠ 0
//
// Departures from the source: Fs is the total break-away level; the pseudo-momentum p is set to zero while the body is
// stuck (kept, it would come back as a jump of velocity at release).
//
// Dv = 0, the default, needs no dead zone: arrest and release are found inside the step by the machine of the rigid
// contacts, of second order. Dv > 0 is the source's form with the time stepping
//
//	p* = p + h·u,   p⁺ = sgn p*·max(0, |p*| − h·Fc)/(1 + h·Fv/M),
//
// except that a change of sign with |u| ≤ Fs stops at zero; u is taken at the end of the step and the old position. It is
// of first order, break-away waits until the load has pushed p through the zone, and a body can only be caught if the zone
// is wider than what friction takes away in a step, 2·Dv ≥ h·(Fs + Fc)/M: see Longest.
type Karnopp struct {
	Fc float64 // N      Coulomb friction
	Fs float64 // N      break-away friction, total
	Fv float64 // N·s/m  viscous friction
	Dv float64 // m/s    half width of the dead zone; 0: none
}

// StateDim is 1: the pseudo-momentum p (N·s). Without a dead zone it is M·v.
func (p *Karnopp) StateDim() int { return 1 }

// Reset takes the momentum away.
func (p *Karnopp) Reset(z []float64) { z[0] = 0 }

// States names the pseudo-momentum.
func (p *Karnopp) States() []engine.Signal {
	return []engine.Signal{{Name: "momentum", Unit: "N·s"}}
}

// Step is the friction (N) at the velocity in.V; within the dead zone it balances in.Fa up to the break-away level. The
// momentum is that of a mass and stays.
func (p *Karnopp) Step(z []float64, in Input) float64 {
	if math.Abs(in.V) < p.Dv {
		in.V = 0
	}
	return imposed(nil, straight{fs: p.Fs, fc: p.Fc, fv: p.Fv}, nil, in)
}

// Move advances a mass by in.Dt.
func (p *Karnopp) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *Karnopp) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	if p.Dv > 0 {
		p.zone(r, m, x, in.Dt, load)
		return
	}
	line := straight{fs: p.Fs, fc: p.Fc, fv: p.Fv}
	if !line.glide(r, m, in.Dt, x, load) {
		stepContact(r, nil, line, m, x, in, load)
	}
	x[2] = m * x[1]
}

// zone is a step of the form with the dead zone.
func (p *Karnopp) zone(r *MassStep, m float64, x []float64, h float64, load Load) {
	mom := x[2]
	if x[1] != 0 {
		mom = m * x[1]
	}
	load.Span(0, h, x[0])
	u, _, _ := load.At(h, x[0], x[1])
	if d := u + mom; d-d != 0 {
		r.set(x[1], 0, u, 0, 1, engine.NonFinite)
		return
	}
	next := mom + h*u
	switch within := math.Abs(u) <= p.Fs; {
	case x[1] == 0 && math.Abs(mom) < m*p.Dv && within:
		next, mom = 0, 0
	case x[1] == 0 && math.Abs(mom) < m*p.Dv:
		next -= h * math.Copysign(p.Fs, u)
	case next*mom < 0 && within:
		next = 0
	default:
		next = math.Copysign(max(0, math.Abs(next)-h*p.Fc)/(1+h*p.Fv/m), next)
	}
	x[1], x[2] = 0, next
	if math.Abs(next) >= m*p.Dv {
		x[1] = next / m
	}
	status := engine.OK
	if h > p.longest(m) {
		status = engine.NotConverged
	}
	f := u - (next-mom)/h
	r.set(x[1], f, u, f*h*x[1], 1, status)
	x[0] += h * x[1]
}

// Longest is the longest step (s) in which a mass m (kg) is sure to be caught, and why; longer ones have the status
// NotConverged.
func (p *Karnopp) Longest(m float64) (h float64, why string) {
	if p.Dv == 0 {
		return math.Inf(1), "no limit: the step is cut at the events"
	}
	return p.longest(m), fmt.Sprintf("above it friction may carry the body through the dead zone of ±%g m/s: 2·Dv ≥ h·(Fs + Fc)/M", p.Dv)
}

func (p *Karnopp) longest(m float64) float64 { return 2 * p.Dv * m / (p.Fs + p.Fc) }

// Energy is zero: the contact stores none (J).
func (p *Karnopp) Energy([]float64) float64 { return 0 }

// Passive is true: F·v ≥ 0 at every instant.
func (p *Karnopp) Passive() (ok bool, speed float64) { return true, 0 }

// SteadyForce is the sliding friction (N).
func (p *Karnopp) SteadyForce(v float64) float64 { return straight{fc: p.Fc, fv: p.Fv}.slidingForce(v) }

// Stiffness is the viscous slope of a rigid contact.
func (p *Karnopp) Stiffness() Stiffness { return Stiffness{C: p.Fv, Speed: max(p.Dv, jump)} }

// Levels are Fs and Fc.
func (p *Karnopp) Levels() Levels { return sameLevels(p.Fs, p.Fc) }

// Viscous is Fv·v (N).
func (p *Karnopp) Viscous(v float64) float64 { return p.Fv * v }

func (p *Karnopp) fields() []field {
	return []field{
		{"Fc", "N", &p.Fc, 0, maxForce, "Coulomb friction"},
		{"Fs", "N", &p.Fs, 0, maxForce, "break-away friction (total, not the increment)"},
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction"},
		{"Dv", "m/s", &p.Dv, 0, maxSpeed, "half width of the dead zone of velocity; 0: none, events are found inside the step"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Karnopp) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Karnopp) SetParams(theta []float64) error {
	return setParams("karnopp", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, and a break-away level below the sliding one.
func (p *Karnopp) Validate() error { return checkLevels("karnopp", p.fields(), "Fs", p.Fc) }
