package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
)

// machineRun is a machine under way, and its results.
type machineRun struct {
	results
	cfg       *configs.MachineRun
	model     *machine.Machine
	assembly  multibody.Assembled
	result    machine.Result
	frames    []int // in the world, behind the numbers of the machine
	x         []float64
	peak      float64 // J  largest kinetic energy
	speed     float64 // rad/s, m/s  largest velocity of a joint
	sticks    sticks
	fixedStep fixedSteps
	bar       *report.Progress // nil: nobody looks
}

// RunMachine is hil simulate for a machine of bodies, joints, loops and motors.
func RunMachine(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	format, err := f.check(path)
	if err != nil {
		return err
	}
	if f.Events != "" || len(f.Laws) > 0 {
		return report.Exitf(report.Usage, "simulate: --events and --law are not for a machine, which %s describes; it has -o, "+
			"--plot and --animate", path)
	}
	cfg, warnings, err := configs.LoadMachine(path)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	step := 0.0 // s
	f.times(&step, &cfg.Duration)
	for _, in := range cfg.Files() {
		if f.OutputPath != "" && sameFile(f.OutputPath, in) || f.Plot != "" && sameFile(f.Plot, in) {
			return report.Exitf(report.Usage, "simulate: %s is an input of the run; name another file", in)
		}
	}
	s := &machineRun{results: newResults(path, report.PrintWarnings(stderr, warnings)), cfg: cfg, bar: report.NewProgress(stderr)}
	if err := s.wholeSteps(step); err != nil {
		return report.Exitf(report.Usage, "simulate: %w", err)
	}
	if s.model, s.x, s.assembly, err = cfg.Begin(); err != nil {
		return report.Exitf(report.Invalid, "simulate: %s: %w", path, err)
	}
	var stopped *machine.Failure
	if f.Modes {
		return s.runModes(ctx, f, stdout, stderr)
	}
	files := []output{{f.OutputPath, s.writeColumns}, figureOutput(f.Plot, format, s.figure), {f.Animate, s.animate}}
	run := s.run
	if step > 0 {
		run = s.runSteps
	}
	err = run(ctx)
	s.bar.Finish()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &stopped):
		s.printWarnings(stderr)
		err = fmt.Errorf("simulate: %s: %w", path, stopped)
		if f.OutputPath != "" || f.Plot != "" || f.Animate != "" {
			err = fmt.Errorf("%w. What is written ends there", err)
		}
		if w := f.write(ctx, files...); w != nil {
			return w
		}
		return report.ExitWith(report.Quality, err)
	case err != nil:
		return report.Exitf(report.Internal, "simulate: %s: %w", path, err)
	}
	s.measure()
	doubt := s.doubts()
	s.printWarnings(stderr)
	next := "hil simulate " + path + " --plot run.png      draws it"
	switch {
	case f.Plot != "" && f.Animate == "":
		next = "hil simulate " + path + " --animate run.html      shows it moving"
	case f.Plot != "":
		next = "hil simulate " + path + " -o run.csv      keeps the table"
	}
	return f.finish(ctx, files, func() any { return s.json(f) }, s.print, next, doubt, stdout)
}

// run integrates, and keeps a row for each time.
func (s *machineRun) run(ctx context.Context) (err error) {
	c := s.cfg
	keep, err := s.table()
	if err != nil {
		return err
	}
	s.result, err = s.model.Run(ctx, s.x, 0, c.Duration, machine.Options{Rtol: c.Tolerance, Atol: 1e-2 * c.Tolerance,
		SampleInterval: s.every(), Formulation: c.Formulation, Reached: s.progress("integrator")}, keep)
	if r := &s.result; r.StiffFrom == r.StiffFrom {
		why := ""
		if r.StiffReason != "" {
			why = ": " + r.StiffReason
		}
		s.warn("the machine is stiff%s. From t = %.6g s it was integrated by an implicit method", why, r.StiffFrom)
	}
	return err
}

