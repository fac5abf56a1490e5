package report

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
)

// On a terminal a long fit shows where it is: phase, best cost, simulations per second and time left, also when a phase
// ends and another one begins.
func TestProgressOnTerminal(t *testing.T) {
	leader, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer leader.Close()
	_ = pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 140})
	shown := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = b.ReadFrom(leader) // ends with the other side
		shown <- b.String()
	}()
	p := NewProgress(tty)
	at := time.Now()
	p.clock, p.beat = func() time.Time { return at }, time.NewTicker(time.Hour)
	say := func(s Stage) {
		at = at.Add(time.Second)
		p.Watch(s)
		time.Sleep(120 * time.Millisecond) // the bar draws ten times a second
	}
	say(Stage{Method: "regress"}) // of unknown length: a spinner, which ends with its stage
	for k := 1; k <= 3; k++ {
		say(Stage{Method: "aep", Phase: "generation", Step: k, StepCount: 3, BestCost: 0.5, Unit: "mm", Simulated: 30 * k})
	}
	say(Stage{Method: "lm", Phase: "start 1 of 5", Step: 1, StepCount: 5, BestCost: 0.25, Unit: "mm", Simulated: 100})
	p.Finish()
	tty.Close()
	text := <-shown
	if first, last := strings.Index(text, "aep"), strings.LastIndex(text, "regress"); last < 0 || last > first {
		t.Errorf("regress is shown at %d, aep began at %d", last, first)
	}
	for _, want := range []string{"aep: generation 2 of 3, best 0.5 mm", "simulations/s", "left", "lm: start 1 of 5, best 0.25 mm"} {
		if !strings.Contains(text, want) {
			t.Errorf("…%s… is missing in %q", want, text)
		}
	}
}

// Elsewhere there is a line every ten seconds.
func TestProgressInLog(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := NewProgress(file)
	at := time.Now()
	p.clock, p.beat = func() time.Time { return at }, time.NewTicker(time.Hour)
	p.startTime, p.lastOutput = at, at
	for k := range 250 {
		at = at.Add(100 * time.Millisecond)
		p.Watch(Stage{Method: "aep", Phase: "generation", Step: k, StepCount: 1000, BestCost: 0.5, Simulated: 30 * k})
	}
	p.Finish()
	text, _ := os.ReadFile(file.Name())
	if n := strings.Count(string(text), "\n"); n != 2 || !strings.Contains(string(text), "aep: generation 99 of 1000, best 0.5, ") {
		t.Errorf("%d lines in 25 s, want 2:\n%s", n, text)
	}
}

// A long record is shown while it is read: how much of the file, and how many rows.
func TestProgressOfReading(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	at := time.Now()
	p.clock, p.beat = func() time.Time { return at }, time.NewTicker(time.Hour)
	p.startTime, p.lastOutput = at, at
	show := p.Reading("/data/long.csv")
	for k := range 30 {
		at = at.Add(time.Second)
		show(int64(k)<<23, 400<<20, k*300_000)
	}
	p.Finish()
	if text := out.String(); strings.Count(text, "\n") != 3 || !strings.Contains(text, "reading: long.csv, MB 72 of 400, 2.7 million rows, "+
		"41s left") {
		t.Errorf("%s", text)
	}
}

// A stage that says nothing for long is shown again, with the time that it has taken, until it is over.
func TestProgressOfAStageThatSaysNothing(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := NewProgress(file)
	var seconds atomic.Int64
	began := time.Now()
	p.clock = func() time.Time { return began.Add(time.Duration(seconds.Load()) * time.Second) }
	p.startTime, p.lastOutput = began, began
	p.Watch(Stage{Method: "ball", Phase: "markers"})
	seconds.Store(34)
	said := func() string {
		text, _ := os.ReadFile(file.Name())
		return string(text)
	}
	for end := time.Now().Add(10 * time.Second); said() == "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	p.Finish()
	if said() != "ball: markers, 34s so far\n" {
		t.Errorf("%q", said())
	}
	seconds.Store(100)
	time.Sleep(beatEvery + 200*time.Millisecond)
	if said() != "ball: markers, 34s so far\n" {
		t.Errorf("after the end: %q", said())
	}
	if p.beat != nil {
		t.Error("its ticker goes on")
	}
}

// Simulations per second are those of the method at work, not of all the time since the beginning.
func TestProgressCountsTheMethodAtWork(t *testing.T) {
	clock := time.Unix(0, 0)
	p := NewProgress(io.Discard)
	p.clock, p.beat = func() time.Time { return clock }, time.NewTicker(time.Hour)
	p.Watch(Stage{Method: "aep", Step: 1, Simulated: 10})
	clock = clock.Add(100 * time.Second)
	p.Watch(Stage{Method: "lm", Step: 1, Simulated: 1})
	clock = clock.Add(time.Second)
	s := Stage{Method: "lm", Step: 2, Simulated: 50}
	p.Watch(s)
	if text := p.describe(s, clock); !strings.Contains(text, "50 simulations/s") {
		t.Errorf("%q, want 50 simulations/s", text)
	}
}
