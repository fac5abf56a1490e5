// Package identify fits models to records and compares them: hil identify, hil compare.
package identify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hilrig/cmd/fitreport"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/numeric"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/ball"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Options are what the user chose.
type Options struct {
	data, validate string
	axis           string // of a recording; "": its only one
	law            string // of friction
	tailDuration   time.Duration
	spanText       string
	span           [2]float64 // … read, s
	columnTexts    []string   // of a record of columns
	columns        []chosen   // … read
	rateText       string
	rate           float64 // … read, Hz
	writeMachine   string  // where the file of the machine goes with what was found
	machine        bool    // of a recording: the bodies of the mechanism of its rig
	writeConfig    string  // where the assumed identification file goes
	checkText      string
	checkSpan      [2]float64 // … read, s: of the validation record
	asChild        bool       // run by a daemon beside its loop
	population     string
	publish        string         // address of a broker
	Methods        []string       // as they were given
	chain          identify.Chain // … and read
	Terms          []string
	Asymmetric     bool
	RequireFit     float64
	Bootstrap      int
	seed           int
	workers        int
	timeLimit      time.Duration
	Resume         string
	json, force    bool
	outputPath     string
	display        display
	Changed        func(flag string) bool
}

// RecordFlags are those that identify and compare share.
func (f *Options) RecordFlags(fl *pflag.FlagSet) {
	fl.StringVar(&f.data, "data", "", "another record with the same columns: CSV, MAT or a recording")
	fl.StringVar(&f.validate, "validate", "", "second record, explained by the parameters but not used to find them")
	fl.IntVar(&f.seed, "seed", 0, "of everything random; default: that of the file")
	fl.IntVar(&f.workers, "workers", 0, "processors to use; results do not depend on it; 0: all")
	fl.Var(report.Duration(&f.timeLimit, 0), "time-limit", "end with the best so far after this time; 0: none")
	fl.BoolVar(&f.json, "json", false, "print the result as JSON")
	fl.StringVarP(&f.outputPath, "output", "o", "", "also write the result to this JSON file")
	fl.StringVar(&f.publish, "publish", "", "publish progress and result at this broker, on the topics of a fit beside the loop: "+
		"tcp://user:password@host:1883/prefix/rig")
	f.display.flags(fl)
	fl.BoolVar(&f.force, "force", false, "write over an existing file")
}

// FitFlags are those of identify alone.
func (f *Options) FitFlags(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.columnTexts, "columns", nil, "columns of a CSV or MAT file, what=column[:unit[:gain]], separated by commas")
	fl.StringVar(&f.rateText, "rate", "", "sampling rate of a CSV or MAT file without a column of time, Hz")
	fl.StringVar(&f.axis, "axis", "", "axis of a recording that has several")
	fl.StringVar(&f.law, "law", "", "friction law in place of that of the file, or for a recording; hil laws lists them")
	fl.StringSliceVar(&f.Methods, "method", nil, "methods in place of those of the file, separated by commas: "+methodNames())
	fl.Var(report.Duration(&f.tailDuration, 0), "last", "only this time of the record, up to its end, such as 10s")
	fl.StringVar(&f.spanText, "span", "", "only this part of the record, FROM,TO in its time, such as 10,40 or 10s,1m30s")
	fl.StringVar(&f.checkText, "validate-span", "", "only this part of the record of --validate, FROM,TO")
	fl.StringSliceVar(&f.Terms, "terms", nil, "regress: terms in place of those of the file, separated by commas")
	fl.BoolVar(&f.Asymmetric, "asymmetric", false, "friction that depends on the direction: Fc+, Fc- and so on (no offset)")
	fl.Float64Var(&f.RequireFit, "require-fit", 0, "end with 6 if a fit is below this many percent")
	fl.IntVar(&f.Bootstrap, "bootstrap", 0, "intervals by this many refits to resampled residuals")
	fl.StringVar(&f.writeConfig, "write-config", "", "write the identification file that was assumed for a CSV file or a recording")
	fl.StringVar(&f.writeMachine, "write-machine", "", "of a machine: write its file with the parameters that were found")
	fl.BoolVar(&f.machine, "machine", false, "of a recording: the bodies of the mechanism of its rig, by the torques of all its axes together")
	fl.StringVar(&f.population, "population", "", "begin an evolution with the members in this file, and leave its last ones there: for the "+
		"next record")
	fl.BoolVar(&f.asChild, "beside", false, "at the lowest priority, progress as JSON, and ended with the standard input")
	_ = fl.MarkHidden("beside")
	fl.StringVar(&f.Resume, "resume", "", "keep the state of an evolution in this file, and continue from it if it exists")
}

