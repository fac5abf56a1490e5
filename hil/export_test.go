package hil

// What only tests ask for.

// VirtualClock counts deadlines without waiting: tests, offline runs. Every tick is on time and takes no time.
type VirtualClock struct {
	T, Period int64
	N         int // ticks left
}

func (c *VirtualClock) Wait() (t, late int64, ok bool) {
	if c.N <= 0 {
		return 0, 0, false
	}
	c.N--
	c.T += c.Period
	return c.T, 0, true
}

func (c *VirtualClock) Now() int64 { return c.T }
