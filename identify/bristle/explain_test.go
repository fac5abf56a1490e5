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
		s, err := Explain(recs, params, Options{}, 0)
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
	if _, err := Explain(recs, params, Options{}, 0); err != nil {
		t.Errorf("a value next to its bound: %v", err)
	}
}

// Where one sample in six was lost and filled in, the steps of the encoder do not show any more, and the noise by itself is found too small.
// The noise that a filter found takes its place.
func TestExplainFilledSamples(t *testing.T) {
	b := benches()[1]
	rec := b.draw(13)
	const step = 2e-6 // m or rad
	for k, x := range rec.Position {
		rec.Position[k] = step * math.Round(x/step)
	}
	for k := 2; k < rec.Len()-2; k += 6 + k%5 - 2 { // irregular
		rec.Position[k] = (rec.Position[k-1] + rec.Position[k+1]) / 2
	}
	params := Params(false)
	for i := range params {
		params[i].Value = b.truth[i]
	}
	left := func(noise float64) float64 {
		s, err := Explain([]*record.Record{rec}, params, Options{}, noise)
		if err != nil {
			t.Fatal(err)
		}
		a, err := fit.Assess(s)
		if err != nil {
			t.Fatal(err)
		}
		return a.Fit.RMS
	}
	without, with := left(0), left(step/math.Sqrt(12))
	t.Logf("%.3g N without, %.3g N with the noise of the filter, force noise %.3g N", without, with, b.sensor)
	if with > 5*b.sensor || with > 0.5*without {
		t.Errorf("the truth leaves %.3g N, without the noise of the filter %.3g N; the force noise is %.3g N", with, without, b.sensor)
	}
}
