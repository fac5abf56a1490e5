package hil

// blindTime is the time without sight in the last part of the run, in slots of 1/32 of that part: what is just so old is forgotten.
type blindTime struct {
	slots      [32]int64 // ns
	width      int64     // ns  of a slot
	newestSlot int64     // number of the newest slot since the clock's zero
}

// newBlindTime looks back a second, or twice the tolerated time (ns) where that is longer.
func newBlindTime(tolerated int64) blindTime {
	return blindTime{width: max(1e9, 2*tolerated) / int64(len(blindTime{}.slots))}
}

// add counts a stretch (ns) that ends at t (ns), and gives the sum.
func (b *blindTime) add(t, stretch int64) (sum int64) {
	n := int64(len(b.slots))
	now := t / b.width
	for k := max(b.newestSlot+1, now-n+1); k <= now; k++ {
		b.slots[k%n] = 0
	}
	b.newestSlot = now
	b.slots[now%n] += stretch
	for _, s := range b.slots {
		sum += s
	}
	return sum
}
