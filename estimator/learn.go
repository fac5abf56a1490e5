package estimator

import (
	"math"

	"hilrig/engine/plant"
)

// The recursive least squares bridge lost samples with the model of the filter: as many sampling periods as the filter itself bears, and no
// more than a share of a window. What the model makes of a gap is a motion with its own inertia between two samples; the share of it in the
// inertia that is found goes with the third power of the gap in the window.
const (
	bridgedPeriods = 60
	bridgedShare   = 4 // of a window: 1/4
)

// lessons are what the recursive least squares got last.
type lessons struct {
	motor   plant.Motor // J and K: kg·m² and N·m/A of a motor; of an axis under an effort kg·m² or kg, and effort per unit of its sample
	input   Quantity    // what is sampled with the position: current or effort
	y       [2]float64  // position and current or effort …
	state   vector      // … and the filter's state then
	elapsed float64     // s  since then
	path    []vector    // of the model, from there, a sampling period apart; as long as the least squares bridge
}

// regress feeds the recursive least squares: one sample a sampling period, the filter's state x then, and what its model says of the
// current between two. An effort is a current with K = 1.
func (a *Axis) regress(e *event, x *vector) {
	if a.rls == nil {
		return
	}
	l := &a.rlsInput
	both := a.outcome.Accepted[Position] && a.outcome.Accepted[l.input] && !a.outcome.Jumped
	y := [2]float64{e.y[Position], e.y[Current]}
	if !a.electrical {
		y[1] = e.u / l.motor.K
	}
	l.elapsed += e.dt
	if both {
		current := x[XCur]
		switch m := int(math.Round(l.elapsed / a.s.Groups[e.group].SamplePeriod)); {
		case m < 1 || m >= len(l.path):
			a.rls.Gap()
			a.timing.start(current, y[1], x[XVel])
		case m == 1 && a.timing != nil && (a.electrical || a.commanded(e)):
			current = a.try(e, y[1], x[XVel])
		default:
			current = a.bridge(e, y, m)
			a.timing.start(current, y[1], x[XVel])
		}
		l.y, l.state, l.elapsed = y, *x, 0
		l.state[XCur] = current
	}
	a.rls.Step(y[0], x[XVel], y[1], both)
}

// bridge carries the model from the sample before to y, m sampling periods on, and feeds the m − 1 samples that are missing
// between: the model's path, turned so that it ends in both. It returns the model's current (A) at the end, where the next path begins:
// one that began with the measured current would run off an offset of the sensor each time.
func (a *Axis) bridge(e *event, y [2]float64, m int) float64 {
	l := &a.rlsInput
	path := l.path
	period, from := l.elapsed/float64(m), e.age+l.elapsed
	path[0] = l.state
	for k := 1; k <= m; k++ {
		path[k] = path[k-1]
		switch {
		case a.electrical && e.measured && m == 1 && a.driveActive:
			a.kf.Extrapolate(path[k][:], period, e.u)
		case a.electrical || a.commanded(e):
			a.carry(path[k][:], from-period*float64(k-1), from-period*float64(k), e.emf)
		default:
			a.kf.Extrapolate(path[k][:], period, l.motor.K*line(l.y[1], y[1], float64(k)-0.5, m))
		}
	}
	if !a.electrical { // no current in the state: it steps with the commands, or runs straight
		for k := range m + 1 {
			if path[k][XCur] = line(l.y[1], y[1], float64(k), m); a.commanded(e) {
				path[k][XCur] = a.s.PerCommand * a.commands.at(from-period*float64(k)) / l.motor.K
			}
		}
	}
	at := func(k, j int, first, last float64) float64 {
		w := float64(k) / float64(m)
		return first + w*(last-first) + path[k][j] - path[0][j] - w*(path[m][j]-path[0][j])
	}
	for k := 1; k <= m; k++ {
		a.rls.Bow(bowBetween(l.motor, path[k-1][:], path[k][:], period), nil)
		if k < m {
			a.rls.Step(at(k, XPos, l.y[0], y[0]), path[k][XVel], at(k, XCur, l.y[1], y[1]), true)
		}
	}
	return path[m][XCur]
}

// try feeds the least squares with the bows up to e, a sample behind the one before, of everything that the timing of commands may be. It
// returns the model's current (A) at the end.
func (a *Axis) try(e *event, current, speed float64) float64 {
	l, t := &a.rlsInput, a.timing
	inertia := a.rls.inertia(l.motor.J)
	for k, delay := range t.delays {
		from, to := l.state, &l.path[0]
		from[XCur] = t.model[k]
		*to = from
		before, now := e.age+l.elapsed+delay, e.age+delay
		a.carry(to[:], before, now, e.emf)
		if a.commanded(e) && !a.electrical {
			from[XCur], to[XCur] = a.s.PerCommand*a.commands.at(before)/l.motor.K, a.s.PerCommand*a.commands.at(now)/l.motor.K
		}
		// the speed of the path bends as that of an axis with the inertia of the model, and ends where the model takes it
		bend := t.emf * (1 - l.motor.J/inertia) * ((to[XPos]-from[XPos])/l.elapsed - (from[XVel]+to[XVel])/2)
		b := bowBetween(l.motor, from[:], to[:], l.elapsed)
		t.bows[k], t.nextModel[k] = Bow{b.Fall + bend/2, b.Rise + bend/2}, to[XCur]+t.emf*(to[XVel]-speed)
	}
	t.compare(current-t.current, t.nextModel)
	t.hold(current, speed, l.motor.K/inertia)
	a.rls.Bow(Bow{}, t.bows)
	return t.model[1]
}

// line is at k of m on the way from one value to another.
func line(from, to, k float64, m int) float64 { return from + (to-from)*k/float64(m) }
