package estimator

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Step takes the samples of the tick with the deadline t (ns), before which skip ticks were left out, and writes the estimate for t to x,
// in the order of Signals. engine.NotConverged: the estimate may not be acted on, see Usable; engine.NonFinite: it was no number any
// more, and begins anew.
func (a *Axis) Step(t int64, skip uint32, in *Inputs, x []float64) (st engine.Status) {
	a.driveActive = in.DriveActive
	a.commands.add(in.Command, 1+skip)
	a.outcome = Outcome{}
	for g := range a.times {
		if s := a.sample(t, g, in); s != engine.OK {
			st = s
		}
	}
	if st == engine.OK && !a.kf.Usable() {
		st = engine.NotConverged
	}

	// from the newest sample to now
	now := in.Position.Age // of one group, the device's own word
	if a.outcome.HasSample {
		a.newestTime = t - int64(now*1e9)
	} else if own := float64(t-a.newestTime) * 1e-9; a.kf.Primed() && own > now+1e-6 {
		now = own // frames of its device came that bring nothing of the axis
	}
	if len(a.times) > 1 {
		now = a.history.age(t)
	}
	a.age = now + a.kf.Unseen()
	a.tickState = a.kf.x
	if a.kf.Primed() && now < farthest*a.fastestPeriod {
		a.carry(a.tickState[:], now, 0, a.emf(&a.tickState))
	}
	if !numeric.IsFinite(a.tickState[XPos] + a.tickState[XVel] + a.tickState[XCur] + a.tickState[XTorque]) { // a command that is no number
		st, a.tickState = engine.NonFinite, a.kf.x
	}
	a.write(&a.tickState, x)
	return st
}

// sample takes what came of a group.
func (a *Axis) sample(t int64, g int, in *Inputs) engine.Status {
	e, fresh := event{group: g}, false
	for _, q := range a.s.Groups[g].Quantities {
		s := in.Of(q)
		if !s.Updated {
			continue
		}
		if !Timed(s.Age) {
			a.outcome.Rejected[q] = true
			continue
		}
		if q == a.input {
			if e.measured = a.bearable(s.Value); e.measured {
				e.u = a.effort(s.Value)
				a.outcome.Accepted[q] = true
			}
			a.outcome.Rejected[q] = !e.measured && numeric.IsFinite(s.Value)
			fresh = fresh || !a.electrical || len(a.times) > 1 // in a single frame it comes with the position
		} else {
			e.y[q], e.updated[q] = s.Value, true
			fresh = true
		}
		e.age = s.Age
	}
	if !fresh {
		return engine.OK
	}
	return a.processEvent(t, &e)
}

// bearable tells whether a measured input can be: a number, and of an effort at most twice what the drive gives.
func (a *Axis) bearable(v float64) bool {
	m, ok := a.kf.model.(*mechanical)
	return numeric.IsFinite(v) && (!ok || m.maxEffort == 0 || math.Abs(a.effort(v)) <= 2*m.maxEffort+sigmaFactor*m.noise)
}

// effort is the input that a sample of it means.
func (a *Axis) effort(v float64) float64 {
	if a.input == Current {
		return a.s.PerAmpere * v
	}
	return v
}

