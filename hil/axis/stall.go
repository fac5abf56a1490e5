package axis

import (
	"math"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// stall finds an axis that stands although the torque of its motor must move it: a blocked shaft or, where no current is measured,
// a position that stopped telling, a coupling that slips, a drive that does nothing.
//
// A twin of the axis has the inertia of the model and a Coulomb friction of stallFs times the break-away torque:
//
//	J·v' = push − stallFs·Fs·sgn v
//
// and stands still itself below that. When it has gone stallWay times as far as an axis that stands may give way, within stallFor at
// least, without the axis leaving its place, the axis is blocked. An inertia that is ten times that of the file is still no blocked
// shaft.
//
// The push is what no load explains. A load that the axis carried when it moved last (gravity, a spring, a hand) keeps it in place
// against as much torque; a torque that falls, as at the end of braking, does not push. So the push is the torque beyond the declared
// offset or the torque beyond that load, whichever is smaller; none if they point to different sides.
type stall struct {
	twin
	noise float64 // rad  of the position

	hasPosition bool
	position    float64 // rad  where it stands
	stood       float64 // s    so long
	load        float64 // N·m  mean of what opposed the motion, over the last loadMean of motion …
	newestLoad  float64 // N·m  … but for the newest of it: see frozen
	loadWeight  average // of a sample in it
	pending     float64 // s    since the newest position that was taken
	v, travel   float64 // rad/s, rad  of the twin
	travelTime  float64 // s    it moves
}

// twin is what is known of the axis and of its twin.
type twin struct {
	j, friction, offset float64 // kg·m², N·m, N·m
	gives               float64 // rad  what the contact of an axis that stands gives way
}

// band (rad) is that within which the axis stands.
func (s *stall) band() float64 { return s.gives + 10*s.noise }

const (
	stallFs  = 5   // friction of the twin in units of break-away: that of a real contact varies by a factor of two
	stallWay = 30  // way of the twin in units of the band
	stallFor = 0.1 // s  longer than any delay between command and motion
	loadMean = 0.1 // s
)

// newStall takes the inertia (kg·m²), the friction law and the standard deviation of a position (rad). An axis that stands gives way
// by twice the deflection of its contact to either side.
func newStall(j float64, law friction.Model, noise float64) *stall {
	return &stall{twin: twinOf(j, law), noise: noise}
}

// twinOf is the twin of an axis with this inertia (kg·m²) and law.
func twinOf(j float64, law friction.Model) twin {
	l := law.Levels()
	t := twin{j: j, friction: stallFs * l.Max(), offset: l.Offset}
	if k := law.Stiffness().K; k > 0 {
		t.gives = 4 * l.Max() / k
	}
	return t
}

// forget begins anew, but for the load: the axis may carry it still.
func (s *stall) forget() { s.hasPosition, s.pending = false, 0 }

// step takes a sample: its position (rad), whether that is believed, torque of the motor and load (N·m) as estimated for its time, and
// the time since the sample before (s). It is the verdict so far.
func (s *stall) step(energised, taken bool, theta, torque, load, dt float64) Finding {
	if !energised || !numeric.IsFinite(torque+load) {
		s.hasPosition, s.load, s.newestLoad, s.pending = false, 0, 0, 0
		return Finding{}
	}
	if s.pending += max(0, dt); !taken {
		return Finding{}
	}
	dt, s.pending = s.pending, 0
	s.stood += dt
	if !s.hasPosition || math.Abs(theta-s.position) > s.band() { // it moves
		if s.hasPosition {
			s.load += (s.newestLoad - s.load) * s.loadWeight.weightFor(s.stood, loadMean)
		}
		s.newestLoad = load
		s.hasPosition, s.position, s.stood, s.v, s.travel, s.travelTime = true, theta, 0, 0, 0, 0
		return Finding{}
	}
	push := torque - s.offset
	if p := torque - s.load; p*push <= 0 {
		push = 0
	} else if math.Abs(p) < math.Abs(push) {
		push = p
	}
	v := s.v + dt/s.j*push
	s.v = math.Copysign(max(0, math.Abs(v)-dt/s.j*s.friction), v)
	s.travel += dt * s.v
	if s.v != 0 {
		s.travelTime += dt
	}
	if s.travelTime >= stallFor && math.Abs(s.travel) > stallWay*s.band() {
		// the mean push
		return Finding{Fault: Blocked, Quantity: estimator.Position, Value: math.Copysign(s.friction, s.v) + s.j*s.v/s.travelTime,
			Limit: s.friction}
	}
	return Finding{}
}