// Identification is what is printed and stored: the result and where it came from.
type Identification struct {
	Name    string                 `json:"name"`
	Config  string                 `json:"config"`
	Program string                 `json:"program"`
	Command string                 `json:"command"`           // repeats it
	Seed    int                    `json:"seed"`              // of everything random
	Rig     string                 `json:"rig,omitempty"`     // of a recording, its rig
	Axis    string                 `json:"axis,omitempty"`    // and the axis that was fitted
	Assumed []fitreport.Assumption `json:"assumed,omitempty"` // what was taken for granted where no file says it
	*identify.Result
	Run  *ownRun        `json:"run,omitempty"`  // of a recording that was identified without a file
	Ball *ball.Evidence `json:"ball,omitempty"` // of a ball in front of cameras

	Response *identify.Response `json:"response,omitempty"` // of a machine that was fitted to its response: how each output is explained
	Machine  *identify.Machine  `json:"machine,omitempty"`  // of a machine: its joints, base parameters and all parameters
}

// Run fits what a file asks for, or a recording of this program.
func Run(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	if err := f.check("identify"); err != nil {
		return err
	}
	switch kind := configs.KindOf(path); {
	case kind == configs.ResponseFile:
		return runResponse(ctx, path, f, stdout, stderr)
	case kind == configs.MachineFitFile, f.machine:
		if _, isRun := sink.FindRun(path); f.machine && !isRun {
			return report.ExitWith(report.Usage, fmt.Errorf("identify: --machine is for a recording of a rig with a mechanism; %s is none", path))
		}
		return runMachine(ctx, path, f, stdout, stderr)
	case f.writeMachine != "":
		return report.ExitWith(report.Usage, fmt.Errorf("identify: --write-machine is for a machine; %s describes none", path))
	case kind == configs.BallFitFile:
		return runBall(ctx, path, f, stdout, stderr)
	}
	bar := report.NewProgress(stderr)
	watch := progressWatch(bar)
	if f.asChild {
		ctx, watch, bar = runAsChild(ctx, stderr)
	}
	defer bar.Finish()
	cfg, recs, assumed, own, err := f.load(ctx, path, stderr, bar)
	if err != nil {
		return afterTrip(path, err)
	}
	var kept identify.Keeper
	keep, err := openKeeper(f.Resume, cfg, recs)
	switch {
	case err != nil:
		return report.ExitWith(report.Invalid, err)
	case keep != nil:
		kept = keep
	case f.population != "":
		if kept, err = openPopulation(f.population); err != nil {
			return report.ExitWith(report.Invalid, err)
		}
	}

	// of a long record nothing but numbers is in memory, which cost the collector nothing: let it run often
	// of a short one the heap is small, and would be collected over and over
	percent := 400
	if slices.ContainsFunc(recs.Fit, func(d *record.Record) bool { return d.Len() > 1<<20 }) {
		percent = 15
	} else if slices.ContainsFunc(recs.Fit, func(d *record.Record) bool { return d.Len() > 1<<17 }) {
		percent = 100
	}
	defer debug.SetGCPercent(debug.SetGCPercent(percent))
	ctx, _, stop := report.UntilInterrupt(ctx, goesOn)
	defer stop()
	rig, axis := originOf(cfg)
	said, err := f.announce(ctx, rig, axis, cfg.Method.String(), cfg.Method.Law(cfg.Model.Law))
	if err != nil {
		return err
	}
	res, err := identify.Run(ctx, PlanOf(cfg, f.workers), recs, kept, said.watch(watch))
	bar.Finish()
	if keep != nil {
		if lost := keep.flush(); lost != nil {
			fmt.Fprintf(stderr, "warning: --resume: the state of the evolution could not be kept: %v\n", lost)
		}
	}
	if err != nil {
		f.display.warnNoResult(stderr)
		_ = said.result(nil, "", err)
		return f.refuse(ctx, path, err, stdout)
	}
	if members, ok := kept.(*populationFile); ok {
		members.Save(identify.PopulationKey, identify.Polished(members.data, res))
	}
	own.hold(res)
	own.sayCoupled(res, path)
	err = f.give(&answer{
		Identification: Identification{Name: cfg.Name, Config: path, Seed: cfg.Seed, Rig: rig, Axis: axis, Assumed: assumed.entries, Result: res,
			Run: own},
		rotary:   cfg.Axis == "rotary",
		nextStep: func() string { return nextIdentify(path, f, cfg, recs, res, own != nil && own.coupled != nil) },
	}, stdout, stderr)
	if err != nil {
		return err
	}
	if err := said.result(res, f.outputPath, nil); err != nil {
		return err
	}
	if res.Panic != nil {
		return res.Panic
	}
	if ctx.Err() != nil && res.Interrupted {
		return report.ExitWith(report.Interrupted, errors.New("interrupted: these are the best values so far, not the optimum"))
	}
	return gate(res, cfg.RequireFit)
}

