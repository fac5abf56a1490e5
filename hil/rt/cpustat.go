package rt

import (
	"fmt"
	"strconv"
	"strings"
)

// CPUTicks is what one processor has spent its time on since the start of the machine, in ticks of 10 ms.
type CPUTicks struct {
	CPU                                                   int
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal uint64
}

// Total is all time, stolen time included. (Guest time is part of User.)
func (c CPUTicks) Total() uint64 {
	return c.User + c.Nice + c.System + c.Idle + c.IOWait + c.IRQ + c.SoftIRQ + c.Steal
}

// StealPercent is the share of time since before that the host of a virtual machine gave to somebody else, in %. In 10 s
// it resolves 0.1 %.
func (c CPUTicks) StealPercent(before CPUTicks) float64 {
	all := c.Total() - before.Total()
	if c.Total() <= before.Total() || c.Steal < before.Steal {
		return 0 // idle and iowait may count backwards; nothing measurable went by
	}
	return 100 * float64(c.Steal-before.Steal) / float64(all)
}

// parseCPUStat reads the cpuN lines of /proc/stat, one result per processor that is on line, in their order.
func parseCPUStat(text string) ([]CPUTicks, error) {
	var cpus []CPUTicks
	for l := range strings.Lines(text) {
		f := strings.Fields(l)
		if len(f) == 0 || !strings.HasPrefix(f[0], "cpu") || f[0] == "cpu" {
			continue
		}
		var c CPUTicks
		n, err := strconv.Atoi(f[0][3:])
		if err != nil || len(f) < 9 {
			return nil, fmt.Errorf("/proc/stat: line %q: want cpuN and at least 8 numbers", strings.TrimSpace(l))
		}
		c.CPU = n
		for i, to := range []*uint64{&c.User, &c.Nice, &c.System, &c.Idle, &c.IOWait, &c.IRQ, &c.SoftIRQ, &c.Steal} {
			if *to, err = strconv.ParseUint(f[1+i], 10, 64); err != nil {
				return nil, fmt.Errorf("/proc/stat: line %q: %w", strings.TrimSpace(l), err)
			}
		}
		cpus = append(cpus, c)
	}
	if len(cpus) == 0 {
		return nil, fmt.Errorf("/proc/stat: no line for a processor")
	}
	return cpus, nil
}
