package plot

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// face is a panel with its axes laid out.
type face struct {
	Panel
	x, y   scale
	side   []string  // label of the vertical axis in lines
	upward vg.Length // pt of names of marks of the horizontal axis that are too long to stand side by side and stand upright; 0: they do not
}

const (
	xAxisHeight    = vg.Length(33) // pt for marks and label of the horizontal axis
	untitledMargin = vg.Length(6)  // pt without a title
	titledMargin   = vg.Length(19) // pt with one
	right          = vg.Length(12) // pt
	tickLen        = vg.Length(3)  // pt
	sideRow        = vg.Length(9)  // pt between two lines of the label of the vertical axis
)

func newFace(p Panel, w, h vg.Length) face {
	f := face{Panel: p}
	lo, hi := rangeOf(p.Series, p.X.Log, func(s *Series) []float64 { return s.X })
	if lo < hi && p.X.Min == 0 && p.X.Max == 0 && !p.X.Log && p.X.Unit == "s" {
		p.X.Min, p.X.Max = lo, hi // time runs from edge to edge
	}
	f.x = newScale(p.X, lo, hi, int(math.Max(3, float64(w)/45)))
	lo, hi = rangeOf(p.Series, p.Y.Log, func(s *Series) []float64 { return slices.Concat(s.Y, s.Lower) })
	f.y = newScale(p.Y, lo, hi, int(math.Max(2, float64(h)/25)))
	top := untitledMargin
	if p.Title != "" {
		top = titledMargin
	}
	const together = " /\u00a0" // the unit stays with its stroke
	for _, line := range fold(labelText, strings.ReplaceAll(f.y.label, " / ", together), h-xAxisHeight-top) {
		f.side = append(f.side, strings.ReplaceAll(line, "/\u00a0", "/ "))
	}
	widest := vg.Length(0)
	for _, m := range f.x.marks {
		widest = max(widest, xTickText.Width(m.text)+3)
	}
	if n := len(p.X.Names); n > 0 && widest > (w-f.yAxisWidth()-right)/vg.Length(n) {
		f.upward = widest
	}
	return f
}

// yAxisWidth is what marks and label of the vertical axis take (pt).
func (f *face) yAxisWidth() vg.Length {
	w := vg.Length(0)
	for _, m := range f.y.marks {
		w = max(w, yTickText.Width(m.text))
	}
	return edge + labelText.Height("M") + vg.Length(max(1, len(f.side))-1)*sideRow + 6 + w + tickLen + 2
}

// equalise widens the range of one axis until a unit is as long on both; w and h (pt) are those of the area.
func (f *face) equalise(w, h float64) {
	span := max((f.x.max-f.x.min)/w, (f.y.max-f.y.min)/h) / 2 // half a unit of data per pt
	widen := func(a Axis, s *scale, size float64, every float64) {
		mid := (s.min + s.max) / 2
		a.Min, a.Max = mid-span*size, mid+span*size
		*s = newScale(a, a.Min, a.Max, int(max(2, size/every)))
	}
	widen(f.X, &f.x, w, 45)
	widen(f.Y, &f.y, h, 25)
}

