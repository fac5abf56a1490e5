package contact

import (
	"fmt"
	"math"
)

// level is the gap at which a contact opened, where that is below zero: it closes again there.
type level struct {
	id  uint32
	gap float64
}

// happen counts the event that locate found, settles it and begins the next smooth motion.
func (e *EventDriven) happen() error {
	e.Events++
	for _, c := range e.causes {
		switch c.kind {
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
		return e.fail(fmt.Errorf("%w: %d", ErrMaxEvents, e.opt.MaxEvents), e.causeIDs()...)
	}
	if e.T-e.stormT > stormTime {
		e.stormT, e.stormN = e.T, 0
	}
	if e.stormN++; e.stormN > stormEvents {
		return e.fail(fmt.Errorf("%w: %d in %.3g s, the last %v", ErrStorm, e.stormN, e.T-e.stormT, e.what.kind), e.causeIDs()...)
	}
	return e.settle()
}

func (e *EventDriven) causeIDs() (ids []uint32) {
	for _, c := range e.causes {
		ids = append(ids, c.id)
	}
	return ids
}

// caused tells whether the present event is of this kind at this contact.
func (e *EventDriven) caused(kind EventKind, id uint32) bool {
	for _, c := range e.causes {
		if c.kind == kind && c.id == id {
			return true
		}
	}
	return false
}

// settle goes from the state at T to the next smooth motion: projections, impacts, forces.
func (e *EventDriven) settle() error {
	const rounds = 20
	e.was = append(e.was[:0], e.sm.held...)
	for range rounds {
		if err := e.collide(); err != nil {
			return err
		}
		again, err := e.decide()
		if err != nil {
			return err
		}
		if !again {
			return e.begin()
		}
	}
	return e.fail(fmt.Errorf("%w: %d impulses in a row", ErrNoForces, rounds), e.heldIDs()...)
}

// collide makes impacts until no contact of I_S closes, and puts I_N and I_H to rest.
func (e *EventDriven) collide() error {
	const rounds = 100
	s, u := e.sm, e.x[e.f:]
	for round := 0; ; round++ {
		if err := e.look(); err != nil {
			return err
		}
		e.set.close(s.set, e.was)
		if len(e.set.s) > e.opt.MaxClosed {
			return e.fail(fmt.Errorf("%w: %d closed, MaxClosed is %d", ErrFull, len(e.set.s), e.opt.MaxClosed), e.ids(e.set.s)...)
		}
		for _, i := range e.set.s {
			if g := s.set.Gap[i]; !(g > -1e3*e.opt.TolGap) {
				return e.fail(fmt.Errorf("%w by %g m", ErrPenetration, -g), s.set.ID[i])
			}
		}
		if round == 0 {
			// drift since the last event is no impact
			if err := e.calm(e.kept()); err != nil {
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
	e.set.rest(s.set, u, e.was)
	stops := e.set.h
	for _, i := range e.set.n {
		if e.caused(Stopping, s.set.ID[i]) && !among(stops, i) {
			stops = append(stops, i)
		}
	}
	e.set.h = stops
	if err := e.calm(e.set.n, e.set.h); err != nil {
		return err
	}
	return e.putBack()
}

// kept lists the contacts held until now whose feature is still the same, and those of them that stick.
func (e *EventDriven) kept() (n, h []int32) {
	n, h = e.nKept[:0], e.hKept[:0]
	for _, i := range e.set.s {
		k := find(e.was, e.sm.set.ID[i])
		if k < 0 || e.sm.set.Feature[i] != e.was[k].feature {
			continue
		}
		if n = append(n, i); e.was[k].sigma == 0 && e.was[k].mu > 0 {
			h = append(h, i)
		}
	}
	e.nKept, e.hKept = n, h
	return n, h
}

// impact solves a collision of I_S whose fastest approach is fast.
func (e *EventDriven) impact(fast float64) error {
	s, u := e.sm, e.x[e.f:]
	s.chosen = append(s.chosen[:0], e.set.s...)
	if !s.free(e.T, e.x[:e.f], u) {
		return e.fail(ErrMass)
	}
	s.project()
	n := len(s.chosen)
	w := 2 * n
	v, p, after, laws := e.v[:w], e.p[:w], e.w[:w], e.laws[:n]
	s.rates(u, v)
	plastic := fast <= e.opt.VTh
	for k, i := range s.chosen {
		laws[k] = s.set.Law[i]
		id := s.set.ID[i]
		if v[2*k] < -e.opt.TolV {
			if t, ok := e.last[id]; ok && e.T-t < e.opt.TChatter {
				laws[k].EpsN = 0
			}
			e.last[id] = e.T
		}
	}
	solve := func() (ImpactResult, error) {
		if plastic {
			for k := range laws {
				laws[k].EpsN = 0
			}
		}
		r := e.im.Solve(s.g[:w*w], v, laws, p)
		if r.Status == Unsolved {
			return r, e.fail(ErrNoImpulses, e.ids(s.chosen)...)
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
		for k := range s.chosen {
			leaves = max(leaves, after[2*k])
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
	return nil
}

// calm changes u, weighted by the masses, so that the contacts of n are at rest along the normal and those of h along the tangent.
func (e *EventDriven) calm(n, h []int32) error {
	if len(n) == 0 {
		return nil
	}
	s, u := e.sm, e.x[e.f:]
	if !e.constrain(n, h) {
		return e.fail(ErrMass)
	}
	s.rates(u, e.v[:2*len(s.chosen)])
	e.correct(e.v, u)
	return nil
}

// putBack changes q, weighted by the masses, so that the gaps of I_N are zero.
func (e *EventDriven) putBack() error {
	s := e.sm
	far := 0.0
	for _, i := range e.set.n {
		far = max(far, math.Abs(s.set.Gap[i]))
	}
	if far == 0 {
		return nil
	}
	if !e.constrain(e.set.n, nil) {
		return e.fail(ErrMass)
	}
	for k, i := range s.chosen {
		e.v[2*k], e.v[2*k+1] = s.set.Gap[i], 0
	}
	e.correct(e.v, e.x[:e.f])
	return e.look()
}

// constrain prepares g for the contacts n, with unknowns for the normals of n and the tangents of h.
func (e *EventDriven) constrain(n, h []int32) bool {
	s := e.sm
	s.chosen = append(s.chosen[:0], n...)
	if !s.free(e.T, e.x[:e.f], e.x[e.f:]) {
		return false
	}
	s.project()
	s.unk = s.unk[:0]
	for k, i := range s.chosen {
		s.unk = append(s.unk, 2*k)
		if among(h, i) {
			s.unk = append(s.unk, 2*k+1)
		}
	}
	return true
}

// correct adds M⁻¹·W·p to y with the p that takes v away.
func (e *EventDriven) correct(v, y []float64) {
	s := e.sm
	n, w := len(s.unk), 2*len(s.chosen)
	for r, i := range s.unk {
		for c, j := range s.unk {
			s.eq.a[r*n+c] = s.g[i*w+j] * s.root[i] * s.root[j]
		}
		s.eq.b[r] = -v[i] * s.root[i]
	}
	s.eq.solve(n, s.sol)
	p := e.p[:w]
	clear(p)
	for c, j := range s.unk {
		p[j] = s.sol[c] * s.root[j]
	}
	s.push(p, y)
}

// decide solves for the forces on I_N and fills held with the contacts that stay. It is true when an impulse was needed instead, after
// which all has to be looked at again.
func (e *EventDriven) decide() (again bool, err error) {
	s, q, u := e.sm, e.x[:e.f], e.x[e.f:]
	s.held = s.held[:0]
	n := len(e.set.n)
	if n == 0 {
		return false, nil
	}
	s.chosen = append(s.chosen[:0], e.set.n...)
	if !s.free(e.T, q, u) {
		return false, e.fail(ErrMass)
	}
	s.project()
	w := 2 * n
	g, b, p, acc := s.g[:w*w], s.b[:w], e.p[:w], e.w[:w]
	s.rates(u, e.v[:w])
	c := e.cor
	c.n = n
	e.wedged = e.wedged[:0]
	for k, i := range s.chosen {
		mu, vt := s.set.Law[i].Mu, e.v[2*k+1]
		c.mu[k], c.base[k], c.side[k] = mu, 0, either
		if among(e.set.h, i) || mu == 0 {
			continue
		}
		sigma := math.Copysign(1, vt)
		c.side[k] = sideOf(sigma)
		if g[2*k*w+2*k]-mu*sigma*g[2*k*w+2*k+1] <= 1e-12*g[2*k*w+2*k] {
			e.wedged = append(e.wedged, int32(k))
		}
	}
	large := c.large
	ok := c.solve(g, b, p).Status.OK()
	e.LargeForms += c.large - large
	if ok {
		product(g, p, b, acc)
		ok = e.holds(c, p, acc)
	}
	if !ok {
		return true, e.stopSliding(c)
	}
	if len(e.wedged) > 0 {
		e.Indeterminate++
	}

	// who stays, and how
	tol := 0.1 * forceBand * s.scale
	for k, i := range s.chosen {
		id := s.set.ID[i]
		if p[2*k] == 0 && (acc[2*k]*s.root[2*k] > tol || e.caused(Detaching, id)) {
			continue
		}
		h := held{id: id, feature: s.set.Feature[i], mu: c.mu[k], at: i}
		switch vt := acc[2*k+1]; {
		case c.side[k] == forward || h.mu == 0:
			h.sigma = 1
		case c.side[k] == backward:
			h.sigma = -1
		case math.Abs(vt)*s.root[2*k+1] > tol:
			h.sigma = math.Copysign(1, vt)
		case e.caused(Slipping, id) && math.Abs(p[2*k+1]) >= c.mu[k]*p[2*k]*(1-1e-12):
			h.sigma = -math.Copysign(1, p[2*k+1])
		}
		if k := find(e.was, id); k >= 0 && e.was[k].sigma == 0 && h.sigma != 0 {
			e.Slips++
		}
		s.held = append(s.held, h)
	}
	return false, nil
}

// holds checks the forces found against the law of each contact.
func (e *EventDriven) holds(c *corner, p, acc []float64) bool {
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

// stopSliding ends what no forces can: sliding contacts with A ≤ 0, or all that slide where it is not for one alone, take an
// impulse that needs no approach. They are given one that is nothing beside their sliding, so that P = 0 is no way out.
func (e *EventDriven) stopSliding(c *corner) error {
	s, u := e.sm, e.x[e.f:]
	n := c.n
	w := 2 * n
	if len(e.wedged) == 0 {
		for k := range n {
			if c.side[k] != either {
				e.wedged = append(e.wedged, int32(k))
			}
		}
	}
	if len(e.wedged) == 0 {
		return e.fail(ErrNoForces, e.ids(s.chosen)...)
	}
	v, p, laws := e.v[:w], e.p[:w], e.laws[:n]
	for k, i := range s.chosen {
		laws[k] = Law{Mu: s.set.Law[i].Mu}
	}
	for _, k := range e.wedged {
		v[2*k] -= 1e-9 * math.Abs(v[2*k+1])
	}
	r := e.jams.Solve(s.g[:w*w], v, laws, p)
	moved := false
	for _, pi := range p {
		moved = moved || pi != 0
	}
	if r.Status == Unsolved || !moved {
		return e.fail(ErrNoForces, e.ids(s.chosen)...)
	}
	e.Inconsistent++
	e.ImpactLoss -= r.Gain
	s.push(p, u)
	return nil
}

// begin starts the smooth motion with the contacts in held.
func (e *EventDriven) begin() error {
	s, q, u := e.sm, e.x[:e.f], e.x[e.f:]
	if err := e.look(); err != nil {
		return err
	}
	e.levels = e.levels[:0]
	for i := range s.set.N {
		if g := s.set.Gap[i]; g < 0 && find(s.held, s.set.ID[i]) < 0 {
			e.levels = append(e.levels, level{s.set.ID[i], g})
		}
	}
	if !s.keep(e.T, q, u) {
		return e.fail(ErrNoForces, e.heldIDs()...)
	}
	// forces that the mode itself gives may not be those that were found: contacts that share them
	e.byLCP = false
	e.measure(e.T, e.x, true, e.a)
	for k := range s.held {
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

// stuck tells whether the integrator may have failed because a sliding contact comes close to A = 0.
func (e *EventDriven) stuck() bool {
	s := e.sm
	e.wedged = e.wedged[:0]
	if len(s.held) == 0 {
		return false
	}
	e.T = e.dp.T
	copy(e.x, e.dp.X)
	if s.look(e.T, e.x[:e.f], e.x[e.f:], e.opt.Reach); !s.keep(e.T, e.x[:e.f], e.x[e.f:]) && len(s.chosen) < len(s.held) {
		return false
	}
	w := 2 * len(s.held)
	for k, h := range s.held {
		gnn := s.g[2*k*w+2*k]
		if h.sigma != 0 && gnn-h.mu*h.sigma*s.g[2*k*w+2*k+1] <= 1e-3*gnn {
			e.wedged = append(e.wedged, int32(k))
		}
	}
	return len(e.wedged) > 0
}

// jam is stopSliding for the contacts that stuck found.
func (e *EventDriven) jam() error {
	s, c := e.sm, e.cor
	c.n = len(s.held)
	for k, h := range s.held {
		c.side[k] = sideOf(h.sigma)
	}
	s.rates(e.x[e.f:], e.v[:2*c.n])
	return e.stopSliding(c)
}

// ids are the numbers of contacts by their places.
func (e *EventDriven) ids(places []int32) (ids []uint32) {
	for _, i := range places {
		ids = append(ids, e.sm.set.ID[i])
	}
	return ids
}

func among(list []int32, i int32) bool {
	for _, x := range list {
		if x == i {
			return true
		}
	}
	return false
}
