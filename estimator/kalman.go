package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/plant"
)

// KalmanSpec describes the filter.
type KalmanSpec struct {
	Dt            float64     // s         period of the tick
	Motor         plant.Motor // as the model knows it; J includes the load
	Varying       bool        // propagate the covariance each tick; otherwise constant gains
	Count         float64     // rad       one encoder count; used when PositionNoise is 0
	PositionNoise float64     // rad       standard deviation of the position; 0: Count/√12
	CurrentNoise  float64     // A         standard deviation of the current
	TorqueWalk    float64     // N·m/√s    random walk of friction and load
	VoltageNoise  float64     // V         standard deviation of the applied voltage, fresh every tick
	BiasWalk      float64     // A/√s      random walk of the current sensor's offset; 0: no offset in the state
	Delay         float64     // s         age of a sample when it reaches the tick
	Every         [2]int      // constant gains: ticks from sample to sample of position and current; 0: 1; −1: current is not measured
}

// State of the filter, and what Step writes to xhat.
const (
	XPos    = iota // rad
	XVel           // rad/s
	XCur           // A
	XTorque        // N·m  friction and load, opposing positive motion
	XBias          // A    offset of the current sensor, with BiasWalk > 0 only
	nMax
)

const (
	maxDelay = 64 // ticks
	maxEvery = 32 // ticks  keeps the table of constant gains below half a megabyte
)

// Kalman estimates position, speed, current and friction torque of a motor from its voltage and samples of position and
// current, each used only in the ticks in which it is fresh.
//
// Model, x = [θ ω i T (b)], discretised exactly for a voltage held over the tick:
//
//	θ' = ω,  ω' = (K·i − T)/J,  i' = (u − drop − R·i − K·ω)/L,  T' = noise,  b' = noise;   y = [θ, i + b]
//
// The brush drop is a known nonlinear input. Taken from the old current it would oscillate (its slope near zero current is
// ten times R), so it belongs to the current at the end of the step, found from a scalar equation that always has exactly
// one root. The covariance leaves its slope out.
//
// Noise: T and b are random walks; the voltage has an error that is constant within a tick.
//
// A delayed sample is met in its own time: the filter state lives Delay seconds in the past, where the samples are
// current, and is carried to the present with the voltages sent since. That is the optimal filter for a constant delay.
type Kalman struct {
	s                 KalmanSpec
	n                 int          // states
	lag               int          // whole ticks of delay
	head, tail, whole transition   // δ, Dt − δ and Dt long, δ the fraction of the delay
	r                 [2]float64   // variances of the measurements
	gain              []steadyGain // by freshness and age, see slot
	age               [2]int       // ticks since the last sample of each sensor
	ok                float64      // last finite voltage

	steadyP [nMax * nMax]float64 // covariance that belongs to the constant gains

	x    [nMax]float64
	p    [nMax * nMax]float64
	past [maxDelay + 2]float64 // V  voltages, newest first

	nis  float64
	used int
}

// NewKalman checks the description, discretises the model and, for constant gains, solves the Riccati equation.
func NewKalman(s KalmanSpec) (*Kalman, error) {
	if s.PositionNoise == 0 {
		s.PositionNoise = s.Count / math.Sqrt(12)
	}
	for i, e := range s.Every {
		if e == 0 {
			s.Every[i] = 1
		}
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	k := &Kalman{s: s, n: 4, r: [2]float64{s.PositionNoise * s.PositionNoise, s.CurrentNoise * s.CurrentNoise}}
	if s.BiasWalk > 0 {
		k.n = 5
	}
	k.lag = int(math.Floor(s.Delay/s.Dt + 1e-9))
	delta := max(0, s.Delay-float64(k.lag)*s.Dt)
	if delta < 1e-9*s.Dt {
		delta = 0
	}
	k.whole = discretise(&s, k.n, s.Dt)
	k.head, k.tail = discretise(&s, k.n, delta), discretise(&s, k.n, s.Dt-delta)
	if !s.Varying {
		if err := k.riccati(); err != nil {
			return nil, err
		}
	}
	k.Reset(0)
	return k, nil
}

func (s *KalmanSpec) validate() error {
	errs := []error{s.Motor.Validate()}
	check := func(name string, v float64, unit string, positive bool) {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			errs = append(errs, fmt.Errorf("kalman: %s: %g %s, want a finite number ≥ 0", name, v, unit))
		case positive && v == 0:
			errs = append(errs, fmt.Errorf("kalman: %s: 0 %s, want > 0", name, unit))
		}
	}
	check("period", s.Dt, "s", true)
	check("position noise (or the size of a count)", s.PositionNoise, "rad", true)
	check("current noise", s.CurrentNoise, "A", true)
	check("torque walk", s.TorqueWalk, "N·m/√s", true)
	check("voltage noise", s.VoltageNoise, "V", false)
	check("bias walk", s.BiasWalk, "A/√s", false)
	check("delay", s.Delay, "s", false)
	if s.Delay > (maxDelay-1)*s.Dt {
		errs = append(errs, fmt.Errorf("kalman: delay: %g s, want at most %d periods", s.Delay, maxDelay-1))
	}
	if s.Every[0] < 1 || s.Every[0] > maxEvery {
		errs = append(errs, fmt.Errorf("kalman: a position every %d ticks, want 1 to %d: without it nothing can be estimated", s.Every[0], maxEvery))
	}
	if s.Every[1] < -1 || s.Every[1] > maxEvery {
		errs = append(errs, fmt.Errorf("kalman: a current every %d ticks, want 1 to %d, or −1 for none", s.Every[1], maxEvery))
	}
	return errors.Join(errs...)
}

