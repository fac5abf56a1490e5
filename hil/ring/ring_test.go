package ring

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// sample is the size of a row of the loop, 568 B; every word is derived from the first, so that a torn copy shows.
type sample struct {
	Seq  uint64
	Body [70]uint64
}

// fill and whole work on private copies, which need no watching: it would only make -race slow.
//
//go:norace
func (s *sample) fill(seq uint64) {
	s.Seq = seq
	for i := range s.Body {
		s.Body[i] = seq*0x9e3779b97f4a7c15 + uint64(i)
	}
}

//go:norace
func (s *sample) whole() bool {
	for i := range s.Body {
		if s.Body[i] != s.Seq*0x9e3779b97f4a7c15+uint64(i) {
			return false
		}
	}
	return true
}

func TestRingKeepsOrderAndDropsTheNew(t *testing.T) {
	r := New[sample](4)
	w, rd := r.Writer(), r.Reader()
	var s sample
	for seq := uint64(1); seq <= 6; seq++ {
		s.fill(seq)
		if got, want := w.Push(&s), seq <= 4; got != want {
			t.Errorf("push %d into a ring of 4: %v, want %v", seq, got, want)
		}
	}
	if w.Pushed() != 4 || w.Dropped() != 2 || rd.Head() != 4 || rd.Dropped() != 2 || rd.Offered() != 6 || rd.Len() != 4 {
		t.Errorf("pushed %d dropped %d head %d offered %d len %d, want 4 2 4 6 4", w.Pushed(), w.Dropped(), rd.Head(), rd.Offered(), rd.Len())
	}
	for want := uint64(1); want <= 4; want++ {
		if !rd.Pop(&s) || s.Seq != want || !s.whole() {
			t.Fatalf("popped %d (whole %v), want %d", s.Seq, s.whole(), want)
		}
	}
	if rd.Pop(&s) {
		t.Error("popped from an empty ring")
	}
	s.fill(7)
	if !w.Push(&s) || !rd.Pop(&s) || s.Seq != 7 {
		t.Error("the ring does not go on after having been full")
	}
}

// Two goroutines over the heap form: under -race this watches the ordering of slots and indices. A waiting producer loses
// nothing; one that does not wait loses exactly what it counts.
func TestRingBetweenGoroutines(t *testing.T) {
	n := uint64(50_000)
	if testing.Short() {
		n = 10_000
	}
	for _, c := range []struct {
		name string
		wait bool
	}{{"producer waits", true}, {"producer drops", false}} {
		t.Run(c.name, func(t *testing.T) {
			r := New[sample](64)
			go produce(r.Writer(), n, c.wait)
			got, lost := consume(t, r.Reader(), n)
			if lost != r.Reader().Dropped() || got+lost != n {
				t.Errorf("%d received, %d missing, %d counted as dropped, %d offered", got, lost, r.Reader().Dropped(), n)
			}
			if c.wait && lost != 0 {
				t.Errorf("%d lost although the producer waited", lost)
			}
		})
	}
}

// produce offers samples 1…n.
func produce(w *Writer[sample], n uint64, wait bool) {
	var s sample
	for seq := uint64(1); seq <= n; seq++ {
		s.fill(seq)
		if wait {
			for w.head-w.ctl.tail.Load() > w.mask {
				runtime.Gosched()
			}
		}
		w.Push(&s)
	}
}

// consume reads until n were offered and the ring is empty; it counts what arrived and the gaps in between, and stops the
// test at a torn or disordered sample.
func consume(t *testing.T, r *Reader[sample], n uint64) (got, lost uint64) {
	t.Helper()
	var s sample
	last := uint64(0)
	deadline := time.Now().Add(60 * time.Second)
	for {
		done := r.Offered() == n // read before looking: what was pushed by then is seen below
		if r.Pop(&s) {
			if s.Seq <= last || !s.whole() {
				t.Fatalf("after %d came %d (whole %v)", last, s.Seq, s.whole())
			}
			lost += s.Seq - last - 1
			got, last = got+1, s.Seq
			continue
		}
		if r.Corrupt() {
			t.Fatal("indices reported corrupt")
		}
		if done {
			return got, lost + n - last
		}
		if time.Now().After(deadline) {
			t.Fatalf("no end after 60 s: %d of %d", got, n)
		}
		runtime.Gosched()
	}
}

func TestReaderDistrustsHead(t *testing.T) {
	for name, head := range map[string]uint64{"far ahead": 1 << 40, "one too many": 3 + 9, "behind": 2} {
		t.Run(name, func(t *testing.T) {
			r := New[sample](8)
			var s sample
			for range 3 {
				r.Writer().Push(&s)
				r.Reader().Pop(&s)
			}
			r.w.ctl.head.Store(head)
			if r.Reader().Pop(&s) || r.Reader().Len() != 0 || !r.Reader().Corrupt() {
				t.Error("a head that no Push can make was believed")
			}
			r.w.ctl.head.Store(4)
			if r.Reader().Pop(&s) {
				t.Error("a corrupt ring was believed again")
			}
		})
	}
}

