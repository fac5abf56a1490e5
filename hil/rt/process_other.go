//go:build unix && !linux

package rt

import "golang.org/x/sys/unix"

func openProcess(int) (fd int, err error) { return -1, unix.ENOSYS }
