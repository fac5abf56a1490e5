package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hilrig/cmd/apply"
	"hilrig/cmd/check"
	"hilrig/cmd/report"
)

func newConfigCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration in force, an example, or the schema of files; write an identified axis into a rig file",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(newConfigSchemaCmd(), newConfigShowCmd(), newConfigExampleCmd(), newConfigApplyCmd())
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
	report.AlwaysJSON(c.Flags())
	c.Flags().StringVar(&kind, "kind", "rig", "of which files: "+strings.Join(check.SchemaKinds(), ", "))
	return c
}

func newConfigShowCmd() *cobra.Command {
	var o report.Output
	c := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print every key in force, in SI, defaults included (no FILE: of the demo); passwords are hidden",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return check.Show(o.To(c.OutOrStdout(), c.ErrOrStderr()), strings.Join(args, ""))
		},
	}
	o.Flags(c.Flags())
	return c
}

func newConfigExampleCmd() *cobra.Command {
	var o report.Output
	c := &cobra.Command{
		Use:   "example",
		Short: "Print the commented rig file of the demo, to start your own from",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return check.Example(o.To(c.OutOrStdout(), c.ErrOrStderr()))
		},
	}
	o.Flags(c.Flags())
	return c
}

func newConfigApplyCmd() *cobra.Command {
	var f apply.Options
	c := &cobra.Command{
		Use:   "apply RESULT.json",
		Short: "Write law, parameters and inertia of a result into a rig file, with their sources as comments",
		Long: `Changes the axis of a rig file and nothing else. docs/reference/config.md has the rules.

Exit codes: 0 done; 2 wrong usage; 3 a result of another axis, unit or rig, or that the rig cannot work with; 4 cannot write; 6 the result is not accepted.`,
		Example: `  hil config apply result.json --rig rig.yaml -o identified.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return apply.Run(args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.Flags(c.Flags())
	return c
}
