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
	most := bitsMost
	for most >= bitsLeast && (hi-lo)/step <= float64(bitsBlocks)*math.Exp2(float64(most+1)) {
		most--
	}
	if most < bitsLeast {
		return
	}
	seen, all := make([]int, 1<<(most+1)), 0
	for i, x := range s.x {
		if i > 0 && x == s.x[i-1] {
			continue
		}
		seen[int(math.Round((x-lo)/step))%len(seen)]++
		all++
	}
	bit := -1 // the lowest one
	for k := most; k >= bitsLeast; k-- {
		if float64(emptiestHalf(seen)) < bitsSeen*float64(all) {
			bit = k
		}
		below := seen[len(seen)/2:]
		seen = seen[:len(seen)/2]
		for i := range seen {
			seen[i] += below[i]
		}
	}
	if bit < 0 || all <= 20*bitsBlocks {
		return
	}
	c.addFinding("bits", Fatal, s.name, float64(bit), "bit", "Look at the counter, its cable and the number of its bits.",
		"position is never in every other block of %d of its steps (%.4g %s): bit %d of its counter is stuck, or lost on the way", 1<<bit,
		step, s.unit, bit)
}

// emptiestHalf is how often a position was in the half of a period where it was least, wherever that half begins.
func emptiestHalf(seen []int) int {
	half, period := 0, len(seen)
	for _, n := range seen[:period/2] {
		half += n
	}
	least := half
	for i := range period {
		half += seen[(i+period/2)%period] - seen[i]
		least = min(least, half)
	}
	return least
}
