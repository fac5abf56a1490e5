//go:build !linux

package device

import (
	"sync/atomic"
	"time"
)

// bell lets one thread sleep until another one rings; without futexes, by looking every 200 µs.
type bell struct{ armed atomic.Uint32 }

func (b *bell) ring() { b.armed.Store(0) }
func (b *bell) arm()  { b.armed.Store(1) }

func (b *bell) sleep(most int64) {
	for range 1 + most/200e3 {
		if b.armed.Load() == 0 {
			return
		}
		time.Sleep(200 * time.Microsecond)
	}
	b.armed.Store(0)
}

func (b *bell) disarm() { b.armed.Store(0) }
