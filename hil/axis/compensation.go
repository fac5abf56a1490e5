package axis

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// CompKind is a kind of friction compensation: its place in Compensations.
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

// CompInfo is what the program knows of a kind of compensation.
type CompInfo struct {
	Name     string
	Settings []string // keys of the section that belong to it and to few others
	Learns   []string // names of what it learns
	Desired  bool     // driven by the desired motion, not by the estimated one
	build    func(c *compensator, pid control.PID) (estimator.Compensation, error)
	renew    func(c *compensator, pid control.PID) // begins c.law anew in place; nil: there is none
}

// Compensations are all kinds, by CompKind.
var Compensations = [...]CompInfo{
	CompNone: {Name: "none", build: func(*compensator, control.PID) (estimator.Compensation, error) { return nil, nil }},
	CompFeedForward: {Name: "feedforward", Desired: true, build: func(c *compensator, _ control.PID) (estimator.Compensation, error) {
		return estimator.NewFeedForward(c.model)
	}, renew: func(c *compensator, _ control.PID) { c.law.(*estimator.FeedForward).Renew() }},
	CompObserver: {Name: "observer", Settings: []string{"gain"}, build: func(c *compensator, _ control.PID) (estimator.Compensation, error) {
		return estimator.NewObserver(estimator.ObserverSpec{Law: c.model, Gain: c.Gain})
	}, renew: func(c *compensator, _ control.PID) {
		o := c.law.(*estimator.Observer)
		o.Renew()
		o.SetGain(c.Gain)
	}},
	CompStatic: {Name: "feedforward-static", Settings: []string{"lead", "band"}, Desired: true,
		build: func(c *compensator, _ control.PID) (estimator.Compensation, error) {
			return estimator.NewStaticFeedForward(estimator.StaticSpec{Law: c.model, LeadTime: c.LeadTime, Band: c.Band})
		}, renew: func(c *compensator, _ control.PID) { c.law.(*estimator.StaticFeedForward).Renew() }},
	CompDisturbance: {Name: "disturbance-observer", Settings: []string{"bandwidth", "order", "dead_band"},
		build: func(c *compensator, _ control.PID) (estimator.Compensation, error) {
			return estimator.NewDisturbanceObserver(c.disturbance())
		}, renew: func(c *compensator, _ control.PID) { c.law.(*estimator.DisturbanceObserver).Renew(c.disturbance()) }},
	CompGain: {Name: "adaptive-gain", Settings: []string{"adapt"}, Learns: []string{"comp.theta"},
		build: func(c *compensator, pid control.PID) (estimator.Compensation, error) {
			return estimator.NewAdaptiveGain(c.learning(pid))
		}, renew: func(c *compensator, pid control.PID) { c.law.(*estimator.AdaptiveGain).Renew(c.learning(pid)) }},
	CompLuGre: {Name: "adaptive-lugre", Settings: []string{"adapt"}, Learns: []string{"comp.theta0", "comp.theta1", "comp.theta2"},
		build: func(c *compensator, pid control.PID) (estimator.Compensation, error) {
			return estimator.NewAdaptiveLuGre(c.learning(pid), c.injection(pid))
		}, renew: func(c *compensator, pid control.PID) {
			c.law.(*estimator.AdaptiveLuGre).Renew(c.learning(pid), c.injection(pid))
		}},
}

// Words are the names of the kinds.
func (CompKind) Words() []string {
	names := make([]string, len(Compensations))
	for i, c := range Compensations {
		names[i] = c.Name
	}
	return names
}

func (k CompKind) String() string { return Compensations[k].Name }

// Info describes the kind.
func (k CompKind) Info() *CompInfo { return &Compensations[k] }

