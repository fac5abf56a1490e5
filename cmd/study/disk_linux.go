package study

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// Numbers of file systems on a disk or in the memory of one machine; see statfs(2).
const (
	ext4      = 0xef53
	xfs       = 0x58465342
	btrfs     = 0x9123683e
	tmpfs     = 0x01021994
	overlayfs = 0x794c7630
)

// warnLocalDisk says so where the program or the folder is on a disk of this machine: other nodes may not see it.
func warnLocalDisk(dir string, stderr io.Writer) {
	program, err := os.Executable()
	if err != nil {
		return
	}
	for _, path := range []string{program, dir} {
		var st syscall.Statfs_t
		if syscall.Statfs(path, &st) != nil {
			continue
		}
		switch int64(st.Type) {
		case ext4, xfs, btrfs, tmpfs, overlayfs:
			fmt.Fprintf(stderr, "warning: %s is on a disk of this machine; every node needs it under this path\n", path)
		}
	}
}
