package rt

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// LockHolder is the process that holds the lock (flock) on a file, or any process if several hold its descriptor; 0: nobody
// that can be seen. Unlike the descriptors of a process, the locks of all users can be read.
func LockHolder(path string) int {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0
	}
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for l := range strings.Lines(readText("/proc/locks")) { // 1: FLOCK  ADVISORY  WRITE 20996 00:16:3591 0 EOF
		f := strings.Fields(l)
		var pid int
		if len(f) >= 6 && f[1] == "FLOCK" && f[5] == file {
			fmt.Sscan(f[4], &pid)
			return pid
		}
	}
	return 0
}

// ClaimedCPU is a processor that this process ticks on. It is free again when the process ends, however it ends.
type ClaimedCPU struct {
	CPU       int
	SharerPID int // another process that ticks there too; 0: none, or it cannot be seen
	lock      int
}

// ClaimCPU claims a processor for a tick: the wanted one, or, where it is −1 or not ours, the last that nobody ticks on. If
// there is none left, or somebody ticks on the wanted one, it is shared, and SharerPID tells with whom.
//
// The mark is a lock on the processor's own folder in /sys: everybody may open it, nothing needs to be created or cleaned up,
// and the kernel lifts it with the process.
func ClaimCPU(want int) ClaimedCPU {
	set, err := wholeSet()
	if err != nil {
		return ClaimedCPU{CPU: max(0, want), lock: -1}
	}
	cpus := cpuList(set)
	slices.Reverse(cpus)
	if slices.Contains(cpus, want) {
		cpus = []int{want}
	}
	for _, cpu := range cpus {
		fd, err := unix.Open(cpuFolder(cpu), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			return ClaimedCPU{CPU: cpu, lock: fd}
		}
		unix.Close(fd)
	}
	return ClaimedCPU{CPU: cpus[0], SharerPID: LockHolder(cpuFolder(cpus[0])), lock: -1}
}

func cpuFolder(cpu int) string { return fmt.Sprintf("/sys/devices/system/cpu/cpu%d", cpu) }

// Release lets others tick there.
func (c ClaimedCPU) Release() {
	if c.lock >= 0 {
		unix.Close(c.lock)
	}
}
