package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/hil"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

// Either process may be killed or stopped, before and after the board was unplugged and plugged in again: the rig loses its
// energy, the cause is told, what was recorded stays readable. The bounds are what a crowded machine may take; make soak
// repeats each twenty times and holds the core's to 100 ms.
func TestDaemonDeath(t *testing.T) {
	inPairs(t)
	for _, c := range []struct {
		name   string
		victim string // "core" or "supervisor"
		signal syscall.Signal
		within time.Duration
		told   string // in the log of this run, or of the next start for a dead supervisor
	}{
		{"core killed", "core", syscall.SIGKILL, time.Second, "CORE_LOST"},
		{"core stopped", "core", syscall.SIGSTOP, time.Second, "CORE_LOST"},
		{"supervisor killed", "supervisor", syscall.SIGKILL, time.Second, "supervisor lost"},
		{"supervisor stopped", "supervisor", syscall.SIGSTOP, time.Second, "supervisor lost"},
		{"core killed after a replug", "core", syscall.SIGKILL, time.Second, "CORE_LOST"},
		{"core stopped after a replug", "core", syscall.SIGSTOP, time.Second, "CORE_LOST"},
		{"supervisor killed after a replug", "supervisor", syscall.SIGKILL, time.Second, "supervisor lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inPairs(t)
			dir, file, rig, d := energise(t)
			if strings.Contains(c.name, "replug") {
				replug(t, rig, d)
			}
			pid := d.ready.Core
			if c.victim == "supervisor" {
				pid = d.cmd.Process.Pid
			}
			t0 := rt.Now()
			wall := time.Now()
			if err := syscall.Kill(pid, c.signal); err != nil {
				t.Fatal(err)
			}
			took := rig.awaitOff(t, t0)
			t.Logf("de-energised after %v", took)
			if took > c.within {
				t.Errorf("de-energised after %v, want within %v", took, c.within)
			}

			log := ""
			if c.victim == "core" {
				for end := time.Now().Add(5 * time.Second); time.Now().Before(end) &&
					!strings.Contains(d.errs.String(), c.told); time.Sleep(10 * time.Millisecond) {
				}
				log = d.errs.String()
				d.awaitMode("selftest", "ready") // a new core, de-energised
				if on, _ := rig.energised(); on {
					t.Error("the rig was energised again by itself")
				}
				d.stop()
			} else {
				if c.signal == syscall.SIGSTOP {
					time.Sleep(200 * time.Millisecond)
					syscall.Kill(pid, syscall.SIGKILL)
				}
				<-d.done
				time.Sleep(200 * time.Millisecond) // the core's last words
				next := startRun(t, file, "--dry-run", "--record", dir)
				for end := time.Now().Add(3 * time.Second); time.Now().Before(end) &&
					!strings.Contains(next.errs.String(), c.told); time.Sleep(10 * time.Millisecond) {
				}
				log = next.errs.String()
				next.stop()
			}
			if !strings.Contains(log, c.told) {
				t.Errorf("nobody said %q:\n%s", c.told, log)
			}

			// the recording up to the last second
			run, err := sink.OpenRun(firstRun(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			var last hil.Row
			n := 0
			if err := run.Rows(func(r *hil.Row) error { last = *r; n++; return nil }); err != nil {
				t.Fatal(err)
			}
			if gap := wall.Sub(run.Info.Wall(last.T)); n < 500 || gap > time.Second {
				t.Errorf("%d rows, the last %v before the death", n, gap)
			}
		})
	}
}

// replug takes the board away and puts it back, then arms by hand: nothing re-energises by itself.
func replug(t *testing.T, rig *watchedRig, d *daemonUnderTest) {
	t.Helper()
	rig.unplug()
	d.awaitMode("trip", "hold")
	time.Sleep(100 * time.Millisecond)
	rig.plug()
	d.awaitLog("LINK_UP")
	d.drive(rig)
}

// drive brings the daemon from wherever it is to an energised rig; one in another process (nil) is not asked.
func (d *daemonUnderTest) drive(rig *watchedRig) {
	d.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		switch mode, _ := d.state()["mode"].(string); mode {
		case "trip", "estop":
			d.command("reset", "{}")
		case "ready":
			d.command("arm", "{}")
		case "armed", "hold":
			d.command("run", "{}")
		case "run":
			if rig == nil || rig.awaitOn(time.Second) {
				return
			}
		}
	}
	d.t.Fatalf("the rig is not driven; state %v\n%s", d.state(), d.errs)
}

