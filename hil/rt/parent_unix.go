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

// Process is another process that is watched. A number that is given again to a later process does not deceive it where the system has
// descriptors of processes (Linux 5.3); a zombie has ended.
type Process struct {
	pid, fd int // fd −1: there is no descriptor, the process is asked for by its number
	exited  bool
}

// WatchProcess watches the process with this number from now on. One that is not there any more has ended.
func WatchProcess(pid int) *Process {
	p := &Process{pid: pid, fd: -1}
	switch fd, err := openProcess(pid); err {
	case nil:
		p.fd = fd
	case unix.ESRCH:
		p.exited = true
	}
	return p
}

// Exited tells whether it has ended.
func (p *Process) Exited() bool {
	switch {
	case p.exited:
	case p.fd >= 0:
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, 0)
		p.exited = err == nil && n > 0
	default:
		p.exited = unix.Kill(p.pid, 0) == unix.ESRCH
	}
	return p.exited
}

// Close gives the descriptor back.
func (p *Process) Close() {
	if p.fd >= 0 {
		unix.Close(p.fd)
		p.fd = -1
	}
}
