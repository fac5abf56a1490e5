package linear

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/record"
)

// Windows of one run of a board whose clock is not quite even: each has its own interval, and the parameters come out as exactly as of
// one record. Taken for samples of the first window's interval, inertia would be off by twice what the intervals differ by.
func TestRecordsOfNearlyOneRate(t *testing.T) {
	var recs []*record.Record
	for k := range 13 {
		m := swing
		m.n, m.dt = 4000, 1e-3*(1+0.015*float64(k%3)/2)
		m.tones = slices.Clone(m.tones)
		for i := range m.tones {
			m.tones[i][2] += float64(k)
		}
		recs = append(recs, m.data(axis))
	}
	for _, c := range []struct {
		form Form
		o    Options
	}{{Direct, Options{}}, {Weak, Options{}}, {Instrumental, Options{}}, {Total, Options{NoiseRatio: 1e-9}}} {
		r, err := Fit(recs, DefaultSpec(), c.form, c.o)
		if err != nil {
			t.Fatalf("%s: %v", c.form, err)
		}
		for j, e := range r.Estimates {
			if e.Symbol == "lag" {
				if math.Abs(e.Value) > 2e-6 {
					t.Errorf("%s: lag %.2g s, put in none", c.form, e.Value)
				}
			} else if math.Abs(e.Value-axisTruth[j]) > 2e-3*math.Abs(axisTruth[j]) {
				t.Errorf("%s: %s = %.5g, put in %g", c.form, e.Symbol, e.Value, axisTruth[j])
			}
		}
	}
}

// What is no record of the same rate is refused: 2 % apart, or as much as the clocks tremble.
func TestRecordsOfTwoRates(t *testing.T) {
	for _, c := range []struct {
		apart, jitter float64
		samples       int
		ok            bool
	}{
		{0.019, 0, 1000, true}, {-0.019, 0, 1000, true}, {0.021, 0, 1000, false}, {-0.021, 0, 1000, false},
		{0.04, 0.05, 50, true}, {-0.04, 0.05, 50, true}, {0.04, 0.05, 5000, false}, {0.11, 1, 50, false}, {-0.11, 1, 50, false},
	} {
		first := &record.Record{Dt: 0.005, Position: make([]float64, 1e6), Force: make([]float64, 1e6)}
		d := &record.Record{Dt: 0.005 * (1 + c.apart), Position: make([]float64, c.samples), Force: make([]float64, c.samples)}
		d.Clock.Jitter = c.jitter
		if err := d.CheckRate(first); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "Resample") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
