package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
	"hilrig/engine/beam"
	"hilrig/engine/plant/manipulator"
)

// The study beam-figures repeats [Lip] for a family of angular speeds: its figures 3a, 3b and 3c. The source names none of its speeds but
// 1 rad/s, and neither its supports nor where the arm stands: these are the completed example of docs/reference/beam.md.
const beamName = "beam-figures"

var beamSpeeds = []float64{0.25, 0.5, 0.75, 1, 1.25} // rad/s

const (
	beamEnd   = 5.0  // s  the tip leaves before
	beamEvery = 2e-3 // s
	slideAt   = 1.0  // rad/s  of figure 3a
)

// beamSpeed is what a speed gives.
type beamSpeed struct {
	Rate          float64   `json:"rate_rad_s"`
	LeaveTime     *float64  `json:"left_s"`  // null: the tip stays on the beam
	Pulls         *float64  `json:"pulls_s"` // when λ first changes its sign; null: never
	Borders       []float64 `json:"borders_s"`
	W3            float64   `json:"node3_max_m"` // of its magnitude
	W5            float64   `json:"node5_max_m"`
	Lambda        float64   `json:"lambda_max_N"`
	TauMin        float64   `json:"torque_min_Nm"`
	TauMax        float64   `json:"torque_max_Nm"`
	Agree         float64   `json:"formulations_m"` // largest difference of node 3 and 5 between the two formulations
	FixedStepDiff float64   `json:"fixed_step_m"`   // and of steps of 1 ms from them
	Audit         float64   `json:"energy_error"`

	result *manipulator.Result
}

type beamResult struct {
	Name    string      `json:"name"`
	Program string      `json:"program"`
	Speeds  []beamSpeed `json:"speeds"`
	Files   []string    `json:"files"`

	model *manipulator.Model
}

// beamFamily runs every speed by both formulations and by fixed steps.
func beamFamily(ctx context.Context) (*beamResult, error) {
	r := &beamResult{Name: beamName, Program: report.Version(), Files: []string{}}
	for _, rate := range beamSpeeds {
		m, err := manipulator.New(manipulator.Paper(rate))
		if err != nil {
			return nil, err
		}
		if rate == slideAt {
			r.model = m
		}
		s := beamSpeed{Rate: rate, Borders: []float64{}}
		var left *beam.LeftError
		if s.result, err = m.Run(ctx, manipulator.Options{Duration: beamEnd, SampleInterval: beamEvery}); err != nil && !errors.As(err, &left) {
			return nil, err
		}
		other, err := m.Run(ctx, manipulator.Options{Formulation: manipulator.Full, Duration: beamEnd, SampleInterval: beamEvery})
		if err != nil && !errors.As(err, &left) {
			return nil, err
		}
		fixed, err := m.RunFixed(ctx, 1e-3, beamEnd, int(math.Round(beamEvery/1e-3)))
		if err != nil && !errors.As(err, &left) {
			return nil, err
		}
		if left != nil {
			s.LeaveTime = &left.T
		}
		for _, e := range s.result.Events {
			switch e.Kind {
			case manipulator.Border:
				s.Borders = append(s.Borders, e.T)
			case manipulator.Pulls:
				if s.Pulls == nil {
					s.Pulls = &e.T
				}
			}
		}
		s.TauMin, s.TauMax = math.Inf(1), math.Inf(-1)
		for k := range s.result.Samples {
			p := &s.result.Samples[k]
			s.W3, s.W5 = math.Max(s.W3, math.Abs(p.W[2])), math.Max(s.W5, math.Abs(p.W[4]))
			s.Lambda = math.Max(s.Lambda, math.Abs(p.Lambda))
			s.TauMin, s.TauMax = math.Min(s.TauMin, p.Torque[0]), math.Max(s.TauMax, p.Torque[0])
		}
		s.Agree, s.FixedStepDiff, s.Audit = maxNodeDiff(s.result, other), maxNodeDiff(s.result, fixed), math.Max(s.result.Audit, other.Audit)
		r.Speeds = append(r.Speeds, s)
	}
	return r, nil
}

// maxNodeDiff is the largest difference of nodes 3 and 5 between two runs (m).
func maxNodeDiff(a, b *manipulator.Result) (top float64) {
	for k := range min(len(a.Samples), len(b.Samples)) - 1 { // the last is where the tip left, each at its time
		for _, node := range []int{2, 4} {
			top = math.Max(top, math.Abs(a.Samples[k].W[node]-b.Samples[k].W[node]))
		}
	}
	return top
}

