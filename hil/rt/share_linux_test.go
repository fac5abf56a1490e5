package rt

import (
	"context"
	"sync"
	"testing"
	"time"
)

// However many ask, they get no more than the share, and what was begun after a rest begins at once.
func TestShare(t *testing.T) {
	const share = 0.3
	s := NewShare(share)
	begun, used := time.Now(), processTime()
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				s.Wait(ctx)
				for until := time.Now().Add(200 * time.Microsecond); time.Now().Before(until); {
				}
			}
		})
	}
	wg.Wait()
	got := float64(processTime()-used) / float64(time.Since(begun))
	// 0.1 s of processor time after the rest, and eight that begin together
	if limit := share + 0.1 + 0.1; got > limit || got < 0.05 {
		t.Errorf("%.2f of a processor, want %.2f at most", got, limit)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	s.Wait(ended) // returns
}
