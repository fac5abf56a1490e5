package contact

import (
	"fmt"
	"math"
	"slices"
)

// collide makes impacts until no contact of I_S closes, and puts I_N and I_H to rest.
func (e *EventDriven) collide(ev Event) error {
	const rounds = 100
	s, u := e.sm, e.x[e.f:]
	for round := 0; ; round++ {
		if err := e.findContacts(); err != nil {
			return err
		}
		e.set.close(s.set, e.heldBefore)
		if n := len(e.set.s); e.opt.MaxClosed == 0 && n > len(e.laws) {
			e.room(2 * n)
		} else if n > len(e.laws) {
			return e.fail(fmt.Errorf("%w: %d closed, MaxClosed is %d", ErrFull, len(e.set.s), e.opt.MaxClosed), e.ids(e.set.s)...)
		}
		for _, i := range e.set.s {
			if g := s.set.Gap[i]; !(g > -1e3*e.opt.TolGap) {
				return e.fail(fmt.Errorf("%w by %g m", ErrPenetration, -g), s.set.ID[i])
			}
		}
		if round == 0 {
			// drift since the last event is no impact
			if err := e.stopMotion(e.keptContacts()); err != nil {
				return err
			}
		}
		fast := 0.0
		for _, i := range e.set.s {
			vn, _ := s.set.Rate(int(i), u)
			fast = max(fast, -vn)
		}
		if fast <= e.opt.TolV {
			break
		}
		if round == rounds {
			return e.fail(fmt.Errorf("%w: %d impacts in a row", ErrNoImpulses, rounds), e.ids(e.set.s)...)
		}
		if err := e.impact(fast); err != nil {
			return err
		}
	}
	e.set.rest(s.set, u, e.heldBefore)
	stops := e.set.h
	for _, i := range e.set.n {
		if ev.hasCause(Stopping, s.set.ID[i]) && !slices.Contains(stops, i) {
			stops = append(stops, i)
		}
	}
	e.set.h = stops
	if err := e.stopMotion(e.set.n, e.set.h); err != nil {
		return err
	}
	return e.putBack()
}

// keptContacts lists the contacts held until now whose feature is still the same, and those of them that stick.
func (e *EventDriven) keptContacts() (n, h []int32) {
	n, h = e.nKept[:0], e.hKept[:0]
	for _, i := range e.set.s {
		k := find(e.heldBefore, e.sm.set.ID[i])
		if k < 0 || e.sm.set.Feature[i] != e.heldBefore[k].feature {
			continue
		}
		if n = append(n, i); e.heldBefore[k].sigma == 0 && e.heldBefore[k].mu > 0 {
			h = append(h, i)
		}
	}
	e.nKept, e.hKept = n, h
	return n, h
}

// impact solves a collision of I_S whose fastest approach is fast.
func (e *EventDriven) impact(fast float64) error {
	s, u := e.sm, e.x[e.f:]
	if err := e.choose(e.set.s); err != nil {
		return err
	}
	n := len(s.selected)
	w := 2 * n
	v, p, after, laws := e.v[:w], e.p[:w], e.w[:w], e.laws[:n]
	s.rates(u, v)
	plastic := fast <= e.opt.VTh
	for k, i := range s.selected {
		laws[k] = s.set.Law[i]
		id := s.set.ID[i]
		if v[2*k] < -e.opt.TolV {
			if t, ok := e.lastImpact[id]; ok && e.T-t < e.opt.TChatter && (e.T-t)*-v[2*k] < 10*e.opt.TolGap {
				laws[k].EpsN, laws[k].EpsT = 0, 0
			}
			e.lastImpact[id] = e.T
		}
	}
	solve := func() (ImpactResult, error) {
		if plastic {
			for k := range laws {
				laws[k].EpsN, laws[k].EpsT = 0, 0
			}
		}
		r := e.im.Solve(s.g[:w*w], v, laws, p)
		if r.Status == Unsolved {
			return r, e.fail(ErrNoImpulses, e.ids(s.selected)...)
		}
		product(s.g[:w*w], p, v, after)
		return r, nil
	}
	r, err := solve()
	if err != nil {
		return err
	}
	// when no pair parts fast enough to be followed, all stay together
	if !plastic {
		leaves := 0.0
		for k := range s.selected {
			leaves = max(leaves, after[2*k]-max(v[2*k], 0))
		}
		if plastic = leaves < e.opt.VChatter; plastic {
			if r, err = solve(); err != nil {
				return err
			}
		}
	}
	e.Impacts++
	if plastic {
		e.Plastic++
	}
	if r.Status == Lowered {
		e.Lowered++
	}
	e.ImpactLoss -= r.Gain
	s.push(p, u)
	e.remember(p)
	if plastic {
		return e.settleRocking(after)
	}
	return nil
}

