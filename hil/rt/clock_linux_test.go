package rt

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Now against the kernel's own clock, read by another way.
func TestNowIsMonotonicClock(t *testing.T) {
	var ts unix.Timespec
	width, off := int64(1<<62), int64(0)
	for range 1000 {
		a := Now()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		b := Now()
		if b < a {
			t.Fatalf("the clock went back from %d to %d", a, b)
		}
		if b-a < width {
			width, off = b-a, ts.Nano()-(a+b)/2
		}
	}
	if off < -width-1000 || off > width+1000 {
		t.Errorf("%d ns from CLOCK_MONOTONIC, readings %d ns apart", off, width)
	}
	t.Logf("%d ns from CLOCK_MONOTONIC, readings %d ns apart", off, width)
}

func TestSleepUntilIsNeverEarly(t *testing.T) {
	for _, spin := range []int64{0, 30e3} {
		for range 30 {
			at := Now() + 500e3
			SleepUntil(at, spin)
			if now := Now(); now < at {
				t.Fatalf("woke %d ns early", at-now)
			}
		}
	}
	before := Now()
	SleepUntil(before-1e9, 30e3) // the past
	if d := Now() - before; d > 100e6 {
		t.Errorf("a deadline in the past took %d ns", d)
	}
}

// A storm of the runtime's own signal neither wakes the sleeper early nor makes it spin: the processor time it uses
// stays a small part of the time it sleeps. Without the repetition after EINTR it would be all of it.
func TestSleepSurvivesSignals(t *testing.T) {
	const span = 60 * time.Millisecond
	tid := make(chan int)
	type result struct{ early, used int64 }
	done := make(chan result)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		tid <- unix.Gettid()
		cpu := threadTime()
		at := Now() + int64(span)
		SleepUntil(at, 40e3)
		done <- result{at - Now(), threadTime() - cpu}
	}()
	target, sent := <-tid, 0
	for {
		select {
		case r := <-done:
			if r.early > 0 {
				t.Errorf("woke %d ns early after %d signals", r.early, sent)
			}
			if r.used > int64(span)/2 {
				t.Errorf("used %.1f ms of processor time in %v: it spun instead of sleeping again", float64(r.used)/1e6, span)
			}
			t.Logf("%d signals, %.2f ms of processor time in %v", sent, float64(r.used)/1e6, span)
			if sent < 10 {
				t.Errorf("only %d signals sent", sent)
			}
			return
		default:
			if unix.Tgkill(unix.Getpid(), target, unix.SIGURG) == nil {
				sent++
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
}

// threadTime is the processor time of this thread in ns.
func threadTime() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano()
}

func TestClockAllocatesNothing(t *testing.T) {
	var l LifeLine
	n := testing.AllocsPerRun(100, func() {
		SleepUntil(Now()+20e3, 5e3)
		_, _, _ = l.SupervisorLost(), l.LossText(), l.Stop()
	})
	if n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

func TestPinThread(t *testing.T) {
	set, err := wholeSet()
	if err != nil {
		t.Fatal(err)
	}
	cpus := cpuList(set)
	own := func() []int {
		var s unix.CPUSet
		if err := unix.SchedGetaffinity(0, &s); err != nil {
			t.Fatal(err)
		}
		return cpuList(&s)
	}
	if err := PinThread(cpus[0]); err != nil {
		t.Fatal(err)
	}
	if got := own(); len(got) != 1 || got[0] != cpus[0] {
		t.Errorf("pinned to %v, want %d", got, cpus[0])
	}
	// another goroutine, on another thread, keeps every processor
	other := make(chan int)
	go func() { other <- len(own()) }()
	if n := <-other; n != len(cpus) {
		t.Errorf("another thread was left %d processors of %d", n, len(cpus))
	}
	if err := Unpin(); err != nil {
		t.Fatal(err)
	}
	if got := own(); len(got) != len(cpus) {
		t.Errorf("after Unpin %v, want %v", got, cpus)
	}
	if err := PinThread(1000); err == nil {
		t.Error("pinned to a processor that is not there")
	}
	if err := PinThread(-1); err == nil {
		t.Error("pinned to cpu-1")
	}
}

func BenchmarkNow(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Now()
	}
}
