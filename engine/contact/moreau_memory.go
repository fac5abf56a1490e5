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

// place is where probing for id starts: the upper bits of a product with 2³²/golden ratio.
func place(id uint32) uint32 { return id * 2654435769 >> 24 }

// find is the entry of id or nil.
func (m *memory) find(id uint32) *ended {
	at := place(id)
	for k := range uint32(memoryProbe) {
		e := &m.slot[(at+k)%memorySlots]
		if e.stamp != 0 && e.id == id {
			return e
		}
	}
	return nil
}

func (m *memory) store(id uint32, stamp int64, h float64, state lcp.State, pn, pt float64) {
	at := place(id)
	to := &m.slot[at%memorySlots]
	for k := range uint32(memoryProbe) {
		e := &m.slot[(at+k)%memorySlots]
		if e.stamp != 0 && e.id == id {
			to = e
			break
		}
		if e.stamp < to.stamp {
			to = e
		}
	}
	*to = ended{stamp: stamp, h: h, pn: pn, pt: pt, id: id, state: state}
}
