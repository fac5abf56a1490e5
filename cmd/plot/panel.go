package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// face is a panel with its axes laid out.
type face struct {
	Panel
	x, y scale
}

const (
	below   = vg.Length(33) // pt for marks and label of the horizontal axis
	above   = vg.Length(6)  // pt without a title
	titled  = vg.Length(19) // pt with one
	right   = vg.Length(12) // pt
	tickLen = vg.Length(3)  // pt
)

func newFace(p Panel, w, h vg.Length) face {
	f := face{Panel: p}
	lo, hi := rangeOf(p.Series, p.X.Log, func(s *Series) []float64 { return s.X })
	if lo < hi && p.X.Min == 0 && p.X.Max == 0 && !p.X.Log && p.X.Unit == "s" {
		p.X.Min, p.X.Max = lo, hi // time runs from edge to edge
	}
	f.x = newScale(p.X, lo, hi, int(math.Max(3, float64(w)/45)))
	lo, hi = rangeOf(p.Series, p.Y.Log, func(s *Series) []float64 { return s.Y })
	f.y = newScale(p.Y, lo, hi, int(math.Max(2, float64(h)/25)))
	return f
}

// left is what marks and label of the vertical axis take (pt).
func (f *face) left() vg.Length {
	w := vg.Length(0)
	for _, m := range f.y.marks {
		w = max(w, yTickText.Width(m.text))
	}
	return edge + labelText.Height("M") + 6 + w + tickLen + 2
}

// draw draws the panel; left is the space that all panels of the column leave for the vertical axis.
func (f *face) draw(c draw.Canvas, left vg.Length, l *legend) {
	top := above
	if f.Title != "" {
		top = titled
	}
	in := draw.Crop(c, left, -right, below, -top)
	px := func(v float64) vg.Length { return in.X(f.x.place(v)) }
	py := func(v float64) vg.Length { return in.Y(f.y.place(v)) }
	if f.Title != "" {
		c.FillText(panelText, vg.Point{X: in.Min.X, Y: in.Max.Y + 5}, f.Title)
	}

	// grid, marks, labels
	for _, m := range f.x.marks {
		x := px(m.at)
		in.StrokeLine2(gridLine, x, in.Min.Y, x, in.Max.Y)
		c.FillText(xTickText, vg.Point{X: x, Y: in.Min.Y - tickLen - 2}, m.text)
	}
	for _, m := range f.y.marks {
		y := py(m.at)
		in.StrokeLine2(gridLine, in.Min.X, y, in.Max.X, y)
		c.FillText(yTickText, vg.Point{X: in.Min.X - tickLen - 2, Y: y}, m.text)
	}
	if !f.y.log && f.y.min < 0 && f.y.max > 0 {
		in.StrokeLine2(zeroLine, in.Min.X, py(0), in.Max.X, py(0))
	}
	if !f.x.log && f.x.min < 0 && f.x.max > 0 {
		in.StrokeLine2(zeroLine, px(0), in.Min.Y, px(0), in.Max.Y)
	}
	c.FillText(labelText, vg.Point{X: in.Center().X, Y: in.Min.Y - 17}, f.x.label)
	side := labelText
	side.Rotation = math.Pi / 2
	c.FillText(side, vg.Point{X: c.Min.X + edge, Y: in.Center().Y}, f.y.label)

	// guides lie below the curves, the first curve on top of the others
	for _, guides := range []bool{true, false} {
		for i := len(f.Series) - 1; i >= 0; i-- {
			if s := &f.Series[i]; (s.Style == Guide) == guides {
				f.curve(in, s, l)
			}
		}
	}

	// the frame covers the ends of the curves
	for _, m := range f.x.marks {
		in.StrokeLine2(frameLine, px(m.at), in.Min.Y-tickLen, px(m.at), in.Min.Y)
	}
	for _, m := range f.y.marks {
		in.StrokeLine2(frameLine, in.Min.X-tickLen, py(m.at), in.Min.X, py(m.at))
	}
	in.StrokeLines(frameLine, []vg.Point{in.Min, {X: in.Max.X, Y: in.Min.Y}, in.Max, {X: in.Min.X, Y: in.Max.Y}, in.Min})
}

// curve draws one series, cut where a number is not finite.
func (f *face) curve(in draw.Canvas, s *Series, l *legend) {
	pen := l.pen(s.Label, s.Style)
	var run []vg.Point
	flush := func() {
		switch {
		case len(run) == 0:
		case s.Style == Points:
			for _, p := range run {
				if in.Contains(p) {
					in.DrawGlyph(draw.GlyphStyle{Color: pen.Color, Radius: 2, Shape: draw.CircleGlyph{}}, p)
				}
			}
		default:
			for _, piece := range in.ClipLinesXY(thin(run)) {
				in.StrokeLines(pen, piece)
			}
		}
		run = run[:0]
	}
	for i, x := range s.X {
		u, v := f.x.place(x), f.y.place(s.Y[i])
		if math.IsNaN(u-u) || math.IsNaN(v-v) {
			flush()
			continue
		}
		run = append(run, vg.Point{X: in.X(u), Y: in.Y(v)})
	}
	flush()
}
