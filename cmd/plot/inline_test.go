package plot

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"hilrig/engine/peer"
)

// judged has a figure of every style that a report of a fit needs.
func judged() *Figure {
	n := 5
	cells := Series{Style: Cells}
	for i := range n {
		for k := range n {
			cells.X, cells.Y, cells.Z = append(cells.X, float64(k+1)), append(cells.Y, float64(n-i)), append(cells.Z, 1-0.4*math.Abs(float64(i-k)))
		}
	}
	x, y, low := []float64{-2, -1, 0, 1, 2}, []float64{1, 2, math.NaN(), 4, 5}, []float64{0, 1, 1, 3, 4}
	names := []string{"M", "σ₀", "Fc", "Fs", "vs"}
	axis := Axis{Min: 0.5, Max: 5.5, Names: names}
	return &Figure{Title: `"<M> & σ₀"`, Columns: Grid(1,
		Panel{X: Axis{Name: "velocity", Unit: "m/s"}, Y: Axis{Name: "friction", Unit: "N"},
			Series: []Series{{Label: "model", X: x, Y: y}, {Label: "band", X: x, Y: y, Lower: low, Style: Band}}},
		Panel{X: Axis{Name: "residual", Unit: "N"}, Y: Axis{Name: "rows"},
			Series: []Series{{Label: "rows", X: x, Y: []float64{1, 3, 5, 3, -1}, Style: Bars}}},
		Panel{X: axis, Y: axis, Series: []Series{cells}})}
}

// An inline figure is well-formed XML without a head, its colours are variables with a fallback, and its name is safe in a page.
func TestInlineFollowsThePage(t *testing.T) {
	svg := render(t, judged(), "inline")
	for dec := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	text := string(svg)
	if !strings.HasPrefix(text, "<svg ") || !strings.Contains(text, `viewBox="0 0 `) ||
		regexp.MustCompile(`<svg[^>]* width=`).MatchString(text) || !strings.Contains(text, `aria-label="&#34;&lt;M&gt; &amp; σ₀&#34;"`) {
		t.Errorf("head %.200s", text)
	}
	for _, name := range []string{"--plot-1", "--plot-2", "--plot-ink", "--plot-grid", "--plot-frame"} {
		if !strings.Contains(text, "var("+name+",#") {
			t.Errorf("no colour follows %s", name)
		}
	}
	if rest := regexp.MustCompile(`[^,]#[0-9A-F]{6}`).FindString(text); rest != "" {
		t.Errorf("a colour that no page can change: %s", rest)
	}
	if len(Variables()) != 12 {
		t.Errorf("%d variables", len(Variables()))
	}
}

// Areas are drawn: a bar from zero to its value, a band between its edges and not where a number is missing, a cell by its sign.
func TestAreasAreDrawn(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(render(t, judged(), "png")))
	if err != nil {
		t.Fatal(err)
	}
	// translucent on white, as the eye sees it
	for name, c := range map[string][4]uint8{"bars": {203, 121, 167, 0}, "positive cell": {0, 114, 178, 0}, "negative cell": {213, 94, 0, 0}} {
		strength := map[string]float64{"bars": 0.65, "positive cell": 0.6, "negative cell": 0.6 * 0.6}[name]
		if name == "bars" {
			c = [4]uint8{0, 158, 115, 0} // the third label
		}
		n := 0
		want := func(v uint8) float64 { return 255 - strength*(255-float64(v)) }
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, _ := img.At(x, y).RGBA()
				if math.Abs(float64(r>>8)-want(c[0])) < 3 && math.Abs(float64(g>>8)-want(c[1])) < 3 && math.Abs(float64(b>>8)-want(c[2])) < 3 {
					n++
				}
			}
		}
		if n < 300 {
			t.Errorf("%s: %d pixels", name, n)
		}
	}
	if err := (&Figure{Columns: Grid(1, Panel{Series: []Series{{X: []float64{1}, Y: []float64{1}, Style: Band}}})}).Write(io.Discard,
		"svg"); err == nil {
		t.Error("a band without its lower edge was drawn")
	}
}

