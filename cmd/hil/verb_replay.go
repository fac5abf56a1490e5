package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newReplayCmd() *cobra.Command {
	var o report.Output
	c := &cobra.Command{
		Use:   "replay RUN",
		Short: "Run the recorded inputs through the loop again and compare every row",
		Long: `Feeds the samples, orders and clock readings of a recording through the same controller on a virtual clock, and compares
each row with the recorded one, bit for bit. They are equal on the build that recorded them; another build may differ in
the last digits, and says so. Exit code 6 if rows differ.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			return daemon.PrintReplay(ctx, args[0], o.To(c.OutOrStdout(), c.ErrOrStderr()))
		},
	}
	o.Flags(c.Flags())
	return c
}
