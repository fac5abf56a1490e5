package fitreport

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/cmd/plot"
	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify"
	"hilrig/identify/fit"
)

// Figure is one figure of a result.
type Figure struct {
	Name    string // of its file: "fit", "residual" …
	Caption string
	*plot.Figure
}

const (
	width  = 110.0 // mm of a figure, which a phone shows without making its letters too small
	height = 72.0  // mm
)

// Figures draws a result. missing says in a line each what there is no figure of, and why.
func Figures(r *identify.Result) (all []Figure, missing []string) {
	add := func(name, caption string, panels ...plot.Panel) {
		h := height
		if len(panels) > 1 {
			h = 46*float64(len(panels)) + 10
		}
		all = append(all, Figure{name, caption, &plot.Figure{Columns: plot.Grid(1, panels...), Width: width, Height: h}})
	}
	lack := func(what, why string, args ...any) {
		missing = append(missing, what+": "+fmt.Sprintf(why, args...))
	}
	if r.Solution() == nil {
		lack("figures of rows and friction", "the result was read from a file, which holds no rows")
	} else {
		fitFigures(r, add, lack)
		residualFigures(r, add)
		residualOver(r, add)
		frictionFigures(r, add, lack)
	}
	correlationFigure(r, &all, lack)
	convergenceFigures(r, add, lack)
	return all, missing
}

type (
	adder  func(name, caption string, panels ...plot.Panel)
	lacker func(what, why string, args ...any)
)

// times are the abscissas of rows: time within the rows, pieces one after the other with nothing between them, or the number of the row.
func times(s *fit.Solution) (t []float64, axis plot.Axis) {
	t = make([]float64, len(s.Residual))
	axis = plot.Axis{Name: "time along the rows", Unit: "s"}
	step := s.Dt
	if step == 0 {
		step, axis = 1, plot.Axis{Name: "row"}
	}
	for k := range t {
		t[k] = float64(k) * step
	}
	return t, axis
}

// withGaps puts a gap into a curve of the rows from … to − 1 before every piece that begins within them.
func withGaps(x []float64, pieces []int, from, to int) (cut []float64) {
	for _, k := range pieces {
		if k > from && k < to {
			cut, from = append(append(cut, x[from:k]...), math.NaN()), k
		}
	}
	return append(cut, x[from:to]...)
}

// longName is the length of a name of a quantity above which it stands below the figure instead of beside its axis.
const longName = 48

// fitFigures are the fit against the data, near a reversal too, and on the second record.
func fitFigures(r *identify.Result, add adder, lack lacker) {
	panels := func(s *fit.Solution, from, to int) []plot.Panel {
		t, axis := times(s)
		model := make([]float64, len(s.Residual))
		for k := range model {
			model[k] = s.Measured[k] - s.Residual[k]
		}
		cut := func(x []float64) []float64 { return withGaps(x, s.Pieces, from, to) }
		at := cut(t)
		name, style := s.Quantity, plot.Line
		if s.Unit == "" {
			name += ", weighted"
		}
		if len(name) > longName {
			name = "explained"
		}
		if s.Dt == 0 {
			style = plot.Points
		}
		return []plot.Panel{
			{X: axis, Y: plot.Axis{Name: name, Unit: s.Unit}, Series: []plot.Series{{Label: "model", X: at, Y: cut(model)},
				{Label: "measured", X: at, Y: cut(s.Measured), Style: style}}},
			{X: axis, Y: plot.Axis{Name: "difference", Unit: s.Unit},
				Series: []plot.Series{{Label: "difference", X: at, Y: cut(s.Residual), Style: style}}},
		}
	}
	s := r.Solution()
	what := "What was fitted"
	if plain := r.UnweightedSolution(); plain != nil && plain != s && len(plain.Measured) == len(plain.Residual) {
		s, what = plain, "The fitted records, without the weights of the fit"
	}
	if len(s.Quantity) > longName {
		what += ", " + s.Quantity
	}
	if len(s.Measured) != len(s.Residual) {
		lack("fit against data", "this method does not keep what was measured")
		return
	}
	add("fit", what+": measured, what the model makes of it, and their difference.", panels(s, 0, len(s.Residual))...)
	v := s.Velocity
	if len(v) != len(s.Residual) {
		v = r.Solution().Velocity
	}
	if s.Dt == 0 {
		lack("zoom on a reversal", "the rows are no series in time")
	} else if k, ok := worstReversal(s, v); ok {
		from, to := zoomRange(s, k)
		add("reversal", fmt.Sprintf("The same around a reversal, the one of %d with the largest difference.", len(reversals(v, s.Pieces))),
			panels(s, from, to)...)
	} else {
		lack("zoom on a reversal", "the fitted rows hold none")
	}
	if c := r.Validated(); c != nil && len(c.Measured) == len(c.Residual) {
		add("validation", "The second record, which was not used to find the parameters.", panels(c, 0, len(c.Residual))...)
	}
}

