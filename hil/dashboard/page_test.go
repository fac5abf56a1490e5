package dashboard_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"hilrig/hil"
)

var shots = flag.String("shots", "", "folder for screenshots of the page in all its sizes; empty: none")

// chromium is one headless browser for all tests; to start one for each took a third of their time.
var chromium struct {
	once sync.Once
	ctx  context.Context
	err  error
	stop []func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range slices.Backward(chromium.stop) {
		stop()
	}
	os.Exit(code)
}

// browser opens a window of its own in a headless Chromium, or skips.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser for ten seconds; run without -short")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium on this machine; install it (apt install chromium) to test the page")
	}
	c := &chromium
	c.once.Do(func() {
		dir, err := os.MkdirTemp("", "dashboard")
		if err != nil {
			t.Fatal(err)
		}
		opts := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir), chromedp.WindowSize(1440, 900),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
			chromedp.Flag("disable-background-networking", true))
		actx, cancelA := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, cancel := chromedp.NewContext(actx)
		c.ctx, c.err, c.stop = ctx, chromedp.Do(ctx), []func(){func() { os.RemoveAll(dir) }, cancelA, cancel}
	})
	if c.err != nil {
		t.Fatalf("start %s: %v", path, c.err)
	}
	ctx, cancel := chromedp.NewContext(c.ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// tab drives one page.
type tab struct {
	*testing.T
	ctx context.Context
}

func eval[V any](p tab, js string) V {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[V](js))
	if err != nil {
		p.Fatalf("evaluate %s: %v", js, err)
	}
	return v
}

// until waits for a condition in the page.
func (p tab) until(js string) {
	p.Helper()
	for begun := time.Now(); ; time.Sleep(30 * time.Millisecond) {
		if eval[bool](p, "Boolean("+js+")") {
			return
		}
		if time.Since(begun) > 30*time.Second {
			p.Fatalf("not within 30 s: %s\nbanner %q, link %q, mode %q", js, p.text("banner"), p.text("link"), p.text("mode"))
		}
	}
}

func (p tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

func (p tab) text(id string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("document.getElementById(%q).textContent", id))
}

// inked counts the pixels of a canvas that differ from its corner's transparent ground, and a sum that changes when it does.
func (p tab) inked(selector string) (n int, sum float64) {
	p.Helper()
	v := eval[[]float64](p, fmt.Sprintf(`(() => { const c = document.querySelector(%q), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		let n = 0, s = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) { n++; s = (s * 31 + i * (1 + d[i - 3])) %% 9007199; } return [n, s]; })()`, selector))
	return int(v[0]), v[1]
}

const trace = "#plots figure:nth-child(2) canvas" // velocity

