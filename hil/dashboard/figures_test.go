package dashboard_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"hilrig/hil"
	"hilrig/hil/sink"
)

// The spectrum of two sines between the lines of the transform, on a ramp: frequency and amplitude of the larger, the height of the
// smaller, and
// nothing of the ramp; of noise of 1 its power. All from the closed forms.
func TestSpectrum(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url + "/icon.svg"))
	got := await[[]float64](p, `const { spectrum } = await import('/spectrum.js');
		const y = Float64Array.from({ length: 9000 }, (_, i) =>
			0.3 * Math.sin(2 * Math.PI * 48.83 * i / 1000 + 0.4) + 1e-3 * Math.sin(2 * Math.PI * 211.7 * i / 1000) + 40 - 0.01 * i);
		const s = spectrum(y, 1000), line = Math.max(...s.a.filter((_, k) => Math.abs(s.f[k] - 211.7) < 1));
		const far = Math.max(...s.a.filter((_, k) => s.f[k] > 300));
		const f = spectrum(Float64Array.from({ length: 200 }, (_, i) => Math.cos(0.5 * i)), 100);
		const ramp = spectrum(Float64Array.from({ length: 4096 }, (_, i) => 3 * i - 7), 1000);
		let seed = 1; const uniform = () => (seed = (seed * 16807) % 2147483647) / 2147483647 - 0.5;
		const noise = spectrum(Float64Array.from({ length: 65536 }, uniform), 1000);
		return [...s.peak, line, far, s.segments, f.f.at(-1), spectrum(new Float64Array(63), 1) === null ? 1 : 0, Math.max(...ramp.a),
			noise.a.reduce((sum, a) => sum + a * a, 0) / 2 / 1.5 * 12];`)
	for _, c := range []struct {
		name         string
		got, want, d float64
	}{
		{"frequency", got[0], 48.83, 0.01}, {"amplitude", got[1], 0.3, 0.003}, {"the small line, at most 15 % low", got[2], 0.93e-3, 0.08e-3},
		{"far from both", got[3], 0, 1e-6}, {"segments of 4096 by half", got[4], 3, 0}, {"the highest line", got[5], 63. / 128 * 100, 1e-9},
		{"too few", got[6], 1, 0}, {"a ramp", got[7], 0, 1e-6},
		{"white noise: mean square, of Hann's 1.5 lines", got[8], 1, 0.02},
	} {
		if !(math.Abs(c.got-c.want) <= c.d) {
			t.Errorf("%s: %g, want %g ± %g", c.name, c.got, c.want, c.d)
		}
	}
}

// The free figures draw one signal over the other and spectra, and the browser keeps what was chosen.
func TestFreeFigures(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 60")
	choose := func(figure int, kind string, names ...string) {
		text, _ := json.Marshal(append(names, kind))
		eval[any](p, fmt.Sprintf(`%s.forEach((v, i) => { const s = hil.free[%d].spec.controls[i]; s.value = v;
			s.dispatchEvent(new Event('change')); })`,
			text, figure))
	}
	// the tracking error holds 2 mrad at 9 rad/s
	choose(0, "spectrum", "shaft.ctl.error", "shaft.est.friction")
	choose(1, "xy", "shaft.est.velocity", "shaft.est.friction")
	p.until("hil.rows.last > 9 && hil.free[0].graph.found?.[0]")
	peak := eval[[]float64](p, "(hil.free[0].graph.draw(), hil.free[0].graph.found[0].peak)")
	if math.Abs(peak[0]-9/(2*math.Pi)) > 0.03 || math.Abs(peak[1]-2e-3) > 1e-4 {
		t.Errorf("peak of %g rad at %g Hz, want 2 mrad at 1.432 Hz", peak[1], peak[0])
	}
	p.until("[...document.querySelectorAll('#plots .trace b')].at(-4).textContent.startsWith('peak 2.0')")
	if n, _ := p.inked("#plots figure:last-child canvas"); n < 1500 {
		t.Errorf("x–y: %d pixels drawn", n)
	}
	// its axes hold the data
	if !eval[bool](p, `(() => { const { x, y } = hil.free[1].graph.at.ranges, c = (n) => hil.rows.columns.get(n).subarray(0,
		hil.rows.n).slice(-5000);
		return c('shaft.est.velocity').every((v) => v > x[0] && v < x[1]) && c('shaft.est.friction').every((v) => v > y[0] && v < y[1]); })()`) {
		t.Error("points lie outside of the figure")
	}
	save(p, "free.png", chromedp.CaptureScreenshot())
	choose(1, "xy", "shaft.est.velocity", "")
	if got := eval[string](p, "document.querySelector('#plots figure:last-child .empty').textContent"); !strings.Contains(got, "two signals") {
		t.Errorf("with one signal: %q", got)
	}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 2")
	if got := eval[[]string](p, "hil.free[0].spec.controls.map((s) => s.value)"); strings.Join(got,
		" ") != "shaft.ctl.error shaft.est.friction spectrum" {
		t.Errorf("after a reload: %v", got)
	}
}

