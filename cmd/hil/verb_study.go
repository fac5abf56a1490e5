package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/cmd/study"
)

func newStudyCmd() *cobra.Command {
	var f study.Options
	c := &cobra.Command{
		Use:   "study NAME|FILE.yaml",
		Short: "Many runs of a file to simulate with other parameters: tables, rank correlations, figures",
		Long: `Runs a file of hil simulate many times with other numbers in some places: a Latin hypercube, a grid or random draws over
any of its keys, several seeds each if wanted. Runs go to all processors; the results are the same for any number of them.
What is done is in a journal in the folder of results: after an interruption the same command goes on from there.

Reports every result with its spread, and its rank correlations with every parameter: alone (Spearman) and with the others
held (partial), with 95 % intervals. The folder then has results.csv or results.parquet, summary.json, and with --plot the
figures of the file as SVG and PNG.

Studies that come with the program: ` + study.BuiltIn() + `. FILE.yaml is explained in
docs/study.md.

rolling-friction takes no file: it repeats a published experiment on simulated recordings, and --plot draws its figures by
number (docs/rolling-friction.md). There --runs is the number of draws of the noise. beam-figures takes none either: a manipulator
slides on an elastic beam with several speeds (docs/beam.md).

Exit codes: 0 done; 2 wrong usage; 3 a file that cannot be used, or a journal of another study; 4 results cannot be written;
6 more runs failed than max_failed allows; 130 interrupted, what was done is kept.`,
		Example: `  hil study stick-slip --plot
  hil study brush-length --runs 100 --out /tmp/try
  hil study FILE.yaml --workers 1 --format parquet --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.Changed = c.Flags().Changed
			ctx, was, stop := report.UntilInterrupt(c.Context())
			defer stop()
			return study.Run(ctx, was, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.Workers, "workers", 0, "runs at a time, 0: one for every processor; changes nothing but the time")
	fl.IntVar(&f.Runs, "runs", 0, "settings of the factors in place of those of the file")
	fl.IntVar(&f.Seed, "seed", 0, "seed in place of that of the file")
	fl.StringVar(&f.Out, "out", "", "folder of results in place of that of the file, made if it is not there")
	fl.StringVar(&f.Format, "format", "csv", "of the table of results: csv or parquet")
	fl.BoolVar(&f.Resume, "resume", true, "go on with the journal in the folder; --resume=false begins again and writes over it")
	fl.BoolVar(&f.Json, "json", false, "print the summary as JSON")
	fl.BoolVar(&f.Plot, "plot", false, "draw the figures of the file, as SVG and PNG")
	return c
}
