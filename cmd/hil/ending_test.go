//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/hil"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

// A daemon is reachable where it was started, without a terminal too: whatever happens to those around it, the rig ends in the safe state,
// the recording is closed, and no process is left.
func TestDaemonEndsWithItsStarter(t *testing.T) {
	inPairs(t)
	for _, c := range []struct {
		name   string
		always bool                         // not only in make soak
		make   bool                         // through make run; else by a shell that waits
		end    func(starter int, all []int) // all are those below the starter, its daemon and its core last
	}{
		{"make run, interrupt to the group", true, true, func(s int, all []int) { syscall.Kill(-s, syscall.SIGINT) }},
		{"make run, termination of make", true, true, func(s int, all []int) { syscall.Kill(s, syscall.SIGTERM) }},
		{"make run, termination of the group", false, true, func(s int, all []int) { syscall.Kill(-s, syscall.SIGTERM) }},
		{"make run, make killed", true, true, func(s int, all []int) { syscall.Kill(s, syscall.SIGKILL) }},
		{"a shell, interrupt to the group", false, false, func(s int, all []int) { syscall.Kill(-s, syscall.SIGINT) }},
		{"a shell, hang-up of the group", true, false, func(s int, all []int) { syscall.Kill(-s, syscall.SIGHUP) }},
		{"a shell, killed", false, false, func(s int, all []int) { syscall.Kill(s, syscall.SIGKILL) }},
		{"termination of every process", true, false, func(s int, all []int) {
			for _, pid := range slices.Backward(all) {
				syscall.Kill(pid, syscall.SIGTERM)
			}
		}},
		{"hang-up of the daemon", false, false, func(s int, all []int) { syscall.Kill(all[len(all)-2], syscall.SIGHUP) }},
	} {
		if !c.always && !soak {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			inPairs(t)
			dir, file, rig := endingRig(t)
			args := []string{file, "--arm", "--web", "localhost:0", "--mqtt", "localhost:0", "--record", dir}
			var cmd *exec.Cmd
			if c.make {
				cmd = makeRun(t, args)
			} else {
				exe := program(t)
				cmd = exec.Command("/bin/sh", "-c", `"$@"; exit $?`, "sh", exe.Path, "run")
				cmd.Args, cmd.Env = append(cmd.Args, args...), exe.Env
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a supervisor of processes starts it
			errs := &syncBuffer{}
			cmd.Stdout, cmd.Stderr = errs, errs
			startAwaited(t, cmd)
			if !rig.awaitOn(30 * time.Second) {
				t.Fatalf("the rig was never driven:\n%s", errs)
			}
			time.Sleep(300 * time.Millisecond)
			all := processTree(cmd.Process.Pid)
			t0 := rt.Now()
			c.end(cmd.Process.Pid, all)
			t.Logf("de-energised after %v", rig.awaitOff(t, t0))
			awaitGone(t, all)
			cleanEnd(t, dir)
		})
	}
}

// What is meant to outlive the one that started it does: nohup, setsid, and & of a script.
func TestDaemonOutlivesItsStarter(t *testing.T) {
	inPairs(t)
	for name, script := range map[string]string{
		"nohup":  `nohup "$@" & wait`,
		"setsid": `setsid "$@" & wait`,
		"&":      `"$@" & wait`,
	} {
		if name != "&" && !soak {
			continue
		}
		t.Run(name, func(t *testing.T) {
			inPairs(t)
			dir, file, rig := endingRig(t)
			exe := program(t)
			cmd := exec.Command("/bin/sh", "-c", script, "sh", exe.Path, "run", file, "--arm", "--no-web", "--no-mqtt", "--record", dir)
			cmd.Env = exe.Env
			startAwaited(t, cmd)
			if !rig.awaitOn(30 * time.Second) {
				t.Fatal("the rig was never driven")
			}
			all := processTree(cmd.Process.Pid)
			syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
			time.Sleep(time.Second)
			daemon := all[len(all)-2] // the last is the core
			if on, _ := rig.energised(); !on {
				t.Error("it ended with the shell")
			}
			syscall.Kill(daemon, syscall.SIGTERM)
			syscall.Kill(daemon, syscall.SIGTERM) // as timeout does: to its child and to the group
			awaitGone(t, all)
			cleanEnd(t, dir)
		})
	}
}

