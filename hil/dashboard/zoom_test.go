package dashboard_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hilrig/hil"
)

// box is the place of an element: x, y, width, height in px.
func (p tab) box(selector string) [4]float64 {
	p.Helper()
	b := eval[[]float64](p, fmt.Sprintf("(() => { const b = document.querySelector(%q).getBoundingClientRect(); return [b.x, b.y, b.width, "+
		"b.height]; })()", selector))
	return [4]float64(b)
}

// mouse sends one event of the mouse.
func mouse(kind input.DispatchMouseEventType, x, y float64, more ...func(*input.DispatchMouseEventParams)) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		p := input.DispatchMouseEventParams{Type: kind, X: x, Y: y}
		for _, m := range more {
			m(&p)
		}
		_, err := cdp.Call(ctx, t, input.DispatchMouseEvent, p)
		return chromedp.Void{}, err
	}
}

// drag goes with the left button down from one point to another.
func (p tab) drag(x0, y0, x1, y1 float64) {
	p.Helper()
	left := func(e *input.DispatchMouseEventParams) { e.Button, e.ClickCount = "left", 1 }
	p.do(mouse("mouseMoved", x0, y0), mouse("mousePressed", x0, y0, left), mouse("mouseMoved", (x0+x1)/2, (y0+y1)/2, left),
		mouse("mouseMoved", x1, y1, left), mouse("mouseReleased", x1, y1, left))
}

const over = "#plots figure:nth-child(2) .u-over" // of the velocity

// yRange is the range of the left axis of a figure.
func (p tab) yRange(figure int) (lo, hi float64) {
	p.Helper()
	r := eval[[][]float64](p, "hil.ranges()")[figure]
	return r[0], r[1]
}

// The y axes zoom by dragging, by the wheel and by two fingers, each figure for itself, and go back by one button.
func TestZoomUpAndDown(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 30")
	p.do(chromedp.Click(chromedp.CSS("#pause")))
	lo, hi := p.yRange(1)
	other, _ := p.yRange(0)
	want := func(what string, wantLo, wantHi float64) {
		t.Helper()
		a, b := p.yRange(1)
		if slack := 0.03 * (wantHi - wantLo); math.Abs(a-wantLo) > slack || math.Abs(b-wantHi) > slack {
			t.Errorf("%s: the axis goes from %g to %g, want %g to %g", what, a, b, wantLo, wantHi)
		}
	}

	// from a quarter of the height to a half, from above: the second quarter
	b := p.box(over)
	p.drag(b[0]+b[2]/2, b[1]+b[3]/4, b[0]+b[2]/2+2, b[1]+b[3]/2)
	want("dragged down", (lo+hi)/2, lo+0.75*(hi-lo))
	if v := eval[[]float64](p, "hil.view()"); v[0] != -10 || v[1] != 0 {
		t.Errorf("dragged down, but time was zoomed too: %v", v)
	}
	if a, _ := p.yRange(0); a != other {
		t.Error("another figure was zoomed too")
	}
	if eval[bool](p, "document.getElementById('unzoom').disabled") {
		t.Error("the zoom of an axis cannot be reset")
	}
	p.do(chromedp.Click(chromedp.CSS("#unzoom")))
	want("reset", lo, hi)
	if !eval[bool](p, "document.getElementById('unzoom').disabled") {
		t.Error("after a reset there is something to reset")
	}

	// the wheel: over the numbers of the axis, or with Shift; what is under the pointer stays there
	turn := func(dy float64, shift int64) func(*input.DispatchMouseEventParams) {
		// a zero is left out, and then the event is refused
		return func(e *input.DispatchMouseEventParams) { e.DeltaX, e.DeltaY, e.Modifiers = 1e-9, dy, shift }
	}
	p.do(mouse("mouseWheel", b[0]-20, b[1]+b[3], turn(-100, 0)))
	want("wheel over the numbers, at their lower end", lo, lo+0.8*(hi-lo))
	p.do(mouse("mouseWheel", b[0]-20, b[1]+b[3], turn(100, 0)))
	want("and back", lo, hi)
	p.do(mouse("mouseWheel", b[0]+50, b[1]+1, turn(-100, 0)))
	want("a wheel in the figure", lo, hi)
	p.do(mouse("mouseWheel", b[0]+50, b[1]+1, turn(-100, 8)))
	want("Shift and wheel at the upper end", hi-0.8*(hi-lo), hi)

	// the numbers can be dragged, and a double-click on them makes the axis automatic again
	p.drag(b[0]-20, b[1]+10, b[0]-20, b[1]+10+b[3]/2)
	want("numbers dragged down by half", hi-0.8*(hi-lo)+0.4*(hi-lo), hi+0.4*(hi-lo))
	left := func(n int64) func(*input.DispatchMouseEventParams) {
		return func(e *input.DispatchMouseEventParams) { e.Button, e.ClickCount = "left", n }
	}
	x, y := b[0]-20, b[1]+30
	p.do(mouse("mousePressed", x, y, left(1)), mouse("mouseReleased", x, y, left(1)), mouse("mousePressed", x, y, left(2)),
		mouse("mouseReleased", x, y, left(2)))
	want("double-click on the numbers", lo, hi)

	// two fingers, a tenth of the sides apart and then three tenths: a third of the ranges, about the same middle
	touch := func(kind input.DispatchTouchEventType, points ...[2]float64) chromedp.Action[chromedp.Void] {
		return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
			list := []*input.TouchPoint{}
			for i, q := range points {
				id := float64(i)
				list = append(list, &input.TouchPoint{X: b[0] + q[0]*b[2], Y: b[1] + q[1]*b[3], ID: &id})
			}
			_, err := cdp.Call(ctx, t, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: list})
			return chromedp.Void{}, err
		}
	}
	p.do(touch("touchStart", [2]float64{0.4, 0.3}), touch("touchStart", [2]float64{0.4, 0.3}, [2]float64{0.6, 0.7}),
		touch("touchMove", [2]float64{0.3, 0.25}, [2]float64{0.7, 0.75}), touch("touchMove", [2]float64{0.2, 0.1}, [2]float64{0.8, 0.9}),
		touch("touchEnd"))
	want("two fingers spread to twice the height", lo+0.25*(hi-lo), lo+0.75*(hi-lo))
	if v := eval[[]float64](p, "hil.view()"); math.Abs(v[0]+20./3) > 0.2 || math.Abs(v[1]+10./3) > 0.2 {
		t.Errorf("two fingers spread to three times the width: view %v, want a third of 10 s about the middle", v)
	}
	p.do(chromedp.DoubleClick(chromedp.CSS(over)))
	want("double-click in the figure", lo, hi)
}

