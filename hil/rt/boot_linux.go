package rt

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Fallback of a core that may not run in real time.
const (
	ordinarySlack = 1                      // ns, against 50 µs by default
	ordinarySlice = 100 * time.Microsecond // a short slice preempts others sooner when it wakes
)

// Boot makes a real-time core of this process. Call it first thing in main, on the main goroutine, which stays locked to
// its thread and should become the one that ticks.
//
// Stage 1 sets the scheduling class on the calling thread and executes this program again; the class survives, so every
// thread of stage 2 is born with it, at one priority. Boot returns in stage 2 only, with the death signal armed, the
// run-time limit set and memory locked as far as the host allows; what it did not allow is in Privileges.Notes and is no
// error. Errors: not started by StartCore, supervisor already gone, threads of unequal priority.
func Boot() (*Handover, error) {
	runtime.LockOSThread()
	text, ok := os.LookupEnv(orderEnv)
	if !ok {
		return nil, errors.New("the core is started by the supervisor only: use the verb run")
	}
	o, err := parseOrder(text)
	if err != nil {
		return nil, err
	}
	if o.stage == 1 {
		return nil, stage1(o)
	}
	return stage2(o)
}

// stage1 ends in another incarnation of the same program; it returns only when that fails.
func stage1(o order) error {
	o.stage = 2
	unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0) // locked memory grows by what is touched, not by 2 MB; no page is collapsed under a tick
	if o.priority > 0 {
		err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: uint32(o.priority)}, 0) // no reset on fork
		var errno syscall.Errno
		if errors.As(err, &errno) {
			o.schedErrno = int(errno)
		}
	}
	if o.priority == 0 || o.schedErrno != 0 {
		bestOrdinary()
	}
	err := syscall.Exec("/proc/self/exe", os.Args, coreEnv(os.Environ(), nil, o))
	return fmt.Errorf("core: execute itself again: %w", err)
}

// bestOrdinary asks for what needs no privilege: wake-ups on time and a short slice. Threads inherit both. What the
// kernel does not know it ignores; stage 2 looks at what became of it.
func bestOrdinary() {
	unix.Prctl(unix.PR_SET_TIMERSLACK, ordinarySlack, 0, 0, 0)
	shortSlice(0)
}

// shortSlice asks for ordinarySlice on a thread of the ordinary class.
func shortSlice(tid int) error {
	a, err := unix.SchedGetAttr(tid, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return err
	}
	return unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Nice: a.Nice, Runtime: uint64(ordinarySlice)}, 0)
}

func stage2(o order) (*Handover, error) {
	os.Unsetenv(orderEnv)
	h := &Handover{MemoryFD: memoryFD, Parent: o.parent, life: lifeFD, signals: make(chan os.Signal, 8)}
	for i := range o.extra {
		h.Extra = append(h.Extra, uintptr(extraFD+i))
	}
	for fd := memoryFD; fd < extraFD+o.extra; fd++ {
		unix.CloseOnExec(fd)
	}

	// a terminal, or a pipe whose reader died with the supervisor, must not stop or kill the core before the safe state
	signal.Notify(h.signals, unix.SIGUSR1, unix.SIGTERM)
	signal.Ignore(unix.SIGINT, unix.SIGHUP, unix.SIGPIPE, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)

	// the death signal first, then the look at the parent: one of the two notices, whenever it dies
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGUSR1), 0, 0, 0); err != nil {
		return nil, fmt.Errorf("core: parent-death signal: %w", err)
	}
	if p := os.Getppid(); p != o.parent {
		return nil, fmt.Errorf("core: the supervisor (pid %d) was gone before the core was up; parent is %d", o.parent, p)
	}

	p := &h.Privileges
	if err := p.readScheduling(o); err != nil {
		return nil, err
	}
	if p.FIFO && o.rtTime > 0 {
		p.limitRTTime(o.rtTime)
	}
	if o.priority > 0 {
		p.lockMemory()
	}
	return h, nil
}

// readScheduling looks at what this process really got, on every thread.
func (p *Privileges) readScheduling(o order) error {
	threads, err := Threads(os.Getpid())
	if err != nil {
		return fmt.Errorf("core: %w", err)
	}
	switch {
	case o.priority == 0:
		p.Notes = append(p.Notes, "real-time scheduling was not asked for; "+costOrdinary)
	case o.schedErrno != 0:
		p.Notes = append(p.Notes, refusedNote(syscall.Errno(o.schedErrno), o.priority))
	default:
		for _, t := range threads {
			if t.Policy != "FIFO" || t.Priority != o.priority {
				return fmt.Errorf("core: thread %d (%s) runs %s %d, want FIFO %d on every thread: unequal priorities can hang the processor", t.TID,
					t.Name, t.Policy, t.Priority, o.priority)
			}
		}
		p.FIFO, p.Priority = true, o.priority
		return nil
	}

	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		p.Slack = time.Duration(slack)
	}
	if a, err := unix.SchedGetAttr(0, 0); err == nil && a.Policy == unix.SCHED_NORMAL && time.Duration(a.Runtime) == ordinarySlice {
		p.Slice = ordinarySlice
	} else {
		p.Notes = append(p.Notes, "the kernel granted no time slice of its own (Linux 6.12 and later do); woken ticks wait longer for a busy "+
			"processor")
	}
	return nil
}

