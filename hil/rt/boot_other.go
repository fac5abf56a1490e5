//go:build !linux

package rt

import (
	"sync/atomic"
	"time"
)

// Boot needs Linux.
func Boot() (*Handover, error) { return nil, notSupported("real-time core") }

// WatchLife is never reached here: Boot gives no Handover.
func (h *Handover) WatchLife(*atomic.Int64, time.Duration) *LifeLine {
	return &LifeLine{quit: make(chan struct{}), news: make(chan struct{})}
}
