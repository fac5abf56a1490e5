package contact

import (
	"testing"

	"hilrig/engine/lcp"
)

// A few dozen contacts are all remembered, whatever their ids; thousands of them push each other out and are then unknown, never
// taken for another.
func TestMemoryKnowsContactsByTheirID(t *testing.T) {
	for _, c := range []struct {
		count  int
		stride uint32
		all    bool
	}{{24, 1, true}, {24, 256, true}, {24, 1 << 16, true}, {40, 7, true}, {5000, 1, false}, {5000, 4096, false}} {
		m := newMemory(firstRoom)
		for k := range c.count {
			id := uint32(k) * c.stride
			at, known := m.place(id)
			if known {
				t.Fatalf("%d of %+v known before it came", k, c)
			}
			m.slot[at] = ended{stamp: int64(k + 1), id: id, pn: float64(k), state: lcp.Stick}
		}
		kept := 0
		for k := range c.count {
			at, known := m.place(uint32(k) * c.stride)
			if !known {
				continue
			}
			kept++
			if e := &m.slot[at]; e.pn != float64(k) || e.id != uint32(k)*c.stride {
				t.Fatalf("%d of %+v taken for another", k, c)
			}
		}
		if c.all && kept != c.count || kept < min(c.count, 200) {
			t.Errorf("%+v: %d kept", c, kept)
		}
	}
}
