package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newPortsCmd() *cobra.Command {
	var o report.Output
	c := &cobra.Command{
		Use:   "ports",
		Short: "List the serial ports of this machine and whether they can be opened",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return daemon.PrintPorts(o.To(c.OutOrStdout(), c.ErrOrStderr()))
		},
	}
	o.Flags(c.Flags())
	return c
}
