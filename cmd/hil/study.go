package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hilrig/configs"
	"hilrig/identify/fit"
	"hilrig/identify/study"
)

// studyFlags are what the user chose.
type studyFlags struct {
	workers, runs, seed int
	out, format         string
	resume, json, plot  bool
	changed             func(name string) bool
}

func newStudyCmd() *cobra.Command {
	var f studyFlags
	c := &cobra.Command{
		Use:   "study NAME|FILE.yaml",
		Short: "Many runs of a file to simulate with other parameters: tables, rank correlations, figures",
		Long: `Runs a file of hil simulate many times with other numbers in some places: a Latin hypercube, a grid or random draws over
any of its keys, several seeds each if wanted. Runs go to all processors; the results are the same for any number of them.
What is done is in a journal in the folder of results: after an interruption the same command goes on from there.

Reports every result with its spread, and its rank correlations with every parameter: alone (Spearman) and with the others
held (partial), with 95 % intervals. The folder then has results.csv or results.parquet, summary.json, and with --plot the
figures of the file as SVG and PNG.

Studies that come with the program: ` + strings.Join(configs.BuiltInStudies(), ", ") + `. FILE.yaml is explained in
docs/study.md.

Exit codes: 0 done; 2 wrong usage; 3 a file that cannot be used, or a journal of another study; 4 results cannot be written;
6 more runs failed than max_failed allows; 130 interrupted, what was done is kept.`,
		Example: `  hil study stick-slip --plot
  hil study brush-length --runs 100 --out /tmp/try
  hil study FILE.yaml --workers 1 --format parquet --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.changed = c.Flags().Changed
			ctx, was, stop := interrupted(background(c.Context()))
			defer stop()
			return runStudy(ctx, was, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.workers, "workers", 0, "runs at a time, 0: one for every processor; changes nothing but the time")
	fl.IntVar(&f.runs, "runs", 0, "settings of the factors in place of those of the file")
	fl.IntVar(&f.seed, "seed", 0, "seed in place of that of the file")
	fl.StringVar(&f.out, "out", "", "folder of results in place of that of the file, made if it is not there")
	fl.StringVar(&f.format, "format", "csv", "of the table of results: csv or parquet")
	fl.BoolVar(&f.resume, "resume", true, "go on with the journal in the folder; --resume=false begins again and writes over it")
	fl.BoolVar(&f.json, "json", false, "print the summary as JSON")
	fl.BoolVar(&f.plot, "plot", false, "draw the figures of the file, as SVG and PNG")
	return c
}

// parameterStudy is a study under way and its results.
type parameterStudy struct {
	name     string
	cfg      *configs.Study
	plan     *study.Plan
	seeds    []int64 // by run; nil: runs have none
	dir      string
	outcomes []study.Outcome
}

func runStudy(ctx context.Context, interrupted func() bool, name string, f studyFlags, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return exitWith(exitUsage, fmt.Errorf("study: %w", err))
	}
	cfg, warnings, err := configs.LoadStudy(name)
	if err != nil {
		printProblems(stderr, "hil: ", err)
		return exitWith(exitInvalid, nil)
	}
	for _, w := range warnings {
		fmt.Fprintf(stderr, "warning: %v\n", w)
	}
	if err := f.over(cfg); err != nil {
		return exitWith(exitUsage, fmt.Errorf("study: %w", err))
	}
	s := &parameterStudy{name: name, cfg: cfg, dir: cfg.Folder()}
	if s.plan, err = planOfStudy(cfg); err != nil {
		return exitWith(exitInvalid, fmt.Errorf("study: %w", err))
	}
	s.drawSeeds()
	if f.plot && len(cfg.Figures) == 0 {
		fmt.Fprintln(stderr, "warning: the study names no figures; --plot draws nothing")
	}
	j, err := s.journal(f, stderr)
	if err != nil {
		return err
	}
	defer j.Close()

	// the runs
	began, before := time.Now(), j.Done()
	if err := s.run(ctx, j, f.workers, stderr); err != nil {
		var misnamed *misnamedError
		switch {
		case interrupted():
			return exitWith(exitInterrupted, fmt.Errorf("study: interrupted with %d of %d runs done; the same command goes on from there: %s", j.Done(), s.plan.Runs(), s.again(f)))
		case errors.As(err, &misnamed):
			return exitWith(exitInvalid, err)
		}
		return exitWith(exitUnavailable, fmt.Errorf("study: %w", err))
	}
	sit := sitting{WallTime: time.Since(began).Seconds(), Workers: f.workers, Resumed: before}
	if sit.Workers == 0 {
		sit.Workers = runtime.GOMAXPROCS(0)
	}

	// what is made of them
	sum := s.summarise()
	if err := s.write(ctx, f, sum); err != nil {
		if interrupted() {
			return exitWith(exitInterrupted, errors.New("study: interrupted while writing; all runs are in the journal: "+s.again(f)))
		}
		return err
	}
	if f.json {
		if err := encodeJSON(stdout, struct {
			studySummary
			Sitting sitting `json:"sitting"`
		}{*sum, sit}); err != nil {
			return err
		}
	} else {
		sum.print(stdout, sit)
		if !f.plot && len(cfg.Figures) > 0 {
			fmt.Fprintf(stdout, "\nnext: %s --plot      draws %d figures; no run is done again\n", s.again(f), len(cfg.Figures))
		}
	}
	if share := 100 * float64(sum.Failed) / float64(sum.Runs); share > cfg.MaxFailed {
		return exitWith(exitQuality, fmt.Errorf("study: %d of %d runs failed, %.3g %%; at most %.3g %% may (max_failed)", sum.Failed, sum.Runs, share, cfg.MaxFailed))
	}
	return nil
}

// check looks at the flags before anything is read.
func (f *studyFlags) check() error {
	switch {
	case f.workers < 0 || f.workers > 1024:
		return fmt.Errorf("--workers %d, want 0 to 1024", f.workers)
	case f.runs < 0 || f.changed("runs") && f.runs == 0:
		return fmt.Errorf("--runs %d, want at least 1", f.runs)
	case f.seed < 0:
		return fmt.Errorf("--seed %d, want 0 or more", f.seed)
	case f.format != "csv" && f.format != "parquet":
		return fmt.Errorf("--format %q, want csv or parquet", f.format)
	}
	return nil
}

// over puts the flags over the file.
func (f *studyFlags) over(c *configs.Study) error {
	if f.runs > 0 {
		if c.Design.Kind == study.Grid {
			return errors.New("--runs: a grid counts its own runs; change levels or values in the file")
		}
		c.Design.Runs = f.runs
	}
	if f.changed("seed") {
		c.Design.Seed = f.seed
	}
	if f.out != "" {
		c.Output = f.out
	}
	return nil
}

// again is the command that goes on with the study.
func (s *parameterStudy) again(f studyFlags) string {
	cmd := startName + " study " + s.name
	if f.runs > 0 {
		cmd += fmt.Sprintf(" --runs %d", f.runs)
	}
	if f.changed("seed") {
		cmd += fmt.Sprintf(" --seed %d", f.seed)
	}
	if f.out != "" {
		cmd += " --out " + f.out
	}
	return cmd
}

// misnamedError says that a result was asked for which runs do not give.
type misnamedError struct{ text string }

func (e *misnamedError) Error() string { return e.text }

// run does the runs that are missing. The first one that succeeds tells which results there are: what was asked for and is
// not among them ends the study there.
func (s *parameterStudy) run(ctx context.Context, j *study.Journal, workers int, stderr io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once sync.Once
	task := func(ctx context.Context, run int) ([]study.Metric, error) {
		data, err := s.file(run)
		if err != nil {
			return nil, err
		}
		m, err := simulateMetrics(ctx, s.cfg.BaseName(), data)
		if err == nil {
			once.Do(func() {
				if err := s.knows(m); err != nil {
					cancel(err)
				}
			})
		}
		return asResults(m), err
	}
	bar := newProgress(stderr)
	defer bar.done()
	var err error
	s.outcomes, err = study.Run(ctx, j, workers, task, func(st study.State) {
		phase := "run"
		if st.Failed > 0 {
			phase = fmt.Sprintf("%d failed, run", st.Failed)
		}
		bar.watch(fit.Progress{Method: "study", Phase: phase, Step: st.Done, Of: st.Of, Simulated: st.Now})
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	for _, o := range s.outcomes {
		if o.Failed == "" {
			return s.knows(asMetrics(o.Metrics))
		}
	}
	return nil
}

// asResults and asMetrics carry the numbers of a run between this package and the one that keeps them.
func asResults(m []metric) []study.Metric {
	out := make([]study.Metric, len(m))
	for i, x := range m {
		out[i] = study.Metric(x)
	}
	return out
}

func asMetrics(m []study.Metric) []metric {
	out := make([]metric, len(m))
	for i, x := range m {
		out[i] = metric(x)
	}
	return out
}

// knows tells whether everything that was asked for is among the results.
func (s *parameterStudy) knows(m []metric) error {
	var names, factors []string
	for _, x := range m {
		names = append(names, x.Name)
	}
	for i := range s.cfg.Vary {
		factors = append(factors, s.cfg.Vary[i].Name)
	}
	bad := func(key, name string, among []string) error {
		return &misnamedError{fmt.Sprintf("%s: %s: no run gives %q; there are %s", s.name, key, name, strings.Join(among, ", "))}
	}
	for i, name := range s.cfg.Metrics {
		if !slices.Contains(names, name) {
			return bad(fmt.Sprintf("metrics[%d]", i), name, names)
		}
	}
	for i, f := range s.cfg.Figures {
		switch {
		case f.Kind == "phase":
		case !slices.Contains(names, f.Y):
			return bad(fmt.Sprintf("figures[%d].y", i), f.Y, names)
		case f.Kind == "scatter" && !slices.Contains(slices.Concat(factors, names), f.X):
			return bad(fmt.Sprintf("figures[%d].x", i), f.X, slices.Concat(factors, names))
		}
	}
	return nil
}

// write puts tables, summary and figures into the folder.
func (s *parameterStudy) write(ctx context.Context, f studyFlags, sum *studySummary) error {
	type output struct {
		name  string
		write func(io.Writer) error
	}
	t := s.table()
	outputs := []output{{"results.csv", t.writeCSV}}
	if f.format == "parquet" {
		outputs = []output{{"results.parquet", t.writeParquet}}
	}
	if f.plot {
		for i := range s.cfg.Figures {
			fig, err := s.figure(ctx, &s.cfg.Figures[i])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return exitWith(exitInvalid, fmt.Errorf("study: figures[%d]: %w", i, err))
			}
			for _, format := range []string{"svg", "png"} {
				outputs = append(outputs, output{s.cfg.Figures[i].Name + "." + format, func(w io.Writer) error { return fig.Write(w, format) }})
			}
		}
	}
	for _, o := range outputs {
		sum.Files = append(sum.Files, o.name)
	}
	outputs = append(outputs, output{"summary.json", func(w io.Writer) error { return encodeJSON(w, sum) }})
	for _, o := range outputs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := writeWhole(filepath.Join(s.dir, o.name), true, o.write); err != nil {
			return exitWith(exitUnavailable, fmt.Errorf("study: %w", err))
		}
	}
	return nil
}
