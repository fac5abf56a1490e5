package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/recordings"
	"hilrig/cmd/report"
)

// newRunsCmd is hil runs with the verbs below it.
func newRunsCmd() *cobra.Command {
	c := runsCmd(&recordings.Whole)
	for i := range recordings.Below {
		c.AddCommand(runsCmd(&recordings.Below[i]))
	}
	return c
}

func runsCmd(v *recordings.Verb) *cobra.Command {
	var o recordings.FolderOptions
	c := &cobra.Command{Use: v.Use, Short: v.Short, Long: v.Description, Example: v.Example, Args: cobra.RangeArgs(v.MinArgs, v.MaxArgs),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			o.Output = *o.To(c.OutOrStdout(), c.ErrOrStderr())
			return v.Do(ctx, args, o)
		}}
	o.AddFlags(c.Flags(), v.Flags...)
	return c
}
