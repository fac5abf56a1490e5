package fitreport

import (
	"fmt"
	"math"
	"slices"

	"hilrig/cmd/plot"
	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify"
)

const (
	bins       = 14  // of speed in each direction, with as many rows in each
	minBinRows = 5   // in a bin
	curve      = 100 // points of the model curve in each direction
	normal95   = 1.96
	zoomRatio  = 16.0 // times the Stribeck velocity is the range of velocities above which the fall near zero is shown for itself
)

// frictionFigures are friction over velocity, and over displacement after reversals.
func frictionFigures(r *identify.Result, add adder, lack lacker) {
	rows := r.FrictionRows()
	why := "the fit explains no force of one axis along a motion that is known"
	unit := "N"
	var series []plot.Series
	top := [2]float64{} // speed forward, backward
	if rows != nil {
		unit = rows.Unit
		points := medians(rows)
		for _, v := range rows.Velocity {
			top[0], top[1] = math.Max(top[0], v), math.Max(top[1], -v)
		}
		if len(points.X) > 0 {
			series = append(series, points)
		}
	} else if s := r.Solution(); s != nil {
		for _, v := range s.Velocity {
			top[0], top[1] = math.Max(top[0], v), math.Max(top[1], -v)
		}
	}
	line := plot.Series{Label: "model"}
	band := plot.Series{Label: "95 % band", Style: plot.Band}
	for side, sign := range []float64{-1, 1} {
		if top[1-side] == 0 {
			continue
		}
		for i := range curve {
			share := float64(i+1) / curve
			if sign < 0 {
				share = 1 - float64(i)/curve
			}
			v := sign * top[1-side] * share * share * share // closest near zero
			if f, se, ok := r.FrictionAt(v); ok {
				line.X, line.Y = append(line.X, v), append(line.Y, f)
				band.X, band.Y, band.Lower = append(band.X, v), append(band.Y, f+normal95*se), append(band.Lower, f-normal95*se)
			}
		}
		line.X, line.Y = append(line.X, 0), append(line.Y, math.NaN()) // friction jumps here
		band.X, band.Y, band.Lower = append(band.X, 0), append(band.Y, math.NaN()), append(band.Lower, math.NaN())
	}
	speed := plot.Axis{Name: "velocity", Unit: "m/s"}
	if r.Model.Rotary {
		speed.Unit, unit = "rad/s", "N·m"
	}
	if len(line.X) > 2 {
		for i, hi := range band.Y { // infinite where a parameter is not known
			if math.IsInf(hi, 0) {
				band.Y[i], band.Lower[i] = math.NaN(), math.NaN()
			}
		}
		series = append([]plot.Series{line, band}, series...)
	}
	if len(series) == 0 {
		lack("friction over velocity", "%s", why)
	} else {
		caption := "Friction over velocity: that of long sliding by the parameters, with its pointwise 95 % band from their covariance."
		if _, bristle := r.Param("sigma0"); bristle {
			caption += " Near zero velocity bristles bend, and points lie between the branches."
		}
		if rows != nil && rows.SteadyLevels {
			caption += " Points are the mean forces at constant velocities, less loads."
		} else if rows != nil {
			caption += fmt.Sprintf(" Points are medians of the measured force less inertia and loads, up to %d bins in each direction with as "+
				"many rows in each.", bins)
		} else {
			caption += " No points: " + why + "."
		}
		panels := []plot.Panel{{X: speed, Y: plot.Axis{Name: "friction", Unit: unit}, Series: series}}
		if vs, ok := r.Param("vs"); ok && vs.Value > 0 && zoomRatio*vs.Value < max(top[0], top[1]) {
			near := speed
			near.Max = zoomRatio / 4 * vs.Value
			near.Min = -near.Max
			panels = append(panels, plot.Panel{X: near, Y: panels[0].Y, Series: series})
			caption += " Below: the same near zero."
		}
		add("friction", caption, panels...)
	}
	loopFigure(r, rows, speed.Unit[:len(speed.Unit)-2], add, lack)
}

