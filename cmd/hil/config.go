package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hilrig/configs"
	"hilrig/configs/schema"
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
			var defaults any
			switch kind {
			case "rig":
				defaults = configs.Default()
			case "simulate":
				defaults = configs.DefaultSimulate()
			case "identify":
				defaults = configs.DefaultIdentify()
			case "study":
				defaults = configs.DefaultStudy()
			default:
				return exitWith(exitUsage, fmt.Errorf("config schema: --kind %q, want rig, simulate, identify or study", kind))
			}
			text, err := schema.JSON("hil "+kind+" file", defaults)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(text)
			return err
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
			cfg, name := configs.Demo(), "the demo"
			if len(args) == 1 {
				var err error
				if cfg, err = configs.Load(args[0]); err != nil {
					return exitWith(exitInvalid, err)
				}
				name = args[0]
			}
			text, err := cfg.Redacted().Marshal()
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "# %s as it is in force, in SI; hash %s\n%s", name, cfg.Hash(), text)
			return nil
		},
	}
}

func newConfigExampleCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print the commented rig file of the demo, to start your own from",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(configs.DemoYAML())
			return err
		},
	}
}
