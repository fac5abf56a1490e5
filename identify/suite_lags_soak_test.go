//go:build soak

package identify

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// The table of records that passed filters, are rounded, or hold wrong samples: what is off, in halves of its interval, under which
// verdict. KIND and WAY choose some of it.
func TestTableOfLags(t *testing.T) {
	for _, w := range append([]way{everyday}, ways...) {
		if f := os.Getenv("WAY"); w.name != f && (f != "" || w.name != "regress") {
			continue
		}
		missed, values := 0, 0
		for i, k := range kinds {
			if i < len(axisKinds) && !strings.Contains(os.Getenv("KIND"), "all") ||
				!strings.Contains(k.name, strings.TrimPrefix(os.Getenv("KIND"), "all")) {
				continue
			}
			line := ""
			for seed := range 3 {
				b := newBench(uint64(100*seed+i+1), w.seconds)
				if w.prepare != nil {
					w.prepare(b)
				}
				tr := k.make(b)
				if w.plan != nil {
					w.plan(b, &tr.plan)
				}
				o := attempt(k, tr)
				worst := ""
				far, size := 0.0, 0.0
				if o.result != nil {
					for i := range o.result.Parameters {
						p := &o.result.Parameters[i]
						truth, known := tr.truth[p.Name]
						if p.Fixed || !known || p.CI == nil || p.Name == "offset" {
							continue
						}
						half := (p.CI[1] - p.CI[0]) / 2
						values++
						if off := math.Abs(truth-(p.CI[0]+p.CI[1])/2) / half; off > 1 {
							missed++
							if off > far {
								worst, far = fmt.Sprintf("%s %+.1f%% ±%.1f%% (%.1f)", p.Name, 100*(p.Value/truth-1), 100*half/math.Abs(p.Value), off), off
							}
						}
						size = max(size, math.Abs(p.Value/truth-1))
					}
				}
				if os.Getenv("SHOW") != "" && o.result != nil {
					for _, p := range o.result.Parameters {
						t.Logf("   %s %.6g (truth %.6g) err %.2g interval %.6g", p.Name, p.Value, tr.truth[p.Name], *p.Error, *p.CI)
					}
					for _, l := range o.result.Unmodelled {
						t.Logf("   %s %q possible %v share %.1f p %.2g worst %s moves %v", l.Kind, l.What, l.Possible, l.Share, l.PValue, l.Worst,
							l.ParamMoves)
					}
					for _, l := range o.result.Because() {
						t.Logf("   BECAUSE %s", l)
					}
				}
				code := ""
				if o.result != nil && len(o.result.Reasons) > 0 {
					code = string(o.result.Reasons[0].Code)
				}
				mark := ""
				if o.wrong != nil {
					mark = " WRONG"
				}
				line += fmt.Sprintf(" | %.5s %s max %.1f%% miss %s%s", o.verdict, code, 100*size, worst, mark)
			}
			t.Logf("%-38s%s", k.name, line)
		}
		t.Logf("%s: %d of %d intervals miss the truth", w.name, missed, values)
	}
}
