// Package study runs a simulation many times with other numbers: hil study.
package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
	"hilrig/cmd/table"
	"hilrig/configs"
	"hilrig/engine/study"
	fits "hilrig/identify"
)

// Run does a study that comes with the program, or that of a file: it plans it unless that was done, does what is missing on this
// machine, and collects. interrupted tells whether ctx ended by Ctrl-C.
func Run(ctx context.Context, interrupted func() bool, name string, f Options, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return report.Exitf(report.Usage, "study: %w", err)
	}
	if one := findSingle(name); one != nil {
		return one.run(ctx, interrupted, f, stdout, stderr)
	}
	s, err := f.load(name, stderr)
	if err != nil {
		return err
	}
	if f.Plot && len(s.cfg.Figures) == 0 {
		fmt.Fprintln(stderr, "warning: the study names no figures; --plot draws nothing")
	}
	if err := s.resume(f); err != nil {
		return err
	}
	if err := s.open(0, stderr); err != nil {
		return err
	}
	again := s.resumeCommand(f)
	sit, err := s.local(ctx, interrupted, f.Workers, again, stderr)
	if err != nil {
		return err
	}
	return s.collect(ctx, interrupted, f, sit, again, stdout)
}

// load reads the study with the flags over it.
func (f *Options) load(name string, stderr io.Writer) (*parameterStudy, error) {
	var changes []study.Change
	if f.Runs > 0 {
		changes = append(changes, study.Change{Key: "runs", Value: f.Runs})
	}
	if f.Changed("seed") {
		changes = append(changes, study.Change{Key: "seed", Value: f.Seed})
	}
	s, warnings, err := load(name, changes)
	if err != nil {
		return nil, refuse(stderr, err)
	}
	report.PrintWarnings(stderr, warnings)
	s.dir = cmp.Or(f.OutputFolder, s.cfg.Folder())
	return s, nil
}

// resume begins again if that was asked for, and refuses to go on with what is not there.
func (s *parameterStudy) resume(f Options) error {
	if !f.Resume {
		return s.discard()
	}
	if path := filepath.Join(s.dir, study.ManifestName); f.Changed("resume") {
		if _, err := os.Stat(path); err != nil {
			return report.Exitf(report.Invalid, "study: --resume, but there is no manifest %s", path)
		}
	}
	return nil
}

// local does what is missing on this machine.
func (s *parameterStudy) local(ctx context.Context, interrupted func() bool, workers int, again string, stderr io.Writer) (sitting, error) {
	began := time.Now()
	if workers > 0 { // a fit of many starts has workers of its own
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(min(workers, runtime.GOMAXPROCS(0))))
	}
	p, err := s.folder.Progress()
	if err != nil {
		return sitting{}, s.refusal(err)
	}
	s.warnDamaged(p, stderr)
	if p.DoneRuns > 0 && p.DoneRuns < p.TotalRuns {
		fmt.Fprintf(stderr, "going on with %s: %d of %d runs are in finished tasks\n", s.dir, p.DoneRuns, p.TotalRuns)
	}
	// the collector runs when so much garbage is there, not every 4 MB; memory that nobody touches takes none
	ballast := make([]byte, 64<<20)
	defer runtime.KeepAlive(ballast)
	done, now := p.DoneRuns, 0
	err = s.run(ctx, p, workers, stderr, func(st study.State) { done, now = st.DoneRuns, st.NewRuns })
	var misnamed *misnamedError
	switch {
	case errors.As(err, &misnamed):
		return sitting{}, report.ExitWith(report.Invalid, err)
	case err != nil && interrupted():
		return sitting{}, report.Exitf(report.Interrupted, "study: interrupted with %d of %d runs done; the same command goes on "+
			"from there: %s", done, p.TotalRuns, again)
	case err != nil:
		return sitting{}, report.Exitf(report.Unavailable, "study: %w; %d of %d runs are done, and when that is mended the same "+
			"command goes on: %s", err, done, p.TotalRuns, again)
	}
	return sitting{Folder: s.dir, WallTime: time.Since(began).Seconds(), Workers: cmp.Or(workers, runtime.GOMAXPROCS(0)),
		Resumed: p.TotalRuns - now}, nil
}