// A consumer that dies and leaves nonsense behind costs the producer its rows, never a fault or a wait.
func TestWriterDistrustsTail(t *testing.T) {
	r := New[sample](8)
	var s sample
	for range 8 {
		r.Writer().Push(&s)
	}
	r.w.ctl.tail.Store(1 << 50)
	if r.Writer().Push(&s) || r.Writer().Dropped() != 1 {
		t.Error("pushed over a tail that lies ahead of the head")
	}
}

func TestIndicesWrapAround(t *testing.T) {
	r := New[sample](4)
	const near = ^uint64(0) - 2
	r.w.ctl.head.Store(near)
	r.w.ctl.tail.Store(near)
	r.w.head, r.w.knownTail, r.r.tail, r.r.knownHead = near, near, near, near
	var s sample
	for seq := uint64(1); seq <= 20; seq++ {
		s.fill(seq)
		if !r.Writer().Push(&s) || r.Reader().Len() != 1 || !r.Reader().Pop(&s) || s.Seq != seq {
			t.Fatalf("sample %d lost where the index wraps", seq)
		}
	}
}

func TestAttachRefuses(t *testing.T) {
	type other struct{ A, B uint32 }
	mem := heapBlock(Size[uint64](32))
	if _, err := Attach[uint64](mem, 32, true); err != nil {
		t.Fatal(err)
	}
	check := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", what, err, want)
		}
	}
	_, err := Attach[uint64](mem, 8, false)
	check("another capacity", "capacity 32, want 8", err)
	_, err = Attach[uint32](mem, 32, false)
	check("another size", "values of 8 B", err)
	_, err = Attach[other](mem, 32, false)
	check("the same size, another layout", "not the same version", err)
	_, err = AttachMailbox[uint64](heapBlock(1024), false)
	check("nothing there", "no such channel here", err)
	_, err = AttachMailbox[uint64](mem, false)
	check("a ring taken for a mailbox", "no such channel here", err)
	_, err = Attach[uint64](mem, 12, true)
	check("capacity", "capacity 12, want a power of two", err)
	_, err = Attach[uint64](mem[:len(mem)-1], 32, true)
	check("memory", "want 640", err)
	_, err = Attach[uint64](heapBlock(1024)[4:], 16, true)
	check("alignment", "multiple of 8", err)
	_, err = Attach[uint64](mem, 32, false)
	if err != nil {
		t.Errorf("the ring itself: %v", err)
	}
}

func TestNoPointers(t *testing.T) {
	type inner struct{ Name string }
	type bad struct {
		N  int
		In [2]inner
	}
	_, err := Attach[bad](heapBlock(4096), 4, true)
	if err == nil || !strings.Contains(err.Error(), "ring.bad.In[].Name is a string") {
		t.Errorf("error %v does not name the field", err)
	}
	if _, err := layoutHash[time.Time](); err == nil {
		t.Error("time.Time holds a *Location and was accepted")
	}
	if _, err := layoutHash[struct{}](); err == nil {
		t.Error("a value without size was accepted")
	}
	defer func() {
		if recover() == nil {
			t.Error("New did not panic")
		}
	}()
	New[*int](4)
}

// A ring entered through Attach carries on where the indices stand.
func TestAttachResumes(t *testing.T) {
	mem := heapBlock(Size[uint64](8))
	a, err := Attach[uint64](mem, 8, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(10) { // two more than it holds
		a.Writer().Push(&i)
	}
	b, err := Attach[uint64](mem, 8, false)
	if err != nil {
		t.Fatal(err)
	}
	var v uint64
	for want := range uint64(8) {
		if !b.Reader().Pop(&v) || v != want {
			t.Fatalf("popped %d, want %d", v, want)
		}
	}
	if b.Reader().Pop(&v) || b.Reader().Dropped() != 2 {
		t.Errorf("dropped %d, want 2", b.Reader().Dropped())
	}
}

func TestNoAllocations(t *testing.T) {
	r, m := New[sample](16), NewMailbox[sample]()
	w, rd := r.Writer(), r.Reader()
	in, out := new(sample), new(sample)
	for name, f := range map[string]func(){
		"push and pop":     func() { w.Push(in); rd.Pop(out) },
		"push into full":   func() { w.Push(in) },
		"publish and take": func() { m.Publish(in); m.Receive(out) },
		"counters":         func() { _ = rd.Offered() + rd.Head() + rd.Dropped() + uint64(rd.Len()) },
	} {
		if n := testing.AllocsPerRun(200, f); n != 0 {
			t.Errorf("%s: %g allocations, want 0", name, n)
		}
	}
}

func BenchmarkPushPop(b *testing.B) {
	r := New[sample](1024)
	w, rd, s := r.Writer(), r.Reader(), new(sample)
	b.ReportAllocs()
	for b.Loop() {
		w.Push(s)
		rd.Pop(s)
	}
}

func BenchmarkMailbox(b *testing.B) {
	m, s := NewMailbox[sample](), new(sample)
	b.Run("publish and take", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Publish(s)
			m.Receive(s)
		}
	})
	b.Run("take nothing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Receive(s)
		}
	})
}
