package fitreport

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/peer"
	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

var shots = flag.String("shots", "", "folder for screenshots of the report in all its sizes; empty: none")

// slide is a record of a mass on LuGre friction, integrated apart.
func slide(seed uint64) *record.Record {
	ax := &independent.Axis{M: 1, Friction: independent.Friction{Sigma0: 1e4, Sigma1: 100, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05}}
	tr := ax.Simulate(independent.Run{Dt: 1e-3, N: 4000, Force: independent.Sines(seed, []float64{1.5, 1.2, 0.9}, []float64{0.7, 1.9, 5.3}),
		Intersample: independent.Held})
	d := tr.Record(independent.Sensors{Position: 1e-6, Velocity: 2e-4, Seed: seed}, nil)
	d.File, d.SHA256 = fmt.Sprintf("slide<%d>.csv", seed), strings.Repeat("0123456789abcdef", 4)
	return d
}

// fits are a descent with a bristle, with draws, resampling and a second record, and a regression of the same record.
var fits = sync.OnceValue(func() []identify.Ranked {
	recs := identify.Records{Fit: []*record.Record{slide(1)}, Validation: []*record.Record{slide(2)}}
	var out []identify.Ranked
	for _, p := range []struct {
		name string
		plan identify.Plan
	}{
		{"LuGre", identify.Plan{Methods: identify.Chain{"regress", "lm"}, Regress: linear.DefaultSpec(),
			Model: axis.Spec{Law: "lugre", Output: axis.Velocity, Scheme: friction.Midpoint}, LM: identify.LM{Starts: 3, Draws: 5}}},
		{"Coulomb & viscous", identify.Plan{Methods: identify.Chain{"lm"},
			Model: axis.Spec{Law: "coulomb", Terms: []string{"viscous"}, Output: axis.Velocity}, Bootstrap: 40}},
	} {
		r, err := identify.Run(context.Background(), p.plan, recs, nil, nil)
		if err != nil {
			panic(err)
		}
		out = append(out, identify.Ranked{Name: p.name, Result: r})
	}
	return out
})

// compared is a page with every part there is.
func compared(t *testing.T) Page {
	t.Helper()
	ranking, err := identify.Compare(append(fits(), identify.Ranked{Name: "none", Err: "it cannot be fitted"}))
	if err != nil {
		t.Fatal(err)
	}
	p := Page{Title: "Slide <1>", Program: "1.2.3", Command: "hil compare 'a b.yaml' --report r.html", Files: []string{"slide.yaml"},
		Ranking: ranking, JSON: ranking}
	for _, m := range ranking.Models {
		if m.Result != nil {
			p.Fits = append(p.Fits, Fit{Name: m.Name, Seed: 3, Result: m.Result, Assumed: []Assumption{{"torque", "a & b"}},
				Warnings: []string{"late < early"}})
		}
	}
	return p
}