// draw draws the panel; left is the space that all panels of the column leave for the vertical axis.
func (f *face) draw(c draw.Canvas, left vg.Length, l *legend) {
	top := untitledMargin
	if f.Title != "" {
		top = titledMargin
	}
	in := draw.Crop(c, left, -right, xAxisHeight+f.upward, -top)
	if f.Equal {
		f.equalise(float64(in.Size().X), float64(in.Size().Y))
	}
	px := func(v float64) vg.Length { return in.X(f.x.place(v)) }
	py := func(v float64) vg.Length { return in.Y(f.y.place(v)) }
	if f.Title != "" {
		c.FillText(panelText, vg.Point{X: in.Min.X, Y: in.Max.Y + 5}, f.Title)
	}

	// grid, marks, labels
	for _, m := range f.x.marks {
		x := px(m.value)
		in.StrokeLine2(gridLine, x, in.Min.Y, x, in.Max.Y)
		name := xTickText
		if f.upward > 0 {
			name.Rotation, name.XAlign, name.YAlign = math.Pi/2, text.XRight, text.YCenter
		}
		c.FillText(name, vg.Point{X: x, Y: in.Min.Y - tickLen - 2}, m.text)
	}
	for _, m := range f.y.marks {
		y := py(m.value)
		in.StrokeLine2(gridLine, in.Min.X, y, in.Max.X, y)
		c.FillText(yTickText, vg.Point{X: in.Min.X - tickLen - 2, Y: y}, m.text)
	}
	if !f.y.log && f.y.min < 0 && f.y.max > 0 {
		in.StrokeLine2(zeroLine, in.Min.X, py(0), in.Max.X, py(0))
	}
	if !f.x.log && f.x.min < 0 && f.x.max > 0 {
		in.StrokeLine2(zeroLine, px(0), in.Min.Y, px(0), in.Max.Y)
	}
	c.FillText(labelText, vg.Point{X: in.Center().X, Y: in.Min.Y - 17 - f.upward}, f.x.label)
	side := labelText
	side.Rotation = math.Pi / 2
	for i, s := range f.side {
		c.FillText(side, vg.Point{X: c.Min.X + edge + vg.Length(i)*sideRow, Y: in.Center().Y}, s)
	}

	// areas and guides lie below the curves, the first curve on top of the others
	for _, layer := range [][]Style{{Band, Bars, Cells}, {Guide}, {Line, Points}} {
		for i := len(f.Series) - 1; i >= 0; i-- {
			if s := &f.Series[i]; slices.Contains(layer, s.Style) {
				f.curve(in, s, l)
			}
		}
	}

	// the frame covers the ends of the curves
	for _, m := range f.x.marks {
		in.StrokeLine2(frameLine, px(m.value), in.Min.Y-tickLen, px(m.value), in.Min.Y)
	}
	for _, m := range f.y.marks {
		in.StrokeLine2(frameLine, in.Min.X-tickLen, py(m.value), in.Min.X, py(m.value))
	}
	in.StrokeLines(frameLine, []vg.Point{in.Min, {X: in.Max.X, Y: in.Min.Y}, in.Max, {X: in.Min.X, Y: in.Max.Y}, in.Min})
}

// curve draws one series, cut where a number is not finite.
func (f *face) curve(in draw.Canvas, s *Series, l *legend) {
	pen := l.pen(s.Label, s.Style)
	px := func(v float64) vg.Length { return in.X(min(max(f.x.place(v), 0), 1)) }
	py := func(v float64) vg.Length { return in.Y(min(max(f.y.place(v), 0), 1)) }
	box := func(c color.Color, x0, x1, y0, y1 float64) {
		if l, r, b, t := px(x0), px(x1), py(y0), py(y1); r > l && t != b {
			in.FillPolygon(c, []vg.Point{{X: l, Y: b}, {X: r, Y: b}, {X: r, Y: t}, {X: l, Y: t}})
		}
	}
	switch s.Style {
	case Bars:
		wide := 0.4
		if len(s.X) > 1 {
			wide *= s.X[1] - s.X[0]
		}
		for i, x := range s.X {
			box(shade(pen.Color, 0.65), x-wide, x+wide, 0, s.Y[i])
		}
		return
	case Cells:
		for i, x := range s.X {
			hue := hues[0]
			if s.Z[i] < 0 {
				hue = hues[1]
			}
			box(shade(hue, 0.6*math.Min(math.Abs(s.Z[i]), 1)), x-0.48, x+0.48, s.Y[i]-0.48, s.Y[i]+0.48)
			in.FillText(cellText, vg.Point{X: px(x), Y: py(s.Y[i])}, number(s.Z[i], 2))
		}
		return
	case Band: // up along one edge, back along the other, apart where a number is missing
		for from := 0; from < len(s.X); {
			to := from
			for to < len(s.X) && !math.IsNaN(s.X[to]-s.X[to]+s.Y[to]-s.Y[to]+s.Lower[to]-s.Lower[to]) {
				to++
			}
			var edge []vg.Point
			for i := from; i < to; i++ {
				edge = append(edge, vg.Point{X: px(s.X[i]), Y: py(s.Y[i])})
			}
			for i := to - 1; i >= from; i-- {
				edge = append(edge, vg.Point{X: px(s.X[i]), Y: py(s.Lower[i])})
			}
			if len(edge) > 2 {
				in.FillPolygon(shade(pen.Color, 0.22), edge)
			}
			from = to + 1
		}
		return
	}
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
			for _, piece := range in.ClipLinesXY(thin(sliced(run))) {
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
