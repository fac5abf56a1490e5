package ring

import (
	"runtime"
	"testing"
	"time"
)

func TestMailboxKeepsTheNewest(t *testing.T) {
	m := NewMailbox[sample]()
	var s sample
	if m.Receive(&s) {
		t.Fatal("took from an empty mailbox")
	}
	for seq := uint64(1); seq <= 5; seq++ {
		s.fill(seq)
		m.Publish(&s)
	}
	if !m.Receive(&s) || s.Seq != 5 || !s.whole() {
		t.Errorf("took %d, want 5", s.Seq)
	}
	if m.Receive(&s) {
		t.Error("took the same value twice")
	}
	s.fill(6)
	m.Publish(&s)
	if !m.Receive(&s) || s.Seq != 6 {
		t.Errorf("took %d, want 6", s.Seq)
	}
}

// Under -race: no value is torn, none comes back, and the last one always arrives.
func TestMailboxBetweenGoroutines(t *testing.T) {
	const n = 50_000
	m := NewMailbox[sample]()
	go func() {
		var s sample
		for seq := uint64(1); seq <= n; seq++ {
			s.fill(seq)
			m.Publish(&s)
		}
	}()
	takeUntil(t, m, n)
}

func takeUntil(t *testing.T, m *Mailbox[sample], n uint64) (taken int) {
	t.Helper()
	var s sample
	last := uint64(0)
	deadline := time.Now().Add(60 * time.Second)
	for last < n {
		if m.Receive(&s) {
			if s.Seq <= last || !s.whole() {
				t.Fatalf("after %d came %d (whole %v)", last, s.Seq, s.whole())
			}
			last = s.Seq
			taken++
		} else if m.Corrupt() {
			t.Fatal("reported corrupt")
		} else if time.Now().After(deadline) {
			t.Fatalf("the last value never came: %d of %d", last, n)
		} else {
			runtime.Gosched()
		}
	}
	return taken
}

func TestMailboxDistrustsTheWord(t *testing.T) {
	m := NewMailbox[sample]()
	var s sample
	m.Publish(&s)
	m.pub.ctl.middle.Store(3 | freshBit)
	if m.Receive(&s) || !m.Corrupt() {
		t.Error("a slot that does not exist was believed")
	}
	m.pub.ctl.middle.Store(3)
	m.Publish(&s) // must not fault
	m.Publish(&s)
}
