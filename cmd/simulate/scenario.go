package simulate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/experiment"
	"hilrig/engine/failure"
	"hilrig/engine/friction"
	"hilrig/engine/spelling"
)

// chapterLaws are the models that the literature compares, in its order.
var chapterLaws = []string{"seven-parameter", "karnopp", "lugre", "dahl-modified", "m2"}

// ScenarioOptions are what the user chose.
type ScenarioOptions struct {
	Laws         []string
	LawsFile     string
	OutputFolder string
	Formats      []string
	Scheme       string
	C            experiment.Conditions
	Json, Force  bool
	NoFigures    bool
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

func (q quantity) Type() string { return q.unit }

func (q quantity) Set(s string) error {
	v, err := schema.ParseValue(s, q.unit)
	if err != nil {
		return err
	}
	*q.v = v
	return nil
}

// Scenario puts laws through one comparison, or all of them, and writes figures and tables.
func Scenario(ctx context.Context, name string, f ScenarioOptions, stdout, stderr io.Writer) error {
	var chosen []experiment.Scenario
	for _, s := range experiment.Scenarios {
		if name == "all" || name == s.Name {
			chosen = append(chosen, s)
		}
	}
	if chosen == nil {
		names := ScenarioNames()[1:]
		return report.Exitf(report.Usage, "scenario: %q is unknown, want all or one of %s%s", name, strings.Join(names, ", "),
			spelling.DidYouMean(name, names))
	}
	if err := f.check(); err != nil {
		return report.Exitf(report.Usage, "scenario: %w", err)
	}
	subjects, numbered, err := f.subjects(stderr)
	if err != nil {
		return err
	}

	// run everything before anything is written
	var outcomes []*experiment.Outcome
	for _, s := range chosen {
		for _, who := range subjects {
			o, err := s.Run(ctx, who, f.C)
			if err != nil {
				if errors.Is(err, context.Canceled) {
					return report.Exitf(report.Interrupted, "interrupted; nothing was written")
				}
				return report.ExitWith(report.Invalid, err)
			}
			outcomes = append(outcomes, o)
		}
	}

	files := metricFiles(f.C, outcomes)
	if !f.NoFigures {
		figures := scenarioFigures(chosen, subjects, outcomes, numbered)
		drawn, err := draw(ctx, figures, f.Formats)
		if err != nil {
			return err
		}
		files = append(files, drawn...)
	}
	if err := writeAll(f.OutputFolder, files, f.Force); err != nil {
		return err
	}
	if f.Json {
		for _, file := range files {
			if file.name == "metrics.json" {
				_, err := stdout.Write(file.data)
				return err
			}
		}
	}
	printMetrics(stdout, chosen, outcomes)
	fmt.Fprintf(stdout, "\n%d files in %s; next: look at %s\n", len(files), f.OutputFolder,
		filepath.Join(f.OutputFolder, files[len(files)-1].name))
	return nil
}

// check refuses flags that make no sense.
func (f *ScenarioOptions) check() error {
	var errs []error
	for _, q := range []struct {
		name string
		v    float64
	}{{"step", f.C.Step}, {"mass", f.C.Mass}, {"spring", f.C.Spring}, {"pull", f.C.Pull}, {"swing", f.C.Swing}, {"omega", f.C.Omega},
		{"ripple", f.C.Ripple}, {"push", f.C.Push}, {"jump", f.C.Jump}, {"kp", f.C.Kp}, {"ki", f.C.Ki}, {"kd", f.C.Kd}, {"move", f.C.Move}} {
		if !(q.v > 0) || math.IsInf(q.v, 0) {
			errs = append(errs, fmt.Errorf("--%s: %g, want > 0", q.name, q.v))
		}
	}
	if f.C.Step > 0.1 || f.C.Step < 1e-6 {
		errs = append(errs, fmt.Errorf("--step: %g s, want 1 µs to 0.1 s", f.C.Step))
	}
	if !(f.C.Bias > f.C.Ripple) {
		errs = append(errs, fmt.Errorf("--bias: %g m/s, want more than --ripple: the speed must not change sign", f.C.Bias))
	}
	if i := slices.Index(friction.Midpoint.Words(), f.Scheme); i >= 0 {
		f.C.Scheme = friction.Scheme(i)
	} else {
		errs = append(errs, fmt.Errorf("--scheme: unknown scheme %q, want one of %s", f.Scheme, SchemeNames()))
	}
	for _, format := range f.Formats {
		if format != "svg" && format != "png" {
			errs = append(errs, fmt.Errorf("--format: %q, want svg, png or both", format))
		}
	}
	if f.Laws != nil && f.LawsFile != "" {
		errs = append(errs, errors.New("--law and --laws: give one of them"))
	}
	return errors.Join(errs...)
}

// subjects are the laws to compare. numbered tells that they carry the chapter's parameters.
func (f *ScenarioOptions) subjects(stderr io.Writer) (all []experiment.Subject, numbered bool, err error) {
	if f.LawsFile != "" {
		all, err = lawsOfFile(f.LawsFile, stderr)
		return all, false, err
	}
	names := f.Laws
	if names == nil {
		names = chapterLaws
	}
	for i, name := range names {
		l, err := configs.ChosenLaw(name)
		if err != nil {
			return nil, false, report.Exitf(report.Usage, "scenario: %w; hil laws lists them", err)
		}
		if slices.Index(names, name) != i {
			return nil, false, report.Exitf(report.Usage, "scenario: law %q is named twice", name)
		}
		law, _ := friction.Find(l.Name)
		all = append(all, experiment.Subject{Name: law.Name, Label: cmp.Or(l.Preset.Name, law.Title), Law: l.Model, Force: law.Force})
	}
	c := experiment.Public()
	c.Step, c.Scheme = f.C.Step, f.C.Scheme
	return all, c == f.C, nil
}

// lawsOfFile are the laws of a simulation file; the rest of the file is checked and then left alone.
func lawsOfFile(path string, stderr io.Writer) ([]experiment.Subject, error) {
	cfg, warnings, err := configs.LoadSimulate(path)
	report.PrintWarnings(stderr, warnings)
	if err != nil {
		return nil, report.Refuse(stderr, err)
	}
	if cfg.Rotary() {
		return nil, report.Exitf(report.Invalid, "scenario: %s describes a rotary axis; the scenarios are those of a linear one: "+
			"give the laws in N and m", path)
	}
	if cfg.Normal != nil {
		fmt.Fprintf(stderr, "warning: %s: normal is not used: the scenarios have no normal load, a law takes its N0\n", path)
	}
	var all []experiment.Subject
	for _, l := range cfg.Friction {
		if l.NeedsNormal() {
			return nil, report.Exitf(report.Invalid, "scenario: %s: %s takes its level from the normal load, and the scenarios have "+
				"none; give it as N0", path, l.Label)
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
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		group.Go(func() (err error) {
			defer failure.Catch(&err)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fig, format := figures[i/len(formats)], formats[i%len(formats)]
			var b bytes.Buffer
			err = fig.Write(&b, format)
			files[i] = resultFile{fig.name + "." + format, b.Bytes()}
			return err
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, report.Exitf(report.Interrupted, "interrupted; nothing was written")
	}
	return files, err
}

// writeAll puts the files into dir. Nothing is written when one of them exists and force is not given.
func writeAll(dir string, files []resultFile, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return report.Exitf(report.Unavailable, "scenario: %w", err)
	}
	if !force {
		for _, f := range files {
			if _, err := os.Lstat(filepath.Join(dir, f.name)); err == nil {
				return report.Exitf(report.Usage, "scenario: %s exists; --force writes over it, -o takes another directory", filepath.Join(dir, f.name))
			}
		}
	}
	for _, f := range files {
		if err := report.WriteWhole(filepath.Join(dir, f.name), force,
			func(w io.Writer) error { _, err := w.Write(f.data); return err }); err != nil {
			return report.Exitf(report.Unavailable, "scenario: %w", err)
		}
	}
	return nil
}

// Public is a comparison with the public numbers.
func Public() ScenarioOptions { return ScenarioOptions{C: experiment.Public()} }

// ScenarioNames are the scenarios, and the word for all of them.
func ScenarioNames() []string {
	names := []string{"all"}
	for _, s := range experiment.Scenarios {
		names = append(names, s.Name)
	}
	return names
}

// SchemeNames are the schemes of the smooth laws.
func SchemeNames() string { return strings.Join(friction.Midpoint.Words(), ", ") }

// QuantityOf is a flag that takes a number with a unit.
func QuantityOf(v *float64, unit string) quantity { return quantity{v, unit} }

// Flags are those of hil scenario.
func (f *ScenarioOptions) Flags(fl *pflag.FlagSet) {
	quantity := func(v *float64, name, unit, usage string) { fl.Var(QuantityOf(v, unit), name, usage) }
	fl.StringSliceVar(&f.Laws, "law", nil, "laws by name, or law:preset, separated by commas; see hil laws (default: the five of the chapter)")
	fl.StringVar(&f.LawsFile, "laws", "", "take the laws and their parameters from the friction section of this simulation file")
	fl.StringVarP(&f.OutputFolder, "output", "o", "scenarios", "directory of the results")
	fl.StringSliceVar(&f.Formats, "format", []string{"svg", "png"}, "formats of the figures")
	fl.BoolVar(&f.NoFigures, "no-figures", false, "metrics only")
	fl.StringVar(&f.Scheme, "scheme", "midpoint", "scheme of the smooth laws: "+SchemeNames())
	fl.Var(report.PositiveSeconds(&f.C.Step), "step", "time step")
	quantity(&f.C.Mass, "mass", "kg", "drawn mass")
	quantity(&f.C.Spring, "spring", "N/m", "spring of stick-slip and zero crossing")
	quantity(&f.C.Pull, "pull", "m/s", "stick-slip: speed of the drawn end")
	quantity(&f.C.Swing, "swing", "m/s", "zero crossing: amplitude of the speed of the end")
	quantity(&f.C.Omega, "omega", "rad/s", "zero crossing: frequency")
	quantity(&f.C.Bias, "bias", "m/s", "hysteresis: mean speed")
	quantity(&f.C.Ripple, "ripple", "m/s", "hysteresis: amplitude of the speed")
	quantity(&f.C.Push, "push", "N", "stiction: amplitude of the force; steps of force are two and four times this")
	quantity(&f.C.Jump, "jump", "m/s", "step response: the speed")
	quantity(&f.C.Kp, "kp", "N/m", "hunting: proportional gain")
	quantity(&f.C.Ki, "ki", "N/(m·s)", "hunting: integral gain")
	quantity(&f.C.Kd, "kd", "N·s/m", "hunting: derivative gain")
	quantity(&f.C.Move, "move", "m", "hunting: how far the mass is sent")
	fl.BoolVar(&f.Json, "json", false, "print the metrics as JSON")
	fl.BoolVar(&f.Force, "force", false, "write over existing files")
}
