package contact

import (
	"math"

	"hilrig/engine/lcp"
)

// stopSliding ends what no forces can: sliding contacts with A ≤ 0, or all that slide where it is not for one alone, take an
// impulse that needs no approach. They are given one that is nothing beside their sliding, so that P = 0 is no way out.
func (e *EventDriven) stopSliding(c *corner, wedged []int32) error {
	s, u := e.sm, e.x[e.f:]
	n := c.n
	w := 2 * n
	if len(wedged) == 0 {
		for k := range n {
			if c.bound[k].Side != lcp.Either {
				wedged = append(wedged, int32(k))
			}
		}
	}
	if len(wedged) == 0 {
		return e.fail(ErrNoForces, e.ids(s.selected)...)
	}
	v, p, laws := e.v[:w], e.p[:w], e.laws[:n]
	for k, i := range s.selected {
		laws[k] = Law{Mu: s.set.Law[i].Mu}
	}
	for _, k := range wedged {
		v[2*k] -= 1e-9 * math.Abs(v[2*k+1])
	}
	r := e.jams.Solve(s.g[:w*w], v, laws, p)
	moved := false
	for _, pi := range p {
		moved = moved || pi != 0
	}
	if r.Status == Unsolved || !moved {
		return e.fail(ErrNoForces, e.ids(s.selected)...)
	}
	e.Inconsistent++
	e.ImpactLoss -= r.Gain
	s.push(p, u)
	e.remember(p)
	return nil
}

// findWedged lists the held contacts that slide close to A = 0, where the integrator may have failed because of them; it goes back to the
// beginning of the step.
func (e *EventDriven) findWedged() []int32 {
	s := e.sm
	if len(s.heldContacts) == 0 {
		return nil
	}
	e.T = e.dp.T
	copy(e.x, e.dp.X)
	if s.findContacts(e.T, e.x[:e.f], e.x[e.f:], e.opt.Reach); !s.runInSet(e.T, e.x[:e.f], e.x[e.f:]) &&
		len(s.selected) < len(s.heldContacts) {
		return nil
	}
	w, wedged := 2*len(s.heldContacts), e.wedged[:0]
	for k, h := range s.heldContacts {
		gnn := s.g[2*k*w+2*k]
		if h.sigma != 0 && gnn-h.mu*h.sigma*s.g[2*k*w+2*k+1] <= 1e-3*gnn {
			wedged = append(wedged, int32(k))
		}
	}
	return wedged
}

// jam is stopSliding for held contacts.
func (e *EventDriven) jam(wedged []int32) error {
	c := e.heldCorner()
	e.sm.rates(e.x[e.f:], e.v[:2*c.n])
	return e.stopSliding(c, wedged)
}
