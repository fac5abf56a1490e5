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

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/lcp"
	"hilrig/engine/plant/brush"
	"hilrig/engine/plant/toys"
)

// Metric is a named number of a run: what a study collects, and what is printed.
type Metric struct {
	Name, Unit string
	Value      float64
}

// contactRun is a run of bodies in contact under way, and its results.
type contactRun struct {
	path     string
	cfg      *configs.ContactRun
	warnings []string

	sys          contact.System
	motor        *brush.Machine  // in place of sys: a motor with brushes
	coords       []engine.Signal // q; u has the same per second
	q, u         []float64
	animation    *picture // what an animation shows; nil: nothing
	rows         []instant
	bar          *report.Progress // nil: nobody looks
	extraSignals []engine.Signal  // what rows have beside coordinates and contacts

	listing bool // events are kept
	events  []EventRow

	longStepText   string            // what is said of steps that may have missed a contact
	confirmed      bool              // the event-driven engine has the same to the end
	differs        string            // what a repeated run changes, where the order of blows may matter
	coarseStepText string            // the same, where the error of the step is too large
	repeatedTime   float64           // s, until which the run was repeated
	maxDifference  float64           // largest there, a share of the way of its coordinate
	metrics        []Metric          // what happened
	meaning        map[string]string // of metrics whose name does not say it, by name
	solver         []Metric          // how the contact problems fared
}

// instant is one row of a run.
type instant struct {
	t      float64
	q, u   []float64
	extras []float64
	forces []contact.ContactForce // of contacts that carry one
}

// errUnresolved marks a step that does not resolve the surface.
var errUnresolved = errors.New("engine.averaged: true goes on with an averaged contact")

func loadContactRun(path string, f Options, stderr io.Writer) (*contactRun, error) {
	cfg, warnings, err := configs.LoadContactRun(path)
	if err != nil {
		return nil, report.Refuse(stderr, err)
	}
	if len(f.Laws) > 0 {
		return nil, report.ExitWith(report.Usage, fmt.Errorf("simulate: --law is for friction laws; %s describes bodies in contact", path))
	}
	f.times(&cfg.Engine.Step, &cfg.Duration)
	if f.Duration != 0 && cfg.Discard >= cfg.Duration {
		cfg.Discard = 0 // a look at the beginning
	}
	if problems := cfg.Validate(); len(problems) > 0 {
		return nil, report.ExitWith(report.Usage, fmt.Errorf("simulate: with these flags: %w", problems[0]))
	}
	s := &contactRun{path: path, cfg: cfg, warnings: report.PrintWarnings(stderr, warnings), bar: report.NewProgress(stderr)}
	if err := s.build(); err != nil {
		return nil, report.ExitWith(report.Invalid, fmt.Errorf("%s: %w", path, err))
	}
	return s, nil
}

// RunContact is hil simulate for bodies in contact.
func RunContact(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	format, err := f.check(path)
	if err != nil {
		return err
	}
	s, err := loadContactRun(path, f, stderr)
	if err != nil {
		return err
	}
	if s.listing = f.Events != ""; s.listing && s.cfg.Engine.Kind != "event-driven" {
		return report.ExitWith(report.Usage, fmt.Errorf("simulate: --events lists what the event-driven engine locates; %s has engine.kind: %s",
			path, s.cfg.Engine.Kind))
	}
	told := len(s.warnings)
	err = s.run(ctx)
	s.bar.Finish()
	if err != nil {
		return s.endError(ctx, err)
	}
	doubts := s.doubts()
	s.warnings = append(append(s.warnings, s.notes()...), doubts...)
	for _, w := range s.warnings[told:] {
		fmt.Fprintf(stderr, "warning: %s\n", report.Readable(w))
	}
	if err := f.write(context.Background(), output{f.OutputPath, s.writeCSV},
		output{f.Plot, func(w io.Writer) error { return s.figure().Write(w, format) }},
		output{f.Animate, s.animate}, output{f.Events, func(w io.Writer) error { return s.writeEvents(w, filepath.Ext(f.Events)) }}); err != nil {
		return err
	}
	doubtful := error(nil)
	if len(doubts) > 0 {
		doubtful = report.ExitWith(report.Quality, fmt.Errorf("simulate: do not trust this result, see the warnings"))
	}
	if f.Json {
		if err := report.EncodeJSON(stdout, s.result(f)); err != nil {
			return err
		}
		return doubtful
	}
	s.print(stdout)
	next := "hil simulate " + path + " --animate run.html      shows it moving"
	switch {
	case f.Animate != "":
		next = "open " + f.Animate + " in a browser"
	case s.animation == nil:
		next = "hil simulate " + path + " --plot run.png      draws it"
	}
	fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted(next))
	return doubtful
}