// reversals are the rows before which the velocity has changed its sign, beyond a hundredth of its top to either side.
func reversals(v []float64, pieces []int) (rows []int) {
	if len(v) == 0 {
		return nil
	}
	top := 0.01 * numeric.QuantileOf(len(v), 0.99, func(k int) float64 { return math.Abs(v[k]) })
	side, since := 0.0, 0
	for k, x := range v {
		if slices.Contains(pieces, k) {
			side = 0
		}
		if math.Abs(x) <= top || top == 0 {
			continue
		}
		if now := numeric.Sign(x); now != side {
			if side != 0 { // in between the axis was slow: the reversal is where it stopped
				at := k
				for at > since+1 && v[at-1]*x > 0 {
					at--
				}
				rows = append(rows, at)
			}
			side = now
		}
		since = k
	}
	return rows
}

// halfZoom is how many rows are shown to either side of a reversal.
func halfZoom(n int) int { return min(max(n/80, 20), 150) }

func zoomRange(s *fit.Solution, k int) (from, to int) {
	h := halfZoom(len(s.Residual))
	return max(0, k-h), min(len(s.Residual), k+h)
}

// worstReversal is the reversal around which the squared difference is largest.
func worstReversal(s *fit.Solution, v []float64) (at int, ok bool) {
	if len(v) != len(s.Residual) {
		return 0, false
	}
	worst := -1.0
	for _, k := range reversals(v, s.Pieces) {
		from, to := zoomRange(s, k)
		if e := numeric.RMS(s.Residual[from:to]); e > worst {
			at, worst = k, e
		}
	}
	return at, worst >= 0
}

