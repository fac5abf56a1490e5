package contact

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine/lcp"
)

// level is the gap at which a contact opened, where that is below zero: it closes again there.
type level struct {
	id  uint32
	gap float64
}

// applyEvent counts an event, settles it and begins the next smooth motion. What has drifted without an event is put back.
func (e *EventDriven) applyEvent(ev Event) error {
	if ev.Kind == NoEvent {
		return e.resolveEvent(ev)
	}
	e.Events++
	for _, c := range ev.Causes {
		switch c.Kind {
		case Closing:
			e.Closings++
		case Detaching:
			e.Detachments++
		case Stopping:
			e.Stops++
		case Kinking:
			e.Kinks++
		case Sharing:
			e.Redundant++
		}
	}
	if e.Events > e.opt.MaxEvents {
		return e.fail(fmt.Errorf("%w: %d", ErrMaxEvents, e.opt.MaxEvents), ev.ids()...)
	}
	if e.T-e.stormT > stormTime {
		e.stormT, e.stormN = e.T, 0
	}
	if e.stormN++; e.stormN > stormEvents {
		return e.fail(fmt.Errorf("%w: %d in %.3g s, the last %v", ErrStorm, e.stormN, e.T-e.stormT, ev.Kind), ev.ids()...)
	}
	if ev.Kind == Jamming {
		if err := e.jam(ev.wedged); err != nil {
			return err
		}
	}
	return e.resolveEvent(ev)
}

// resolveEvent goes from the state at T, behind an event, to the next smooth motion: projections, impacts, forces.
func (e *EventDriven) resolveEvent(ev Event) error {
	const rounds = 20
	e.heldBefore = append(e.heldBefore[:0], e.sm.heldContacts...)
	for range rounds {
		if err := e.collide(ev); err != nil {
			return err
		}
		again, err := e.decide(ev)
		if err != nil {
			return err
		}
		if !again {
			return e.begin()
		}
	}
	return e.fail(fmt.Errorf("%w: %d impulses in a row", ErrNoForces, rounds), e.heldIDs()...)
}

// decide solves for the forces on I_N and fills held with the contacts that stay. It is true when an impulse was needed instead, after
// which all has to be looked at again.
func (e *EventDriven) decide(ev Event) (again bool, err error) {
	s := e.sm
	s.heldContacts = s.heldContacts[:0]
	n := len(e.set.n)
	if n == 0 {
		return false, nil
	}
	if err := e.choose(e.set.n); err != nil {
		return false, err
	}
	w := 2 * n
	g, b, p, acc := s.g[:w*w], s.b[:w], e.p[:w], e.w[:w]
	s.rates(e.x[e.f:], e.v[:w])
	c := e.cor
	c.n = n
	wedged := e.wedged[:0]
	for k, i := range s.selected {
		mu, vt := s.set.Law[i].Mu, e.v[2*k+1]
		c.set(k, mu, lcp.Either)
		if slices.Contains(e.set.h, i) || mu == 0 {
			continue
		}
		sigma := math.Copysign(1, vt)
		c.set(k, mu, sideOf(sigma))
		if g[2*k*w+2*k]-mu*sigma*g[2*k*w+2*k+1] <= 1e-12*g[2*k*w+2*k] {
			wedged = append(wedged, int32(k))
		}
	}
	_, ok := c.solve(g, b, p)
	if ok {
		product(g, p, b, acc)
		ok = e.admissible(c, p, acc)
	}
	if !ok {
		return true, e.stopSliding(c, wedged)
	}
	if len(wedged) > 0 {
		e.Indeterminate++
	}

	// who stays, and how
	tol := 0.1 * forceBand * s.scale
	for k, i := range s.selected {
		id := s.set.ID[i]
		if p[2*k] == 0 && (acc[2*k]*s.root[2*k] > tol || ev.hasCause(Detaching, id)) {
			continue
		}
		h := held{id: id, feature: s.set.Feature[i], mu: c.mu[k], place: i}
		switch vt := acc[2*k+1]; {
		case c.bound[k].Side == lcp.Forward || h.mu == 0:
			h.sigma = 1
		case c.bound[k].Side == lcp.Backward:
			h.sigma = -1
		case math.Abs(vt)*s.root[2*k+1] > tol:
			h.sigma = math.Copysign(1, vt)
		case ev.hasCause(Slipping, id) && math.Abs(p[2*k+1]) >= c.mu[k]*p[2*k]*(1-1e-12):
			h.sigma = -math.Copysign(1, p[2*k+1])
		}
		if k := find(e.heldBefore, id); k >= 0 && e.heldBefore[k].sigma == 0 && h.sigma != 0 {
			e.Slips++
		}
		s.heldContacts = append(s.heldContacts, h)
	}
	return false, nil
}

// admissible checks the forces found against the law of each contact.
func (e *EventDriven) admissible(c *corner, p, acc []float64) bool {
	const tol = 1e-7
	s := e.sm
	for k := range c.n {
		an := acc[2*k] * s.root[2*k]
		if !(an >= -tol*s.scale) || p[2*k] > 0 && an > tol*(s.scale+p[2*k]/max(s.root[2*k], 1e-300)) {
			return false
		}
	}
	return true
}

// begin starts the smooth motion with the contacts in held.
func (e *EventDriven) begin() error {
	s, q, u := e.sm, e.x[:e.f], e.x[e.f:]
	if err := e.findContacts(); err != nil {
		return err
	}
	e.levels, e.knownForces.lam = e.levels[:0], e.knownForces.lam[:0]
	for i := range s.set.N {
		if g := s.set.Gap[i]; g < 0 && find(s.heldContacts, s.set.ID[i]) < 0 {
			e.levels = append(e.levels, level{s.set.ID[i], g})
		}
	}
	if !s.runInSet(e.T, q, u) {
		return e.fail(ErrNoForces, e.heldIDs()...)
	}
	// forces that the mode itself gives may not be those that were found: contacts that share them
	e.byLCP = false
	e.measure(e.T, e.x, true, e.a)
	for k := range s.heldContacts {
		if e.a.detach[k] < 0 || e.a.limit[k] < 0 {
			e.byLCP = true
		}
	}
	if e.byLCP {
		e.measure(e.T, e.x, true, e.a)
	}
	if e.a.share < 0 {
		return e.fail(ErrNoForces, e.heldIDs()...)
	}
	e.dp.Start(e.T, e.x)
	return nil
}

// ids are the numbers of contacts by their places.
func (e *EventDriven) ids(places []int32) []uint32 { return e.sm.idsOf(places, nil) }
