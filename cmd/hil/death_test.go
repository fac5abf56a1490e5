package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/hil"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

// Either process may be killed or stopped: the rig loses its energy, the cause is told, what was recorded stays readable.
// The bounds are ten times the medians of a quiet machine, and no less than what its scheduler may take.
func TestDeath(t *testing.T) {
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
		{"supervisor stopped", "supervisor", syscall.SIGSTOP, 3 * time.Second, "supervisor lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, file, rig, d := energise(t)
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
				for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && !strings.Contains(d.errs.String(), c.told); time.Sleep(10 * time.Millisecond) {
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
				for end := time.Now().Add(3 * time.Second); time.Now().Before(end) && !strings.Contains(next.errs.String(), c.told); time.Sleep(10 * time.Millisecond) {
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

// energise starts a rig and a daemon that drives it for a while. On a machine so crowded that the guard trips by itself, it
// tries again.
func energise(t *testing.T) (dir, file string, rig *watchedRig, d *daemonUnderTest) {
	t.Helper()
	for try := 1; ; try++ {
		rig = startWatchedRig(t)
		dir = t.TempDir()
		file = demoFile(t, rig.port)
		d = startRun(t, file, "--arm", "--record", dir)
		if rig.awaitOn(5 * time.Second) {
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
