package contact

import "hilrig/engine/lcp"

// memory keeps how contacts ended by their id: a table of fixed size with short probing. A contact that finds its places taken by
// others pushes out the one not seen for longest, which costs that one its warm start and nothing else.
type memory struct {
	slot [memorySlots]ended
}

// ended is a contact at the end of the last step in which it was closed.
type ended struct {
	stamp  int64 // number of that step; 0: a free place
	h      float64
	pn, pt float64 // N·s
	id     uint32
	state  lcp.State
}

const (
	memorySlots = 256 // a power of two
	memoryProbe = 4
)

// place is the slot of id, which the contact keeps or takes, and whether it is known there. Probing starts at the upper bits
// of a product with 2³²/golden ratio.
func (m *memory) place(id uint32) (at uint32, known bool) {
	from := id * 2654435769 >> 24
	at = from
	for k := range uint32(memoryProbe) {
		i := (from + k) % memorySlots
		e := &m.slot[i]
		if e.stamp != 0 && e.id == id {
			return i, true
		}
		if e.stamp < m.slot[at%memorySlots].stamp {
			at = i
		}
	}
	return at, false
}

// expect is the state and the impulses to try first: those it had, or none and sliding the way the contact comes in.
func (e *ended) expect(known, justNow bool, h, bn, bt float64) (state lcp.State, pn, pt float64) {
	switch {
	case justNow && h == e.h:
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
