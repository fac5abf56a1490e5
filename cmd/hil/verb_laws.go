package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
)

func newLawsCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "laws [NAME]",
		Short: "The friction laws: parameters with unit and range, states, what they show",
		Long:  simulate.LawsHelp,
		Example: `  hil laws
  hil laws lugre
  hil laws gms --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			if len(args) == 0 {
				return simulate.PrintLaws(c.OutOrStdout(), asJSON)
			}
			return simulate.PrintLaw(ctx, c.OutOrStdout(), args[0], asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
