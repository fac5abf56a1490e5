package contact

import (
	"math"
	"slices"
)

// EventKind is what ends a smooth motion.
type EventKind uint8

const (
	NoEvent   EventKind = iota
	Closing             // g_N of an open contact → 0
	Detaching           // λ_N of a held contact → 0
	Slipping            // |λ_T| of a sticking contact → μ·λ_N
	Stopping            // ġ_T of a sliding contact → 0
	Kinking             // another feature under a held contact, or the end of it
	Sharing             // redundant contacts: the forces of all of them ask for another mode
	Jamming             // a sliding contact close to where no forces exist, see Painlevé's cases
)

var eventKindNames = [...]string{"none", "closing", "detaching", "slipping", "stopping", "kinking", "sharing", "jamming"}

func (k EventKind) String() string { return eventKindNames[k] }

// Event is what ended a smooth motion, and the impulses of the impacts it brought: several of one contact when one impact leads to
// the next.
type Event struct {
	T           float64 // s
	Kind        EventKind
	ID          uint32  // the contact that came first
	Causes      []Cause // all that had happened by then, the first included
	Impulses    []ContactForce
	HasImpulses bool // the impulses are in place

	wedged []int32 // Jamming: places in held
	drift  bool    // held contacts have left their surface by a tenth of what counts as closed
}

// Cause is what happened at one contact. A function of the motion belongs to it whose sign says that it has.
type Cause struct {
	Kind EventKind
	ID   uint32
	k    int // place in held, −1 for an open contact
}

// hasCause tells whether the event is of this kind at this contact.
func (ev Event) hasCause(kind EventKind, id uint32) bool {
	return slices.ContainsFunc(ev.Causes, func(c Cause) bool { return c.Kind == kind && c.ID == id })
}

// ids are the contacts concerned.
func (ev Event) ids() (ids []uint32) {
	for _, c := range ev.Causes {
		ids = append(ids, c.ID)
	}
	return ids
}

const (
	// each step is looked at in so many places
	sampleParts = 4
	// and where gaps change too much between two of them, in the middle, over and over
	sampleHalvings = 40
	// forces count as beyond an edge by this share of those that act
	forceBand = 1e-9
	// and velocities are known to this share of TolV
	roundingRate = 1e-4
	// times are found to this share of a step, or to two units in the last place
	timeTol = 1e-13
)

// sample is everything that events look at, at one time.
type sample struct {
	t         float64
	id        []uint32
	gap       []float64
	rate      []float64
	heldPlace []int32 // of each held contact
	feature   []int32
	detach    []float64 // λ_N plus the band
	limit     []float64 // μ·λ_N − |λ_T| plus the band
	stop      []float64 // σ·ġ_T + TolT
	share     float64   // negative: forces of redundant contacts ask for another mode
}

// place is the index of a contact, first where it was last time, or −1.
func (s *sample) place(id uint32, hint int) int {
	if hint < len(s.id) && s.id[hint] == id {
		return hint
	}
	return slices.Index(s.id, id)
}

