package estimator

import "math"

// screen remembers the positions that were refused.
type screen struct {
	since float64 // s    since a position was taken
	odd   int     // positions refused in a row that agree with one another
	last  float64 // rad  the newest of them
	at    float64 // s    since, then
}

const (
	sure     = 10 // standard deviations within which a sample is never wild
	agreeing = 5  // refused positions in a row that agree are a new position
)

// admit tells whether an axis can have come to the position y (rad). It cannot when y lies further from where it was
// predicted than
//
//	10·√S + min((|ω| + a·t)·t, (|ω| + top)·t),   a = (K·U/R + |T|)/J
//
// with t the time since the last position that was taken and S the variance of the innovation: further than by stopping dead
// and then going with the full torque of the motor and all of the load, at no more than the top speed.
//
// One such sample is a fault of sensor or line. Five in a row that the axis could have made between them are a new position
// (a counter that was reset, a coupling that slipped): jumped.
func (k *Kalman) admit(y float64) (ok, jumped bool) {
	g := &k.screen
	if k.s.TopVoltage > 0 {
		m, t, speed := &k.s.Motor, g.since, math.Abs(k.x[XVel])
		accel := (m.K*k.s.TopVoltage/m.R + math.Abs(k.x[XTorque])) / m.J
		noise := sure * math.Sqrt(k.p[XPos][XPos]+k.r[0])
		if math.Abs(y-k.x[XPos]) > noise+(speed+min(accel*t, k.s.TopSpeed))*t {
			near := sure*k.s.PositionNoise + k.s.TopSpeed*(t-g.at)
			if g.odd > 0 && math.Abs(y-g.last) > near {
				g.odd = 0
			}
			g.odd, g.last, g.at = g.odd+1, y, t
			return g.odd == agreeing, g.odd == agreeing
		}
	}
	*g = screen{}
	return true, false
}

// topCurrent is the largest current (A) that the winding can carry, with supply and back-emf of the top speed in one direction.
func (k *Kalman) topCurrent() float64 {
	m := &k.s.Motor
	return (k.s.TopVoltage+m.K*k.s.TopSpeed)/m.R + sure*k.s.CurrentNoise
}
