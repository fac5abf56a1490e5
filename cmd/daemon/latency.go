package daemon

import (
	"context"
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

	"hilrig/cmd/report"
	"hilrig/engine/numeric"
	"hilrig/hil/rt"
)

// LatencyOptions are the flags of hil latency.
type LatencyOptions struct {
	Blocks        int
	BlockDuration time.Duration
	Rate          float64
	Load          string
	Json          bool
	Cpu           int // processor under test
	Pair          bool
}

// Latency measures how late the loop wakes up, alone or beside cyclictest.
func Latency(ctx context.Context, o LatencyOptions, stdout, stderr io.Writer) error {
	switch o.Load {
	case "idle", "full", "garbage", "heap":
	default:
		return report.ExitWith(report.Usage, fmt.Errorf("--load %q: want idle, full, garbage or heap", o.Load))
	}
	if o.Rate < 10 || o.Rate > 20000 || o.BlockDuration < time.Second || o.BlockDuration%time.Second != 0 {
		return report.ExitWith(report.Usage, errors.New("--rate takes 10 to 20000 Hz, --each whole seconds"))
	}
	if o.Pair {
		return LatencyPairs(ctx, stdout, stderr, o)
	}
	return LatencyAlone(ctx, stdout, stderr, o)
}

// block is one measurement on the processor under test: of the loop, or of the reference in its place.
type block struct {
	Reference bool `json:"reference"`
	timing
	Steal   float64 `json:"steal_percent"`
	Void    string  `json:"void,omitempty"`
	FIFO    bool    `json:"fifo"`
	BusyP50 float64 `json:"busy_p50_us"`
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

type latencyReport struct {
	Rate      float64 `json:"rate_hz"`
	Load      string  `json:"load"`
	CPU       int     `json:"cpu"`
	Reference string  `json:"reference"`
	Host      rt.Host `json:"host"`
	Blocks    []block `json:"blocks"`
	Loop      timing  `json:"median_loop"`
	Ref       timing  `json:"median_reference"`
	Valid     [2]int  `json:"valid_blocks"` // of the loop, of the reference
	P99       float64 `json:"ratio_p99"`
	P999      float64 `json:"ratio_p999"`
	Missed    float64 `json:"missed_minus_shortfall_points"`
	SelfP99   float64 `json:"reference_against_itself_p99"` // every second block against the others: what the machine scatters
	SelfP999  float64 `json:"reference_against_itself_p999"`
	Verdict   string  `json:"verdict"`
}

// LatencyAlone measures how late the tick wakes on this machine.
func LatencyAlone(ctx context.Context, w, progress io.Writer, o LatencyOptions) error {
	bar := report.NewProgress(progress)
	bar.Watch(report.Stage{Method: "latency", Note: "a block of " + o.BlockDuration.String()})
	b, err := measureBlock(ctx, o, false)
	bar.Finish()
	if err != nil {
		return err
	}
	if o.Json {
		return json.NewEncoder(w).Encode(b)
	}
	fmt.Fprintf(w, "loop at %g Hz for %v, load %s: lateness p50 %.1f  p99 %.1f  p99.9 %.1f  max %.1f µs, %.3f %% of steps missed\n", o.Rate,
		o.BlockDuration, o.Load, b.P50, b.P99, b.P999, b.Max, b.Missed)
	fmt.Fprintf(w, "busy p50 %.1f µs; real-time scheduling %s\n", b.BusyP50, map[bool]string{true: "on", false: "not granted (see " +
		"hil run's " +
		"first lines)"}[b.FIFO])
	fmt.Fprintln(w, report.AsStarted("Compare with cyclictest: hil latency --pair"))
	return nil
}

// LatencyPairs measures in turn, on one processor and under one load, how late the tick of a daemon and cyclictest wake.
func LatencyPairs(ctx context.Context, w, progress io.Writer, o LatencyOptions) error {
	if runtime.NumCPU() < 2 {
		return report.ExitWith(report.Unavailable, errors.New("the daemon needs a second processor while the reference is measured"))
	}
	if _, err := exec.LookPath("cyclictest"); err != nil {
		return report.ExitWith(report.Unavailable, errors.New("cyclictest is not installed; on Debian: apt-get install rt-tests"))
	}
	rep := latencyReport{Rate: o.Rate, Load: o.Load, CPU: o.Cpu, Reference: strings.Join(cyclictest(o), " "), Host: rt.DescribeHost()}
	for n := 0; n < 6*o.Blocks && min(rep.Valid[0], rep.Valid[1]) < o.Blocks; n++ {
		kind := (n + 1) / 2 % 2 // loop, reference, reference, loop, …
		if rep.Valid[kind] >= o.Blocks {
			kind = 1 - kind
		}
		bar := report.NewProgress(progress)
		left := time.Duration(2*o.Blocks-rep.Valid[0]-rep.Valid[1]) * o.BlockDuration
		bar.Watch(report.Stage{Method: "latency", Phase: "block", Step: n + 1, Note: fmt.Sprintf("%v left, if none is discarded", left)})
		b, err := measureBlock(ctx, o, kind == 1)
		bar.Finish()
		if err != nil {
			return err
		}
		rep.Blocks = append(rep.Blocks, b)
		if b.Void == "" {
			rep.Valid[kind]++
		}
		fmt.Fprintf(progress, "%-9s p50 %3.0f  p99 %4.0f  p99.9 %5.0f  max %6.0f µs, missed %.3f %%  %s\n", [2]string{"loop", "reference"}[kind],
			b.P50, b.P99, b.P999, b.Max, b.Missed, b.Void)
	}
	rep.finish(o.Blocks)
	if o.Json {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		if err := enc.Encode(rep); err != nil {
			return err
		}
	} else {
		rep.print(w)
	}
	if !strings.HasPrefix(rep.Verdict, "PASS") {
		return report.ExitWith(report.Quality, fmt.Errorf("verdict %s", rep.Verdict))
	}
	return nil
}

// The verdict's bounds.
const (
	maxP99Ratio     = 1.2
	maxP999Ratio    = 1.5
	maxMissedPoints = 0.2 // points
	minBlocks       = 10  // blocks of each
)

// finish takes the medians and the verdict.
func (r *latencyReport) finish(wanted int) {
	var kinds [2][]block
	fifo := true
	for _, b := range r.Blocks {
		if b.Void != "" {
			continue
		}
		if b.Reference {
			kinds[1] = append(kinds[1], b)
		} else {
			kinds[0] = append(kinds[0], b)
			fifo = fifo && b.FIFO
		}
	}
	r.Loop, r.Ref = medianOf(kinds[0]), medianOf(kinds[1])
	r.P99, r.P999, r.Missed = r.Loop.P99/max(r.Ref.P99, 1), r.Loop.P999/max(r.Ref.P999, 1), r.Loop.Missed-r.Ref.Missed
	var half [2][]block
	for i, b := range kinds[1] {
		half[i%2] = append(half[i%2], b)
	}
	a, b := medianOf(half[0]), medianOf(half[1])
	r.SelfP99, r.SelfP999 = a.P99/max(b.P99, 1), a.P999/max(b.P999, 1)
	within := r.P99 <= maxP99Ratio && r.P999 <= maxP999Ratio && r.Missed <= maxMissedPoints
	switch {
	case min(r.Valid[0], r.Valid[1]) < max(wanted, minBlocks):
		r.Verdict = fmt.Sprintf("INCONCLUSIVE: %d valid blocks of the loop and %d of the reference, %d of each needed", r.Valid[0], r.Valid[1],
			max(wanted, minBlocks))
	case within && !fifo:
		r.Verdict = "unprivileged: within the bounds, but without real-time scheduling this is no pass"
	case within:
		r.Verdict = "PASS"
	default:
		r.Verdict = "FAIL"
	}
}

// medianOf takes each figure's median over blocks.
func medianOf(blocks []block) (m timing) {
	for _, f := range []func(*timing) *float64{
		func(t *timing) *float64 { return &t.P50 }, func(t *timing) *float64 { return &t.P99 }, func(t *timing) *float64 { return &t.P999 },
		func(t *timing) *float64 { return &t.Max }, func(t *timing) *float64 { return &t.Missed },
	} {
		var v []float64
		for i := range blocks {
			v = append(v, *f(&blocks[i].timing))
		}
		if len(v) > 0 {
			*f(&m) = numeric.Median(v)
		}
	}
	for _, b := range blocks {
		m.N += b.N
	}
	return m
}

func (r *latencyReport) print(w io.Writer) {
	fmt.Fprintf(w, "\n%g Hz on cpu%d, load %s, against %s\n%s\n\n", r.Rate, r.CPU, r.Load, r.Reference, hostLine(r.Host))
	row := func(name string, t timing, n int) {
		fmt.Fprintf(w, "%-10s %4.0f %7.0f %7.0f %8.0f %9.3f   %d blocks, %d samples\n", name, t.P50, t.P99, t.P999, t.Max, t.Missed, n, t.N)
	}
	fmt.Fprintln(w, "medians     p50     p99   p99.9      max  missed %")
	row("loop", r.Loop, r.Valid[0])
	row("reference", r.Ref, r.Valid[1])
	fmt.Fprintf(w, "\np99 ×%.2f (≤ %g), p99.9 ×%.2f (≤ %g), missed − shortfall %+.3f points (≤ %g)\n", r.P99, maxP99Ratio, r.P999,
		maxP999Ratio, r.Missed, maxMissedPoints)
	fmt.Fprintf(w, "the reference against itself, every second block: p99 ×%.2f, p99.9 ×%.2f\n%s\n", r.SelfP99, r.SelfP999, r.Verdict)
}

// cyclictest is the reference's command line, without the processor.
func cyclictest(o LatencyOptions) []string {
	return []string{"cyclictest", "-m", "-q", "-t1", "-p", "90", "--default-system", "-i", fmt.Sprint(int(1e6/o.Rate + 0.5)), "-D",
		fmt.Sprint(int(o.BlockDuration.Seconds())), "-h", fmt.Sprint(histBins)}
}

var errLatencyInterrupted = report.ExitWith(report.Interrupted,
	errors.New("latency: interrupted; what is measured of a block counts for nothing"))

// pause waits, and fails where the measurement is interrupted meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return errLatencyInterrupted
	case <-time.After(d):
		return nil
	}
}

