package estimator

import "math"

// screen remembers the samples that were refused.
type screen struct {
	positionAge      float64 // s    since a position was taken
	odd              int     // positions refused in a row that agree with one another
	rejectedPosition float64 // rad  the newest of them
	rejectedTime     float64 // s    since, then
	unheard          float64 // s    since a velocity was taken
}

const (
	sigmaFactor = 10 // standard deviations within which a sample is never wild
	agreeing    = 5  // refused positions in a row that agree are a new position
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
	if k.s.screened {
		t, speed := g.positionAge, math.Abs(k.x[XVel])
		noise := sigmaFactor * math.Sqrt(k.p[XPos][XPos]+k.s.r[0])
		if math.Abs(y-k.x[XPos]) > noise+(speed+min(k.acceleration(&k.x)*t, k.s.topSpeed))*t {
			near := sigmaFactor*k.PositionNoise() + k.s.topSpeed*(t-g.rejectedTime)
			if g.odd > 0 && math.Abs(y-g.rejectedPosition) > near {
				g.odd = 0
			}
			g.odd, g.rejectedPosition, g.rejectedTime = g.odd+1, y, t
			return g.odd == agreeing, g.odd == agreeing
		}
	}
	*g = screen{unheard: g.unheard}
	return true, false
}

// admitVelocity tells whether an axis can have come to the velocity y (rad/s or m/s) since one was taken: within ten standard
// deviations of the innovation and what the largest acceleration gives, and not faster than the top speed.
func (k *Kalman) admitVelocity(y float64) bool {
	if k.s.screened {
		r := k.variance(2, min(math.Abs(y), k.s.topSpeed))
		noise := sigmaFactor * math.Sqrt(k.p[XVel][XVel]+r)
		if math.Abs(y-k.x[XVel]) > noise+k.acceleration(&k.x)*k.screen.unheard || math.Abs(y) > k.s.topSpeed+sigmaFactor*math.Sqrt(r) {
			return false
		}
	}
	k.screen.unheard = 0
	return true
}