// build makes the system and its start.
func (s *contactRun) build() error {
	switch s.cfg.System {
	case "brush":
		b, err := brush.New(s.cfg.Brush.Params)
		if err != nil {
			return err
		}
		s.sys, s.coords, s.animation = b, b.Coordinates(), brushPicture(b)
		s.rest()
		return b.Start(s.q, s.u)
	case "brush-motor":
		return s.buildMotor()
	case "scene":
		sc, pic, err := buildScene(s.cfg.Scene)
		if err != nil {
			return err
		}
		s.sys, s.coords, s.animation = sc, sceneCoords(sc), pic
		s.rest()
		sc.Start(s.q, s.u)
		return nil
	case "toy":
		info, err := toys.Find(s.cfg.Toy.Kind)
		if err != nil {
			return err
		}
		toy, err := info.Make(s.cfg.Toy.Values)
		if err != nil {
			return err
		}
		s.sys, s.coords = toy, toy.Coordinates()
		s.rest()
		toy.Start(s.q, s.u)
		s.animation = toyPicture(s.cfg.Toy.Kind, s.cfg.Toy.Values, toy.DOF())
		return nil
	}
	return fmt.Errorf("system %s", s.cfg.System)
}

// rest makes room for coordinates and speeds.
func (s *contactRun) rest() { s.q, s.u = make([]float64, s.sys.DOF()), make([]float64, s.sys.DOF()) }

// run integrates with the engine of the file.
func (s *contactRun) run(ctx context.Context) error {
	b, isBrush := s.sys.(*brush.Brush)
	switch {
	case s.motor != nil:
		return s.motorBySteps(ctx)
	case s.cfg.Engine.Kind == "event-driven" && isBrush:
		return s.brushByEvents(ctx, b)
	case s.cfg.Engine.Kind == "event-driven":
		return s.byEvents(ctx)
	case isBrush:
		return s.brushBySteps(ctx, b)
	}
	return s.bySteps(ctx)
}

