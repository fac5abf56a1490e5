package rt

import "time"

// Privileges is what the host granted a core, and in plain sentences what it did not, why, what that costs and how to
// get it.
type Privileges struct {
	FIFO     bool          // every thread runs SCHED_FIFO
	Priority int           // 1 to 99 with FIFO, else 0
	Locked   bool          // memory stays in RAM
	RTTime   time.Duration // a thread that runs this long without a pause is killed; 0: no such net
	Slack    time.Duration // without FIFO: how late the kernel may make a wake-up on purpose; 0: unknown
	Slice    time.Duration // without FIFO: time slice asked for and granted; 0: the kernel's own
	Notes    []string
}
