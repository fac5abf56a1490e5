package study

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/cmd/table"
)

// Options are what the user chose.
type Options struct {
	Workers, Runs, Seed  int
	OutputFolder, Format string
	Resume, Json, Plot   bool
	Chunk                int           // plan: runs of a task; 0: a sensible number
	Index                int           // task: which
	Wait                 time.Duration // task: for those before it
	Partial, Report      bool          // collect
	Executor             string
	Slurm                SlurmOptions
	Changed              func(name string) bool
}

// Formats are those of the table of results.
func Formats() []string {
	names := []string{"csv"}
	for _, f := range table.Formats {
		names = append(names, strings.TrimPrefix(f.Ending, "."))
	}
	return names
}

// Flags are those of the names; what has no flag stays at its default.
func (f *Options) Flags(fl *pflag.FlagSet, names ...string) {
	all := pflag.NewFlagSet("study", pflag.ContinueOnError)
	all.IntVar(&f.Workers, "workers", 0, "runs, or tasks, at a time, 0: one for every processor; changes nothing but the time")
	all.IntVar(&f.Runs, "runs", 0, "settings of the factors in place of those of the file")
	all.IntVar(&f.Seed, "seed", 0, "seed in place of that of the file")
	all.StringVarP(&f.OutputFolder, "out", "o", "", "folder of results in place of that of the file, made if it is not there")
	all.StringVar(&f.Format, "format", "csv", "of the table of results: "+strings.Join(Formats(), ", "))
	all.BoolVar(&f.Resume, "resume", true, "go on with what is in the folder; --resume=false begins again and removes it")
	all.BoolVar(&f.Json, "json", false, "print the summary, or how far the study is, as JSON")
	all.BoolVar(&f.Plot, "plot", false, "draw the figures of the file, as SVG and PNG")
	all.BoolVar(&f.Report, "report", false, "write report.html: the summary as a page with the figures of the file")
	all.BoolVar(&f.Partial, "partial", false, "although tasks are missing")
	all.IntVar(&f.Chunk, "chunk", 0, "runs of a task; 0: a sensible number")
	all.IntVar(&f.Index, "index", 0, "number of the task, from 0")
	all.Var(report.Duration(&f.Wait, 0), "wait", "islands: wait so long for the tasks of the round before, such as 10m")
	all.StringVar(&f.Executor, "executor", "local", "local or slurm")
	all.IntVar(&f.Slurm.AtOnce, "max-running", 0, "slurm: so many tasks run at a time at most; 0: any number")
	all.Var(report.Duration(&f.Slurm.Poll, 10*time.Second), "poll", "slurm: look for results at least so often")
	all.StringArrayVar(&f.Slurm.Sbatch, "sbatch", nil, "slurm: an option of sbatch, such as --sbatch=--partition=long; may be repeated")
	for _, name := range names {
		fl.AddFlag(all.Lookup(name))
	}
}

// stepNames are the verbs below hil study.
var stepNames = []string{"plan", "task", "run", "status", "collect"}

// check looks at the flags before anything is read.
func (f *Options) check() error {
	switch {
	case f.Workers < 0 || f.Workers > 1024:
		return fmt.Errorf("--workers %d, want 0 to 1024", f.Workers)
	case f.Runs < 0 || f.Changed("runs") && f.Runs == 0:
		return fmt.Errorf("--runs %d, want at least 1", f.Runs)
	case f.Chunk < 0:
		return fmt.Errorf("--chunk %d, want at least 1, or 0 for a sensible number", f.Chunk)
	case f.Slurm.AtOnce < 0:
		return fmt.Errorf("--max-running %d, want at least 1, or 0 for any number", f.Slurm.AtOnce)
	case f.Changed("poll") && f.Slurm.Poll < filesEvery:
		return fmt.Errorf("--poll %v, want %v at least", f.Slurm.Poll, filesEvery)
	case f.Seed < 0:
		return fmt.Errorf("--seed %d, want 0 or more", f.Seed)
	case !slices.Contains(Formats(), f.Format):
		return fmt.Errorf("--format %q, want %s", f.Format, strings.Join(Formats(), ", "))
	}
	return nil
}

// Verb is hil study, or a verb below it, on one study, file or folder.
type Verb struct {
	Use, Short, Long, Example string
	Flags                     []string
	Do                        func(ctx context.Context, interrupted func() bool, arg string, f Options, stdout, stderr io.Writer) error
}

var wholeFlags = []string{"workers", "runs", "seed", "out", "format", "resume", "json", "plot", "report"}

