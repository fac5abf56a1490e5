package study

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"hilrig/cmd/plot"
	"hilrig/cmd/simulate"
	"hilrig/configs"
	"hilrig/engine/study"
)

// figure draws one figure of the study.
func (s *parameterStudy) figure(ctx context.Context, f *configs.StudyFigure) (*plot.Figure, error) {
	fig := &plot.Figure{Title: cmp.Or(f.Title, f.Name), Width: 170}
	var p plot.Panel
	switch f.Kind {
	case "phase":
		data, err := s.cfg.Simulation(nil, -1, f.Changes)
		if err != nil {
			return nil, err
		}
		all, err := simulate.Trace(ctx, s.cfg.BaseName(), data)
		if err != nil {
			return nil, err
		}
		x, errX := columnNamed(all, f.X)
		y, errY := columnNamed(all, f.Y)
		if err := cmp.Or(errX, errY); err != nil {
			return nil, err
		}
		p = plot.Panel{X: plot.Axis{Name: spoken(x.Name), Unit: x.Unit}, Y: plot.Axis{Name: spoken(y.Name), Unit: y.Unit},
			Series: []plot.Series{{X: x.Values, Y: y.Values}}}
		fig.Note = "one run of " + filepath.Base(s.base()) + changes(f.Changes)
		p.Series = append(p.Series, bounds(f, x.Values, y.Values)...)
	case "correlations":
		p = s.bars(f)
		fig.Height = 45 + 7*float64(len(p.Y.Names))
		fig.Note = fmt.Sprintf("rank correlation with the other factors held, 95 %% interval; %s", s.plainPlan())
	default:
		x, ux := s.axis(f.X)
		y, uy := s.axis(f.Y)
		p = plot.Panel{X: plot.Axis{Name: spoken(f.X), Unit: ux, Log: f.LogX},
			Y: plot.Axis{Name: spoken(f.Y), Unit: uy, Log: f.LogY, Zero: !f.LogY && showsZero(y)}}
		if words := s.wordsOf(f.X); len(words) > 0 && !f.LogX {
			x = slices.Clone(x)
			for i := range x {
				x[i]++ // marks are at 1, 2, 3, …
			}
			p.X.Names, p.X.Min, p.X.Max = words, 0.5, float64(len(words))+0.5
		}
		dots := plot.Series{Label: "runs", X: x, Y: y, Style: plot.Points}
		if s.plan.Replicates() > 1 {
			dots.Label = "means over seeds"
		}
		if f.Median {
			window := min(max(len(x)/12, 15), len(x))
			mx, my := study.RunningMedian(x, y, window)
			p.Series = []plot.Series{{Label: fmt.Sprintf("median of %d neighbours", window), X: mx, Y: my}, dots} // the first is drawn on top
		} else {
			p.Series = []plot.Series{dots}
		}
		p.Series = append(p.Series, bounds(f, x, y)...)
		fig.Note = s.plainPlan()
	}
	fig.Columns = []plot.Column{{Panels: []plot.Panel{p}}}
	return fig, nil
}

// showsZero tells whether an axis of these values reaches down to zero: not where their spread would be lost.
func showsZero(y []float64) bool {
	r := span(y)
	return min(math.Abs(r[0]), math.Abs(r[1])) <= 2*(r[1]-r[0])
}

// maxWords is the number of words that an axis has room for.
const maxWords = 40

// wordsOf are the values of a factor of words, if an axis has room for them.
func (s *parameterStudy) wordsOf(name string) (words []string) {
	for i := range s.cfg.Vary {
		if v := &s.cfg.Vary[i]; v.Name == name && v.Words() && len(v.Values) <= maxWords {
			for _, x := range v.Values {
				words = append(words, x.Text())
			}
		}
	}
	return words
}

func columnNamed(all []simulate.TraceColumn, name string) (simulate.TraceColumn, error) {
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return simulate.TraceColumn{}, fmt.Errorf("the trace has no %q; it has %s", name, strings.Join(names, ", "))
}

