package rt

import "golang.org/x/sys/unix"

// openProcess is a descriptor that can be read when the process has ended.
func openProcess(pid int) (fd int, err error) { return unix.PidfdOpen(pid, 0) }