// Ctrl and the wheel zoom time and both sides about the pointer.
func TestZoomAllAxes(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 30")
	p.do(chromedp.Click(chromedp.CSS("#pause")))
	lo, hi := p.yRange(1)
	b := p.box(over)
	p.do(mouse("mouseWheel", b[0]+b[2]-1, b[1]+1, func(e *input.DispatchMouseEventParams) { e.DeltaX, e.DeltaY, e.Modifiers = 1e-9, -100, 2 }))
	p.until("hil.view()[0] > -8.2 && hil.view()[0] < -7.8")
	if a, c := p.yRange(1); math.Abs(c-hi) > 0.02*(hi-lo) || math.Abs(a-(hi-0.8*(hi-lo))) > 0.02*(hi-lo) {
		t.Errorf("the side goes from %g to %g, want %g to %g", a, c, hi-0.8*(hi-lo), hi)
	}
}

// What happened before the page was opened is in its list and in its traces; after a trip it says what to do; commands need rows.
func TestEventsAndAdvice(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	for i := range 3 {
		r.stream.Event(hil.Event{Time: time.Now(), Level: "warn", Code: "LATE", Text: fmt.Sprintf("%d of 1000 ticks late", 10+i)})
	}
	r.stream.Event(hil.Event{Time: time.Now(), Level: "info", Code: "MODE", Text: "mode armed → run (command)"})
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 30 && document.querySelectorAll('#events li').length === 2")
	if got := eval[string](p, "document.querySelector('#events li:last-child').textContent"); !strings.Contains(got, "3 times") {
		t.Errorf("three alike: %s", got)
	}
	if got := eval[[]string](p, "hil.events.within(0, 1e12).map((e) => e.mode)"); strings.Join(got, ",") != ",,,run" {
		t.Errorf("marks of modes: %q", got)
	}
	// a mark is drawn: the traces differ with and without it
	with, _ := p.inked(trace)
	p.do(chromedp.Click(chromedp.CSS("#pause")))
	with, _ = p.inked(trace)
	eval[any](p, "(hil.events.all.length = 0, hil.redraw())")
	if without, _ := p.inked(trace); with-without < 40 {
		t.Errorf("%d pixels with the marks of the events, %d without", with, without)
	}
	p.do(chromedp.Click(chromedp.CSS("#pause")))

	// a trip, on a phone: cause and advice in full, over the buttons of no figure
	p.do(chromedp.EmulateViewport(390, 844))
	r.with(func() { r.mode, r.cause = hil.Trip, hil.CauseStale })
	p.until("document.getElementById('advice').checkVisibility()")
	text := p.text("advice")
	if !strings.Contains(text, hil.CauseStale.Advice()) || !strings.Contains(text, "Then reset, arm and run.") {
		t.Errorf("advice: %s", text)
	}
	if !eval[bool](p, `(() => { const a = document.getElementById('advice'), b = a.getBoundingClientRect(),
		c = document.querySelector('.commands').getBoundingClientRect();
		return b.top >= 0 && b.bottom <= c.top && a.scrollHeight <= a.clientHeight + 1 && b.left >= 0 && b.right <= 390; })()`) {
		t.Error("the advice is cut, or lies over the buttons")
	}
	save(p, "advice.png", chromedp.CaptureScreenshot())
	p.do(chromedp.Click(chromedp.CSS("#advice")))
	p.until("!document.getElementById('advice').checkVisibility()")

	// without rows nothing but stops may be pressed
	able := func() string {
		return eval[string](p, "[...document.querySelectorAll('[data-cmd]')].filter((b) => !b.disabled).map((b) => b.dataset.cmd).join(' ')")
	}
	if got := able(); got != "reset stop estop" {
		t.Errorf("tripped: %s", got)
	}
	r.with(func() { r.silent = true })
	p.until("!document.getElementById('banner').hidden")
	if got := able(); got != "stop estop" {
		t.Errorf("without rows: %s", got)
	}
	r.with(func() { r.silent = false })
	p.until("document.getElementById('banner').hidden && !document.getElementById('cmd-reset').disabled")
}

