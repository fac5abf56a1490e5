package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hilrig/cmd/hil/plot"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
	"hilrig/engine/spelling"
)

// chapterLaws are the models that the literature compares, in its order.
var chapterLaws = []string{"seven-parameter", "karnopp", "lugre", "dahl-modified", "m2"}

// scenarioFlags are what the user chose.
type scenarioFlags struct {
	laws        []string
	from        string
	out         string
	formats     []string
	scheme      string
	c           experiment.Conditions
	json, force bool
	noFigures   bool
}

func newScenarioCmd() *cobra.Command {
	f := scenarioFlags{c: experiment.Public()}
	names := []string{"all"}
	for _, s := range experiment.Scenarios {
		names = append(names, s.Name)
	}
	c := &cobra.Command{
		Use:   "scenario " + strings.Join(names, "|"),
		Short: "The comparison scenarios of friction laws, with figures and a table",
		Long: `Puts friction laws through the comparisons of the literature: stick-slip of a drawn mass, crossing zero velocity,
hysteresis of friction over velocity, spring-like stiction, response to a step, a position held by PD and PID. Without --law the five models of the
chapter run with one public set of parameters; figures then carry the chapter's numbers 6.4 to 6.42. Laws with parameters
of your own come from the friction section of a simulation file (--laws).

DIR receives the figures, a comparison of the laws for every scenario, and metrics.md, metrics.csv, metrics.json.
docs/scenarios.md says what every number means.

Exit codes: 0 done; 2 wrong usage; 3 a law that cannot be used, or a step without a finite result; 4 DIR cannot be written;
130 interrupted.`,
		Example: `  hil scenario all
  hil scenario stick-slip --law lugre,gms,elasto-plastic -o compare
  hil scenario hysteresis --laws configs/compare-laws.yaml --step 0.1ms --json`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			return runScenario(ctx, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.laws, "law", nil, "laws by name, or law:preset, separated by commas; see hil laws (default: the five of the chapter)")
	c.RegisterFlagCompletionFunc("law", cobra.FixedCompletions(configs.LawChoices(), cobra.ShellCompDirectiveNoFileComp))
	fl.StringVar(&f.from, "laws", "", "take the laws and their parameters from the friction section of this simulation file")
	fl.StringVarP(&f.out, "output", "o", "scenarios", "directory of the results")
	fl.StringSliceVar(&f.formats, "format", []string{"svg", "png"}, "formats of the figures")
	fl.BoolVar(&f.noFigures, "no-figures", false, "metrics only")
	fl.StringVar(&f.scheme, "scheme", "midpoint", "scheme of the smooth laws: "+strings.Join(friction.Schemes(), ", "))
	quantityVar(fl, &f.c.Step, "step", "s", "time step")
	quantityVar(fl, &f.c.Mass, "mass", "kg", "drawn mass")
	quantityVar(fl, &f.c.Spring, "spring", "N/m", "spring of stick-slip and zero crossing")
	quantityVar(fl, &f.c.Pull, "pull", "m/s", "stick-slip: speed of the drawn end")
	quantityVar(fl, &f.c.Swing, "swing", "m/s", "zero crossing: amplitude of the speed of the end")
	quantityVar(fl, &f.c.Omega, "omega", "rad/s", "zero crossing: frequency")
	quantityVar(fl, &f.c.Bias, "bias", "m/s", "hysteresis: mean speed")
	quantityVar(fl, &f.c.Ripple, "ripple", "m/s", "hysteresis: amplitude of the speed")
	quantityVar(fl, &f.c.Push, "push", "N", "stiction: amplitude of the force; steps of force are two and four times this")
	quantityVar(fl, &f.c.Jump, "jump", "m/s", "step response: the speed")
	quantityVar(fl, &f.c.Kp, "kp", "N/m", "hunting: proportional gain")
	quantityVar(fl, &f.c.Ki, "ki", "N/(m·s)", "hunting: integral gain")
	quantityVar(fl, &f.c.Kd, "kd", "N·s/m", "hunting: derivative gain")
	quantityVar(fl, &f.c.Move, "move", "m", "hunting: how far the mass is sent")
	fl.BoolVar(&f.json, "json", false, "print the metrics as JSON")
	fl.BoolVar(&f.force, "force", false, "write over existing files")
	return c
}

// quantity is a flag with a unit: "0.1 ms", "1e-4" (SI).
type quantity struct {
	v    *float64
	unit string
}

func (q quantity) String() string {
	if q.v == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%g %s", *q.v, q.unit))
}

// quantityVar adds such a flag.
func quantityVar(fl *pflag.FlagSet, v *float64, name, unit, usage string) {
	fl.Var(quantity{v, unit}, name, usage)
}

func (q quantity) Type() string { return q.unit }

func (q quantity) Set(s string) error {
	v, err := schema.ParseValue(s, q.unit)
	if err != nil {
		return err
	}
	*q.v = v
	return nil
}

func runScenario(ctx context.Context, name string, f scenarioFlags, stdout, stderr io.Writer) error {
	var chosen []experiment.Scenario
	for _, s := range experiment.Scenarios {
		if name == "all" || name == s.Name {
			chosen = append(chosen, s)
		}
	}
	if chosen == nil {
		var names []string
		for _, s := range experiment.Scenarios {
			names = append(names, s.Name)
		}
		return exitWith(exitUsage, fmt.Errorf("scenario: %q is unknown, want all or one of %s%s", name, strings.Join(names, ", "), spelling.DidYouMean(name, names)))
	}
	if err := f.check(); err != nil {
		return exitWith(exitUsage, fmt.Errorf("scenario: %w", err))
	}
	subjects, numbered, err := f.subjects(stderr)
	if err != nil {
		return err
	}

	// run everything before anything is written
	var outcomes []*experiment.Outcome
	for _, s := range chosen {
		for _, who := range subjects {
			o, err := s.Run(ctx, who, f.c)
			if err != nil {
				if errors.Is(err, context.Canceled) {
					return exitWith(exitInterrupted, errors.New("interrupted; nothing was written"))
				}
				return exitWith(exitInvalid, err)
			}
			outcomes = append(outcomes, o)
		}
	}

	files := metricFiles(f.c, outcomes)
	if !f.noFigures {
		figures := scenarioFigures(chosen, subjects, outcomes, numbered)
		drawn, err := draw(ctx, figures, f.formats)
		if err != nil {
			return err
		}
		files = append(files, drawn...)
	}
	if err := writeAll(f.out, files, f.force); err != nil {
		return err
	}
	if f.json {
		for _, file := range files {
			if file.name == "metrics.json" {
				_, err := stdout.Write(file.data)
				return err
			}
		}
	}
	printMetrics(stdout, chosen, outcomes)
	fmt.Fprintf(stdout, "\n%d files in %s; next: look at %s\n", len(files), f.out, filepath.Join(f.out, files[len(files)-1].name))
	return nil
}

// check refuses flags that make no sense.
func (f *scenarioFlags) check() error {
	var errs []error
	for _, q := range []struct {
		name string
		v    float64
	}{{"step", f.c.Step}, {"mass", f.c.Mass}, {"spring", f.c.Spring}, {"pull", f.c.Pull}, {"swing", f.c.Swing}, {"omega", f.c.Omega}, {"ripple", f.c.Ripple}, {"push", f.c.Push}, {"jump", f.c.Jump}, {"kp", f.c.Kp}, {"ki", f.c.Ki}, {"kd", f.c.Kd}, {"move", f.c.Move}} {
		if !(q.v > 0) || math.IsInf(q.v, 0) {
			errs = append(errs, fmt.Errorf("--%s: %g, want > 0", q.name, q.v))
		}
	}
	if f.c.Step > 0.1 || f.c.Step < 1e-6 {
		errs = append(errs, fmt.Errorf("--step: %g s, want 1 µs to 0.1 s", f.c.Step))
	}
	if !(f.c.Bias > f.c.Ripple) {
		errs = append(errs, fmt.Errorf("--bias: %g m/s, want more than --ripple: the speed must not change sign", f.c.Bias))
	}
	var err error
	if f.c.Scheme, err = friction.ParseScheme(f.scheme); err != nil {
		errs = append(errs, fmt.Errorf("--scheme: %w", err))
	}
	for _, format := range f.formats {
		if format != "svg" && format != "png" {
			errs = append(errs, fmt.Errorf("--format: %q, want svg, png or both", format))
		}
	}
	if f.laws != nil && f.from != "" {
		errs = append(errs, errors.New("--law and --laws: give one of them"))
	}
	return errors.Join(errs...)
}

// subjects are the laws to compare. numbered tells that they carry the chapter's parameters.
func (f *scenarioFlags) subjects(stderr io.Writer) (all []experiment.Subject, numbered bool, err error) {
	if f.from != "" {
		all, err = lawsOfFile(f.from, stderr)
		return all, false, err
	}
	names := f.laws
	if names == nil {
		names = chapterLaws
	}
	for i, name := range names {
		l, err := configs.ChosenLaw(name)
		if err != nil {
			return nil, false, exitWith(exitUsage, fmt.Errorf("scenario: %w; hil laws lists them", err))
		}
		if slices.Index(names, name) != i {
			return nil, false, exitWith(exitUsage, fmt.Errorf("scenario: law %q is named twice", name))
		}
		law, _ := friction.Find(l.Name)
		label := law.Title
		if l.Preset.Name != "" {
			label = l.Preset.Name
		}
		all = append(all, experiment.Subject{Name: law.Name, Label: label, Law: l.Model, Force: law.Force})
	}
	c := experiment.Public()
	c.Step, c.Scheme = f.c.Step, f.c.Scheme
	return all, c == f.c, nil
}

// lawsOfFile are the laws of a simulation file; the rest of the file is checked and then left alone.
func lawsOfFile(path string, stderr io.Writer) ([]experiment.Subject, error) {
	cfg, warnings, err := configs.LoadSimulate(path)
	for _, w := range warnings {
		fmt.Fprintf(stderr, "warning: %v\n", w)
	}
	if err != nil {
		printProblems(stderr, "hil: ", err)
		return nil, exitWith(exitInvalid, nil)
	}
	if cfg.Rotary() {
		return nil, exitWith(exitInvalid, fmt.Errorf("scenario: %s describes a rotary axis; the scenarios are those of a linear one: give the laws in N and m", path))
	}
	if cfg.Normal != nil {
		fmt.Fprintf(stderr, "warning: %s: normal is not used: the scenarios have no normal load, a law takes its N0\n", path)
	}
	var all []experiment.Subject
	for _, l := range cfg.Friction {
		if l.NeedsNormal() {
			return nil, exitWith(exitInvalid, fmt.Errorf("scenario: %s: %s takes its level from the normal load, and the scenarios have none; give it as N0", path, l.Label))
		}
		info, _ := friction.Find(l.Name)
		all = append(all, experiment.Subject{Name: l.Name, Label: l.Label, Law: l.Model, Force: info.Force})
	}
	return all, nil
}

// resultFile is a file of the directory of results.
type resultFile struct {
	name string
	data []byte
}

// namedFigure is a figure with the name of its file, without the format.
type namedFigure struct {
	name string
	*plot.Figure
}

// draw renders the figures on all processors.
func draw(ctx context.Context, figures []namedFigure, formats []string) ([]resultFile, error) {
	files := make([]resultFile, len(figures)*len(formats))
	errs := make([]error, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				fig, format := figures[i/len(formats)], formats[i%len(formats)]
				var b bytes.Buffer
				errs[i] = fig.Write(&b, format)
				files[i] = resultFile{fig.name + "." + format, b.Bytes()}
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, exitWith(exitInterrupted, errors.New("interrupted; nothing was written"))
	}
	return files, errors.Join(errs...)
}

// writeAll puts the files into dir. Nothing is written when one of them exists and force is not given.
func writeAll(dir string, files []resultFile, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return exitWith(exitUnavailable, fmt.Errorf("scenario: %w", err))
	}
	if !force {
		for _, f := range files {
			if _, err := os.Lstat(filepath.Join(dir, f.name)); err == nil {
				return exitWith(exitUsage, fmt.Errorf("scenario: %s exists; --force writes over it, -o takes another directory", filepath.Join(dir, f.name)))
			}
		}
	}
	for _, f := range files {
		if err := writeWhole(filepath.Join(dir, f.name), force, func(w io.Writer) error { _, err := w.Write(f.data); return err }); err != nil {
			return exitWith(exitUnavailable, fmt.Errorf("scenario: %w", err))
		}
	}
	return nil
}