func write(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A fit of each kind has the figures that it can have, and says why others are not there; texts of files are safe in the page.
func TestFiguresOfEachKind(t *testing.T) {
	for i, want := range [][]string{
		{"fit", "reversal", "validation", "residual", "autocorrelation", "cross-input", "cross-velocity", "residual-over", "friction",
			"presliding", "correlation", "convergence"},
		{"fit", "reversal", "validation", "residual", "autocorrelation", "cross-input", "cross-velocity", "residual-over", "friction",
			"correlation", "convergence"},
	} {
		all, missing := Figures(fits()[i].Result)
		var names []string
		for _, f := range all {
			names = append(names, f.Name)
		}
		if strings.Join(names, " ") != strings.Join(want, " ") {
			t.Errorf("%s: figures %v, want %v; %v", fits()[i].Name, names, want, missing)
		}
		if len(missing) != 1 {
			t.Errorf("%s: missing %v", fits()[i].Name, missing)
		}
	}
	file := *fits()[0].Result
	page := write(t, Page{Title: "T", Fits: []Fit{{Name: "n",
		Result: &identify.Result{Verdict: file.Verdict, Stages: file.Stages, Parameters: file.Parameters, Correlation: file.Correlation}}}})
	if !strings.Contains(page, "the result was read from a file, which holds no rows") || strings.Contains(page, `data-figure="fit"`) ||
		!strings.Contains(page, `data-figure="correlation"`) {
		t.Error("a result that was read from a file")
	}
	page = write(t, compared(t))
	for _, want := range []string{"Slide &lt;1&gt;", "late &lt; early", "slide&lt;1&gt;.csv", "a &amp; b", "it cannot be fitted", "resampled",
		`id="ranking"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "<1>") || strings.Contains(page, "ZgotmplZ") {
		t.Error("a text of a file became a part of the page")
	}
	stopped := compared(t)
	stopped.Interrupted = "Interrupted: half of it."
	if head, _, _ := strings.Cut(write(t, stopped), "</header>"); !strings.Contains(head, "Interrupted: half of it.") {
		t.Error("an interrupted page does not say so at its top")
	}
}

// What figures show are the numbers of the fit: the model is measured less residual, the lines of the friction figure are those of
// FrictionAt, the points lie on the friction with which the record was made.
func TestFiguresShowTheFit(t *testing.T) {
	r := fits()[0].Result
	all, _ := Figures(r)
	at := map[string]Figure{}
	for _, f := range all {
		at[f.Name] = f
	}
	s := r.Solution()
	panels := at["fit"].Columns[0].Panels
	for k, y := range panels[0].Series[1].Y {
		if y != s.Measured[k] || panels[0].Series[0].Y[k] != s.Measured[k]-s.Residual[k] || panels[1].Series[0].Y[k] != s.Residual[k] {
			t.Fatalf("row %d", k)
		}
	}
	truth := func(v float64) float64 { return math.Copysign(1+0.5*math.Exp(-(v/0.05)*(v/0.05)), v) + 0.4*v }
	checked := 0
	for _, c := range at["friction"].Columns[0].Panels[0].Series {
		for k, v := range c.X {
			if math.Abs(v) < 0.02 || c.Y[k] != c.Y[k] {
				continue
			}
			limit := map[string]float64{"model": 0.05, "measured, medians": 0.12, "95 % band": 0.1}[c.Label]
			if off := math.Abs(c.Y[k] - truth(v)); off > limit && math.Abs(v) > 0.1 {
				t.Errorf("%s at %.3g m/s: %.3g N, made with %.3g", c.Label, v, c.Y[k], truth(v))
			}
			if c.Lower != nil {
				if f, se, _ := r.FrictionAt(v); math.Abs(c.Y[k]-f-1.96*se) > 1e-9 || math.Abs(f-1.96*se-c.Lower[k]) > 1e-9 {
					t.Errorf("band at %g: %g … %g, want %g ± %g", v, c.Lower[k], c.Y[k], f, 1.96*se)
				}
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("%d points", checked)
	}
	share := 0.0
	for _, y := range at["residual"].Columns[0].Panels[0].Series[0].Y {
		share += y
	}
	if share < 99 || share > 100+1e-9 {
		t.Errorf("bars of the histogram add up to %g %%", share)
	}
	for _, m := range fits() {
		last := m.Result.Stages[len(m.Result.Stages)-1]
		trace := last.Trace
		if len(trace) < 3 || math.Abs(trace[len(trace)-1]/last.Cost-1) > 1e-6 || trace[0] < 2*last.Cost ||
			!slices.IsSortedFunc(trace, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("%s: convergence %v to a cost of %g", m.Name, trace, last.Cost)
		}
	}
	if y := at["convergence"].Columns[0].Panels[0].Series[0].Y; !slices.Equal(y, r.Stages[len(r.Stages)-1].Trace) {
		t.Errorf("convergence %v", y)
	}
	cells := at["correlation"].Columns[0].Panels[0]
	for k, z := range cells.Series[0].Z {
		row, col := cells.Y.Names[int(cells.Series[0].Y[k])-1], cells.X.Names[int(cells.Series[0].X[k])-1]
		if want := correlationOf(r, row, col); z != want {
			t.Errorf("correlation of %s and %s is drawn as %g, want %g", row, col, z, want)
		}
	}
	if n := len(s.Residual); at["autocorrelation"].Columns[0].Panels[0].Series[1].Y[0] != 2.576/math.Sqrt(float64(n)) {
		t.Errorf("band %v of %d rows", at["autocorrelation"].Columns[0].Panels[0].Series[1].Y, n)
	}
	if y := at["cross-velocity"].Columns[0].Panels[0].Series; y[1].Y[0] != r.Residual.Velocity.Band ||
		y[0].Y[r.Residual.Velocity.Lags+r.Residual.Velocity.WorstLag] != r.Residual.Velocity.Worst {
		t.Errorf("cross-correlation with the velocity: band %v, worst %v", y[1].Y, r.Residual.Velocity)
	}
	// a half loop begins on the other side of zero, as the bristles still hold the other way
	var begin, end []float64
	for _, c := range at["presliding"].Columns[0].Panels[0].Series {
		for k, d := range c.X {
			if d > 0 && d < 1e-5 {
				begin = append(begin, c.Y[k])
			} else if d > 8e-4 {
				end = append(end, c.Y[k])
			}
		}
	}
	if len(begin) < 3 || len(end) < 3 || numeric.Median(begin) > 0.3 || numeric.Median(end) < 0.9 {
		t.Errorf("presliding from %v to %v", begin, end)
	}
}

// correlationOf is an element of the matrix by names.
func correlationOf(r *identify.Result, a, b string) float64 {
	var free []string
	for _, p := range r.Parameters {
		if !p.Fixed {
			free = append(free, p.Name)
		}
	}
	return r.Correlation[slices.Index(free, a)][slices.Index(free, b)]
}

// The zoom is on the reversal with the largest difference, and no curve crosses from one piece to the next.
func TestZoomAndPieces(t *testing.T) {
	s := &fit.Solution{Dt: 1e-3, Pieces: []int{0, 1000}}
	for k := range 2000 {
		v := math.Sin(2 * math.Pi * (float64(k) + 60) / 400)
		e := 1e-3 * math.Cos(float64(k))
		if k > 1300 && k < 1340 { // the reversal at 1340
			e = 0.1
		}
		s.Velocity, s.Residual, s.Measured = append(s.Velocity, v), append(s.Residual, e), append(s.Measured, v)
	}
	if k, ok := worstReversal(s, s.Velocity); !ok || math.Abs(float64(k)-1340) > 4 {
		t.Errorf("row %d, %v; want 1340", k, ok)
	}
	cut := withGaps(s.Measured, s.Pieces, 990, 1010)
	if len(cut) != 21 || !math.IsNaN(cut[10]) || cut[9] != s.Measured[999] || cut[11] != s.Measured[1000] || cut[20] != s.Measured[1009] {
		t.Errorf("%v", cut)
	}
	if whole := withGaps(s.Measured, nil, 0, 2000); !slices.Equal(whole, s.Measured) {
		t.Error("rows without pieces were changed")
	}
}

// reversals finds the rows where the motion turns, once each, whatever noise it stands in.
func TestReversals(t *testing.T) {
	var v []float64
	for k := range 1000 {
		v = append(v, math.Sin(2*math.Pi*float64(k)/250+0.3)+2e-3*math.Sin(float64(k*k)))
	}
	rows := reversals(v, nil)
	if len(rows) != 8 {
		t.Fatalf("%v", rows)
	}
	for i, k := range rows {
		if want := (float64(i+1)*math.Pi - 0.3) / (2 * math.Pi) * 250; math.Abs(float64(k)-want) > 2 {
			t.Errorf("reversal %d at row %d, want %.1f", i, k, want)
		}
	}
	if rows := reversals([]float64{1, 1, -1, -1, 1}, []int{0, 2}); len(rows) != 1 {
		t.Errorf("a jump between pieces is no reversal: %v", rows)
	}
}

// The page gives every colour of a figure a value of its own in dark mode, and its first value again in print.
func TestColoursFollowThePage(t *testing.T) {
	for _, name := range plot.Variables() {
		if n := strings.Count(string(report.PageStyle), name+":"); n != 2 {
			t.Errorf("%s has %d values, want one for dark mode and one for print", name, n)
		}
	}
}

// legible is what a page has to be in every size and colour: nothing wider than the screen, letters that can be read, text and curves that
// stand out from the ground, labels that do not lie on each other. It gives what is wrong.
const legible = `(() => {
	const bad = [], rgb = c => (c.match(/[\d.]+/g) || [0, 0, 0]).slice(0, 3).map(Number);
	const lum = c => rgb(c).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4).reduce((s, x, i) => s + x * [.2126, .7152, .0722][i], 0);
	const contrast = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
	const ground = getComputedStyle(document.body).backgroundColor;
	if (document.documentElement.scrollWidth > innerWidth) bad.push('page ' + document.documentElement.scrollWidth + ' px wide on ' + innerWidth);
	for (const e of document.querySelectorAll('p, li, td, th, h1, h2, figcaption')) {
		if (!e.offsetParent || !e.textContent.trim()) continue;
		const c = contrast(getComputedStyle(e).color, ground);
		if (c < 4.5) bad.push(e.tagName + ' ' + e.className + ' contrast ' + c.toFixed(1));
		if (e.getBoundingClientRect().right > innerWidth + 1) bad.push(e.tagName + ' ' + e.textContent.slice(0, 40) + ' is cut');
	}
	let drawn = 0;
	for (const svg of document.querySelectorAll('figure svg')) {
		const box = svg.getBoundingClientRect(), name = svg.parentNode.dataset.figure;
		if (!box.width) continue;
		drawn++;
		if (box.width < Math.min(340, innerWidth - 40) || box.height < 100) bad.push(name + ' is ' + box.width + ' × ' + box.height);
		const texts = [...svg.querySelectorAll('text')].map(e => [e.getBoundingClientRect(), e]);
		for (const [r, e] of texts) {
			const size = parseFloat(getComputedStyle(e).fontSize) * svg.getScreenCTM().a;
			if (!(size > 6)) bad.push(name + ': letters of ' + e.textContent + ' are ' + size.toFixed(1) + ' px');
			if (contrast(getComputedStyle(e).fill, ground) < 4.5) bad.push(name + ': ' + e.textContent + ' is pale');
			if (r.left < box.left - 2 || r.right > box.right + 3) bad.push(name + ': ' + e.textContent + ' leaves the figure');
			for (const [q, o] of texts) {
				const w = Math.min(r.right, q.right) - Math.max(r.left, q.left), h = Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top);
				if (e !== o && w > 2 && h > 4 && w * h > .3 * Math.min(r.width * r.height, q.width * q.height)) bad.push(name + ': ' + e.textContent + ' lies on ' + o.textContent);
			}
		}
		for (const p of svg.querySelectorAll('path')) {
			const s = getComputedStyle(p), wide = parseFloat(s.strokeWidth);
			if (wide > 1 && s.stroke !== 'none' && contrast(s.stroke, ground) < 2.5) bad.push(name + ': a curve of ' + s.stroke + ' on ' + ground);
		}
	}
	if (drawn < 10) bad.push(drawn + ' figures');
	return [...new Set(bad)].slice(0, 20).join('\n');
})()`

// The page looks right in a browser: desktop and phone, dark and light, and in print, where folded parts are open.
func TestReportInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser for ten seconds; run without -short")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(write(t, compared(t))), 0o644); err != nil {
		t.Fatal(err)
	}
	actx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(peer.Program(t, "chromium", "chromium")), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true))...)
	defer cancel()
	ctx, cancel := chromedp.NewContext(actx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	show := func(media, scheme string, width int64) {
		t.Helper()
		set := func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			return chromedp.Void{}, err
		}
		if err := chromedp.Do(ctx, set, chromedp.EmulateViewport(width, 900), chromedp.Sleep(200*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	value := func(js string) string {
		t.Helper()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[string](js))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		media, scheme string
		width         int64
		ground        uint32 // about
	}{{"screen", "light", 1440, 255}, {"screen", "dark", 1440, 22}, {"screen", "light", 390, 255}, {"screen", "dark", 390, 22},
		{"print", "dark", 794, 255}, {"print", "light", 794, 255}} {
		name := fmt.Sprintf("report-%s-%s-%d", c.media, c.scheme, c.width)
		show(c.media, c.scheme, c.width)
		if bad := value(legible); bad != "" {
			t.Errorf("%s:\n%s", name, bad)
		}
		data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if *shots != "" {
			if err := os.WriteFile(filepath.Join(*shots, name+".png"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if r, _, _, _ := img.At(2, 2).RGBA(); math.Abs(float64(r>>8)-float64(c.ground)) > 3 {
			t.Errorf("%s: ground %d, want %d", name, r>>8, c.ground)
		}
		if img.Bounds().Dx() != int(c.width) || img.Bounds().Dy() < 2000 {
			t.Errorf("%s: the picture is %v", name, img.Bounds())
		}
	}
	folded := `String([...document.querySelectorAll('details:not([open]) figure svg')].filter(e => e.checkVisibility({contentVisibilityAuto: true})).length)`
	if n := value(folded); n == "0" {
		t.Error("a model that is folded on the screen is not there in print")
	}
	show("screen", "light", 390)
	if n := value(folded); n != "0" {
		t.Errorf("%s figures of a folded model are open on the screen", n)
	}
	if bad := regexp.MustCompile(`https?://[^w]`).FindString(write(t, compared(t))); bad != "" {
		t.Errorf("the page names a place in the network: %s", bad)
	}
}
