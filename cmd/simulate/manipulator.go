package simulate

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/beam"
	"hilrig/engine/numeric"
	"hilrig/engine/plant/manipulator"
)

// manipulatorRun is a chain whose tip slides on a beam, and its results.
type manipulatorRun struct {
	results
	cfg        *configs.ManipulatorRun
	model      *manipulator.Model
	runResult  *manipulator.Result
	leaveError *beam.LeftError // nil: the tip stayed on the beam
}

// steepSlope is the slope of a beam from which the theory of small slopes is doubted: 1 − cos is then half a per cent.
const steepSlope = 0.1

// RunManipulator is hil simulate for a chain on a beam.
func RunManipulator(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	format, err := f.check(path)
	if err != nil {
		return err
	}
	if len(f.Laws) > 0 || f.Motion != "" {
		return report.Exitf(report.Usage, "simulate: --law and --motion are not for a chain on a beam, which %s describes; it "+
			"has -o, --plot, --animate and --events", path)
	}
	cfg, warnings, err := configs.LoadManipulatorRun(path)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	f.times(&cfg.Method.Step, &cfg.Duration)
	if f.Step != 0 {
		cfg.Method.Kind = configs.FixedStep
	}
	if bad := cfg.Timing(); bad != nil {
		return report.Exitf(report.Usage, "simulate: with these flags: %w", bad)
	}
	s := &manipulatorRun{results: newResults(path, report.PrintWarnings(stderr, warnings)), cfg: cfg}
	if s.model, err = manipulator.New(cfg.Params()); err != nil {
		return report.Exitf(report.Invalid, "%s: %w", path, err)
	}
	done := underWay(stderr, path)
	failed := s.run(ctx)
	done()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed != nil && s.runResult == nil: // before it began: no equilibrium, too stiff, singular
		return report.Exitf(report.Invalid, "%s: %w", path, failed)
	case errors.As(failed, &s.leaveError):
	case failed != nil:
		return report.Exitf(report.Quality, "%s: %w", path, failed)
	}
	s.tabulate()
	s.doubts()
	s.printWarnings(stderr)
	ended := error(nil)
	if s.leaveError != nil { // everything up to there is good, and is written
		ended = report.Exitf(report.Quality, "simulate: the run ended early: %w", s.leaveError)
	}
	next := "hil simulate " + path + " --plot run.svg --animate run.html      draws it, and shows it moving"
	if f.Plot != "" {
		next = "hil simulate " + path + " --step 1ms      takes the fixed step of real time: the numbers should stay"
	}
	files := []output{{f.OutputPath, s.writeColumns}, figureOutput(f.Plot, format, s.figure), {f.Animate, s.animate},
		{f.Events, func(w io.Writer) error { return s.writeEvents(w, filepath.Ext(f.Events)) }}}
	return f.finish(ctx, files, func() any { return s.result(f) }, s.print, next, ended, stdout)
}

// run integrates as the file says.
func (s *manipulatorRun) run(ctx context.Context) (err error) {
	c := s.cfg
	if c.Method.Kind == configs.FixedStep {
		s.runResult, err = s.model.RunFixed(ctx, c.Method.Step, c.Duration, max(1, int(math.Round(c.RowInterval/c.Method.Step))))
		return err
	}
	s.runResult, err = s.model.Run(ctx, manipulator.Options{Formulation: manipulator.Formulations[c.Method.Kind], Duration: c.Duration,
		SampleInterval: c.RowInterval, Tolerance: c.Method.Tolerance})
	return err
}

