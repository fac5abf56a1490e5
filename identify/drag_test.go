package identify

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Slow motion cannot tell drag from viscous friction. The intervals hold that, whether there is drag or not, and without it the
// record stays identified.
func TestDragThatSlowMotionHides(t *testing.T) {
	w := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lugre, kalman" })]
	warned := 0
	for _, seed := range []uint64{13, 313, 413, 513} {
		for _, drag := range []float64{0, 1} {
			b := newBench(seed, w.seconds)
			w.prepare(b)
			c := drag * b.axis.Friction.Sigma2 / 0.3
			b.axis.Load = func(_, _, v float64) float64 { return c * v * math.Abs(v) }
			tr := b.record(nil)
			w.plan(b, &tr.plan)
			o := attempt(kind{}, tr)
			if o.wrong != nil || drag == 0 && o.verdict != Identified {
				t.Errorf("seed %d, drag %g: %s %v (%s)", seed, drag, o.verdict, o.wrong, o.reason)
			}
			if slices.ContainsFunc(o.result.Warnings, func(s string) bool { return strings.HasPrefix(s, "drag: this motion does not exclude") }) {
				warned++
			}
		}
	}
	if warned < 4 {
		t.Errorf("%d of 8 results say that drag is not excluded", warned)
	}
}
