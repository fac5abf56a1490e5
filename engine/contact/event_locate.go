package contact

import "math"

// locate looks for events in the last step and moves T and x to the first of them, or to the end of the step.
func (e *EventDriven) locate() Event {
	d := e.dp
	for part := 1; part <= sampleParts; part++ {
		end := d.T
		if part < sampleParts {
			end = d.StepStart + float64(part)/sampleParts*(d.T-d.StepStart)
		}
		for e.a.t < end {
			t := end
			e.reach(t)
			for n := 0; n < sampleHalvings && e.samplesTooSparse(); n++ {
				half := 0.5 * (e.a.t + t)
				if !(half > e.a.t && half < t) {
					break
				}
				t = half
				e.reach(t)
			}
			for e.scan() {
			}
			if len(e.foundCauses) > 0 {
				return e.narrowEvent()
			}
			e.a, e.b = e.b, e.a
		}
	}
	e.T = d.T
	copy(e.x, d.X)
	// a is the sample at T
	ev := e.newEvent(NoEvent, 0)
	for _, i := range e.a.heldPlace {
		ev.drift = ev.drift || i >= 0 && math.Abs(e.a.gap[i]) > 0.1*e.opt.TolGap
	}
	return ev
}

// newEvent is an event at T with nothing in it yet, in the room of the last one.
func (e *EventDriven) newEvent(kind EventKind, id uint32) Event {
	return Event{T: e.T, Kind: kind, ID: id, Causes: e.event.Causes[:0], Impulses: e.event.Impulses[:0]}
}

// reach measures b at t.
func (e *EventDriven) reach(t float64) {
	e.dp.At(t, e.buf)
	if t == e.dp.T {
		copy(e.buf, e.dp.X)
	}
	e.measure(t, e.buf, true, e.b)
}

// samplesTooSparse tells whether an open gap changes so much between a and b that it may have been closed in between. A body that turns
// in free flight is smooth for the integrator, whose steps may be longer than its turns: where the change of a gap is not that of its
// rates, the samples are too far apart; so they are where bodies close to each other move further between them than a contact is found
// for sure, and where a gap turns from closing to opening so that it may have been closed. Nor may a contact that is listed at one end
// alone be on its way through the surface: corners that turn come and go, and one that is deep inside may be listed over another edge or
// not at all.
func (e *EventDriven) samplesTooSparse() bool {
	a, b := e.a, e.b
	h := b.t - a.t
	if e.swp != nil {
		if _, _, share := e.swp.Overrun(h); share > 1 {
			return true
		}
	}
	for j, id := range a.id {
		if a.gap[j] > 0 && a.gap[j]+a.rate[j]*h < -e.opt.TolGap && b.place(id, j) < 0 && find(e.sm.heldContacts, id) < 0 {
			return true
		}
	}
	for i, id := range b.id {
		if find(e.sm.heldContacts, id) >= 0 {
			continue
		}
		j := a.place(id, i)
		if j < 0 {
			if min(b.gap[i], b.gap[i]-b.rate[i]*h) < -e.opt.TolGap {
				return true
			}
			continue
		}
		ga, gb, ra, rb := a.gap[j], b.gap[i], a.rate[j], b.rate[i]
		off := math.Abs(gb - ga - 0.5*(ra+rb)*h)
		low := min(ga, gb)
		if ra < 0 && rb > 0 {
			if low = min(low, ga+ra*(gb-ga-rb*h)/(ra-rb)); ga > 0 && gb > 0 && low < -e.opt.TolGap {
				return true
			}
		}
		if off < max(0.05*(math.Abs(ra)+math.Abs(rb))*h, e.opt.TolGap) {
			continue
		}
		if low < 2*off {
			return true
		}
	}
	return false
}

// scan lists what has happened between the samples a and b. It is true when b has moved to the bottom of a gap that was below zero between
// them: all is to be looked at again.
func (e *EventDriven) scan() bool {
	a, b := e.a, e.b
	e.foundCauses = e.foundCauses[:0]
	add := func(kind EventKind, id uint32, k int) {
		if tr := (Cause{kind, id, k}); e.happened(tr, b) {
			e.foundCauses = append(e.foundCauses, tr)
		}
	}
	for i, id := range b.id {
		if find(e.sm.heldContacts, id) >= 0 {
			continue
		}
		add(Closing, id, -1)
		// a gap that closed and opened again: the tangents at both ends meet below zero
		if j := a.place(id, i); j >= 0 && a.gap[j] > 0 && b.gap[i] > 0 && a.rate[j] < 0 && b.rate[i] > 0 {
			h, ra, rb := b.t-a.t, a.rate[j], b.rate[i]
			s := (b.gap[i] - a.gap[j] - rb*h) / (ra - rb)
			if a.gap[j]+ra*s < 0 && e.dips(id, a.t+h*ra/(ra-rb)) {
				return true
			}
		}
	}
	for k, h := range e.sm.heldContacts {
		add(Kinking, h.id, k)
		add(Detaching, h.id, k)
		add(Slipping, h.id, k)
		add(Stopping, h.id, k)
	}
	if len(e.sm.heldContacts) > 0 {
		add(Sharing, e.sm.heldContacts[0].id, 0)
	}
	return false
}

