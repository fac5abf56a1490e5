//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// setOwnGroup puts a child into a session of its own: the terminal's Ctrl-C does not reach it, and Linux schedules it as a
// group of its own.
func setOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// keepWriting makes a pipe without a reader, and a terminal that stops programs in the background which write to it, an error of the
// write and no end of the program.
func keepWriting() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signal.Ignore(syscall.SIGTTOU)
}

// endMyself is what a signal from outside would do.
func endMyself() { syscall.Kill(os.Getpid(), syscall.SIGTERM) }
