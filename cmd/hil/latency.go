package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hilrig/engine/numeric"
	"hilrig/hil/rt"
)

// latencyOptions are the flags of hil latency.
type latencyOptions struct {
	pairs int
	each  time.Duration
	rate  float64
	load  string
	json  bool
	cpuA  int
	cpuB  int
}

func newLatencyCmd() *cobra.Command {
	o := latencyOptions{cpuA: 0, cpuB: runtime.NumCPU() - 1}
	pair := false
	c := &cobra.Command{
		Use:   "latency",
		Short: "Measure how late the loop wakes up on this machine, alone or against cyclictest",
		Long: `Runs the whole daemon (virtual rig, recorder, broker, page and a subscriber) and measures the lateness of the tick.

--pair compares it with cyclictest side by side: core on one processor and reference on the other in the same seconds,
then exchanged. Halves in which the host stole processor time are void and repeated. The verdict is taken from the median
over the pairs: PASS if p99 ≤ 1.5×, p99.9 ≤ 2.0× the reference's and missed steps exceed its shortfall by ≤ 0.2 points.
Exit code 6 if it fails, or if fewer than five pairs were valid (inconclusive).`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch o.load {
			case "idle", "full", "garbage", "heap":
			default:
				return exitWith(exitUsage, fmt.Errorf("--load %q: want idle, full, garbage or heap", o.load))
			}
			if o.rate < 10 || o.rate > 20000 || o.each < time.Second {
				return exitWith(exitUsage, errors.New("--rate takes 10 to 20000 Hz, --each at least 1s"))
			}
			if pair {
				return latencyPairs(c.OutOrStdout(), c.ErrOrStderr(), o)
			}
			return latencyAlone(c.OutOrStdout(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&pair, "pair", false, "compare with cyclictest in swapped pairs")
	f.IntVar(&o.pairs, "pairs", 7, "valid pairs wanted")
	f.DurationVar(&o.each, "each", 10*time.Second, "length of a measurement")
	f.Float64Var(&o.rate, "rate", 1000, "ticks per second")
	f.StringVar(&o.load, "load", "full", "idle: daemon alone; full: page polled, subscriber; garbage: also noise on the serial line; heap: also 1 GB/s allocated in the supervisor")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// half is one measurement: the loop on one processor, the reference on the other.
type half struct {
	CoreCPU   int       `json:"core_cpu"`
	Loop      timing    `json:"loop"`
	Reference timing    `json:"reference"`
	Steal     []float64 `json:"steal_percent"`
	Void      string    `json:"void,omitempty"`
	FIFO      bool      `json:"fifo"`
	BusyP50   float64   `json:"busy_p50_us"`
	loopHist  []uint64
	refHist   []uint64
}

// timing is a lateness distribution in µs and the share of steps that did not happen.
type timing struct {
	P50    float64 `json:"p50_us"`
	P99    float64 `json:"p99_us"`
	P999   float64 `json:"p999_us"`
	Max    float64 `json:"max_us"`
	Missed float64 `json:"missed_percent"`
	N      uint64  `json:"samples"`
}

// pairResult is two halves with exchanged processors and the geometric means of their ratios.
type pairResult struct {
	Halves    [2]half `json:"halves"`
	RatioP99  float64 `json:"ratio_p99"`
	RatioP999 float64 `json:"ratio_p999"`
	Void      bool    `json:"void"`
}

type latencyReport struct {
	Rate      float64      `json:"rate_hz"`
	Load      string       `json:"load"`
	Reference string       `json:"reference"`
	Host      rt.Host      `json:"host"`
	Pairs     []pairResult `json:"pairs"`
	Valid     int          `json:"valid_pairs"`
	P99       float64      `json:"median_ratio_p99"`
	P999      float64      `json:"median_ratio_p999"`
	Missed    float64      `json:"missed_minus_shortfall_points"`
	PoolLoop  timing       `json:"pooled_loop"`
	PoolRef   timing       `json:"pooled_reference"`
	Verdict   string       `json:"verdict"`
}

func latencyAlone(w io.Writer, o latencyOptions) error {
	h, err := measureHalf(o, o.cpuB, -1)
	if err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(w).Encode(h)
	}
	t := h.Loop
	fmt.Fprintf(w, "loop at %g Hz for %v, load %s: lateness p50 %.1f  p99 %.1f  p99.9 %.1f  max %.1f µs, %.3f %% of steps missed\n", o.rate, o.each, o.load, t.P50, t.P99, t.P999, t.Max, t.Missed)
	fmt.Fprintf(w, "busy p50 %.1f µs; real-time scheduling %s\n", h.BusyP50, map[bool]string{true: "on", false: "not granted (see hil run's first lines)"}[h.FIFO])
	fmt.Fprintln(w, asStarted("Compare with cyclictest: hil latency --pair"))
	return nil
}

func latencyPairs(w, progress io.Writer, o latencyOptions) error {
	if runtime.NumCPU() < 2 {
		return exitWith(exitUnavailable, errors.New("a pair needs two processors"))
	}
	if _, err := exec.LookPath("cyclictest"); err != nil {
		return exitWith(exitUnavailable, errors.New("cyclictest is not installed; on Debian: apt-get install rt-tests"))
	}
	rep := latencyReport{Rate: o.rate, Load: o.load, Reference: "cyclictest -m -q -t1 -p 90", Host: rt.DescribeHost()}
	for n := 0; n < 3*o.pairs && rep.Valid < o.pairs; n++ {
		var p pairResult
		cpus := [2][2]int{{o.cpuA, o.cpuB}, {o.cpuB, o.cpuA}}
		if n%2 == 1 {
			cpus[0], cpus[1] = cpus[1], cpus[0]
		}
		for i, c := range cpus {
			h, err := measureHalf(o, c[0], c[1])
			if err != nil {
				return err
			}
			p.Halves[i] = h
			p.Void = p.Void || h.Void != ""
		}
		ratio := func(f func(timing) float64) float64 {
			a, b := p.Halves[0], p.Halves[1]
			return math.Sqrt(f(a.Loop) / f(a.Reference) * f(b.Loop) / f(b.Reference))
		}
		p.RatioP99 = ratio(func(t timing) float64 { return max(t.P99, 1) })
		p.RatioP999 = ratio(func(t timing) float64 { return max(t.P999, 1) })
		rep.Pairs = append(rep.Pairs, p)
		if !p.Void {
			rep.Valid++
		}
		fmt.Fprintf(progress, "pair %d (%d of %d valid): p99 ×%.2f, p99.9 ×%.2f %s%s\n", n+1, rep.Valid, o.pairs, p.RatioP99, p.RatioP999, p.Halves[0].Void, p.Halves[1].Void)
	}
	rep.finish()
	if o.json {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		if err := enc.Encode(rep); err != nil {
			return err
		}
	} else {
		rep.print(w)
	}
	if !strings.HasPrefix(rep.Verdict, "PASS") {
		return exitWith(exitQuality, fmt.Errorf("verdict %s", rep.Verdict))
	}
	return nil
}

// finish takes the medians and the verdict.
func (r *latencyReport) finish() {
	var p99, p999 []float64
	loop, ref := make([]uint64, histBins), make([]uint64, histBins)
	var missed, short, steps, halves float64
	fifo := true
	for _, p := range r.Pairs {
		if p.Void {
			continue
		}
		p99, p999 = append(p99, p.RatioP99), append(p999, p.RatioP999)
		for _, h := range p.Halves {
			add(loop, h.loopHist)
			add(ref, h.refHist)
			missed += h.Loop.Missed
			short += h.Reference.Missed
			steps += float64(h.Loop.N)
			halves++
			fifo = fifo && h.FIFO
		}
	}
	if len(p99) > 0 {
		r.P99, r.P999 = numeric.Median(p99), numeric.Median(p999)
	}
	r.PoolLoop, r.PoolRef = distribution(loop), distribution(ref)
	if halves > 0 {
		r.PoolLoop.Missed, r.PoolRef.Missed = missed/halves, short/halves
		r.Missed = (missed - short) / halves
	}
	switch {
	case r.Valid < 5:
		r.Verdict = fmt.Sprintf("INCONCLUSIVE: %d valid pairs, 5 needed; the host took processor time away or the reference itself was late", r.Valid)
	case r.P99 <= 1.5 && r.P999 <= 2.0 && r.Missed <= 0.2 && !fifo:
		r.Verdict = "unprivileged: within the bounds, but without real-time scheduling this is no pass"
	case r.P99 <= 1.5 && r.P999 <= 2.0 && r.Missed <= 0.2:
		r.Verdict = "PASS"
	default:
		r.Verdict = "FAIL"
	}
}

func (r *latencyReport) print(w io.Writer) {
	fmt.Fprintf(w, "\n%g Hz, load %s, against %s\n%s\n\n", r.Rate, r.Load, r.Reference, hostLine(r.Host))
	fmt.Fprintf(w, "pair  core  loop p50/p99/p99.9/max µs      missed %%   reference p50/p99/p99.9/max µs   short %%  steal %%     ×p99  ×p99.9\n")
	for i, p := range r.Pairs {
		for k, h := range p.Halves {
			fmt.Fprintf(w, "%3d   cpu%d  %6.0f %6.0f %7.0f %7.0f   %7.3f   %6.0f %6.0f %7.0f %7.0f   %7.3f  ", i+1, h.CoreCPU,
				h.Loop.P50, h.Loop.P99, h.Loop.P999, h.Loop.Max, h.Loop.Missed, h.Reference.P50, h.Reference.P99, h.Reference.P999, h.Reference.Max, h.Reference.Missed)
			for _, s := range h.Steal {
				fmt.Fprintf(w, "%.1f ", s)
			}
			if k == 1 {
				fmt.Fprintf(w, "   %.2f  %.2f", p.RatioP99, p.RatioP999)
			}
			if h.Void != "" {
				fmt.Fprintf(w, "   void: %s", h.Void)
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintf(w, "\npooled over valid halves: loop p99 %.0f p99.9 %.0f µs, missed %.3f %%; reference p99 %.0f p99.9 %.0f µs, short %.3f %%\n",
		r.PoolLoop.P99, r.PoolLoop.P999, r.PoolLoop.Missed, r.PoolRef.P99, r.PoolRef.P999, r.PoolRef.Missed)
	fmt.Fprintf(w, "median of %d valid pairs: p99 ×%.2f (≤ 1.5), p99.9 ×%.2f (≤ 2.0), missed − shortfall %+.3f points (≤ 0.2)\n%s\n", r.Valid, r.P99, r.P999, r.Missed, r.Verdict)
}

// measureHalf runs the whole daemon with its core on cpu and, unless refCPU is −1, cyclictest on refCPU in the same seconds.
func measureHalf(o latencyOptions, cpu, refCPU int) (half, error) {
	h := half{CoreCPU: cpu}
	dir, err := os.MkdirTemp("", "hil-latency-")
	if err != nil {
		return h, err
	}
	defer os.RemoveAll(dir)
	d, err := startDaemon(o, dir, cpu)
	if err != nil {
		return h, err
	}
	defer d.kill()
	stopLoad := func() {}
	if o.load != "idle" {
		stopLoad = d.visit()
	}
	defer stopLoad()

	before, _ := rt.ReadCPUStat()
	begun := rt.Now()
	if refCPU >= 0 {
		us := int(1e6/o.rate + 0.5)
		out, err := exec.Command("cyclictest", "-m", "-q", "-t1", "-p", "90", "-a", fmt.Sprint(refCPU), "-i", fmt.Sprint(us),
			"-D", fmt.Sprint(int(o.each.Seconds())), "-h", fmt.Sprint(histBins)).CombinedOutput()
		if err != nil {
			return h, exitWith(exitUnavailable, fmt.Errorf("cyclictest: %w: %s", err, strings.TrimSpace(string(out))))
		}
		h.refHist = parseCyclictest(string(out))
		h.Reference = distribution(h.refHist)
		h.Reference.Missed = 100 * max(0, 1-float64(h.Reference.N)/(o.rate*o.each.Seconds()))
	} else {
		time.Sleep(o.each)
	}
	after, _ := rt.ReadCPUStat()
	for i := range min(len(before), len(after)) {
		h.Steal = append(h.Steal, after[i].StealPercent(before[i]))
	}
	stopLoad()
	if err := d.wait(filepath.Join(dir, "summary.json"), &h, begun+margin, begun+int64(o.each)-margin); err != nil {
		return h, err
	}
	if refCPU < 0 {
		return h, nil
	}
	for i, s := range h.Steal {
		if s > 1 && (i == cpu || i == refCPU) {
			h.Void = fmt.Sprintf("steal %.1f %% on cpu%d", s, i)
		}
	}
	if h.Reference.P999 > 2000 {
		h.Void = fmt.Sprintf("reference p99.9 %.0f µs", h.Reference.P999)
	}
	if h.Reference.Missed > 0.5 {
		h.Void = fmt.Sprintf("reference short by %.2f %%", h.Reference.Missed)
	}
	return h, nil
}

const (
	histBins = 30000 // of 1 µs, as cyclictest prints them; what is later counts as 30 ms
	margin   = 2e8   // ns  at both ends, in which the reference may not be measuring yet, or no longer
)

// parseCyclictest reads the histogram lines "000012 000345" of cyclictest -q -h.
func parseCyclictest(out string) []uint64 {
	hist := make([]uint64, histBins)
	for _, line := range strings.Split(out, "\n") {
		var us, n uint64
		if strings.HasPrefix(line, "#") {
			var over uint64
			if _, err := fmt.Sscanf(line, "# Histogram Overflows: %d", &over); err == nil {
				hist[histBins-1] += over
			}
			continue
		}
		if _, err := fmt.Sscanf(line, "%d %d", &us, &n); err == nil && us < histBins {
			hist[us] += n
		}
	}
	return hist
}

// distribution reads percentiles off a histogram of 1 µs bins.
func distribution(hist []uint64) timing {
	var t timing
	for i, n := range hist {
		t.N += n
		if n > 0 {
			t.Max = float64(i)
		}
	}
	at := func(p float64) float64 {
		want, sum := uint64(math.Ceil(p*float64(t.N))), uint64(0)
		for i, n := range hist {
			if sum += n; sum >= want && sum > 0 {
				return float64(i)
			}
		}
		return 0
	}
	t.P50, t.P99, t.P999 = at(0.50), at(0.99), at(0.999)
	return t
}

func add(dst, src []uint64) {
	for i := range min(len(dst), len(src)) {
		dst[i] += src[i]
	}
}

// hostLine is what decides about latency on this machine, in one line.
func hostLine(h rt.Host) string {
	virtual := h.Virtual
	if virtual == "" {
		virtual = "bare metal"
	}
	return fmt.Sprintf("%s, preemption %s, HZ %d, clock %s, %d processors (isolated: %q), %s, rtprio limit %s, memlock limit %s, load %s",
		h.Kernel, h.Preemption, h.HZ, h.ClockSource, h.CPUs, h.Isolated, virtual, h.LimitPrio, h.LimitMemory, h.Load)
}
