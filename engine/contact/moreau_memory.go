package contact

import "hilrig/engine/lcp"

// memory keeps how contacts ended by their id: a table with short probing, whose size is a power of two. A contact that finds its places
// taken by others pushes out the one not seen for longest, which costs that one its warm start and nothing else.
type memory struct {
	slot  []ended
	shift uint32 // 32 − log₂ of the size
}

// newMemory has ten places for each of so many contacts, 256 or more.
func newMemory(contacts int) memory {
	m := memory{shift: 24}
	for ; 10*contacts > 1<<(32-m.shift); m.shift-- {
	}
	m.slot = make([]ended, 1<<(32-m.shift))
	return m
}

// ended is a contact at the end of the last step in which it was closed.
type ended struct {
	stamp         int64 // number of that step; 0: a free place
	h             float64
	pn, pt        float64 // N·s
	id            uint32
	state         lcp.State
	hit           bool      // that step had an impact: the impulses are no forces
	blow          bool      // the contact approached faster than forces explain
	positionState lcp.State // of the problem of positions, and its λ (m·kg)
	lambda        float64
}

const memoryProbe = 4

// place is the slot of id, which the contact keeps or takes, and whether it is known there. Probing starts at the upper bits
// of a product with 2³²/golden ratio.
func (m *memory) place(id uint32) (at uint32, known bool) {
	from := id * 2654435769 >> m.shift
	at = from
	for k := range uint32(memoryProbe) {
		i := (from + k) & uint32(len(m.slot)-1)
		e := &m.slot[i]
		if e.stamp != 0 && e.id == id {
			return i, true
		}
		if e.stamp < m.slot[at].stamp {
			at = i
		}
	}
	return at, false
}

// expect is the state and the impulses to try first: those it had, or none and sliding the way the contact comes in.
func (e *ended) expect(known, justNow bool, h, bn, bt float64) (state lcp.State, pn, pt float64) {
	switch {
	case justNow && h == e.h: // nothing to divide
		return e.state, e.pn, e.pt
	case justNow:
		return e.state, h / e.h * e.pn, h / e.h * e.pt
	case known:
		return e.state, 0, 0
	case bn >= 0:
		return lcp.Open, 0, 0
	case bt > 0:
		return lcp.SlipPlus, 0, 0
	case bt < 0:
		return lcp.SlipMinus, 0, 0
	}
	return lcp.Stick, 0, 0
}
