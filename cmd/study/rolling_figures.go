package study

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/identify/ball"
)

// namedFigure is a figure with its name.
type namedFigure struct {
	name string
	*plot.Figure
}

// writeFigures writes each as SVG and PNG to a folder, and returns the paths.
func writeFigures(dir string, figures []namedFigure) (paths []string, err error) {
	for _, fig := range figures {
		for _, format := range []string{"svg", "png"} {
			path := filepath.Join(dir, fig.name+"."+format)
			if err := report.WriteWhole(path, true, func(w io.Writer) error { return fig.Write(w, format) }); err != nil {
				return nil, report.Exitf(report.Unavailable, "study: %w", err)
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// windows are the lengths of the smoothing (frames) that the figure about them shows.
var windows = []int{7, 9, 11, 13, 15, 17, 21, 25, 31, 41}

// figures are those of the source by its numbers, then why moduli are biased, then four of them in one.
func (r *rollingResult) figures() ([]namedFigure, error) {
	d := &r.firstDraw
	over := func(of func(s *ball.Sample) float64) (t, y []float64) {
		for i := range d.samples {
			t, y = append(t, d.samples[i].T), append(y, of(&d.samples[i]))
		}
		return t, y
	}
	time := plot.Axis{Name: "time", Unit: "s", Max: recorded}
	var all []namedFigure
	add := func(name, title string, p plot.Panel) plot.Panel {
		all = append(all, namedFigure{name, &plot.Figure{Title: title, Note: "simulated recording, true friction 2.5e-4 N·m·s",
			Columns: plot.Grid(1, p), Width: 120, Height: 80}})
		return p
	}
	lines := func(name, unit string, series ...plot.Series) plot.Panel {
		return plot.Panel{X: time, Y: plot.Axis{Name: name, Unit: unit}, Series: series}
	}
	series := func(label string, style plot.Style, of func(s *ball.Sample) float64) plot.Series {
		t, y := over(of)
		return plot.Series{Label: label, X: t, Y: y, Style: style}
	}

	_, x := over(func(s *ball.Sample) float64 { return s.X })
	_, y := over(func(s *ball.Sample) float64 { return s.Y })
	add("fig-3a-path", "Path of the centre", plot.Panel{X: plot.Axis{Name: "x", Unit: "m"}, Y: plot.Axis{Name: "y", Unit: "m"},
		Series: []plot.Series{{Label: "centre", X: x, Y: y}}})
	add("fig-3b-gamma3", "Vertical in the body", lines("γ3", "",
		series("measured", plot.Line, func(s *ball.Sample) float64 { return s.Gamma.Z })))
	add("fig-4a-moment-roll", "Moment of friction against rolling",
		lines("|M_roll|", "N·m", series("measured", plot.Points, func(s *ball.Sample) float64 { return r3.Norm(s.RollMoment) })))
	add("fig-4b-moment-spin", "Moment of friction against spinning",
		lines("|M_spin|", "N·m", series("measured", plot.Points, func(s *ball.Sample) float64 { return math.Abs(s.SpinMoment) })))
	moduli := add("fig-5a-moment-over-speed", "Moduli, as the source fits them", r.overSpeed())
	cosines := func(label string, above bool) plot.Series {
		return series(label, plot.Points, func(s *ball.Sample) float64 {
			if r3.Norm(s.Roll) > minDirectionSpeed == above {
				return s.Cosine
			}
			return math.NaN()
		})
	}
	add("fig-5b-cosine", "Direction of the moment against that of the turning",
		lines("cosine", "", cosines("above 2 rad/s", true), cosines("slower", false)))
	mu := d.fit.Moduli.Linear
	for k, axis := range []func(v r3.Vec) float64{func(v r3.Vec) float64 { return v.X }, func(v r3.Vec) float64 { return v.Y },
		func(v r3.Vec) float64 { return v.Z }} {
		add(fmt.Sprintf("fig-6%c-moment-%d", 'a'+k, k+1), "Component of the moment", lines(fmt.Sprintf("M_roll, axis %d of the body", k+1), "N·m",
			series("linear law, slope of moduli", plot.Line, func(s *ball.Sample) float64 { return -mu * axis(s.Roll) }),
			series("linear law, true", plot.Guide, func(s *ball.Sample) float64 { return -onPaper * axis(s.Roll) }),
			series("measured", plot.Points, func(s *ball.Sample) float64 { return axis(s.RollMoment) })))
	}
	var swings []plot.Panel
	for _, c := range []struct {
		number, title string
		mu            float64
	}{{"7", "Motion with the slope of moduli", 3.42114e-4}, {"8", "Motion with the fit of trajectories", d.level("shooting on γ")}} {
		p, err := r.motions(c.mu)
		if err != nil {
			return nil, err
		}
		title := fmt.Sprintf("%s, %.3g N·m·s", c.title, c.mu)
		add("fig-"+c.number+"a-gamma2", title, p[0])
		swings = append(swings, add("fig-"+c.number+"b-gamma3", title, p[1]))
	}
	window, err := r.overWindow()
	if err != nil {
		return nil, err
	}
	add("windows", "Coefficient over the window of the smoothing", window)
	titled := func(p plot.Panel, title string) plot.Panel { p.Title = title; return p }
	all = append(all, namedFigure{"summary", &plot.Figure{
		Title: "One recording, two coefficients", Note: "simulated recording at 200 Hz, 0.1 mm of noise on the markers, true friction 2.5e-4 " +
			"N·m·s",
		Columns: plot.Grid(2, titled(moduli, "5a: moduli"), titled(window, "bias of moduli over the window"),
			titled(swings[0], "7b: 3.42e-4 N·m·s"), titled(swings[1], "8b: fit of γ")),
	}})
	return all, nil
}

// overSpeed is figure 5a. Speeds beyond those that the source shows have a colour of their own.
func (r *rollingResult) overSpeed() plot.Panel {
	shown, beyond := plot.Series{Label: "measured", Style: plot.Points}, plot.Series{Label: "beyond 5 rad/s: extrapolated", Style: plot.Points}
	top := 0.0
	for i := range r.firstDraw.samples {
		s := &r.firstDraw.samples[i]
		to, w := &shown, r3.Norm(s.Roll)
		if w > shownSpeed {
			to = &beyond
		}
		to.X, to.Y = append(to.X, w), append(to.Y, r3.Norm(s.RollMoment))
		top = math.Max(top, w)
	}
	law := func(label string, style plot.Style, of func(w float64) float64) plot.Series {
		out := plot.Series{Label: label, Style: style}
		for k := range 61 {
			w := top * float64(k) / 60
			out.X, out.Y = append(out.X, w), append(out.Y, of(w))
		}
		return out
	}
	m := &r.firstDraw.fit.Moduli
	series := []plot.Series{law("linear fit", plot.Line, func(w float64) float64 { return m.Linear * w }), law("quadratic fit", plot.Line,
		func(w float64) float64 { return m.Quadratic * w * w }), law("true", plot.Guide, func(w float64) float64 { return onPaper * w }), shown}
	if len(beyond.X) > 0 {
		series = append(series, beyond)
	}
	return plot.Panel{X: plot.Axis{Name: "|ω_roll|", Unit: "rad/s"}, Y: plot.Axis{Name: "|M_roll|", Unit: "N·m", Zero: true}, Series: series}
}

// motions are γ2 and γ3 of the first two seconds: measured, and simulated with a friction from the start that was found.
func (r *rollingResult) motions(mu float64) ([2]plot.Panel, error) {
	const until = 2.0 // s
	d := &r.firstDraw
	var t []float64
	every := plot.Series{Label: "measured, every fourth frame", Style: plot.Points}
	measured := [2]plot.Series{every, every}
	for i := range d.samples {
		s := &d.samples[i]
		if s.T > until {
			break
		}
		t = append(t, s.T)
		for k, g := range [2]float64{s.Gamma.Y, s.Gamma.Z} {
			if i%4 > 0 {
				g = math.NaN() // dots of all frames would hide the curve
			}
			measured[k].X, measured[k].Y = append(measured[k].X, s.T), append(measured[k].Y, g)
		}
	}
	with := *d.fit
	with.Body.Roll.Linear = mu
	states, err := with.Motion(t)
	if err != nil {
		return [2]plot.Panel{}, err
	}
	model := [2]plot.Series{{Label: "simulated"}, {Label: "simulated"}}
	for i := range states {
		f := states[i].Frame()
		for k, g := range [2]float64{f.C.Y, f.C.Z} {
			model[k].X, model[k].Y = append(model[k].X, t[i]), append(model[k].Y, g)
		}
	}
	time := plot.Axis{Name: "time", Unit: "s", Max: until}
	panel := func(k int, name string) plot.Panel {
		return plot.Panel{X: time, Y: plot.Axis{Name: name}, Series: []plot.Series{model[k], measured[k]}}
	}
	return [2]plot.Panel{panel(0, "γ2"), panel(1, "γ3")}, nil
}

// slopes are those of moduli and of projections of a series.
func slopes(samples []ball.Sample) (moduli, projection float64) {
	var m, p, w2 float64
	for i := range samples {
		s := &samples[i]
		m += r3.Norm(s.Roll) * r3.Norm(s.RollMoment)
		p -= r3.Dot(s.Roll, s.RollMoment)
		w2 += r3.Norm2(s.Roll)
	}
	return m / w2, p / w2
}

// overWindow is the slope of moduli, and of projections, over the length of the smoothing.
func (r *rollingResult) overWindow() (plot.Panel, error) {
	moduli, projection := plot.Series{Label: "slope of moduli"}, plot.Series{Label: "projection"}
	for _, n := range windows {
		spec := rollingSpec("mu_roll")
		spec.HalfWindow = float64(n-1) / 2 / rate
		s, err := ball.Series(spec, r.firstDraw.rec)
		if err != nil {
			return plot.Panel{}, fmt.Errorf("window of %d frames: %w", n, err)
		}
		a, b := slopes(s)
		moduli.X, moduli.Y = append(moduli.X, float64(n)), append(moduli.Y, a)
		projection.X, projection.Y = append(projection.X, float64(n)), append(projection.Y, b)
	}
	ends := []float64{moduli.X[0], moduli.X[len(moduli.X)-1]}
	return plot.Panel{
		X: plot.Axis{Name: "frames of the window"}, Y: plot.Axis{Name: "coefficient", Unit: "N·m·s", Zero: true},
		Series: []plot.Series{moduli, projection, {Label: "source, moduli", X: ends, Y: []float64{3.42114e-4, 3.42114e-4}, Style: plot.Guide},
			{Label: "true", X: ends, Y: []float64{onPaper, onPaper}, Style: plot.Guide}},
	}, nil
}
