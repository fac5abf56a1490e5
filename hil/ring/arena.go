package ring

import "fmt"

// Arena cuts regions out of one block of memory, each on 128-byte lines of its own. Two processes that take the same
// sizes in the same order get the same regions.
type Arena struct {
	rest      []byte
	usedBytes int
}

// NewArena begins at the start of mem, which is aligned when it comes from Memory.
func NewArena(mem []byte) *Arena { return &Arena{rest: mem} }

// Allocate cuts the next n bytes, rounded up to whole lines. Error: not enough left.
func (a *Arena) Allocate(n int) ([]byte, error) {
	k := roundUp(n, line)
	if n < 0 || k > len(a.rest) {
		return nil, fmt.Errorf("arena: %d B wanted after %d, %d left", k, a.usedBytes, len(a.rest))
	}
	part := a.rest[:n:n]
	a.rest, a.usedBytes = a.rest[k:], a.usedBytes+k
	return part, nil
}

// ArenaSize is the memory in bytes that regions of these sizes need.
func ArenaSize(sizes ...int) int {
	sum := 0
	for _, n := range sizes {
		sum += roundUp(n, line)
	}
	return sum
}
