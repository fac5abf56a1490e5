package simulate

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"

	"hilrig/cmd/plot"
	"hilrig/engine/experiment"
)

// chapter numbers the figures of the five models, by scenario, law and quantity.
var chapter = map[string]map[string]map[string]int{
	"stick-slip": {"seven-parameter": {"": 5}, "karnopp": {"": 6}, "lugre": {"": 7}, "dahl-modified": {"": 8}, "m2": {"": 9}},
	"zero-crossing": {
		"seven-parameter": {"friction": 10, "spring": 11, "velocity": 12, "displacement": 13},
		"dahl-modified":   {"spring": 14, "velocity": 15, "friction": 16, "displacement": 17},
		"lugre":           {"spring": 18, "velocity": 19, "displacement": 20, "friction": 21},
		"karnopp":         {"velocity": 22, "displacement": 23, "friction": 24, "spring": 25},
		"m2":              {"velocity": 26, "displacement": 27, "friction": 28, "spring": 29},
	},
	"hysteresis":    {"seven-parameter": {"": 30}, "dahl-modified": {"": 31}, "karnopp": {"": 32}, "m2": {"": 33}},
	"stiction":      {"seven-parameter": {"": 34}, "lugre": {"": 35}, "dahl-modified": {"": 36}, "m2": {"": 37}},
	"step-response": {"seven-parameter": {"": 38}, "dahl-modified": {"": 39}, "lugre": {"": 40}, "karnopp": {"": 41}, "m2": {"": 42}},
}

// figureName is the name of a figure's file: with the chapter's number for its models and parameters.
func figureName(scenario, law, label, quantity string, numbered bool) string {
	tail := scenario + "-" + fileWord(label)
	if quantity != "" {
		tail += "-" + quantity
	}
	if n := chapter[scenario][law][quantity]; numbered && n > 0 {
		return fmt.Sprintf("fig-6.%02d-%s", n, tail)
	}
	return tail
}

// fileWord makes a label part of a file name.
func fileWord(label string) string {
	return strings.Trim(notOfFiles.ReplaceAllString(strings.ToLower(label), "-"), "-")
}

// notOfFiles is what stands in no file name.
var notOfFiles = regexp.MustCompile(`[^a-z0-9.]+`)