// processEvent brings the filter to an event and corrects it there.
func (a *Axis) processEvent(t int64, e *event) (st engine.Status) {
	times, several := &a.times[e.group], len(a.times) > 1
	first := times.period == 0
	e.dt, e.lossBefore = times.advance(t-int64(e.age*1e9), a.s.Groups[e.group].SamplePeriod)
	e.time, e.driveInactive, e.emf = times.t, !a.driveActive, a.emf(&a.tickState)
	if e.dt <= 0 && !(several && first) { // the clock of the samples jumped back
		a.Reset()
	}
	if e.updated[Position] {
		a.kf.SetTiming(math.Sqrt(times.off2) * 1e-9)
	}
	before := a.history.newestTime()
	i, ok := a.history.insert(e)
	if !ok {
		for q, came := range e.updated {
			a.outcome.Rejected[q] = a.outcome.Rejected[q] || came
		}
		return engine.OK
	}
	// a measured input says what acted since the one before
	from := i
	if several && e.measured {
		for from > 0 && !a.history.at(from-1).measured {
			from--
		}
		if from == 0 && a.history.atCapacity() { // none is kept
			from = i
		}
	}
	if several && from < a.history.n-1 {
		a.kf.belief = belief{}
		if from > 0 {
			a.kf.belief = a.history.at(from - 1).belief
		}
	}
	for j := from; j < a.history.n; j++ {
		p := a.history.at(j)
		a.predict(t, j)
		taken, jumped, s := a.kf.Correct(&p.y, &p.updated)
		if several {
			p.belief = a.kf.belief
		}
		if s != engine.OK {
			st = s
		}
		a.outcome.Jumped = a.outcome.Jumped || jumped
		if j == i {
			for q := range taken {
				a.outcome.Accepted[q] = a.outcome.Accepted[q] || taken[q]
				a.outcome.Rejected[q] = p.updated[q] && !taken[q] && numeric.IsFinite(p.y[q]) && (a.kf.primed || !several)
			}
		}
	}
	a.outcome.HasSample = true
	if !several {
		a.outcome.TimeStep = e.dt
	} else if before > 0 {
		a.outcome.TimeStep += max(0, (a.history.newestTime()-before)*1e-9)
	}
	if e.group == a.group[Position] {
		x := &a.kf.x
		if several {
			x = &a.history.at(i).belief.x
		}
		a.regress(e, x)
	}
	return st
}

// predict carries the filter to event j of the past, under the input that acted since the one before.
func (a *Axis) predict(t int64, j int) {
	e := &a.history.at(j).event
	from, to, dt := e.age+e.dt, e.age, e.dt
	if len(a.times) > 1 {
		if j == 0 {
			return // nothing is known before
		}
		before := a.history.at(j - 1)
		from, to = (float64(t)-before.time)*1e-9, (float64(t)-e.time)*1e-9
		if dt = from - to; dt == 0 {
			return
		}
	}
	if e.driveInactive && a.electrical {
		a.kf.Predict(dt, e.emf, math.Abs(e.emf))
		return
	}
	var next, last *event
	if a.group[a.input] >= 0 {
		next, last = a.history.measured(j)
	}
	switch {
	case next != nil && !next.lossBefore && a.electrical: // the device's own word
		a.kf.Predict(dt, next.u, 0)
	case next != nil && last != nil && !a.electrical && !(next.lossBefore && a.commanded(e)):
		u := func(at float64) float64 { return last.u + (next.u-last.u)*(at-last.time)/(next.time-last.time) }
		u0, u1 := u(e.time-dt*1e9), u(e.time)
		a.kf.predictRamp(dt, (u0+u1)/2, u1-u0, 0)
	case a.electrical || a.commanded(e):
		doubt := 0.0
		if next != nil && a.electrical {
			doubt = a.commands.excess(next.u, from)
		}
		a.commands.forEachPiece(from, to, a.fastestPeriod, func(dt, u float64) { a.kf.Predict(dt, a.scale()*u, doubt) })
	default:
		a.kf.Predict(dt, a.knownEffort(next, last), 0)
	}
}

// commanded tells whether the effort is that of the commands.
func (a *Axis) commanded(e *event) bool { return a.s.PerCommand != 0 && !e.driveInactive }

// knownEffort is a measured effort that is all that is known; 0 where none is.
func (a *Axis) knownEffort(next, last *event) float64 {
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
	case a.driveActive && (a.electrical || a.s.PerCommand != 0): // a tick that woke late may have a sample from after its time
		a.commands.forEachPiece(from, to, a.fastestPeriod, func(dt, u float64) { a.kf.Extrapolate(x, dt, a.scale()*u) })
	case a.electrical:
		a.kf.Extrapolate(x, from-to, emf)
	default:
		a.kf.Extrapolate(x, from-to, a.knownEffort(nil, a.history.lastMeasured()))
	}
}
