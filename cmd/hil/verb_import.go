package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/contents"
)

func newImportCmd() *cobra.Command {
	f, c := contents.Options{}, &cobra.Command{Use: "import FILE", Short: "Show what a motion-capture file, a table, a recording or a " +
		"robot holds", Long: contents.Long, Example: contents.Example, Args: cobra.ExactArgs(1)}
	c.RunE = func(c *cobra.Command, files []string) error {
		return contents.Run(files[0], f, c.OutOrStdout(), c.ErrOrStderr())
	}
	f.Flags(c.Flags())
	return c
}
