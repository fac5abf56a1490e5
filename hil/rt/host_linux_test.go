package rt

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hilrig/engine/peer"
)

// What DescribeHost reads, against what the system's own programs and calls say.
func TestDescribeHost(t *testing.T) {
	h := DescribeHost()
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	if want := unix.ByteSliceToString(u.Release[:]); h.Kernel != want {
		t.Errorf("kernel %q, uname says %q", h.Kernel, want)
	}
	if want := unix.ByteSliceToString(u.Version[:]); h.Build != want {
		t.Errorf("build %q, uname says %q", h.Build, want)
	}
	if h.CPUs != runtime.NumCPU() || h.OS != "linux" || h.LimitPrio == "" || h.LimitMemory == "" || h.Load == "" {
		t.Errorf("incomplete: %+v", h)
	}
	t.Logf("%+v", h)
}

// The scheduling of a process that somebody else set up: chrt and taskset do it, Threads must see it.
func TestThreadsOfAnotherProcess(t *testing.T) {
	chrt := peer.Program(t, "chrt", "util-linux")
	cmd := exec.Command(chrt, "-b", "0", "sleep", "30")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	waitFor(t, "chrt to become sleep", func() bool {
		th, err := Threads(cmd.Process.Pid)
		return err == nil && len(th) == 1 && th[0].Name == "sleep" && th[0].Policy == "BATCH" && th[0].Priority == 0
	})
	if _, err := Threads(1 << 29); err == nil {
		t.Error("threads of a process that does not exist")
	}
}

func TestOwnThreads(t *testing.T) {
	th, err := Threads(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	main := slices.IndexFunc(th, func(x Thread) bool { return x.TID == os.Getpid() })
	if main < 0 || len(th[main].CPUs) == 0 || !slices.IsSortedFunc(th, func(a, b Thread) int { return a.TID - b.TID }) {
		t.Errorf("the main thread is not there, or they are not in order: %+v", th)
	}
}

func TestReadCPUStat(t *testing.T) {
	cpus, err := ReadCPUStat()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < runtime.NumCPU() || cpus[0].Total() == 0 {
		t.Errorf("%+v", cpus)
	}
}

func TestParseCPUStat(t *testing.T) {
	const text = "cpu  30 0 20 500 7 0 1 44 0 0\ncpu0 10 1 12 250 3 4 5 17 0 0\ncpu3 20 0 8 250 4 0 1 27 0 0\nintr 12 0\n"
	cpus, err := parseCPUStat(text)
	if err != nil {
		t.Fatal(err)
	}
	want := CPUTicks{CPU: 0, User: 10, Nice: 1, System: 12, Idle: 250, IOWait: 3, IRQ: 4, SoftIRQ: 5, Steal: 17}
	if len(cpus) != 2 || cpus[0] != want || cpus[1].CPU != 3 || cpus[0].Total() != 302 {
		t.Errorf("%+v", cpus)
	}
	later := want
	later.Steal, later.Idle = 20, 347 // 3 of 100 ticks
	if got := later.StealPercent(want); got != 3 {
		t.Errorf("steal %g %%, want 3", got)
	}
	if got := want.StealPercent(want); got != 0 {
		t.Errorf("steal over no time %g", got)
	}
	for _, bad := range []string{"", "cpu0 1 2 3\n", "cpuX 1 2 3 4 5 6 7 8\n", "cpu0 1 2 3 4 5 6 7 -8\n"} {
		if _, err := parseCPUStat(bad); err == nil || !strings.Contains(err.Error(), "/proc/stat") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