// axis is a factor or a result at every point, with its unit.
func (s *parameterStudy) axis(name string) ([]float64, string) {
	for i := range s.cfg.Vary {
		if v := &s.cfg.Vary[i]; v.Name == name {
			return s.factor(i), v.Unit()
		}
	}
	for _, m := range s.resultNames() {
		if m.Name == name {
			return s.means(s.result(name)), m.Unit
		}
	}
	return make([]float64, s.plan.Points()), "" // every run failed
}

// plainPlan says in small print what the points are.
func (s *parameterStudy) plainPlan() string {
	text := fmt.Sprintf("%d runs of %s, %s, seed %d", s.plan.Runs(), filepath.Base(s.base()), s.cfg.Design.Kind, s.cfg.Design.Seed)
	if n := s.plan.Replicates(); n > 1 {
		text += fmt.Sprintf(", %d seeds for every point", n)
	}
	return text
}

// changes names what a run was given.
func changes(at map[string]configs.StudyValue) string {
	var parts []string
	for path, v := range at {
		parts = append(parts, path+" "+v.Text())
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// spoken is a name as it is said: underscores are spaces.
func spoken(name string) string { return strings.ReplaceAll(name, "_", " ") }

// bounds are the marks of a figure: a box where both axes have them, lines across the curves where one has.
func bounds(f *configs.StudyFigure, x, y []float64) []plot.Series {
	given := func(b [2]float64) bool { return b[0] < b[1] }
	if !given(f.BoundsX) && !given(f.BoundsY) {
		return nil
	}
	bx, by := f.BoundsX, f.BoundsY
	if !given(bx) {
		bx = span(x)
	}
	if !given(by) {
		by = span(y)
	}
	marks, nan := plot.Series{Label: cmp.Or(f.Bounds, "bounds"), Style: plot.Guide}, math.NaN()
	switch {
	case !given(f.BoundsX):
		marks.X, marks.Y = []float64{bx[0], bx[1], nan, bx[0], bx[1]}, []float64{by[0], by[0], nan, by[1], by[1]}
	case !given(f.BoundsY):
		marks.X, marks.Y = []float64{bx[0], bx[0], nan, bx[1], bx[1]}, []float64{by[0], by[1], nan, by[0], by[1]}
	default:
		marks.X, marks.Y = []float64{bx[0], bx[1], bx[1], bx[0], bx[0]}, []float64{by[0], by[0], by[1], by[1], by[0]}
	}
	return []plot.Series{marks}
}

// span is the range of the numbers that are finite.
func span(x []float64) [2]float64 {
	out := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, v := range x {
		if v-v == 0 {
			out[0], out[1] = min(out[0], v), max(out[1], v)
		}
	}
	return out
}

// bars draws the partial correlations of a result with their intervals, a row for each factor, the first of the file at the top.
func (s *parameterStudy) bars(f *configs.StudyFigure) plot.Panel {
	x, of := s.factorsForRanks()
	n := len(x)
	p := plot.Panel{
		X: plot.Axis{Name: "rank correlation with " + spoken(f.Y), Min: -1, Max: 1},
		Y: plot.Axis{Min: 0.4, Max: float64(n) + 0.6, Names: make([]string, n)},
	}
	var dots, lines plot.Series
	for k, c := range study.Partial(x, s.means(s.result(f.Y))) {
		y := float64(n - k)
		p.Y.Names[n-k-1] = spoken(s.cfg.Vary[of[k]].Name)
		dots.X, dots.Y = append(dots.X, c.R), append(dots.Y, y)
		lines.X, lines.Y = append(lines.X, c.Lo, c.Hi, math.NaN()), append(lines.Y, y, y, math.NaN())
	}
	dots.Style = plot.Points
	p.Series = []plot.Series{dots, lines}
	return p
}