// settleRocking puts contacts to rest that an impact without rebound sends off slower than VChatter; after are the velocities it leaves.
// Otherwise a body may rock between two contacts for ever, since the stop of one lifts the other. The forces decide who parts.
func (e *EventDriven) settleRocking(after []float64) error {
	rest, off := e.nKept[:0], false
	for k, i := range e.sm.selected {
		if v := after[2*k]; v < e.opt.VChatter {
			rest, off = append(rest, i), off || v > e.opt.TolV
		}
	}
	if e.nKept = rest; !off {
		return nil
	}
	return e.stopMotion(rest, nil)
}

// remember keeps the impulses p of the chosen contacts.
func (e *EventDriven) remember(p []float64) {
	set := e.sm.set
	for k, i := range e.sm.selected {
		if n, t := p[2*k], p[2*k+1]; n > 0 {
			e.event.Impulses = append(e.event.Impulses, set.force(int(i), n, t))
		}
	}
}

// stopMotion changes u, weighted by the masses, so that the contacts of n are at rest along the normal and those of h along the tangent.
func (e *EventDriven) stopMotion(n, h []int32) error {
	if len(n) == 0 {
		return nil
	}
	s, u := e.sm, e.x[e.f:]
	if err := e.constrain(n, h); err != nil {
		return err
	}
	s.rates(u, e.v[:2*len(s.selected)])
	e.correct(e.v, u)
	return nil
}

// putBack changes q, weighted by the masses, so that the gaps of I_N are zero. A system may list its contacts in another order after
// that: their places are looked up again.
func (e *EventDriven) putBack() error {
	s := e.sm
	far := 0.0
	for _, i := range e.set.n {
		far = max(far, math.Abs(s.set.Gap[i]))
	}
	if far == 0 {
		return nil
	}
	if err := e.constrain(e.set.n, nil); err != nil {
		return err
	}
	for k, i := range s.selected {
		e.v[2*k], e.v[2*k+1] = s.set.Gap[i], 0
	}
	e.correct(e.v, e.x[:e.f])
	e.idsN, e.idsH = s.idsOf(e.set.n, e.idsN[:0]), s.idsOf(e.set.h, e.idsH[:0])
	if err := e.findContacts(); err != nil {
		return err
	}
	e.set.n, e.set.h = s.placesOf(e.idsN, e.set.n[:0]), s.placesOf(e.idsH, e.set.h[:0])
	return nil
}

// constrain prepares g for the contacts n, with unknowns for the normals of n and the tangents of h.
func (e *EventDriven) constrain(n, h []int32) error {
	if err := e.choose(n); err != nil {
		return err
	}
	s := e.sm
	s.unk = s.unk[:0]
	for k, i := range s.selected {
		s.unk = append(s.unk, 2*k)
		if slices.Contains(h, i) {
			s.unk = append(s.unk, 2*k+1)
		}
	}
	return nil
}

// choose prepares acc, g and b at T for the contacts at these places.
func (e *EventDriven) choose(places []int32) error {
	s := e.sm
	s.selected = append(s.selected[:0], places...)
	if !s.lin.Accelerate(e.T, e.x[:e.f], e.x[e.f:], s.acc) {
		return e.fail(ErrMass)
	}
	s.project()
	return nil
}

// correct adds M⁻¹·W·p to y with the p that takes v away.
func (e *EventDriven) correct(v, y []float64) {
	p := e.p[:2*len(e.sm.selected)]
	e.sm.balance(v, nil, p)
	e.sm.push(p, y)
}
