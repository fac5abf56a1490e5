package ball

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hilrig/identify/fit"
)

// Uncertainty is the standard uncertainty of numbers that are given and not searched, as a share of themselves, of center and markers as a
// share of the radius. 0: exact.
type Uncertainty struct{ Radius, Mass, Inertia, Center, Markers, Gravity float64 }

// Assumption is a number that comes from the file, not from the recording.
type Assumption struct {
	Name        string             `json:"name"`
	Unit        string             `json:"unit"`
	Value       float64            `json:"value"`
	Uncertainty float64            `json:"uncertainty"` // standard
	Shift       float64            `json:"shift"`       // by which the recording moves it, as far as Uncertainty lets it
	ParamMoves  map[string]float64 `json:"moves"`       // by which so much more of it moves the parameters, with nothing else changed
}

// Group is what an assumption is one of, for people.
func (a *Assumption) Group() fit.GivenNumber {
	switch {
	case IsMoment(a.Name):
	case a.Name[0] == 'I':
		return fit.GivenNumber{Name: "products of inertia", Uncertainty: a.Uncertainty, Unit: "kg·m²"}
	case a.Name[0] == 'c':
		return fit.GivenNumber{Name: "centre of mass", Uncertainty: a.Uncertainty, Unit: "m"}
	case strings.HasPrefix(a.Name, "marker"):
		return fit.GivenNumber{Name: "places of markers", Uncertainty: a.Uncertainty, Unit: "m"}
	}
	return fit.GivenNumber{Name: a.Name, Uncertainty: 100 * a.Uncertainty / math.Abs(a.Value), Unit: "%"}
}

// fixed are the numbers of a setup that are not searched, with the kind of suspect that each belongs to.
type fixed struct {
	parameter
	kind, description, advice string
	uncertainty               float64 // in its unit
}

// others are the numbers that are not free.
func (c *Spec) others(free []parameter) (list []fixed) {
	b, u := &c.Body, &c.Uncertain
	for _, p := range append(parameters(), markerParameters(len(c.Markers))...) {
		if slices.ContainsFunc(free, func(q parameter) bool { return q.name == p.name }) {
			continue
		}
		f := fixed{parameter: p, advice: "Search it too: add " + p.name + " to free, or mend it in the file."}
		switch {
		case IsFriction(p.name):
			// of a moment and of an arm, which the normal force makes alike, one is enough
			f.kind, f.description = strings.TrimSuffix(p.doc, " over normal force"), p.doc+" that the model does not have"
			f.advice = fmt.Sprintf("Add %s to free.", p.name)
		case p.name[0] == 'I':
			f.kind, f.description, f.advice = "inertia", "what another inertia makes", "Mend the inertia, or add Ixx, Iyy, Izz to free."
			f.uncertainty = u.Inertia * floats.Sum(b.Inertia[:]) / 3
			if IsMoment(p.name) {
				f.uncertainty = u.Inertia * *p.field(&setup{body: *b})
			}
		case p.name[0] == 'c':
			f.kind, f.description, f.advice = "centre of mass", "what another centre of mass makes",
				"Mend the centre of mass, or add cx, cy, cz to free."
			f.uncertainty = u.Center * b.Radius
		case strings.HasPrefix(p.name, "tilt"):
			f.kind, f.description, f.advice = "fall of the plane", "what a plane makes that falls to a side", "Add tilt_x, tilt_y to free."
		case p.name == "height" || strings.HasPrefix(p.name, "lean"):
			f.kind, f.description, f.advice = "frame of the plane", "what a plane makes that lies otherwise in front of the cameras",
				"Add height, lean_x, lean_y to free."
		case strings.HasPrefix(p.name, "marker"):
			name, _, _ := strings.Cut(p.name, "_")
			f.kind, f.description, f.advice = "place of "+name, "what another place of "+name+" on the ball makes",
				"Mend its place, or add markers to free."
			f.uncertainty = u.Markers * b.Radius
		default:
			f.kind, f.description, f.advice = p.name, "what another "+p.name+" makes", "Mend it in the file."
			f.uncertainty = map[string]float64{"radius": u.Radius, "mass": u.Mass, "gravity": u.Gravity}[p.name] * *p.field(&setup{body: *b})
		}
		list = append(list, f)
	}
	return list
}

