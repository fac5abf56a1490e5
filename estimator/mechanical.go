package estimator

import (
	"errors"
	"math"
)

// MechanicalSpec describes the filter of an axis whose effort is known or, without Inertia, of one that nothing known drives. Units are
// those of a rotary axis or, in brackets, of a linear one.
type MechanicalSpec struct {
	Dt            float64 // s                from sample to sample as a rule
	Inertia       float64 // kg·m² (kg)       with the load; 0: the effort is not known, and the third state is the acceleration
	Count         float64 // rad (m)          one encoder count; used when PositionNoise is 0
	PositionNoise float64 // rad (m)          standard deviation of the position; 0: Count/√12
	VelocityNoise float64 // rad/s (m/s)      standard deviation of the velocity at rest; 0: none is measured
	VelocityShare float64 // 1                … of a moving axis: this share of the velocity comes to it
	EffortNoise   float64 // N·m (N)          standard deviation of the effort, fresh every Dt
	Walk          float64 // N·m/√s (N/√s)    random walk of friction and load; of the acceleration (per √s) without Inertia
	TopEffort     float64 // N·m (N)          the drive gives no more; 0: not known, no sample of an axis with Inertia is refused
	TopSpeed      float64 // rad/s (m/s)      the axis moves no faster; 0: not known, no sample is refused
}

// mechanical is the model of an axis under an effort u, x = [θ ω · T]; the place of the current is empty:
//
//	θ' = ω,  ω' = (u − T)/J,  T' = noise        or, without J,        θ' = ω,  ω' = a,  a' = noise
//
// Its transition is a polynomial of the interval: any is exact, for an effort that changes along a straight line.
type mechanical struct {
	input, state     float64 // 1/J and −1/J, or 0 and 1: what effort and third state do to ω'
	walk2            float64 // walk squared
	maxEffort, noise float64 // N·m or N
}

// NewMechanicalKalman checks the description.
func NewMechanicalKalman(s MechanicalSpec) (*Kalman, error) {
	s.fill()
	err := errors.Join(above0("kalman: period", s.Dt, "s"), above0("kalman: position noise (or the size of a count)", s.PositionNoise, ""),
		atLeast0("kalman: velocity noise", s.VelocityNoise, ""), atLeast0("kalman: share of velocity noise", s.VelocityShare, ""),
		atLeast0("kalman: inertia", s.Inertia, ""), above0("kalman: walk", s.Walk, ""),
		atLeast0("kalman: effort noise", s.EffortNoise, ""), atLeast0("kalman: top effort", s.TopEffort, ""),
		atLeast0("kalman: top speed", s.TopSpeed, ""))
	if err != nil {
		return nil, err
	}
	m := new(mechanical)
	m.set(&s)
	return &Kalman{model: m, s: s.limits()}, nil
}

// fill puts in what follows from other numbers.
func (s *MechanicalSpec) fill() {
	if s.PositionNoise == 0 {
		s.PositionNoise = s.Count / math.Sqrt(12)
	}
}

// set takes the numbers of a description.
func (m *mechanical) set(s *MechanicalSpec) {
	*m = mechanical{state: 1, walk2: s.Walk * s.Walk, maxEffort: s.TopEffort, noise: s.EffortNoise}
	if s.Inertia > 0 {
		m.input, m.state = 1/s.Inertia, -1/s.Inertia
	}
}

// limits of the filter.
func (s *MechanicalSpec) limits() limits {
	// any speed and acceleration that axes have, where no limit is known
	speed, third := 1000.0, 1e5 // per s, per s²
	if s.TopSpeed > 0 {
		speed = s.TopSpeed
	}
	if s.Inertia > 0 {
		third *= s.Inertia
		if s.TopEffort > 0 {
			third = s.TopEffort
		}
	}
	return limits{dt: s.Dt, position: s.PositionNoise, inputNoise: s.EffortNoise * s.EffortNoise * s.Dt, topSpeed: s.TopSpeed,
		share:    s.VelocityShare,
		screened: s.TopSpeed > 0 && (s.TopEffort > 0 || s.Inertia == 0),
		r:        [nY]float64{0: s.PositionNoise * s.PositionNoise, 2: s.VelocityNoise * s.VelocityNoise},
		prior:    vector{XPos: s.PositionNoise, XVel: speed, XTorque: third}}
}

func (m *mechanical) move(x *vector, dt, u, rise float64) {
	a := m.input*u + m.state*x[XTorque]
	// the second integral of a slope that is antisymmetric about the middle: −rise·dt²/12
	x[XPos] += dt * (x[XVel] + dt*(a/2-m.input*rise/12))
	x[XVel] += dt * a
}

func (m *mechanical) predict(x *vector, p *matrix, dt, u, rise, white float64) {
	m.move(x, dt, u, rise)
	// P ← Φ·P·Φᵀ, Φ = [1 h c; 0 1 b; 0 0 1]
	h, b := dt, m.state*dt
	c := b * h / 2
	pp, pv, pt, vv, vt, tt := p[XPos][XPos], p[XPos][XVel], p[XPos][XTorque], p[XVel][XVel], p[XVel][XTorque], p[XTorque][XTorque]
	pp += 2*(h*pv+c*pt) + h*h*vv + 2*h*c*vt + c*c*tt
	pv += b*pt + h*(vv+b*vt) + c*(vt+b*tt)
	pt += h*vt + c*tt
	vv += 2*b*vt + b*b*tt
	vt += b * tt
	// the walk of the third state and the white noise of the input, integrated
	w, n := m.walk2*h, m.input*m.input*white*h
	pp += w*c*c/5 + n*h*h/3
	pv += w*b*c/4 + n*h/2
	pt += w * c / 3
	vv += w*b*b/3 + n
	vt += w * b / 2
	tt += w
	p[XPos][XPos], p[XVel][XVel], p[XTorque][XTorque] = pp, vv, tt
	p[XPos][XVel], p[XVel][XPos] = pv, pv
	p[XPos][XTorque], p[XTorque][XPos] = pt, pt
	p[XVel][XTorque], p[XTorque][XVel] = vt, vt
}

func (m *mechanical) extrapolate(x *vector, dt, u float64) { m.move(x, dt, u, 0) }

// acceleration by the full effort of the drive and all of the load; an axis that nothing known drives may have any.
func (m *mechanical) acceleration(x *vector) float64 {
	if m.input == 0 {
		return math.Inf(1)
	}
	return m.input * (m.maxEffort + math.Abs(x[XTorque]))
}