// tabulate makes columns and metrics.
func (s *manipulatorRun) tabulate() {
	p := s.model.Params()
	add := func(name, unit string, of func(*manipulator.Sample) float64) {
		c := column{name: name, unit: unit}
		for k := range s.runResult.Samples {
			c.x = append(c.x, of(&s.runResult.Samples[k]))
		}
		s.columns = append(s.columns, c)
	}
	type sample = manipulator.Sample
	add("time", "s", func(r *sample) float64 { return r.T })
	unit := func(i int, linear string) string {
		return engine.UnitOn(p.Joints[i].Kind == manipulator.Revolute, linear)
	}
	for i := range p.Joints {
		add(fmt.Sprintf("q%d", i+1), unit(i, "m"), func(r *sample) float64 { return r.Q[i] })
	}
	for i := range p.Joints {
		add(fmt.Sprintf("q%d_dot", i+1), unit(i, "m/s"), func(r *sample) float64 { return r.V[i] })
	}
	add("tip_x", "m", func(r *sample) float64 { return r.TipX })
	add("tip_y", "m", func(r *sample) float64 { return r.TipY })
	add("lambda", "N", func(r *sample) float64 { return r.Lambda })
	at := 0
	for i, j := range p.Joints {
		if j.Drive != nil {
			k := at
			add(fmt.Sprintf("tau%d", i+1), unit(i, "N"), func(r *sample) float64 { return r.Torque[k] })
			at++
		}
	}
	if p.Friction != nil {
		add("friction", "N", func(r *sample) float64 { return r.Force })
		add("slip", "m/s", func(r *sample) float64 { return r.Slip })
	}
	if p.Unilateral {
		add("open", "", func(r *sample) float64 {
			if r.ContactOpen {
				return 1
			}
			return 0
		})
	}
	for k := range s.model.Beam().Nodes() {
		add(fmt.Sprintf("w%d", k+1), "m", func(r *sample) float64 { return r.W[k] })
	}
	add("energy", "J", func(r *sample) float64 { return r.Energy })
	if s.audited() {
		add("work", "J", func(r *sample) float64 { return r.Work })
		add("lost", "J", func(r *sample) float64 { return r.Dissipated })
	}

	counts := map[string]int{}
	for _, e := range s.runResult.Events {
		counts[e.Kind]++
	}
	end := s.runResult.Samples[len(s.runResult.Samples)-1]
	lambda := s.of("lambda")
	top := 0.0
	for k := range s.model.Beam().Nodes() {
		for _, w := range s.of(fmt.Sprintf("w%d", k+1)) {
			top = math.Max(top, math.Abs(w))
		}
	}
	s.metrics = []Metric{
		{"end", "s", end.T}, {"tip_start", "m", s.runResult.Samples[0].TipX}, {"tip_end", "m", end.TipX},
		{"lambda_start", "N", lambda[0]}, {"lambda_min", "N", slices.Min(lambda)}, {"lambda_max", "N", slices.Max(lambda)},
		{"deflection_max", "m", top}, {"slope_max", "", s.runResult.Steepest},
	}
	if f, err := s.model.Beam().Frequencies(); err == nil {
		s.metrics = append(s.metrics, Metric{"beam_frequency", "Hz", f[0]})
	}
	for i, j := range p.Joints {
		if j.Drive != nil {
			name := fmt.Sprintf("tau%d", i+1)
			s.metrics = append(s.metrics, Metric{name + "_min", unit(i, "N"), slices.Min(s.of(name))},
				Metric{name + "_max", unit(i, "N"), slices.Max(s.of(name))})
		}
	}
	s.metrics = append(s.metrics, Metric{"borders", "", float64(counts[manipulator.Border])},
		Metric{"dependent_changes", "", float64(counts[manipulator.Switch])})
	if p.Unilateral {
		s.metrics = append(s.metrics, Metric{"openings", "", float64(counts[manipulator.Opens])},
			Metric{"closings", "", float64(counts[manipulator.Closes])})
	}
	s.metrics = append(s.metrics, Metric{"steps", "", float64(s.runResult.Steps)}, Metric{"gap_max", "m", s.runResult.Phi})
	if s.audited() {
		s.metrics = append(s.metrics, Metric{"drive_work", "J", end.Work}, Metric{"lost", "J", end.Dissipated},
			Metric{"energy_error", "", s.runResult.Audit})
	}
}

// audited tells whether work and losses were integrated.
func (s *manipulatorRun) audited() bool { return numeric.IsFinite(s.runResult.Audit) }

// doubts warns of what the model does not hold for.
func (s *manipulatorRun) doubts() {
	if top := s.runResult.Steepest; top > steepSlope {
		s.warn("the beam slopes by up to %.2g, and its theory is for slopes up to %g: weight or contact force is too much for it", top,
			steepSlope)
	}
	for _, e := range s.runResult.Events {
		if e.Kind == manipulator.Pulls {
			s.warn("from t = %.4g s on the beam pulls at the tip; manipulator.unilateral: true lets it lift off", e.T)
			break
		}
	}
}

