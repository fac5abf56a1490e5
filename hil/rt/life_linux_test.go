package rt

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds are ten times what was measured on a noisy virtual machine. A host that stops a process for 15 ms now and then
// must not fail the test, so the median of several trials is judged, and only with FIFO.
const (
	boundSignal = 3800 * time.Microsecond // ten times the worst of the death signal, 0.38 ms; its median is 0.17 ms
	boundPipe   = 22 * time.Millisecond   // ten times 2.2 ms
	boundKill   = 17 * time.Millisecond   // ten times 1.7 ms
	beatSilence = 250 * time.Millisecond
)

func startLife(t *testing.T, w *words, s CoreSpec) *Core {
	t.Helper()
	s.Env = []string{modeEnv + "=life"}
	c, err := StartCore(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	waitFor(t, "the core", func() bool { w.Beat.Store(Now()); return w.Up.Load() != 0 })
	return c
}

func (w *words) why() string { return strings.TrimRight(string(w.Why[:]), "\x00") }

// median sorts d.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func judge(t *testing.T, what string, d []time.Duration, bound time.Duration) {
	t.Helper()
	m := median(d)
	t.Logf("%s: median %v, worst %v of %d", what, m.Round(time.Microsecond), d[len(d)-1].Round(time.Microsecond), len(d))
	if m > bound {
		needFIFO(t)
		t.Errorf("%s: median %v, want ≤ %v", what, m, bound)
	}
}

func TestStopRequest(t *testing.T) {
	mem, w := newWords(t)
	c := startLife(t, w, CoreSpec{Memory: mem.File(), RealTime: true})
	// what a terminal sends does not reach the core's decisions
	for _, s := range []unix.Signal{unix.SIGINT, unix.SIGHUP, unix.SIGPIPE} {
		unix.Kill(c.PID, s)
	}
	for range 5 {
		w.Beat.Store(Now())
		time.Sleep(5 * time.Millisecond)
	}
	select {
	case e := <-c.Done():
		t.Fatalf("ended by a terminal's signal: %v", e)
	default:
	}
	c.Stop()
	if e := waitExit(t, c, w, 5*time.Second); e.Code != 0 || e.Signal != 0 {
		t.Errorf("%v, want an orderly end", e)
	}
	if _, open := <-c.Done(); open {
		t.Error("Done delivered twice")
	}
}

func TestLifePipe(t *testing.T) {
	var took []time.Duration
	for range 5 {
		mem, w := newWords(t)
		c := startLife(t, w, CoreSpec{Memory: mem.File(), RealTime: true})
		at := Now()
		c.life.Close()
		e := waitExit(t, c, w, 5*time.Second)
		if e.Code != 5 || w.why() != lossText[lossPipe] {
			t.Fatalf("%v, noticed %q, want %q", e, w.why(), lossText[lossPipe])
		}
		took = append(took, time.Duration(w.Noticed.Load()-at))
	}
	judge(t, "end of the life pipe noticed", took, boundPipe)
}

func TestBeat(t *testing.T) {
	mem, w := newWords(t)
	c := startLife(t, w, CoreSpec{Memory: mem.File(), RealTime: true})
	for range 40 { // longer than the silence allowed
		w.Beat.Store(Now())
		time.Sleep(10 * time.Millisecond)
	}
	if w.Noticed.Load() != 0 {
		t.Fatalf("lost while beating: %s", w.why())
	}
	last := w.Beat.Load()
	e := <-c.Done()
	took := time.Duration(w.Noticed.Load() - last)
	if e.Code != 5 || w.why() != lossText[lossBeat] {
		t.Fatalf("%v, noticed %q, want %q", e, w.why(), lossText[lossBeat])
	}
	t.Logf("silent beat noticed after %v, threshold %v", took.Round(time.Millisecond), beatSilence)
	if took < beatSilence-2*pollInterval*time.Millisecond || took > 10*beatSilence {
		t.Errorf("noticed after %v, want about %v", took, beatSilence)
	}
}

