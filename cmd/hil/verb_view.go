package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newViewCmd() *cobra.Command {
	var o daemon.ViewOptions
	c := &cobra.Command{
		Use:   "view RUN",
		Short: "Open the page on a recording",
		Long: `Serves the page of hil run with a recording in place of a rig: traces, figures, events, modes, friction over velocity, and the results that
are kept beside the recording. Times count from its first row. There is nothing to command.`,
		Example: "  hil view runs\n  hil view runs/2026-11-21T08-30-01Z_motor --web localhost:0",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			o.Output = *o.To(c.OutOrStdout(), c.ErrOrStderr())
			return daemon.ServeView(ctx, args[0], o)
		},
	}
	o.Flags(c.Flags())
	return c
}
