package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/check"
	"hilrig/cmd/report"
)

func newCheckCmd() *cobra.Command {
	var o report.Output
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check files: every problem with its line; for a rig, what the serial line has to carry",
		Long: `Reads files for hil run, hil simulate, hil identify or hil study without opening a port or running anything. Prints every problem
with line and caret and ends with 3, or prints warnings, for a rig what the line has to carry, and what to do next.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			return check.Files(o.To(c.OutOrStdout(), c.ErrOrStderr()), files)
		},
	}
	o.Flags(c.Flags())
	return c
}