// awaitLog waits until the daemon has said something.
func (d *daemonUnderTest) awaitLog(text string) {
	d.t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(d.errs.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("nobody said %q:\n%s", text, d.errs)
		}
	}
}

// A core that dies while the board is away is started again and waits for the board; what it waits for is told.
func TestDaemonDeathWhileUnplugged(t *testing.T) {
	inPairs(t)
	_, _, rig, d := energise(t)
	rig.unplug()
	d.awaitLog("LINK_WAIT")
	syscall.Kill(d.ready.Core, syscall.SIGKILL)
	d.awaitLog("CORE_LOST")
	time.Sleep(3 * time.Second) // in which it may not give up
	rig.plug()
	d.awaitLog("LINK_UP")
	d.drive(rig)
	if s := d.errs.String(); strings.Contains(s, "CORE_FAILED") || !strings.Contains(s, "no such port") || strings.Count(s, "LINK_WAIT") > 4 {
		t.Errorf("the log:\n%s", s)
	}
	d.stop()
}

// A second daemon on a driven port is refused, root too, is told who has it, and leaves the first one alone.
func TestDaemonOnADrivenPort(t *testing.T) {
	inPairs(t)
	var file string
	var d *daemonUnderTest
	var out, errs string
	var code int
	for on, try := false, 0; !on; try++ { // on a crowded machine it may trip by itself
		if try == 3 {
			t.Fatal("the first daemon lost its rig")
		}
		var rig *watchedRig
		_, file, rig, d = energise(t)
		out, errs, code = execute(t, "run", file, "--arm", "--web", "localhost:0", "--mqtt", "localhost:0", "--record", t.TempDir())
		if on, _ = rig.energised(); !on {
			d.stop()
		}
	}
	if code != report.Unavailable || !strings.Contains(errs, "the port is busy") ||
		!strings.Contains(errs, fmt.Sprintf("(process %d)", d.ready.Core)) {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	d.stop()
	again := startRun(t, file, "--record", t.TempDir()) // the lock went with its owner
	again.stop()
}

// firstRun is the oldest run folder below dir.
func firstRun(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			return filepath.Join(dir, e.Name())
		}
	}
	t.Fatalf("no run in %s", dir)
	return ""
}

// energise starts a rig and a tolerant daemon, with further changes to its file, that drives it for a while. On a machine so crowded
// that the guard trips by itself, it tries again.
func energise(t *testing.T, changes ...string) (dir, file string, rig *watchedRig, d *daemonUnderTest) {
	t.Helper()
	for try := 1; ; try++ {
		rig = startWatchedRig(t)
		dir = t.TempDir()
		file = tolerant(t, rig.port, append([]string{"max_current: 15 A", "max_current: 0 A", "rated_current: 5 A", "rated_current: 0 A",
			"max_error: 50 rad", "max_error: 0 rad", "max_speed: 5000 rad/s", "max_speed: 0 rad/s", "    status: status ", "    #"}, changes...)...)
		d = startRun(t, file, "--arm", "--record", dir)
		if rig.awaitOn(20 * time.Second) {
			time.Sleep(1500 * time.Millisecond) // something to record
			if on, _ := rig.energised(); on {
				return dir, file, rig, d
			}
		}
		if try == 5 {
			t.Fatalf("this machine is too busy: the guard tripped by itself five times\n%s", d.errs)
		}
		d.stop()
	}
}