// The page shows a running rig: curves move, buttons act, pause and zoom work, figures fill.
func TestPage(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	p := tab{t, ctx}

	// what the page writes to the console or throws is a failure
	var mu sync.Mutex
	var complaints []string
	thrown := chromedp.Events(ctx, runtime.ExceptionThrown)
	go func() {
		for ev, err := range thrown {
			if err != nil {
				return
			}
			mu.Lock()
			complaints = append(complaints, fmt.Sprint(ev.ExceptionDetails.Text, ev.ExceptionDetails.Exception))
			mu.Unlock()
		}
	}()
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 5 && hil.link() === 'live'")

	// mode and buttons: ready → armed → run, by the mouse
	p.until("document.getElementById('mode').textContent === 'READY'")
	if eval[bool](p, "!document.getElementById('cmd-run').disabled") {
		t.Error("Run can be pressed in READY")
	}
	p.do(chromedp.Click(chromedp.CSS("#cmd-arm")))
	p.until("document.getElementById('mode').dataset.mode === 'armed'")
	p.until("document.getElementById('answer').textContent === 'Arm: taken'") // mode and answer come by two ways, in any order
	p.do(chromedp.Click(chromedp.CSS("#cmd-run")))
	p.until("hil.mode() === 'run'")

	// the curve moves and the counter rises
	before := eval[[]float64](p, "[hil.counters.batches, hil.counters.frames]")
	n1, s1 := p.inked(trace)
	p.until(fmt.Sprintf("hil.counters.batches > %g + 10 && hil.counters.frames > %g + 3", before[0], before[1]))
	n2, s2 := p.inked(trace)
	if n1 < 500 || n2 < 500 || s1 == s2 {
		t.Errorf("velocity trace: %d and %d pixels drawn, sums %g and %g; want a moving curve", n1, n2, s1, s2)
	}
	p.until("hil.rows.lost === 0") // a busy browser finds in the recording what it missed

	// histogram, table and friction curve fill
	p.until("hil.counters.health >= 2 && hil.counters.estimates >= 2 && hil.curveSamples() > 2000")
	for _, id := range []string{"#lateness", "#curve"} {
		if n, _ := p.inked(id); n < 1500 {
			t.Errorf("canvas %s: %d pixels drawn", id, n)
		}
	}
	if n := eval[int](p, "document.querySelectorAll('#params tr').length"); n != 4 {
		t.Errorf("%d rows of parameters, want 4", n)
	}
	for _, want := range []string{"J inertia", "×10⁻⁶\u202fkg·m²", "±", "mN·m"} {
		if got := p.text("params"); !strings.Contains(strings.ReplaceAll(got, " kg", "\u202fkg"), want) {
			t.Errorf("parameters %q lack %q", got, want)
		}
	}
	p.until("document.getElementById('unexcited').hidden")
	p.until("Number(document.getElementById('late_p50').textContent) > 0")
	p.until("document.getElementById('events').textContent.includes('mode armed → run')")
	shoot(p, "page")

	// parameters: what is in force, by name; Enter sets it, and what is refused stays as it was, with the reason
	p.until("document.querySelectorAll('#live input').length === 2 && document.getElementById('laws').textContent.includes('shaft: lugre')")
	kp := chromedp.CSS(`input[data-param="shaft.control.kp"]`)
	enter := func(text string) {
		eval[bool](p, "document.querySelector('#live input').select() || true")
		p.do(chromedp.SendKeys(kp, text+"\r"))
	}
	enter("0.3")
	p.until("document.getElementById('answer').textContent === 'Set: taken' && document.querySelector('#live input').value === '0.3'")
	r.with(func() {
		if r.inForce.V[0] != 0.3 {
			t.Errorf("set to %g, want 0.3", r.inForce.V[0])
		}
	})
	for typed, says := range map[string]string{"-1": "from 0", "much": "is no number"} {
		enter(typed)
		p.until(fmt.Sprintf("document.getElementById('answer').textContent.includes(%q)", says))
	}
	p.do(chromedp.Blur(kp))
	p.until("document.querySelector('#live input').value === '0.3'")

	// a gap in the sequence is counted and drawn open
	missed := eval[[]float64](p, "[hil.rows.lost, hil.rows.gaps]")
	r.with(func() { r.drop = 100 })
	p.until(fmt.Sprintf("hil.rows.lost >= %g + 100 && hil.rows.gaps >= %g + 1", missed[0], missed[1]))

	// pause freezes the picture while rows go on arriving
	p.do(chromedp.Click(chromedp.CSS("#pause")))
	_, s1 = p.inked(trace)
	kept := eval[float64](p, "hil.rows.received")
	p.until(fmt.Sprintf("hil.rows.received > %g + 400", kept))
	if _, s2 = p.inked(trace); s1 != s2 {
		t.Error("the trace moves while paused")
	}

	// dragging zooms all traces, double-click gives the window back
	box := eval[[]float64](p, "(() => { const b = document.querySelector('#plots figure:nth-child(2) .u-over').getBoundingClientRect(); "+
		"return [b.x, b.y, b.width, b.height]; })()")
	y := box[1] + box[3]/2
	p.do(
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0]+0.5*box[2], y),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, box[0]+0.5*box[2], y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0]+0.6*box[2], y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0]+0.75*box[2], y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, box[0]+0.75*box[2], y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	)
	p.until("hil.view()[1] - hil.view()[0] < 9")
	if v := eval[[]float64](p, "hil.view()"); v[0] < -5.2 || v[0] > -4.8 || v[1] < -2.7 || v[1] > -2.3 {
		t.Errorf("dragged from the middle to three quarters of 10 s, view is %v, want about [-5, -2.5]", v)
	}
	save(p, "page-zoomed.png", chromedp.CaptureScreenshot())
	p.do(chromedp.DoubleClick(chromedp.CSS("#plots figure:nth-child(2) .u-over")))
	p.until("hil.view()[0] === -10 && hil.paused()")
	p.do(chromedp.Click(chromedp.CSS("#pause")), chromedp.Click(chromedp.CSS("[data-window='2']")))
	p.until("hil.view()[0] === -2 && !hil.paused()")

	// stop is posted, taken and acknowledged
	p.do(chromedp.Click(chromedp.CSS("#cmd-stop")))
	p.until("document.getElementById('mode').textContent === 'READY'")
	p.until("document.getElementById('answer').textContent === 'Stop: taken'")
	r.with(func() {
		last := r.commands[len(r.commands)-1]
		if last.Name != "stop" || last.Source != "web" || !strings.HasPrefix(last.ID, "page-") {
			t.Errorf("the rig got %+v, want a stop from web with the page's id", last)
		}
	})
	p.until("!document.getElementById('unexcited').hidden")

	// a refusal is shown: the mode changes behind the page's back
	eval[any](p, "document.getElementById('cmd-run').disabled = false")
	p.do(chromedp.Click(chromedp.CSS("#cmd-run")))
	p.until("document.getElementById('answer').textContent.startsWith('Run refused: run is not possible in ready')")

	// silence is announced and taken back
	r.with(func() { r.silent = true })
	p.until("!document.getElementById('banner').hidden && /No data for \\d+ s/.test(document.getElementById('banner').textContent)")
	save(p, "page-silent.png", chromedp.CaptureScreenshot())
	r.with(func() { r.silent = false })
	p.until("document.getElementById('banner').hidden")

	mu.Lock()
	defer mu.Unlock()
	for _, c := range complaints {
		t.Errorf("exception in the page: %s", c)
	}
	if eval[bool](p, "performance.getEntriesByType('resource').some((e) => !e.name.startsWith(location.origin))") {
		t.Error("the page asked for something beyond its server")
	}
}

