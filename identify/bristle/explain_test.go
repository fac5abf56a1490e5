package bristle

import (
	"math"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// The true parameters leave little more than the force noise over of records that were not fitted; wrong ones leave more.
func TestExplain(t *testing.T) {
	b := benches()[1]
	recs := []*record.Record{b.draw(11), b.draw(12)}
	params := Params(false)
	for i := range params {
		params[i].Value = b.truth[i]
	}
	rms := func() float64 {
		s, err := Explain(recs, params, Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := fit.Assess(s)
		if err != nil {
			t.Fatal(err)
		}
		return a.Fit.RMS
	}
	good := rms()
	if good > 3*b.sensor { // what smoothing leaves at the reversals comes on top
		t.Errorf("the truth leaves %.3g N rms, the force noise is %.3g", good, b.sensor)
	}
	params[0].Value *= 1.2
	if bad := rms(); bad < 1.2*good {
		t.Errorf("an inertia of 1.2 times the truth leaves %.3g N, the truth %.3g", bad, good)
	}
	// a value on its bound is inside
	params[0].Value = math.Nextafter(params[0].Hi, 0)
	if _, err := Explain(recs, params, Options{}); err != nil {
		t.Errorf("a value next to its bound: %v", err)
	}
}
