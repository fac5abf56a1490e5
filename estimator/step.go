package estimator

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Step takes the samples of the tick with the deadline t (ns), before which skip ticks were left out, and writes the estimate for t to x,
// in the order of Signals. engine.NotConverged: the estimate may not be acted on, see Sound; engine.NonFinite: it was no number any
// more, and begins anew.
func (a *Axis) Step(t int64, skip uint32, in *Inputs, x []float64) (st engine.Status) {
	a.driven = in.Driven
	a.sent.add(in.Command, 1+skip)
	a.outcome = Outcome{}
	for g := range a.times {
		if s := a.sample(t, g, in); s != engine.OK {
			st = s
		}
	}
	if st == engine.OK && !a.kf.Sound() {
		st = engine.NotConverged
	}

	// from the newest sample to now
	now := in.Position.Age // of one group, the device's own word
	if a.outcome.Came {
		a.newest = t - int64(now*1e9)
	} else if own := float64(t-a.newest) * 1e-9; a.kf.Primed() && own > now+1e-6 {
		now = own // frames of its device came that bring nothing of the axis
	}
	if len(a.times) > 1 {
		now = a.past.age(t)
	}
	a.age = now + a.kf.Unseen()
	a.out = a.kf.x
	if a.kf.Primed() && now < farthest*a.every {
		a.carry(a.out[:], now, 0, a.emf(&a.out))
	}
	if !numeric.Finite(a.out[XPos] + a.out[XVel] + a.out[XCur] + a.out[XTorque]) { // a command that is no number
		st, a.out = engine.NonFinite, a.kf.x
	}
	a.write(&a.out, x)
	return st
}

// sample takes what came of a group.
func (a *Axis) sample(t int64, g int, in *Inputs) engine.Status {
	e, fresh := event{group: g}, false
	for _, q := range a.s.Groups[g].Of {
		s := in.Of(q)
		if !s.Fresh {
			continue
		}
		if !Timed(s.Age) {
			a.outcome.Refused[q] = true
			continue
		}
		if q == a.input {
			if e.measured = a.bearable(s.Value); e.measured {
				e.u = a.effort(s.Value)
				a.outcome.Taken[q] = true
			}
			a.outcome.Refused[q] = !e.measured && numeric.Finite(s.Value)
			fresh = fresh || !a.electrical || len(a.times) > 1 // in a single frame it comes with the position
		} else {
			e.y[q], e.fresh[q] = s.Value, true
			fresh = true
		}
		e.age = s.Age
	}
	if !fresh {
		return engine.OK
	}
	return a.take(t, &e)
}

// bearable tells whether a measured input can be: a number, and of an effort at most twice what the drive gives.
func (a *Axis) bearable(v float64) bool {
	m, ok := a.kf.model.(*mechanical)
	return numeric.Finite(v) && (!ok || m.top == 0 || math.Abs(a.effort(v)) <= 2*m.top+sure*m.noise)
}

// effort is the input that a sample of it means.
func (a *Axis) effort(v float64) float64 {
	if a.input == Current {
		return a.s.PerAmpere * v
	}
	return v
}

