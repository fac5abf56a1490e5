package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/cmd/runs"
)

// newRunsCmd is hil runs with the verbs below it.
func newRunsCmd() *cobra.Command {
	c := runsCmd(&runs.Whole)
	for i := range runs.Below {
		c.AddCommand(runsCmd(&runs.Below[i]))
	}
	return c
}

func runsCmd(v *runs.Verb) *cobra.Command {
	var o runs.FolderOptions
	c := &cobra.Command{Use: v.Use, Short: v.Short, Long: v.Long, Example: v.Example, Args: cobra.RangeArgs(v.MinArgs, v.MaxArgs),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			o.Output = *o.To(c.OutOrStdout(), c.ErrOrStderr())
			return v.Do(ctx, args, o)
		}}
	o.AddFlags(c.Flags(), v.Flags...)
	return c
}