// The friction curve zooms as the traces do, along both of its axes.
func TestCurveZooms(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.curveSamples() > 3000")
	at := func() [4]float64 {
		return [4]float64(eval[[]float64](p, "[...hil.curves().ranges.x, ...hil.curves().ranges.y]"))
	}
	// the frame is 54 px from the left, 10 from the right, 8 from above and 34 from below
	b := p.box("#curve")
	x, y := func(f float64) float64 { return b[0] + 54 + f*(b[2]-64) }, func(f float64) float64 { return b[1] + b[3] - 34 - f*(b[3]-42) }
	was := at()
	p.drag(x(0.5), y(0.5), x(0.75), y(1))
	now, half := at(), func(i int) float64 { return was[2*i+1] }
	for i, want := range []float64{0, half(0) / 2, 0, half(1)} {
		if slack := 0.02 * half(i/2); math.Abs(now[i]-want) > slack {
			t.Errorf("dragged across the part above and right of the middle, up to its middle: %v of %v", now, was)
			break
		}
	}
	if eval[bool](p, "document.getElementById('unzoom').disabled") {
		t.Error("the zoom of the curve cannot be reset")
	}
	save(p, "curve-zoomed.png", chromedp.CaptureScreenshot())
	p.do(mouse("mouseWheel", x(0)+1, y(0)+12, func(e *input.DispatchMouseEventParams) { e.DeltaX, e.DeltaY = 1e-9, -100 }))
	if w := at(); math.Abs(w[0]-now[0]) > 0.02 || math.Abs(w[1]-0.8*now[1]) > 0.02*now[1] || w[2] != now[2] {
		t.Errorf("wheel over the left end of the velocities: from %v to %v", now, w)
	}
	p.do(chromedp.Click(chromedp.CSS("#unzoom")))
	if w := at(); w[0] != -w[1] || w[2] != -w[3] {
		t.Errorf("reset: %v", w)
	}
}

