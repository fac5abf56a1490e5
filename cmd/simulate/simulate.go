// Package simulate runs friction laws, bodies in contact, scenarios and complementarity problems, and writes what came out.
package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/experiment"
	"hilrig/engine/failure"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// Options are what the user chose.
type Options struct {
	OutputPath, Plot string
	Animate          string
	Events           string
	Motion           string
	Modes            bool
	Json, Force      bool
	Laws             []string
	Step, Duration   float64 // s  0: that of the file
}

// simulation is a run under way and its results.
type simulation struct {
	path     string
	cfg      *configs.Simulate
	warnings []string
	runs     []lawRun
	watch    experiment.Recording
}

// lawRun is one law in it.
type lawRun struct {
	law   configs.Law
	spec  experiment.Spec
	parts int     // that every step is divided into
	limit float64 // s  longest step
	trace *experiment.Trace
	err   error
}

// Run runs a file: a ball in front of cameras, a machine, a chain on a beam, bodies in contact, or friction laws.
func Run(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	switch kind := configs.KindOf(path); {
	case f.Modes && kind != configs.MachineFile:
		return report.Exitf(report.Usage, "simulate: --modes is for a machine of bodies, joints and motors: a file with the key machine")
	case kind == configs.BallFile:
		return RunBall(ctx, path, f, stdout, stderr)
	case kind == configs.ManipulatorFile:
		return RunManipulator(ctx, path, f, stdout, stderr)
	case f.Motion != "":
		return report.Exitf(report.Usage, "simulate: --motion is for a ball in front of cameras, whose -o is what they see; here "+
			"-o writes the motion")
	case kind == configs.MachineFile:
		return RunMachine(ctx, path, f, stdout, stderr)
	case kind == configs.ContactFile:
		return RunContact(ctx, path, f, stdout, stderr)
	}
	return RunLaws(ctx, path, f, stdout, stderr)
}

// RunLaws runs the friction laws of a file.
func RunLaws(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	format, err := f.check(path)
	if err != nil {
		return err
	}
	if f.Animate != "" || f.Events != "" {
		return report.Exitf(report.Usage, "simulate: --animate and --events are for bodies in contact; friction laws have "+
			"--plot, and --json lists their events")
	}
	cfg, warnings, err := configs.LoadSimulate(path)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	if err := f.spare(cfg); err != nil {
		return report.Exitf(report.Usage, "simulate: %w", err)
	}
	if err := f.applyFlags(cfg); err != nil {
		return report.Exitf(report.Usage, "simulate: %w", err)
	}
	if len(f.Laws) > 0 || f.Step != 0 || f.Duration != 0 {
		problems, again := cfg.Validate()
		if len(problems) > 0 {
			return report.Exitf(report.Usage, "simulate: with these flags: %w", problems[0])
		}
		if len(f.Laws) > 0 {
			warnings = again // the others were about laws that do not run
		}
		for _, w := range again {
			if !slices.ContainsFunc(warnings, func(o schema.Problem) bool { return o.Msg == w.Msg }) {
				warnings = append(warnings, w)
			}
		}
	}
	s := &simulation{path: path, cfg: cfg, warnings: report.PrintWarnings(stderr, warnings)}
	if err := s.prepare(); err != nil {
		return report.Exitf(report.Invalid, "%s: %w", path, err)
	}
	bar := report.NewProgress(stderr)
	err = s.simulate(ctx, bar)
	bar.Finish()
	if err != nil {
		return err
	}

	if err := f.write(ctx, output{f.OutputPath, s.writeCSV},
		output{f.Plot, func(w io.Writer) error { return s.figure().Write(w, format) }}); err != nil {
		return err
	}
	if f.Json {
		return report.EncodeJSON(stdout, s.result(f))
	}
	s.print(stdout)
	fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted(f.next(path)))
	return nil
}

// check looks at the flags before anything is read, and returns the format of the figure. path is the file to simulate.
func (f *Options) check(path string) (format string, err error) {
	if f.Plot != "" {
		if format, err = plot.Format(f.Plot); err != nil {
			return "", report.Exitf(report.Usage, "simulate: %w", err)
		}
		if filepath.Clean(f.Plot) == filepath.Clean(f.OutputPath) {
			return "", report.Exitf(report.Usage, "simulate: -o and --plot name the same file, %s", f.OutputPath)
		}
	}
	if f.Animate != "" && filepath.Ext(f.Animate) != ".html" {
		return "", report.Exitf(report.Usage, "simulate: --animate %s: a page ends in .html", f.Animate)
	}
	if ext := filepath.Ext(f.Events); f.Events != "" && ext != ".csv" && ext != ".json" {
		return "", report.Exitf(report.Usage, "simulate: --events %s: want a name that ends in .csv or .json", f.Events)
	}
	if f.Motion != "" && filepath.Clean(f.Motion) == filepath.Clean(f.OutputPath) {
		return "", report.Exitf(report.Usage, "simulate: -o and --motion name the same file, %s", f.OutputPath)
	}
	if f.Events != "" && filepath.Clean(f.Events) == filepath.Clean(f.OutputPath) {
		return "", report.Exitf(report.Usage, "simulate: -o and --events name the same file, %s", f.OutputPath)
	}
	for _, out := range []string{f.OutputPath, f.Plot, f.Animate, f.Events, f.Motion} {
		if out == "" {
			continue
		}
		if code, err := checkOutput(out, f.Force, path); err != nil {
			return "", report.Exitf(code, "simulate: %w", err)
		}
	}
	return format, nil
}

