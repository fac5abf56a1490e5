package identify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
)

// Slow motion cannot tell drag from viscous friction. The intervals hold that, whether there is drag or not, and without it the
// record stays identified.
func TestDragThatSlowMotionHides(t *testing.T) {
	w := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lugre, kalman" })]
	seeds := []uint64{513}
	if soak {
		seeds = []uint64{13, 113, 213, 313, 413, 513, 613, 713}
	}
	warned, alarms := 0, 0
	for _, seed := range seeds {
		for _, drag := range []float64{0, 1} {
			b := newBench(seed, w.seconds)
			w.prepare(b)
			c := drag * b.axis.Friction.Sigma2 / 0.3
			b.axis.Load = func(_, _, v float64) float64 { return c * v * math.Abs(v) }
			tr := b.record(nil)
			w.plan(b, &tr.plan)
			o := attempt(kind{}, tr)
			if o.wrong != nil {
				t.Errorf("seed %d, drag %g: %s %v (%s)", seed, drag, o.verdict, o.wrong, o.reason)
			}
			if drag == 0 && o.verdict != Identified {
				t.Logf("seed %d: %s (%s)", seed, o.verdict, o.reason)
				alarms++
			}
			if slices.ContainsFunc(o.result.Warnings, func(s string) bool { return strings.HasPrefix(s, "drag: this motion does not exclude") }) {
				warned++
			}
		}
	}
	if 8*alarms > len(seeds) {
		t.Errorf("%d of %d records without drag are not identified", alarms, len(seeds))
	}
	if warned < len(seeds) {
		t.Errorf("%d of %d results say that drag is not excluded", warned, 2*len(seeds))
	}
}

// An interval holds what the residual shows and, beside it, what it does not exclude, in either order and direction.
func TestIntervalHoldsWhatIsShownAndWhatIsPossible(t *testing.T) {
	se := 0.5
	for _, c := range []struct {
		moves []float64 // odd places: possible
		want  [2]float64
	}{
		{nil, [2]float64{9, 11}},
		{[]float64{0.1, -3}, [2]float64{6, 11.1}},
		{[]float64{-0.1, -3}, [2]float64{5.9, 11}},
		{[]float64{0.1, 3, -0.05, 2}, [2]float64{8.95, 14.1}},
		{[]float64{-4, 0.2}, [2]float64{5, 11.2}},
	} {
		p := Parameter{Estimate: fit.Estimate{Name: "sigma2", Value: 10, StdErr: &se, CI95: &[2]float64{9, 11}}}
		most := 0.0
		for i, m := range c.moves {
			p.addMove(m, i%2 == 1, "drag")
			most = math.Max(most, math.Abs(m))
		}
		r := &Result{Residual: fit.Residual{Whiteness: fit.Whiteness{White: true}}}
		if ci := r.Interval(&p); math.Abs(ci[0]-c.want[0])+math.Abs(ci[1]-c.want[1]) > 1e-12 {
			t.Errorf("moves %v: interval %v, want %v", c.moves, *ci, c.want)
		}
		if c.moves != nil && math.Abs(*p.Biased) != most {
			t.Errorf("moves %v: systematic %g", c.moves, *p.Biased)
		}
	}
}
