//go:build unix

package main

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// setOwnGroup puts a child into a session of its own: the terminal's Ctrl-C does not reach it, and Linux schedules it as a
// group of its own.
func setOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// preferred asks for a friendlier place in the ordinary scheduling class, for every thread that exists (the later ones
// inherit it) and for its session's scheduling group; without the privilege nothing happens.
func preferred() {
	os.WriteFile("/proc/self/autogroup", []byte("-10"), 0)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			syscall.Setpriority(syscall.PRIO_PROCESS, tid, -10)
		}
	}
}
