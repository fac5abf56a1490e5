// Package daemontest is for tests: it starts hil run as a program of its own and reads what it says.
package daemontest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/daemon"
)

// Log collects what a program writes, while others read it.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *Log) String() string { return l.From(0) }

// From is what was written behind the first n bytes.
func (l *Log) From(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b.Bytes()[n:])
}

// Len is the number of bytes written.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Len()
}

// Daemon is a hil run whose core ticks.
type Daemon struct {
	Cmd          *exec.Cmd
	ReadyLine    daemon.ReadyLine
	Log          *Log          // its standard error
	EndedChannel chan struct{} // closed at its end
	t            testing.TB
}

// Start starts a command line of hil run with --ready-line and waits until its core ticks. The daemon is killed at the end of the test,
// and what it said is told if the test failed.
func Start(t testing.TB, cmd *exec.Cmd) *Daemon {
	t.Helper()
	d := &Daemon{Cmd: cmd, Log: &Log{}, EndedChannel: make(chan struct{}), t: t}
	cmd.Stderr = d.Log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make(chan string, 1)
	go func() {
		if sc := bufio.NewScanner(out); sc.Scan() {
			first <- sc.Text()
		}
		io.Copy(io.Discard, out)
		cmd.Wait()
		close(d.EndedChannel)
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGCONT)
		cmd.Process.Kill()
		<-d.EndedChannel
		if t.Failed() {
			t.Logf("the daemon said:\n%s", d.Log)
		}
	})
	select {
	case line := <-first:
		if err := json.Unmarshal([]byte(line), &d.ReadyLine); err != nil {
			t.Fatalf("ready line %q: %v", line, err)
		}
	case <-d.EndedChannel:
		t.Fatalf("the daemon ended with %d:\n%s", cmd.ProcessState.ExitCode(), d.Log)
	case <-time.After(time.Minute):
		t.Fatalf("not ready within a minute:\n%s", d.Log)
	}
	return d
}

// Stop sends a signal and returns the exit code.
func (d *Daemon) Stop(signal os.Signal) int {
	d.t.Helper()
	d.Cmd.Process.Signal(signal)
	select {
	case <-d.EndedChannel:
	case <-time.After(20 * time.Second):
		d.t.Fatalf("the daemon does not stop:\n%s", d.Log)
	}
	return d.Cmd.ProcessState.ExitCode()
}
