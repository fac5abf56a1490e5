package plot

import (
	"cmp"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend is the labels of a figure in the order in which they appear, guides last.
type legend struct {
	entries []entry
	hue     map[string]int
}

type entry struct {
	label string
	style Style
}

func newLegend(f *Figure) *legend {
	l := &legend{hue: map[string]int{}}
	var guides []entry
	seen := map[string]bool{}
	for _, c := range f.Columns {
		for _, p := range c.Panels {
			for _, s := range p.Series {
				switch {
				case s.Label == "" || seen[s.Label]:
				case s.Style == Guide:
					seen[s.Label] = true
					guides = append(guides, entry{s.Label, Guide})
				default:
					seen[s.Label] = true
					l.hue[s.Label] = len(l.hue)
					l.entries = append(l.entries, entry{s.Label, s.Style})
				}
			}
		}
	}
	l.entries = append(l.entries, guides...)
	return l
}

// pen is how a curve is drawn.
func (l *legend) pen(label string, style Style) draw.LineStyle {
	if style == Guide {
		return guideLine
	}
	return penOf(l.hue[label])
}

const (
	edge     = vg.Length(8)  // pt around everything
	titleRow = vg.Length(17) // pt between two lines of the title
	noteRow  = vg.Length(13) // pt between two lines of the small print
	rowOf    = vg.Length(14) // pt between two lines of the legend
	sampleOf = vg.Length(20) // pt of line before a label
	gapOf    = vg.Length(16) // pt between two entries
)

// fold breaks a text between words into lines of width w; a word that is longer stands alone.
func fold(style draw.TextStyle, s string, w vg.Length) []string {
	var lines []string
	for _, word := range strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || c == '\n' || c == '\t' }) {
		if n := len(lines); n > 0 && style.Width(lines[n-1]+" "+word) <= w {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// rows lays the legend out in lines of width w: the x of every entry and its line.
func (l *legend) rows(w vg.Length) (xs []vg.Length, line []int, n int) {
	x := vg.Length(0)
	for _, e := range l.entries {
		width := sampleOf + 4 + entryText.Width(e.label)
		if x > 0 && x+width > w {
			x, n = 0, n+1
		}
		xs, line = append(xs, x), append(line, n)
		x += width + gapOf
	}
	if len(l.entries) > 0 {
		n++
	}
	return xs, line, n
}

// head is the height of title, note and legend.
func (f *Figure) head(l *legend, w vg.Length) vg.Length {
	h := edge + titleRow*vg.Length(len(fold(titleText, f.Title, w-2*edge))) + noteRow*vg.Length(len(fold(noteText, f.Note, w-2*edge)))
	if _, _, n := l.rows(w - 2*edge); n > 0 {
		h += vg.Length(n)*rowOf + 4
	}
	return h
}

// draw puts everything on the canvas; head is the height of what stands above the panels.
func (f *Figure) draw(c draw.Canvas, l *legend, head vg.Length) {
	y, room := c.Max.Y-edge, c.Max.X-c.Min.X-2*edge
	for _, s := range fold(titleText, f.Title, room) {
		c.FillText(titleText, vg.Point{X: c.Min.X + edge, Y: y}, s)
		y -= titleRow
	}
	for _, s := range fold(noteText, f.Note, room) {
		c.FillText(noteText, vg.Point{X: c.Min.X + edge, Y: y}, s)
		y -= noteRow
	}
	xs, line, _ := l.rows(room)
	for i, e := range l.entries {
		p := vg.Point{X: c.Min.X + edge + xs[i], Y: y - rowOf*(vg.Length(line[i])+0.6)}
		pen := l.pen(e.label, e.style)
		switch e.style {
		case Bars, Band:
			c.FillPolygon(shade(pen.Color, map[Style]float64{Bars: 0.65, Band: 0.22}[e.style]),
				[]vg.Point{{X: p.X, Y: p.Y - 3}, {X: p.X + sampleOf, Y: p.Y - 3}, {X: p.X + sampleOf, Y: p.Y + 3}, {X: p.X, Y: p.Y + 3}})
		case Points:
			c.DrawGlyph(draw.GlyphStyle{Color: pen.Color, Radius: 2.4, Shape: draw.CircleGlyph{}}, vg.Point{X: p.X + sampleOf/2, Y: p.Y})
		default:
			pen.Width *= 1.6
			c.StrokeLine2(pen, p.X, p.Y, p.X+sampleOf, p.Y)
		}
		c.FillText(entryText, vg.Point{X: p.X + sampleOf + 4, Y: p.Y}, e.label)
	}

	// the columns side by side by their weights
	weights := 0.0
	for _, col := range f.Columns {
		weights += cmp.Or(col.Width, 1)
	}
	c.Max.Y -= head
	left, width := c.Min.X, c.Max.X-c.Min.X
	for _, col := range f.Columns {
		w := width * vg.Length(cmp.Or(col.Width, 1)/weights)
		drawColumn(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: left, Y: c.Min.Y},
			Max: vg.Point{X: left + w, Y: c.Max.Y}}}, col, l)
		left += w
	}
}

// drawColumn stacks the panels with their vertical axes aligned.
func drawColumn(c draw.Canvas, col Column, l *legend) {
	if len(col.Panels) == 0 {
		return
	}
	h := (c.Max.Y - c.Min.Y) / vg.Length(len(col.Panels))
	faces := make([]face, len(col.Panels))
	wide := vg.Length(0)
	for i, p := range col.Panels {
		faces[i] = newFace(p, c.Max.X-c.Min.X, h)
		wide = max(wide, faces[i].yAxisWidth())
	}
	for i := range faces {
		top := c.Max.Y - vg.Length(i)*h
		faces[i].draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: c.Min.X, Y: top - h}, Max: vg.Point{X: c.Max.X, Y: top}}}, wide, l)
	}
}

// rangeOf is the range of the finite numbers of one coordinate over all curves.
func rangeOf(series []Series, log bool, of func(*Series) []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range series {
		for _, v := range of(&series[i]) {
			if v-v == 0 && !(log && v <= 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}