// A core that was itself stopped for longer than the silence does not blame its supervisor.
func TestBeatForgivesOwnSleep(t *testing.T) {
	mem, w := newWords(t)
	c := startLife(t, w, CoreSpec{Memory: mem.File(), RealTime: true})
	unix.Kill(c.PID, unix.SIGSTOP)
	time.Sleep(2 * beatSilence) // no beat meanwhile: the host stopped both
	unix.Kill(c.PID, unix.SIGCONT)
	for range 20 {
		w.Beat.Store(Now())
		time.Sleep(5 * time.Millisecond)
	}
	if w.Noticed.Load() != 0 {
		t.Errorf("%s after the core's own stop", w.why())
	}
	c.Kill()
	<-c.Done()
}

// superviseAndSend starts a supervisor with a core, does something to the supervisor, and returns how long the core took
// to notice.
func superviseAndSend(t *testing.T, s unix.Signal) (time.Duration, string) {
	t.Helper()
	mem, w := newWords(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), modeEnv+"=supervisor")
	cmd.ExtraFiles = []*os.File{mem.File()}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	waitFor(t, "the core", func() bool { return w.Up.Load() != 0 })
	time.Sleep(30 * time.Millisecond)
	at := Now()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the core to notice", func() bool { return w.Noticed.Load() != 0 })
	pid := int(w.CorePID.Load())
	waitFor(t, "the core to end", func() bool { return unix.Kill(pid, 0) != nil || zombie(pid) })
	return time.Duration(w.Noticed.Load() - at), w.why()
}

// zombie tells whether a process has ended and waits for its parent, which is not us.
func zombie(pid int) bool {
	ps, err := Threads(pid)
	return err != nil || len(ps) == 0 || strings.Contains(readText("/proc/"+strconv.Itoa(pid)+"/stat"), ") Z ")
}

func TestSupervisorKilled(t *testing.T) {
	var took []time.Duration
	for range 5 {
		d, why := superviseAndSend(t, unix.SIGKILL)
		if why != lossText[lossSignal] && why != lossText[lossPipe] {
			t.Fatalf("noticed %q", why)
		}
		took = append(took, d)
	}
	judge(t, "kill -9 of the supervisor noticed", took, boundSignal)
}

func TestSupervisorStopped(t *testing.T) {
	d, why := superviseAndSend(t, unix.SIGSTOP)
	if why != lossText[lossStop] {
		t.Errorf("noticed %q, want %q", why, lossText[lossStop])
	}
	if d > 10*beatSilence {
		t.Errorf("noticed after %v", d)
	}
	t.Logf("SIGSTOP of the supervisor noticed after %v", d.Round(time.Millisecond))
}

// The kernel tells a process that a signal has stopped from one that sleeps, and a look allocates nothing.
func TestStoppedIsSeen(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	p := watchProcess(cmd.Process.Pid)
	defer p.close()
	time.Sleep(20 * time.Millisecond)
	for _, c := range []struct {
		signal unix.Signal
		want   bool
	}{{unix.SIGSTOP, true}, {unix.SIGCONT, false}, {unix.SIGSTOP, true}, {unix.SIGKILL, false}} {
		unix.Kill(cmd.Process.Pid, c.signal)
		for end := time.Now().Add(5 * time.Second); p.stopped() != c.want && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		if p.stopped() != c.want {
			t.Errorf("after %v: stopped %v", c.signal, !c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { p.stopped() }); n != 0 {
		t.Errorf("%v allocations per look", n)
	}
	if watchProcess(1 << 30).stopped() {
		t.Error("a process that is not there is stopped")
	}
}

// kill -9 of the core reaches the supervisor through Wait, also when the core was stopped; nothing is left behind.
func TestCoreKilled(t *testing.T) {
	before := runtime.NumGoroutine()
	var took []time.Duration
	for i := range 5 {
		mem, w := newWords(t)
		c := startLife(t, w, CoreSpec{Memory: mem.File(), RealTime: true})
		if i%2 == 1 {
			unix.Kill(c.PID, unix.SIGSTOP)
		}
		at := Now()
		c.Kill()
		e := <-c.Done()
		took = append(took, time.Duration(Now()-at))
		if e.Signal != unix.SIGKILL || e.Code != -1 || e.PID != c.PID || !strings.Contains(e.String(), "signal 9") {
			t.Errorf("%v", e)
		}
		c.Kill() // gone already: nothing happens
	}
	judge(t, "kill -9 of the core noticed", took, boundKill)
	waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}