// load reads what is to be fitted: what a file names, columns that are named by flags or by themselves, or a recording, which says
// everything itself.
func (f *Options) load(ctx context.Context, path string, stderr io.Writer, bar *report.Progress) (cfg *configs.Identify,
	recs identify.Records, assumed assumptions, own *ownRun, err error) {
	fail := func(code int, err error) (*configs.Identify, identify.Records, assumptions, *ownRun, error) {
		return nil, recs, assumed, nil, report.ExitWith(code, err)
	}
	_, isRun := sink.FindRun(path)
	isColumns := configs.KindOf(path) == configs.NumbersFile
	if err = f.parse(path, isRun, isColumns); err != nil {
		return fail(report.Usage, fmt.Errorf("identify: %w", err))
	}
	switch {
	case isRun:
		cfg, recs.Fit, own, err = PlanRun(ctx, path, RunOptions{Axis: f.axis, Law: f.law, Methods: f.chain, Span: f.span,
			TailDuration: f.tailDuration.Seconds()}, bar)
		if own != nil {
			assumed, recs.WithoutAssumed, recs.Doubt = own.assumptions, own.alternatives, own.doubt
		}
	case isColumns:
		cfg, assumed, err = f.planColumns(path)
	default:
		if cfg, err = configs.LoadIdentify(path, f.chain...); err != nil {
			return nil, recs, assumed, nil, report.Refuse(stderr, err)
		}
	}
	if err != nil {
		return fail(report.Invalid, err)
	}
	if err = f.applyFlags(cfg); err != nil {
		return fail(report.Usage, fmt.Errorf("identify: %w", err))
	}
	if isColumns { // what is wrong with it as a whole
		text, err := cfg.Marshal(".", nil)
		if err == nil {
			cfg, err = configs.ReadIdentify(path+", as it was assumed", text)
		}
		if err != nil {
			return nil, recs, assumed, nil, report.Refuse(stderr, err)
		}
	}
	if f.writeConfig != "" {
		if err = assumed.write(f.writeConfig, f.force, cfg); err != nil {
			return fail(report.Unavailable, fmt.Errorf("identify: --write-config: %w", err))
		}
	}
	switch {
	case !isRun:
		recs, err = readRecords(ctx, cfg, bar)
	case f.validate != "":
		if _, recs.Validation, _, err = PlanRun(ctx, f.validate, RunOptions{Axis: f.axis, Span: f.checkSpan}, bar); err != nil {
			err = fmt.Errorf("validation: %w", err)
		}
	}
	if err != nil && isColumns && strings.Contains(err.Error(), "data.") {
		err = fmt.Errorf("%w\n     Such keys stand in an identification file: --write-config axis.yaml writes the one that was assumed", err)
	}
	if err != nil {
		return fail(report.Invalid, err)
	}
	return cfg, recs, assumed, own, nil
}

// parse reads the flags that are words, and refuses those that do not belong to what path is.
func (f *Options) parse(path string, isRun, isColumns bool) (err error) {
	switch {
	case (isRun || isColumns) && f.data != "":
		return fmt.Errorf("--data belongs to a file that names columns; %s is a record itself", path)
	case !isRun && f.axis != "":
		return errors.New("--axis names the axis of a recording; whether another record is linear or rotary follows from its units, or stands " +
			"in its file")
	case !isColumns && (f.columnTexts != nil || f.rateText != ""):
		return fmt.Errorf("--columns and --rate belong to a record of columns, a CSV or MAT file; %s says its columns itself", path)
	case !isRun && !isColumns && f.writeConfig != "":
		return fmt.Errorf("--write-config writes the file that was assumed for a record; %s is such a file", path)
	}
	if f.columns, err = parseColumns(f.columnTexts); err != nil {
		return err
	}
	if f.rateText != "" {
		if f.rate, err = schema.ParseValue(f.rateText, "Hz"); err != nil || !(f.rate > 0) {
			return fmt.Errorf("--rate %s: want a frequency above zero, such as 1000 or 1 kHz", f.rateText)
		}
	}
	if f.chain, err = identify.ParseChain(f.Methods); err != nil {
		return fmt.Errorf("--method: %w", err)
	}
	if f.law != "" {
		if _, err = configs.PublicLaw(f.law); err != nil {
			return fmt.Errorf("--law: %w", err)
		}
	}
	if f.tailDuration < 0 || f.tailDuration > 0 && f.spanText != "" {
		return fmt.Errorf("--last %v: want a time above zero, and no --span beside it", f.tailDuration)
	}
	if f.span, err = parseSpan("--span", f.spanText); err == nil {
		f.checkSpan, err = parseSpan("--validate-span", f.checkText)
	}
	return err
}

