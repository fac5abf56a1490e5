package dashboard_test

import (
	"math"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"hilrig/estimator/pose"
)

// The page's modules by themselves, in the browser that will run them.

func await[V any](p tab, js string) V {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[V]("(async () => { "+js+" })()", chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", js, err)
	}
	return v
}

func TestModules(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url + "/icon.svg")) // any page of the server, but not the running one

	t.Run("numbers", func(t *testing.T) {
		got := await[[]string](p, `const { eng } = await import('/format.js');
			return [[0.0121, 'N·m'], [2.4e-4, 'kg·m²'], [999.96, 'A'], [0, 'V'], [-5.134, 'rad/s'], [24.43, 'degC'], [3.2e-5, 's'], [null, 'A'], [1e-3, 'ohm'], [12345, '']].map(([x, u]) => eng(x, u));`)
		want := []string{"12.1 mN·m", "240 ×10⁻⁶ kg·m²", "1.00 kA", "0.00 V", "−5.13 rad/s", "24.4 °C", "32.0 µs", "–", "1.00 mΩ", "12.3 ×10³"}
		for i := range want {
			if clean(got[i]) != want[i] {
				t.Errorf("number %d is written %q, want %q", i, clean(got[i]), want[i])
			}
		}
	})

	t.Run("times", func(t *testing.T) {
		got := await[[]float64](p, `const { seconds } = await import('/format.js');
			return ['90', ' 90s', '1m30s', '1.5 min', '1 h 2 min', '250 ms', '1,5', '', '-1', '90 V', '30s1m', '1m30', '1 2', 'x'].map((x) => { const s = seconds(x); return isNaN(s) ? -1 : s; });`)
		want := []float64{90, 90, 90, 90, 3720, 0.25, 1.5, -1, -1, -1, -1, -1, -1, -1}
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%v, want %v", got, want)
		}
	})

	// every verdict of the filter has its words, the sound one none
	t.Run("reasons", func(t *testing.T) {
		got := await[[]string](p, `return (await import('/ball.js')).reasons;`)
		if len(got) != int(pose.Settling)+1 || got[0] != "" || slices.Contains(got[1:], "") {
			t.Errorf("%q for %d verdicts", got, pose.Settling+1)
		}
	})

	t.Run("interval", func(t *testing.T) {
		got := await[[]string](p, `const { together } = await import('/format.js');
			const a = together([0.0206418, 0.024, 0.02], 2.77e-5, 'N·m'); return [...a.texts, a.half, a.unit];`)
		for i, want := range []string{"20.642", "24.000", "20.000", "0.028", "mN·m"} {
			if got[i] != want {
				t.Errorf("%v, want %q at %d", got, want, i)
			}
		}
	})

	// one spike in 20 000 rows survives the reduction to 200 spans, with its time to within a span
	t.Run("spike", func(t *testing.T) {
		got := await[[]float64](p, fill+`rows.push(make(1, 20000, (i) => (i === 12345 ? 7 : Math.sin(i / 900))));
			const { x, ys } = rows.view(['a'], 0, 20, 200, 0); const at = ys[0].indexOf(7);
			return [x.length, at < 0 ? -1 : x[at], Math.min(...ys[0]), rows.gaps];`)
		if got[0] > 402 || math.Abs(got[1]-12.345) > 0.1 || math.Abs(got[2]+1) > 1e-6 || got[3] != 0 {
			t.Errorf("points %g, spike at %g s, minimum %g, gaps %g; want ≤ 402, 12.345, −1, 0", got[0], got[1], got[2], got[3])
		}
	})

	// missing rows are counted and leave the trace open, in the full and in the reduced view
	t.Run("gap", func(t *testing.T) {
		got := await[[]float64](p, fill+`rows.push(make(1, 3000, () => 1)); rows.push(make(3501, 3000, () => 1));
			const open = (n) => { const v = rows.view(['a'], 0, 7, n, 0); const i = v.ys[0].indexOf(null); return i > 0 && v.x[i] > 2.9 && v.x[i] < 3.6 ? 1 : 0; };
			return [rows.lost, rows.gaps, open(1e5), open(100)];`)
		for i, want := range []float64{500, 1, 1, 1} {
			if got[i] != want {
				t.Errorf("lost, gaps, open in full, open in reduced view: %v, want [500 1 1 1]", got)
				break
			}
		}
	})

	// every other row published: no gap; a restarted loop counts from 1 again: a gap, nothing lost; null is open
	t.Run("stride", func(t *testing.T) {
		got := await[[]float64](p, fill+`const every = make(1, 1000, () => 1).filter((r) => r.seq % 2); rows.push(every.slice(0, 250)); rows.push(every.slice(250));
			const quiet = [rows.lost, rows.gaps];
			rows.push(make(1, 5, () => null, 2)); const v = rows.view(['a'], 0, 9, 1e5, 0);
			return [...quiet, rows.lost, rows.gaps, v.ys[0].at(-1) === null ? 1 : 0];`)
		for i, want := range []float64{0, 0, 0, 1, 1} {
			if got[i] != want {
				t.Errorf("lost, gaps; after a restart: lost, gaps, null at the end: %v, want [0 0 0 1 1]", got)
				break
			}
		}
	})

	// the buffer is bounded and keeps the newest; a still copy does not change
	t.Run("bounded", func(t *testing.T) {
		got := await[[]float64](p, fill+`let still; for (let k = 0; k < 40; k++) { rows.push(make(1 + 1000 * k, 1000, (i) => i)); if (k === 20) still = rows.still(); }
			return [rows.n, rows.size, rows.newest('a'), rows.first, still.newest('a'), still.last];`)
		if got[0] > 25000 || got[0] < 20000 || got[1] != 25000 || got[2] != 40000 || got[3] > 20 || got[4] != 21000 ||
			math.Abs(got[5]-20.999) > 1e-6 {
			t.Errorf("rows, size, newest, first s, still newest, still last s: %v", got)
		}
	})

	// the drawn law is the curve it was given, on lines between its points, with its jump at rest and its ends drawn on
	t.Run("law", func(t *testing.T) {
		got := await[[]float64](p, `const { steady } = await import('/curve.js');
			return [-3, -2, -1.5, -0.1, 0, 0.1, 1, 3, 6].map((v) => steady([[-2, -5], [-1, -3], [1, 4], [2, 3], [4, 5]], v));`)
		for i, want := range []float64{-7, -5, -4, -3, 0.5, 4, 4, 4, 7} {
			if math.Abs(got[i]-want) > 1e-12 {
				t.Errorf("point %d of the curve is at %g, want %g N·m", i, got[i], want)
			}
		}
	})
}

// fill makes rows of one signal at 1 kHz: make(first seq, n, value of i, epoch s).
const fill = `const { Rows } = await import('/rows.js'); const rows = new Rows(20000);
	const make = (seq, n, f, later = 0) => Array.from({ length: n }, (_, k) => ({ seq: seq + k, timestamp: 1.8e9 + later + (seq + k) / 1000, a: f(seq + k) }));
	`

// clean turns thin spaces into plain ones.
func clean(s string) string {
	out := []rune(s)
	for i, c := range out {
		if c == '\u202f' {
			out[i] = ' '
		}
	}
	return string(out)
}
