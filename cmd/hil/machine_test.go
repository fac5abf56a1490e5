package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hilrig/hil/rt"
)

// tickCPUs are the processors of the core's ticking thread.
func tickCPUs(t *testing.T, core int) []int {
	t.Helper()
	threads, err := rt.Threads(core)
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		if th.TID == core {
			return th.CPUs
		}
	}
	t.Fatalf("process %d has no main thread", core)
	return nil
}

// Two daemons tick on different processors; one that is killed leaves its processor to the next. Their ordinary threads stand
// above ordinary work where that is allowed.
func TestDaemonsOnTwoProcessors(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs two processors")
	}
	a := startRun(t, tolerant(t, virtualPort), "--record", t.TempDir())
	b := startRun(t, tolerant(t, virtualPort), "--record", t.TempDir())
	ca, cb := tickCPUs(t, a.ready.Core), tickCPUs(t, b.ready.Core)
	if len(ca) != 1 || len(cb) != 1 || ca[0] == cb[0] {
		t.Fatalf("the ticks may run on %v and %v", ca, cb)
	}
	threads, err := rt.Threads(a.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		if th.Nice != threads[0].Nice || os.Geteuid() == 0 && th.Nice != -15 {
			t.Errorf("thread %d of the supervisor has nice %d", th.TID, th.Nice)
		}
	}
	a.cmd.Process.Kill()
	<-a.done
	c := startRun(t, tolerant(t, virtualPort), "--record", t.TempDir())
	if cc := tickCPUs(t, c.ready.Core); len(cc) != 1 || cc[0] != ca[0] {
		t.Errorf("the third ticks on %v, the killed one ticked on %v", cc, ca)
	}
	for _, d := range []*daemonUnderTest{b, c} {
		if h := d.health(); h["core_restarts"] != 0.0 {
			t.Errorf("a core died: %v", h)
		}
		d.stop()
	}
}

// The threads that send to the devices stand on the processor of the tick: one elsewhere costs the tick an interrupt of another processor.
func TestDaemonSendersOnTheTicksProcessor(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs two processors")
	}
	d := startRun(t, "../../configs/two-link-mechanism.yaml", "--record", t.TempDir())
	defer d.stop()
	tick, n := tickCPUs(t, d.ready.Core), 0
	threads, err := rt.Threads(d.ready.Core)
	if err != nil || len(tick) != 1 {
		t.Fatal(tick, err)
	}
	for _, th := range threads {
		if len(th.CPUs) == 1 && th.CPUs[0] == tick[0] {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d threads on processor %d, want the tick and the senders of two boards", n, tick[0])
	}
}

// No thread of the core wakes up much more often than the tick: the runtime's monitor, once roused again and again, woke
// 18 000 times a second and filled a third of a processor at the tick's own priority.
func TestDaemonCoreIsQuiet(t *testing.T) {
	d := startRun(t, tolerant(t, virtualPort), "--record", t.TempDir())
	d.awaitMode("run")
	wakeups := func() map[string]int {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", d.ready.Core))
		n := map[string]int{}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				continue // ended meanwhile
			}
			for l := range strings.Lines(string(text)) {
				var k int
				if _, err := fmt.Sscanf(l, "voluntary_ctxt_switches: %d", &k); err == nil {
					n[f] = k
				}
			}
		}
		if len(n) < 4 {
			t.Skip("this kernel does not count switches")
		}
		return n
	}
	const span = 2 * time.Second
	before := wakeups()
	time.Sleep(span)
	sum := 0.0
	for f, n := range wakeups() {
		rate := float64(n-before[f]) / span.Seconds()
		sum += rate
		if before[f] > 0 && rate > 4000 {
			t.Errorf("thread %s wakes up %.0f times a second", filepath.Base(filepath.Dir(f)), rate)
		}
	}
	t.Logf("%.0f wake-ups a second in the whole core at 1 kHz", sum)
	d.stop()
}
