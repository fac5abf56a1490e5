package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// Sliding is how a PD controller looks to an adaptive law. With r = ė + Λe, torque −Kd·ė − Kp·e and M·ẍd fed forward, the
// error obeys
//
//	M·ṙ = −K·r − κ·e + (F̂ − F),   K = Kd − M·Λ,   κ = Kp − K·Λ,
//
// and ½(M·r² + κ·e²) falls as −K·r² − κΛ·e² when F̂ = F. Any PD with K > 0 and κ ≥ 0 will do; theory §10.6 is κ = 0.
type Sliding struct {
	Lambda float64 // 1/s        Λ
	K      float64 // N·m·s/rad  damping of r
	Kappa  float64 // N·m/rad    what is left of Kp
}

// SlidingOf chooses Λ = min(Kp/Kd, Kd/(2M)), which satisfies both conditions for every Kp ≥ 0 and Kd > 0: at Kp/Kd
// κ = M·Λ² and K ≥ Kd/2, at Kd/(2M) K = Kd/2 and κ ≥ Kp/2.
func SlidingOf(kp, kd, m float64) Sliding {
	if !(kd > 0) || !(m > 0) {
		return Sliding{}
	}
	l := min(kp/kd, kd/(2*m))
	k := kd - m*l
	return Sliding{Lambda: l, K: k, Kappa: kp - k*l}
}

// Rate is the γ (1/J) with which a wrong friction level fc (N·m) is corrected with the time constant t (s): for slow
// adaptation r ≈ (θ̂ − θ)·F/K, so dθ̂/dt = −γF·r makes t = K/(γ·fc²).
func (s Sliding) Rate(t, fc float64) float64 { return s.K / (t * fc * fc) }

// AdaptSpec describes how factors of the model are learned, θ̇ = −γ·F·r.
type AdaptSpec struct {
	Law      friction.Model // as the model knows it: θ = 1
	Sliding  Sliding        // of the controller
	Rate     float64        // 1/J    γ; 0: θ stays 1
	Range    [2]float64     // θ is kept within it; must contain 1
	DeadZone float64        // rad/s  of r: noise below it teaches nothing
}

func (s *AdaptSpec) validate() error {
	err := errors.Join(checkLaw(s.Law), atLeast0("adaptation: rate", s.Rate, "1/J"), atLeast0("adaptation: dead zone", s.DeadZone, "rad/s"),
		atLeast0("adaptation: Λ", s.Sliding.Lambda, "1/s"))
	if !(s.Range[0] > 0 && s.Range[0] <= 1 && s.Range[1] >= 1) || math.IsInf(s.Range[1], 0) {
		err = errors.Join(err, fmt.Errorf("adaptation: range: %g to %g, want two numbers > 0 around 1", s.Range[0], s.Range[1]))
	}
	return err
}

// sliding is r (rad/s) without its dead zone, which shifts it and so keeps the law Lipschitz.
func (s *AdaptSpec) sliding(m *Motion) (r, learn float64) {
	r = m.V - m.Vd + s.Sliding.Lambda*m.E
	return r, r - numeric.Clamp(r, -s.DeadZone, s.DeadZone)
}

// learn moves one factor, with projection. What is not a number teaches nothing: it would never be forgotten.
func (s *AdaptSpec) learn(theta *float64, force, r, dt float64) {
	if d := s.Rate * force * r * dt; !math.IsNaN(d) {
		*theta = min(s.Range[1], max(s.Range[0], *theta-d))
	}
}

// AdaptiveGain is the adaptive compensation of [CL97] with one factor for everything that scales friction as a whole, load
// and temperature:
//
//	F̂ = θ̂·F_law(v) + offset,   θ̇ = −γ·F_law·r,   r = ė + Λe
//
// with projection, dead zone, and rest while Motion.LearningHeld. The source takes LuGre; any law does whose contact yields. It runs
// without correction by the error.
type AdaptiveGain struct {
	s      AdaptSpec
	obs    Contact
	offset float64 // N·m
	theta  float64
}

// NewAdaptiveGain checks the description.
func NewAdaptiveGain(s AdaptSpec) (*AdaptiveGain, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := Yields(s.Law); err != nil {
		return nil, fmt.Errorf("adaptation: %w", err)
	}
	obs, err := NewContact(s.Law)
	if err != nil {
		return nil, err
	}
	a := &AdaptiveGain{obs: *obs}
	a.Renew(s)
	return a, nil
}

// Renew begins anew, with a description of the same law whose numbers were changed where they are. It is not checked again.
func (a *AdaptiveGain) Renew(s AdaptSpec) {
	a.s, a.offset, a.theta = s, s.Law.Levels().Offset, 1
	a.obs.Renew()
}

// Reset relaxes the contact. What was learned stays: a warm contact is still warm after a stop.
func (a *AdaptiveGain) Reset() { a.obs.Reset() }

// Tune adopts other gains of the controller and the rate that belongs to them.
func (a *AdaptiveGain) Tune(s Sliding, rate float64) {
	if rate >= 0 && !math.IsInf(rate, 0) {
		a.s.Sliding, a.s.Rate = s, rate
	}
}

// Thetas writes θ̂.
func (a *AdaptiveGain) Thetas(out []float64) { out[0] = a.theta }

// Compensate advances contact and factor.
func (a *AdaptiveGain) Compensate(dt float64, m Motion) (float64, engine.Status) {
	if !(dt > 0) || !m.allFinite() {
		return 0, engine.NonFinite
	}
	f, st := a.obs.Step(dt, m.V*dt)
	if st == engine.NonFinite {
		return 0, st
	}
	f -= a.offset
	if _, r := a.s.sliding(&m); !m.LearningHeld {
		a.s.learn(&a.theta, f, r, dt)
	}
	return a.theta*f + a.offset, st
}
