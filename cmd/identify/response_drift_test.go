package identify

import (
	"math"
	"strings"
	"testing"
)

// A column whose zero drifts is named, and no value is identified in an interval that misses it. Without a drift none is found.
func TestResponseOfADriftingColumn(t *testing.T) {
	levels := func(k int) float64 { return math.Sin(float64(k*k)) * 9 }
	for _, c := range []struct {
		column int     // u, i
		size   float64 // over the record
	}{{0, -0.4}, {1, 0.3}, {1, 0}} {
		file := spun(t, levels, func(u float64) float64 { return u }, func(columns [3][]float64) {
			x := columns[c.column]
			for k := range x {
				x[k] += c.size * float64(k) / float64(len(x))
			}
		})
		r, _ := responseOf(t, file, Options{})
		named := false
		for _, x := range r.Unmodelled {
			named = named || strings.HasPrefix(x.Kind, "zero of an ")
		}
		if named != (c.size != 0) {
			t.Errorf("column %d, %+g: the residual holds %+v", c.column, c.size, r.Unmodelled)
		}
		for name, want := range spunTruth {
			p, _ := r.Param(name)
			if p.CI == nil || want < p.CI[0]-0.25*(p.CI[1]-p.CI[0]) || want > p.CI[1]+0.25*(p.CI[1]-p.CI[0]) {
				t.Errorf("column %d, %+g: %s %.4g in %v for %g, %s", c.column, c.size, name, p.Value, p.CI, want, r.Verdict)
			}
		}
	}
}
