package plot

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
	"gonum.org/v1/plot/vg"
)

// Terminal is what a figure is drawn on as text.
type Terminal struct {
	Width int  // columns
	Color bool // it understands colours
}

// TerminalOf is that behind w; where w is none, 80 columns without colours.
func TerminalOf(w io.Writer) Terminal {
	if f, ok := w.(*os.File); ok {
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
			return Terminal{cols, os.Getenv("NO_COLOR") == ""}
		}
	}
	return Terminal{Width: 80}
}

const (
	textRows = 12 // of a panel
	minCols  = 20
	maxCols  = 140
)

// Text draws the figure with braille dots, 2 × 4 to a letter, one panel below the other.
func (f *Figure) Text(out io.Writer, t Terminal) error {
	if err := f.check(); err != nil {
		return err
	}
	w, l := bufio.NewWriter(out), newLegend(f)
	for _, s := range []string{f.Title, f.Note} {
		if s != "" {
			fmt.Fprintln(w, s)
		}
	}
	for _, e := range l.entries {
		sign := map[Style]string{Line: "──", Guide: "┄┄", Points: "●", Bars: "██", Band: "░░"}[e.style]
		fmt.Fprintf(w, "  %s %s", t.paint(sign, l.ink(e.label, e.style)), e.label)
	}
	if len(l.entries) > 0 {
		fmt.Fprintln(w)
	}
	for _, c := range f.Columns {
		for _, p := range c.Panels {
			if len(p.Series) > 0 && p.Series[0].Style == Cells {
				textCells(w, &p, t)
			} else {
				textPanel(w, p, l, t)
			}
		}
	}
	return w.Flush()
}

// ink is the number of the colour of a curve; −1: that of guides.
func (l *legend) ink(label string, style Style) int {
	if style == Guide {
		return -1
	}
	return l.hue[label] % len(hues)
}

// paint colours a text.
func (t Terminal) paint(s string, hue int) string {
	switch {
	case !t.Color || hue == len(hues)-1: // the last is the letters' own
		return s
	case hue < 0:
		return "\x1b[90m" + s + "\x1b[0m"
	}
	c := hues[hue]
	return fmt.Sprintf("\x1b[38;2;%d;%d;%dm%s\x1b[0m", c.R, c.G, c.B, s)
}

// dots are a panel at work: bits of braille, and whose they are.
type dots struct {
	cols, rows int
	bits       []byte
	hue        []int
}

// braille are the bits of the dots of a letter, by row and column.
var braille = [4][2]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// set marks the dot at x from the left and y from the bottom.
func (d *dots) set(x, y, hue int) {
	y = 4*d.rows - 1 - y
	if x < 0 || y < 0 || x >= 2*d.cols || y >= 4*d.rows {
		return
	}
	k := y/4*d.cols + x/2
	d.bits[k] |= braille[y%4][x%2]
	d.hue[k] = hue
}

// line marks every dot between two; every other n-th where it is dashed.
func (d *dots) line(x0, y0, x1, y1 float64, hue, every int) {
	n := int(math.Max(math.Abs(x1-x0), math.Abs(y1-y0))) + 1
	for i := 0; i <= n; i++ {
		x, y := x0+(x1-x0)*float64(i)/float64(n), y0+(y1-y0)*float64(i)/float64(n)
		if every > 1 && int(x+y)%every != 0 {
			continue
		}
		d.set(int(math.Floor(x)), int(math.Floor(y)), hue)
	}
}

