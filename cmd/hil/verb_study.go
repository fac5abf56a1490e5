package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/cmd/study"
)

// newStudyCmd is hil study with the verbs below it.
func newStudyCmd() *cobra.Command {
	c := studyCmd(&study.Whole)
	for i := range study.Steps {
		c.AddCommand(studyCmd(&study.Steps[i]))
	}
	return c
}

func studyCmd(v *study.Verb) *cobra.Command {
	var f study.Options
	c := &cobra.Command{Use: v.Use, Short: v.Short, Long: v.Long, Example: v.Example, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.Changed = c.Flags().Changed
			ctx, was, stop := report.UntilInterrupt(c.Context())
			defer stop()
			return v.Do(ctx, was, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		}}
	f.Flags(c.Flags(), v.Flags...)
	return c
}