// limitRTTime sets the net under a hang inside a system call or the runtime: SIGKILL, since the soft limit's SIGXCPU ends
// nothing here.
func (p *Privileges) limitRTTime(d time.Duration) {
	us := uint64(d / time.Microsecond)
	var now unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_RTTIME, &now)
	if err == nil {
		us = min(us, now.Max) // a limit can be lowered only
		err = unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: us, Max: us})
	}
	if err != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("RLIMIT_RTTIME could not be set (%v): a hung core is ended by the supervisor's watch alone", err))
		return
	}
	p.RTTime = time.Duration(us) * time.Microsecond
}

// lockMemory keeps pages in RAM once touched. With a limit on locked memory it does not even try: MCL_FUTURE succeeds
// there and kills the runtime later, when the heap cannot grow.
func (p *Privileges) lockMemory() {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lim); err != nil {
		lim.Cur = 0
	}
	if lim.Cur != unix.RLIM_INFINITY && !hasCapability(unix.CAP_IPC_LOCK) {
		p.Notes = append(p.Notes, fmt.Sprintf("memory is not locked: RLIMIT_MEMLOCK is %s and CAP_IPC_LOCK is missing; under memory pressure a "+
			"tick can wait milliseconds for a page. %s", limitText(lim.Cur), cureMemory))
		return
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("memory is not locked: mlockall: %v; under memory pressure a tick can wait milliseconds for a "+
			"page. %s", err, cureMemory))
		return
	}
	p.Locked = true
}

const (
	costOrdinary = "on an idle host ticks wake about 1.7 times (p99) to 2.8 times (p99.9) later than in real time, and a busy host loses steps"
	cureFIFO     = "To get it: LimitRTPRIO=80 in the systemd unit, or \"@audio - rtprio 80\" in /etc/security/limits.d and a new login, or " +
		"setcap cap_sys_nice,cap_ipc_lock+ep on the program"
	cureMemory = "To get it: LimitMEMLOCK=infinity in the systemd unit, or \"@audio - memlock unlimited\" in /etc/security/limits.d and a " +
		"new login"
)

// refusedNote says why real-time scheduling was refused, as far as the host tells.
func refusedNote(errno syscall.Errno, priority int) string {
	var lim unix.Rlimit
	unix.Getrlimit(unix.RLIMIT_RTPRIO, &lim)
	why := ""
	switch {
	case errno == unix.EPERM && lim.Cur < uint64(priority) && !hasCapability(unix.CAP_SYS_NICE):
		why = fmt.Sprintf("RLIMIT_RTPRIO is %d (want ≥ %d) and CAP_SYS_NICE is missing", lim.Cur, priority)
	case errno == unix.EPERM && zeroRTGroup():
		why = "the cpu control group has no real-time share (RT_GROUP_SCHED with cpu.rt_runtime_us = 0); write a share there or move the " +
			"process to the root group"
	case errno == unix.EPERM:
		why = "the limits would allow it, so a container, a user namespace or a control group without real-time share (RT_GROUP_SCHED) forbids it"
	default:
		why = "the kernel does not offer it"
	}
	note := fmt.Sprintf("real-time scheduling refused (sched_setattr FIFO %d: %v): %s; %s.", priority, errno, why, costOrdinary)
	if strings.HasPrefix(why, "RLIMIT") {
		note += " " + cureFIFO
	}
	return note
}

// zeroRTGroup tells whether this process's version 1 cpu control group has a real-time share of zero.
func zeroRTGroup() bool {
	for l := range strings.Lines(readText("/proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(l), ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, ctl := range strings.Split(f[1], ",") {
			if ctl == "cpu" && readText("/sys/fs/cgroup/"+f[1]+f[2]+"/cpu.rt_runtime_us") == "0" {
				return true
			}
		}
	}
	return false
}

// hasCapability tells whether this process holds a capability in its effective set.
func hasCapability(c uint) bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return false
	}
	return data[c/32].Effective&(1<<(c%32)) != 0
}
