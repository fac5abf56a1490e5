package friction

import (
	"math"

	"hilrig/engine"
)

// Memory is friction that answers a change of velocity late [MOGI] (6.15) [HS90], on the Lorentz curve (6.16) and a contact with a
// rigid stick mode:
//
//	F(t) = Fvel(|v(t − τL)|)·sgn v(t),   Fvel(s) = Fc + (Fs − Fc)/(1 + (s/vs)²) + Fv·s.
//
// Hess and Soom found τL = 3…9 ms, growing with viscosity and load and independent of the frequency of the motion.
//
// The magnitude comes from the delayed speed, as in the source; the direction comes from the present slip. With the delayed
// sign the law would push a body that has just reversed, for τL, and could not be passive. At rest the break-away level
// is the curve at the delayed speed as well: right after an arrest it is what sliding friction was, then it rises to
// Fs within τL.
//
// Before the beginning the contact was at rest; the source leaves that open. The history is a delay line in absolute time (see delay.go)
// with straight lines between its knots, of second order in the step.
type Memory struct {
	Fc   float64 // N      Coulomb friction
	Fs   float64 // N      break-away friction, total
	Vs   float64 // m/s    Stribeck velocity
	Fv   float64 // N·s/m  viscous friction
	TauL float64 // s      delay
}

// StateDim is the time since the beginning, and the delay line.
func (p *Memory) StateDim() int { return 1 + delayDim }

// Reset is rest for ever, as of every law; a motion that begins with a velocity jumps from it.
func (p *Memory) Reset(z []float64) {
	z[0] = 0
	delayReset(z[1:])
}

// begin makes a velocity v (m/s) at the very beginning a jump from the history.
func (p *Memory) begin(z []float64, v float64) {
	if delayFor(z[1:], p.TauL); z[0] == 0 {
		delayPush(z[1:], 0, v)
	}
}

// ResetSliding is a body that has always been sliding at v (m/s).
func (p *Memory) ResetSliding(z []float64, v float64) {
	z[0] = 0
	delayStart(z[1:], 0, v)
}

// States names the time and the places of the delay line: its header, then knots of time and velocity.
func (p *Memory) States() []engine.Signal {
	ss := make([]engine.Signal, 0, p.StateDim())
	ss = append(ss, engine.Signal{Name: "time", Unit: "s"})
	return append(ss, delayStates()...)
}

// at is the curve at the speed s ≥ 0 (m/s).
func (p *Memory) at(s float64) (f, slope float64) {
	q := Stribeck{Fc: p.Fc, Fs: p.Fs, Vs: p.Vs, Fv: p.Fv, Curve: HessSoom}
	return q.At(s)
}

// sliding reads the history in the middle of the part. A delay of less than half a part ends inside it, on the straight
// line of its velocity.
func (p *Memory) sliding(z []float64, s0 float64, in Input) (f, slope float64) {
	if q := 1 - 2*p.TauL/in.Dt; q > 0 {
		f, slope = p.at(math.Abs(s0 + (in.V-s0)*q))
		return f, slope * q
	}
	f, _ = p.at(math.Abs(delayAt(z[1:], z[0]+in.Dt/2-p.TauL)))
	return f, 0
}

func (p *Memory) level(z []float64, rest float64) float64 {
	f, _ := p.at(math.Abs(delayAt(z[1:], z[0]+rest-p.TauL)))
	return f
}

func (p *Memory) advanceState(z []float64, h, v float64, stuck bool) {
	z[0] += h
	delayPush(z[1:], z[0], v)
}

// Step advances by in.Dt at the mean velocity in.V, which belongs to the middle of the step, and returns the friction (N)
// there; at rest it balances in.Fa up to the break-away level.
func (p *Memory) Step(z []float64, in Input) float64 {
	p.begin(z, in.V)
	h := max(in.Dt, 0)
	mid := z[0] + h/2
	delayPush(z[1:], mid, in.V)
	f, _ := p.at(math.Abs(delayAt(z[1:], mid-p.TauL)))
	z[0] += h
	if in.V == 0 {
		return max(-f, min(f, in.Fa))
	}
	return math.Copysign(f, in.V)
}

// Move advances a mass by in.Dt.
func (p *Memory) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *Memory) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	p.begin(x[2:], x[1])
	delayPush(x[3:], x[2], x[1]) // the caller may have set the velocity
	stepContact(r, p, straight{}, m, x, in, load)
}

// SteadyForce is the curve (N).
func (p *Memory) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	f, _ := p.at(math.Abs(v))
	return math.Copysign(f, v)
}

// Stiffness is that of the curve.
func (p *Memory) Stiffness() Stiffness {
	q := Stribeck{Fc: p.Fc, Fs: p.Fs, Vs: p.Vs, Fv: p.Fv, Curve: HessSoom}
	return q.Stiffness()
}

// Levels are Fs and Fc.
func (p *Memory) Levels() Levels { return sameLevels(p.Fs, p.Fc) }

// Viscous is Fv·v (N).
func (p *Memory) Viscous(v float64) float64 { return p.Fv * v }

// Energy is zero: a rigid contact stores none (J).
func (p *Memory) Energy([]float64) float64 { return 0 }

// Passive is true: F·v ≥ 0 at every instant.
func (p *Memory) Passive() (ok bool, speed float64) { return true, 0 }

func (p *Memory) fields() []field {
	return []field{
		{"Fc", "N", &p.Fc, 0, maxForce, "Coulomb friction"},
		{"Fs", "N", &p.Fs, 0, maxForce, "break-away friction (total, not the increment)"},
		{"vs", "m/s", &p.Vs, tiny, maxSpeed, "Stribeck velocity"},
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction"},
		{"tauL", "s", &p.TauL, 0, 10, "delay of the friction behind the velocity"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Memory) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Memory) SetParams(theta []float64) error {
	return setParams("frictional-memory", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range, and a break-away level below Coulomb friction.
func (p *Memory) Validate() error {
	return checkLevels("frictional-memory", p.fields(), "Fs", p.Fc)
}
