package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/engine"
)

var errNoPicture = errors.New("there is no picture of this system")

// signals are the numbers of a row: time, coordinates, their speeds, what is beside them.
func (s *contactRun) signals() []engine.Signal {
	all := append([]engine.Signal{{Name: "time", Unit: "s"}}, s.coords...)
	for _, c := range s.coords {
		all = append(all, engine.Signal{Name: c.Name + "_dot", Unit: perSecond(c.Unit)})
	}
	return append(all, s.extraSignals...)
}

// numbers are those of signals in a row.
func (r *instant) numbers() []float64 { return slices.Concat([]float64{r.t}, r.q, r.u, r.extras) }

// writeCSV writes the rows, and behind each the number of contacts with the sum of their forces.
func (s *contactRun) writeCSV(w io.Writer) error {
	var names []string
	for _, c := range s.signals() {
		names = append(names, Header(c.Name, c.Unit))
	}
	rows := make([][]float64, len(s.rows))
	for i, r := range s.rows {
		n, t := 0.0, 0.0
		for _, p := range r.forces {
			n += p.N
			t += p.T
		}
		rows[i] = append(r.numbers(), float64(len(r.forces)), n, t)
	}
	names = append(names, "contacts", "normal_force_N", "tangential_force_N")
	return writeTable(w, names, len(rows), func(k, j int) float64 { return rows[k][j] })
}

// figure draws coordinates and speeds over time, and what is beside them.
func (s *contactRun) figure() *plot.Figure {
	if s.motor != nil {
		return s.motorFigure()
	}
	if s.cfg.System == "brush" && s.extraSignals != nil {
		return s.brushFigure()
	}
	column := s.column
	t := column(func(r *instant) float64 { return r.t })
	time := plot.Axis{Name: "time", Unit: "s", Max: s.cfg.Duration}
	var left, right []plot.Panel
	units := map[string]int{}
	for i, c := range s.coords {
		at, seen := units[c.Unit]
		if !seen {
			at = len(left)
			units[c.Unit] = at
			left = append(left, plot.Panel{X: time, Y: plot.Axis{Name: map[string]string{"m": "position", "rad": "angle"}[c.Unit], Unit: c.Unit}})
			right = append(right, plot.Panel{X: time, Y: plot.Axis{Name: map[string]string{"m": "velocity", "rad": "angular velocity"}[c.Unit],
				Unit: perSecond(c.Unit)}})
		}
		left[at].Series = append(left[at].Series, plot.Series{Label: c.Name, X: t, Y: column(func(r *instant) float64 { return r.q[i] })})
		right[at].Series = append(right[at].Series, plot.Series{Label: c.Name, X: t, Y: column(func(r *instant) float64 { return r.u[i] })})
	}
	return &plot.Figure{Title: s.title(), Note: s.engineText(), Columns: []plot.Column{{Panels: left}, {Panels: right}}}
}

// engineText says how it was integrated.
func (s *contactRun) engineText() string {
	e := s.cfg.Engine
	if e.Kind == "event-driven" {
		return fmt.Sprintf("%s in %s, event-driven to %.0e, impacts by %s", filepath.Base(s.path), report.WithUnit(s.cfg.Duration, "s"),
			e.Tolerance, e.Impact)
	}
	return fmt.Sprintf("%s in %s, steps of %s, θ = %g, impacts by %s", filepath.Base(s.path), report.WithUnit(s.cfg.Duration, "s"),
		report.WithUnit(e.Step, "s"), e.Theta, e.Impact)
}

// title is what figure and animation are about.
func (s *contactRun) title() string { return cmp.Or(s.cfg.Description, s.cfg.Name) }

// column is one number of every row.
func (s *contactRun) column(of func(*instant) float64) []float64 {
	y := make([]float64, len(s.rows))
	for k := range s.rows {
		y[k] = of(&s.rows[k])
	}
	return y
}
