package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Outlets lead to standard output and to the log of a program that must not wait for their readers: a paused terminal, a program that
// hangs behind a pipe, a full disk. What is written waits in memory for a goroutine that writes it; what finds the room full is dropped,
// and its lines are counted.
type Outlets struct {
	Stdout, Log io.Writer // never wait and never fail
	queues      []*outletQueue
}

// outletRoom is how much may wait, in bytes: some 10 000 lines.
const outletRoom = 1 << 20

// NewOutlets lead to out and log. Where both are the same file or terminal, their texts keep their order.
func NewOutlets(out, log io.Writer) *Outlets {
	o := &Outlets{queues: []*outletQueue{newOutletQueue()}}
	o.Log = outlet{log, o.queues[0]}
	if !sameFile(out, log) {
		o.queues = append(o.queues, newOutletQueue())
	}
	o.Stdout = outlet{out, o.queues[len(o.queues)-1]}
	return o
}

func sameFile(a, b io.Writer) bool {
	fa, ok1 := a.(*os.File)
	fb, ok2 := b.(*os.File)
	if !ok1 || !ok2 {
		return false
	}
	sa, err1 := fa.Stat()
	sb, err2 := fb.Stat()
	return err1 == nil && err2 == nil && os.SameFile(sa, sb)
}

// OutletState is how far the readers are behind.
type OutletState struct {
	LostLines uint64        // lines that were dropped, since the start
	StuckTime time.Duration // since when a reader has taken nothing of what waits; 0: none waits
	Err       error         // of the newest write; nil: it succeeded
}

// State may be asked from any goroutine.
func (o *Outlets) State() (s OutletState) {
	for _, q := range o.queues {
		q.mu.Lock()
		s.LostLines += q.lostLines
		if !q.writeStart.IsZero() {
			s.StuckTime = max(s.StuckTime, time.Since(q.writeStart))
		}
		if q.err != nil {
			s.Err = q.err
		}
		q.mu.Unlock()
	}
	return s
}

// Close takes nothing more and waits until all is written, but not for longer than this. A text that is under way then is given up.
func (o *Outlets) Close(wait time.Duration) {
	end := time.After(wait)
	for _, q := range o.queues {
		q.mu.Lock()
		q.closed = true
		q.mu.Unlock()
		q.signal()
		select {
		case <-q.done:
		case <-end:
			return
		}
	}
}

// outlet is one writer of a queue.
type outlet struct {
	to io.Writer
	q  *outletQueue
}

// Write queues a copy.
func (o outlet) Write(p []byte) (int, error) {
	o.q.enqueue(o.to, bytes.Clone(p))
	return len(p), nil
}

// outletQueue holds texts in the order in which they came.
type outletQueue struct {
	wake, done chan struct{}

	mu         sync.Mutex
	waiting    []outletText
	size       int       // bytes of waiting and of the text under way
	writeStart time.Time // when the text under way was begun; zero: there is none
	lostLines  uint64
	err        error
	closed     bool
}

type outletText struct {
	to   io.Writer
	text []byte
}

func newOutletQueue() *outletQueue {
	q := &outletQueue{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.write()
	return q
}

func (q *outletQueue) enqueue(to io.Writer, text []byte) {
	q.mu.Lock()
	if q.closed || q.size+len(text) > outletRoom {
		q.lostLines += lines(text)
	} else {
		q.waiting, q.size = append(q.waiting, outletText{to, text}), q.size+len(text)
	}
	q.mu.Unlock()
	q.signal()
}

func (q *outletQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// write is the only one that waits for a reader.
func (q *outletQueue) write() {
	defer close(q.done)
	for range q.wake {
		for {
			q.mu.Lock()
			if len(q.waiting) == 0 {
				q.waiting = nil // what has been written goes
				end := q.closed
				q.mu.Unlock()
				if end {
					return
				}
				break
			}
			t := q.waiting[0]
			q.waiting, q.writeStart = q.waiting[1:], time.Now()
			q.mu.Unlock()

			_, err := t.to.Write(t.text)

			q.mu.Lock()
			q.size, q.writeStart, q.err = q.size-len(t.text), time.Time{}, err
			if err != nil {
				q.lostLines += lines(t.text)
			}
			q.mu.Unlock()
		}
	}
}

// lines are those that a text ends.
func lines(text []byte) uint64 { return uint64(max(1, bytes.Count(text, []byte("\n")))) }

// farewellWait is how long the last words of a program may take.
const farewellWait = 2 * time.Second

// printWithin prints, but does not wait for a reader that stands still.
func printWithin(w io.Writer, format string, args ...any) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fmt.Fprintf(w, format, args...)
	}()
	select {
	case <-done:
	case <-time.After(farewellWait):
	}
}