// Models beside the rig have cards, measurements that no axis has a gauge, and without recursive least squares nothing speaks of them.
func TestPageOfModels(t *testing.T) {
	ctx := browser(t)
	r := newRig(t, withModels)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 30 && hil.counters.health >= 2")
	card := func(model string) string {
		return clean(eval[string](p, fmt.Sprintf("document.querySelector('[data-model=%s]').innerText.replaceAll('\\n', ' ')", model)))
	}
	p.until("/busy/.test(document.querySelector('[data-model=brushes]').innerText)")
	brushes := card("brushes")
	for _, want := range []string{"brush of a motor", "8.8 % of 15 % of the period", "tilt −4.00 mrad", "force 2.49 N", "substeps 50",
		"room 133", "loss 0.031"} {
		if !strings.Contains(brushes, want) {
			t.Errorf("the card of the brushes lacks %q: %s", want, brushes)
		}
	}
	if laws := card("laws"); !strings.Contains(laws, "simplified") || !strings.Contains(laws, "best not told apart") ||
		!strings.Contains(laws, "LuGre 1.30 mN·m") || !strings.Contains(laws, "16 % of 15 %") {
		t.Errorf("the card of the laws: %s", laws)
	}
	if eval[bool](p, "[...document.querySelectorAll('.model .tag')].some((e) => e.checkVisibility() !== "+
		"(e.closest('[data-model]').dataset.model === 'laws'))") {
		t.Error("a level is shown of a model that does its steps in full, or not of one that does not")
	}
	// over its share, and out of range
	if got := eval[int](p, "document.querySelectorAll('.beyond').length"); got != 2 {
		t.Errorf("%d bars beyond their end, want 2: the laws' share and the pressure", got)
	}
	gauges := clean(eval[string](p, "document.querySelector('.gauges').innerText.replaceAll('\\n', ' ')"))
	for _, want := range []string{"motor.temperature", "−40.0 °C", "150 °C", "bus", "48.0 V", "pressure 120 kPa"} {
		if !strings.Contains(gauges, want) {
			t.Errorf("gauges lack %q: %s", want, gauges)
		}
	}
	if strings.Contains(gauges, "counter") || strings.Contains(gauges, "angle") || strings.Contains(gauges, "age") {
		t.Errorf("gauges of signals of an axis, without a range, or of ages: %s", gauges)
	}
	// a press on a name draws the signal
	eval[any](p, "[...document.querySelectorAll('[data-model=brushes] .name')].find((b) => b.textContent === 'torque').click()")
	if got := eval[[]string](p, "[...document.querySelectorAll('#plots select')].map((s) => s.value)"); got[0] != "brushes.torque" ||
		got[1] != "drive.motor.temperature" {
		t.Errorf("the free figure draws %v", got)
	}
	if text := eval[string](p, "document.body.innerText"); strings.Contains(text, "recursive") || strings.Contains(text, "no estimate yet") ||
		strings.Contains(strings.ToLower(text), "estimated parameters") {
		t.Errorf("the page speaks of an estimate that nobody makes: %s", text)
	}
	shoot(p, "models")
}