func (s *parameterStudy) warnDamaged(p study.Progress, stderr io.Writer) {
	if len(p.Damaged) > 0 {
		fmt.Fprintf(stderr, "warning: %s: the files of the tasks %s cannot be read, and these are done again\n", s.dir, ranges(p.Damaged))
	}
}

// collect makes tables and figures of what is in the folder.
func (s *parameterStudy) collect(ctx context.Context, interrupted func() bool, f Options, sit sitting, again string,
	stdout io.Writer) error {
	var err error
	if s.outcomes, sit.MissingRuns, err = s.folder.Outcomes(); err != nil {
		return s.refusal(err)
	}
	if names := s.resultNames(); len(names) > 0 {
		if err := s.knows(names); err != nil {
			return report.ExitWith(report.Invalid, err)
		}
	}
	sum := s.summarise()
	if err := s.write(ctx, f, sum, sit.MissingRuns); err != nil {
		if interrupted() {
			return report.ExitWith(report.Interrupted, errors.New("study: interrupted while writing; all runs are in the folder: "+again))
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
		if !f.Plot && len(s.cfg.Figures) > 0 {
			fmt.Fprintf(stdout, "\nnext: %s --plot      draws %d figures; no run is done again\n", again, len(s.cfg.Figures))
		}
	}
	if share := 100 * float64(sum.Failed) / float64(sum.Runs); share > s.cfg.MaxFailed {
		return report.Exitf(report.Quality, "study: %d of %d runs failed, %.3g %%; at most %.3g %% may (max_failed)", sum.Failed,
			sum.Runs, share, s.cfg.MaxFailed)
	}
	if e := sum.Islands; e != nil && e.Verdict == string(fits.Rejected) {
		return report.Exitf(report.Quality, "study: rejected: %s", e.Reason) // as hil identify
	}
	return nil
}

// resumeCommand is the command that goes on with the study.
func (s *parameterStudy) resumeCommand(f Options) string {
	cmd := report.StartName + " study " + report.ShellWord(s.name)
	if f.Runs > 0 {
		cmd += fmt.Sprintf(" --runs %d", f.Runs)
	}
	if f.Changed("seed") {
		cmd += fmt.Sprintf(" --seed %d", f.Seed)
	}
	if f.OutputFolder != "" {
		cmd += " --out " + report.ShellWord(f.OutputFolder)
	}
	return cmd
}

// refuse says what is wrong with a file, unless the error has an exit code already.
func refuse(stderr io.Writer, err error) error {
	if report.ExitCode(err) != report.Internal {
		return err
	}
	return report.Refuse(stderr, err)
}

// misnamedError says that a result was asked for which runs do not give.
type misnamedError struct{ text string }

func (e *misnamedError) Error() string { return e.text }

// work does one run, for run_time_limit at most.
func (s *parameterStudy) work(ctx context.Context, run int) (o study.Outcome, err error) {
	limit := s.runLimit()
	if limit == 0 {
		return s.unlimited(ctx, run)
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	o, err = s.unlimited(inner, run)
	if inner.Err() != nil && ctx.Err() == nil { // what came out may be a part
		return study.Outcome{}, fmt.Errorf("it took longer than run_time_limit, %v", limit)
	}
	return o, err
}

// runLimit is the longest time of a run; 0: there is none.
func (s *parameterStudy) runLimit() time.Duration {
	return time.Duration(s.cfg.RunLimit * float64(time.Second))
}

// unlimited does one run. Paths in what goes wrong are from the folder of the study, so that they read the same on all machines.
func (s *parameterStudy) unlimited(ctx context.Context, run int) (o study.Outcome, err error) {
	data, err := s.file(run)
	if err != nil {
		return o, err
	}
	if s.islands() {
		o, err = s.round(ctx, data, run)
	} else {
		o.Metrics, err = metricsOf(ctx, s.cfg.BaseName(), data)
	}
	if folder := filepath.Dir(s.cfg.BaseName()); err != nil && filepath.IsAbs(folder) {
		err = errors.New(strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), ""))
	}
	return o, err
}

