//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// setOwnGroup puts a child into a session of its own: the terminal's Ctrl-C does not reach it, and Linux schedules it as a
// group of its own.
func setOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// startedBy is the process whose end ends this one, 0: none. It is the parent of a program that was started in the foreground. What is
// meant to outlive the one that started it shows that: a service, a container and setsid lead a session of their own, nohup ignores the
// hang-up, a script's & ignores Ctrl-C, a shell's & is not in the terminal's foreground.
func startedBy() int {
	parent := os.Getppid()
	sid, err := unix.Getsid(0)
	if parent <= 1 || err != nil || sid == os.Getpid() || signal.Ignored(syscall.SIGHUP) || signal.Ignored(syscall.SIGINT) {
		return 0
	}
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return parent
	}
	defer unix.Close(tty)
	if front, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP); err == nil && front != unix.Getpgrp() {
		return 0
	}
	return parent
}

// keepWriting makes a pipe without a reader, and a terminal that stops programs in the background which write to it, an error of the
// write and no end of the program.
func keepWriting() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signal.Ignore(syscall.SIGTTOU)
}

// endMyself is what a signal from outside would do.
func endMyself() { syscall.Kill(os.Getpid(), syscall.SIGTERM) }
