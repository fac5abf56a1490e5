package daemon

import (
	"strings"
	"testing"
)

// The verdict follows the medians of valid blocks, on both sides of each bound.
func TestLatencyVerdict(t *testing.T) {
	for _, c := range []struct {
		name              string
		p99, p999, missed float64 // of the loop; the reference has 100 µs, 200 µs, 0.1 %
		blocks            int
		ordinary          bool
		want              string
	}{
		{"as good", 100, 200, 0.1, 10, false, "PASS"},
		{"p99 at its bound", 120, 200, 0.1, 10, false, "PASS"},
		{"p99 beyond", 121, 200, 0.1, 10, false, "FAIL"},
		{"p99.9 at its bound", 100, 300, 0.1, 10, false, "PASS"},
		{"p99.9 beyond", 100, 302, 0.1, 10, false, "FAIL"},
		{"missed at its bound", 100, 200, 0.299, 10, false, "PASS"},
		{"missed beyond", 100, 200, 0.31, 10, false, "FAIL"},
		{"too few", 100, 200, 0.1, 9, false, "INCONCLUSIVE"},
		{"not in real time", 100, 200, 0.1, 10, true, "unprivileged"},
		{"not in real time and late", 130, 200, 0.1, 10, true, "FAIL"},
	} {
		var r latencyReport
		for k := range c.blocks {
			loop := block{FIFO: !c.ordinary, timing: timing{P99: c.p99, P999: c.p999, Missed: c.missed}}
			ref := block{Reference: true, timing: timing{P99: 100, P999: 200, Missed: 0.1}}
			if k == 3 { // medians, not means: one may lie anywhere
				loop.P99, ref.P999 = 1e5, 1e5
			}
			void := block{Void: "void", timing: timing{P99: 1e6, P999: 1e6, Missed: 100}}
			r.Blocks = append(r.Blocks, loop, ref, void)
			r.Valid[0]++
			r.Valid[1]++
		}
		if r.finish(10); !strings.HasPrefix(r.Verdict, c.want) {
			t.Errorf("%s: %s (×%.3f, ×%.3f, %+.3f), want %s", c.name, r.Verdict, r.P99, r.P999, r.Missed, c.want)
		}
	}
}

// What cyclictest prints is read to the last sample: bins, overflows, comments.
func TestParseCyclictest(t *testing.T) {
	d := distribution(parseCyclictest("# /dev/cpu_dma_latency set to 0us\n# Histogram\n000010 000980\n000050 000010\n000200 000009\n# " +
		"Total: 000000999\n# Histogram Overflows: 00001\n"))
	if d.N != 1000 || d.P50 != 10 || d.P99 != 50 || d.P999 != 200 || d.Max != histBins-1 {
		t.Errorf("%+v", d)
	}
}