// progress says how far a run of the method has come, at each time (s) that it is told.
func (s *machineRun) progress(method string) func(t float64) {
	return func(t float64) { progress(s.bar, method, t, s.cfg.Duration) }
}

// progress shows that a method has come to a time (s) of a run; a bar of nil shows nothing.
func progress(bar *report.Progress, method string, t, duration float64) {
	const ms = 1e3
	if bar != nil {
		bar.Watch(report.Stage{Method: method, Phase: "t in ms", Step: int(ms * t), StepCount: int(ms * duration)})
	}
}

// underWay shows that a run goes on which does not say how far it is, until done is called.
func underWay(stderr io.Writer, path string) (done func()) {
	bar := report.NewProgress(stderr)
	bar.Watch(report.Stage{Method: "simulate", Phase: filepath.Base(path)})
	return bar.Finish
}

// table begins an empty table, and what keeps a row of it.
func (s *machineRun) table() (keep func(*machine.Sample) error, err error) {
	c, m := s.cfg, s.model
	s.columns, s.frames, s.peak, s.speed = nil, nil, 0, 0
	signals := append([]engine.Signal{{Name: "time", Unit: "s"}}, m.Columns()...)
	own := len(signals)
	for _, name := range c.Outputs.Frames {
		k, err := m.Model.Frame(name)
		if err != nil {
			return nil, err
		}
		s.frames = append(s.frames, k)
		for _, l := range []string{".x", ".y", ".z"} {
			signals = append(signals, engine.Signal{Name: "at." + name + l, Unit: "m"})
		}
	}
	for _, g := range signals {
		s.columns = append(s.columns, column{name: g.Name, unit: g.Unit})
	}
	row := make([]float64, len(signals))
	s.sticks = newSticks(c, m)
	return func(p *machine.Sample) error {
		row[0] = p.T
		m.Row(p, row[1:own])
		for k, frame := range s.frames {
			_, at := m.Model.FramePose(m.Data, frame)
			row[own+3*k], row[own+3*k+1], row[own+3*k+2] = at.X, at.Y, at.Z
		}
		for j, x := range row {
			s.columns[j].x = append(s.columns[j].x, x)
		}
		s.peak = max(s.peak, p.Kinetic)
		for _, v := range p.X[m.Model.NQ() : m.Model.NQ()+m.Model.NV()] {
			s.speed = max(s.speed, math.Abs(v))
		}
		s.sticks.addRow(m)
		return nil
	}, nil
}

// every is the time between rows (s).
func (s *machineRun) every() float64 { return cmp.Or(s.cfg.Outputs.RowInterval, s.cfg.Duration/1000) }

// energyError is what the energies of the run do not account for (J), and by the largest of them.
func (s *machineRun) energyError() (joule, relative float64) {
	size := s.peak
	for _, e := range s.result.Audit.Lines {
		joule += e.Input - e.Loss - e.StoredChange
		size = max(size, e.Size())
	}
	// the potential energy is a sum with rounding of its own, 1e-15 of each term
	rounding := 1e-9 * float64(1+s.model.Model.NV())
	for _, c := range s.columns {
		if c.name == "potential" {
			for _, x := range c.x {
				size = max(size, rounding*math.Abs(x))
			}
		}
	}
	if size > 0 && !s.isImmobile() {
		relative = math.Abs(joule) / size
	}
	return joule, relative
}

// isImmobile tells a machine that nothing can move.
func (s *machineRun) isImmobile() bool {
	return s.assembly.DOF == 0 && !slices.ContainsFunc(s.cfg.Machine.Bodies, func(b configs.MachineBody) bool { return b.Joint.Motion != nil })
}