// dips looks at t, close to the bottom of a gap; where that is deep enough to count, b moves there.
func (e *EventDriven) dips(id uint32, t float64) bool {
	e.at(t, true)
	if !e.happened(Cause{Closing, id, -1}, e.probe) {
		return false
	}
	e.b, e.probe = e.probe, e.b
	return true
}

// at measures probe at t.
func (e *EventDriven) at(t float64, forces bool) {
	e.dp.At(t, e.buf)
	e.measure(t, e.buf, forces, e.probe)
}

// narrowEvent finds the earliest of the events found and goes there; those that have happened by then are its causes.
func (e *EventDriven) narrowEvent() Event {
	end, what := e.b.t, e.foundCauses[0]
	for _, tr := range e.foundCauses {
		if end < e.b.t {
			e.at(end, tr.Kind != Closing)
			if !e.happened(tr, e.probe) {
				continue
			}
		}
		if t := e.first(tr, end); t < end || end == e.b.t {
			end, what = t, tr
		}
	}
	e.T = end
	e.dp.At(end, e.x)
	if end == e.dp.T {
		copy(e.x, e.dp.X)
	}
	e.at(end, true)
	ev := e.newEvent(what.Kind, what.ID)
	for _, tr := range e.foundCauses {
		if tr == what || e.happened(tr, e.probe) {
			ev.Causes = append(ev.Causes, tr)
		}
	}
	return ev
}

// first is the time between sample a and tb at which an event, known to have happened at tb, is first known to have happened.
func (e *EventDriven) first(tr Cause, tb float64) float64 {
	ta, va := e.a.t, e.value(tr, e.a)
	forces := tr.Kind != Closing
	if tr.Kind == Closing && (va <= 0 || e.a.place(tr.ID, 0) < 0) {
		// a contact that has just opened: somewhere in a short flight its gap is positive
		t, flies := tb, false
		for range 50 {
			t = ta + 0.5*(t-ta)
			e.at(t, false)
			if i := e.probe.place(tr.ID, 0); i >= 0 && e.probe.gap[i] > 0 {
				ta, va, flies = t, e.probe.gap[i], true
				break
			}
		}
		if !flies {
			return e.bisect(tr, ta, tb)
		}
	}
	// regula falsi with Illinois weights, halving where it is slow
	e.at(tb, forces)
	vb := e.value(tr, e.probe)
	if vb >= 0 {
		return e.bisect(tr, ta, tb)
	}
	tol := e.tol()
	fa, fb, side, slow, wide := va, vb, 0, 0, tb-ta
	for n := 0; tb-ta > tol && n < 200; n++ {
		t := 0.5 * (ta + tb)
		if slow < 2 {
			t = min(max(ta+(tb-ta)*fa/(fa-fb), ta+0.5*tol), tb-0.5*tol)
		}
		if !(t > ta && t < tb) {
			break
		}
		e.at(t, forces)
		if v := e.value(tr, e.probe); v < 0 {
			if tb, fb = t, v; side > 0 {
				fa /= 2
			}
			side = 1
		} else {
			if ta, fa = t, v; side < 0 {
				fb /= 2
			}
			side = -1
		}
		if slow++; tb-ta <= wide/2 {
			wide, slow = tb-ta, 0
		}
	}
	return tb
}

// bisect halves the time between not passed and passed.
func (e *EventDriven) bisect(tr Cause, ta, tb float64) float64 {
	for tol := e.tol(); tb-ta > tol; {
		t := 0.5 * (ta + tb)
		if !(t > ta && t < tb) {
			break
		}
		if e.at(t, tr.Kind != Closing); e.happened(tr, e.probe) {
			tb = t
		} else {
			ta = t
		}
	}
	return tb
}

// tol is how well times of the last step are found (s).
func (e *EventDriven) tol() float64 {
	ulp := math.Nextafter(math.Abs(e.dp.T), math.Inf(1)) - math.Abs(e.dp.T)
	return max(timeTol*(e.dp.T-e.dp.StepStart), 2*ulp)
}