// bySteps runs the engine of fixed steps.
func (s *contactRun) bySteps(ctx context.Context) error {
	e := s.cfg.Engine
	m, err := contact.NewMoreau(s.sys, s.moreau())
	if err != nil {
		return err
	}
	steps, every := int(math.Round(s.cfg.Duration/e.Step)), int(math.Round(s.cfg.Rows()/e.Step))
	var sums coordSums
	sums.start(len(s.q))
	q0, u0 := slices.Clone(s.q), slices.Clone(s.u)
	s.beginRows(meanForces, nil)
	var load [2]float64 // N·s since the last row, N and T
	for k := range steps {
		t := float64(k) * e.Step
		counts := t >= s.cfg.Discard-1e-9*e.Step
		if counts {
			sums.extend(s.q, s.u)
			sums.weigh(s.q, s.u, 0.5*e.Step)
		}
		if r := m.Step(t, s.q, s.u); r.Status == engine.NonFinite {
			return fmt.Errorf("at t = %.6g s: %w", t, errNotFinite)
		}
		if counts {
			sums.extend(s.q, s.u)
			sums.weigh(s.q, s.u, 0.5*e.Step)
		}
		for i, p := range m.Impulse {
			load[i&1] += p
		}
		if (k+1)%every == 0 {
			s.keepMeans(t+e.Step, m.Forces(nil, e.Step), &load, float64(every)*e.Step)
		}
		if k%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.metrics = append(s.metrics, sums.metrics(s.coords)...)
	s.solver = stepCounts(&m.MoreauCounts)
	found := false
	if s.repeats() {
		if found, err = s.repeat(ctx, q0, u0, &m.MoreauCounts); err != nil {
			return err
		}
		s.solver = append(s.solver, Metric{"repeated_until", "s", s.repeatedTime}, Metric{"repeated_difference", "", s.maxDifference})
	}
	s.confirmed = found
	if o := m.Overrun; m.Overruns > 0 && !found {
		s.differs, s.coarseStepText = "", ""
		s.longStepText = fmt.Sprintf("%d of %d steps are too long for the speed: at t = %.6g s %q and %q moved against each other by %.3g "+
			"times what lets every contact between them be found; "+
			"engine.step: %.2g s is short enough, and engine.kind: event-driven needs no step", m.Overruns, m.Steps, o.T, o.A, o.B, o.Share,
			0.9*e.Step/o.Share)
	}
	return nil
}

// moreau are the options of the file.
func (s *contactRun) moreau() contact.MoreauOptions {
	e := s.cfg.Engine
	return contact.MoreauOptions{Step: e.Step, Theta: e.Theta, Beta: orNone(e.Beta), VTh: e.RestitutionSpeed, EndOfStep: e.EndOfStep,
		Positions: *e.Positions, Impact: s.cfg.Engine.Impact}
}

// orNone is an option of the engine for which 0 means its default and a negative number none.
func orNone(x float64) float64 {
	if x == 0 {
		return -1
	}
	return x
}

// stepCounts names the counters of the engine.
func stepCounts(c *contact.MoreauCounts) []Metric {
	share := func(n int64) float64 { return float64(n) / float64(max(c.Steps, 1)) }
	out := []Metric{
		{"steps", "", float64(c.Steps)}, {"closed_mean", "", share(c.ClosedContacts)}, {"steps_with_contact", "", share(c.Solves)},
		{"unverified_steps", "", float64(c.Degraded)}, {"unverified_share", "", share(c.Degraded)},
		{"steps_without_solution", "", float64(c.NoSolution)}, {"eased_steps", "", float64(c.Eased)}, {"painleve_steps", "", float64(c.Painleve)},
		{"refused_steps", "", float64(c.NonFiniteSteps)},
		{"contacts_left_out", "", float64(c.DroppedContacts)}, {"steps_too_long", "", float64(c.Overruns)},
		{"state_updates_share", "", share(c.Updates)},
		{"lowered_impacts", "", float64(c.Lowered)}, {"merged_impacts", "", float64(c.Merged)},
		{"blows", "", float64(c.Blows)}, {"crowded_blows", "", float64(c.Crowded)},
		{"flickering_contacts", "", float64(c.Flickers)}, {"unsupported_blows", "", float64(c.Unsupported)},
		{"energy_gain_steps", "", float64(c.EnergyGains)}, {"energy_gained", "J", c.Gained}, {"energy_dissipated", "J", c.Dissipated},
		{"energy_exchanged", "J", c.Exchanged},
	}
	return append(out, byMethod("solved_by_", c.ByMethod)...)
}

// byMethod names counts of contact problems by what solved them.
func byMethod(lead string, counts [8]int64) (out []Metric) {
	for i, n := range counts {
		if n > 0 {
			out = append(out, Metric{lead + lcp.FrictionMethod(i).String(), "", float64(n)})
		}
	}
	return out
}

// addRow appends a row.
func (s *contactRun) addRow(t float64, forces []contact.ContactForce, beside ...float64) {
	forces = slices.DeleteFunc(slices.Clone(forces), func(f contact.ContactForce) bool { return f.N == 0 })
	s.rows = append(s.rows, instant{t, slices.Clone(s.q), slices.Clone(s.u), beside, forces})
	s.progress(cmp.Or(s.cfg.Engine.Kind, "simulate"), t)
}

// progress says how far a method has come, at a time (s).
func (s *contactRun) progress(method string, t float64) { progress(s.bar, method, t, s.cfg.Duration) }

// beginRows keeps the start. What rows have beside coordinates and contacts is zero there.
func (s *contactRun) beginRows(beside []engine.Signal, forces []contact.ContactForce) {
	s.extraSignals = beside
	s.addRow(0, forces, make([]float64, len(beside))...)
}

// meanForces are what rows have beside the forces of their time: means since the row before, impulses included.
var meanForces = []engine.Signal{{Name: "mean_normal_force", Unit: "N"}, {Name: "mean_tangential_force", Unit: "N"}}

// keepMeans appends a row with the means of impulses (N·s), summed since the row before, over every (s), and begins new sums.
func (s *contactRun) keepMeans(t float64, forces []contact.ContactForce, load *[2]float64, every float64) {
	s.addRow(t, forces, load[0]/every, load[1]/every)
	*load = [2]float64{}
}

func perSecond(unit string) string { return unit + "/s" }

// contactRunOf runs a contact file that was read.
func contactRunOf(ctx context.Context, name string, cfg *configs.ContactRun) (*contactRun, error) {
	s := &contactRun{path: name, cfg: cfg}
	if err := s.build(); err != nil {
		return nil, err
	}
	return s, s.run(ctx)
}
