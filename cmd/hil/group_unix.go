//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// setOwnGroup keeps the terminal's Ctrl-C from reaching a child.
func setOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
