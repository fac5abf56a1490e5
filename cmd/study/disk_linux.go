package study

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// warnLocalDisk says so where the program or the folder is on a disk of this machine: other nodes may not see it.
func warnLocalDisk(dir string, stderr io.Writer) {
	program, err := os.Executable()
	if err != nil {
		return
	}
	for _, path := range []string{program, dir} {
		var st unix.Statfs_t
		if unix.Statfs(path, &st) != nil {
			continue
		}
		switch int64(st.Type) {
		case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
			fmt.Fprintf(stderr, "warning: %s is on a disk of this machine; every node needs it under this path\n", path)
		}
	}
}