// textPanel draws one pair of axes.
func textPanel(w io.Writer, p Panel, l *legend, t Terminal) {
	cols := min(max(t.Width-12, minCols), maxCols)
	f := newFace(p, vg.Length(6*cols), vg.Length(12*textRows))
	d := &dots{cols: cols, rows: textRows, bits: make([]byte, cols*textRows), hue: make([]int, cols*textRows)}
	wide, high := float64(2*cols-1), float64(4*textRows-1)
	px := func(v float64) float64 { return f.x.place(v) * wide }
	py := func(v float64) float64 { return f.y.place(v) * high }
	const far = 1e4 // dots, beyond which nothing is drawn
	seen := func(v float64) bool { return v > -far && v < far }
	for _, layer := range [][]Style{{Band}, {Bars}, {Guide}, {Points}, {Line}} {
		for i := len(p.Series) - 1; i >= 0; i-- {
			s := &p.Series[i]
			if s.Style != layer[0] {
				continue
			}
			hue := l.ink(s.Label, s.Style)
			for k := range s.X {
				x, y := px(s.X[k]), py(s.Y[k])
				if !seen(x) || !seen(y) {
					continue
				}
				switch s.Style {
				case Band:
					if lo := py(s.Lower[k]); seen(lo) {
						for at := math.Ceil(lo); at <= y; at++ {
							if int(at)%2 == int(x)%2 {
								d.set(int(x), int(at), hue)
							}
						}
					}
				case Bars:
					half := 0.0
					if len(s.X) > 1 {
						half = math.Max(0, 0.4*(px(s.X[1])-px(s.X[0]))-0.5)
					}
					for at := math.Max(0, math.Min(y, py(0))); at <= math.Max(y, py(0)) && at <= high; at++ {
						d.line(x-half, at, x+half, at, hue, 1)
					}
				case Points:
					d.line(x-1, y, x+1, y, hue, 1)
					d.set(int(x), int(y)+1, hue)
					d.set(int(x), int(y)-1, hue)
				default:
					every := 1
					if s.Style == Guide {
						every = 3
					}
					x0, y0 := x, y
					if k > 0 && seen(px(s.X[k-1])) && seen(py(s.Y[k-1])) {
						x0, y0 = px(s.X[k-1]), py(s.Y[k-1])
					}
					d.line(x0, y0, x, y, hue, every)
				}
			}
		}
	}

	// rows with the marks of the vertical axis, then those of the horizontal one
	left := map[int]string{}
	for _, m := range f.y.marks {
		left[textRows-1-int(py(m.value))/4] = m.text
	}
	for _, s := range []string{p.Title, f.y.label} {
		if s != "" {
			fmt.Fprintf(w, "  %s\n", s)
		}
	}
	for r := range textRows {
		tick := "│"
		if left[r] != "" {
			tick = "┤"
		}
		fmt.Fprintf(w, "%9s %s", left[r], tick)
		for c := range cols {
			k := r*cols + c
			if d.bits[k] == 0 {
				fmt.Fprint(w, " ")
				continue
			}
			fmt.Fprint(w, t.paint(string(rune(0x2800+int(d.bits[k]))), d.hue[k]))
		}
		fmt.Fprintln(w)
	}
	below := []rune(strings.Repeat(" ", 11+cols+12))
	for _, m := range f.x.marks {
		at := 11 + int(px(m.value))/2 - utf8.RuneCountInString(m.text)/2
		for i, c := range []rune(m.text) {
			if k := at + i; k >= 0 && k < len(below) {
				below[k] = c
			}
		}
	}
	fmt.Fprintf(w, "%10s└%s\n%s\n%*s\n", "", strings.Repeat("─", cols), strings.TrimRight(string(below), " "),
		11+(cols+utf8.RuneCountInString(f.x.label))/2, f.x.label)
}

// textCells writes cells as a table of their numbers.
func textCells(w io.Writer, p *Panel, t Terminal) {
	const cell = 7
	s := &p.Series[0]
	at := map[[2]int]float64{}
	for k, z := range s.Z {
		at[[2]int{int(s.X[k]), int(s.Y[k])}] = z
	}
	name := func(n string) string {
		if r := []rune(n); len(r) > cell-1 {
			return string(r[:cell-1])
		}
		return n
	}
	fmt.Fprintf(w, "%10s", "")
	for _, n := range p.X.Names {
		fmt.Fprintf(w, "%*s", cell, name(n))
	}
	fmt.Fprintln(w)
	for y := len(p.Y.Names); y > 0; y-- {
		fmt.Fprintf(w, "%10s", p.Y.Names[y-1])
		for x := range p.X.Names {
			z := at[[2]int{x + 1, y}]
			hue := len(hues) - 1
			if math.Abs(z) > 0.5 {
				hue = map[bool]int{true: 1, false: 0}[z < 0]
			}
			fmt.Fprint(w, t.paint(fmt.Sprintf("%*s", cell, number(z, 2)), hue))
		}
		fmt.Fprintln(w)
	}
}
