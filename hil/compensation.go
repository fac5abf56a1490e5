package hil

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// CompKind selects the friction compensation.
type CompKind uint8

const (
	CompNone        CompKind = iota
	CompFeedForward          // LuGre driven by the desired motion: no feedback path, cannot destabilise
	CompObserver             // LuGre observer driven by the estimated motion [C95]
	CompStatic               // steady curve at the desired velocity
	CompDisturbance          // disturbance observer, without a friction model
	CompGain                 // LuGre with one adapted factor [CL97]
	CompLuGre                // LuGre with three adapted parameters and two observers [TK99]
)

var compNames = []string{"none", "feedforward", "lugre-observer", "feedforward-static", "disturbance-observer", "adaptive-gain", "adaptive-lugre"}

func (k CompKind) String() string {
	if int(k) < len(compNames) {
		return compNames[k]
	}
	return "unknown"
}

// ParseCompKind is the inverse of String.
func ParseCompKind(name string) (CompKind, error) {
	for i, n := range compNames {
		if n == name {
			return CompKind(i), nil
		}
	}
	return 0, fmt.Errorf("unknown compensation %q", name)
}

// CompSpec is the friction compensation.
type CompSpec struct {
	Kind    CompKind
	Scale   float64 // share of the modelled friction that is compensated, ≤ 1
	Gain    float64 // 1/s  observer: correction of the bristle by the tracking error, per rad
	Inertia bool    // also feed J·α forward
	Ramp    float64 // s  time over which it fades in

	Lead float64 // s      static feed-forward: how far ahead the sign of the motion is taken
	Band float64 // rad/s  static feed-forward: the sign is blended below this speed

	Bandwidth float64 // Hz   disturbance observer
	Order     int     // 1 or 2
	DeadBand  float64 // rad  the estimate is frozen below this error

	AdaptTime  float64    // s      time constant with which a wrong friction level is corrected; 0: the factors stay 1
	AdaptRange [2]float64 // of the factors
	AdaptZone  float64    // rad/s  dead zone of r

	Resolution float64 // rad    below this error, with no motion commanded, compensation and dither go to zero; 0: never
	Rest       float64 // s      time over which they do
	Limit      float64 // N·m    largest torque of the compensation; 0: 1.2·Fs, plus what is viscous and the offset
	Slew       float64 // N·m/s  largest change; 0: no limit

	Dither estimator.DitherSpec // Inertia, gains and Coulomb friction are filled in
}

// compensator turns friction compensation into a torque that may be trusted: faded in, at rest when the axis is, limited in
// size and slope.
type compensator struct {
	CompSpec
	law    estimator.Compensation // nil: none
	model  friction.LuGre
	j      float64 // kg·m²
	dither *estimator.Dither

	wanted float64 // scale to go to
	scale  float64 // present scale
	shaken float64 // share of the dither, 0 … 1
	rest   rest
	torque float64 // N·m  of the tick before
}

func newCompensator(s CompSpec, law friction.LuGre, j float64, pid control.PID) (*compensator, error) {
	c := &compensator{CompSpec: s, model: law, j: j, wanted: s.Scale, rest: rest{share: 1}}
	if err := c.build(pid); err != nil {
		return nil, err
	}
	d := s.Dither
	d.Inertia, d.Kp, d.Kd, d.Fc, d.Spring = j, pid.Kp, pid.Kd, law.Fc, law.Fc/law.Sigma0
	if d.Zone == 0 {
		d.Zone = 4 * s.Resolution
	}
	var err error
	c.dither, err = estimator.NewDither(d)
	return c, err
}

// build makes the law.
func (c *compensator) build(pid control.PID) (err error) {
	sl := estimator.SlidingOf(pid.Kp, pid.Kd, c.j)
	adapt := estimator.AdaptSpec{Law: c.model, Sliding: sl, Range: c.AdaptRange, DeadZone: c.AdaptZone}
	if c.AdaptTime > 0 {
		adapt.Rate = sl.Rate(c.AdaptTime, c.model.Fc)
	}
	switch c.Kind {
	case CompNone:
	case CompFeedForward:
		c.law, err = estimator.NewFeedForward(c.model)
	case CompObserver:
		c.law, err = estimator.NewObserver(estimator.ObserverSpec{Law: c.model, Gain: c.Gain})
	case CompStatic:
		c.law, err = estimator.NewStaticFeedForward(estimator.StaticSpec{Law: c.model, Lead: c.Lead, Band: c.Band})
	case CompDisturbance:
		c.law, err = estimator.NewDisturbanceObserver(estimator.DisturbanceSpec{Inertia: c.j, Bandwidth: c.Bandwidth, Order: c.Order,
			DeadBand: c.DeadBand, Limit: c.most(0)})
	case CompGain:
		c.law, err = estimator.NewAdaptiveGain(adapt)
	case CompLuGre:
		c.law, err = estimator.NewAdaptiveLuGre(adapt, c.injection(pid))
	default:
		err = fmt.Errorf("kind %d is unknown", c.Kind)
	}
	return err
}

