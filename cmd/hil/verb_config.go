package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hilrig/cmd/check"
)

func newConfigCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration in force, an example, or the schema of files",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(newConfigSchemaCmd(), newConfigShowCmd(), newConfigExampleCmd())
	return c
}

func newConfigSchemaCmd() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of rig, simulate, identify or study files, for completion in editors",
		Long: `Prints the JSON Schema of rig files, or with --kind that of the files of hil simulate, hil identify or hil study. With it an
editor completes keys and shows their meaning, for instance:

	hil config schema > hil.schema.json
	# first line of the rig file:   # yaml-language-server: $schema=hil.schema.json`,
		Example: `  hil config schema --kind identify > identify.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return check.Schema(c.OutOrStdout(), kind)
		},
	}
	c.Flags().StringVar(&kind, "kind", "rig", "of which files: rig, simulate, identify or study")
	return c
}

func newConfigShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print every key in force, in SI, defaults included (no FILE: of the demo); passwords are hidden",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return check.Show(c.OutOrStdout(), strings.Join(args, ""))
		},
	}
}

func newConfigExampleCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print the commented rig file of the demo, to start your own from",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return check.Example(c.OutOrStdout())
		},
	}
}