// Two cursors stand in all figures; what a trace is at both, its difference, the time between them and its inverse are told.
func TestCursors(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.rows.last - hil.rows.first > 3")
	p.do(chromedp.Click(chromedp.CSS("[data-window='2']")), chromedp.Click(chromedp.CSS("#pause")), chromedp.Click(chromedp.CSS("#marks")))
	if n := eval[int](p, "document.querySelectorAll('.mark').length"); n != 12 {
		t.Errorf("%d lines, want two in each of 6 figures", n)
	}
	// dragged to 1.5 s and 0.7 s before the end
	b := p.box(over)
	for i, to := range []float64{0.25, 0.65} {
		m := p.box(fmt.Sprintf("#plots figure:nth-child(2) .mark[data-mark=%c]", "AB"[i]))
		p.drag(m[0]+m[2]/2, m[1]+m[3]/2, b[0]+to*b[2], m[1]+m[3]/2)
	}
	at := eval[[]float64](p, "hil.marks()")
	if math.Abs(at[0]+1.5) > 0.01 || math.Abs(at[1]+0.7) > 0.01 {
		t.Fatalf("cursors stand at %v, want -1.5 and -0.7 s", at)
	}
	if v := eval[[]float64](p, "hil.view()"); v[0] != -2 {
		t.Errorf("dragging a cursor zoomed to %v", v)
	}
	// the numbers, from the rows themselves
	said := clean(p.text("marked"))
	var a, bb, dt, f float64
	if _, err := fmt.Sscanf(strings.ReplaceAll(said, "−", "-"), "A %g s B %g ms Δt %g ms 1/Δt %g Hz", &a, &bb, &dt, &f); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	dt /= 1000
	if bb /= 1000; math.Abs(a-at[0]) > 0.002 || math.Abs(bb-at[1]) > 0.002 || math.Abs(dt-(bb-a)) > 0.0015 || math.Abs(f*dt-1) > 0.001 {
		t.Errorf("cursors at %v, told %q", at, said)
	}
	// the difference of the reference follows from the rows of the page
	v := eval[[]float64](p, `hil.marks().map((m) => { const r = hil.rows, still = hil.still(); return still.columns.get('shaft.ref.velocity')[still.near(still.last + m)]; })`)
	caption := strings.ReplaceAll(clean(eval[string](p, "[...document.querySelectorAll('#plots figure:nth-child(2) .trace')].find((e) => "+
		"e.title === 'shaft.ref.velocity').textContent")), "−", "-")
	d := v[1] - v[0]
	decimals := 3 // of four digits
	if math.Abs(d) >= 10 {
		decimals = 2
	}
	if want := fmt.Sprintf("%.*f", decimals, d); math.Abs(d) > 1 && !strings.Contains(caption, "Δ "+want+" rad/s") {
		t.Errorf("velocities %v, caption %q lacks the difference %s", v, caption, want)
	}
	shoot(p, "cursors")
	// by the keyboard, ten pixels at a time
	eval[any](p, "document.querySelector('#plots figure:nth-child(2) .mark').focus()")
	p.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(8)))
	if now := eval[[]float64](p, "hil.marks()"); math.Abs(now[0]-at[0]-20/b[2]) > 1e-3 {
		t.Errorf("ten pixels to the right: from %g to %g s", at[0], now[0])
	}
	p.do(chromedp.Click(chromedp.CSS("#marks")))
	if eval[int](p, "document.querySelectorAll('.mark').length") != 0 || p.text("marked") != "" {
		t.Error("cursors remain")
	}
}

// No button moves when the mode changes, when a warning comes or when numbers grow: in every mode, at every width.
func TestButtonsStay(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 5 && hil.counters.health > 1")
	const places = `[...document.querySelectorAll('button, select, input, summary')].filter((e) => e.checkVisibility()).map((e) => {
		const b = e.getBoundingClientRect(); return [e.id || e.dataset.param || e.className || e.textContent, b.x, b.y + scrollY, b.width, b.height].join(' '); }).join('\n')`
	set := func(m hil.Mode, c hil.Cause) {
		r.with(func() { r.mode, r.cause = m, c })
		r.stream.Event(hil.Event{Time: time.Now(), Level: "info", Code: "MODE", Text: "a mode that takes some words to tell, so that it stands " +
			"on two lines of a phone"})
		p.until(fmt.Sprintf("hil.mode() === %q", m))
		if c != hil.CauseNone {
			p.until("!document.getElementById('why').hidden")
		}
	}
	var was string
	for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {390, 844}} {
		set(hil.Run, hil.CauseNone) // the first estimates come in, and with them their digits
		p.until("document.getElementById('params').textContent.includes('±')")
		p.do(chromedp.EmulateViewport(size[0], size[1]))
		for _, m := range []hil.Mode{hil.Init, hil.SelfTest, hil.Ready, hil.Armed, hil.Run, hil.Hold, hil.Trip, hil.Estop} {
			c := hil.CauseNone
			if m == hil.Trip || m == hil.Hold || m == hil.Estop {
				c = hil.CauseStale
			}
			set(m, c)
			p.do(chromedp.Sleep(60e6))
			got := eval[string](p, places)
			if m == hil.Init {
				was = got
			} else if got != was {
				t.Errorf("%d px wide: in mode %s buttons moved:%s", size[0], m, differ(was, got))
			}
			save(p, fmt.Sprintf("mode-%s-%d.png", m, size[0]), chromedp.CaptureScreenshot())
		}
		if size[0] != 1024 { // a warning takes two seconds to come
			r.with(func() { r.silent = true })
			p.until("!document.getElementById('banner').hidden")
			if got := eval[string](p, places); got != was {
				t.Errorf("%d px wide: a warning moved buttons:%s", size[0], differ(was, got))
			}
			save(p, fmt.Sprintf("mode-silent-%d.png", size[0]), chromedp.CaptureScreenshot())
			r.with(func() { r.silent = false })
			p.until("document.getElementById('banner').hidden")
		}
		if size[0] < 700 {
			small := eval[[]string](p, `[...document.querySelectorAll('button, select, input, summary')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)`)
			if len(small) > 0 {
				t.Errorf("on a phone these are lower than 44 px: %s", strings.Join(small, "\n"))
			}
			if wide := eval[float64](p, "document.documentElement.scrollWidth"); wide > float64(size[0]) {
				t.Errorf("on a phone the page is %g px wide", wide)
			}
		}
	}
}

// differ lists the lines that are not the same.
func differ(a, b string) (out string) {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(la), len(lb)) {
		var x, y string
		if i < len(la) {
			x = la[i]
		}
		if i < len(lb) {
			y = lb[i]
		}
		if x != y {
			out += "\n  " + x + " → " + y
		}
	}
	return out
}
