package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newExportCmd() *cobra.Command {
	var f daemon.ExportOptions
	c := &cobra.Command{
		Use:   "export RUN -o FILE.csv",
		Short: "Write a recording as CSV",
		Long: `Writes the rows of a recording (its folder or its .mcap file) as CSV: a line of names, a line of units behind "# ", then a
line per tick; timestamp (s since 1970) first, everything in SI. -o - writes to standard output. An existing file is
written over with --force only.`,
		Example: `  hil export runs/2026-11-21T08-30-01Z_motor -o run.csv
  hil export runs/2026-11-21T08-30-01Z_motor -o slip.csv --channels motor.angle,est.velocity --from 2 --to 5
  hil export runs/2026-11-21T08-30-01Z_motor -o - --decimate 100 | head`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("channels") {
				f.Channels = nil
			}
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			return daemon.Export(ctx, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.Output, "output", "o", "", "file to write, ending in .csv; - for standard output")
	fl.StringSliceVar(&f.Channels, "channels", nil, "columns, separated by commas: signals, or seq, t, mode, cause, flags, late_us …; "+
		"default: all signals")
	fl.Float64Var(&f.StartTime, "from", 0, "begin this many seconds after the first row")
	fl.Float64Var(&f.EndTime, "to", 0, "end this many seconds after the first row; 0: to the end")
	fl.IntVar(&f.Decimate, "decimate", 1, "keep every n-th row (no filter against aliasing)")
	fl.BoolVar(&f.Force, "force", false, "write over an existing file")
	return c
}