// Whole is hil study itself.
var Whole = Verb{
	Use:   "study NAME|FILE.yaml",
	Short: "Many runs of a file to simulate or identify with other parameters: tables, rank correlations, figures",
	Flags: wholeFlags, Do: Run,
	Long: `Runs a file of hil simulate or hil identify many times with other numbers in some places: a Latin hypercube, a grid or random draws over
any of its keys, several seeds each if wanted. Runs go to all processors; the results are the same for any number of them.
What is done is in the folder of results: after an interruption the same command goes on from there.

A study may be done on many machines: hil study plan fixes its tasks in a folder, hil study run does them on this machine or by Slurm,
hil study task does one (for any other scheduler), hil study status says how far it is, and hil study collect makes the results. hil study FILE
is plan, run and collect in one, and gives the same bytes.

Reports every result with its spread, and its rank correlations with every parameter: alone (Spearman) and with the others
held (partial), with 95 % intervals. The folder then has results.csv (or .parquet, .mat), summary.json, and with --plot the
figures of the file as SVG and PNG.

Studies that come with the program: ` + BuiltIn() + `. FILE.yaml is explained in
docs/reference/study.md.

rolling-friction takes no file: it repeats a published experiment on simulated recordings, and --plot draws its figures by
number (docs/explanation/rolling-friction.md).
There --runs is the number of draws of the noise. beam-figures takes none either: a manipulator
slides on an elastic beam with several speeds (docs/reference/beam.md).

Exit codes: 0 done; 2 wrong usage; 3 a file that cannot be used, or a folder of another study; 4 results cannot be written;
6 more runs failed than max_failed allows; 130 interrupted, what was done is kept.`,
	Example: `  hil study stick-slip --plot
  hil study brush-length --runs 100 --out /tmp/try
  hil study FILE.yaml --workers 1 --format parquet --json`,
}

// Steps are the verbs below hil study.
var Steps = []Verb{{
	Use:   "plan NAME|FILE.yaml",
	Short: "Fix the tasks of a study in a folder, to be done here or elsewhere",
	Flags: []string{"runs", "seed", "out", "chunk", "resume", "json"}, Do: Plan,
	Long: `Writes manifest.json into the folder of results: the program by version, digest and architecture, digests of all that the results
depend on, and the runs cut into tasks, with their seeds. One run is tried to see how long a task takes: tasks have about three minutes of work, but
there are at least 16 and at most 1000. What is in the folder stays; --resume=false begins again and removes it.`,
	Example: "  hil study plan brush-length --out /shared/me/brush",
}, {
	Use:   "task DIR",
	Short: "One task of a planned study: what every scheduler calls",
	Flags: []string{"index", "wait", "json"}, Do: Task,
	Long: `Does one task of a planned study. Its number is that of --index, or the first of SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, SGE_TASK_ID − 1 and
JOB_COMPLETION_INDEX. A finished task is not done again; one that was interrupted goes on where it was. It may be done twice, at the same time
too: the file in tasks/ is written under another name, forced to the disk and renamed, and has the same bytes whoever writes it. Of an evolution on islands a
task begins from tasks of the round before: where these are not done it ends with 4 and does nothing, unless --wait gives them time.

Exit codes: 0 done, runs that fail are recorded; 2 no such task; 3 the program, the study or one of its files has changed since it was planned;
4 the result cannot be written, or tasks before it are not done; 130 interrupted.`,
	Example: "  hil study task /shared/me/brush --index 7",
}, {
	Use:   "run DIR",
	Short: "All tasks of a planned study, on this machine or by Slurm",
	Flags: []string{"executor", "workers", "sbatch", "max-running", "poll", "json"}, Do: RunTasks,
	Long: `Does the tasks of a planned study that are not finished. With --executor slurm they are submitted as arrays, one processor each, and followed until
all are done; Ctrl-C ends the following, not the tasks, and the same command follows again. What their tasks say is in slurm/ in the folder. Tasks that
a machine lost are submitted again; tasks that were cancelled, or ran into a limit, are not, and the command ends with the reason.`,
	Example: "  hil study run /shared/me/brush --executor slurm --sbatch=--partition=long --sbatch=--time=60",
}, {
	Use:   "status DIR",
	Short: "How far a planned study is",
	Flags: []string{"json"}, Do: Status,
}, {
	Use:   "collect DIR",
	Short: "Tables, summary and figures of a planned study whose tasks are done",
	Flags: []string{"format", "json", "plot", "report", "partial"}, Do: Collect,
	Long: `Makes results.csv (or .parquet, .mat), summary.json, and if wanted the figures and a page, of the files of all tasks. The bytes are the same wherever, in
whatever order and however often the tasks were done. While tasks are missing it refuses; with --partial it collects what there is.`,
	Example: "  hil study collect /shared/me/brush --plot --report",
}}
