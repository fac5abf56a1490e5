//go:build unix

package rt

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartedBy is the process whose end ends this one, 0: none. It is the parent of a program that was started in the foreground. What is
// meant to outlive the one that started it shows that: a service, a container and setsid lead a session of their own, nohup ignores the
// hang-up, a script's & ignores Ctrl-C, a shell's & is not in the terminal's foreground.
func StartedBy() int {
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