// Reset puts the shaft at rest at theta (rad), without current and without torque, and forgets the past.
func (k *Kalman) Reset(theta float64) {
	k.x = [nMax]float64{XPos: theta}
	k.past = [maxDelay + 2]float64{}
	k.p = [nMax * nMax]float64{}
	k.ok, k.nis, k.used = 0, 0, 0
	k.age = [2]int{1, 1}
	if !k.s.Varying && k.steadyP[0] > 0 {
		k.p = k.steadyP
		return
	}
	// what is not known at rest: a slow drift, the brush current, any torque the motor can hold with one ampere
	sd := [nMax]float64{XPos: k.s.PositionNoise, XVel: 1, XCur: 0.5, XTorque: k.s.Motor.K, XBias: 0.1}
	for i := range k.n {
		k.p[i*k.n+i] = sd[i] * sd[i]
	}
}

// Set puts the shaft at theta (rad), turning at omega (rad/s) with the current i (A), keeps the torque, and forgets the
// rest of the past: the way to go on after a gap across which nothing can be predicted.
func (k *Kalman) Set(theta, omega, i float64) {
	torque := k.x[XTorque]
	k.Reset(theta)
	k.x[XVel], k.x[XCur], k.x[XTorque] = omega, i, torque
}

// Step takes the samples y = [position rad, current A] of this tick, fresh or not, and the voltage u (V) that was applied
// since the tick before, and writes the estimate for now to xhat = [θ, ω, i, T] and, if there is room and an offset is
// estimated, b. A sample or voltage that is not finite is left out and reported.
func (k *Kalman) Step(y [2]float64, fresh [2]bool, u float64, xhat []float64) engine.Status {
	st := engine.OK
	if math.IsNaN(u) || math.IsInf(u, 0) {
		u, st = k.ok, engine.NonFinite
	}
	k.ok = u
	copy(k.past[1:k.lag+2], k.past[:k.lag+1])
	k.past[0] = u

	// to the time of the sample: the voltage changes once on the way, δ after the start
	k.head.step(k, &k.x, k.past[k.lag+1])
	k.tail.step(k, &k.x, k.past[k.lag])
	if k.s.Varying {
		k.spread(&k.whole)
	}

	// the samples that arrived
	mask := 0
	for j := range y {
		if fresh[j] && (math.IsNaN(y[j]) || math.IsInf(y[j], 0)) {
			fresh[j], st = false, engine.NonFinite
		}
		if fresh[j] {
			mask |= 1 << j
		}
	}
	if k.s.Varying {
		k.correct(y, mask)
	} else {
		k.correctSteady(y, mask)
	}
	for i := range k.n {
		if math.IsNaN(k.x[i]) || math.IsInf(k.x[i], 0) {
			theta := 0.0
			if fresh[0] {
				theta = y[0]
			}
			k.Reset(theta)
			st = engine.NonFinite
			break
		}
	}

	// to the present
	x := k.x
	k.head.step(k, &x, k.past[k.lag])
	for j := k.lag - 1; j >= 0; j-- {
		k.whole.step(k, &x, k.past[j])
	}
	copy(xhat, x[:k.n])
	return st
}

// NIS is the normalised innovation squared of the last step and the number of samples in it: its mean is that number when
// the noise levels are right.
func (k *Kalman) NIS() (value float64, samples int) { return k.nis, k.used }

// StdDevs writes the standard deviations of what Step last wrote to xhat, in the same order and units. Not for the tick:
// with a delay it propagates the covariance.
func (k *Kalman) StdDevs(dst []float64) {
	c := *k // the covariance walks ahead in a copy
	c.spread(&c.head)
	for range c.lag {
		c.spread(&c.whole)
	}
	for i := range min(len(dst), c.n) {
		dst[i] = math.Sqrt(max(0, c.p[i*c.n+i]))
	}
}
