// Package study runs a simulation many times with other numbers: hil study.
package study

import (
	"cmp"
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

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
	"hilrig/configs"
	"hilrig/engine/study"
)

// Options are what the user chose.
type Options struct {
	Workers, Runs, Seed int
	Out, Format         string
	Resume, Json, Plot  bool
	Changed             func(name string) bool
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

// Run does a study that comes with the program, or that of a file. interrupted tells whether ctx ended by Ctrl-C.
func Run(ctx context.Context, interrupted func() bool, name string, f Options, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return report.ExitWith(report.Usage, fmt.Errorf("study: %w", err))
	}
	if name == rollingName {
		return runRolling(ctx, interrupted, f, stdout)
	}
	if name == beamName {
		return runBeam(ctx, interrupted, f, stdout)
	}
	cfg, warnings, err := configs.LoadStudy(name)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	report.PrintWarnings(stderr, warnings)
	if err := f.over(cfg); err != nil {
		return report.ExitWith(report.Usage, fmt.Errorf("study: %w", err))
	}
	s := &parameterStudy{name: name, cfg: cfg, dir: cfg.Folder()}
	if s.plan, err = PlanOf(cfg); err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("study: %w", err))
	}
	s.drawSeeds()
	if f.Plot && len(cfg.Figures) == 0 {
		fmt.Fprintln(stderr, "warning: the study names no figures; --plot draws nothing")
	}
	j, err := s.journal(f, stderr)
	if err != nil {
		return err
	}
	defer j.Close()

	// the runs
	began, before := time.Now(), j.Done()
	if err := s.run(ctx, j, f.Workers, stderr); err != nil {
		var misnamed *misnamedError
		switch {
		case interrupted():
			return report.ExitWith(report.Interrupted, fmt.Errorf("study: interrupted with %d of %d runs done; the same command goes on from there: %s", j.Done(), s.plan.Runs(), s.again(f)))
		case errors.As(err, &misnamed):
			return report.ExitWith(report.Invalid, err)
		}
		return report.ExitWith(report.Unavailable, fmt.Errorf("study: %w", err))
	}
	sit := sitting{WallTime: time.Since(began).Seconds(), Workers: cmp.Or(f.Workers, runtime.GOMAXPROCS(0)), Resumed: before}

	// what is made of them
	sum := s.summarise()
	if err := s.write(ctx, f, sum); err != nil {
		if interrupted() {
			return report.ExitWith(report.Interrupted, errors.New("study: interrupted while writing; all runs are in the journal: "+s.again(f)))
		}
		return err
	}
	if f.Json {
		if err := report.EncodeJSON(stdout, struct {
			Summary
			Sitting sitting `json:"sitting"`
		}{*sum, sit}); err != nil {
			return err
		}
	} else {
		sum.print(stdout, sit)
		if !f.Plot && len(cfg.Figures) > 0 {
			fmt.Fprintf(stdout, "\nnext: %s --plot      draws %d figures; no run is done again\n", s.again(f), len(cfg.Figures))
		}
	}
	if share := 100 * float64(sum.Failed) / float64(sum.Runs); share > cfg.MaxFailed {
		return report.ExitWith(report.Quality, fmt.Errorf("study: %d of %d runs failed, %.3g %%; at most %.3g %% may (max_failed)", sum.Failed, sum.Runs, share, cfg.MaxFailed))
	}
	return nil
}

// check looks at the flags before anything is read.
func (f *Options) check() error {
	switch {
	case f.Workers < 0 || f.Workers > 1024:
		return fmt.Errorf("--workers %d, want 0 to 1024", f.Workers)
	case f.Runs < 0 || f.Changed("runs") && f.Runs == 0:
		return fmt.Errorf("--runs %d, want at least 1", f.Runs)
	case f.Seed < 0:
		return fmt.Errorf("--seed %d, want 0 or more", f.Seed)
	case f.Format != "csv" && f.Format != "parquet":
		return fmt.Errorf("--format %q, want csv or parquet", f.Format)
	}
	return nil
}

// over puts the flags over the file.
func (f *Options) over(c *configs.Study) error {
	if f.Runs > 0 {
		if c.Design.Kind == study.Grid {
			return errors.New("--runs: a grid counts its own runs; change levels or values in the file")
		}
		c.Design.Runs = f.Runs
	}
	if f.Changed("seed") {
		c.Design.Seed = f.Seed
	}
	if f.Out != "" {
		c.Output = f.Out
	}
	return nil
}

// again is the command that goes on with the study.
func (s *parameterStudy) again(f Options) string {
	cmd := report.StartName + " study " + s.name
	if f.Runs > 0 {
		cmd += fmt.Sprintf(" --runs %d", f.Runs)
	}
	if f.Changed("seed") {
		cmd += fmt.Sprintf(" --seed %d", f.Seed)
	}
	if f.Out != "" {
		cmd += " --out " + f.Out
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
		list, err := simulate.Metrics(ctx, s.cfg.BaseName(), data)
		var m []study.Metric
		for _, x := range list {
			m = append(m, study.Metric(x))
		}
		if err == nil {
			once.Do(func() {
				if err := s.knows(m); err != nil {
					cancel(err)
				}
			})
		}
		return m, err
	}
	bar := report.NewProgress(stderr)
	defer bar.Done()
	var err error
	s.outcomes, err = study.Run(ctx, j, workers, task, func(st study.State) {
		phase := "run"
		if st.Failed > 0 {
			phase = fmt.Sprintf("%d failed, run", st.Failed)
		}
		bar.Watch(report.Stage{Method: "study", Phase: phase, Step: st.Done, Of: st.Of, Simulated: st.Now})
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	for _, o := range s.outcomes {
		if o.Failed == "" {
			return s.knows(o.Metrics)
		}
	}
	return nil
}

// knows tells whether everything that was asked for is among the results.
func (s *parameterStudy) knows(m []study.Metric) error {
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
func (s *parameterStudy) write(ctx context.Context, f Options, sum *Summary) error {
	type output struct {
		name  string
		write func(io.Writer) error
	}
	t := s.table()
	outputs := []output{{"results.csv", t.writeCSV}}
	if f.Format == "parquet" {
		outputs = []output{{"results.parquet", t.writeParquet}}
	}
	if f.Plot {
		for i := range s.cfg.Figures {
			fig, err := s.figure(ctx, &s.cfg.Figures[i])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return report.ExitWith(report.Invalid, fmt.Errorf("study: figures[%d]: %w", i, err))
			}
			for _, format := range []string{"svg", "png"} {
				outputs = append(outputs, output{s.cfg.Figures[i].Name + "." + format, func(w io.Writer) error { return fig.Write(w, format) }})
			}
		}
	}
	for _, o := range outputs {
		sum.Files = append(sum.Files, o.name)
	}
	outputs = append(outputs, output{"summary.json", func(w io.Writer) error { return report.EncodeJSON(w, sum) }})
	for _, o := range outputs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := report.WriteWhole(filepath.Join(s.dir, o.name), true, o.write); err != nil {
			return report.ExitWith(report.Unavailable, fmt.Errorf("study: %w", err))
		}
	}
	return nil
}

// BuiltIn are the studies that come with the program.
func BuiltIn() string {
	return strings.Join(append(configs.BuiltInStudies(), rollingName, beamName), ", ")
}
