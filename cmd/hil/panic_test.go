package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// panicLater lets a goroutine panic that nobody waits for, a while after the program named in the environment has begun: a verb or the
// core. In the core it does so once, before it is restarted.
func panicLater() {
	verb, once := os.Getenv("HIL_TEST_PANIC"), os.Getenv("HIL_TEST_PANIC_ONCE")
	if verb == "" || len(os.Args) < 2 || os.Args[1] != verb {
		return
	}
	go func() {
		defer failure.Report()
		for {
			time.Sleep(20 * time.Millisecond)
			if _, err := os.Stat(once); err == nil && os.Remove(once) == nil {
				panic("a slip for the test")
			}
		}
	}()
}

// A panic beside the loop ends the run with the rig in its safe state, one line and exit code 1; the recording is whole.
func TestDaemonPanicBesideTheLoop(t *testing.T) {
	once := filepath.Join(t.TempDir(), "now")
	t.Setenv("HIL_TEST_PANIC", "run")
	t.Setenv("HIL_TEST_PANIC_ONCE", once)
	dir := t.TempDir()
	d := startRun(t, tolerant(t, virtualPort), "--record", dir)
	d.awaitMode("run")
	if err := os.WriteFile(once, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	select {
	case <-d.done:
	case <-time.After(20 * time.Second):
		t.Fatal("the run goes on")
	}
	said := d.errs.String()
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := lines[len(lines)-1]
	if code := d.cmd.ProcessState.ExitCode(); code != 1 || !strings.HasPrefix(last, "hil: internal error: a slip for the test at "+
		"cmd/hil/panic_test.go:") || strings.Count(said, "hil: internal error") != 1 || strings.Contains(said, "goroutine ") {
		t.Errorf("exit code %d, last line %q", code, last)
	}
	run, err := sink.OpenRun(filepath.Join(dir, oneRun(t, dir)))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var row, newest hil.Row
	rows := run.Iter()
	for rows.Next(&row) {
		newest = row
	}
	if cut, lost := run.Truncated(); cut || newest.Mode.Energised() || rows.Err() != nil {
		t.Errorf("the recording: %v, ends in mode %v, %s, %v", cut, newest.Mode, lost, rows.Err())
	}
}

// A panic in the core is said with its place; another core is started, and the rig stays off.
func TestDaemonPanicInTheCore(t *testing.T) {
	once := filepath.Join(t.TempDir(), "now")
	t.Setenv("HIL_TEST_PANIC", daemon.CoreVerb)
	t.Setenv("HIL_TEST_PANIC_ONCE", once)
	d := startRun(t, tolerant(t, virtualPort), "--record", t.TempDir())
	d.awaitMode("run")
	if err := os.WriteFile(once, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !strings.Contains(d.errs.String(), "epoch 2") && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	d.awaitMode("ready")
	said := d.errs.String()
	if !strings.Contains(said, "CORE_FAILED") || !strings.Contains(said, "a slip for the test at cmd/hil/panic_test.go:") ||
		strings.Contains(said, "goroutine ") {
		t.Error(said)
	}
	if code := d.stop(); code != 130 && code != 5 {
		t.Errorf("exit code %d", code)
	}
}

// A fit that panics in its own process says one line, which the daemon tells.
func TestPanicOfAFit(t *testing.T) {
	once := filepath.Join(t.TempDir(), "now")
	if err := os.WriteFile(once, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HIL_TEST_PANIC", "identify")
	t.Setenv("HIL_TEST_PANIC_ONCE", once)
	c := program(t, "identify", "../../configs/identify/lugre-kalman.yaml", "--beside")
	in, err := c.StdinPipe() // its end ends the fit
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var errs strings.Builder
	c.Stdout, c.Stderr = io.Discard, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(30*time.Second, func() { c.Process.Signal(syscall.SIGKILL) })
	defer stop.Stop()
	c.Wait()
	if said := errs.String(); c.ProcessState.ExitCode() != 1 || strings.Count(said, "hil: internal error: a slip for the test") != 1 ||
		strings.Contains(said, "goroutine ") {
		t.Errorf("exit code %d: %s", c.ProcessState.ExitCode(), said)
	}
}

// oneRun is the only recording below a folder.
func oneRun(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for _, e := range all {
		if e.IsDir() {
			if name != "" {
				t.Fatal(errors.New("several recordings"))
			}
			name = e.Name()
		}
	}
	return name
}
