package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// example has two columns, five curves, a guide, dots, gaps and a curve that does not move.
func example() *Figure {
	var t, a, b, c, e []float64
	for k := range 4001 {
		s := float64(k) * 5e-3
		t = append(t, s)
		a = append(a, 20e-6*math.Sin(s))
		b = append(b, 15e-6*math.Sin(1.1*s+0.4))
		c = append(c, 0)
		e = append(e, 10e-6*math.Exp(-s/5))
	}
	e[2000] = math.NaN()
	time := Axis{Name: "time", Unit: "s"}
	return &Figure{
		Title: "A figure with Greek: ω, σ₀, µ", Note: "step 5 ms, midpoint",
		Columns: []Column{
			{Width: 1.5, Panels: []Panel{
				{X: time, Y: Axis{Name: "position", Unit: "m"}, Series: []Series{{Label: "LuGre", X: t, Y: a}, {Label: "Dahl", X: t, Y: b},
					{Label: "input", X: t, Y: e, Style: Guide}}},
				{X: time, Y: Axis{Name: "friction", Unit: "N"}, Series: []Series{{Label: "Karnopp", X: t, Y: c}}},
				{Title: "Events", X: time, Y: Axis{Name: "velocity", Unit: "m/s"},
					Series: []Series{{Label: "Dahl", X: t[:800:800], Y: b[:800]},
						{Label: "break-away", X: []float64{3, 6}, Y: []float64{0, 1e-5}, Style: Points}}},
			}},
			{Panels: []Panel{
				{X: Axis{Name: "velocity", Unit: "m/s"}, Y: Axis{Name: "friction", Unit: "N", Zero: true},
					Series: []Series{{Label: "LuGre", X: a, Y: b}}},
				{X: Axis{Name: "speed", Unit: "m/s", Log: true}, Y: Axis{Name: "friction", Unit: "N"}, Series: []Series{{Label: "Dahl", X: t, Y: a}}},
			}},
		},
	}
}

func render(t *testing.T, f *Figure, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("PLOT_DIR"); dir != "" {
		if err := os.WriteFile(dir+"/"+t.Name()+"."+format, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// A PNG decodes, has the size asked for, and holds every colour that the legend promises.
func TestPNGShowsEveryCurve(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(render(t, example(), "png")))
	if err != nil {
		t.Fatal(err)
	}
	if w := img.Bounds().Dx(); math.Abs(float64(w)-250/25.4*dpi) > 1 {
		t.Errorf("%d pixels wide, want 250 mm at %d dpi", w, dpi)
	}
	for i := range 4 {
		if n := count(img, hues[i]); n < 100 {
			t.Errorf("colour %d of the legend covers %d pixels", i, n)
		}
	}
	if n := count(img, hues[4]); n > 20 {
		t.Errorf("colour 4 belongs to no curve and covers %d pixels", n)
	}
}

func count(img image.Image, c color.RGBA) (n int) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			if uint8(r>>8) == c.R && uint8(g>>8) == c.G && uint8(b>>8) == c.B {
				n++
			}
		}
	}
	return n
}

// An SVG is well-formed XML with the texts in it, small, and names a font that every machine has.
func TestSVGIsWellFormed(t *testing.T) {
	svg := render(t, example(), "svg")
	var texts []string
	paths := 0
	for dec := xml.NewDecoder(bytes.NewReader(svg)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.CharData:
			texts = append(texts, string(tok))
		case xml.StartElement:
			if tok.Name.Local == "path" {
				paths++
			}
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"A figure with Greek: ω, σ₀, µ", "position / µm", "friction / N", "time / s", "LuGre", "input",
		"break-away", "−20"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in the figure", want)
		}
	}
	if paths < 50 {
		t.Errorf("%d paths", paths)
	}
	if len(svg) > 200_000 {
		t.Errorf("%d bytes", len(svg))
	}
	if !bytes.Contains(svg, []byte("sans-serif")) {
		t.Error("no font to fall back to")
	}
}

// The marks are round, inside the range, and there are neither too few nor too many of them for any range.
func TestMarksAreRound(t *testing.T) {
	round := func(t rapid.TB, lo, hi float64) {
		s := newScale(Axis{Name: "x", Unit: "m"}, lo, hi, 5)
		if len(s.marks) < 2 || len(s.marks) > 12 {
			t.Fatalf("%g … %g: %d marks", lo, hi, len(s.marks))
		}
		rounding := 1e-9 + 1e-15*max(math.Abs(lo), math.Abs(hi))/(hi-lo) // of a range that is small beside its ends
		for i, m := range s.marks {
			if p := s.place(m.value); p < -rounding || p > 1+rounding {
				t.Fatalf("%g … %g: mark %.16g outside by %g of the range", lo, hi, m.value, max(-p, p-1))
			}
			if i > 0 && m.text == s.marks[i-1].text {
				t.Fatalf("%g … %g: two marks read %s", lo, hi, m.text)
			}
		}
	}
	const lo, hi = 524288.0505370942, 524288.0514539214 // with its margin it ends 2e-7 before the mark 524288.0515
	round(t, lo, hi)
	round(t, -hi, -lo)
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		round(t, lo, lo+math.Pow(10, rapid.Float64Range(-5, 6).Draw(t, "width")))
	})
	if s := newScale(Axis{}, -4.3, 3.2, 4); len(s.marks) < 2 {
		t.Errorf("%d marks for −4.3 … 3.2", len(s.marks))
	}
	for _, c := range []struct {
		unit  string
		top   float64
		label string
	}{{"m", 45e-6, "x / µm"}, {"N", 1.5, "x / N"}, {"N·m/rad", 2e4, "x / kN·m/rad"}, {"m/s", 3e-3, "x / mm/s"}, {"kg", 1e-5, "x / kg"},
		{"s", 5000, "x / s"}, {"", 1e-5, "x"}, {"", 4e-9, "x / 1e−9"}, {"kg", 3e8, "x / 1e6 kg"}} {
		if s := newScale(Axis{Name: "x", Unit: c.unit}, 0, c.top, 5); s.label != c.label {
			t.Errorf("%g %s: label %q, want %q", c.top, c.unit, s.label, c.label)
		}
	}
}

