package estimator

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// ObserverSpec describes a friction observer.
type ObserverSpec struct {
	Law  friction.LuGre // as the model knows it
	Gain float64        // 1/s  correction of the bristle by the tracking error; 0: open loop
}

// Observer is the bristle observer of [C95] for friction compensation:
//
//	dẑ/dt = v − σ0·|v|·ẑ/g(v) − k·e,   F̂ = σ0·ẑ + σ1(v)·dẑ/dt + σ2·v + offset,   e = x − x_d
//
// advanced by the exact step for a displacement Δx, with e held. Fed with the estimated motion it is an observer; fed with
// the desired motion and k = 0 it is a feed-forward, which has no feedback path and cannot destabilise. Compensation with
// k > 0 is guaranteed to converge only under SPR. |F̂ − σ2·v| never exceeds 1.2 times the larger of Fs and Fc, plus the offset.
type Observer struct {
	law  friction.LuGre
	gain float64
	z    float64 // m or rad
}

// NewObserver checks the description.
func NewObserver(s ObserverSpec) (*Observer, error) {
	if err := s.Law.Validate(); err != nil {
		return nil, err
	}
	if err := atLeast0("observer: gain", s.Gain, "1/s"); err != nil {
		return nil, err
	}
	return &Observer{law: s.Law, gain: s.Gain}, nil
}

// Reset relaxes the bristle.
func (o *Observer) Reset() { o.z = 0 }

// SetGain changes the correction gain (1/s); one below zero or not finite is left out.
func (o *Observer) SetGain(k float64) {
	if k >= 0 && !math.IsInf(k, 0) {
		o.gain = k
	}
}

// Bristle is the estimated deflection (rad).
func (o *Observer) Bristle() float64 { return o.z }

// SPR tells whether the error system G(s) = (σ1·s + σ0)/(m·s² + kv·s + kp) is strictly positive real, which is the
// condition of [C95] for the tracking error to vanish with k > 0: σ1·kv > σ0·m. kv is the velocity gain of the controller
// with all viscous damping (N·m·s/rad), m the inertia (kg·m²). σ1 is taken at rest, where it is largest.
func (o *Observer) SPR(kv, m float64) bool { return o.law.Sigma1*kv > o.law.Sigma0*m }

// Step advances the bristle over dt (s) for a displacement dx (rad) and a tracking error e = x − x_d (rad), and returns the
// mean friction over the step (N·m). Limited: the force or the bristle was cut to its bound. NonFinite: input or result
// is not a finite number; the bristle stays as it was, and the force is zero.
func (o *Observer) Step(dt, dx, e float64) (force float64, st engine.Status) {
	if sum := dx + e; !(dt > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, engine.NonFinite
	}
	zn, _, f := o.law.StepDx(o.z, dx, dt)
	if o.gain > 0 {
		// the correction is a second, constant input of the same linear equation: −k·e·h·φ1(a) at the end, and its share
		// of the mean and of the rate
		end, mean := o.law.Relax(dx, dt)
		push := -o.gain * e * dt
		zn += push * end
		f += o.law.Sigma0*push*mean + o.law.Damping(dx/dt)*push*end/dt
	}
	if sum := zn + f; math.IsNaN(sum) || math.IsInf(sum, 0) { // a speed beyond all reason
		return 0, engine.NonFinite
	}
	most := max(o.law.Fs, o.law.Fc)
	if top := most / o.law.Sigma0; math.Abs(zn) > top {
		zn, st = math.Copysign(top, zn), engine.Limited
	}
	o.z = zn
	dry, viscous := f-o.law.Offset, o.law.Sigma2*dx/dt
	dry -= viscous
	if lim := 1.2 * most; math.Abs(dry) > lim {
		dry, st = math.Copysign(lim, dry), engine.Limited
	}
	return dry + viscous + o.law.Offset, st
}
