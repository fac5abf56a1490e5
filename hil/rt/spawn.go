package rt

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// CoreSpec says how to start a core.
type CoreSpec struct {
	Path   string     // program; empty: this one, even when its file was replaced
	Args   []string   // arguments after the program's name; the program calls Boot first thing
	Env    []string   // variables on top of this process's
	Memory *os.File   // shared memory, Handover.MemoryFD in the core
	Extra  []*os.File // further descriptors, Handover.Extra in the core
	Stdout *os.File   // nil: this process's
	Stderr *os.File   // nil: this process's

	RealTime bool          // ask for FIFO, locked memory and the run-time limit; false: ordinary scheduling
	Priority int           // FIFO priority 1 to 99; 0: 50
	RTTime   time.Duration // a thread of the core that runs this long without a pause is killed; 0: 500 ms; < 0: no limit

	user *uint32 // tests: run as this user without privileges
}

// order checks the spec and turns it into what the core is told.
func (s *CoreSpec) order() (order, error) {
	o := order{stage: 1, parent: os.Getpid(), extra: len(s.Extra)}
	if s.Memory == nil {
		return o, fmt.Errorf("start core: no shared memory given")
	}
	if s.Priority < 0 || s.Priority > 99 {
		return o, fmt.Errorf("start core: priority %d, want 1 to 99", s.Priority)
	}
	if !s.RealTime {
		return o, nil
	}
	o.priority, o.rtTime = s.Priority, s.RTTime
	if o.priority == 0 {
		o.priority = defaultPriority
	}
	if o.rtTime == 0 {
		o.rtTime = defaultRTTime
	}
	o.rtTime = max(0, o.rtTime)
	return o, nil
}

// Core is a running core, seen by its supervisor.
type Core struct {
	PID     int
	cmd     *exec.Cmd
	life    *os.File // writing end of the life pipe; the core lives as long as it is open
	done    chan Exit
	process *process
}

// Done delivers the end of the core, once, and is closed then.
func (c *Core) Done() <-chan Exit { return c.done }

// Kill ends the core at once (SIGKILL), also when it is stopped or hung. Done tells when it is gone.
func (c *Core) Kill() { c.cmd.Process.Kill() } // the only error is that it is gone already

// Stopped tells whether a signal (SIGSTOP) holds the core. To be asked by one goroutine; it allocates nothing.
func (c *Core) Stopped() bool { return c.process.stopped() }

// Ran is how long the thread that ticks has had a processor, ns, and whether it waits for one or has it now: a core that stands still,
// wants a processor and does not get it, is starved, not hung. As Stopped.
func (c *Core) Ran() (ns int64, wants bool) { return c.process.ran() }

// Exit is how a core ended and what it used.
type Exit struct {
	PID    int
	Code   int            // exit code; -1 when a signal ended it
	Signal syscall.Signal // 0: it ended by itself
	Lived  time.Duration
	User   time.Duration // processor time of its own
	System time.Duration // processor time in the kernel

	MaxRSS      int64 // B  largest resident set
	Voluntary   int64 // waits
	Involuntary int64 // preemptions
	Faults      int64 // page faults that waited for a disk
	Err         error // waiting failed; the rest is unknown
}

func (e Exit) String() string {
	if e.Err != nil {
		return fmt.Sprintf("core (pid %d): waiting for its end failed: %v", e.PID, e.Err)
	}
	how := fmt.Sprintf("exited with code %d", e.Code)
	if e.Signal != 0 {
		how = fmt.Sprintf("was ended by signal %d (%v)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("core (pid %d) %s after %v; processor time %v user, %v system; %.1f MB resident; %d waits, %d preemptions, %d page "+
		"faults from disk", e.PID, how,
		e.Lived.Round(time.Millisecond), e.User.Round(time.Millisecond), e.System.Round(time.Millisecond), float64(e.MaxRSS)/1e6, e.Voluntary,
		e.Involuntary, e.Faults)
}