// A PDF is one that a viewer of its own can draw, with letters in it that no font of a PDF has, and in the colours of the PNG.
func TestPDFDraws(t *testing.T) {
	tool := peer.Program(t, "pdftoppm", "poppler-utils")
	dir := t.TempDir()
	file := filepath.Join(dir, "figure.pdf")
	if err := os.WriteFile(file, render(t, judged(), "pdf"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "-r", "160", "-png", "-singlefile", file, filepath.Join(dir, "page")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "page.png"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	own, _ := png.Decode(bytes.NewReader(render(t, judged(), "png")))
	differ, n := 0, 0
	for y := range min(own.Bounds().Dy(), page.Bounds().Dy()) {
		for x := range min(own.Bounds().Dx(), page.Bounds().Dx()) {
			a, _, _, _ := own.At(x, y).RGBA()
			b, _, _, _ := page.At(x, y).RGBA()
			if n++; math.Abs(float64(a>>8)-float64(b>>8)) > 60 {
				differ++
			}
		}
	}
	if share := float64(differ) / float64(n); share > 0.02 { // edges of letters and lines
		t.Errorf("%.1f %% of the pixels differ from the PNG", 100*share)
	}
}

// What a slice leaves of a noisy curve keeps its extremes where they are, and a curve that is no function is left alone.
func TestSlicesKeepExtremes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var p []vg.Point
	for k := range 50000 {
		p = append(p, vg.Point{X: vg.Length(k) * 300 / 50000, Y: vg.Length(rng.NormFloat64())})
	}
	few := sliced(p)
	if float64(len(few)) > 4*(300/slice+1) {
		t.Errorf("%d points left", len(few))
	}
	for from := 0; from < len(p); from += 1000 {
		lo, hi, lo2, hi2 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
		for _, q := range p[from : from+1000] {
			lo, hi = min(lo, float64(q.Y)), max(hi, float64(q.Y))
		}
		for _, q := range few {
			if q.X >= p[from].X && q.X <= p[from+999].X {
				lo2, hi2 = min(lo2, float64(q.Y)), max(hi2, float64(q.Y))
			}
		}
		if lo != lo2 || hi != hi2 {
			t.Fatalf("from %d: %g … %g became %g … %g", from, lo, hi, lo2, hi2)
		}
	}
	loop := []vg.Point{{X: 0}, {X: 1, Y: 1}, {X: 0.1, Y: 2}, {X: 1, Y: 1}}
	if len(sliced(loop)) != 4 {
		t.Error("a loop was thinned")
	}
}

// In a terminal a curve is where its axes say, and nothing is wider than the terminal.
func TestTextShowsTheCurve(t *testing.T) {
	f := &Figure{Columns: Grid(1, Panel{X: Axis{Name: "time", Unit: "s", Min: 0, Max: 10}, Y: Axis{Name: "force", Unit: "N", Min: 0, Max: 10},
		Series: []Series{{Label: "ramp", X: []float64{0, 10}, Y: []float64{0, 10}}}})}
	var b bytes.Buffer
	if err := f.Text(&b, Terminal{Width: 60}); err != nil {
		t.Fatal(err)
	}
	var rows [][]rune
	for l := range strings.Lines(b.String()) {
		l = strings.TrimRight(l, "\n")
		if n := len([]rune(l)); n > 60 {
			t.Errorf("%d columns: %q", n, l)
		}
		if i := strings.IndexAny(l, "│┤"); i >= 0 {
			rows = append(rows, []rune(l)[11:])
		}
	}
	if len(rows) != textRows || !strings.Contains(b.String(), "ramp") || !strings.Contains(b.String(), "force / N") ||
		!strings.Contains(b.String(), "time / s") {
		t.Fatalf("%d rows:\n%s", len(rows), b.String())
	}
	for i, r := range rows {
		at := float64(strings.IndexFunc(string(r), func(c rune) bool { return c > 0x2800 && c < 0x2900 })) // spaces before it are one byte each
		if want := float64(48*(textRows-1-i)) / textRows; math.Abs(at-want) > 1.5 {
			t.Errorf("row %d: the ramp begins at %g, want %g", i, at, want)
		}
	}
	b.Reset()
	if err := judged().Text(&b, Terminal{Width: 60, Color: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "−0.60") || !strings.Contains(b.String(), "\x1b[38;2;213;94;0m") {
		t.Errorf("cells without their numbers or colours:\n%s", b.String())
	}
}
