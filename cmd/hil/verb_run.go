package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/apply"
	"hilrig/cmd/daemon"
)

func newRunCmd() *cobra.Command {
	o := daemon.RunOptions{WriteResult: apply.KeepResult}
	c := &cobra.Command{
		Use:   "run [FILE]",
		Short: "The daemon: run beside a rig; without a file, beside a virtual one",
		Long: `Without FILE a virtual rig is started and driven: the page is at http://localhost:8080.

With FILE the rig described there is opened. A real port is never driven unless --arm is given; look first with --dry-run,
which reads and estimates but never writes a byte to the device. Every few seconds it shows each channel (on a terminal in place): value, rate, age, noise,
the share of samples that repeat the one before, and which way it moved.`,
		Example: "  hil run\n  hil run rig.yaml --dry-run\n  hil run rig.yaml --arm --duration 60s",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return daemon.Run(c.Context(), c.OutOrStdout(), file, o)
		},
	}
	o.Flags(c.Flags())
	return c
}