// residualFigures are the distribution of the residual and what it depends on.
func residualFigures(r *identify.Result, add adder) {
	s := r.Solution()
	e, unit := s.Residual, s.Unit
	if len(e) < 10 {
		return
	}
	mean, sd := stat.MeanStdDev(e, nil)
	limit := 5 * sd
	if sd == 0 {
		return
	}
	bins := min(max(int(2*math.Cbrt(float64(len(e)))), 11), 61)
	lo := math.Max(slices.Min(e), mean-limit)
	hi := math.Min(slices.Max(e), mean+limit)
	wide := (hi - lo) / float64(bins)
	var x, share, normal []float64
	for i := range bins {
		x, share = append(x, lo+(float64(i)+0.5)*wide), append(share, 0)
	}
	beyond := 0
	for _, v := range e {
		if v < lo || v > hi {
			beyond++
			continue
		}
		share[min(int((v-lo)/wide), bins-1)] += 100 / float64(len(e))
	}
	bell := distuv.Normal{Mu: mean, Sigma: sd}
	var fine []float64
	for i := range 121 {
		fine = append(fine, lo+(hi-lo)*float64(i)/120)
		normal = append(normal, 100*wide*bell.Prob(fine[i]))
	}
	caption := fmt.Sprintf("How the residual is distributed over %d bins, beside the normal distribution of the same mean and scatter.", bins)
	if beyond > 0 {
		caption += fmt.Sprintf(" %d of %d rows lie beyond five standard deviations and are outside the figure.", beyond, len(e))
	}
	add("residual", caption, plot.Panel{X: plot.Axis{Name: "residual", Unit: unit, Min: lo, Max: hi},
		Y:      plot.Axis{Name: "share of the rows", Unit: "%", Zero: true},
		Series: []plot.Series{{Label: "residual", X: x, Y: share, Style: plot.Bars}, {Label: "normal", X: fine, Y: normal}}})

	// a row is no time where the rows are no series
	step, lag := s.Dt, plot.Axis{Name: "lag", Unit: "s"}
	if step == 0 {
		step, lag = 1, plot.Axis{Name: "lag in rows"}
	}
	correlogram := func(rho []float64, first int, band float64, of string) plot.Panel {
		l := make([]float64, len(rho))
		for i := range l {
			l[i] = float64(first+i) * step
		}
		a := lag
		a.Min, a.Max = l[0]-step, l[len(l)-1]+step
		ends := []float64{a.Min, a.Max}
		return plot.Panel{X: a, Y: plot.Axis{Name: of, Zero: true}, Series: []plot.Series{
			{Label: "correlation", X: l, Y: rho, Style: plot.Bars},
			{Label: "99 % band", X: ends, Y: []float64{band, band}, Style: plot.Guide},
			{Label: "99 % band", X: ends, Y: []float64{-band, -band}, Style: plot.Guide}}}
	}
	if w := r.Residual.Whiteness; w.Lags > 0 {
		words := "is white"
		if !w.White {
			words = "is not white"
		}
		add("autocorrelation", fmt.Sprintf("Autocorrelation of the residual, which %s (Ljung–Box, p = %.2g); 99 of 100 values of a white one "+
			"lie within the band.", words, w.PValue),
			correlogram(fit.Autocorrelation(e, w.Lags, s.Pieces)[1:], 1, 2.576/math.Sqrt(float64(len(e))), "autocorrelation"))
	}
	for _, c := range []struct {
		name, signal string
		cross        *fit.Cross
		u            []float64
	}{{"cross-input", "the input", r.Residual.Input, s.Input}, {"cross-velocity", "the velocity", r.Residual.Velocity, s.Velocity}} {
		if c.cross == nil || c.cross.Lags == 0 || len(c.u) != len(e) {
			continue
		}
		words := "is not related to it beyond chance"
		if c.cross.Correlated {
			words = "is related to it: something that acts with it is not in the model"
		}
		add(c.name, fmt.Sprintf("Correlation of the residual with %s. At positive lags the residual follows. It %s.", c.signal, words),
			correlogram(fit.CrossCorrelation(e, c.u, c.cross.Lags, s.Pieces), -c.cross.Lags, c.cross.Band, "with "+c.signal))
	}
}

// maxPoints is the number of rows that a scatter shows. More make a page of several models larger than a mail takes.
const maxPoints = 1000

// residualOver draws the residual over position, speed and force: what the model lacks has a shape there.
func residualOver(r *identify.Result, add adder) {
	s := r.Solution()
	n := len(s.Residual)
	rotary := r.Model.Rotary
	var panels []plot.Panel
	var names []string
	every := max(1, (n+maxPoints-1)/maxPoints)
	input, inputUnit := "input", engine.UnitOn(rotary, "N")
	if s.IsReferenceInput {
		input, inputUnit = "reference", engine.UnitOn(rotary, "m")
	}
	for _, c := range []struct {
		name, unit string
		x          []float64
	}{{"position", engine.UnitOn(rotary, "m"), s.Position}, {"velocity", engine.UnitOn(rotary, "m/s"), s.Velocity},
		{input, inputUnit, s.Input}} {
		if len(c.x) != n || n == 0 || slices.Max(c.x) == slices.Min(c.x) {
			continue
		}
		var x, y []float64
		for k := 0; k < n; k += every {
			x, y = append(x, c.x[k]), append(y, s.Residual[k])
		}
		panels = append(panels, plot.Panel{X: plot.Axis{Name: c.name, Unit: c.unit}, Y: plot.Axis{Name: "residual", Unit: s.Unit},
			Series: []plot.Series{{Label: "residual", X: x, Y: y, Style: plot.Points}}})
		names = append(names, c.name)
	}
	if panels != nil {
		thinned := ""
		if every > 1 {
			thinned = fmt.Sprintf(", one row in %d", every)
		}
		add("residual-over", fmt.Sprintf("The residual over %s%s. A model that lacks nothing leaves a band of the same width everywhere.",
			strings.Join(names, ", "), thinned), panels...)
	}
}

// maxMatrixParams is the number of parameters up to which the matrix can be read in a figure.
const maxMatrixParams = 24