// text says how it was integrated.
func (s *manipulatorRun) text() string {
	m := s.cfg.Method
	how := fmt.Sprintf("adaptive to %.0e, %s", m.Tolerance, map[string]string{"partition": "coordinates " +
		"partitioned", "full": "all coordinates with the multiplier"}[m.Kind])
	if m.Kind == configs.FixedStep {
		how = "fixed steps of " + report.WithUnit(m.Step, "s")
	}
	return fmt.Sprintf("%s in %s, %s", filepath.Base(s.path), report.WithUnit(s.cfg.Duration, "s"), how)
}

func (s *manipulatorRun) title() string { return cmp.Or(s.cfg.Description, s.cfg.Name) }

// manipulatorEvent is a line of the list of events.
type manipulatorEvent struct {
	T         float64 `json:"time_s"`
	Kind      string  `json:"kind"` // border, pulls, presses, opens, closes, left, switches
	FromIndex int     `json:"from"` // element, or of switches joint; from 1 on; 0: none
	ToIndex   int     `json:"to"`
	Impulse   float64 `json:"impulse_Ns"` // of closes
}

func (s *manipulatorRun) events() []manipulatorEvent {
	all := []manipulatorEvent{}
	for _, e := range s.runResult.Events {
		row := manipulatorEvent{T: e.T, Kind: e.Kind, FromIndex: e.FromIndex, ToIndex: e.ToIndex}
		if e.Kind == manipulator.Closes {
			row.Impulse = e.Value
		}
		all = append(all, row)
	}
	return all
}

// writeEvents writes the list of events, as JSON or CSV by the ending of the file's name.
func (s *manipulatorRun) writeEvents(w io.Writer, ending string) error {
	if ending == ".json" {
		return report.EncodeJSON(w, s.events())
	}
	out := csv.NewWriter(w)
	out.Write([]string{"time_s", "kind", "from", "to", "impulse_Ns"})
	for _, e := range s.events() {
		digits := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		out.Write([]string{digits(e.T), e.Kind, strconv.Itoa(e.FromIndex), strconv.Itoa(e.ToIndex), digits(e.Impulse)})
	}
	out.Flush()
	return out.Error()
}

func (s *manipulatorRun) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n\n", report.Titled(s.cfg.Name, s.cfg.Description), s.text())
	s.printMetrics(w)
	const most = 20
	for k, e := range s.events() {
		switch {
		case k == 0:
			fmt.Fprintln(w)
		case k == most:
			fmt.Fprintf(w, "… and %d more events; --events FILE.csv lists them\n", len(s.runResult.Events)-most)
			return
		}
		fmt.Fprintf(w, "%.7f s   %s\n", e.T, eventText(e))
	}
}

// eventText is an event in words.
func eventText(e manipulatorEvent) string {
	switch e.Kind {
	case manipulator.Border:
		return fmt.Sprintf("the tip goes from element %d to %d", e.FromIndex, e.ToIndex)
	case manipulator.Pulls:
		return "the beam begins to pull at the tip"
	case manipulator.Pushes:
		return "the tip presses again"
	case manipulator.Opens:
		return "the tip lifts off"
	case manipulator.Closes:
		return fmt.Sprintf("the tip meets the beam, with an impulse of %s", report.Prefixed(e.Impulse, 4, "N·s"))
	case manipulator.Switch:
		return fmt.Sprintf("joint %d follows from the constraint in place of joint %d", e.ToIndex, e.FromIndex)
	case manipulator.Left:
		return "the tip leaves the beam"
	}
	return e.Kind
}

// manipulatorResult is the JSON of a run.
type manipulatorResult struct {
	runHead
	Method    string    `json:"method"`
	Duration  float64   `json:"duration_s"`
	LeaveTime *float64  `json:"left_s"` // null: the tip stayed on the beam
	Start     []float64 `json:"start"`  // joint coordinates in equilibrium
	runNumbers
	Events []manipulatorEvent `json:"events"`
}

func (s *manipulatorRun) result(f Options) manipulatorResult {
	out := manipulatorResult{runHead: s.head(s.cfg.Name), Method: s.cfg.Method.Kind, Duration: s.cfg.Duration, Start: s.runResult.Start.Q,
		runNumbers: s.numbers(f), Events: s.events()}
	if s.leaveError != nil {
		out.LeaveTime = &s.leaveError.T
	}
	return out
}