// parseSpan reads FROM,TO; "": all, TO left out: to the end.
func parseSpan(flag, text string) (span [2]float64, err error) {
	if text == "" {
		return span, nil
	}
	from, to, both := strings.Cut(text, ",")
	for i, word := range []string{from, to} {
		if strings.TrimSpace(word) == "" {
			continue // the beginning, the end
		}
		x, err := report.ParseSeconds(word)
		if err != nil || !(x >= 0) {
			both = false
		}
		span[i] = x
	}
	if !both || span == [2]float64{} || span[1] != 0 && span[1] <= span[0] {
		return span, fmt.Errorf("%s %s: want two times, such as 10,40 or 10s,1m30s, or 10, up to the end", flag, text)
	}
	return span, nil
}

// progressWatch shows on a bar where a fit is.
func progressWatch(bar *report.Progress) func(fit.Progress) {
	return func(p fit.Progress) {
		bar.Watch(report.Stage{Method: p.Method, Phase: p.Phase, Step: p.Step, StepCount: p.StepCount, BestCost: p.BestCost, Unit: p.Unit,
			Simulated: p.Simulated, Note: p.Note})
	}
}

// check refuses flags that make no sense before any file is read.
func (f *Options) check(verb string) error {
	switch {
	case math.IsNaN(f.RequireFit) || f.RequireFit < 0 || f.RequireFit > 100:
		return report.ExitWith(report.Usage, fmt.Errorf("%s: --require-fit %g, want 0 to 100 percent", verb, f.RequireFit))
	case f.Bootstrap < 0 || f.workers < 0 || f.seed < 0 || f.timeLimit < 0:
		return report.ExitWith(report.Usage, fmt.Errorf("%s: --bootstrap, --workers, --seed and --time-limit: want no negative number", verb))
	}
	for _, file := range []string{f.outputPath, f.writeConfig} {
		if _, err := os.Lstat(file); file != "" && err == nil && !f.force {
			return report.ExitWith(report.Usage, fmt.Errorf("%s: %s exists; --force writes over it", verb, file))
		}
	}
	return f.display.check(verb, f.json, f.force)
}

// applyFlags puts the flags over the file.
func (f *Options) applyFlags(cfg *configs.Identify) error {
	if f.data != "" {
		cfg.Data.File, cfg.Data.FurtherFiles = f.data, nil
	}
	if f.span != [2]float64{} || f.tailDuration > 0 {
		cfg.Data.Span, cfg.Data.TailDuration = f.span, f.tailDuration.Seconds()
	}
	if f.validate != "" {
		cfg.Validate = f.validate
	}
	override(f, "method", &cfg.Method, f.chain)
	if f.law != "" {
		if err := cfg.Method.CheckLaw(f.law); err != nil {
			return fmt.Errorf("--law: %w", err)
		}
		cfg.Model.Law = f.law
		if axis.Damped(f.law) { // and needs no term for it
			cfg.Model.Terms = slices.DeleteFunc(cfg.Model.Terms, func(t string) bool { return t == "viscous" })
		}
	}
	if f.Resume != "" && !slices.Contains(cfg.Method, "aep") {
		return fmt.Errorf("--resume: only an evolution keeps its state, and aep is not among the methods: %s", cfg.Method)
	}
	if f.Changed("terms") {
		cfg.Terms = nil
		for _, t := range f.Terms {
			cfg.Terms = append(cfg.Terms, linear.Term(t))
		}
	}
	override(f, "require-fit", &cfg.RequireFit, f.RequireFit)
	override(f, "bootstrap", &cfg.Bootstrap, f.Bootstrap)
	override(f, "seed", &cfg.Seed, f.seed)
	override(f, "time-limit", &cfg.TimeLimit, f.timeLimit.Seconds())
	if f.Asymmetric {
		cfg.Model.Asymmetric = true
		cfg.Model.Terms = slices.DeleteFunc(cfg.Model.Terms, func(t string) bool { return t == "offset" })
		split, changed := termsOf(cfg).Asymmetric()
		if slices.Contains(cfg.Method, "regress") && !changed {
			return fmt.Errorf("--asymmetric: the terms %v hold neither viscous nor coulomb, there is nothing to split", cfg.Terms)
		}
		cfg.Terms = split.Terms
	}
	return nil
}

