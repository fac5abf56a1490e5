package estimator

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// AdaptiveLuGre learns σ0, σ1 and σ2 of LuGre apart, with one bristle observer for each of the two places where the
// deflection appears [TK99; form of theory §10.6]. With φ = σ0|v|/g(v), of which only the ratio g/σ0 must be known, and
// f(v) the fade of σ1:
//
//	F̂ = θ0·σ0·ẑ0 + θ1·σ1·f·(v − φ·ẑ1) + θ2·σ2·v + offset
//	dẑ0/dt = v − φ·ẑ0 − k·r           θ̇0 = −γ·σ0·ẑ0·r
//	dẑ1/dt = v − φ·ẑ1 + k·f·φ·r       θ̇1 = −γ·σ1·f·(v − φ·ẑ1)·r
//	                                  θ̇2 = −γ·σ2·v·r
//
// σ0, σ1, σ2 are those of the model and θ = σ̂/σ, so one rate serves all three. With the PD of Sliding and
//
//	V = ½(M·r² + κ·e² + (θσ0·z̃0² + θσ1·z̃1²)/k + Σθ̃²/γ),   z̃ = z − ẑ,
//	V̇ = −K·r² − κΛ·e² − φ·(θ0σ0·z̃0² + θ1σ1·z̃1²)/k ≤ 0.
//
// Departures: the theory groups B = σ1 + σ2 and has f = 1, k = 1; with a fading σ1 the speed belongs to two unknowns, and
// for constant σ1 the two forms are one change of basis apart. k weighs the deflections in V. k = 1 feeds r back through
// σ1·φ, hundreds of times the damping of a usual Kd at any speed, which no sampled loop bears: see Injection.
// A parameter that the model has at zero stays zero.
type AdaptiveLuGre struct {
	s      AdaptSpec
	law    *friction.LuGre
	k      float64
	z      [2]float64 // rad
	thetas [3]float64
}

// NewAdaptiveLuGre checks the description; injection is k, above 0 and at most 1.
func NewAdaptiveLuGre(s AdaptSpec, injection float64) (*AdaptiveLuGre, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := above0("adaptation: injection", injection, ""); err != nil {
		return nil, err
	}
	law, ok := s.Law.(*friction.LuGre)
	if !ok {
		return nil, fmt.Errorf("adaptation: three parameters of lugre are learned, and the law is %s; take adaptive-gain for it",
			friction.NameOf(s.Law))
	}
	a := &AdaptiveLuGre{law: law}
	a.Renew(s, injection)
	return a, nil
}

// Renew begins anew, with a description of the same law whose numbers were changed where they are. It is not checked again.
func (a *AdaptiveLuGre) Renew(s AdaptSpec, injection float64) {
	*a = AdaptiveLuGre{s: s, law: a.law, k: min(1, injection), thetas: [3]float64{1, 1, 1}}
}

// Injection is a weight k with which the observers add at most half of the controller's own stiffness and damping: from r to
// torque they are k·σ0/(s + φ), at most a spring k·σ0, and k·σ1·f²φ·φ/(s + φ), at most a damper k·σ1·f²φ; the latter at any
// speed up to top (rad/s).
func Injection(law *friction.LuGre, kp, kd, top float64) float64 {
	k := min(1, kp/(2*law.Sigma0))
	for i := range 121 {
		v := top * math.Pow(10, -float64(i)/20) // six decades
		phi := law.Sigma0 * v / level(law, v)
		s1, f := law.Damping(v), 0.0
		if law.Sigma1 > 0 {
			f = s1 / law.Sigma1
		}
		if q := s1 * f * phi; q > 0 {
			k = min(k, kd/(2*q))
		}
	}
	return max(k, math.SmallestNonzeroFloat64)
}

// Reset relaxes the bristles; what was learned stays.
func (a *AdaptiveLuGre) Reset() { a.z = [2]float64{} }

// Tune adopts other gains of the controller, and the rate and the injection that belong to them.
func (a *AdaptiveLuGre) Tune(s Sliding, rate, injection float64) {
	if rate >= 0 && !math.IsInf(rate, 0) && injection > 0 {
		a.s.Sliding, a.s.Rate, a.k = s, rate, min(1, injection)
	}
}

// Thetas writes σ̂0/σ0, σ̂1/σ1 and σ̂2/σ2.
func (a *AdaptiveLuGre) Thetas(out []float64) { copy(out, a.thetas[:]) }

// Bristles are ẑ0 and ẑ1 (rad).
func (a *AdaptiveLuGre) Bristles() (z0, z1 float64) { return a.z[0], a.z[1] }

// Compensate advances the observers exactly for a speed and an r that are constant over the step, then the factors, with the
// means over the step.
func (a *AdaptiveLuGre) Compensate(dt float64, m Motion) (float64, engine.Status) {
	if !(dt > 0) || !m.allFinite() {
		return 0, engine.NonFinite
	}
	law := a.law
	r, lr := a.s.sliding(&m)
	dx := m.V * dt
	decay := law.Sigma0 * math.Abs(dx) / level(law, m.V) // φ·h
	p1, p2 := law.Relax(dx, dt)
	s1, f := law.Damping(m.V), 0.0
	if law.Sigma1 > 0 {
		f = s1 / law.Sigma1
	}
	push := [2]float64{dx - a.k*r*dt, dx + a.k*f*decay*r}
	top, st := 1.2*max(law.Fs, law.Fc)/law.Sigma0, engine.OK
	var mean [2]float64
	for i := range a.z {
		mean[i] = a.z[i]*p1 + push[i]*p2
		a.z[i] += push[i]*p1 - a.z[i]*decay*p1
		if math.Abs(a.z[i]) > top {
			a.z[i], st = math.Copysign(top, a.z[i]), engine.Limited
		}
	}
	part := [3]float64{law.Sigma0 * mean[0], s1 * (m.V - decay/dt*mean[1]), law.Sigma2 * m.V}
	sum := law.Offset
	for i, p := range part {
		sum += a.thetas[i] * p
		if !m.LearningHeld {
			a.s.learn(&a.thetas[i], p, lr, dt)
		}
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		a.Reset()
		return 0, engine.NonFinite
	}
	return sum, st
}