// CompSpec is the section of the friction compensation: one law, what keeps it safe, and a dither beside it. See
// docs/reference/compensation.md.
type CompSpec struct {
	Kind    CompKind `yaml:"kind" doc:"feedforward: the friction law at the desired velocity; feedforward-static: its steady curve there; observer: the law at the estimated velocity, for laws that yield before they slide; disturbance-observer: the torque that the motion leaves unexplained; adaptive-gain: the observer times one learned factor; adaptive-lugre: sigma0, sigma1 and sigma2 learned"`
	Scale   float64  `yaml:"scale" want:">=0 <=1" doc:"share of the modelled friction that is compensated"`
	Gain    float64  `yaml:"gain" unit:"1/s" want:">=0" doc:"observer with lugre: correction of the bristle by the tracking error, per rad; 0: open loop"`
	Inertia bool     `yaml:"inertia" doc:"also feed J times the desired acceleration forward"`
	Ramp    float64  `yaml:"ramp" unit:"s" want:">=0 <=60" doc:"time over which compensation fades in after RUN"`

	LeadTime float64 `yaml:"lead" unit:"s" want:">=0 <=0.1" doc:"feedforward-static: how far ahead the sign of the desired motion is taken; the delay of loop and drive"`
	Band     float64 `yaml:"band" unit:"rad/s" want:">=0" doc:"feedforward-static: desired speed below which the sign is blended; 0: it switches"`

	Bandwidth float64 `yaml:"bandwidth" unit:"Hz" want:">=0" doc:"disturbance-observer: −3 dB of its low-pass"`
	Order     int     `yaml:"order" want:">=1 <=2" doc:"disturbance-observer: order of its low-pass"`
	DeadBand  float64 `yaml:"dead_band" unit:"rad" want:">=0" doc:"disturbance-observer: tracking error below which the estimate is frozen (no hunting)"`
	Adapt     Adapt   `yaml:"adapt" doc:"learning of adaptive-gain and adaptive-lugre"`

	Resolution float64 `yaml:"resolution" unit:"rad" want:">=0" doc:"with no motion commanded and an error below this, compensation and dither go to zero; 0: one count of the position sensor"`
	Rest       float64 `yaml:"rest" unit:"s" want:">=0 <=10" doc:"time over which they do"`
	Limit      float64 `yaml:"limit" unit:"N·m" want:">=0" doc:"largest torque of the compensation; 0: 1.2 times the highest dry friction of the law, plus what is viscous and the offset"`
	Slew       float64 `yaml:"slew" unit:"N·m/s" want:">=0" doc:"largest change of that torque; 0: from limit to limit within five ticks"`

	// inertia, gains and Coulomb friction are filled in
	Dither estimator.DitherSpec `yaml:"dither" doc:"shaking beside the compensation, with any kind of it"`
}

// Adapt is the learning of the adaptive kinds.
type Adapt struct {
	// 0: the factors stay 1
	Time     float64    `yaml:"time" unit:"s" want:">0 <=10000" doc:"time constant with which a wrong friction level is corrected while moving: the rate is K/(time·Fc²), K the damping of the controller"`
	Range    [2]float64 `yaml:"range" doc:"learned factors stay within it; 1 is the model"`
	DeadZone float64    `yaml:"dead_zone" unit:"rad/s" want:">=0" doc:"velocity error plus Λ times position error that teaches nothing"`
}

// compensator turns friction compensation into a torque that may be trusted: faded in, at rest when the axis is, limited in
// size and slope.
type compensator struct {
	CompSpec
	law              estimator.Compensation // nil: none
	model            friction.Model         // nil: none is known
	level            friction.Levels        // of it
	dryFrictionLimit float64                // N·m  1.2 times its highest dry friction
	gives            float64                // rad  what the contact gives way when the torque leaves it
	j                float64                // kg·m²
	dither           *estimator.Dither

	targetScale float64 // scale to go to
	scale       float64 // present scale
	shaken      float64 // share of the dither, 0 … 1
	rest        rest
	torque      float64 // N·m  of the tick before
}

func newCompensator(s CompSpec, law friction.Model, j float64, pid control.PID) (*compensator, error) {
	if int(s.Kind) >= len(Compensations) {
		return nil, fmt.Errorf("compensation kind %d is unknown", s.Kind)
	}
	c := &compensator{CompSpec: s, model: law}
	c.applyModel(j)
	var err error
	if c.law, err = s.Kind.Info().build(c, pid); err != nil {
		return nil, err
	}
	c.dither, err = estimator.NewDither(c.shaking(pid))
	return c, err
}

// renew begins anew in place, as a new one would, when the numbers of the law were changed where they are: nothing is checked again.
func (c *compensator) renew(j float64, pid control.PID) {
	*c = compensator{CompSpec: c.CompSpec, model: c.model, law: c.law, dither: c.dither}
	c.applyModel(j)
	if again := c.Kind.Info().renew; again != nil {
		again(c, pid)
	}
	c.dither.Renew(c.shaking(pid))
}

// applyModel takes what follows from the law and the inertia (kg·m²).
func (c *compensator) applyModel(j float64) {
	c.j, c.targetScale, c.rest = j, c.Scale, rest{share: 1}
	if c.model == nil {
		return
	}
	c.level, c.dryFrictionLimit = c.model.Levels(), 1.2*friction.Ceiling(c.model)
	if k := c.model.Stiffness().K; k > 0 {
		c.gives = 2 * c.level.Max() / k
	}
}

// shaking is the dither with these gains.
func (c *compensator) shaking(pid control.PID) estimator.DitherSpec {
	d := c.Dither
	d.Inertia, d.Kp, d.Kd, d.Fc = c.j, pid.Kp, pid.Kd, c.level.Sliding.Max()
	if c.model != nil {
		if k := c.model.Stiffness().K; k > 0 {
			d.Spring = c.level.Sliding.Max() / k
		}
	}
	if d.Zone == 0 {
		d.Zone = 4 * c.Resolution
	}
	return d
}

