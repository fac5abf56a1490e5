package rt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"hilrig/hil/ring"
)

// This test binary runs itself as a core (modeEnv tick or life), as a supervisor that can be killed, and as a process that is raised.
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
	case "raise":
		os.Exit(testRaise())
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
			if life.SupervisorLost() {
				copy(w.Why[:], life.LossText())
				w.Noticed.Store(Now())
				return 5
			}
			if life.Stop() {
				return 0
			}
		}
	}
	if mode == "hang" {
		testHang(w)
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
	DisableGC()
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

// testHang keeps its thread busy where the runtime cannot interrupt it: a search written in assembly through 256 GB of
// zeros that all lie on the kernel's zero page.
func testHang(w *words) {
	size := int64(1) << 38
	mem, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w.Up.Store(Now())
	bytes.IndexByte(mem, 1)
	os.Exit(0) // not reached when the limit works
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
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: defaultPriority}, 0); err != nil {
		t.Skip(refusedNote(err.(unix.Errno), defaultPriority))
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_NORMAL}, 0); err != nil {
		t.Fatal(err)
	}
}
