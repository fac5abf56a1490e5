package rt

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestCoreThreads(t *testing.T) {
	needFIFO(t)
	rep, e := runTicking(t, 1000, 300*time.Millisecond, CoreSpec{RealTime: true, Priority: 41})
	if len(rep.Threads) < 4 {
		t.Errorf("%d threads seen, want the tick, sender, receiver and the runtime's", len(rep.Threads))
	}
	for _, th := range rep.Threads {
		if th.Policy != "FIFO" || th.Priority != 41 {
			t.Errorf("thread %d (%s) runs %s %d, want FIFO 41 like every other", th.TID, th.Name, th.Policy, th.Priority)
		}
	}
	if p := rep.Privileges; !p.FIFO || p.Priority != 41 || p.RTTime != defaultRTTime {
		t.Errorf("reported %+v", p)
	}
	if want := uint64(defaultRTTime / time.Microsecond); rep.RTTime != want {
		t.Errorf("RLIMIT_RTTIME %d µs, want %d", rep.RTTime, want)
	}
	if len(rep.TickCPUs) != 1 {
		t.Errorf("the ticking thread may use %v, want one processor", rep.TickCPUs)
	}
	pinned := 0
	for _, th := range rep.Threads {
		if len(th.CPUs) == 1 {
			pinned++
		}
	}
	if runtime.NumCPU() > 1 && pinned != 2 {
		t.Errorf("%d threads pinned, want the tick and the sender only", pinned)
	}
	if rep.Parent != os.Getpid() {
		t.Errorf("parent %d, want %d", rep.Parent, os.Getpid())
	}
	t.Logf("%d threads, %d ticks, %d missed, worst %.1f µs; %v", len(rep.Threads), rep.Ticks, rep.Missed, float64(rep.Worst)/1e3, e)
	t.Logf("memory locked %v, notes %q", rep.Privileges.Locked, rep.Privileges.Notes)
}

func TestCoreAllocatesNothing(t *testing.T) {
	rep, _ := runTicking(t, 2000, 500*time.Millisecond, CoreSpec{RealTime: true})
	if rep.Collections != 0 {
		t.Errorf("%d collections while ticking, want 0", rep.Collections)
	}
	// the runtime itself may make a thread; the loop makes nothing, or there would be one object a tick
	if rep.Allocations > 20 || rep.Ticks < 100 {
		t.Errorf("%d allocations in %d ticks, want 0 (the runtime's own threads aside)", rep.Allocations, rep.Ticks)
	}
	if rep.Procs != [2]int{coreProcs, coreProcs} {
		t.Errorf("GOMAXPROCS %v before and after pinning, want %d both times", rep.Procs, coreProcs)
	}
	for _, kv := range rep.Env {
		if strings.HasPrefix(kv, orderEnv+"=") {
			t.Errorf("the order is still in the environment: %s", kv)
		}
	}
	t.Logf("%d allocations, %d collections in %d ticks", rep.Allocations, rep.Collections, rep.Ticks)
}

// Both sides read the same clock: what the core stamps lies between two readings of the supervisor.
func TestClockIsShared(t *testing.T) {
	before := Now()
	rep, _ := runTicking(t, 1000, 20*time.Millisecond, CoreSpec{})
	if after := Now(); rep.Up <= before || rep.Up >= after {
		t.Errorf("core's clock %d, want between %d and %d", rep.Up, before, after)
	}
}

// starts is the livelock test: with unequal priorities, or a sender preempted inside the runtime, some of these hang.
func starts(t *testing.T, n int, span time.Duration) {
	needFIFO(t)
	worst, missed, ticks := int64(0), int64(0), 0
	for range n {
		rep, _ := runTicking(t, 10_000, span, CoreSpec{RealTime: true})
		worst, missed, ticks = max(worst, rep.Worst), missed+rep.Missed, ticks+rep.Ticks
	}
	if ticks == 0 {
		t.Error("no ticks")
	}
	t.Logf("%d starts at 10 kHz for %v: none hung or died; %d ticks, %d missed, worst %.2f ms", n, span, ticks, missed, float64(worst)/1e6)
}

func TestStartsAt10kHz(t *testing.T) { starts(t, 3, 150*time.Millisecond) }

