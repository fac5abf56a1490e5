package curve

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/identify/fit"
)

// A map explains the points that lie on it, and leaves over what others are off.
func TestStaticAt(t *testing.T) {
	var points []Point
	for _, v := range []float64{-0.3, -0.1, -0.03, -0.01, 0.01, 0.03, 0.1, 0.3} {
		f := (2+math.Exp(-(v/0.05)*(v/0.05)))*math.Copysign(1, v) + 4*v
		points = append(points, Point{V: v, F: f})
	}
	params := []fit.Param{}
	for _, p := range []struct {
		name  string
		value float64
	}{{"Fc", 2}, {"Fs", 3}, {"vs", 0.05}, {"sigma2", 4}} {
		params = append(params, fit.Param{Param: engine.Param{Name: p.name, Value: p.value, Lo: 0, Hi: 10}})
	}
	s, err := StaticAt(points, params, StaticOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for k, e := range s.Residual {
		if math.Abs(e) > 1e-14 {
			t.Errorf("point %d: %g N left over", k, e)
		}
	}
	points[3].F += 0.25
	if s, err = StaticAt(points, params, StaticOptions{}); err != nil || math.Abs(s.Residual[3]-0.25) > 1e-14 {
		t.Errorf("%v, %v; want 0.25 N", s, err)
	}
}
