package reference

import "math"

// Constant is a fixed position, rad.
type Constant float64

// At returns the position, at rest.
func (c Constant) At(float64) (pos, vel, acc float64) { return float64(c), 0, 0 }

// Step jumps from Offset to Offset+Amplitude at t = 0. With a Frequency it is a square wave between the two that stays
// half a period on each. Velocity and acceleration are zero: the pulse of the jump itself is left to the controller.
type Step struct {
	Offset    float64 // rad
	Amplitude float64 // rad
	Frequency float64 // Hz, 0: one step
}

// At returns the motion at t (s).
func (s Step) At(t float64) (pos, vel, acc float64) {
	if s.Frequency > 0 && t > 0 {
		cycles := t * s.Frequency
		if cycles-math.Floor(cycles) >= 0.5 {
			return s.Offset, 0, 0
		}
	}
	return s.Offset + s.Amplitude, 0, 0
}

// Ramp moves with constant velocity for ever.
type Ramp struct {
	Offset   float64 // rad
	Velocity float64 // rad/s
}

// At returns the motion at t (s).
func (r Ramp) At(t float64) (pos, vel, acc float64) {
	t = math.Max(t, 0)
	return r.Offset + r.Velocity*t, r.Velocity, 0
}

// Trapezoid travels a distance with limited speed and acceleration: speed up, cruise, slow down. A travel too short to
// reach the cruising speed becomes a triangle of velocity. With a Frequency it goes forth at the start of each period and
// back at its middle, resting in between; without, it goes once.
type Trapezoid struct {
	offset    float64 // rad
	dir       float64 // ±1
	travel    float64 // rad, ≥ 0
	accel     float64 // rad/s²
	peak      float64 // rad/s, speed that is reached
	rise      float64 // s, time of acceleration and of deceleration
	total     float64 // s, time of one move
	frequency float64 // Hz
}

// NewTrapezoid plans a move over travel (rad, signed) with cruising speed (rad/s) and acceleration (rad/s²), both > 0,
// repeated forth and back with frequency (Hz, 0: once).
func NewTrapezoid(offset, travel, speed, accel, frequency float64) Trapezoid {
	tr := Trapezoid{offset: offset, dir: math.Copysign(1, travel), travel: math.Abs(travel), accel: accel, peak: speed, frequency: frequency}

	// speeding up and slowing down alone cover speed²/accel
	if speed*speed/accel > tr.travel {
		tr.peak = math.Sqrt(accel * tr.travel)
	}
	tr.rise = tr.peak / accel
	cruise := 0.0
	if tr.peak > 0 {
		cruise = math.Max(tr.travel/tr.peak-tr.rise, 0)
	}
	tr.total = 2*tr.rise + cruise
	return tr
}

// Duration is the time of one move, s.
func (tr Trapezoid) Duration() float64 { return tr.total }

// Peak is the speed that the move reaches, rad/s.
func (tr Trapezoid) Peak() float64 { return tr.peak }

// At returns the motion at t (s).
func (tr Trapezoid) At(t float64) (pos, vel, acc float64) {
	t = math.Max(t, 0)
	back := false
	if tr.frequency > 0 {
		period := 1 / tr.frequency
		t -= math.Floor(t*tr.frequency) * period
		if back = t >= period/2; back {
			t -= period / 2
		}
	}
	s, v, a := tr.move(t)
	if back {
		s, v, a = tr.travel-s, -v, -a
	}
	return tr.offset + tr.dir*s, tr.dir * v, tr.dir * a
}

// move is the distance covered at time t of a single move, with its derivatives.
func (tr Trapezoid) move(t float64) (s, v, a float64) {
	left := tr.total - t
	switch {
	case t <= 0:
		return 0, 0, 0
	case left <= 0:
		return tr.travel, 0, 0
	case t < tr.rise:
		return tr.accel * t * t / 2, tr.accel * t, tr.accel
	case left < tr.rise: // mirror image of the start
		return tr.travel - tr.accel*left*left/2, tr.accel * left, -tr.accel
	}
	return tr.peak * (t - tr.rise/2), tr.peak, 0
}