// take brings the filter to an event and corrects it there.
func (a *Axis) take(t int64, e *event) (st engine.Status) {
	times, several := &a.times[e.group], len(a.times) > 1
	first := times.period == 0
	e.dt, e.lost = times.advance(t-int64(e.age*1e9), a.s.Groups[e.group].Every)
	e.at, e.idle, e.emf = times.t, !a.driven, a.emf(&a.out)
	if e.dt <= 0 && !(several && first) { // the clock of the samples jumped back
		a.Reset()
	}
	if e.fresh[Position] {
		a.kf.SetTiming(math.Sqrt(times.off2) * 1e-9)
	}
	before := a.past.newest()
	i, ok := a.past.insert(e)
	if !ok {
		for q, came := range e.fresh {
			a.outcome.Refused[q] = a.outcome.Refused[q] || came
		}
		return engine.OK
	}
	// a measured input says what acted since the one before
	from := i
	if several && e.measured {
		for from > 0 && !a.past.at(from-1).measured {
			from--
		}
		if from == 0 && a.past.full() { // none is kept
			from = i
		}
	}
	if several && from < a.past.n-1 {
		a.kf.belief = belief{}
		if from > 0 {
			a.kf.belief = a.past.at(from - 1).then
		}
	}
	for j := from; j < a.past.n; j++ {
		p := a.past.at(j)
		a.predict(t, j)
		taken, jumped, s := a.kf.Correct(&p.y, &p.fresh)
		if several {
			p.then = a.kf.belief
		}
		if s != engine.OK {
			st = s
		}
		a.outcome.Jumped = a.outcome.Jumped || jumped
		if j == i {
			for q := range taken {
				a.outcome.Taken[q] = a.outcome.Taken[q] || taken[q]
				a.outcome.Refused[q] = p.fresh[q] && !taken[q] && numeric.Finite(p.y[q]) && (a.kf.primed || !several)
			}
		}
	}
	a.outcome.Came = true
	if !several {
		a.outcome.Passed = e.dt
	} else if before > 0 {
		a.outcome.Passed += max(0, (a.past.newest()-before)*1e-9)
	}
	if e.group == a.group[Position] {
		x := &a.kf.x
		if several {
			x = &a.past.at(i).then.x
		}
		a.regress(e, x)
	}
	return st
}

// predict carries the filter to event j of the past, under the input that acted since the one before.
func (a *Axis) predict(t int64, j int) {
	e := &a.past.at(j).event
	from, to, dt := e.age+e.dt, e.age, e.dt
	if len(a.times) > 1 {
		if j == 0 {
			return // nothing is known before
		}
		before := a.past.at(j - 1)
		from, to = (float64(t)-before.at)*1e-9, (float64(t)-e.at)*1e-9
		if dt = from - to; dt == 0 {
			return
		}
	}
	if e.idle && a.electrical {
		a.kf.Predict(dt, e.emf, math.Abs(e.emf))
		return
	}
	var next, last *event
	if a.group[a.input] >= 0 {
		next, last = a.past.measured(j)
	}
	switch {
	case next != nil && !next.lost && a.electrical: // the device's own word
		a.kf.Predict(dt, next.u, 0)
	case next != nil && last != nil && !a.electrical && !(next.lost && a.commanded(e)):
		u := func(at float64) float64 { return last.u + (next.u-last.u)*(at-last.at)/(next.at-last.at) }
		u0, u1 := u(e.at-dt*1e9), u(e.at)
		a.kf.predictRamp(dt, (u0+u1)/2, u1-u0, 0)
	case a.electrical || a.commanded(e):
		doubt := 0.0
		if next != nil && a.electrical {
			doubt = a.sent.beyond(next.u, from)
		}
		a.sent.between(from, to, a.every, func(dt, u float64) { a.kf.Predict(dt, a.scale()*u, doubt) })
	default:
		a.kf.Predict(dt, a.held(next, last), 0)
	}
}

// commanded tells whether the effort is that of the commands.
func (a *Axis) commanded(e *event) bool { return a.s.PerCommand != 0 && !e.idle }

// held is a measured effort that is all that is known; 0 where none is.
func (a *Axis) held(next, last *event) float64 {
	switch {
	case last != nil:
		return last.u
	case next != nil:
		return next.u
	}
	return 0
}

// scale is the input per unit of command.
func (a *Axis) scale() float64 {
	if a.electrical {
		return 1
	}
	return a.s.PerCommand
}

// emf is the voltage (V) of a winding that nothing drives. It may be open, as it is with most drives, or shorted: then it is zero.
func (a *Axis) emf(x *vector) float64 {
	if m, ok := a.kf.model.(*electrical); ok {
		return m.motor.K * x[XVel]
	}
	return 0
}

// carry takes a state from one time to a later one, both in s ago, under the input that acted; emf (V) is that of a winding that
// nothing drives.
func (a *Axis) carry(x []float64, from, to, emf float64) {
	switch {
	case a.driven && (a.electrical || a.s.PerCommand != 0): // a tick that woke late may have a sample from after its time
		a.sent.between(from, to, a.every, func(dt, u float64) { a.kf.Ahead(x, dt, a.scale()*u) })
	case a.electrical:
		a.kf.Ahead(x, from-to, emf)
	default:
		a.kf.Ahead(x, from-to, a.held(nil, a.past.lastMeasured()))
	}
}
