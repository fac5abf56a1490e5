package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newLatencyCmd() *cobra.Command {
	o := daemon.LatencyOptions{Cpu: runtime.NumCPU() - 1}
	pair := false
	c := &cobra.Command{
		Use:   "latency",
		Short: "Measure how late the loop wakes up on this machine, alone or against cyclictest",
		Long: `Runs the whole daemon (virtual rig, recorder, broker, page and a subscriber) and measures the lateness of the tick.

--pair compares it with cyclictest on the same processor, in turn, in blocks of equal length: loop, reference, reference, loop,
and so on. While the reference is measured the whole daemon goes on beside it under the same load; only its tick runs on
another processor. Blocks in which the host stole processor time are void and repeated. The verdict is taken from the medians
of at least ten blocks of each: PASS if the loop's p99 is ≤ 1.2 times and its p99.9 ≤ 1.5 times the reference's, and its missed
steps exceed the reference's shortfall by ≤ 0.2 points. Exit code 6 if it fails, or if fewer blocks were valid (inconclusive).`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch o.Load {
			case "idle", "full", "garbage", "heap":
			default:
				return report.ExitWith(report.Usage, fmt.Errorf("--load %q: want idle, full, garbage or heap", o.Load))
			}
			if o.Rate < 10 || o.Rate > 20000 || o.BlockDuration < time.Second || o.BlockDuration%time.Second != 0 {
				return report.ExitWith(report.Usage, errors.New("--rate takes 10 to 20000 Hz, --each whole seconds"))
			}
			if pair {
				return daemon.LatencyPairs(c.OutOrStdout(), c.ErrOrStderr(), o)
			}
			return daemon.LatencyAlone(c.OutOrStdout(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&pair, "pair", false, "compare with cyclictest, in turn on the same processor")
	f.IntVar(&o.Blocks, "blocks", 10, "valid blocks wanted of the loop, and as many of the reference")
	f.DurationVar(&o.BlockDuration, "each", 10*time.Second, "length of a block")
	f.Float64Var(&o.Rate, "rate", 1000, "ticks per second")
	f.StringVar(&o.Load, "load", "full", "idle: daemon alone; full: page polled, subscriber; garbage: also noise on the serial line; heap: "+
		"also 1 GB/s allocated in the supervisor")
	f.BoolVar(&o.Json, "json", false, "print JSON")
	return c
}
