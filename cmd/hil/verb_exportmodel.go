package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/exportmodel"
)

func newExportModelCmd() *cobra.Command {
	var f exportmodel.Options
	c := &cobra.Command{
		Use:   "export-model RESULT.json --to TARGET",
		Short: "Write an identified axis for MuJoCo, URDF, BAM, Modelica or C firmware",
		Long: `Writes the axis of a result (hil identify -o) for another tool, with units, source and standard errors in a comment. What the tool
cannot express is said, on standard error and in the file. docs/export-model.md has which friction law goes where.

Exit codes: 0 done; 2 wrong usage; 3 no result, or a law that the tool cannot express; 4 the file cannot be written; 6 the result
may not be used: rejected, interrupted, not told by the record (--force exports it all the same).`,
		Example: `  hil export-model emps.json --to mjcf -o emps.xml
  hil export-model emps.json --to c -o emps_friction.h`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return exportmodel.Run(args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.Flags(c.Flags())
	return c
}
