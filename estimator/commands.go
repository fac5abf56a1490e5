package estimator

import "math"

// commands are those sent in the last ticks, as if each acted from its tick to the next.
type commands struct {
	u    [256]float64 // ring
	head int
	tick float64 // s
}

// add takes the command that was held for so many ticks up to now.
func (c *commands) add(u float64, ticks uint32) {
	for range min(ticks, uint32(len(c.u))) {
		c.head = (c.head + 1) % len(c.u)
		c.u[c.head] = u
	}
}

// mean of the commands from i to j ticks ago.
func (c *commands) mean(i, j int) float64 {
	sum := 0.0
	for l := i; l <= j; l++ {
		sum += c.u[(c.head+len(c.u)-min(l, len(c.u)-1))%len(c.u)]
	}
	return sum / float64(j-i+1)
}

// ago counts from the newest command back to the one that acted t (s) ago; at is that command.
func (c *commands) ago(t float64) int {
	return min(max(0, int(math.Ceil(t/c.tick-1e-6))-1), len(c.u))
}

func (c *commands) at(t float64) float64 { return c.mean(c.ago(t), c.ago(t)) }

// forEachPiece tells piece by piece which command acted, from one time to a later one, both in s ago. What changes more often than
// eight times a sampling period is averaged.
func (c *commands) forEachPiece(from, to, period float64, piece func(dt, u float64)) {
	group := max(1, int(period/c.tick/8))
	for t := from; t > to; {
		i := c.ago(t)
		low := i - i%group
		end := max(to, float64(low)*c.tick)
		if low == 0 {
			end = to
		}
		piece(t-end, c.mean(low, i))
		t = end
	}
}

// excess is how far an input lies outside those sent since (s ago): the commands did not arrive.
func (c *commands) excess(u, since float64) (d float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range min(len(c.u), 2+int(since/c.tick)) {
		v := c.mean(i, i)
		lo, hi = min(lo, v), max(hi, v)
	}
	return max(0, lo-u, u-hi)
}