// A rig of several axes has a row of figures for each, estimates beside the law of their own axis, and a curve to choose.
func TestPageOfAxes(t *testing.T) {
	ctx := browser(t)
	r := newRig(t, withStage)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 5")
	if got := eval[[]string](p, "[...document.querySelectorAll('#plots .first h2')].map((e) => e.textContent)"); len(got) != 2 ||
		got[0] != "shaft: Position" || got[1] != "stage: Position" {
		t.Errorf("rows begin with %v", got)
	}
	left := eval[[]float64](p, "[...document.querySelectorAll('#plots .first')].map((e) => e.getBoundingClientRect().x)")
	if left[0] != left[1] {
		t.Errorf("rows begin at %v", left)
	}
	// estimates stand beside the model and the truth of their own axis, in its units
	p.until("document.querySelectorAll('#params tr').length === 8 && hil.curveSamples() > 1000")
	rows := clean(eval[string](p, "[...document.querySelectorAll('#params tr')].map((e) => [...e.children].map((c) => c.textContent).join(' "+
		"')).join('; ')"))
	for _, want := range []string{`shaft J inertia \S+ ± \S+ 200\.?\d* 240\.?\d* ×10⁻⁶ kg·m²`,
		`stage M mass \S+ ± \S+ 77\.?\d* 24\.?\d* ×10⁻⁶ kg(;|$)`, `stage Fc Coulomb \S+ ± \S+ 3\.?\d* 2\.?\d* mN(;|$)`} {
		if !regexp.MustCompile(want).MatchString(rows) {
			t.Errorf("rows of estimates lack %q: %s", want, rows)
		}
	}
	// the curve of the second axis: its own rows, in m/s and N
	curve := func() string { return eval[string](p, "document.getElementById('curve').toDataURL()") }
	first := curve()
	eval[any](p, "(() => { const e = document.getElementById('curve-axis'); e.value = 'stage'; e.dispatchEvent(new Event('change')); })()")
	if curve() == first || !eval[bool](p, "hil.curveSamples() > 1000") {
		t.Error("the figure of the second axis is that of the first")
	}
	if got := eval[[]string](p, "hil.curveUnits()"); got[0] != "m/s" || got[1] != "N" {
		t.Errorf("the curve of the stage is drawn in %v", got)
	}
	shoot(p, "axes")
}

// The page lives through the loss of its stream: it says so, shows the newest state by polling, and comes back.
func TestPageReconnects(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.link() === 'live' && hil.counters.batches > 5 && hil.counters.estimates >= 2")
	// before the first window there is no estimate: neither in the table nor in the traces, whose rows hold zeros
	eval[any](p, "(() => { const s = document.querySelector('#plots select'); s.value = 'shaft.rls.J'; s.dispatchEvent(new "+
		"Event('change')); })()")
	p.until("hil.rows.columns.get('shaft.rls.J')")
	const estimated = `[...document.querySelectorAll('#params td:nth-child(2)'), document.querySelector('#plots figure:nth-last-child(2) .trace b')].map((e) => e.textContent).join(' ')`
	if got := eval[string](p, estimated); got != "– – – – –" {
		t.Errorf("zeros before the first window are shown as estimates: %s", got)
	}

	// the WebSocket is refused and the connection cut
	r.refused.Store(true)
	r.with(func() {
		for _, cut := range r.cut {
			cut()
		}
	})
	p.until("hil.link() === 'lost' && hil.counters.polls > 1 && /no stream/.test(document.getElementById('banner').textContent)")
	const stop = "document.getElementById('cmd-stop').getBoundingClientRect().toJSON().y"
	before := eval[float64](p, stop)
	r.with(func() { r.mode, r.cause = hil.Trip, hil.CauseStale })
	p.until("hil.mode() === 'trip' && !document.getElementById('why').hidden && document.getElementById('cause').textContent === 'stale " +
		"sensor drive.motor.angle: 0.0214 s, limit 0.02 s'")
	if now := eval[float64](p, stop); now != before {
		t.Errorf("the trip moved the button Stop from %g to %g", before, now)
	}

	// it comes back by itself
	r.refused.Store(false)
	p.until("hil.link() === 'live'")
	batches := eval[float64](p, "hil.counters.batches")
	p.until(fmt.Sprintf("hil.counters.batches > %g + 5", batches))
	p.until("document.getElementById('banner').hidden")
}