// measureBlock runs the whole daemon under its load for one block. With reference, cyclictest has the tick's processor, and the
// tick runs on the other one.
func measureBlock(ctx context.Context, o LatencyOptions, reference bool) (block, error) {
	b := block{Reference: reference}
	dir, err := os.MkdirTemp("", "hil-latency-")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	d, err := startDaemon(ctx, o, dir, reference)
	if err != nil {
		return b, err
	}
	defer d.kill()
	stopLoad := func() {}
	if o.Load != "idle" {
		stopLoad = d.visit()
	}
	defer stopLoad()
	if err := pause(ctx, time.Second); err != nil { // past the warm-up of daemon and load
		return b, err
	}

	before, _ := rt.ReadCPUStat()
	begun := rt.Now()
	if reference {
		args := append(cyclictest(o), "-a", fmt.Sprint(o.Cpu))
		out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
		if ctx.Err() != nil {
			return b, errLatencyInterrupted
		}
		if err != nil {
			return b, report.ExitWith(report.Unavailable, fmt.Errorf("cyclictest: %w: %s", err, strings.TrimSpace(string(out))))
		}
		b.timing = distribution(parseCyclictest(string(out)))
		b.Missed = 100 * max(0, 1-float64(b.N)/(o.Rate*o.BlockDuration.Seconds()))
	} else {
		if err := pause(ctx, o.BlockDuration); err != nil {
			return b, err
		}
	}
	after, _ := rt.ReadCPUStat()
	for i := range min(len(before), len(after)) {
		if after[i].CPU == o.Cpu {
			b.Steal = after[i].StealPercent(before[i])
		}
	}
	if b.Steal > 1 {
		b.Void = fmt.Sprintf("void: the host took %.1f %% of the processor's time", b.Steal)
	}
	stopLoad()
	return b, d.wait(filepath.Join(dir, "summary.json"), &b, begun, begun+int64(o.BlockDuration))
}

const histBins = 30000 // of 1 µs, as cyclictest prints them; what is later counts as 30 ms

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

// hostLine is what decides about latency on this machine, in one line.
func hostLine(h rt.Host) string {
	virtual := h.Virtual
	if virtual == "" {
		virtual = "bare metal"
	}
	return fmt.Sprintf("%s, preemption %s, HZ %d, clock %s, %d processors (isolated: %q), %s, rtprio limit %s, memlock limit %s, load %s",
		h.Kernel, h.Preemption, h.HZ, h.ClockSource, h.CPUs, h.Isolated, virtual, h.LimitPrio, h.LimitMemory, h.Load)
}