// No point of the full curve lies farther from the thinned one than promised, and the ends stay.
func TestThinKeepsTheCurve(t *testing.T) {
	var full []vg.Point
	for k := range 10000 {
		s := float64(k) / 10000
		full = append(full, vg.Point{X: vg.Length(300 * math.Cos(9*s) * s), Y: vg.Length(200 * math.Sin(40*s))})
	}
	few := thin(full)
	if len(few) > len(full)/10 {
		t.Errorf("%d of %d points left", len(few), len(full))
	}
	if few[0] != full[0] || few[len(few)-1] != full[len(full)-1] {
		t.Error("an end is missing")
	}
	for k, q := range full {
		best := math.Inf(1)
		for i := 1; i < len(few); i++ {
			best = min(best, offLine(q, few[i-1], few[i]))
		}
		if best > thinTo+1e-9 {
			t.Fatalf("point %d is %g points off", k, best)
		}
	}
}

// What cannot be drawn is refused or left out; nothing panics and nothing is blank.
func TestOddFigures(t *testing.T) {
	if err := (&Figure{}).Write(io.Discard, "svg"); err == nil {
		t.Error("a figure without panels was drawn")
	}
	uneven := &Figure{Columns: Grid(1, Panel{Series: []Series{{Label: "a", X: []float64{1}, Y: nil}}})}
	if err := uneven.Write(io.Discard, "svg"); err == nil || !strings.Contains(err.Error(), `curve "a": 1 abscissas, 0 ordinates`) {
		t.Errorf("uneven curve: %v", err)
	}
	if err := example().Write(io.Discard, "gif"); err == nil {
		t.Error("gif was drawn")
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][2][]float64{{nil, nil}, {{nan}, {nan}}, {{1}, {1}}, {{0, inf, 1}, {1, 2, -inf}}, {{0, 1e300}, {-1e300, 1e-300}},
		{{1, 1, 1}, {2, 2, 2}}} {
		for _, log := range []bool{false, true} {
			f := &Figure{Columns: Grid(1, Panel{X: Axis{Unit: "m", Log: log}, Y: Axis{Unit: "s", Log: log}, Series: []Series{{X: c[0], Y: c[1]}}})}
			svg := render(t, f, "svg")
			if bytes.Contains(svg, []byte("NaN")) {
				t.Errorf("%v: NaN in the file", c)
			}
		}
	}
	if _, err := Format("out.eps"); err == nil {
		t.Error("eps was taken")
	}
	if f, err := Format("a/B.PNG"); f != "png" || err != nil {
		t.Errorf("B.PNG: %q, %v", f, err)
	}
}

// A title that is wider than the figure goes on in another line, whole, and the figure grows by it.
func TestLongTitlesAreFolded(t *testing.T) {
	f := example()
	short := bytes.Count(render(t, f, "svg"), []byte("<text"))
	words := "Seven-parameter model: stick-slip of a mass drawn over a spring, "
	f.Title = strings.TrimSpace(strings.Repeat(words, 4))
	svg := render(t, f, "svg")
	room := vg.Length(250/25.4*72) - 2*edge
	lines := fold(titleText, f.Title, room)
	if len(lines) < 2 || strings.Join(lines, " ") != f.Title {
		t.Fatalf("%q", lines)
	}
	for _, l := range lines {
		if w := titleText.Width(l); w > room {
			t.Errorf("%q is %v wide, room for %v", l, w, room)
		}
		if !bytes.Contains(svg, []byte(l)) {
			t.Errorf("%q is not drawn", l)
		}
	}
	if n := bytes.Count(svg, []byte("<text")); n != short+len(lines)-1 {
		t.Errorf("%d texts, want %d", n, short+len(lines)-1)
	}
}

// A logarithmic axis of any range has at least two marks, all within it.
func TestLogMarks(t *testing.T) {
	for _, r := range [][2]float64{{0.0079, 0.0109}, {1, 1.001}, {3, 4}, {2.1e-7, 2.3e-7}, {1e-9, 1e9}, {4, 60}, {0.9, 11}} {
		s := newScale(Axis{Log: true, Min: r[0], Max: r[1]}, r[0], r[1], 5)
		texts := map[string]bool{}
		for _, m := range s.marks {
			if texts[m.text] = true; m.value < r[0]*(1-1e-9) || m.value > r[1]*(1+1e-9) {
				t.Errorf("%v: mark %g", r, m.value)
			}
		}
		if len(s.marks) < 2 || len(s.marks) > 12 || len(texts) != len(s.marks) {
			t.Errorf("%v: %v", r, s.marks)
		}
	}
}
