package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/identify"
)

func newCompareCmd() *cobra.Command {
	var f identify.Options
	c := &cobra.Command{
		Use:   "compare FILE…",
		Short: "Models of the same records, side by side",
		Long: `Fits several models to the same records and ranks them: by what they leave over on a second record if --validate gives
one, else by AICc with the number of rows that count. Models whose residuals do not differ from those of the best
by more than chance, or by less than a hundredth, are called tied: the records do not support a preference.

FILE is an identification file with a compare: list, or there are several: identification files, and results that
hil identify -o wrote (those are ranked as they are, without the test for chance).

Exit codes: 0 done; 2 wrong usage; 3 a file or data that cannot be used; 6 no model could be fitted, or all are rejected.`,
		Example: `  hil compare configs/identify/emps-compare.yaml --validate second.csv.gz
  hil compare stribeck.yaml lugre.yaml --json
  hil compare monday.json tuesday.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.Changed = c.Flags().Changed
			return identify.Compare(c.Context(), args, f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.RecordFlags(c.Flags())
	return c
}