// metricsOf runs a file of hil simulate or hil identify.
func metricsOf(ctx context.Context, name string, data []byte) (m []study.Metric, err error) {
	c, err := configs.CheckSimulation(name, data)
	if err != nil {
		return nil, err
	}
	if c.Fits() {
		return fitMetrics(ctx, c)
	}
	list, err := simulate.MetricsOf(ctx, name, c)
	for _, x := range list {
		m = append(m, study.Metric{Name: x.Name, Unit: x.Unit, Value: x.Value})
	}
	return m, err
}

// run does the runs that are missing. The first one that succeeds tells which results there are: what was asked for and is
// not among them ends the study there.
func (s *parameterStudy) run(ctx context.Context, p study.Progress, workers int, stderr io.Writer, watch func(study.State)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once sync.Once
	work := func(ctx context.Context, run int) (study.Outcome, error) {
		o, err := s.work(ctx, run)
		if err == nil && !s.islands() { // there the last run gives others than the first
			once.Do(func() {
				if err := s.knows(o.Metrics); err != nil {
					cancel(err)
				}
			})
		}
		return o, err
	}
	bar := report.NewProgress(stderr)
	defer bar.Finish()
	return s.folder.Run(ctx, p, workers, work, func(st study.State) {
		watch(st)
		bar.Watch(stageOf(st))
	})
}

// stageOf is a state as the progress bar shows it.
func stageOf(st study.State) report.Stage {
	phase := "run"
	if st.FailedRuns > 0 {
		phase = fmt.Sprintf("%d failed, run", st.FailedRuns)
	}
	return report.Stage{Method: "study", Phase: phase, Step: st.DoneRuns, StepCount: st.TotalRuns, Simulated: st.NewRuns}
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
	for i := range s.cfg.Vary {
		if name := s.cfg.Vary[i].Name; slices.Contains(names, name) {
			return &misnamedError{fmt.Sprintf("%s: vary[%d].name: %s is the name of a result too; take another", s.name, i, name)}
		}
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
func (s *parameterStudy) write(ctx context.Context, f Options, sum *Summary, missing int) error {
	type output struct {
		name  string
		write func(io.Writer) error
	}
	write, ending := writeCSV, ".csv"
	if format, ok := table.FormatOf("." + f.Format); ok {
		write, ending = format.Write, format.Ending
	}
	outputs := []output{{"results" + ending, func(w io.Writer) error { return write(w, s.table()) }}}
	var figures []*plot.Figure
	if f.Plot || f.Report {
		for i := range s.cfg.Figures {
			fig, err := s.figure(ctx, &s.cfg.Figures[i])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return report.Exitf(report.Invalid, "study: figures[%d]: %w", i, err)
			}
			figures = append(figures, fig)
		}
	}
	if f.Plot {
		for i, fig := range figures {
			for _, format := range []string{"svg", "png"} {
				outputs = append(outputs, output{s.cfg.Figures[i].Name + "." + format, func(w io.Writer) error { return fig.Write(w, format) }})
			}
		}
	}
	if text := s.identification(); text != nil {
		outputs = append(outputs, output{"result.json", func(w io.Writer) error { return report.EncodeJSON(w, text) }})
	}
	if f.Report {
		outputs = append(outputs, output{"report.html", func(w io.Writer) error { return s.writePage(w, sum, missing, figures) }})
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
			return report.Exitf(report.Unavailable, "study: %w", err)
		}
	}
	return nil
}

// BuiltIn are the studies that come with the program.
func BuiltIn() string { return strings.Join(Names(), ", ") }

// Names are theirs.
func Names() []string { return append(configs.BuiltInStudies(), rollingName, beamName) }
