//go:build unix

package rt

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// A process has ended when it is a zombie, and one that was never there has ended from the start.
func TestWatchProcess(t *testing.T) {
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	for _, descriptor := range []bool{true, false} {
		p := WatchProcess(pid)
		if !descriptor {
			p.Close()
		}
		if p.Exited() {
			t.Fatal("a living process has ended")
		}
		defer p.Close()
	}
	p := WatchProcess(pid)
	defer p.Close()
	c.Process.Kill()
	for end := time.Now().Add(10 * time.Second); p.fd >= 0 && !p.Exited(); { // nobody has waited for it yet
		if time.Now().After(end) {
			t.Fatal("a killed process has not ended")
		}
		time.Sleep(time.Millisecond)
	}
	c.Wait()
	for _, gone := range []*Process{p, WatchProcess(pid), {pid: pid, fd: -1}} {
		if !gone.Exited() {
			t.Error("a process that is gone has not ended")
		}
	}
	if WatchProcess(os.Getpid()).Exited() {
		t.Error("this process has ended")
	}
}
