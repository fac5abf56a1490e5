package rt

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"hilrig/hil/ring"
)

// This test binary runs itself as a core (modeEnv tick or life) and as a supervisor that can be killed.
const (
	modeEnv = "RT_TEST_MODE"
	rateEnv = "RT_TEST_RATE" // Hz
	timeEnv = "RT_TEST_TIME" // of ticking
)

// words is what a test core and its test share.
type words struct {
	Beat    atomic.Int64
	Up      atomic.Int64 // ns  the core is ready
	Noticed atomic.Int64 // ns  the core noticed the loss of its supervisor
	CorePID atomic.Int64
	Ticks   atomic.Int64
	Why     [64]byte
}

const wordsSize = 4096

func mapWords(mem *ring.Memory) *words { return (*words)(unsafe.Pointer(&mem.Bytes()[0])) }

// report is what a ticking core says about itself.
type report struct {
	Privileges  Privileges
	Threads     []Thread
	TickCPUs    []int // of the ticking thread
	Procs       [2]int
	Collections uint32 // while ticking
	Allocations uint64 // while ticking
	Ticks       int
	Missed      int64
	Worst       int64 // ns
	RTTime      uint64
	Parent      int
	Up          int64 // ns of Now
	Env         []string
}

func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeEnv); mode {
	case "":
		os.Exit(m.Run())
	case "supervisor":
		os.Exit(testSupervisor())
	default:
		os.Exit(testCore(mode))
	}
}

func testCore(mode string) int {
	boot, err := Boot()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	mem, err := ring.OpenMemory(boot.MemoryFD, wordsSize)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	w := mapWords(mem)
	w.CorePID.Store(int64(os.Getpid()))
	life := boot.WatchLife(&w.Beat, 250*time.Millisecond)
	if mode == "life" {
		for w.Up.Store(Now()); ; SleepUntil(Now()+200e3, 0) {
			if life.Lost() {
				copy(w.Why[:], life.Why())
				w.Noticed.Store(Now())
				return 5
			}
			if life.StopRequested() {
				return 0
			}
		}
	}
	if err := testTick(boot, w); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	life.Close()
	return 0
}

// testTick is a core in small: a ticking thread, a sender pinned to the tick's processor and a receiver, over a pipe.
func testTick(boot *Handover, w *words) error {
	var rate int64
	if _, err := fmt.Sscan(os.Getenv(rateEnv), &rate); err != nil {
		return err
	}
	span, err := time.ParseDuration(os.Getenv(timeEnv))
	if err != nil {
		return err
	}
	set, err := wholeSet()
	if err != nil {
		return err
	}
	cpus := cpuList(set)
	cpu := cpus[len(cpus)-1]

	// the sender waits for the newest word, as a transmitting thread does
	r, tx, err := os.Pipe()
	if err != nil {
		return err
	}
	wake := make(chan struct{}, 1)
	var received atomic.Int64
	failed := make(chan error, 1)
	go func() {
		if err := PinThread(cpu); err != nil {
			failed <- err
		}
		frame := make([]byte, 16)
		for range wake {
			unix.Write(int(tx.Fd()), frame)
		}
	}()
	go func() {
		runtime.LockOSThread()
		buf := make([]byte, 256)
		for {
			n, err := unix.Read(int(r.Fd()), buf)
			if n <= 0 && err != unix.EINTR {
				return
			}
			received.Add(int64(n))
		}
	}()
	time.Sleep(50 * time.Millisecond)

	rep := report{Privileges: boot.Privileges, Parent: boot.Parent, Env: os.Environ()}
	rep.Procs[0] = runtime.GOMAXPROCS(0)
	if err := PinThread(cpu); err != nil {
		return err
	}
	var before, after runtime.MemStats
	Settle()
	runtime.ReadMemStats(&before)
	w.Up.Store(Now())
	rep.Up = Now()
	period := int64(time.Second) / rate
	next := Now() + 5e6
	for end := next + int64(span); next < end; {
		SleepUntil(next, 30e3)
		late := Now() - next
		rep.Worst = max(rep.Worst, late)
		rep.Missed += late / period
		next += period * (1 + late/period)
		rep.Ticks++
		w.Ticks.Add(1)
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	runtime.ReadMemStats(&after)
	rep.Collections, rep.Allocations = after.NumGC-before.NumGC, after.Mallocs-before.Mallocs
	rep.Procs[1] = runtime.GOMAXPROCS(0)
	select {
	case err := <-failed:
		return err
	default:
	}
	if received.Load() == 0 {
		return fmt.Errorf("nothing came through the pipe in %d ticks", rep.Ticks)
	}
	if rep.Threads, err = Threads(os.Getpid()); err != nil {
		return err
	}
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		return err
	}
	rep.TickCPUs = cpuList(&own)
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &lim); err != nil {
		return err
	}
	rep.RTTime = lim.Cur
	return json.NewEncoder(os.Stdout).Encode(rep)
}

// testSupervisor starts a core on the memory it was given and beats until it is killed.
func testSupervisor() int {
	mem, err := ring.OpenMemory(3, wordsSize)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	w := mapWords(mem)
	if _, err := StartCore(CoreSpec{Env: []string{modeEnv + "=life"}, Memory: mem.File(), RealTime: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		w.Beat.Store(Now())
		time.Sleep(10 * time.Millisecond)
	}
}

func newWords(t *testing.T) (*ring.Memory, *words) {
	t.Helper()
	mem, err := ring.CreateMemory("rt-test", wordsSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	return mem, mapWords(mem)
}

// waitFor polls cond every 0.1 ms for at most 10 s.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 10 s for %s", what)
		}
	}
}

// runTicking starts a ticking core, waits for its end and returns what it said.
func runTicking(t *testing.T, rate int, span time.Duration, s CoreSpec) (report, Exit) {
	t.Helper()
	mem, w := newWords(t)
	dir := t.TempDir()
	out, err := os.Create(dir + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	errs, err := os.Create(dir + "/err")
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	s.Env = append(s.Env, modeEnv+"=tick", fmt.Sprintf("%s=%d", rateEnv, rate), timeEnv+"="+span.String())
	s.Memory, s.Stdout, s.Stderr = mem.File(), out, errs
	core, err := StartCore(s)
	if err != nil {
		t.Fatal(err)
	}
	e := waitExit(t, core, w, span+10*time.Second)
	said, _ := os.ReadFile(errs.Name())
	if e.Code != 0 {
		t.Fatalf("%v\n%s", e, said)
	}
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var rep report
	if err := json.Unmarshal(b, &rep); err != nil {
		t.Fatalf("%v\n%s\n%s", err, b, said)
	}
	return rep, e
}

// waitExit beats until the core ends; one that does not end in time is killed, which fails the test.
func waitExit(t *testing.T, core *Core, w *words, most time.Duration) Exit {
	t.Helper()
	beat := time.NewTicker(10 * time.Millisecond)
	defer beat.Stop()
	end := time.After(most)
	for {
		select {
		case e := <-core.Done():
			return e
		case <-beat.C:
			w.Beat.Store(Now())
		case <-end:
			core.Kill()
			t.Fatalf("no end after %v, %d ticks: %v", most, w.Ticks.Load(), <-core.Done())
		}
	}
}

// needFIFO skips where real-time scheduling is refused, with the reason the core itself would give.
func needFIFO(t *testing.T) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and end with the thread
		done <- unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: defaultPriority}, 0)
	}()
	if err := <-done; err != nil {
		t.Skip(refusedNote(err.(unix.Errno), defaultPriority))
	}
}

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
