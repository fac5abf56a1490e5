//go:build unix

package daemon

import (
	"os/exec"
	"syscall"
)

// setOwnGroup puts a child into a session of its own: the terminal's Ctrl-C does not reach it, and Linux schedules it as a
// group of its own.
func setOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
