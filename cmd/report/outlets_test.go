package report

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// stubborn is a reader that takes a text at each word.
type stubborn struct {
	mu   sync.Mutex
	text strings.Builder
	go1  chan struct{}
}

func (s *stubborn) Write(p []byte) (int, error) {
	<-s.go1
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// Nothing waits for a reader that stands still; what it takes when it is back is in order, and what it missed is counted.
func TestOutletsNeverWait(t *testing.T) {
	w := &stubborn{go1: make(chan struct{})}
	o := NewOutlets(w, w) // no files: two queues
	const n = 40_000      // lines of 50 bytes: twice the room
	begun := time.Now()
	for i := range n {
		fmt.Fprintf(o.Log, "%049d\n", i)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("%d lines took %v", n, took)
	}
	s := o.State()
	if kept := n - int(s.LostLines); kept < 20_000 || kept > 22_000 || s.StuckTime == 0 {
		t.Errorf("%d lines kept, stuck for %v", kept, s.StuckTime)
	}
	begun = time.Now()
	o.Close(50 * time.Millisecond)
	if took := time.Since(begun); took > time.Second {
		t.Errorf("the end took %v", took)
	}
	fmt.Fprintln(o.Log, "too late")
	close(w.go1)
	o.Close(5 * time.Second)
	if s := o.State(); s.LostLines == 0 || s.StuckTime != 0 {
		t.Errorf("%+v", s)
	}
	for i, l := range strings.Split(strings.TrimSpace(w.text.String()), "\n") {
		if l != fmt.Sprintf("%049d", i) {
			t.Fatalf("line %d is %q", i, l)
		}
	}
}

// Both streams of one terminal or file share a queue, so that their texts keep their order; a write that fails loses lines that are
// counted.
func TestOutletsOrder(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.OpenFile(f.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	appending, err := os.OpenFile(f.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	o := NewOutlets(again, appending)
	want := ""
	for i := range 100 {
		fmt.Fprintln(o.Stdout, "out", i)
		fmt.Fprintln(o.Log, "log", i)
		want += fmt.Sprintln("out", i) + fmt.Sprintln("log", i)
	}
	o.Close(5 * time.Second)
	if got, _ := os.ReadFile(f.Name()); string(got) != want {
		t.Errorf("%q", got)
	}

	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	o = NewOutlets(pipe, pipe)
	fmt.Fprint(o.Log, "one\ntwo\n")
	o.Close(5 * time.Second)
	if s := o.State(); s.LostLines != 2 || s.Err == nil {
		t.Errorf("%+v, want two lines lost to a broken pipe", s)
	}
}
