package rt

import (
	"context"
	"sync"
	"time"
)

// Share keeps work that comes from outside, such as requests of pages and messages of clients, from taking the processors of tick, drive
// and beat: it waits while this process has had more than a share of one processor of late. A lower priority for the threads of such work
// is no way in a Go program: one that holds a lock of the runtime and gets no processor keeps all others waiting. With the pump alone at a
// high priority its longest pause rose from 16 ms to 328 ms beside 20 busy loops.
type Share struct {
	fraction float64 // of one processor

	mu              sync.Mutex
	lastTime        int64 // ns  of the last look …
	lastProcessTime int64 // ns  … and the processor time of this process then
	credit          int64 // ns  of processor time that may be used at once
}

// shareBurst is how much processor time may be used at once after a rest, and how much of an excess is remembered.
const shareBurst = int64(100 * time.Millisecond)

// NewShare allows this share of one processor.
func NewShare(of float64) *Share {
	return &Share{fraction: of, lastTime: Now(), lastProcessTime: processTime(), credit: shareBurst}
}

// Wait returns at once while the process is within its share, later otherwise, at the end of ctx in any case.
func (s *Share) Wait(ctx context.Context) {
	for {
		over := s.restTime()
		if over <= 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(over):
		}
	}
}

// restTime is for how long the process has to rest.
func (s *Share) restTime() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, used := Now(), processTime()
	s.credit += int64(s.fraction*float64(now-s.lastTime)) - (used - s.lastProcessTime)
	s.credit = max(-shareBurst, min(shareBurst, s.credit))
	s.lastTime, s.lastProcessTime = now, used
	return time.Duration(float64(-s.credit) / s.fraction)
}
