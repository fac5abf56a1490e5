package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/report"
)

func newVersionCmd() *cobra.Command {
	var o report.Output
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program and of Go",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return report.PrintVersion(o.To(c.OutOrStdout(), c.ErrOrStderr()))
		},
	}
	o.Flags(c.Flags())
	return c
}
