//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hilrig/cmd/daemon"
	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/rt"
)

// A supervisor that does not run for a while and goes on says itself what its core did meanwhile, and for how long it had been silent.
func TestDaemonStarvedSupervisorIsTold(t *testing.T) {
	said := regexp.MustCompile(`→ trip \(supervisor starved: ([0-9.]+) s, limit 1 s\)`)
	for try := 1; ; try++ {
		_, _, rig, d := energise(t, "beat: 3 s", "beat: 1 s")
		goOn := freeze(t, d.cmd.Process.Pid)
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if on, _ := rig.energised(); !on {
				break
			}
		}
		goOn()
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end) &&
			!said.MatchString(d.errs.String()); time.Sleep(10 * time.Millisecond) {
		}
		m := said.FindStringSubmatch(d.errs.String())
		if m == nil && try < 3 {
			d.stop()
			continue // something else tripped first: a crowded machine
		}
		if m == nil {
			t.Fatalf("no word of it:\n%s", d.errs)
		}
		if s, err := strconv.ParseFloat(m[1], 64); err != nil || s < 1 || s > 3 {
			t.Errorf("silent for %s s", m[1])
		}
		// three of these within a minute are no three deaths: the same core is there, and can be driven again
		for range 2 {
			goOn := freeze(t, d.cmd.Process.Pid)
			time.Sleep(1300 * time.Millisecond)
			goOn()
			time.Sleep(100 * time.Millisecond)
		}
		d.drive(rig)
		if log := d.errs.String(); strings.Contains(log, "CORE_LOST") || strings.Contains(log, "CORE_FAILED") ||
			syscall.Kill(d.ready.Core, 0) != nil {
			t.Errorf("the core did not survive:\n%s", log)
		}
		d.stop()
		return
	}
}

// A core that stands still for less than the file's limit is not killed, one that stands still for longer is.
func TestDaemonStillCore(t *testing.T) {
	inPairs(t)
	for _, c := range []struct {
		limit string
		still time.Duration
		lost  bool
	}{{"limit: 2 s", 500 * time.Millisecond, false}, {"limit: 250 ms", 1500 * time.Millisecond, true}} {
		if c.lost && !soak {
			continue
		}
		_, _, rig, d := energise(t, "limit: 2 s", c.limit)
		t0 := rt.Now()
		goOn := freeze(t, d.ready.Core)
		time.Sleep(c.still)
		goOn()
		time.Sleep(300 * time.Millisecond)
		if lost := strings.Contains(d.errs.String(), "CORE_LOST"); lost != c.lost {
			t.Errorf("%s, still for %v: lost %v\n%s", c.limit, c.still, lost, d.errs)
		}
		if c.lost {
			t.Logf("de-energised after %v", rig.awaitOff(t, t0))
		}
		d.stop()
	}
}

// freeze keeps a process from running as a debugger does: to its core it looks as if it got no processor. goOn ends that.
func freeze(t *testing.T, pid int) (goOn func()) {
	t.Helper()
	runtime.LockOSThread() // the tracer is a thread
	var held []int
	goOn = func() {
		for _, tid := range held {
			if unix.PtraceDetach(tid) != nil { // killed meanwhile: its parent hears of it after us
				unix.Wait4(tid, nil, unix.WALL|unix.WNOHANG, nil)
			}
		}
		held = nil
		runtime.UnlockOSThread()
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		tid, _ := strconv.Atoi(task.Name())
		err := unix.PtraceSeize(tid)
		if err == nil {
			held = append(held, tid)
			err = unix.PtraceInterrupt(tid)
		}
		if err == nil {
			_, err = unix.Wait4(tid, nil, unix.WALL, nil)
		}
		if err != nil {
			goOn()
			t.Skipf("no process may be frozen here: %v", err)
		}
	}
	return goOn
}

// A supervisor that a signal stops is lost at once: its core does not wait for loop.beat.
func TestDaemonStoppedSupervisorIsTold(t *testing.T) {
	_, _, rig, d := energise(t)
	t0 := rt.Now()
	syscall.Kill(d.cmd.Process.Pid, syscall.SIGSTOP)
	t.Logf("de-energised after %v", rig.awaitOff(t, t0))
	syscall.Kill(d.cmd.Process.Pid, syscall.SIGCONT)
	d.awaitLog("→ trip (supervisor lost)")
	d.stop()
}

// What the file says about sight, temperature and the supervisor reaches the guard.
func TestGuardOfTheFile(t *testing.T) {
	cfg := configs.Demo()
	cfg.Devices[0].Measure[3].Max = 90
	spec, err := daemon.ControllerSpec(cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := []hil.MeasLimit{
		{Stale: 0.05, Needed: true, RequiredForReady: true}, {Stale: 0.05, Lo: -20, Hi: 20, Needed: true, RequiredForReady: true},
		{Stale: 0.05, RequiredForReady: true},
		{Stale: 5, Lo: -40, Hi: 150, Hot: 90, Needed: true, RequiredForReady: true},
		{Stale: 0.1, Status: true, Needed: true, RequiredForReady: true}, {Age: true},
	}
	for i, w := range want {
		if got := spec.Guard.Meas[i]; got != w {
			t.Errorf("%s: %+v, want %+v", spec.Meas[i].Name, got, w)
		}
	}
	if g, a := spec.Guard, spec.Axes[0].Limits; g.Beat != 1 || g.HoldTime != 0.2 || a.MaxSpeed != 300 || a.MaxError != 10 ||
		a.MaxCurrent != 15 || a.RatedI != 5 || a.Thermal != 20 {
		t.Errorf("%+v, %+v", g, a)
	}
}
