package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newLatencyCmd() *cobra.Command {
	o := daemon.LatencyOptions{Cpu: runtime.NumCPU() - 1}
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
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			return daemon.Latency(ctx, o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.Flags(c.Flags())
	return c
}