// disturbance describes the observer of CompDisturbance.
func (c *compensator) disturbance() estimator.DisturbanceSpec {
	return estimator.DisturbanceSpec{Inertia: c.j, Bandwidth: c.Bandwidth, Order: c.Order, DeadBand: c.DeadBand, Limit: c.maxTorque(0)}
}

// learning is how the adaptive laws learn with these gains.
func (c *compensator) learning(pid control.PID) estimator.AdaptSpec {
	sl := estimator.SlidingOf(pid.Kp, pid.Kd, c.j)
	return estimator.AdaptSpec{Law: c.model, Sliding: sl, Range: c.Adapt.Range, DeadZone: c.Adapt.DeadZone, Rate: c.rate(sl)}
}

// rate is that of learning.
func (c *compensator) rate(sl estimator.Sliding) float64 {
	if c.Adapt.Time > 0 {
		return sl.Rate(c.Adapt.Time, c.level.Sliding.Max())
	}
	return 0
}

// injection is the weight of the error in the observers of CompLuGre that these gains bear, up to a hundred times vs.
func (c *compensator) injection(pid control.PID) float64 {
	law, ok := c.model.(*friction.LuGre)
	if !ok {
		return 1 // whatever it is: the law is refused
	}
	return estimator.Injection(law, pid.Kp, pid.Kd, 100*law.Vs)
}

// adopt takes new gains while running.
func (c *compensator) adopt(scale, gain float64, pid control.PID) {
	c.targetScale = scale
	sl := estimator.SlidingOf(pid.Kp, pid.Kd, c.j)
	rate := c.rate(sl)
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

// maxTorque is the largest compensating torque (N·m) at the speed v: over-compensation beyond it is no compensation [theory §10.7].
func (c *compensator) maxTorque(v float64) float64 {
	if c.Limit > 0 {
		return c.Limit
	}
	if c.model == nil {
		return 0
	}
	return c.dryFrictionLimit + math.Abs(c.model.Viscous(v)) + math.Abs(c.level.Offset)
}

// step gives the compensating torque (N·m) of a tick of dt (s) and whether something was not finite.
func (c *compensator) step(m estimator.Motion, dt float64) (torque float64, st engine.Status) {
	c.fade(dt)
	c.rest.step(c, &m, dt)
	if c.law == nil {
		return 0, engine.OK
	}
	m.LearningHeld = m.LearningHeld || c.rest.share < 1
	f, st := c.law.Compensate(dt, m)
	if !numeric.IsFinite(f) {
		f, st = 0, engine.NonFinite
	}
	f *= c.scale * c.rest.share
	v := m.V
	if c.Kind.Info().Desired {
		v = m.Vd
	}
	if top := c.maxTorque(v); math.Abs(f) > top {
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
	f := c.dither.Step(dt, m.E, restCommanded(&m), u) * c.shaken * c.rest.share
	if !numeric.IsFinite(f) {
		return 0
	}
	return f
}

// fade moves the scale to where it is wanted, and the dither in.
func (c *compensator) fade(dt float64) {
	c.scale = toward(c.scale, c.targetScale, dt, c.Ramp)
	c.shaken = toward(c.shaken, 1, dt, c.Ramp)
}

// toward moves a share to where it is wanted in dt (s), at the rate of 1 in ramp (s); at once without a ramp.
func toward(now, want, dt, ramp float64) float64 {
	if ramp > 0 && now != want {
		return now + min(dt/ramp, max(-dt/ramp, want-now))
	}
	return want
}

// restCommanded tells whether no motion is commanded.
func restCommanded(m *estimator.Motion) bool { return m.Vd == 0 && m.Ad == 0 }

// rest takes the compensation away from an axis that has arrived: with no motion commanded and an error below the
// resolution there is nothing left to gain, and a compensated contact has no stiction to hold the axis. It comes back when
// motion is commanded, or when the error exceeds what the contact gives way when the torque leaves it, twice its
// highest level over its stiffness.
type rest struct {
	arrived bool
	share   float64 // of the compensation, 1 … 0
}

func (r *rest) step(c *compensator, m *estimator.Motion, dt float64) {
	e := math.Abs(m.E)
	switch {
	case c.Resolution <= 0 || !restCommanded(m) || !numeric.IsFinite(e):
		r.arrived = false
	case e < c.Resolution:
		r.arrived = true
	case e > c.Resolution+c.gives:
		r.arrived = false
	}
	want := 1.0
	if r.arrived {
		want = 0
	}
	r.share = toward(r.share, want, dt, c.Rest)
}