// applyFlags puts the flags over the file.
func (f *Options) applyFlags(cfg *configs.Simulate) error {
	f.times(&cfg.Step, &cfg.Duration)
	if len(f.Laws) == 0 {
		return nil
	}
	var laws configs.Laws
	for _, name := range f.Laws {
		found := false
		for _, l := range cfg.Friction {
			if l.Label == name || l.Name == name {
				laws, found = append(laws, l), true
			}
		}
		if found {
			continue
		}
		l, err := configs.ChosenLaw(name)
		if err == nil && cfg.Rotary() {
			err = fmt.Errorf("%s is not in the file, and the public numbers are those of a linear axis", name)
		}
		if err != nil {
			return fmt.Errorf("--law: %w", err)
		}
		laws = append(laws, l)
	}
	cfg.Friction = laws
	return nil
}

// times puts the flags of time over step and duration (s).
func (f *Options) times(step, duration *float64) {
	*step, *duration = cmp.Or(f.Step, *step), cmp.Or(f.Duration, *duration)
}

// next is the command that makes sense after this one.
func (f *Options) next(path string) string {
	switch {
	case f.Plot == "":
		return "hil simulate " + path + " --plot run.png      draws it"
	case f.OutputPath == "":
		return "hil simulate " + path + " -o run.csv      keeps the traces"
	}
	return "hil simulate " + path + " --step 0.1ms      tells whether the step was short enough: the numbers should stay"
}

// prepare turns the file into experiments and finds out whether the step can be taken.
func (s *simulation) prepare() error {
	c := s.cfg
	every, _ := c.Decimation()
	s.watch = experiment.Recording{Stride: cmp.Or(every, (s.steps()+experiment.MaxRows-1)/experiment.MaxRows), Threshold: c.Events.Speed,
		Rest: c.Events.Rest}
	var bad []error
	for _, l := range c.Friction {
		p := c.Plant
		spec := experiment.Spec{
			Plant: p.Kind, Law: l.Model,
			Input: c.Input.Generator(), Normal: c.Normal.Generator(), Current: c.Current.Generator(),
			Mass: p.Mass, Spring: p.Spring, Damper: p.Damper, X0: c.Initial.Position, V0: c.Initial.Velocity,
			Scheme: c.Scheme, Step: c.Step, Duration: c.Duration, Substep: c.OverLimit == "substep",
		}
		if k := c.Control; k != nil {
			spec.Control = k.Spec()
		}
		if p.Motor != nil {
			spec.Motor = plant.AxisSpec{
				Motor: *p.Motor, LoadJ: p.LoadJ, LoadTorque: p.LoadTorque, Cogging: p.Cogging, CoggingN: p.CoggingN,
				Thermal: plant.Thermal{Ambient: 20},
			}
			if th := p.Thermal; th != nil {
				spec.Motor.Thermal = *th
				spec.Motor.Thermal.Ambient = 20
			}
		}
		if err := spec.Validate(); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", l.Label, err))
			continue
		}
		r := lawRun{law: l, spec: spec}
		var why string
		var err error
		if r.parts, r.limit, why, err = stepLimit(&spec); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", l.Label, err))
		} else if spec.Step > experiment.MaxParts*r.limit {
			bad = append(bad, fmt.Errorf("%s: step: %g s would be divided into %.3g parts; want a step of at most %.3g s", l.Label, spec.Step,
				spec.Step/r.limit, experiment.MaxParts*r.limit))
		} else if r.parts > 1 && !spec.Substep {
			e := &experiment.LimitError{Step: spec.Step, Limit: r.limit, Scheme: c.Scheme, Reason: why}
			bad = append(bad, fmt.Errorf("%s: %w (over_limit: substep divides it into %d)", l.Label, e, r.parts))
		}
		// one threshold for all laws, else their events could not be compared
		if c.Events.Speed == 0 {
			if v := experiment.DefaultThreshold(&spec); s.watch.Threshold == 0 || v < s.watch.Threshold {
				s.watch.Threshold = v
			}
		}
		s.runs = append(s.runs, r)
	}
	return errors.Join(bad...)
}

