package main

import (
	"context"
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

var figures = flag.Bool("figures", false, "redraw the picture of the page in docs/img")

// What a newcomer sees within a minute of starting the program: the page in a real browser, its curve moving.
func TestDaemonPageMoves(t *testing.T) { drivePage(t, tolerant(t, virtualPort), 900, 0, "") }

// The picture of the page in the README, after a minute of motion.
func TestDaemonFigurePage(t *testing.T) {
	if !*figures {
		t.Skip("draws only with -figures (make figures)")
	}
	drivePage(t, tolerant(t, virtualPort), 900, 60*time.Second, "../../docs/img/page.png")
}

// The picture of the page of a rig with brushes.
func TestDaemonFigureBrushPage(t *testing.T) {
	if !*figures {
		t.Skip("draws only with -figures (make figures)")
	}
	drivePage(t, brushFile(t), 1500, 25*time.Second, "../../docs/img/brush-page.png")
}

func drivePage(t *testing.T, file string, height int, watch time.Duration, picture string) {
	path := peer.Program(t, "chromium", "chromium")
	began := time.Now()
	d := startRun(t, file, "--record", t.TempDir())
	ctx := openPage(t, path, d.ready.Page, height, watch+90*time.Second)
	until := func(js string) {
		t.Helper()
		untilPage(t, ctx, js)
	}
	until("window.hil && hil.counters.batches > 5 && hil.link() === 'live'")
	// a machine that starves the rig while the browser starts may trip it: a user would reset, arm and run again
	for {
		mode, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.getElementById('mode').dataset.mode || ''"))
		if err != nil {
			t.Fatalf("mode: %v", err)
		}
		if mode == "run" {
			break
		}
		if mode == "trip" {
			t.Log("the rig tripped while the browser started; reset, arm, run")
			for _, cmd := range []string{"reset", "arm", "run"} {
				d.command(cmd, "{}")
				time.Sleep(time.Second)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	// the canvas of the first trace, twice
	const ink = `(() => { const c = document.querySelector('#plots figure canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		let s = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) s = (s * 31 + i * (1 + d[i - 3])) % 9007199; return s; })()`
	first, err := chromedp.Run(ctx, chromedp.Evaluate[float64](ink))
	if err != nil {
		t.Fatal(err)
	}
	until(ink + " !== " + jsNumber(first))
	took := time.Since(began)
	t.Logf("curve moving in the browser %v after the start of the program", took.Round(10*time.Millisecond))
	if took > time.Minute {
		t.Errorf("curve moving only after %v, want within a minute", took)
	}
	if picture != "" {
		time.Sleep(watch)
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(picture, png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code := d.stop(); code != report.Interrupted {
		t.Errorf("exit code %d, want %d", code, report.Interrupted)
	}
}

// openPage opens a page in a browser of its own, for no longer than the time given.
func openPage(t *testing.T, chromium, url string, height int, within time.Duration) context.Context {
	t.Helper()
	actx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1440, height),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true))...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(actx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, within)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, int64(height)), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// untilPage waits for a condition in the page.
func untilPage(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		if err != nil {
			t.Fatalf("%s: %v", js, err)
		}
		if ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func jsNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
