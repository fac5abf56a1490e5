package rt

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// whole is the set of processors that this process had before any thread of it was pinned.
var whole struct {
	sync.Once
	set unix.CPUSet
	err error
}

func wholeSet() (*unix.CPUSet, error) {
	whole.Do(func() { whole.err = unix.SchedGetaffinity(0, &whole.set) })
	return &whole.set, whole.err
}

// PinThread keeps the calling goroutine on its thread, and that thread on one processor. Other threads are not touched,
// and GOMAXPROCS must be explicit (it is in a core started by StartCore), else the runtime would follow the mask.
func PinThread(cpu int) error {
	runtime.LockOSThread() // first: the runtime then makes new threads from an unpinned template
	set, err := wholeSet()
	if err == nil && (cpu < 0 || !set.IsSet(cpu)) {
		runtime.UnlockOSThread()
		return fmt.Errorf("pin to cpu%d: this process may use %v only", cpu, cpuList(set))
	}
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("pin to cpu%d: %w", cpu, err)
	}
	return nil
}

// KeepOff takes every thread of this process, and those that they start later, off one processor, so that the system calls
// of ordinary work, which a kernel without preemption does not interrupt, do not stand in the way of a tick pinned there.
// A core started afterwards is not affected. With a single processor, or if this process may not use cpu anyway, nothing
// happens.
func KeepOff(cpu int) error {
	set, err := wholeSet()
	if err != nil {
		return fmt.Errorf("keep off cpu%d: %w", cpu, err)
	}
	if cpu < 0 || !set.IsSet(cpu) || set.Count() < 2 {
		return nil
	}
	rest := *set
	rest.Clear(cpu)
	if err := eachThread(func(tid int) error { return unix.SchedSetaffinity(tid, &rest) }); err != nil {
		return fmt.Errorf("keep off cpu%d: %w", cpu, err)
	}
	return nil
}

// eachThread does something to every thread of this process.
func eachThread(do func(tid int) error) error {
	for range 2 { // a thread born during the first pass inherits or is seen by the second
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			if err := do(tid); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	return nil
}

// preferred is the nice value that Prefer asks for.
const preferred = -15

// Prefer puts every thread of this process, and those that they start later, above other ordinary work, and so the scheduling
// group of its session if it has one of its own: a supervisor that does not get to beat is a core that trips, and a rig that
// starves stops sending. A session that others share is left alone, since its group would lift all of them, over the kernel's
// own workers too. Without the privilege only a short time slice is had (Linux 6.12), with which a thread that wakes up is put
// before one that computes.
func Prefer() {
	eachThread(func(tid int) error {
		unix.Setpriority(unix.PRIO_PROCESS, tid, preferred)
		return shortSlice(tid)
	})
	if sid, err := unix.Getsid(0); err == nil && sid == os.Getpid() {
		os.WriteFile("/proc/self/autogroup", []byte(fmt.Sprint(preferred)), 0)
	}
}

// Yielding puts every thread of this process, and those that they start later, below all other ordinary work: long computations beside a
// loop.
func Yielding() {
	eachThread(func(tid int) error { return unix.Setpriority(unix.PRIO_PROCESS, tid, 19) })
}

func cpuList(set *unix.CPUSet) (cpus []int) {
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}