// override puts the value of a flag that was given in the place of that of the file.
func override[T any](f *Options, flag string, to *T, value T) {
	if f.Changed(flag) {
		*to = value
	}
}

// refuse ends without a result. A refusal by the data is also said as JSON where JSON was asked for.
func (f *Options) refuse(ctx context.Context, path string, err error, stdout io.Writer) error {
	var u *linear.Unidentifiable
	var s *linear.SpecError
	var p *fit.ParamError
	var d *record.Error
	err = afterTrip(path, err)
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return report.ExitWith(report.Interrupted, errors.New("interrupted before there was anything to keep"))
	case errors.Is(err, context.DeadlineExceeded):
		return report.ExitWith(report.Invalid, fmt.Errorf("%s: time_limit was over before there was anything to keep: give more", path))
	case errors.As(err, &u):
		if f.json {
			if err := report.EncodeJSON(stdout, refusal(u)); err != nil {
				return err
			}
		}
		return report.ExitWith(report.Quality, fmt.Errorf("%s: %w", path, err))
	case errors.As(err, &s) && f.Changed("terms"):
		return report.ExitWith(report.Usage, fmt.Errorf("identify: %w", err))
	case errors.As(err, &s), errors.As(err, &p):
		return report.ExitWith(report.Invalid, fmt.Errorf("%s: %w", path, err))
	case errors.As(err, &d):
		return report.ExitWith(report.Invalid, err)
	}
	return report.ExitWith(report.Invalid, fmt.Errorf("%s: %w", path, err))
}

// Refused is the JSON of a refusal: reasons, and no parameters.
type Refused struct {
	Verdict      string        `json:"verdict"`
	Condition    *float64      `json:"condition_scaled"` // null: infinite
	Limit        float64       `json:"condition_limit"`
	Combinations []combination `json:"combinations"`
}

// combination is one of columns that depend on each other.
type combination struct {
	Terms   []linear.Term `json:"terms"`
	Weights []float64     `json:"weights"`
	Text    string        `json:"text"`
	Advice  string        `json:"advice"`
}

func refusal(u *linear.Unidentifiable) Refused {
	out := Refused{Verdict: "not identifiable", Limit: u.Limit, Condition: numeric.OrNull(u.Condition)}
	for _, c := range u.Combinations {
		out.Combinations = append(out.Combinations, combination{c.Terms, c.Weights, c.String(), c.Advice})
	}
	return out
}

// gate turns a result that is not good enough into exit code 6. The numbers were printed before.
func gate(r *identify.Result, want float64) error {
	if r.Verdict == identify.Rejected && len(r.Reasons) > 0 {
		return report.ExitWith(report.Quality, fmt.Errorf("rejected: %s", r.Reasons[0].Text))
	}
	if !(want > 0) {
		return nil
	}
	fits := []*float64{r.Explained()}
	if r.Validation != nil {
		fits = append(fits, r.Validation.Fit.Percent)
	}
	for _, x := range fits {
		if x == nil {
			return report.ExitWith(report.Quality, fmt.Errorf("there is no fit in percent to compare with the %g %% that are required", want))
		}
		if *x < want {
			return report.ExitWith(report.Quality, fmt.Errorf("fit %.2f %% is below the %g %% that are required", *x, want))
		}
	}
	return nil
}

// writeResult writes the result as JSON.
func writeResult(path string, v any) error {
	if err := report.WriteWhole(path, true, func(w io.Writer) error { return report.EncodeJSON(w, v) }); err != nil {
		return fmt.Errorf("identify: %w", err)
	}
	return nil
}

// warningsOf are the oddities of records and fit, each once.
func warningsOf(r *identify.Result) []string {
	var out []string
	add := func(where string, findings []record.Finding, warnings []string) {
		for _, f := range findings {
			if f.Severity == record.Note {
				continue
			}
			s := where + f.Text
			if f.Advice != "" {
				s = strings.TrimSuffix(s, ".") + ". " + f.Advice
			}
			out = append(out, s)
		}
		for _, w := range warnings {
			if w = where + w; !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	add("", r.Findings, r.Warnings)
	if v := r.Validation; v != nil {
		add("validation: ", v.Findings, v.Warnings)
	}
	return out
}

// methodNames are the methods.
func methodNames() string { return strings.Join(identify.Method("").Words(), ", ") }