// stepLimit is the longest step (s) that a law takes in an experiment, and the parts that the step has to be divided into.
func stepLimit(spec *experiment.Spec) (parts int, limit float64, why string, err error) {
	if spec.Plant != experiment.MotorAxis {
		return spec.Substeps()
	}
	// the axis is a mass under the torque of the motor, by midpoint
	body, err := friction.NewMass(spec.Motor.Motor.J+spec.Motor.LoadJ, spec.Law, friction.Midpoint)
	if err != nil {
		return 0, 0, "", err
	}
	limit, why = body.Limit()
	return max(1, int(math.Ceil(min(spec.Step/limit*(1-1e-12), 1e9)))), limit, why, nil
}

// simulate runs the laws, as many at a time as there are processors. A bar of nil shows nothing.
func (s *simulation) simulate(ctx context.Context, bar *report.Progress) error {
	var lock sync.Mutex
	sum, reached := 0.0, make([]float64, len(s.runs)) // s, of all runs and of each
	group, each := errgroup.WithContext(ctx)          // the first error ends the others
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range s.runs {
		r := &s.runs[i]
		group.Go(func() error {
			defer failure.Catch(&r.err)
			spec, watch := r.spec, s.watch
			if spec.Plant == experiment.MotorAxis {
				// a motor steps itself: its steps are shortened
				spec.Step /= float64(r.parts)
				watch.Stride *= r.parts
			}
			watch.Reached = func(t float64) {
				lock.Lock()
				defer lock.Unlock()
				sum, reached[i] = sum+t-reached[i], t
				progress(bar, "simulate", sum, s.cfg.Duration*float64(len(s.runs)))
			}
			r.trace, r.err = experiment.Record(each, spec, watch)
			return r.err
		})
	}
	_ = group.Wait() // the runs have their errors
	for i := range s.runs {
		if err := s.runs[i].err; err != nil && !errors.Is(err, context.Canceled) {
			return report.ExitWith(report.Internal, s.stepFailure(&s.runs[i]))
		}
	}
	return ctx.Err()
}

// stepFailure says what was known when a step had no finite result.
func (s *simulation) stepFailure(r *lawRun) error {
	var e *experiment.StepError
	if !errors.As(r.err, &e) {
		return fmt.Errorf("simulate: %s: %w", r.law.Label, r.err)
	}
	state := ""
	if t := r.trace; t != nil && len(t.T) > 0 {
		for i, z := range t.States {
			state += fmt.Sprintf(", %s = %s", z.Name, report.WithUnit(t.Z[i][len(t.T)-1], s.cfg.Unit(z.Unit)))
		}
		if state != "" {
			state = fmt.Sprintf("; last kept state, at %.6g s%s", t.T[len(t.T)-1], state)
		}
	}
	return fmt.Errorf("simulate: %s: at t = %.6g s the step has no finite result (position %s, velocity %s%s); nothing was "+
		"written. A shorter --step or another scheme may help",
		r.law.Label, e.T, report.WithUnit(e.X, s.cfg.Unit("m")), report.WithUnit(e.V, s.cfg.Unit("m/s")), state)
}

// steps is the number of steps of the run.
func (s *simulation) steps() int { return int(math.Round(s.cfg.Duration / s.cfg.Step)) }

// Help is that of hil simulate.
const Help = `Runs one friction law, or several side by side, through an experiment: a mass drawn over a spring or led
by a controller, a motion or force imposed, a motor under voltage. Prints what happened (break-away, arrest, reversal), extremes and the work against friction;
-o writes the traces, --plot draws them. FILE.yaml is explained in docs/reference/simulate.md; hil laws lists the friction laws.

A file with the key system runs bodies that touch, stick, slide, separate and collide: the brush of a motor, a scene of planar
bodies, a toy. --animate writes a page that shows them moving, --events the list of impacts, slips and stops. Such files are explained in docs/reference/contact.md.

A file with the key machine runs bodies on joints, with loops, gears, motors and friction: -o writes positions, currents, forces and
energies, --step goes through it in the fixed steps of a loop and compares,
--modes tells its eigenvalues at the equilibrium. Such files are explained in docs/reference/machine.md.

A file with the key ball rolls a ball in front of cameras: -o writes the recording of its markers, which hil import and hil
identify read, --motion what is true. Such files are explained in docs/reference/ball-files.md.

A file with the key manipulator lets the tip of a chain of bodies slide on an elastic beam; the torque of its drive is among the results.
--animate and --events work here too, --step takes the fixed step of real time. Such files are explained in docs/reference/beam.md.

Exit codes: 0 done; 1 a step had no finite result; 2 wrong usage; 3 the file cannot be used, or the step is beyond what the
scheme takes; 4 an output cannot be written; 6 a result that is not to be trusted, or a run that could not go on; 130 interrupted.`
