package record

import (
	"math"

	"hilrig/engine/numeric"
)

// A line of a counter that is stuck takes every other block of 2ᵏ values out of all that the position passes, and puts what was there
// 2ᵏ away. That shows whatever the counter begins at.

const (
	bitsLeast  = 2    // k of the smallest block: below, the lines are those of a coarser counter
	bitsMost   = 14   // k of the largest
	bitsBlocks = 4    // pairs of blocks that the position passes, at least
	bitsSeen   = 0.02 // of the samples may be in the blocks that are not there: noise of another line
)

// bits reports a position that takes only every other block of 2ᵏ of its steps.
func (c *checker) bits(s signal) {
	step := s.q()
	if s.name != "position" || step == 0 {
		return
	}
	lo, hi := numeric.Range(s.x)
	span := (hi - lo) / step
	for k := bitsLeast; k <= bitsMost && span > float64(bitsBlocks)*math.Exp2(float64(k+1)); k++ {
		period := 1 << (k + 1)
		seen, all := make([]int, period), 0
		for i, x := range s.x {
			if i > 0 && x == s.x[i-1] {
				continue
			}
			seen[int(math.Round((x-lo)/step))%period]++
			all++
		}
		// the emptiest half, wherever it begins
		half := 0
		for _, n := range seen[:period/2] {
			half += n
		}
		least := half
		for i := range period {
			half += seen[(i+period/2)%period] - seen[i]
			least = min(least, half)
		}
		if all > 20*bitsBlocks && float64(least) < bitsSeen*float64(all) {
			c.addFinding("bits", Fatal, s.name, float64(k), "bit", "Look at the counter, its cable and the number of its bits.",
				"position is never in every other block of %d of its steps (%.4g %s): bit %d of its counter is stuck, or lost on the way", period/2,
				step, s.unit, k)
			return
		}
	}
}