// measure makes the numbers of the report.
func (s *machineRun) measure() {
	r := &s.result
	joule, relative := s.energyError()
	if s.fixedStep.step > 0 {
		s.metrics = append(s.fixedStep.metrics(s.assembly.DOF, s.model.Model.NC() > 0), Metric{"kinetic_energy_max", "J", s.peak},
			Metric{"energy_error", "J", joule}, Metric{"energy_error_relative", "", relative})
		return
	}
	s.metrics = []Metric{{"degrees_of_freedom", "", float64(s.assembly.DOF)}, {"steps", "", float64(r.Accepted)},
		{"steps_rejected", "", float64(r.Rejected)}}
	if s.model.Model.NC() > 0 {
		s.metrics = append(s.metrics, Metric{"constraint_residual_max", "", r.Residual}, Metric{"constraint_rate_max", "", r.Rate},
			Metric{"constraint_drift_max", "", r.Drift}, Metric{"constraint_kick_max", "", r.Kick},
			Metric{"singular_steps", "", float64(r.Singular)}, Metric{"singular_leaps", "", float64(r.Leaps)})
		if s.cfg.Formulation == multibody.ByPartition {
			s.metrics = append(s.metrics, Metric{"partition_choices", "", float64(r.Choices)})
		}
	}
	s.metrics = append(s.metrics, Metric{"kinetic_energy_max", "J", s.peak}, Metric{"energy_error", "J", joule},
		Metric{"energy_error_relative", "", relative})
}

// doubts warns, and refuses a run that is not to be trusted.
func (s *machineRun) doubts() error {
	if s.assembly.Singular {
		s.warn("the start is a singular position: the equations do not determine the motion there")
	}
	if s.assembly.Unstable {
		s.warn("the equilibrium of the start is unstable: rounding decides when and which way the machine leaves it")
	}
	if s.isImmobile() {
		s.warn("the machine has no degree of freedom: its loops and couplings hold every joint, and nothing moves")
	}
	if n := s.result.Singular; n > 0 && !s.assembly.Singular {
		s.warn("%d steps ended in a singular position, the first at t = %.6g s", n, s.result.SingularAt)
	}
	s.bends(s.warn)
	if s.fixedStep.step > 0 {
		_, e := s.energyError()
		s.fixedStep.doubts(e, s.warn)
		return nil
	}
	bad := false
	if _, e := s.energyError(); e > max(1e-6, min(1e-3, 1e4*s.cfg.Tolerance)) {
		bad = true
		s.warn("the energies miss %.2g of the largest of them: a smaller tolerance may help", e)
	}
	// a leap into another way of moving changes velocities by their size times how far it is beyond the singular position, 2e-3 rad at least
	if r := &s.result; r.Drift > max(1e-6, 1e2*s.cfg.Tolerance) || r.Kick > max(1e-5, 1e-4*s.speed, 1e4*s.cfg.Tolerance) {
		bad = true
		s.warn("a step had to be brought back to the constraints by %.2g (rad, m) and %.2g (rad/s, m/s): near a singular position the machine "+
			"may have left its way; try another tolerance", r.Drift, r.Kick)
	}
	if s.result.Residual > 1e-8 {
		bad = true
		s.warn("constraints were missed by up to %.2g", s.result.Residual)
	}
	if bad {
		return report.Exitf(report.Quality, "simulate: do not trust this result, see the warnings")
	}
	return nil
}

// smallBending is the share of its length by which the tip of an elastic body may be deflected: what the equations leave out, that it
// comes nearer to the clamp, is 0.6 of the square of it.
const smallBending = 0.1

// bends warns of elastic bodies that bend by more than small deformations.
func (s *machineRun) bends(warn func(format string, a ...any)) {
	for i := range s.cfg.Machine.Bodies {
		b := &s.cfg.Machine.Bodies[i]
		if b.Flexible == nil {
			continue
		}
		var modes [][]float64
		for k := range b.Flexible.Modes {
			for _, c := range s.columns {
				if c.name == fmt.Sprintf("%s.mode%d.q", b.Name, k+1) {
					modes = append(modes, c.x)
				}
			}
		}
		most, at := 0.0, 0
		for k := range s.columns[0].x {
			var now []float64
			for _, x := range modes {
				now = append(now, x[k])
			}
			if share := b.Bent(now...); share > most {
				most, at = share, k
			}
		}
		if most > smallBending {
			warn("%s bends by %.2g of its length at t = %.6g s: deformations are taken as small, and its tip would come nearer by about %.2g m, "+
				"which is left out", b.Name, most, s.columns[0].x[at], 0.6*most*most*b.Flexible.Length)
		}
	}
}