// lacking forms what numbers of the setup that are not searched do to the markers: suspects for fit.Unmodelled, and what is said of
// those that were given with an uncertainty. A number with an uncertainty is no suspect: the residual is looked at after it was moved as
// far as is known of it. given is the setup of the file. nil: no number has an uncertainty, or what they do is not known.
func (r *Result) lacking(c *Spec, s *shooting, sol *fit.Solution, given *setup) *adjustment {
	list := c.others(s.freeParams)
	r.Suspects, r.Assumed, r.MovedSolution, r.Spread = nil, []Assumption{}, sol, nil
	o := newShooting(s.poses, s.base, nil, s.segments)
	for i := range list {
		o.freeParams = append(o.freeParams, list[i].parameter)
	}
	o.prepare()
	ps, _ := o.params()
	columns, st := o.evaluator().Columns(fit.Values(ps))
	if st != 0 {
		r.Warnings = append(r.Warnings, "what the model may lack was not looked for: the simulation fails beside what was found")
		return nil
	}
	r.ExactScales = exactNumbers(list, columns, &s.base, sol)
	a := &adjustment{file: given}
	for i := range list {
		f := &list[i]
		if floats.Norm(columns[i], 2) == 0 {
			continue
		}
		if f.uncertainty > 0 {
			a.numbers, a.columns = append(a.numbers, *f), append(a.columns, columns[i])
			continue
		}
		k := slices.IndexFunc(r.Suspects, func(s fit.Suspect) bool { return s.What == f.description })
		if k < 0 {
			k = len(r.Suspects)
			r.Suspects = append(r.Suspects, fit.Suspect{Kind: f.kind, What: f.description, Advice: f.advice})
			if f.name == "roll_moment" || f.name == "spin_moment" { // no ball rolls on for ever
				r.Suspects[k].Expected = true
			}
		}
		r.Suspects[k].Columns = append(r.Suspects[k].Columns, ofMarkers(sol.Weigh(columns[i])))
	}
	r.Suspects = append(r.Suspects, s.skewedAxes(sol))
	if len(a.numbers) == 0 {
		return nil
	}
	if !a.solve(r, s, sol) {
		r.Warnings = append(r.Warnings, "what the uncertainty of assumed numbers does is not known: the recording does not tell the "+
			"parameters apart")
		return nil
	}
	return a
}

// ofMarkers is a column that is 0 in the rows of what the file says of its numbers.
func ofMarkers(column []float64) func(row int) float64 {
	return func(row int) float64 {
		if row >= len(column) {
			return 0
		}
		return column[row]
	}
}

// skewedAxes are what axes of the cameras make of the markers that are not of one scale or not at right angles. What one scale of all makes
// looks like another radius.
func (s *shooting) skewedAxes(sol *fit.Solution) fit.Suspect {
	skewed := fit.Suspect{Kind: "axes of the cameras", What: "what axes of the cameras make that are not of one scale or not at right angles",
		Advice: "Calibrate the cameras."}
	for _, axes := range [5][2]int{{1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}} {
		column := make([]float64, s.rows)
		s.eachMarker(0, len(s.rowPlaces), func(f, j int, rows [3]int) {
			p := s.rec.Points[f][j]
			at := [3]float64{p.X, p.Y, p.Z}
			column[rows[axes[0]]] += at[axes[1]]
			column[rows[axes[1]]] += at[axes[0]]
		})
		skewed.Columns = append(skewed.Columns, ofMarkers(sol.Weigh(column)))
	}
	return skewed
}

// exactNumbers are those of the list without an uncertainty that size the ball, and the clock, with what 1 % of each makes of the parameters.
// The same motion in another time is that of a ball with less friction under another gravity: what the file's own gravity makes of that is
// taken off.
func exactNumbers(list []fixed, columns [][]float64, base *setup, sol *fit.Solution) (out []fit.ScaleMove) {
	l := fit.NewLinear(sol)
	add := func(name string, rows []float64) map[string]float64 {
		moves := map[string]float64{}
		for k, by := range l.Move(rows) {
			moves[sol.Params[sol.Searched()[k]].Name] = by
		}
		if name != "" {
			out = append(out, fit.ScaleMove{Name: name, ParamMoves: moves})
		}
		return moves
	}
	moments, clock := make([]float64, len(sol.Residual)), map[string]float64{}
	for i := range list {
		f := &list[i]
		percent := *f.field(base) / 100
		switch {
		case IsMoment(f.name):
			if f.uncertainty == 0 {
				floats.AddScaled(moments, percent, columns[i])
			}
		case f.name == "gravity" || f.name == "mass" || f.name == "radius":
			name := f.name
			if f.uncertainty > 0 {
				name = ""
			}
			if by := add(name, floats.ScaleTo(make([]float64, len(moments)), percent, columns[i])); f.name == "gravity" {
				clock = by
			}
		}
	}
	if floats.Norm(moments, 2) > 0 {
		add("moments of inertia", moments)
	}
	powers := map[string]float64{"N·m·s": -1, "N·m": -2} // of the time; of N·m·s² none is left
	for _, i := range sol.Searched() {
		q := &sol.Params[i]
		clock[q.Name] = 2*clock[q.Name] + powers[q.Unit]*q.Value/100
	}
	return append(out, fit.ScaleMove{Name: fit.Clock, ParamMoves: clock})
}
