package estimator

import (
	"errors"
	"fmt"
	"math"
)

// DitherKind selects the signal.
type DitherKind uint8

const (
	DitherNone     DitherKind = iota
	DitherVelocity            // the axis is shaken with a velocity amplitude: Coulomb friction becomes viscous, see SmoothedCoulomb
	DitherForce               // a sine of torque above break-away
	DitherPulse               // rectangular pulses that move a stuck axis by the error that is left
)

// Words are the kinds by number.
func (DitherKind) Words() []string { return []string{"none", "velocity", "force", "pulse"} }

func (d DitherKind) String() string { return d.Words()[d] }

// DitherSpec is the section of an additive signal against stiction, and what the axis adds to it.
type DitherSpec struct {
	Kind      DitherKind `yaml:"kind" doc:"velocity: a velocity amplitude, which turns Coulomb friction into viscous friction; force: a sine of torque; pulse: a rectangular pulse for a stuck axis, as long as its error asks"`
	Amplitude float64    `yaml:"amplitude" unit:"N·m" want:">=0" doc:"force: peak, above Fs; pulse: largest torque, above Fc"`
	Velocity  float64    `yaml:"velocity" unit:"rad/s" want:">=0" doc:"velocity: peak"`
	Frequency float64    `yaml:"frequency" unit:"Hz" want:">=0" doc:"of the sine, at least five times the bandwidth of the controller; pulse: at most so many a second"`

	Inertia float64 `yaml:"-"` // kg·m²
	Kp      float64 `yaml:"-"` // N·m/rad    of the controller, which would otherwise damp the velocity dither
	Kd      float64 `yaml:"-"` // N·m·s/rad
	Fc      float64 `yaml:"-"` // N·m    pulse: Coulomb friction
	Spring  float64 `yaml:"-"` // rad    pulse: spring-back of the contact, added to the way to go; Fc/σ0
	Zone    float64 `yaml:"-"` // rad    pulse: errors below it are left alone
}

// Dither is a signal that is added to the torque, whatever the compensation.
type Dither struct {
	s     DitherSpec
	phase float64 // cycles

	// pulse
	ticks    int     // left of the present pulse
	torque   float64 // N·m of the present pulse
	stayTime float64 // s   for how long the error has stayed in [lo, hi]
	lo, hi   float64 // rad
}

// NewDither checks the description.
func NewDither(s DitherSpec) (*Dither, error) {
	var err error
	switch s.Kind {
	case DitherNone:
		return &Dither{}, nil
	case DitherVelocity:
		err = errors.Join(above0("dither: velocity", s.Velocity, "rad/s"), above0("dither: inertia", s.Inertia, "kg·m²"))
	case DitherForce:
		err = above0("dither: amplitude", s.Amplitude, "N·m")
	case DitherPulse:
		err = errors.Join(above0("dither: inertia", s.Inertia, "kg·m²"), above0("dither: Coulomb friction", s.Fc, "N·m"),
			above0("dither: zone", s.Zone, "rad"), atLeast0("dither: spring-back", s.Spring, "rad"))
		if !(s.Amplitude > s.Fc) || math.IsInf(s.Amplitude, 0) {
			err = errors.Join(err, fmt.Errorf("dither: amplitude: %g N·m, want more than the Coulomb friction, %g N·m: the pulse would move "+
				"nothing", s.Amplitude, s.Fc))
		}
	default:
		err = fmt.Errorf("dither: kind %d is unknown", s.Kind)
	}
	if err = errors.Join(err, above0("dither: frequency", s.Frequency, "Hz")); err != nil {
		return nil, err
	}
	d := new(Dither)
	d.Renew(s)
	return d, nil
}

// Renew begins anew with another description, which is not checked.
func (d *Dither) Renew(s DitherSpec) {
	if *d = (Dither{s: s}); s.Kind == DitherNone {
		*d = Dither{}
	}
}

// Reset starts anew.
func (d *Dither) Reset() { *d = Dither{s: d.s} }

// Tune adopts other gains of the controller.
func (d *Dither) Tune(kp, kd float64) { d.s.Kp, d.s.Kd = kp, kd }

// Step is the torque (N·m) of this tick of dt (s). e = x − xd (rad); still: no motion is commanded; u is the torque that
// acts beside the dither (N·m).
func (d *Dither) Step(dt, e float64, still bool, u float64) float64 {
	if d.s.Kind == DitherNone || !(dt > 0) {
		return 0
	}
	if d.s.Kind == DitherPulse {
		return d.pulse(dt, e, still, u)
	}
	w := 2 * math.Pi * d.s.Frequency
	d.phase += d.s.Frequency * dt
	d.phase -= math.Floor(d.phase)
	sin, cos := math.Sincos(2 * math.Pi * d.phase)
	if d.s.Kind == DitherForce {
		return d.s.Amplitude * sin
	}
	// the torque under which a free mass in this control loop moves with Velocity·sin
	v := d.s.Velocity
	return d.s.Inertia*v*w*cos + d.s.Kd*v*sin - d.s.Kp*v/w*cos
}

// pulse waits until the error has stood still for as long as the frequency asks, and then gives one pulse for it.
func (d *Dither) pulse(dt, e float64, still bool, u float64) float64 {
	if d.ticks > 0 {
		d.ticks--
		if !still {
			d.ticks = 0
			return 0
		}
		return d.torque
	}
	if calm := d.s.Zone / 2; !still || !(math.Abs(e) < math.Inf(1)) || max(e, d.hi)-min(e, d.lo) > calm || d.stayTime == 0 {
		d.stayTime, d.lo, d.hi = dt, e, e
		return 0
	}
	d.lo, d.hi = min(e, d.lo), max(e, d.hi)
	if d.stayTime += dt; d.stayTime*d.s.Frequency < 1 || math.Abs(e) < d.s.Zone {
		return 0
	}
	// u helps (or hinders) on the way; a controller's falls to zero with the error, so half of it counts
	dir := -math.Copysign(1, e)
	help := min(0.9*d.s.Fc, max(-0.5*d.s.Fc, dir*u/2))
	n, top := PulseTicks(d.s.Amplitude, d.s.Fc-help, d.s.Inertia, math.Abs(e)+d.s.Spring, dt)
	d.ticks, d.torque, d.stayTime = n-1, dir*top, 0
	return d.torque
}

// PulseTime is the duration (s) of a rectangular pulse of force fp (N) that moves a mass m (kg), stuck on rigid Coulomb friction
// fc (N), by dist (m): the inverse of dist = fp·(fp − fc)·tp²/(2m·fc). It needs fp > fc.
func PulseTime(fp, fc, m, dist float64) float64 {
	return math.Sqrt(2 * m * fc * dist / (fp * (fp - fc)))
}

// PulseTicks is PulseTime for a controller that acts in ticks of dt (s): the duration is rounded up to n ticks, and the
// force lowered to the root of the same formula, so that the distance stays, dist = f·(f − fc)·(n·dt)²/(2m·fc).
func PulseTicks(fp, fc, m, dist, dt float64) (n int, f float64) {
	tp := PulseTime(fp, fc, m, dist)
	n = max(1, int(math.Min(math.Ceil(tp/dt-1e-9), 1e6)))
	t := float64(n) * dt
	return n, min(fp, 0.5*(fc+math.Sqrt(fc*fc+8*m*fc*dist/(t*t))))
}