// medians are those of velocity and friction in bins with as many rows in each, for each direction.
func medians(rows *identify.FrictionRows) plot.Series {
	out := plot.Series{Label: "measured, medians", Style: plot.Points}
	if rows.SteadyLevels {
		out.Label = "measured"
	}
	for _, sign := range []float64{-1, 1} {
		var at []int
		for k, v := range rows.Velocity {
			if sign*v > 0 {
				at = append(at, k)
			}
		}
		slices.SortFunc(at, func(a, b int) int { return int(numeric.Sign(rows.Velocity[a] - rows.Velocity[b])) })
		n := max(1, min(bins, len(at)/minBinRows))
		if rows.SteadyLevels {
			n = len(at) // each for itself
		}
		if len(at) == 0 {
			continue
		}
		for i := range n {
			in := at[i*len(at)/n : (i+1)*len(at)/n]
			var v, f []float64
			for _, k := range in {
				v, f = append(v, rows.Velocity[k]), append(f, rows.Force[k])
			}
			out.X, out.Y = append(out.X, numeric.Median(v)), append(out.Y, numeric.Median(f))
		}
	}
	return out
}

const maxLoops = 12 // reversals in one figure

// loopFigure is friction over the displacement after reversals, in the direction of the new motion: the bristles bend from one side to
// the other.
func loopFigure(r *identify.Result, rows *identify.FrictionRows, unit string, add adder, lack lacker) {
	const what = "presliding loop"
	if s := r.Solution(); s != nil && len(s.Loops) > 0 {
		measured, model := plot.Series{Label: "measured"}, plot.Series{Label: "model"}
		for _, l := range s.Loops {
			for to, f := range map[*plot.Series][]float64{&measured: l.Force, &model: l.Model} {
				to.X, to.Y = slices.Concat(to.X, l.Displacement, []float64{0}), slices.Concat(to.Y, f, []float64{math.NaN()})
			}
		}
		add("presliding", "Force over displacement: the loop as it was drawn, and that of the parameters at the same displacements.",
			plot.Panel{X: plot.Axis{Name: "displacement", Unit: unit}, Y: plot.Axis{Name: "force", Unit: engine.UnitOn(unit == "rad", "N")},
				Series: []plot.Series{model, measured}})
		return
	}
	if rows == nil || rows.Position == nil {
		lack(what, "the friction at the rows, or their position, is not known")
		return
	}
	turns := reversals(rows.Velocity, rows.Pieces)
	if len(turns) == 0 {
		lack(what, "the fitted rows hold no reversal")
		return
	}
	reach := math.Inf(1) // displacement that is shown
	if s0, ok := r.Param("sigma0"); ok && s0.Value > 0 {
		for _, level := range []string{"Fs", "Fs+", "Fc", "Fc+"} {
			if f, ok := r.Param(level); ok {
				reach = 8 * math.Abs(f.Value) / s0.Value
				break
			}
		}
	}
	if math.IsInf(reach, 0) {
		lack(what, "the law has no bristle")
		return
	}
	var measured, model plot.Series
	measured.Label, model.Label = "measured", "model"
	shown := 0
	for i := 0; i < len(turns) && shown < maxLoops; i += max(1, len(turns)/maxLoops) {
		k := turns[i]
		sign := numeric.Sign(rows.Velocity[k])
		n := 0
		for j := k; j < len(rows.Force) && (j == k || !slices.Contains(rows.Pieces, j)); j++ {
			d := sign * (rows.Position[j] - rows.Position[k])
			if d > reach && n > 2 || sign*rows.Velocity[j] < 0 {
				break
			}
			n++
			for _, s := range []struct {
				to *plot.Series
				f  float64
			}{{&measured, rows.Force[j]}, {&model, rows.Model[j]}} {
				s.to.X, s.to.Y = append(s.to.X, d), append(s.to.Y, sign*s.f)
			}
		}
		for _, s := range []*plot.Series{&measured, &model} {
			s.X, s.Y = append(s.X, 0), append(s.Y, math.NaN())
		}
		shown++
	}
	add("presliding", fmt.Sprintf("Friction over the displacement since a reversal, in the direction of the new motion; %d of %d reversals. "+
		"Motion and force are smoothed alike, which rounds what is shorter than the smoothing.", shown, len(turns)),
		plot.Panel{X: plot.Axis{Name: "displacement", Unit: unit}, Y: plot.Axis{Name: "friction", Unit: rows.Unit},
			Series: []plot.Series{model, measured}})
}