// correlationFigure is the matrix as a map of heat, without the states of the motion.
func correlationFigure(r *identify.Result, all *[]Figure, lack lacker) {
	names, at := r.Correlated()
	n := len(names)
	switch {
	case n < 2 || len(r.Correlation) <= at[n-1]:
		lack("correlation", "fewer than two parameters were searched")
		return
	case n > maxMatrixParams:
		lack("correlation", "%d parameters are too many for a figure; the JSON has the numbers", n)
		return
	}
	cells := plot.Series{Style: plot.Cells}
	for i := range n {
		for k := range n {
			cells.X, cells.Y, cells.Z = append(cells.X, float64(k+1)), append(cells.Y, float64(n-i)), append(cells.Z, r.Correlation[at[i]][at[k]])
		}
	}
	caption := "Correlation of the estimates; blue: they rise together, orange: one rises as the other falls."
	if r.Condition != nil && r.Scaled != nil {
		caption += fmt.Sprintf(" Condition number %.4g, with columns of length one %.4g.", *r.Condition, *r.Scaled)
	} else {
		caption += " The condition number is infinite."
	}
	down := slices.Clone(names)
	slices.Reverse(down)
	axis := plot.Axis{Min: 0.5, Max: float64(n) + 0.5}
	x, y := axis, axis
	x.Names, y.Names = names, down
	tall := math.Min(40+6*float64(n), 100)
	*all = append(*all, Figure{"correlation", caption, &plot.Figure{Columns: plot.Grid(1,
		plot.Panel{X: x, Y: y, Series: []plot.Series{cells}}), Width: width, Height: tall}})
}

// convergenceFigures are the costs of the stages.
func convergenceFigures(r *identify.Result, add adder, lack lacker) {
	for i, st := range r.Stages {
		if len(st.Trace) < 2 {
			lack("convergence of "+string(st.Method), "%s", noConvergence(st))
			continue
		}
		x := make([]float64, len(st.Trace))
		for k := range x {
			x[k] = float64(k)
		}
		step := "step"
		if st.Method == "aep" {
			step = "generation"
		}
		least, most := slices.Min(st.Trace), slices.Max(st.Trace)
		name := "convergence"
		if i+1 < len(r.Stages) {
			name += "-" + string(st.Method)
		}
		n := len(st.Trace) - 1
		of := ""
		if st.Iterations > n+1 {
			of = fmt.Sprintf(" that led to the result, of %d in all", st.Iterations)
		}
		caption := fmt.Sprintf("Cost of %s over %d %s%s; %d simulations. It ended: %s.", st.Method, n, plural(step, n), of, st.Evaluations,
			strings.TrimSuffix(st.Reason, "."))
		panels := []plot.Panel{{X: plot.Axis{Name: step}, Y: plot.Axis{Name: "cost", Log: least > 0 && most > 3*least},
			Series: []plot.Series{{Label: "cost of the best", X: x, Y: st.Trace}}}}
		if ends, said := endsOf(st); said != "" {
			panels, caption = append(panels, ends), caption+said
		}
		add(name, caption, panels...)
	}
}

// endsOf are by how much more than the best each of several descents left over, with the words for it; "": there was one.
func endsOf(st identify.Stage) (plot.Panel, string) {
	starts, _ := st.Extra["starts"].([]fit.Start)
	if len(starts) < 2 || slices.ContainsFunc(starts, func(one fit.Start) bool { return !(one.RMS > 0) }) {
		return plot.Panel{}, ""
	}
	var at, above []float64
	for i, one := range starts {
		at, above = append(at, float64(i+1)), append(above, one.RMS)
	}
	slices.Sort(above)
	best := above[0]
	for i := range above {
		above[i] = 100 * (above[i]/best - 1)
	}
	top := math.Max(above[len(above)-1], 0.3) // %, within which they count as the same place
	return plot.Panel{X: plot.Axis{Name: "descent", Min: 0.5, Max: at[len(at)-1] + 0.5},
			Y:      plot.Axis{Name: "above the best", Unit: "%", Min: -0.05 * top, Max: 1.05 * top},
			Series: []plot.Series{{Label: "ends of the descents", X: at, Y: above, Style: plot.Points}}},
		fmt.Sprintf(" Below: by how much more than the best each of the %d descents left over, sorted; %v of them within 0.3 %%.", len(starts),
			st.Extra["reached"])
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func noConvergence(st identify.Stage) string {
	if st.Evaluations == 0 {
		return "it is solved at once, without iterations"
	}
	return "it tells no costs on its way"
}
