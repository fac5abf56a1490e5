package estimator

import (
	"math"

	"hilrig/engine/plant"
)

// bridged is the number of sampling periods that the recursive least squares bridge with the filter's model.
const bridged = 12

// lessons are what the recursive least squares got last.
type lessons struct {
	motor   plant.Motor
	y       [2]float64 // rad, A  position and current …
	at      vector     // … and the filter's state then
	missing float64    // s  since then
}

// regress feeds the recursive least squares: one sample a sampling period, and what the filter's model says of the current between
// two.
func (a *Axis) regress(e *event) {
	if a.rls == nil {
		return
	}
	l, x := &a.lessons, &a.kf.x
	both := a.outcome.Taken[Position] && a.outcome.Taken[Current] && !a.outcome.Jumped
	l.missing += e.dt
	if both {
		current := x[XCur]
		if m := int(math.Round(l.missing / a.every)); m < 1 || m > bridged {
			a.rls.Gap()
		} else {
			current = a.bridge(e, m)
		}
		l.y, l.at, l.missing = [2]float64{e.y[Position], e.y[Current]}, *x, 0
		l.at[XCur] = current
	}
	a.rls.Step(e.y[Position], x[XVel], e.y[Current], both)
}

// bridge carries the model from the sample before to this one, m sampling periods on, and feeds the m − 1 samples that are missing
// between: the model's path, turned so that it ends in both. It returns the model's current (A) at the end, where the next path begins:
// one that began with the measured current would run off an offset of the sensor each time.
func (a *Axis) bridge(e *event, m int) float64 {
	l := &a.lessons
	var path [bridged + 1]vector
	period, from := l.missing/float64(m), e.age+l.missing
	path[0] = l.at
	for k := 1; k <= m; k++ {
		path[k] = path[k-1]
		if e.measured && m == 1 && a.driven {
			a.kf.Ahead(path[k][:], period, e.u)
		} else {
			a.carry(path[k][:], from-period*float64(k-1), from-period*float64(k), e.emf)
		}
	}
	at := func(k, j int, first, last float64) float64 {
		w := float64(k) / float64(m)
		return first + w*(last-first) + path[k][j] - path[0][j] - w*(path[m][j]-path[0][j])
	}
	for k := 1; k <= m; k++ {
		a.rls.Bow(Bow(l.motor, path[k-1][:], path[k][:], period))
		if k < m {
			a.rls.Step(at(k, XPos, l.y[0], e.y[Position]), path[k][XVel], at(k, XCur, l.y[1], e.y[Current]), true)
		}
	}
	return path[m][XCur]
}
