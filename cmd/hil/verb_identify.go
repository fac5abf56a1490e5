package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/identify"
)

func newIdentifyCmd() *cobra.Command {
	var f identify.Options
	c := &cobra.Command{
		Use:   "identify FILE.yaml|RUN|DATA.csv",
		Short: "Inertia and friction of a measured axis, with their uncertainty",
		Long: `Fits the parameters of a model to recordings and says how far they can be trusted. FILE.yaml names the records, their
columns with units, the model and a chain of methods (least squares, static map, presliding loop, LuGre, Kalman filter,
evolution, output error), each starting from what the one before found; docs/reference/identify.md explains every method and every
number, docs/reference/identify-result.md the JSON. A recording RUN and a table DATA.csv need no such file: flags name columns and
law, and --write-config writes the file that they stand for.

A file with the key ball finds rolling and spinning friction of a ball from the markers on it (docs/reference/ball-files.md).

Ctrl-C ends a long fit with the best so far. With --resume FILE an evolution keeps its state there and continues from it.

Exit codes: 0 done; 2 wrong usage; 3 file or data that cannot be used; 6 the record cannot tell the parameters apart, the
fit is rejected, or it misses --require-fit; 130 interrupted, with the best so far.`,
		Example: `  hil identify runs --last 10s --law lugre
  hil identify data.csv --columns time=t:s,position=angle:deg,force=i:A:0.042N·m/A --write-config axis.yaml
  hil identify configs/emps.yaml
  hil identify configs/identify/ball.yaml
  hil identify configs/emps.yaml --asymmetric --json -o emps.json
  hil identify configs/identify/emps-lugre.yaml --validate second.csv.gz --require-fit 90
  hil identify configs/identify/emps-lugre.yaml --method regress,aep,lm --seed 7 --resume evolution.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.Changed = c.Flags().Changed
			return identify.Run(c.Context(), args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.RecordFlags(c.Flags())
	f.FitFlags(c.Flags())
	return c
}