// A log that nobody reads holds nothing up: orders are answered, rows recorded, the run ends. The log of a run whose reader comes back says
// what is missing.
func TestDaemonLogUnread(t *testing.T) {
	inPairs(t)
	dir, file := t.TempDir(), tolerant(t, "virtual") // a rig of its own, which busy tests beside this one do not starve
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := program(t, "run", file, "--web", "localhost:0", "--mqtt", "localhost:0", "--record", dir, "--ready-line", "--log-format", "json")
	out := &syncBuffer{}
	cmd.Stdout, cmd.Stderr = out, w
	startAwaited(t, cmd)
	w.Close()
	d := &daemonUnderTest{t: t, cmd: cmd, errs: &syncBuffer{}}
	for end := time.Now().Add(30 * time.Second); !strings.Contains(out.String(), "\n"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not ready within 30 s")
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &d.ready); err != nil {
		t.Fatal(err)
	}
	d.awaitMode("run")
	// 64 kB of a pipe, and more
	for i := range 500 {
		t0 := time.Now()
		if r := d.command("arm", "{}"); r.OK || time.Since(t0) > 2*time.Second {
			t.Fatalf("order %d: %+v after %v", i, r, time.Since(t0))
		}
	}
	time.Sleep(3500 * time.Millisecond) // until it is told of
	if d.state()["mode"] != "run" {
		t.Errorf("the rig is not driven any more: %v %v", d.state()["mode"], d.health()["why"])
	}
	if r := d.command("estop", "{}"); !r.OK {
		t.Errorf("estop: %+v", r)
	}
	d.awaitMode("estop")
	if r := d.command("reset", "{}"); !r.OK {
		t.Errorf("reset: %+v", r)
	}
	go io.Copy(d.errs, r)
	for _, text := range []string{`"code":"LOG_STUCK"`, `"code":"LOG_READ"`} {
		d.awaitLog(text)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	awaitGone(t, []int{cmd.Process.Pid, d.ready.Core})
	cleanEnd(t, dir)
}

// A signal at any moment of a start ends it: with 130, with no process left, and with no drive energised.
func TestDaemonInterruptedWhileItStarts(t *testing.T) {
	inPairs(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, after := range []int{60, 120, 200, 300, 450, 700} { // ms
			if !soak && (s != syscall.SIGHUP || after%200 != 0) {
				continue
			}
			t.Run(fmt.Sprint(s, " after ", after, " ms"), func(t *testing.T) {
				cmd := program(t, "run", "--web", "localhost:0", "--mqtt", "localhost:0", "--record", t.TempDir())
				var errs bytes.Buffer
				cmd.Stderr = &errs
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(after) * time.Millisecond)
				all := processTree(cmd.Process.Pid)
				cmd.Process.Signal(s)
				begun := time.Now()
				cmd.Wait()
				took := time.Since(begun)
				code := cmd.ProcessState.ExitCode()
				early := cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() // before the program looked at signals
				if code != 130 && !early && code != 5 || took > 8*time.Second || strings.Contains(errs.String(), "CORE_LOST") {
					t.Errorf("code %d after %v\n%s", code, took, &errs)
				}
				awaitGone(t, all)
			})
		}
	}
}

// endingRig is a rig that a daemon may drive, and the tolerant file for it.
func endingRig(t *testing.T) (dir, file string, rig *watchedRig) {
	rig = startWatchedRig(t)
	return t.TempDir(), tolerant(t, rig.port, "max_error: 50 rad", "max_error: 0 rad", "max_speed: 5000 rad/s", "max_speed: 0 rad/s"), rig
}

// makeRun is make run of this repository with the program under test.
func makeRun(t *testing.T, args []string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("make")
	if err != nil {
		t.Skip("make is not installed")
	}
	makefile, err := filepath.Abs("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	exe := program(t)
	dir := t.TempDir()
	if err := os.Symlink(exe.Path, filepath.Join(dir, "hil")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-f", makefile, "-o", "build", "run", "BIN=hil", "ARGS="+strings.Join(args, " "))
	cmd.Dir, cmd.Env = dir, exe.Env
	return cmd
}

// startAwaited starts a program that is waited for, and killed with all below it at the end of the test.
func startAwaited(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	t.Cleanup(func() {
		for _, pid := range processTree(cmd.Process.Pid) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// processTree is a process and those below it, in the order of their start.
func processTree(pid int) (all []int) {
	parent := map[int]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, d := range dirs {
		data, err := os.ReadFile(d)
		if err != nil {
			continue
		}
		f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		me, _ := strconv.Atoi(strings.Split(d, "/")[2])
		parent[me], _ = strconv.Atoi(f[1])
	}
	all = []int{pid}
	for i := 0; i < len(all); i++ {
		var below []int
		for child, p := range parent {
			if p == all[i] {
				below = append(below, child)
			}
		}
		slices.Sort(below)
		all = append(all, below...)
	}
	return all
}

// awaitGone waits until none of the processes is left.
func awaitGone(t *testing.T, pids []int) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || strings.HasPrefix(string(data[bytes.LastIndexByte(data, ')')+1:]), " Z")
		})
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("processes %v of %v are still there", left, pids)
			return
		}
	}
}

// cleanEnd checks that the recording below dir has its summary and ends outside of TRIP.
func cleanEnd(t *testing.T, dir string) {
	t.Helper()
	path := firstRun(t, dir)
	run, err := sink.OpenRun(path)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	data, err := os.ReadFile(filepath.Join(path, "run.mcap"))
	if err != nil || !bytes.HasSuffix(data, []byte("\x89MCAP0\r\n")) {
		t.Errorf("the recording was not closed (%v)", err)
	}
	var last hil.Row
	if err := run.Rows(func(r *hil.Row) error { last = *r; return nil }); err != nil {
		t.Error(err)
	}
	if last.Mode == hil.Trip || last.Mode.Energised() {
		t.Errorf("the last row is in mode %s", last.Mode)
	}
}
