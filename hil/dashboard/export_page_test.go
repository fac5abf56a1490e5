package dashboard_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	cdbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"hilrig/hil"
	"hilrig/hil/sink"
)

// downloads makes the browser put files into a folder, and gives what waits for one.
func (p tab) downloads() (next func(ending string) []byte) {
	p.Helper()
	dir := p.TempDir()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, cdbrowser.SetDownloadBehavior, cdbrowser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir})
		return chromedp.Void{}, err
	})
	return func(ending string) []byte {
		p.Helper()
		for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
			if found, _ := filepath.Glob(filepath.Join(dir, "*"+ending)); len(found) == 1 {
				data, err := os.ReadFile(found[0])
				if err != nil {
					p.Fatal(err)
				}
				if len(data) == 0 {
					continue // the browser holds the name with an empty file, and renames the whole one over it
				}
				os.Remove(found[0])
				return data
			}
		}
		p.Fatalf("no file %s was written; the page says %q", ending, p.text("answer"))
		return nil
	}
}

// table reads a CSV: columns, units, and the rows by seq.
func table(t *testing.T, data []byte) (names, units []string, rows map[uint64]map[string]float64) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 2 {
		t.Fatalf("a CSV of %d lines", len(lines))
	}
	names, units, rows = lines[0], lines[1], map[uint64]map[string]float64{}
	for _, l := range lines[2:] {
		row := map[string]float64{}
		for i, text := range l {
			if text == "run" {
				continue // the mode
			}
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			row[names[i]] = x
		}
		rows[uint64(row["seq"])] = row
	}
	return names, units, rows
}

// After a reload the traces go back to before the page was opened, from the recording; and the window that is seen is written as CSV with
// the numbers that hil export writes of the same rows.
func TestHistoryAndExport(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	next := p.downloads()
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.rows.last - hil.rows.first > 5")
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.frames > 10 && hil.history.kept && hil.drawn()[0] < -5")
	if n := eval[int](p, "hil.history.kept.t.length"); n < 500 {
		t.Errorf("%d points of history", n)
	}
	save(p, "history.png", chromedp.CaptureScreenshot())

	// so does the friction over velocity: it has more rows than came since
	p.until("hil.curveSamples() > hil.rows.received + 4000")

	// zoomed into the part that only the recording holds: all rows, one a tick
	p.do(chromedp.Click(chromedp.CSS("#pause")))
	eval[any](p, "hil.zoom(hil.rows.first - hil.still().last - 2, hil.rows.first - hil.still().last - 1.5)")
	p.until("hil.inView() >= 498 && hil.inView() <= 502") // every row of half a second
	// cursors read it too
	p.do(chromedp.Click(chromedp.CSS("#marks")))
	if got := clean(eval[string](p, "document.querySelector('#plots figure:nth-child(2) .trace').textContent")); strings.Contains(got,
		"–") ||
		!strings.Contains(got, "Δ") {
		t.Errorf("cursors in the past: %q", got)
	}
	p.do(chromedp.Click(chromedp.CSS("#marks")))

	// a window half of the page's own rows, half of the recording, as a file
	eval[any](p, "hil.zoom(hil.rows.first - hil.still().last - 1, hil.rows.first - hil.still().last + 0.5)")
	p.do(chromedp.Click(chromedp.CSS("#csv")))
	names, units, rows := table(t, next(".csv"))
	if !strings.HasPrefix(p.text("answer"), "CSV: 1") || math.Abs(float64(len(rows))-1500) > 3 {
		t.Errorf("%d rows of 1.5 s at 1 kHz; the page says %q", len(rows), p.text("answer"))
	}
	if names[0] != "timestamp" || names[1] != "seq" || units[0] != "# s" {
		t.Errorf("begins with %v, %v", names[:3], units[:3])
	}

	// what hil export writes of them
	run, err := sink.OpenRun(r.record)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var whole bytes.Buffer
	if _, err := sink.ExportCSV(context.Background(), run, &whole, sink.ExportOptions{Channels: names[1:]}); err != nil {
		t.Fatal(err)
	}
	wantNames, wantUnits, wantRows := table(t, whole.Bytes())
	if fmt.Sprint(names) != fmt.Sprint(wantNames) || fmt.Sprint(units) != fmt.Sprint(wantUnits) {
		t.Errorf("head\n%v\n%v\nwant\n%v\n%v", names, units, wantNames, wantUnits)
	}
	var lowest, highest uint64 = math.MaxUint64, 0
	for seq, row := range rows {
		lowest, highest = min(lowest, seq), max(highest, seq)
		want, ok := wantRows[seq]
		if !ok {
			t.Fatalf("row %d is not in the recording", seq)
		}
		for name, x := range row {
			slack := 1e-8 * math.Abs(want[name]) // nine digits
			if name == "timestamp" {
				slack = 2e-6
			}
			if math.Abs(x-want[name]) > slack {
				t.Fatalf("row %d, %s: %v, want %v", seq, name, x, want[name])
			}
		}
	}
	if int(highest-lowest)+1 != len(rows) {
		t.Errorf("rows %d to %d, but %d of them", lowest, highest, len(rows))
	}

	// the picture
	p.do(chromedp.Click(chromedp.CSS("#marks")), chromedp.Click(chromedp.CSS("#png")))
	data := next(".png")
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if *shots != "" {
		os.WriteFile(filepath.Join(*shots, "export.png"), data, 0o644)
	}
	box := p.box("#plots")
	if w := float64(img.Bounds().Dx()); math.Abs(w-2*box[2]) > 2 {
		t.Errorf("picture %v of plots %g wide, want twice", img.Bounds(), box[2])
	}
	ground, inked := img.At(1, 1), 0
	for y := 0; y < img.Bounds().Dy(); y += 3 {
		for x := 0; x < img.Bounds().Dx(); x += 3 {
			if img.At(x, y) != ground {
				inked++
			}
		}
	}
	if all := img.Bounds().Dx() * img.Bounds().Dy() / 9; inked < all/2 {
		t.Errorf("%d of %d points of the picture are drawn", inked, all)
	}
}

// Without a recording the page says that there is no history, where somebody looks for it.
func TestNoHistory(t *testing.T) {
	ctx := browser(t)
	r := newRig(t, withoutRecording)
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.frames > 5 && document.getElementById('held').textContent.includes('no history: recording is off')")
	if eval[bool](p, "performance.getEntriesByType('resource').some((e) => e.name.includes('/api/history'))") {
		t.Error("the page asks for a history that is not there")
	}
}
