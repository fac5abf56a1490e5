package rt_test

import (
	"fmt"

	"hilrig/hil/rt"
)

// A loop on absolute deadlines: whatever a tick takes, the raster stays, and after a stall nothing is repeated.
func Example() {
	const period, spin = 1_000_000, 30_000 // ns
	next := rt.Now() + period
	ticks, early := 0, 0
	for range 20 {
		rt.SleepUntil(next, spin)
		late := rt.Now() - next
		if late < 0 {
			early++
		}
		next += period * (1 + late/period) // skip what was missed
		ticks++
	}
	fmt.Println(ticks, "ticks,", early, "of them early")
	// Output: 20 ticks, 0 of them early
}