// text says what was simulated.
func (s *machineRun) text() string {
	kept := ""
	if s.model.Model.NC() > 0 {
		kept = ", constraints by " + s.cfg.Formulation
	}
	if s.fixedStep.step > 0 {
		return fmt.Sprintf("%s in %s, %d bodies, fixed steps of %s, as a loop takes them", filepath.Base(s.path),
			report.WithUnit(s.cfg.Duration, "s"), s.model.Model.Bodies(), report.WithUnit(s.fixedStep.step, "s"))
	}
	return fmt.Sprintf("%s in %s, %d bodies, tolerance %.3g%s", filepath.Base(s.path), report.WithUnit(s.cfg.Duration, "s"),
		s.model.Model.Bodies(), s.cfg.Tolerance, kept)
}

func (s *machineRun) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\nstart: %v\n\n", report.Titled(s.cfg.Name, s.cfg.Description), s.text(), s.assembly)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\tstart\tend\tlowest\thighest\t \t\n")
	for _, c := range s.columns[1:] {
		if c.name == "kinetic" || c.name == "residual" || c.name == "residual_rate" || len(c.x) == 0 {
			continue
		}
		lo, hi := c.x[0], c.x[0]
		for _, x := range c.x {
			lo, hi = min(lo, x), max(hi, x)
		}
		fmt.Fprintf(t, "%s\t%.6g\t%.6g\t%.6g\t%.6g\t %s\t\n", c.name, report.Number(c.x[0]), report.Number(c.x[len(c.x)-1]), report.Number(lo),
			report.Number(hi), c.unit)
	}
	t.Flush()
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "energy (J)\tin\tloss\twork done\tstored\tleft\t\n")
	for _, e := range s.result.Audit.Lines {
		fmt.Fprintf(t, "%s\t%.6g\t%.6g\t%.6g\t%.6g\t%.1e\t\n", e.Name, report.Number(e.Input), report.Number(e.Loss), report.Number(e.Output),
			report.Number(e.StoredChange), e.Residual())
	}
	t.Flush()
	fmt.Fprintln(w)
	s.printMetrics(w)
}

// machineResult is the JSON of a run.
type machineResult struct {
	runHead
	Duration  float64      `json:"duration_s"`
	Tolerance float64      `json:"tolerance"`
	Start     machineStart `json:"start"`
	runNumbers
	Energies    []machineEnergy    `json:"energies"`
	FinalValues map[string]float64 `json:"end"` // by the names of the table
}

type machineStart struct {
	DOF       int      `json:"degrees_of_freedom"`
	Missed    float64  `json:"constraints_missed"`
	Moved     float64  `json:"moved"`
	MovedRate float64  `json:"moved_rate"`
	Redundant []string `json:"redundant"`
	Singular  bool     `json:"singular"`
}

type machineEnergy struct {
	Name         string  `json:"name"`
	Input        float64 `json:"in_J"`
	Loss         float64 `json:"loss_J"`
	Work         float64 `json:"work_J"`
	StoredChange float64 `json:"stored_J"`
	Residual     float64 `json:"left_J"`
}

func (s *machineRun) json(f Options) machineResult {
	b := s.assembly
	out := machineResult{runHead: s.head(s.cfg.Name), Duration: s.cfg.Duration, Tolerance: s.cfg.Tolerance,
		Start:      machineStart{b.DOF, b.Gap, b.PositionChange, b.VelocityChange, append([]string{}, b.Redundant...), b.Singular},
		runNumbers: s.numbers(f), FinalValues: map[string]float64{}}
	for _, e := range s.result.Audit.Lines {
		out.Energies = append(out.Energies, machineEnergy{e.Name, e.Input, e.Loss, e.Output, e.StoredChange, e.Residual()})
	}
	for _, c := range s.columns {
		out.FinalValues[Header(c.name, c.unit)] = c.x[len(c.x)-1]
	}
	return out
}
