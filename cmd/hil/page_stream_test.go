package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

// With a broker of somebody else the page has every row too, and its file of some seconds holds all of them. A second daemon of that name
// on the broker is refused.
func TestDaemonPageOfAnExternalBroker(t *testing.T) {
	inPairs(t)
	chromium := peer.Program(t, "chromium", "chromium")
	_, address := startMosquitto(t)
	file := tolerant(t, virtualPort, "  listen: localhost:1883 ", "  broker: "+address+"\n  listen: localhost:1883 ")
	d := startRun(t, file, "--record", t.TempDir())
	ctx := openPage(t, chromium, d.ready.Page, 900, 90*time.Second)
	untilPage(t, ctx, "window.hil && hil.link() === 'live' && hil.rows.last - hil.rows.first > 4")

	_, errs, code := execute(t, "run", file, "--no-web", "--record", t.TempDir())
	if code != report.Unavailable || !strings.Contains(errs, "another daemon publishes under hil/motor/") ||
		!strings.Contains(errs, "process "+strconv.Itoa(d.cmd.Process.Pid)) {
		t.Errorf("the second daemon: code %d\n%s", code, errs)
	}

	untilPage(t, ctx, "hil.rows.last - hil.rows.first > 6 && hil.rows.lost === 0")
	const csv = `(() => { URL.createObjectURL = (b) => { b.text().then((text) => { window.file = text; }); return '#'; }; document.getElementById('csv').click(); return true; })()`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](csv)); err != nil {
		t.Fatal(err)
	}
	untilPage(t, ctx, "window.file")
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("window.file"))
	if err != nil {
		t.Fatal(err)
	}
	var last, first uint64
	rows, skipped := 0, uint64(0)
	for _, l := range strings.Split(strings.TrimSpace(text), "\n")[2:] {
		seq, err := strconv.ParseUint(strings.Split(l, ",")[1], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		if rows++; first == 0 {
			first = seq
		} else if seq <= last {
			t.Fatalf("row %d follows row %d", seq, last)
		} else {
			skipped += seq - last - 1
		}
		last = seq
	}
	if skipped > 0 || rows < 5000 {
		t.Errorf("%d rows from %d to %d, %d missing", rows, first, last, skipped)
	}
	d.stop()
}