// injection is the weight of the error in the observers of CompLuGre that these gains bear, up to a hundred times vs.
func (c *compensator) injection(pid control.PID) float64 {
	return estimator.Injection(c.model, pid.Kp, pid.Kd, 100*c.model.Vs)
}

// signals are what the law has learned; without a learning law there are none.
func (c *compensator) signals() []engine.Signal {
	switch c.Kind {
	case CompGain:
		return []engine.Signal{{Name: "comp.theta"}}
	case CompLuGre:
		return []engine.Signal{{Name: "comp.theta0"}, {Name: "comp.theta1"}, {Name: "comp.theta2"}}
	}
	return nil
}

// adopt takes new gains while running.
func (c *compensator) adopt(scale, gain float64, pid control.PID) {
	c.wanted = scale
	sl := estimator.SlidingOf(pid.Kp, pid.Kd, c.j)
	rate := 0.0
	if c.AdaptTime > 0 {
		rate = sl.Rate(c.AdaptTime, c.model.Fc)
	}
	switch l := c.law.(type) {
	case *estimator.Observer:
		l.SetGain(gain)
	case *estimator.AdaptiveGain:
		l.Tune(sl, rate)
	case *estimator.AdaptiveLuGre:
		l.Tune(sl, rate, c.injection(pid))
	}
	c.dither.Tune(pid.Kp, pid.Kd)
}

func (c *compensator) reset() {
	if c.law != nil {
		c.law.Reset()
	}
	c.dither.Reset()
	c.scale, c.shaken, c.torque, c.rest = 0, 0, 0, rest{share: 1}
}

// most is the largest compensating torque (N·m) at the speed v: over-compensation beyond it is no compensation [theory §10.7].
func (c *compensator) most(v float64) float64 {
	if c.Limit > 0 {
		return c.Limit
	}
	return 1.2*max(c.model.Fs, c.model.Fc) + c.model.Sigma2*math.Abs(v) + math.Abs(c.model.Offset)
}

// step gives the compensating torque (N·m) of a tick of dt (s) and whether something was not finite.
func (c *compensator) step(m estimator.Motion, dt float64) (torque float64, st engine.Status) {
	c.fade(dt)
	c.rest.step(c, &m, dt)
	if c.law == nil {
		return 0, engine.OK
	}
	m.Held = m.Held || c.rest.share < 1
	f, st := c.law.Compensate(dt, m)
	if !numeric.Finite(f) {
		f, st = 0, engine.NonFinite
	}
	f *= c.scale * c.rest.share
	v := m.V
	if c.Kind == CompFeedForward || c.Kind == CompStatic {
		v = m.Vd
	}
	if top := c.most(v); math.Abs(f) > top {
		f = math.Copysign(top, f)
	}
	if d, top := f-c.torque, c.Slew*dt; c.Slew > 0 && math.Abs(d) > top {
		f = c.torque + math.Copysign(top, d)
	}
	c.torque = f
	return f, st
}

// shake is the dither (N·m), beside the torque u: it fades in and rests like the compensation, whatever the scale of that is.
func (c *compensator) shake(m estimator.Motion, u, dt float64) float64 {
	f := c.dither.Step(dt, m.E, still(&m), u) * c.shaken * c.rest.share
	if !numeric.Finite(f) {
		return 0
	}
	return f
}

// fade moves the scale to where it is wanted, and the dither in.
func (c *compensator) fade(dt float64) {
	c.scale = toward(c.scale, c.wanted, dt, c.Ramp)
	c.shaken = toward(c.shaken, 1, dt, c.Ramp)
}

// toward moves a share to where it is wanted in dt (s), at the rate of 1 in ramp (s); at once without a ramp.
func toward(now, want, dt, ramp float64) float64 {
	if ramp > 0 {
		return now + min(dt/ramp, max(-dt/ramp, want-now))
	}
	return want
}

// still tells whether no motion is commanded.
func still(m *estimator.Motion) bool { return m.Vd == 0 && m.Ad == 0 }

// rest takes the compensation away from an axis that has arrived: with no motion commanded and an error below the
// resolution there is nothing left to gain, and a compensated contact has no stiction to hold the axis. It comes back when
// motion is commanded, or when the error exceeds what the contact gives way when the torque leaves it, 2·Fs/σ0 (with Fs the
// higher of the two levels).
type rest struct {
	arrived bool
	share   float64 // of the compensation, 1 … 0
}

func (r *rest) step(c *compensator, m *estimator.Motion, dt float64) {
	e := math.Abs(m.E)
	switch {
	case c.Resolution <= 0 || !still(m) || !numeric.Finite(e):
		r.arrived = false
	case e < c.Resolution:
		r.arrived = true
	case e > c.Resolution+2*max(c.model.Fs, c.model.Fc)/c.model.Sigma0:
		r.arrived = false
	}
	want := 1.0
	if r.arrived {
		want = 0
	}
	r.share = toward(r.share, want, dt, c.Rest)
}
