//go:build unix

package device

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// access asks whether this user may read and write the port, without opening it: opening raises DTR and resets boards.
func access(name string) error {
	if err := unix.Access(name, unix.R_OK|unix.W_OK); err != nil {
		return &fs.PathError{Op: "access", Path: name, Err: err}
	}
	return nil
}

// ownerGroup is the mode and the group of the port.
func ownerGroup(name string) (mode fs.FileMode, gid int, ok bool) {
	st, err := os.Stat(name)
	if err != nil {
		return 0, 0, false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return st.Mode(), int(sys.Gid), true
}
