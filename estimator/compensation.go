package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// Motion is what a compensation is told in a tick. Errors follow [C95], e = x − xd: an axis that lags behind has e < 0.
type Motion struct {
	V, E         float64 // rad/s, rad     estimated speed and tracking error
	Vd, Ad       float64 // rad/s, rad/s²  desired motion
	U            float64 // N·m            torque that acted since the tick before, as commanded
	LearningHeld bool    // what learns or integrates rests: the actuator is saturated, the sensor silent, ticks missing or the axis at rest
}

// allFinite tells whether every number is one.
func (m *Motion) allFinite() bool {
	return numeric.IsFinite(m.V + m.E + m.Vd + m.Ad + m.U)
}

// Compensation is a torque against friction (N·m), positive for forward motion: it is added to the controller's. It never
// allocates, and a motion that is not finite gives no torque and NonFinite.
type Compensation interface {
	Reset()
	Compensate(dt float64, m Motion) (torque float64, st engine.Status)
}

// Learning is a compensation with adapted factors: 1 is what the model says.
type Learning interface {
	Thetas(out []float64) // one number per factor
}

// Compensate is Step under the estimated motion.
func (o *Observer) Compensate(dt float64, m Motion) (float64, engine.Status) {
	if !m.allFinite() {
		return 0, engine.NonFinite
	}
	return o.Step(dt, m.V*dt, m.E)
}

// FeedForward is a friction law driven by the desired motion alone: no feedback path, so it cannot destabilise. Any law will do; one with
// a stick mode asks for nothing while no motion is desired, and jumps where the desired motion starts and turns.
type FeedForward struct{ Contact }

// NewFeedForward checks the law.
func NewFeedForward(law friction.Model) (*FeedForward, error) {
	c, err := NewContact(law)
	if err != nil {
		return nil, err
	}
	return &FeedForward{*c}, nil
}

// Compensate is Step under the desired motion.
func (f *FeedForward) Compensate(dt float64, m Motion) (float64, engine.Status) {
	if !m.allFinite() {
		return 0, engine.NonFinite
	}
	return f.Step(dt, m.Vd*dt)
}

// StaticSpec describes a static feed-forward.
type StaticSpec struct {
	Law      friction.Model // its steady curve
	LeadTime float64        // s      how far ahead the sign of the motion is taken: the delay of the loop
	Band     float64        // rad/s  speed ahead below which the sign is blended; 0: it switches
}

// StaticFeedForward is the steady curve at the desired speed,
//
//	F = s·dry(vd) + viscous(vd) + offset,   s = sat((vd + lead·ad)/band), sat a cut to ±1,
//
// of LuGre s·g(vd) + σ2·vd + offset. dry is that of the direction of s.
//
// Around vd = 0 the sign is that of the motion that is intended next; with no motion commanded (vd = ad = 0) the dry part
// is zero. The measured speed never enters: in a static curve it would be positive feedback.
type StaticFeedForward struct {
	s      StaticSpec
	offset float64 // N·m
}

// NewStaticFeedForward checks the description.
func NewStaticFeedForward(s StaticSpec) (*StaticFeedForward, error) {
	err := errors.Join(checkLaw(s.Law), atLeast0("feed-forward: lead", s.LeadTime, "s"), atLeast0("feed-forward: band", s.Band, "rad/s"))
	if err != nil {
		return nil, err
	}
	f := &StaticFeedForward{s: s}
	f.Renew()
	return f, nil
}

// Renew looks again at a law whose numbers were changed where they are.
func (f *StaticFeedForward) Renew() { f.offset = f.s.Law.Levels().Offset }

// Reset does nothing: there is no state.
func (f *StaticFeedForward) Reset() {}

// Compensate evaluates the curve.
func (f *StaticFeedForward) Compensate(_ float64, m Motion) (float64, engine.Status) {
	if !m.allFinite() {
		return 0, engine.NonFinite
	}
	next := m.Vd + f.s.LeadTime*m.Ad
	side := numeric.Clamp(next/f.s.Band, -1, 1)
	if f.s.Band == 0 {
		side = 0
		if next != 0 {
			side = math.Copysign(1, next)
		}
	}
	return side*level(f.s.Law, math.Copysign(m.Vd, side)) + f.s.Law.Viscous(m.Vd) + f.offset, engine.OK
}

// level is the dry friction (N·m) of sliding at v; at v = ±0 that of a contact that begins to slide, Fs of LuGre.
func level(law friction.Model, v float64) float64 {
	const begin = 1e-100 // as good as none; its square is still a number
	return friction.DryForce(law, math.Copysign(max(math.Abs(v), begin), v))
}

// atLeast0 refuses what is negative or not finite.
func atLeast0(name string, v float64, unit string) error {
	if !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s: %g %s, want a finite number ≥ 0", name, v, unit)
	}
	return nil
}

// above0 also refuses zero.
func above0(name string, v float64, unit string) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s: %g %s, want a finite number > 0", name, v, unit)
	}
	return nil
}
