package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// ObserverSpec describes a friction observer.
type ObserverSpec struct {
	Law  friction.Model // as the model knows it
	Gain float64        // 1/s  correction of the bristle of LuGre by the tracking error; 0: open loop
}

// Observer is a law of friction that runs along under the estimated motion, for friction compensation. For LuGre it is the bristle
// observer of [C95]:
//
//	dẑ/dt = v − σ0·|v|·ẑ/g(v) − k·e,   F̂ = σ0·ẑ + σ1(v)·dẑ/dt + σ2·v + offset,   e = x − x_d
//
// advanced by the exact step for a displacement Δx, with e held. Compensation with k > 0 is guaranteed to converge only under SPR.
//
// The contact of the law must yield: it then answers a displacement, and not the sign of a speed.
type Observer struct {
	Contact
	gain float64
}

// NewObserver checks the description.
func NewObserver(s ObserverSpec) (*Observer, error) {
	if err := atLeast0("observer: gain", s.Gain, "1/s"); err != nil {
		return nil, err
	}
	c, err := NewContact(s.Law)
	if err != nil {
		return nil, err
	}
	if err := Yields(s.Law); err != nil {
		return nil, fmt.Errorf("observer: %w", err)
	}
	if s.Gain > 0 && c.lugre == nil {
		return nil, fmt.Errorf("observer: gain: %g 1/s corrects the bristle of lugre, and %s has none; want 0", s.Gain, friction.NameOf(s.Law))
	}
	return &Observer{Contact: *c, gain: s.Gain}, nil
}

// Yields refuses a law for compensation under a measured speed whose contact is rigid or none at all: its force follows the sign of the
// speed, or the speed itself, and pushes where the axis happens to go.
func Yields(law friction.Model) error {
	if law.Stiffness().K > 0 {
		return nil
	}
	return errors.New(friction.NameOf(law) + " does not yield before it slides: under a measured speed its force is positive feedback of " +
		"the sign of that speed; take feedforward or feedforward-static")
}

// SetGain changes the correction gain (1/s); one below zero or not finite is left out, and so is any but 0 for another law than LuGre.
func (o *Observer) SetGain(k float64) {
	if k >= 0 && !math.IsInf(k, 0) && (k == 0 || o.lugre != nil) {
		o.gain = k
	}
}

// SPR tells whether the error system G(s) = (σ1·s + σ0)/(m·s² + kv·s + kp) of LuGre is strictly positive real, which is the
// condition of [C95] for the tracking error to vanish with k > 0: σ1·kv > σ0·m. kv is the velocity gain of the controller
// with all viscous damping (N·m·s/rad), m the inertia (kg·m²). σ1 is taken at rest, where it is largest.
func SPR(law *friction.LuGre, kv, m float64) bool { return law.Sigma1*kv > law.Sigma0*m }

// Step advances the contact over dt (s) for a displacement dx (rad) and a tracking error e = x − x_d (rad), and returns the
// mean friction over the step (N·m), as Contact.Step does.
func (o *Observer) Step(dt, dx, e float64) (force float64, st engine.Status) {
	if !numeric.IsFinite(e) {
		return 0, engine.NonFinite
	}
	return o.step(dt, dx, -o.gain*e)
}
