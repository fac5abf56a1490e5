package daemon

import (
	"context"
	"time"
)

// ballast allocates and drops rate bytes per second in this process, to show that a busy heap does not reach the loop.
// Part of what it allocates stays alive for a while, so that the collector has something to mark.
func ballast(ctx context.Context, rate float64) {
	const period, piece = 2 * time.Millisecond, 4096
	type node struct {
		next *node
		_    [piece - 8]byte
	}
	t := time.NewTicker(period)
	defer t.Stop()
	var alive *node
	kept := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for range int(rate * period.Seconds() / piece) {
			n := &node{}
			if kept++; kept%16 == 0 {
				n.next = alive
				alive = n
			}
		}
		if kept > 1<<18 {
			alive, kept = nil, 0
		}
	}
}
