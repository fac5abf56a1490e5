// Package plot draws the figures of the program: panels of curves with axes in SI units, one legend for all of them, as SVG,
// PDF or PNG, as SVG for a page with its own colours, and as text for a terminal.
//
// A Figure is columns of panels, a Panel has two axes and curves. Curves with the same label share a colour through the
// whole figure and stand in the legend once. Axes choose a round range and an SI prefix of their own: positions of some
// 1e-5 m are labelled in µm. The colours are those of [OI08], which people with any of the common colour blindnesses can
// tell apart; more than seven curves are told apart by dashes too.
//
// Assumed: a curve is a polyline. Points that are not finite interrupt it. Before it is drawn it is thinned to what the
// eye can see, so a file stays small however long the run was.
package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is what one file shows.
type Figure struct {
	Title   string
	Note    string // small print below the title
	Columns []Column
	Width   float64 // mm, 0: from the columns
	Height  float64 // mm, 0: from the panels
}

// Column is a stack of panels of equal height.
type Column struct {
	Width  float64 // weight among the columns, 0: 1
	Panels []Panel
}

// Panel is one pair of axes.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []Series
	Equal  bool // a unit is as long on both axes: the range of one is widened
}

// Axis is one axis of a panel. Values are in Unit; the axis may show them with an SI prefix.
type Axis struct {
	Name     string   // "velocity"
	Unit     string   // "m/s"; empty: a pure number
	Min, Max float64  // both 0: from the curves
	Log      bool     // logarithmic; numbers ≤ 0 interrupt the curve
	Zero     bool     // zero is part of the range
	Names    []string // marks at 1, 2, 3, … in place of numbers
}

// Series is one curve. X, Y and what else its style wants are of equal length.
type Series struct {
	Label string // in the legend; empty: in no legend
	X, Y  []float64
	Lower []float64 // Band: its lower edge
	Z     []float64 // Cells: −1 … 1
	Style Style
}

// Style is how a curve is drawn.
type Style uint8

const (
	Line   Style = iota // a coloured line
	Guide               // a thin grey dashed line for what the curves are compared with: the input, a closed form
	Points              // coloured dots
	Bars                // from zero to Y, centred on evenly spaced X
	Band                // the area between Lower and Y
	Cells               // squares of size one around X, Y, coloured by the sign and the size of Z, which stands in them
)

// Grid arranges panels row by row in n columns of equal width.
func Grid(n int, panels ...Panel) []Column {
	cols := make([]Column, n)
	for i, p := range panels {
		cols[i%n].Panels = append(cols[i%n].Panels, p)
	}
	return cols
}

// Format tells the format of a file by its name: "svg", "pdf" or "png".
func Format(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg", ".pdf", ".png":
		return ext[1:], nil
	default:
		return "", fmt.Errorf("%s: a figure ends in .svg, .pdf or .png", path)
	}
}

const (
	columnWidth = 125.0 // mm
	panelHeight = 56.0  // mm
	dpi         = 160
)

// size is the size of the figure.
func (f *Figure) size(head vg.Length) (w, h vg.Length) {
	rows := 1
	for _, c := range f.Columns {
		rows = max(rows, len(c.Panels))
	}
	w, h = vg.Length(f.Width)*vg.Millimeter, vg.Length(f.Height)*vg.Millimeter
	if w == 0 {
		w = vg.Length(columnWidth*float64(max(len(f.Columns), 1))) * vg.Millimeter
	}
	if h == 0 {
		n := float64(rows)
		if rows == 1 {
			n = 1.4 // a single panel may be taller
		}
		h = vg.Length(panelHeight*n)*vg.Millimeter + head
	}
	return w, h
}

// check tells what cannot be drawn.
func (f *Figure) check() error {
	if len(f.Columns) == 0 {
		return fmt.Errorf("figure %q has no panels", f.Title)
	}
	for _, c := range f.Columns {
		for _, p := range c.Panels {
			for _, s := range p.Series {
				if len(s.X) != len(s.Y) {
					return fmt.Errorf("figure %q, curve %q: %d abscissas, %d ordinates", f.Title, s.Label, len(s.X), len(s.Y))
				}
				if s.Style == Band && len(s.Lower) != len(s.Y) || s.Style == Cells && len(s.Z) != len(s.Y) {
					return fmt.Errorf("figure %q, curve %q: a band needs Lower, cells need Z, as long as the rest", f.Title, s.Label)
				}
			}
		}
	}
	return nil
}

// Write draws the figure as "svg", "pdf" or "png", or as "inline": SVG as a part of an HTML page, whose style sheet may give it
// colours, see Variables.
func (f *Figure) Write(out io.Writer, format string) error {
	if err := f.check(); err != nil {
		return err
	}
	legend := newLegend(f)
	w, _ := f.size(0)
	head := f.head(legend, w)
	w, h := f.size(head)

	switch format {
	case "svg", "inline":
		c := vgsvg.New(w, h)
		f.draw(draw.New(c), legend, head)
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return fmt.Errorf("figure: %w", err)
		}
		// machines without the font take one of the same widths
		svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
			[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
		if format == "inline" {
			svg = themed(svg, f.Title)
		}
		_, err := out.Write(svg)
		return err
	case "pdf":
		c := outlined{vgpdf.New(w, h)}
		f.draw(draw.New(c), legend, head)
		_, err := c.WriteTo(out)
		return err
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
		f.draw(draw.New(c), legend, head)
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(out)
		return err
	}
	return fmt.Errorf("figure: format %q, want svg, pdf, png or inline", format)
}
