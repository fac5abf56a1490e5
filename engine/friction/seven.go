package friction

import (
	"math"

	"hilrig/engine"
)

// Seven is the seven-parameter model [A94], [MOGI] (6.20)–(6.22) and (6.28): presliding spring, Coulomb, viscous and Stribeck
// friction, frictional memory, and a static friction that rises with the time of rest.
//
//	stick  F = kt·ξ + ct·dξ/dt, clamped to ±(Fc + Fs(t2))                         (6.20)
//	slip   F = [Fc + Fv·|v| + Fs,b/(1 + (v(t−τL)/vs)²)]·sgn v                       (6.21)
//	       Fs(t2) = Fs,a + (Fs∞ − Fs,a)·t2/(t2 + γ)                                 (6.22)
//
// ξ is the displacement from the unstressed spring, t2 the time of rest, Fs,a the Stribeck part left at the end of the
// last slip and Fs,b the one at break-away, held during the slip.
//
// Departures from the source, which tells stick from slip by |v| alone and takes vibration on the spring for slip:
//   - stick ends when the spring alone, without the damper, carries Fc + Fs(t2); slip ends whenever v reaches zero, also
//     under an overload, which leaves the spring again at once;
//   - at the end of slip the spring is set to ξ = ±(Fc + Fs,a)/kt, so that the force is continuous;
//   - ct damps the ringing of the spring; ct = 0 is the source. The clamp keeps it from raising the break-away force.
//
// Fs∞ is an increment: break-away after a long rest takes Fc + Fs∞. The signs are those of the package; the source counts
// the force on the body.
type Seven struct {
	Fc    float64 // N      Coulomb friction
	Fv    float64 // N·s/m  viscous friction
	FsInf float64 // N      static friction above Fc after a long rest
	Kt    float64 // N/m    presliding stiffness
	Vs    float64 // m/s    Stribeck velocity
	TauL  float64 // s      frictional memory
	Gamma float64 // s      time of rest after which half the static friction has come back; 0: at once
	Ct    float64 // N·s/m  damping of the presliding spring
}

// places in the state of the seven-parameter model
const (
	sevenDir   = iota // −1, 1: slip in this direction; 0: stick
	sevenXi           // m  deflection of the spring while stuck
	sevenRest         // s  t2
	sevenFsa          // N
	sevenFsb          // N
	sevenTime         // s  since Reset; the time of the delay line
	sevenDelay        // delay line of the velocity
	sevenDim   = sevenDelay + delayDim
)

// StateDim counts mode, spring, dwell time, two static levels, time, and the delay line.
func (p *Seven) StateDim() int { return sevenDim }

// Reset is rest for ever: unstressed spring, static friction fully risen.
func (p *Seven) Reset(z []float64) {
	clear(z[:sevenDelay])
	delayReset(z[sevenDelay:])
	z[sevenFsa], z[sevenFsb] = p.FsInf, p.FsInf
}

// ResetSliding is a contact that has always been sliding at v (m/s) with Fs,b = Fs∞; with v = 0 one that is about to slide,
// in whatever direction comes first, with its history at rest.
func (p *Seven) ResetSliding(z []float64, v float64) {
	p.Reset(z)
	delayStart(z[sevenDelay:], 0, v)
	z[sevenDir] = math.Copysign(1, v)
}

// States names the contact and its history.
func (p *Seven) States() []engine.Signal {
	s := []engine.Signal{{Name: "direction"}, {Name: "spring", Unit: "m"}, {Name: "dwell", Unit: "s"},
		{Name: "static_a", Unit: "N"}, {Name: "static_b", Unit: "N"}, {Name: "time", Unit: "s"}}
	return append(s, delayStates()...)
}

// static is Fs(γ, t2) after the rest t2 (s). Without γ it has risen at once, also for t2 = 0.
func (p *Seven) static(fsa, t2 float64) float64 {
	if p.Gamma == 0 {
		return p.FsInf
	}
	return fsa + (p.FsInf-fsa)*(t2/(t2+p.Gamma))
}

// stribeck is the share of Fs,b that is left at the lagged velocity.
func (p *Seven) stribeck(v float64) float64 {
	q := p.Vs * p.Vs
	return q / (q + v*v)
}

// SteadyForce is the force (N) of long sliding at v (m/s) after a long rest, (6.16).
func (p *Seven) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Copysign(p.Fc+p.FsInf*p.stribeck(v), v) + p.Fv*v
}

// Stiffness bounds the slopes of the law.
func (p *Seven) Stiffness() Stiffness {
	// the bell 1/(1+r²) falls steepest at r = 1/√3, with 3√3/8
	return Stiffness{K: p.Kt, C: p.Ct + p.Fv, Speed: p.Vs, Fall: max(0, 3*math.Sqrt(3)/8*p.FsInf/p.Vs-p.Fv)}
}

// Levels are Fc + Fs∞ and Fc.
func (p *Seven) Levels() Levels { return sameLevels(p.Fc+p.FsInf, p.Fc) }

// Viscous is Fv·v (N).
func (p *Seven) Viscous(v float64) float64 { return p.Fv * v }

