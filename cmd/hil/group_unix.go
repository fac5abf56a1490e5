//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// setOwnGroup keeps the terminal's Ctrl-C from reaching a child.
func setOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// preferred asks for a friendlier place in the ordinary scheduling class; without the privilege nothing happens.
func preferred() { syscall.Setpriority(syscall.PRIO_PROCESS, 0, -10) }