// scenarioFigures are the figures of every law, and one of all laws together for every scenario.
func scenarioFigures(chosen []experiment.Scenario, subjects []experiment.Subject, outcomes []*experiment.Outcome,
	numbered bool) []namedFigure {
	figs := []namedFigure{{"steady-curve", steadyCurve(subjects)}}
	if numbered {
		figs[0].name = "fig-6.04-steady-curve"
	}
	for _, s := range chosen {
		var group []*experiment.Outcome
		for _, o := range outcomes {
			if o.Scenario == s.Name {
				group = append(group, o)
			}
		}
		for _, o := range group {
			for _, v := range views(s.Name, []*experiment.Outcome{o}) {
				name := figureName(s.Name, o.Subject.Name, o.Subject.Label, v.quantity, numbered)
				figs = append(figs, namedFigure{name, &plot.Figure{Title: o.Subject.Label + ": " + s.Title, Note: v.note, Columns: v.columns}})
			}
		}
		if len(group) > 1 {
			var all []plot.Panel
			for _, v := range views(s.Name, group) {
				for _, c := range v.columns {
					all = append(all, c.Panels...)
				}
			}
			n := 1
			if len(all) > 2 {
				n = 2
			}
			figs = append(figs, namedFigure{"compare-" + s.Name, &plot.Figure{Title: capital(s.Title), Columns: plot.Grid(n, all...)}})
		}
	}
	return figs
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// steadyCurve is friction of long sliding over speed.
func steadyCurve(subjects []experiment.Subject) *plot.Figure {
	p := plot.Panel{X: plot.Axis{Name: "velocity", Unit: "m/s"}, Y: plot.Axis{Name: "steady friction", Unit: "N", Zero: true}}
	for _, s := range subjects {
		top := 10 * s.Law.Stiffness().Speed
		var v, f []float64
		const n = 2000
		for i := -n; i <= n; i++ {
			x := top * float64(i) / n
			y := math.NaN() // at rest friction is whatever holds the body: the curve is interrupted there
			if i != 0 {
				y = s.Law.SteadyForce(x)
			}
			v, f = append(v, x), append(f, y)
		}
		p.Series = append(p.Series, plot.Series{Label: s.Label, X: v, Y: f})
	}
	return &plot.Figure{Title: "Friction of steady sliding", Columns: plot.Grid(1, p)}
}

// view is one figure of a scenario: for one law, or for all of them on top of each other.
type view struct {
	quantity string // "" where the scenario has one figure
	note     string
	columns  []plot.Column
}

func views(scenario string, group []*experiment.Outcome) []view {
	switch scenario {
	case "stick-slip":
		return stickSlipViews(group)
	case "zero-crossing":
		return zeroCrossingViews(group)
	case "hysteresis":
		return hysteresisViews(group)
	case "stiction":
		return stictionViews(group)
	case "hunting":
		return huntingViews(group)
	}
	return stepResponseViews(group)
}

var second = plot.Axis{Name: "time", Unit: "s"}

// curve is what is drawn of a trace.
type curve func(*experiment.Trace) (x, y []float64)

func frictionOverTime(t *experiment.Trace) (x, y []float64) { return t.TMid, t.F }
func springOverTime(t *experiment.Trace) (x, y []float64)   { return t.T, t.Drive }
func travelOverTime(t *experiment.Trace) (x, y []float64)   { return t.T, t.X }

// lawCurves adds a curve of every law.
func lawCurves(group []*experiment.Outcome, part int, f curve) []plot.Series {
	var out []plot.Series
	for _, o := range group {
		if part < len(o.Parts) {
			x, y := f(o.Parts[part].Trace)
			out = append(out, plot.Series{Label: o.Subject.Label, X: x, Y: y})
		}
	}
	return out
}

func stickSlipViews(group []*experiment.Outcome) []view {
	o := group[0]
	force := plot.Panel{X: second, Y: plot.Axis{Name: "friction", Unit: "N"}, Series: lawCurves(group, 0, frictionOverTime)}
	travel := plot.Panel{X: second, Y: plot.Axis{Name: "displacement", Unit: "m"}, Series: lawCurves(group, 0, travelOverTime)}
	if len(group) == 1 {
		force.Y.Name = "force"
		force.Series[0].Label, travel.Series[0].Label = "friction", "mass"
		force.Series = append(force.Series, plot.Series{Label: "spring", X: o.Parts[0].Trace.T, Y: o.Parts[0].Trace.Drive})
	}
	travel.Series = append(travel.Series, plot.Series{Label: "drawn end", X: o.Parts[0].Trace.T, Y: o.Parts[0].Trace.Input, Style: plot.Guide})
	s := o.Parts[0].Spec
	_, pull, _ := s.Input.At(0)
	return []view{{note: fmt.Sprintf("%g kg on %g N/m, drawn at %g m/s, step %g ms", s.Mass, s.Spring, pull, 1e3*s.Step),
		columns: plot.Grid(1, force, travel)}}
}

func zeroCrossingViews(group []*experiment.Outcome) []view {
	t := group[0].Parts[0].Trace
	s := group[0].Parts[0].Spec
	end := make([]float64, len(t.T))
	for k, at := range t.T {
		_, end[k], _ = s.Input.At(at)
	}
	endSpeed := plot.Series{Label: "drawn end", X: t.T, Y: end, Style: plot.Guide}
	velocity := plot.Panel{X: second, Y: plot.Axis{Name: "velocity", Unit: "m/s"},
		Series: append(lawCurves(group, 0, func(t *experiment.Trace) ([]float64, []float64) { return t.T, t.V }), endSpeed)}
	note := fmt.Sprintf("%g kg on %g N/m, step %g ms", s.Mass, s.Spring, 1e3*s.Step)
	var out []view
	for _, q := range []struct {
		key  string
		axis plot.Axis
		f    curve
	}{
		{"friction", plot.Axis{Name: "friction", Unit: "N"}, frictionOverTime},
		{"spring", plot.Axis{Name: "spring force", Unit: "N"}, springOverTime},
		{"velocity", velocity.Y, nil},
		{"displacement", plot.Axis{Name: "displacement", Unit: "m"}, travelOverTime},
	} {
		p := velocity
		if q.f != nil {
			p = plot.Panel{X: second, Y: q.axis, Series: lawCurves(group, 0, q.f)}
		}
		if q.key == "displacement" {
			p.Series = append(p.Series, plot.Series{Label: "drawn end", X: t.T, Y: t.Input, Style: plot.Guide})
		}
		panels := []plot.Panel{p}
		if len(group) == 1 && (q.key == "friction" || q.key == "spring") {
			panels = append(panels, velocity) // what the force answers to
		}
		out = append(out, view{quantity: q.key, note: note, columns: plot.Grid(1, panels...)})
	}
	return out
}

func hysteresisViews(group []*experiment.Outcome) []view {
	axes := plot.Panel{X: plot.Axis{Name: "velocity", Unit: "m/s"}, Y: plot.Axis{Name: "friction", Unit: "N"}}
	all, panels := axes, []plot.Panel(nil) // all loops of one law, or a panel for each loop of several
	for i, part := range group[0].Parts {
		p := axes
		p.Title = part.Name
		for _, o := range group {
			v, f := loopOf(o.Parts[i])
			p.Series = append(p.Series, plot.Series{Label: o.Subject.Label, X: v, Y: f})
			all.Series = append(all.Series, plot.Series{Label: part.Name, X: v, Y: f})
		}
		panels = append(panels, p)
	}
	if len(group) == 1 {
		panels = []plot.Panel{all}
	}
	return []view{{columns: plot.Grid(1, panels...)}}
}

// loopOf is friction over velocity, both in the middles of the steps, without the first tenth in which the contact settles.
func loopOf(p experiment.Part) (v, f []float64) {
	from := len(p.Trace.TMid) / 10
	for k, at := range p.Trace.TMid[from:] {
		x, _, _ := p.Spec.Input.At(at)
		v, f = append(v, x), append(f, p.Trace.F[from+k])
	}
	return v, f
}

// huntingViews show where PD leaves the mass, and what PID does to it, in the first fifth of the records.
func huntingViews(group []*experiment.Outcome) []view {
	var panels []plot.Panel
	for i, part := range group[0].Parts {
		end := part.Trace.T[len(part.Trace.T)-1] / 5
		p := plot.Panel{Title: part.Name, X: second, Y: plot.Axis{Name: "position", Unit: "m"}}
		early := func(t *experiment.Trace) (x, y []float64) {
			n := sort.SearchFloat64s(t.T, end)
			return t.T[:n], t.X[:n]
		}
		p.Series = lawCurves(group, i, early)
		x, y := early(&experiment.Trace{T: part.Trace.T, X: part.Trace.Input})
		p.Series = append(p.Series, plot.Series{Label: "reference", X: x, Y: y, Style: plot.Guide})
		if len(group) == 1 {
			p.Series[0].Label = "mass"
		}
		panels = append(panels, p)
	}
	s := group[0].Parts[1].Spec
	k := s.Control.PID
	return []view{{note: fmt.Sprintf("%g kg, kp %g N/m, ki %g N/(m·s), kd %g N·s/m, step %g ms", s.Mass, k.Kp, k.Ki, k.Kd, 1e3*s.Step),
		columns: plot.Grid(1, panels...)}}
}

func stictionViews(group []*experiment.Outcome) []view {
	p := plot.Panel{X: plot.Axis{Name: "displacement", Unit: "m"}, Y: plot.Axis{Name: "applied force", Unit: "N"},
		Series: lawCurves(group, 0, func(t *experiment.Trace) ([]float64, []float64) { return t.X, t.Input })}
	if len(group) == 1 {
		p.Series[0].Label = ""
	}
	return []view{{columns: plot.Grid(1, p)}}
}

func stepResponseViews(group []*experiment.Outcome) []view {
	// imposed speeds: the first instants of friction; imposed forces: the motion
	friction := plot.Panel{Title: "step of velocity", X: second, Y: plot.Axis{Name: "friction", Unit: "N", Zero: true}}
	motion := plot.Panel{Title: "step of force", X: second, Y: plot.Axis{Name: "velocity", Unit: "m/s", Zero: true}}
	const early = 0.06 // s
	for _, o := range group {
		for _, part := range o.Parts {
			t := part.Trace
			label := o.Subject.Label
			if part.Spec.Plant == experiment.ImposedForce {
				motion.Series = append(motion.Series, plot.Series{Label: label + ", " + part.Name, X: t.TMid, Y: t.W})
				continue
			}
			n := sort.SearchFloat64s(t.TMid, early)
			if len(group) == 1 {
				label = ""
			}
			friction.Series = append(friction.Series, plot.Series{Label: label, X: t.TMid[:n], Y: t.F[:n]})
		}
	}
	panels := slices.DeleteFunc([]plot.Panel{friction, motion}, func(p plot.Panel) bool { return p.Series == nil })
	return []view{{columns: plot.Grid(1, panels...)}}
}
