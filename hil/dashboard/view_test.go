package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hilrig/hil"
	"hilrig/hil/dashboard"
	"hilrig/hil/sink"
)

// recorded is a recording of some rows, one each ms: at rest, from 1 s on in motion, in the last second tripped, with a warning that came
// twice.
func recorded(t *testing.T, count int) string {
	t.Helper()
	s := schema()
	r := &rig{mode: hil.Ready, rng: rand.New(rand.NewPCG(1, 2))}
	r.info = hil.Info{Run: "r1", Version: "v0.0.0-test", ConfigHash: "0123abcd", Schema: s, Start: time.Now().Add(-time.Hour)}
	rec, err := sink.NewRecorder(t.TempDir(), r.info, sink.RecorderOptions{Chunk: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	rows := &backlog{}
	at := func(ms int, level, code, text string) {
		rec.Event(hil.Event{Time: r.info.Start.Add(time.Duration(ms) * time.Millisecond), Seq: uint64(ms), Level: level, Code: code, Text: text})
	}
	for i := range count {
		switch i {
		case 1000:
			r.mode = hil.Run
			at(i, "info", "MODE", "mode armed → run (command)")
		case 2000, 3000:
			at(i, "warn", "LATE", fmt.Sprintf("%d of 1000 ticks late in 1 s", i/100))
		case count - 1000:
			r.mode = hil.Trip
			at(i, "error", "MODE", "mode run → trip (position jump drive.motor.angle: 3.4 rad, limit 1.2 rad; the counter was reset)")
		}
		row := r.next()
		rows.push(&row)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- rec.Run(ctx, rows) }()
	for begun := time.Now(); rec.Stats().Rows < uint64(count) && time.Since(begun) < 20*time.Second; {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return rec.Dir()
}

// view serves a recording.
func view(t *testing.T, count int, opt dashboard.Options) string {
	t.Helper()
	opt.Log = slog.New(slog.DiscardHandler)
	s, err := dashboard.NewView(recorded(t, count), opt)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() { web.Close(); s.Close() })
	return web.URL
}

// A recording takes no command, not even a stop, and says what it is.
func TestViewCommandsNothing(t *testing.T) {
	url := view(t, 6000, dashboard.Options{Web: dashboard.Web{Commands: true},
		Command: func(context.Context, hil.Command) hil.Reply { t.Error("commanded"); return hil.Reply{OK: true} }})
	for _, name := range []string{"stop", "estop", "arm", "accept", "keep"} {
		q, _ := http.NewRequest(http.MethodPost, url+"/api/cmd/"+name, strings.NewReader("{}"))
		q.Header.Set("X-Hil", "1")
		a, err := http.DefaultClient.Do(q)
		if err != nil || a.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v %v, want 403", name, a.StatusCode, err)
		}
		a.Body.Close()
	}
	var info struct {
		Recording struct{ First, Last float64 }
		Commands  struct {
			Stop, All bool
			Reason    string
		}
	}
	a, err := http.Get(url + "/api/info")
	if err == nil {
		err = json.NewDecoder(a.Body).Decode(&info)
	}
	if r := info.Recording; err != nil || r.Last-r.First < 5.998 || r.Last-r.First > 6 || info.Commands.Stop || info.Commands.All ||
		!strings.Contains(info.Commands.Reason, "recording") {
		t.Errorf("%v: %+v", err, info)
	}
	if _, err := dashboard.NewView(t.TempDir(), dashboard.Options{}); err == nil {
		t.Error("a folder without a run is viewed")
	}
}

// The page of a recording: its time from its first row, its rows, events, modes, friction and results; no buttons of a rig.
func TestViewPage(t *testing.T) {
	ctx := browser(t)
	url := view(t, 6000, dashboard.Options{Axes: []dashboard.Axis{axes["shaft"]}, SteadyCurve: steadyCurve, Identify: func() []byte {
		return []byte(`{"results":[` + strings.ReplaceAll(identResult("0002", 0.02, true, ""), `"usable"`, `"weakly identified"`) + "," +
			strings.ReplaceAll(identResult("0001", 0.021, true, ""), `"usable"`, `"identified"`) + `]}`)
	}})
	p := tab{t, ctx}
	p.do(chromedp.Navigate(url))
	p.until("window.hil && hil.counters.frames > 1 && hil.inView() > 100 && hil.curveSamples() > 3000")
	if got := p.text("mode"); got != "RECORDING" {
		t.Errorf("the badge says %q", got)
	}
	if eval[bool](p, "[...document.querySelectorAll('[data-cmd], #pause, #lateness, #ident-start')].some((e) => e.checkVisibility())") {
		t.Error("the page offers what needs a rig")
	}
	if v := eval[[]float64](p, "hil.view()"); v[0] > -5.99 || v[0] < -6.01 || v[1] != 0 {
		t.Errorf("the window is %v, want the whole", v)
	}
	if !strings.Contains(p.text("about"), "ended in trip") {
		t.Errorf("the head says %q", p.text("about"))
	}
	// events, the newest first, and what to do after the trip
	p.until("document.querySelectorAll('#events li').length === 3")
	list := eval[[]string](p, "[...document.querySelectorAll('#events li')].map((e) => e.textContent)")
	if !strings.Contains(list[0], "5.00 s") || !strings.Contains(list[0], hil.CauseJump.Advice()) || !strings.Contains(list[1],
		"2 times since 2.00 s") {
		t.Errorf("events: %q", list)
	}
	p.do(chromedp.Click(chromedp.CSS("[data-events=faults]")))
	if n := eval[int](p, "document.querySelectorAll('#events li').length"); n != 2 {
		t.Errorf("%d faults, want 2", n)
	}
	// a press shows the moment
	p.do(chromedp.Click(chromedp.CSS("#events li:first-child")))
	p.until("hil.view()[0] < -2.5 && hil.view()[1] > -1.1 && hil.view()[1] - hil.view()[0] < 4.01")
	save(p, "view.png", chromedp.CaptureScreenshot())
	// results: the newest, and that of before
	if got := p.text("ident-verdict"); !strings.Contains(got, "weakly identified") {
		t.Errorf("verdict %q", got)
	}
	colour := func(verdict string) bool {
		return eval[bool](p, fmt.Sprintf(`(() => { const s = document.createElement('i'); s.style.color = 'var(--%s)'; document.body.append(s);
			return getComputedStyle(s).color === getComputedStyle(document.getElementById('ident-verdict')).color; })()`, verdict))
	}
	if !colour("warn") || colour("good") {
		t.Error("weakly identified is not written in the colour of a warning")
	}
	eval[any](p, `(() => { const s = document.getElementById('ident-results'); s.selectedIndex = 1;
		s.dispatchEvent(new Event('change')); })()`)
	if !colour("good") {
		t.Error("identified is not written in the colour of what is good")
	}
	// reset shows all again; a spectrum of the whole
	p.do(chromedp.Click(chromedp.CSS("#unzoom")))
	p.until("hil.view()[0] < -5.9")
	eval[any](p, `(() => { const s = document.querySelectorAll('select.kind')[1]; s.value = 'spectrum';
		s.dispatchEvent(new Event('change')); })()`)
	p.until("hil.free[1].graph.found?.every(Boolean)")
}

// Friction over velocity takes each row of a recording once, also where it is read in several stretches.
func TestViewTakesRowsOnce(t *testing.T) {
	ctx := browser(t)
	p := tab{t, ctx}
	p.do(chromedp.Navigate(view(t, 26000, dashboard.Options{Axes: []dashboard.Axis{axes["shaft"]}, SteadyCurve: steadyCurve})))
	p.until("window.hil && hil.curveSamples() > 23900")
	time.Sleep(500 * time.Millisecond) // for more, if there were any
	if n := eval[int](p, "hil.curveSamples()"); n > 24000 {
		t.Errorf("%d rows in the figure, 24000 are in motion", n)
	}
}
