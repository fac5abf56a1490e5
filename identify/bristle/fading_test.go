package bristle

import (
	"context"
	"math"
	"testing"

	"hilrig/identify/record"
)

// A damping of the bristles that fades with the speed: known, its values hold; taken for constant, sigma1 is far off; searched, vd is
// found.
func TestFadingDamping(t *testing.T) {
	b := named(t, "medium, fine encoder")
	b.truth[sigma1], b.truth[fading] = 400, 0.004
	recs := []*record.Record{b.draw(41)}
	fit := func(edit func(vd *float64, fixed *bool)) (by [count]float64, off theta) {
		t.Helper()
		params := Params(false)
		p := &params[fading]
		edit(&p.Value, &p.Fixed)
		s, err := Kalman(context.Background(), recs, params, Options{Workers: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range by {
			by[i] = s.Params[i].Value
		}
		if len(s.FreeParams) == count {
			off, _ = within(t, s, &b.truth)
		}
		return by, off
	}
	known, _ := fit(func(vd *float64, _ *bool) { *vd = b.truth[fading] })
	for i, want := range b.truth {
		if rel := known[i]/want - 1; math.Abs(rel) > []float64{0.002, 0.01, 0.05, 0.02, 0.005, 0.01, 0.02, 0.05, 0}[i] {
			t.Errorf("known vd: %s = %.5g, want %.5g", names[i], known[i], want)
		}
	}
	if constant, _ := fit(func(*float64, *bool) {}); constant[sigma1] > 0.9*b.truth[sigma1] {
		t.Errorf("sigma1 = %.4g without fading, want less than nine tenths of %g", constant[sigma1], b.truth[sigma1])
	}
	free, off := fit(func(vd *float64, fixed *bool) { *vd, *fixed = 0.02, false })
	if math.Abs(free[fading]/b.truth[fading]-1) > 0.1 || math.Abs(off[fading]) > 3.5 || math.Abs(off[sigma0]) > 3.5 {
		t.Errorf("free vd: %.4g, %.1f standard errors from %g; sigma0 %.1f", free[fading], off[fading], b.truth[fading], off[sigma0])
	}
}