// Keep is for a result that was accepted; the daemon decides.
func TestKeepButton(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 5")
	result := identResult("r1", 0.02, true, "")
	r.stream.PublishRetained(sink.FitStatusTopic, []byte(identDone))
	r.stream.PublishRetained(sink.FitResultTopic, []byte(result))
	p.until("document.getElementById('ident-verdict').textContent !== ''")
	if !eval[bool](p, "document.getElementById('ident-keep').disabled") {
		t.Error("a result can be kept that was not accepted")
	}
	r.stream.PublishRetained(sink.FitResultTopic, []byte(strings.TrimSuffix(result, "}")+`,"accepted":true}`))
	p.until("!document.getElementById('ident-keep').disabled")
	eval[any](p, "document.getElementById('ident-keep').click()")
	p.until("document.getElementById('answer').textContent === 'Keep: taken'")
	r.with(func() {
		if c := r.commands[len(r.commands)-1]; c.Name != "keep" || c.Source != "web" || c.Misfit() != "" {
			t.Errorf("the rig got %+v", c)
		}
	})
}

// An axis that is fed forward by a mechanism has friction and what gravity and the other axes add apart: f − (load − J·a).
func TestCoupledFriction(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url + "/icon.svg"))
	got := await[[]float64](p, `const { derive, fill, frictionOf } = await import('/channels.js');
		const c = (name, block, role) => ({ name: 'arm.' + name, unit: 'N·m', block, role, axis: 'arm', owner: 'arm' });
		const info = { owners: [{ name: 'arm', kind: 'axis' }], axes: [{ name: 'arm', model: { J: 0.25 } }], channels: [c('est.friction',
			'estimated', 'friction'),
			c('ref.acceleration', 'modelled', 'acceleration'), c('comp.friction', 'modelled', 'effort'), c('comp.mechanism', 'modelled',
				'effort')] };
		let inForce = {};
		const d = derive(info, () => inForce), row = (load) => { const r = { 'arm.est.friction': 7, 'arm.ref.acceleration': 2,
			'arm.comp.mechanism': load }; fill(d, r); return [r['arm.friction alone'], r['arm.gravity and coupling']]; };
		const first = row(5), off = row(0), none = row(null);
		inForce = { arm: { motor: { J: 0.5 } } };
		return [...first, ...row(5), off[0] === off[0] ? 1 : 0, none[0] === none[0] ? 1 : 0, frictionOf(info,
			'arm').name === 'arm.friction alone' ? 1 : 0, info.channels.length];`)
	// by hand: 5 − 0.25·2 = 4.5 of the machine, 2.5 friction; with the inertia handed over 5 − 0.5·2 = 4 and 3
	for i, want := range []float64{2.5, 4.5, 3, 4, 0, 0, 1, 6} {
		if got[i] != want {
			t.Fatalf("%v at %d, want %g", got, i, want)
		}
	}
}
