package axis

import (
	"math"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// Lag is the time (s) by which the estimated friction follows a change of the true one, on average. For a friction that is a random walk of
// q (N·m/√s) on an inertia J whose position is measured with white noise of r (rad·√s), the stationary filter factorises
//
//	1 + q²/(J²·r²·ω⁶)
//
// so its poles are those of a Butterworth low-pass of third order with the corner ω0 = (q/(J·r))^⅓, which lags by 2/ω0; between
// samples the estimate stands. A measured speed makes the lag shorter, a noisy voltage without a measured current longer. 0 where no
// friction is estimated.
func (a *Axis) Lag() float64 {
	walk := a.s.Mechanical.Walk
	if a.s.Drive == plant.VoltageDrive {
		walk = a.s.Kalman.TorqueWalk
	}
	if a.layout.friction < 0 {
		return 0
	}
	return 2*math.Cbrt(a.s.Motor.J*a.est.PositionNoise()*math.Sqrt(a.s.SamplePeriod)/walk) + (a.s.SamplePeriod-a.s.Tick)/2
}

// Dynamics are the estimated acceleration (rad/s²) and friction (N·m) under the estimate x: the acceleration is that of the filter where
// it is a state, else what the newest known effort leaves beside friction. Without an inertia there is no friction to tell, and it is 0.
func (a *Axis) Dynamics(in *estimator.Inputs, x []float64) (acceleration, friction float64) {
	if a.layout.friction < 0 {
		return x[2], 0 // behind position and velocity
	}
	friction = x[a.layout.friction]
	push := 0.0
	switch {
	case a.layout.current >= 0:
		push = a.s.Motor.K * x[a.layout.current]
	case a.s.measured(estimator.Effort):
		push = in.Effort.Value
	case a.s.measured(estimator.Current):
		push = a.s.Motor.K * in.Current.Value
	default:
		push = a.s.effort(in.Command)
	}
	return (push - friction) / a.s.Motor.J, friction
}
