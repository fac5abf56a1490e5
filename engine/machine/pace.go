package machine

import (
	"math"

	"hilrig/engine/multibody"
)

// pace divides the steps of a machine with loops. Along the way on which loops lead it, the mean speed of a step of h is short by θ²/12, θ
// the angle by which the velocities turn: the machine lags behind by turning·h³. That is little but where loops are nearly flat: there the
// way bends within a few hundredths of a radian. A step is divided until its parts lag together by no more than a step of the same length
// that turns as paceTurning says, whatever that length is: halving steps divides the errors by four. Near a flat position little grows: a
// machine that came near one is followed as closely everywhere from then on. One that never does pays nothing. What is missed before a flat
// position grows behind it: where the way of a machine of one degree of freedom leads over one, or nearly, and where one is met, it lags by
// no more than flatTurning says, from the start on. The midpoint rule also lags where the speed changes and the way does not bend, as that
// of a parallelogram: paceSpeed divides it further.
type pace struct {
	leadsOverFlat bool    // its way leads over a flat position, or nearly
	nearFlat      bool    // it has been near a flat position
	turning       float64 // rad/s³, m/s³
	angle         float64 // rad  by which the velocities turned in the last part
	distance      float64 // rad, m  of the last part
	speed         float64 // rad/s, m/s  at its end
	step          float64 // s  the step under way
	remaining     float64 // s  of it
}

const (
	paceTurning = 1    // rad/s³, m/s³: 1e-9 rad in a step of 1 ms
	flatTurning = 2e-4 // rad/s³, m/s³: the same where the way leads over one, or nearly
	flatAngle   = 0.1  // rad  angle from a flat position over which a way leads nearly
	paceFlat    = 0.5  // rad  angle from a flat position that is near
	paceApart   = 0.07 // share of the time to or from a flat position that a part may take
	paceParts   = 32   // at most
	paceSpeed   = 5    // rad/s, m/s  where the way leads over one, or nearly: a part more for each of them
	paceShort   = 2e-5 // s  away from flat positions no part is shorter
	paceMost    = 2e-7 // rad, m  lag of a part near a flat position that is followed however the way bends
	paceTurn    = 0.12 // rad  angle up to which a part near a flat position can be trusted
	paceEnergy  = 0.05 // share of the kinetic energy that a part near a flat position may miss to be given back
	paceNear    = 5    // ways of a part from a flat position that are near it
)

// note takes the velocities before and after a part of h (s).
func (p *pace) note(h float64, v, v1 []float64) {
	var square, before, product float64
	for i, x := range v1 {
		square += x * x
		before += v[i] * v[i]
		product += x * v[i]
	}
	p.turning, p.angle, p.speed, p.distance = 0, 0, math.Sqrt(square), h*math.Sqrt(square)
	if before > 0 && square > 0 {
		across := max(0, square-product/before*product)
		p.angle = math.Atan2(math.Sqrt(across), product/math.Sqrt(before))
		p.turning = across / (12 * math.Sqrt(square) * h * h)
	}
}

// part is how long the next part of a step may be of which left (s) is to be gone, at an angle from a flat position that is apart (s) from
// here (0: none).
func (p *pace) part(left, angle, apart float64) float64 {
	turning := float64(paceTurning)
	if p.leadsOverFlat = p.leadsOverFlat || angle <= flatAngle; p.leadsOverFlat {
		turning = flatTurning
	}
	if p.nearFlat = p.nearFlat || p.leadsOverFlat || angle <= paceFlat; !p.nearFlat {
		return left
	}
	if p.remaining <= 0 {
		p.step = left
	}
	h := p.step
	n := math.Ceil(math.Sqrt(p.turning / turning))
	if angle > paceFlat {
		n = min(n, math.Ceil(h/paceShort))
	}
	if p.leadsOverFlat {
		n = max(n, math.Ceil(p.speed/paceSpeed))
	}
	if apart > 0 {
		n = max(n, math.Ceil(h/(paceApart*apart)))
	}
	d := h / min(max(1, n), paceParts)
	return left / math.Ceil(left/d*(1-1e-9))
}

// pass takes a part of h (s).
func (p *pace) pass(h, left float64) {
	if p.remaining = left - h; p.remaining < 1e-9*p.step {
		p.remaining = 0
	}
}

// doubtful tells whether the machine bent too much in the last part to be followed, at an angle from a flat position.
func (p *pace) doubtful(angle float64) bool {
	return p.angle > paceTurn && angle < paceNear*p.distance && p.angle*p.angle*p.distance > 12*paceMost
}

// turnsTooFar notes how the part of h (s) from the velocities v to v1 went.
func (s *Stepper) turnsTooFar(h float64, v []float64) bool {
	if !s.paced {
		return false
	}
	s.pace.note(h, v, s.v1)
	return !s.crossing.Active() && s.pace.doubtful(s.crossing.Angle())
}

// bend lengthens the mean speeds of a part of h (s) by what the midpoint rule lags behind an arc, where the constraints turn the velocities
// by 2x: tan x = h/2·|a⊥|/|w| in the metric of the masses. Their mean is cos x of the speed, the chord is sin x/x of the arc: tan x/x in all.
func (s *Stepper) bend(h float64) {
	m := s.M
	kinetic := func(v []float64) float64 {
		multibody.Velocities(m.Model, m.Data, s.qm, v)
		k, _ := multibody.Energy(m.Model, m.Data, s.qm, v)
		return 2 * k
	}
	aa, ww := kinetic(s.a), kinetic(s.meanSpeeds)
	for i, a := range s.a {
		s.total[i] = s.meanSpeeds[i] + h*a
	}
	aw := (kinetic(s.total) - ww - h*h*aa) / (2 * h)
	if across := (aa*ww - aw*aw) / (ww * ww); across > 0 && !math.IsInf(across, 1) {
		turn := h / 2 * math.Sqrt(across)
		x := math.Atan(turn)
		for i := range s.meanSpeeds {
			s.meanSpeeds[i] *= turn / x
		}
	}
}
