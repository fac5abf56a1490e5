package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/exportmodel"
)

func newExportModelCmd() *cobra.Command {
	var f exportmodel.Options
	c := &cobra.Command{
		Use:   "export-model RESULT.json|MACHINE.yaml --to TARGET",
		Short: "Write an identified axis or a machine for MuJoCo, URDF, BAM, Modelica or C firmware",
		Long:  exportmodel.Help,
		Example: `  hil export-model emps.json --to mjcf -o emps.xml
  hil export-model emps.json --to c -o emps_friction.h
  hil export-model arm.yaml --to urdf -o arm.urdf`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return exportmodel.Run(args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.Flags(c.Flags())
	return c
}