// Rows that the stream lost are drawn as a gap at first, and are fetched from the recording then; those that were never recorded stay a
// gap. A page that was away for a while has all its rows again when it is back. A CSV has every row, whatever the page holds.
func TestPageRefills(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 25 && hil.link() === 'live'")
	cut := func() {
		r.with(func() {
			for _, cut := range r.cut {
				cut()
			}
		})
	}

	// away for two seconds and more
	r.refused.Store(true)
	cut()
	p.until("hil.link() === 'lost'")
	time.Sleep(2 * time.Second)
	r.refused.Store(false)
	p.until("hil.link() === 'live' && hil.rows.open.length + hil.rows.gaps > 0")
	if gaps := eval[float64](p, "hil.rows.lost"); gaps < 1000 {
		t.Errorf("%g rows lost at first, want those of two seconds", gaps)
	}
	p.until("hil.rows.lost === 0 && hil.rows.gaps === 0")
	const whole = `(() => { const s = hil.rows.columns.get('seq'), x = hil.rows.columns.get('shaft.est.position'), t = hil.rows.t; let bad = 0;
		for (let i = 1; i < hil.rows.n; i++) if (s[i] !== s[i - 1] + 1 || !(t[i] > t[i - 1]) || !Number.isFinite(x[i])) bad++; return bad; })()`
	if bad := eval[float64](p, whole); bad != 0 {
		t.Errorf("%g places where a row does not follow the one before", bad)
	}

	// never made: the gap stays
	r.with(func() { r.drop = 300 })
	p.until("hil.rows.lost === 300 && hil.rows.gaps === 1")
	time.Sleep(2500 * time.Millisecond)
	if got := eval[[]float64](p, "[hil.rows.lost, hil.rows.gaps]"); got[0] != 300 || got[1] != 1 {
		t.Errorf("lost and gaps are %v, want 300 and 1", got)
	}

	// every row of ten seconds
	p.until("hil.rows.last - hil.rows.first > 0 && hil.counters.batches > 200")
	next := p.downloads()
	eval[any](p, "document.getElementById('csv').click()")
	_, _, rows := table(t, next(".csv"))
	first, last := uint64(math.MaxUint64), uint64(0)
	for seq := range rows {
		first, last = min(first, seq), max(last, seq)
	}
	if n := uint64(len(rows)); last-first+1-n != 300 || n < 5000 {
		t.Errorf("%d rows from %d to %d in the file", n, first, last)
	}
	shoot(p, "refill")
}

// shoot saves the page in all sizes and both lights, for people to look at.
func shoot(p tab, name string) {
	if *shots == "" {
		return
	}
	time.Sleep(6 * time.Second) // let figures fill
	for _, scheme := range []string{"dark", "light"} {
		for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {390, 844}} {
			media := func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
				_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
				return chromedp.Void{}, err
			}
			p.do(media, chromedp.EmulateViewport(size[0], size[1]), chromedp.Sleep(time.Second))
			name := fmt.Sprintf("%s-%dx%d-%s", name, size[0], size[1], scheme)
			save(p, name+".png", chromedp.CaptureScreenshot())
			if size[0] < 1200 {
				save(p, name+"-whole.png", chromedp.FullScreenshot(100))
			}
		}
	}
	p.do(chromedp.EmulateViewport(1440, 900))
}

// save writes one screenshot, if any are wanted.
func save(p tab, name string, take chromedp.Action[[]byte]) {
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, take)
	if err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name), png, 0o644); err != nil {
		p.Fatal(err)
	}
}
