package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
)

func newLCPCmd() *cobra.Command {
	c := &cobra.Command{
		Use:     "lcp FILE.json",
		Short:   "Solve a linear complementarity problem",
		Long:    simulate.LCPHelp,
		Example: `  echo '{"M": [[2, 1], [1, 2]], "q": [-5, -6]}' | hil lcp -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return simulate.LCP(args[0], c.InOrStdin(), c.OutOrStdout())
		},
	}
	report.AlwaysJSON(c.Flags())
	return c
}
