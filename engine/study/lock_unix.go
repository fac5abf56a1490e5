//go:build unix

package study

import (
	"os"
	"syscall"
)

// lock keeps other programs from the file until it is closed, also by the death of this one.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
