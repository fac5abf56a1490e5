package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

// inkOf is a number that changes with the picture on a canvas of the ball, 0 while it is empty.
func inkOf(canvas string) string {
	return `(() => { const c = document.querySelector('.ball canvas.` + canvas + `'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		let s = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) s = (s * 31 + i * (1 + d[i - 3])) % 9007199; return s; })()`
}

// The ball of the example on the page in a real browser: it turns, its path grows, the friction appears with its interval; a rig without an
// axis shows no friction over velocity.
func TestDaemonBallPage(t *testing.T) {
	inPairs(t)
	path := peer.Program(t, "chromium", "chromium")
	d := startRun(t, ballFile(t), "--no-record")
	ctx := openPage(t, path, d.ready.Page, 900, 2*time.Minute)
	untilPage(t, ctx, "window.hil && hil.counters.batches > 5 && hil.link() === 'live'")
	untilPage(t, ctx, "document.getElementById('mode').textContent === 'READY'")
	text := func(js string) string {
		t.Helper()
		s, err := chromedp.Run(ctx, chromedp.Evaluate[string](js))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, canvas := range []string{"orientation", "path", "friction"} {
		untilPage(t, ctx, inkOf(canvas)+" > 0")
		first, err := chromedp.Run(ctx, chromedp.Evaluate[float64](inkOf(canvas)))
		if err != nil {
			t.Fatal(err)
		}
		untilPage(t, ctx, inkOf(canvas)+" !== "+jsNumber(first))
	}
	// 2.5e-4 N·m·s, within two percent
	untilPage(t, ctx, `/^2(4[5-9]|5[0-5])\.\d+ ± \d\.\d+/.test(document.querySelector('.ball b').textContent)`)
	if s := text("document.querySelector('.ball b').textContent"); !strings.Contains(s, "µN·m·s") {
		t.Errorf("rolling friction is written %q", s)
	}
	if s := text("String(document.querySelector('.panel.curve').hidden) + document.querySelector('[data-model=friction] " +
		"h2').textContent"); !strings.HasPrefix(s, "truefriction") {
		t.Errorf("%q", s)
	}
	if *figures {
		time.Sleep(8 * time.Second)
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile("../../docs/img/ball-page.png", png, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if code := d.stop(); code != report.Interrupted {
		t.Errorf("exit code %d", code)
	}
}
