package rt

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ReadCPUStat reads the time accounts of every processor from /proc/stat.
func ReadCPUStat() ([]CPUTicks, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil, err
	}
	return parseCPUStat(string(b))
}

// Threads lists the threads of a process with their scheduling, by thread id. Threads that end meanwhile are left out.
func Threads(pid int) ([]Thread, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("threads of process %d: %w", pid, err)
	}
	var threads []Thread
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		var set unix.CPUSet
		a, err := unix.SchedGetAttr(tid, 0)
		if err == nil {
			err = unix.SchedGetaffinity(tid, &set)
		}
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("scheduling of thread %d: %w", tid, err)
		}
		threads = append(threads, Thread{TID: tid, Name: readText(filepath.Join(dir, e.Name(), "comm")), Policy: policyName(a.Policy),
			Priority: int(a.Priority), Nice: int(a.Nice), CPUs: cpuList(&set)})
	}
	slices.SortFunc(threads, func(a, b Thread) int { return a.TID - b.TID })
	return threads, nil
}

func policyName(p uint32) string {
	switch p {
	case unix.SCHED_NORMAL:
		return "OTHER"
	case unix.SCHED_FIFO:
		return "FIFO"
	case unix.SCHED_RR:
		return "RR"
	case unix.SCHED_BATCH:
		return "BATCH"
	case unix.SCHED_IDLE:
		return "IDLE"
	case unix.SCHED_DEADLINE:
		return "DEADLINE"
	}
	return fmt.Sprintf("policy %d", p)
}

// DescribeHost reads what decides about latency. It takes some milliseconds; what cannot be read stays empty.
func DescribeHost() Host {
	config := kernelConfig()
	h := Host{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Kernel:      readText("/proc/sys/kernel/osrelease"),
		Build:       readText("/proc/sys/kernel/version"),
		ClockSource: readText("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		Isolated:    readText("/sys/devices/system/cpu/isolated"),
		NoHZFull:    strings.ReplaceAll(readText("/sys/devices/system/cpu/nohz_full"), "(null)", ""),
		Virtual:     virtualKind(),
		LimitPrio:   limit(unix.RLIMIT_RTPRIO, func(v uint64) string { return strconv.FormatUint(v, 10) }),
		LimitMemory: limit(unix.RLIMIT_MEMLOCK, limitText),
		LimitRTTime: limit(unix.RLIMIT_RTTIME, func(v uint64) string { return (time.Duration(v) * time.Microsecond).String() }),
		CapNice:     hasCapability(unix.CAP_SYS_NICE),
		CapLock:     hasCapability(unix.CAP_IPC_LOCK),
	}
	h.Preemption = preemption(h.Build, config)
	h.HZ, _ = strconv.Atoi(config["CONFIG_HZ"])
	if run, all := readText("/proc/sys/kernel/sched_rt_runtime_us"), readText("/proc/sys/kernel/sched_rt_period_us"); run != "" {
		h.Throttle = run + "/" + all
		if run == "-1" {
			h.Throttle = "off"
		}
	}
	if f := strings.Fields(readText("/proc/loadavg")); len(f) >= 3 {
		h.Load = strings.Join(f[:3], " ")
	}
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	for _, f := range files {
		if g := readText(f); g != "" && !slices.Contains(h.Governors, g) {
			h.Governors = append(h.Governors, g)
		}
	}
	return h
}

// preemption tells the model in force: the kernel's own word if it can be read, else the command line, else the build.
func preemption(build string, config map[string]string) string {
	if readText("/sys/kernel/realtime") == "1" || strings.Contains(build, "PREEMPT_RT") {
		return "rt"
	}
	if list := readText("/sys/kernel/debug/sched/preempt"); list != "" { // "none voluntary (full) lazy"
		if _, rest, ok := strings.Cut(list, "("); ok {
			mode, _, _ := strings.Cut(rest, ")")
			return mode
		}
	}
	for _, arg := range strings.Fields(readText("/proc/cmdline")) {
		if mode, ok := strings.CutPrefix(arg, "preempt="); ok {
			return mode + " (command line)"
		}
	}
	for _, m := range []struct{ key, mode string }{{"CONFIG_PREEMPT_NONE", "none"}, {"CONFIG_PREEMPT_VOLUNTARY", "voluntary"},
		{"CONFIG_PREEMPT_LAZY", "lazy"}, {"CONFIG_PREEMPT", "full"}} {
		if config[m.key] == "y" {
			return m.mode + " (build)"
		}
	}
	if strings.Contains(build, "PREEMPT_DYNAMIC") {
		return "dynamic, mode unknown"
	}
	return ""
}

// kernelConfig reads the options the kernel was built with; empty when neither of the usual places has them.
func kernelConfig() map[string]string {
	var r io.Reader
	if f, err := os.Open("/proc/config.gz"); err == nil {
		defer f.Close()
		if r, err = gzip.NewReader(f); err != nil {
			return nil
		}
	} else if f, err := os.Open("/boot/config-" + readText("/proc/sys/kernel/osrelease")); err == nil {
		defer f.Close()
		r = f
	} else {
		return nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	config := map[string]string{}
	for l := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(l), "="); ok && strings.HasPrefix(key, "CONFIG_") {
			config[key] = value
		}
	}
	return config
}

// virtualKind names the virtual machine this runs in, as well as the firmware tells.
func virtualKind() string {
	vendor := strings.TrimSpace(readText("/sys/class/dmi/id/sys_vendor") + " " + readText("/sys/class/dmi/id/product_name"))
	if kind := readText("/sys/hypervisor/type"); kind != "" {
		return kind
	}
	for l := range strings.Lines(readText("/proc/cpuinfo")) {
		if key, flags, _ := strings.Cut(l, ":"); strings.TrimSpace(key) == "flags" {
			if !slices.Contains(strings.Fields(flags), "hypervisor") {
				return ""
			}
			if vendor != "" {
				return vendor
			}
			return "yes, kind unknown"
		}
	}
	// processors without such a flag (arm64): the firmware's words
	for _, known := range []string{"QEMU", "KVM", "VMware", "VirtualBox", "Xen", "Amazon EC2", "Google Compute", "Virtual Machine"} {
		if strings.Contains(vendor, known) {
			return vendor
		}
	}
	return ""
}

func limit(which int, text func(uint64) string) string {
	var l unix.Rlimit
	if err := unix.Getrlimit(which, &l); err != nil {
		return ""
	}
	if l.Cur == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return text(l.Cur)
}

func limitText(bytes uint64) string {
	if bytes == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return fmt.Sprintf("%.4g MiB", float64(bytes)/(1<<20))
}

// readText is a small file's content without its line end; empty when it cannot be read.
func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
