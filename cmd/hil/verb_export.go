package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newExportCmd() *cobra.Command {
	var f daemon.ExportOptions
	c := &cobra.Command{
		Use:   "export RUN -o FILE",
		Short: "Write a recording as a table: CSV, MATLAB or Parquet",
		Long:  daemon.ExportHelp,
		Example: `  hil export runs/2026-11-21T08-30-01Z_motor -o run.csv
  hil export runs/2026-11-21T08-30-01Z_motor -o slip.csv --channels motor.angle,est.velocity --from 2 --to 5
  hil export runs -o run.mat
  hil export runs/2026-11-21T08-30-01Z_motor -o - --decimate 100 | head`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("channels") {
				f.Channels = nil
			}
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			f.Output = *f.To(c.OutOrStdout(), c.ErrOrStderr())
			return daemon.Export(ctx, args[0], f)
		},
	}
	f.Flags(c.Flags())
	return c
}