// beamStudy is hil study beam-figures.
var beamStudy = single{name: beamName, takes: []string{"out", "plot", "json"}, draws: "figures 3a to 3c of the source",
	compute: func(ctx context.Context, _ Options) (singleResult, error) {
		return beamFamily(ctx)
	}}

func (r *beamResult) setFigures(paths []string) { r.Files = paths }

func (r *beamResult) print(w io.Writer) {
	fmt.Fprintf(w, "%s: the example of [Lip] for a family of speeds, until the tip leaves the beam\n\n", r.Name)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "speed\tleaves\tpulls from\tnode 3\tnode 5\tλ\tdrive torque\tformulations\tsteps of 1 ms\tenergy\t")
	fmt.Fprintln(t, "rad/s\ts\ts\tmm\tmm\tN\tN·m\tapart by m\tapart by m\terror\t")
	for _, s := range r.Speeds {
		fmt.Fprintf(t, "%g\t%s\t%s\t%.4f\t%.4f\t%.4f\t%.3f … %.3f\t%.1e\t%.1e\t%.1e\t\n", s.Rate, report.OrDash("%.7f", s.LeaveTime),
			report.OrDash("%.4f", s.Pulls), 1e3*s.W3, 1e3*s.W5, s.Lambda, s.TauMin, s.TauMax, s.Agree, s.FixedStepDiff, s.Audit)
	}
	t.Flush()
}

// figures are those of the source, then what it has not: contact force and torque, and node 5 over the angle of the drive.
func (r *beamResult) figures() (all []namedFigure, err error) {
	const note = "clamped beam, ramp of 0.1 s; curves end where the tip leaves the beam"
	family := func(name, unit string, x plot.Axis, at, of func(*manipulator.Sample) float64) plot.Panel {
		p := plot.Panel{X: x, Y: plot.Axis{Name: name, Unit: unit}}
		for i := range r.Speeds {
			s := plot.Series{Label: fmt.Sprintf("%g rad/s", r.Speeds[i].Rate)}
			for k := range r.Speeds[i].result.Samples {
				row := &r.Speeds[i].result.Samples[k]
				s.X, s.Y = append(s.X, at(row)), append(s.Y, of(row))
			}
			p.Series = append(p.Series, s)
		}
		return p
	}
	type sample = manipulator.Sample
	time := func(s *sample) float64 { return s.T }
	angle := func(s *sample) float64 { return s.Q[0] }
	overTime := func(name, unit string, of func(*sample) float64) plot.Panel {
		return family(name, unit, plot.Axis{Name: "time", Unit: "s"}, time, of)
	}
	node := func(k int) func(*sample) float64 { return func(s *sample) float64 { return s.W[k-1] } }
	slide := plot.Panel{}
	for i := range r.Speeds {
		if r.Speeds[i].Rate == slideAt {
			slide = simulate.ManipulatorSlides(r.model, r.Speeds[i].result.Samples, 7)
		}
	}
	b, c := overTime("deflection of node 3", "m", node(3)), overTime("deflection of node 5", "m", node(5))
	add := func(name, title string, p plot.Panel) {
		all = append(all, namedFigure{name, &plot.Figure{Title: title, Note: note, Columns: plot.Grid(1, p), Width: 140, Height: 90}})
	}
	add("fig-3a-slide", "The mechanism at 1 rad/s", slide)
	add("fig-3b-node-3", "Deflection of node 3", b)
	add("fig-3c-node-5", "Deflection of node 5", c)
	lambda, torque := overTime("contact force", "N", func(s *sample) float64 { return s.Lambda }),
		overTime("torque of the drive", "N·m", func(s *sample) float64 { return s.Torque[0] })
	add("contact-force", "Contact force", lambda)
	add("drive-torque", "Torque of the drive: the answer of the inverse problem", torque)
	add("node-5-angle", "Deflection of node 5 over the angle of the drive",
		family("deflection of node 5", "m", plot.Axis{Name: "angle of the drive", Unit: "rad"}, angle, node(5)))
	titled := func(p plot.Panel, title string) plot.Panel { p.Title = title; return p }
	all = append(all, namedFigure{"summary", &plot.Figure{Title: "A manipulator slides on an elastic beam", Note: note, Columns: plot.Grid(2,
		titled(slide, "3a: at 1 rad/s"), titled(b, "3b: node 3"), titled(lambda, "contact force"), titled(c, "3c: node 5"))}})
	return all, nil
}
