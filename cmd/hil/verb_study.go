package main

import (
	"context"
	"io"

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
What is done is in the folder of results: after an interruption the same command goes on from there.

A study may be done on many machines: hil study plan fixes its tasks in a folder, hil study run does them on this machine or by Slurm,
hil study task does one (for any other scheduler), hil study status says how far it is, and hil study collect makes the results. hil study FILE
is plan, run and collect in one, and gives the same bytes.

Reports every result with its spread, and its rank correlations with every parameter: alone (Spearman) and with the others
held (partial), with 95 % intervals. The folder then has results.csv or results.parquet, summary.json, and with --plot the
figures of the file as SVG and PNG.

Studies that come with the program: ` + study.BuiltIn() + `. FILE.yaml is explained in
docs/study.md.

rolling-friction takes no file: it repeats a published experiment on simulated recordings, and --plot draws its figures by
number (docs/rolling-friction.md). There --runs is the number of draws of the noise. beam-figures takes none either: a manipulator
slides on an elastic beam with several speeds (docs/beam.md).

Exit codes: 0 done; 2 wrong usage; 3 a file that cannot be used, or a folder of another study; 4 results cannot be written;
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
	fl.BoolVar(&f.Resume, "resume", true, "go on with what is in the folder; --resume=false begins again and removes it")
	fl.BoolVar(&f.Json, "json", false, "print the summary as JSON")
	fl.BoolVar(&f.Plot, "plot", false, "draw the figures of the file, as SVG and PNG")
	fl.BoolVar(&f.Report, "report", false, "write report.html: the summary as a page with the figures of the file")
	c.AddCommand(newStudyPlanCmd(), newStudyTaskCmd(), newStudyRunCmd(), newStudyStatusCmd(), newStudyCollectCmd())
	return c
}

// studyCmd is a verb below hil study on one file or folder.
func studyCmd(c *cobra.Command, do func(ctx context.Context, was func() bool, arg string, f study.Options, stdout, stderr io.Writer) error, f *study.Options) *cobra.Command {
	f.Format = "csv"
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		f.Changed = c.Flags().Changed
		ctx, was, stop := report.UntilInterrupt(c.Context())
		defer stop()
		return do(ctx, was, args[0], *f, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

func newStudyPlanCmd() *cobra.Command {
	var f study.Options
	c := studyCmd(&cobra.Command{
		Use:   "plan NAME|FILE.yaml",
		Short: "Fix the tasks of a study in a folder, to be done here or elsewhere",
		Long: `Writes manifest.json into the folder of results: the program by version, digest and architecture, digests of all that the results
depend on, and the runs cut into tasks, with their seeds. One run is tried to see how long a task takes: tasks have about 30 s of work, but
there are at least 16 and at most 1000.`,
		Example: "  hil study plan brush-length --out /shared/me/brush",
	}, study.Plan, &f)
	fl := c.Flags()
	fl.IntVar(&f.Runs, "runs", 0, "settings of the factors in place of those of the file")
	fl.IntVar(&f.Seed, "seed", 0, "seed in place of that of the file")
	fl.StringVarP(&f.Out, "out", "o", "", "folder of results in place of that of the file, made if it is not there")
	fl.IntVar(&f.Chunk, "chunk", 0, "runs of a task; 0: a sensible number")
	fl.BoolVar(&f.Resume, "resume", true, "leave what is in the folder; --resume=false begins again and removes it")
	return c
}

func newStudyTaskCmd() *cobra.Command {
	var f study.Options
	c := studyCmd(&cobra.Command{
		Use:   "task DIR",
		Short: "One task of a planned study: what every scheduler calls",
		Long: `Does one task of a planned study. Its number is that of --index, or the first of SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, SGE_TASK_ID − 1 and
JOB_COMPLETION_INDEX. A finished task is not done again; one that was interrupted goes on where it was. It may be done twice, at the same time
too: the file in tasks/ is written under another name, forced to the disk and renamed, and has the same bytes whoever writes it.

Exit codes: 0 done, runs that fail are recorded; 2 no such task; 3 the program, the study or one of its files has changed since it was planned;
4 the result cannot be written; 130 interrupted.`,
		Example: "  hil study task /shared/me/brush --index 7",
	}, study.Task, &f)
	c.Flags().IntVar(&f.Index, "index", 0, "number of the task, from 0")
	return c
}

func newStudyRunCmd() *cobra.Command {
	var f study.Options
	c := studyCmd(&cobra.Command{
		Use:   "run DIR",
		Short: "All tasks of a planned study, on this machine or by Slurm",
		Long: `Does the tasks of a planned study that are not finished. With --executor slurm they are submitted as arrays, one processor each, and followed until
all are done; Ctrl-C ends the following, not the tasks, and the same command follows again. What their tasks say is in slurm/ in the folder.`,
		Example: "  hil study run /shared/me/brush --executor slurm --sbatch=--partition=long --sbatch=--time=60",
	}, study.RunTasks, &f)
	fl := c.Flags()
	fl.StringVar(&f.Executor, "executor", "local", "local or slurm")
	fl.IntVar(&f.Workers, "workers", 0, "local: tasks at a time, 0: one for every processor; changes nothing but the time")
	fl.StringArrayVar(&f.Slurm, "sbatch", nil, "slurm: an option of sbatch, such as --sbatch=--partition=long; may be repeated")
	return c
}

func newStudyStatusCmd() *cobra.Command {
	var f study.Options
	c := studyCmd(&cobra.Command{
		Use:   "status DIR",
		Short: "How far a planned study is",
	}, func(_ context.Context, _ func() bool, dir string, f study.Options, stdout, _ io.Writer) error {
		return study.Status(dir, f, stdout)
	}, &f)
	c.Flags().BoolVar(&f.Json, "json", false, "print it as JSON")
	return c
}

func newStudyCollectCmd() *cobra.Command {
	var f study.Options
	c := studyCmd(&cobra.Command{
		Use:   "collect DIR",
		Short: "Tables, summary and figures of a planned study whose tasks are done",
		Long: `Makes results.csv or results.parquet, summary.json, and if wanted the figures and a page, of the files of all tasks. The bytes are the same wherever, in
whatever order and however often the tasks were done. While tasks are missing it refuses; with --partial it collects what there is.`,
		Example: "  hil study collect /shared/me/brush --plot --report",
	}, study.Collect, &f)
	fl := c.Flags()
	fl.StringVar(&f.Format, "format", "csv", "of the table of results: csv or parquet")
	fl.BoolVar(&f.Json, "json", false, "print the summary as JSON")
	fl.BoolVar(&f.Plot, "plot", false, "draw the figures of the file, as SVG and PNG")
	fl.BoolVar(&f.Report, "report", false, "write report.html: the summary as a page with the figures of the file")
	fl.BoolVar(&f.Partial, "partial", false, "although tasks are missing")
	return c
}
