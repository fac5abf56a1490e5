//go:build !linux

package rt

import "time"

var base = time.Now()

// Now is a monotonic clock in ns that counts from the start of this process.
func Now() int64 { return int64(time.Since(base)) }

// SleepUntil returns at the time t (ns of Now): it sleeps with the precision of package time until spin ns before t, then
// spins. A time in the past returns at once.
func SleepUntil(t, spin int64) {
	if d := t - spin - Now(); d > 0 {
		time.Sleep(time.Duration(d))
	}
	for Now() < t {
	}
}

// processTime is not known here: nothing is ever over its share.
func processTime() int64 { return 0 }
