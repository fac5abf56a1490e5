package rt

// Host is what decides about latency on this machine. Empty text and 0 mean: could not be read.
type Host struct {
	OS          string   `json:"os"`
	Arch        string   `json:"arch"`
	Kernel      string   `json:"kernel"`       // release
	Build       string   `json:"build"`        // version line with the build's options
	Preemption  string   `json:"preemption"`   // none, voluntary, lazy, full, rt; with the way it was found out
	HZ          int      `json:"hz"`           // of the scheduler's tick
	ClockSource string   `json:"clock_source"` // tsc is fast and good; hpet and acpi_pm are system calls
	CPUs        int      `json:"cpus"`         // on line
	Isolated    string   `json:"isolated"`     // processors kept free of others, as the kernel writes them
	NoHZFull    string   `json:"nohz_full"`    // processors without a tick, as the kernel writes them
	Governors   []string `json:"governors"`    // frequency governors in use; none in most virtual machines
	Virtual     string   `json:"virtual"`      // kind of virtual machine; empty on bare metal
	Throttle    string   `json:"rt_throttle"`  // real-time share of each period, µs
	LimitPrio   string   `json:"limit_rtprio"`
	LimitMemory string   `json:"limit_memlock"`
	LimitRTTime string   `json:"limit_rttime"`
	CapNice     bool     `json:"cap_sys_nice"`
	CapLock     bool     `json:"cap_ipc_lock"`
	Load        string   `json:"load"` // load average over 1, 5 and 15 min
}

// Thread is the scheduling of one thread.
type Thread struct {
	TID      int
	Name     string
	Policy   string // OTHER, FIFO, RR, BATCH, IDLE, DEADLINE
	Priority int    // of FIFO and RR
	Nice     int
	CPUs     []int // processors it may use
}