// A core that hangs in real time would take its processor for ever; the run-time limit ends it.
func TestHangIsEnded(t *testing.T) {
	needFIFO(t)
	if math.MaxInt < 1<<40 {
		t.Skip("the hang needs more address space than 32 bits")
	}
	const limit = 100 * time.Millisecond
	mem, w := newWords(t)
	core, err := StartCore(CoreSpec{Env: []string{modeEnv + "=hang"}, Memory: mem.File(), RealTime: true, RTTime: limit})
	if err != nil {
		t.Fatal(err)
	}
	e := waitExit(t, core, w, 10*time.Second)
	if e.Signal != unix.SIGKILL || w.Up.Load() == 0 {
		t.Errorf("limit %v: %v", limit, e)
	}
	if e.User+e.System < limit/2 {
		t.Errorf("ended after %v of processor time, limit %v: by something else", e.User+e.System, limit)
	}
	t.Logf("limit %v: %v", limit, e)
}

func TestOrdinaryCore(t *testing.T) {
	rep, _ := runTicking(t, 500, 50*time.Millisecond, CoreSpec{RealTime: false})
	p := rep.Privileges
	if p.FIFO || p.Locked || p.Priority != 0 || p.RTTime != 0 {
		t.Errorf("asked for nothing, got %+v", p)
	}
	if p.Slack != ordinarySlack {
		t.Errorf("timer slack %v, want %d ns", p.Slack, ordinarySlack)
	}
	if len(p.Notes) == 0 || !strings.Contains(p.Notes[0], "was not asked for") {
		t.Errorf("notes %q", p.Notes)
	}
	for _, th := range rep.Threads {
		if th.Policy != "OTHER" {
			t.Errorf("thread %d runs %s", th.TID, th.Policy)
		}
	}
	t.Logf("slice %v, notes %q", p.Slice, p.Notes)
}

// A user without privileges gets a core that works, and sentences that say what is missing and how to get it.
func TestCoreWithoutPrivileges(t *testing.T) {
	spec := CoreSpec{RealTime: true}
	if os.Getuid() == 0 {
		nobody := uint32(65534)
		spec.user = &nobody
	}
	rep, _ := runTicking(t, 500, 50*time.Millisecond, spec)
	p := rep.Privileges
	if p.FIFO {
		t.Skip("this user may use real-time scheduling without CAP_SYS_NICE (RLIMIT_RTPRIO)")
	}
	all := strings.Join(p.Notes, "\n")
	for _, want := range []string{"operation not permitted", "RLIMIT_RTPRIO", "CAP_SYS_NICE", "p99", "LimitRTPRIO=80"} {
		if !strings.Contains(all, want) {
			t.Errorf("notes do not say %q:\n%s", want, all)
		}
	}
	if !p.Locked && !strings.Contains(all, "RLIMIT_MEMLOCK") {
		t.Errorf("memory is not locked and no note says why:\n%s", all)
	}
	if p.Slack != ordinarySlack || rep.Ticks == 0 {
		t.Errorf("slack %v, %d ticks", p.Slack, rep.Ticks)
	}
	t.Log(all)
}

func TestBootRefuses(t *testing.T) {
	mem, _ := newWords(t)
	run := func(env ...string) string {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), append(env, modeEnv+"=life")...)
		cmd.ExtraFiles = []*os.File{mem.File(), mem.File()}
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%v: started", env)
		}
		return string(out)
	}
	if out := run(); !strings.Contains(out, "started by the supervisor only") {
		t.Errorf("without an order: %s", out)
	}
	if out := run(orderEnv + "=stage=7"); !strings.Contains(out, orderEnv) {
		t.Errorf("with nonsense: %s", out)
	}
	// somebody else's child: the supervisor died before the death signal was armed
	orphan := order{stage: 1, parent: os.Getppid()}
	if out := run(orderEnv + "=" + orphan.String()); !strings.Contains(out, "gone before the core was up") {
		t.Errorf("as an orphan: %s", out)
	}
}

func TestStartCoreRefuses(t *testing.T) {
	mem, _ := newWords(t)
	for want, s := range map[string]CoreSpec{
		"no shared memory":     {RealTime: true},
		"priority 100":         {Memory: mem.File(), Priority: 100},
		"no such file":         {Memory: mem.File(), Path: "/does/not/exist"},
		"priority -1, want 1 ": {Memory: mem.File(), Priority: -1},
	} {
		if c, err := StartCore(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", c, err, want)
		}
	}
}
