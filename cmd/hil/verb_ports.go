package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
)

func newPortsCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "ports",
		Short: "List the serial ports of this machine and whether they can be opened",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return daemon.PrintPorts(c.OutOrStdout(), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