// measure fills s at t with the state x; forces says whether those of held contacts are wanted.
func (e *EventDriven) measure(t float64, x []float64, forces bool, s *sample) {
	sm := e.sm
	q, u := x[:e.f], x[e.f:]
	sm.findContacts(t, q, u, e.opt.Reach)
	s.t = t
	s.id, s.gap, s.rate = s.id[:0], s.gap[:0], s.rate[:0]
	for i := range sm.set.N {
		vn, _ := sm.set.Rate(i, u)
		gap := sm.set.Gap[i]
		for _, l := range e.levels {
			if l.id == sm.set.ID[i] {
				gap -= l.gap
			}
		}
		s.id, s.gap, s.rate = append(s.id, sm.set.ID[i]), append(s.gap, gap), append(s.rate, vn)
	}
	s.heldPlace, s.feature, s.share = s.heldPlace[:0], s.feature[:0], 1
	s.detach, s.limit, s.stop = s.detach[:0], s.limit[:0], s.stop[:0]
	if !forces || len(sm.heldContacts) == 0 {
		return
	}
	ok := sm.runInSet(t, q, u)
	there := true
	for _, h := range sm.heldContacts {
		s.heldPlace, s.feature = append(s.heldPlace, h.place), append(s.feature, 0)
		k := len(s.heldPlace) - 1
		there = there && h.place >= 0
		if h.place >= 0 {
			s.feature[k] = sm.set.Feature[h.place]
		}
		detach, limit, stop := 1.0, 1.0, 1.0
		if h.place >= 0 && h.sigma != 0 && h.mu > 0 {
			_, vt := sm.set.Rate(int(h.place), u)
			stop = h.sigma*vt + e.opt.TolT
		}
		if ok && !sm.short && !e.byLCP {
			// a contact without mass in one direction has no band there
			n, t := sm.lam[2*k], sm.lam[2*k+1]
			detach = n + forceBand*sm.scale*sm.root[2*k]
			if h.sigma == 0 {
				limit = h.mu*n - math.Abs(t) + forceBand*sm.scale*max(sm.root[2*k], sm.root[2*k+1])
			}
		}
		s.detach, s.limit, s.stop = append(s.detach, detach), append(s.limit, limit), append(s.stop, stop)
	}
	switch {
	case !there: // a kink comes first
	case !ok:
		s.share = -1
	case sm.short || e.byLCP:
		s.share = -1
		if e.solveAllForces() {
			s.share = forceBand - e.deviation()
		}
	}
}

// solveAllForces solves for all forces of the held contacts with their signs of sliding, to p.
func (e *EventDriven) solveAllForces() bool {
	sm, c := e.sm, e.heldCorner()
	w := 2 * c.n
	_, ok := c.solve(sm.g[:w*w], sm.b[:w], e.p[:w])
	return ok
}

// heldCorner is the problem of the held contacts, with their signs of sliding.
func (e *EventDriven) heldCorner() *corner {
	e.cor.n = len(e.sm.heldContacts)
	for k, h := range e.sm.heldContacts {
		e.cor.set(k, h.mu, sideOf(h.sigma))
	}
	return e.cor
}

// deviation is how far the accelerations with the forces p are from those of the mode, as a share of those that act.
func (e *EventDriven) deviation() (d float64) {
	sm := e.sm
	w := 2 * len(sm.heldContacts)
	if sm.scale == 0 {
		return 0
	}
	product(sm.g[:w*w], e.p[:w], sm.b[:w], e.w[:w])
	for k, h := range sm.heldContacts {
		d = max(d, math.Abs(e.w[2*k])*sm.root[2*k])
		if h.sigma == 0 && h.mu > 0 {
			d = max(d, math.Abs(e.w[2*k+1])*sm.root[2*k+1])
		}
	}
	return d / sm.scale
}

// value is the function of a cause, negative after the event.
func (e *EventDriven) value(tr Cause, s *sample) float64 {
	switch tr.Kind {
	case Closing:
		if i := s.place(tr.ID, 0); i >= 0 {
			return s.gap[i]
		}
		return 1
	case Detaching:
		return s.detach[tr.k]
	case Slipping:
		return s.limit[tr.k]
	case Stopping:
		return s.stop[tr.k]
	case Kinking:
		if s.heldPlace[tr.k] < 0 || s.feature[tr.k] != e.sm.heldContacts[tr.k].feature {
			return -1
		}
		return 1
	case Sharing:
		return s.share
	}
	return 1
}

// happened tells whether an event has happened at s. A gap below zero counts when it closes, by more than rounding, or is deep: a body that
// slides past a corner may touch what is beside it by less than anything counts.
func (e *EventDriven) happened(tr Cause, s *sample) bool {
	if tr.Kind == Closing {
		i := s.place(tr.ID, 0)
		return i >= 0 && s.gap[i] < 0 && (s.rate[i] < -roundingRate*e.opt.TolV || s.gap[i] < -hysteresis*e.opt.TolGap)
	}
	return e.value(tr, s) < 0
}