// Passive is always true. The storage is kt·ξ²/2 while stuck and (Fc + Fs,b)²/(2kt) in slip: it is continuous at
// break-away and can only fall at the end of slip, where Fs,a ≤ Fs,b; in between the clamped damper and the slip force
// dissipate.
func (p *Seven) Passive() (ok bool, speed float64) { return true, 0 }

// Step drives the contact by a motion: a step of in.Dt at the mean velocity in.V, which is taken for the velocity in the
// middle of the step. It returns the mean force over the step (N); a step without length returns the force at this
// instant and changes nothing.
func (p *Seven) Step(z []float64, in Input) float64 {
	z = z[:sevenDim]
	h, v := in.Dt, in.V
	if !(h > 0) {
		return p.instantForce(z, v)
	}
	t := z[sevenTime]
	p.turn(z, t, h, v)
	line := z[sevenDelay:]
	delayFor(line, p.TauL)
	if t == 0 { // the motion begins with this velocity: a jump from the history stays one
		delayPush(line, 0, v)
	}
	delayPush(line, t+h/2, v)

	// stick, up to break-away
	stuck, sum := 0.0, 0.0 // share of the step, sum of share times force
	if z[sevenDir] == 0 {
		xi, t2 := z[sevenXi], z[sevenRest]
		stuck = 1
		if c1 := p.margin(z[sevenFsa], t2+h, xi+v*h); c1 < 0 {
			if ok, theta := p.release(z[sevenFsa], t2, xi, h, v, v); ok {
				stuck = theta
				z[sevenFsb] = p.static(z[sevenFsa], t2+stuck*h)
				z[sevenDir] = math.Copysign(1, xi+v*stuck*h)
			}
		}
		g := stuck * h
		top := p.Fc + p.static(z[sevenFsa], t2+g/2)
		sum = stuck * min(max(p.Kt*(xi+v*g/2)+p.Ct*v, -top), top)
		z[sevenXi], z[sevenRest] = xi+v*g, t2+g
	}

	// slip for the rest
	if stuck < 1 {
		lag := delayAt(line, t+h/2*(1+stuck)-p.TauL)
		sum += (1 - stuck) * (z[sevenDir]*(p.Fc+z[sevenFsb]*p.stribeck(lag)) + p.Fv*v)
	}
	z[sevenTime] = t + h
	return sum
}

// turn ends a slip when the motion has stopped or turned round. Velocities are known in the middle of the steps, so the
// instant of arrest lies between the two last middles, on the straight line between them; the spring takes over at the
// beginning of this step.
func (p *Seven) turn(z []float64, t, h, v float64) {
	dir := z[sevenDir]
	if dir == 0 || v*dir > 0 {
		return
	}
	if t == 0 { // the first motion after ResetSliding decides
		z[sevenDir] = math.Copysign(1, v)
		return
	}
	line := z[sevenDelay:]
	stop := t
	if before := delayAt(line, t); before*dir > 0 { // the newest knot
		stop = t - h/2 + h*before/(before-v)
	}
	fsa := z[sevenFsb] * p.stribeck(delayAt(line, stop-p.TauL))
	z[sevenDir], z[sevenFsa], z[sevenRest] = 0, fsa, max(0, t-stop)
	z[sevenXi] = dir * (p.Fc + fsa) / p.Kt
}

// instantForce is the friction (N) at the velocity v (m/s) with the memory z, which stays as it is.
func (p *Seven) instantForce(z []float64, v float64) float64 {
	if dir := z[sevenDir]; dir != 0 {
		lag := v
		if p.TauL > 0 {
			lag = delayAt(z[sevenDelay:], z[sevenTime]-p.TauL)
		}
		return dir*(p.Fc+z[sevenFsb]*p.stribeck(lag)) + p.Fv*v
	}
	top := p.Fc + p.static(z[sevenFsa], z[sevenRest])
	return min(max(p.Kt*z[sevenXi]+p.Ct*v, -top), top)
}

func (p *Seven) fields() []field {
	return []field{
		{"Fc", "N", &p.Fc, tiny, maxForce, "Coulomb friction"},
		{"Fv", "N·s/m", &p.Fv, 0, maxDamping, "viscous friction"},
		{"dFs_inf", "N", &p.FsInf, 0, maxForce, "static friction above Fc after a long rest (increment, not total)"},
		{"kt", "N/m", &p.Kt, tiny, maxStiffness, "presliding stiffness"},
		{"vs", "m/s", &p.Vs, tiny, maxSpeed, "Stribeck velocity"},
		{"tauL", "s", &p.TauL, 0, 10, "delay of the friction behind the velocity"},
		{"gamma", "s", &p.Gamma, 0, maxExtent, "time of rest in which half the static friction comes back; 0: at once"},
		{"ct", "N·s/m", &p.Ct, 0, maxDamping, "damping of the presliding spring; sqrt(kt*M) does not ring; 0: as in the source"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Seven) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Seven) SetParams(theta []float64) error {
	return setParams("seven-parameter", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *Seven) Validate() error { return checkFields("seven-parameter", p.fields()) }
