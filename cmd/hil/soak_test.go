//go:build soak

package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/hil"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

const soak = true

// No core hangs or dies at 10 kHz with serial traffic: the trap of unequal priorities, run twenty times.
func TestSoakStarts(t *testing.T) {
	file := tolerant(t, virtualPort)
	for k := range 20 {
		d := startRun(t, file, "--rate", "10 kHz", "--record", t.TempDir(), "--no-mqtt")
		time.Sleep(time.Second)
		h := d.health()
		if code := d.stop(); code != report.Interrupted || strings.Contains(d.errs.String(), "CORE_LOST") {
			t.Fatalf("start %d: exit code %d\n%s", k+1, code, d.errs)
		}
		t.Logf("start %2d: %.0f ticks, %.0f frames received, %.0f skipped", k+1, h["ticks"], h["drive.frames"], h["skipped"])
	}
}

// Core and supervisor killed and stopped, twenty times each, before and after a replug.
func TestSoakDeath(t *testing.T) {
	for _, replugged := range []bool{false, true} {
		for _, c := range []struct {
			name   string
			core   bool
			signal syscall.Signal
			within time.Duration
		}{
			{"core kill -9", true, syscall.SIGKILL, 100 * time.Millisecond},
			{"core SIGSTOP", true, syscall.SIGSTOP, 100 * time.Millisecond},
			{"supervisor kill -9", false, syscall.SIGKILL, 100 * time.Millisecond},
			{"supervisor SIGSTOP", false, syscall.SIGSTOP, 100 * time.Millisecond},
		} {
			name := c.name + map[bool]string{false: ", before a replug", true: ", after a replug"}[replugged]
			t.Run(name, func(t *testing.T) {
				var took []time.Duration
				for range 20 {
					_, _, rig, d := energise(t)
					if replugged {
						replug(t, rig, d)
					}
					pid := d.cmd.Process.Pid
					if c.core {
						pid = d.ready.Core
					}
					t0 := rt.Now()
					syscall.Kill(pid, c.signal)
					took = append(took, rig.awaitOff(t, t0))
					d.cmd.Process.Kill()
					<-d.done
					rig.unplug()
				}
				slices.Sort(took)
				t.Logf("%s: de-energised after %v median, %v longest of %d", name, took[10], took[19], len(took))
				if took[19] > c.within {
					t.Errorf("longest %v, want within %v", took[19], c.within)
				}
			})
		}
	}
}

// A rig that is killed or stopped is not driven on: twenty times each, before and after a replug.
func TestSoakRigDeath(t *testing.T) {
	for _, replugged := range []bool{false, true} {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
			name := fmt.Sprintf("%v, replugged %v", signal, replugged)
			t.Run(name, func(t *testing.T) {
				var took []time.Duration
				for range 20 {
					link := filepath.Join(t.TempDir(), "rig")
					plug := func() *exec.Cmd {
						c := program(t, "rig", "--bare", "--link", link)
						out, err := c.StdoutPipe()
						if err == nil {
							err = c.Start()
						}
						if err == nil {
							_, err = bufio.NewReader(out).ReadString('\n')
						}
						if err != nil {
							t.Fatal(err)
						}
						t.Cleanup(func() { c.Process.Kill(); c.Wait() })
						return c
					}
					rig := plug()
					d := startRun(t, demoFile(t, link), "--arm", "--record", t.TempDir())
					d.awaitMode("run")
					if replugged {
						rig.Process.Kill()
						rig.Wait()
						d.awaitMode("trip", "hold")
						rig = plug()
						d.awaitLog("LINK_UP")
						d.drive(nil)
					}
					time.Sleep(300 * time.Millisecond)
					t0 := rt.Now()
					rig.Process.Signal(signal)
					d.awaitMode("trip", "hold")
					d.stop()
					took = append(took, leftRun(t, d.ready.Run, t0))
					rig.Process.Kill()
				}
				slices.Sort(took)
				t.Logf("%s: RUN left after %v median, %v longest of %d", name, took[10], took[19], len(took))
				if took[19] > 400*time.Millisecond { // its samples may be 150 ms old in the demo's file
					t.Errorf("longest %v", took[19])
				}
			})
		}
	}
}

// leftRun is the time from t0 (ns of rt.Now) to the first recorded row that is not in RUN.
func leftRun(t *testing.T, path string, t0 int64) time.Duration {
	t.Helper()
	run, err := sink.OpenRun(path)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	at := int64(0)
	if err := run.Rows(func(r *hil.Row) error {
		if at == 0 && r.T >= t0 && r.Mode != hil.Run {
			at = r.T
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if at == 0 {
		t.Fatal("the recording does not leave RUN")
	}
	return time.Duration(at - t0)
}
