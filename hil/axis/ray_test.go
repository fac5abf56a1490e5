package axis

import (
	"testing"

	"hilrig/estimator"
)

// A position moves at 2 rad/s, 2 ms apart, until something happens to it and four samples are refused. Both ways. The first of them and
// the one that is taken tell; those between may be wild.
func TestRay(t *testing.T) {
	for _, c := range []struct {
		name   string
		jump   float64 // rad
		speed  float64 // rad/s  behind it
		jumped bool    // the fifth is taken as a new position
		turned bool
		wild   [5]float64 // rad    beside it, from the first that is refused on
	}{
		{"turned", 0, -2, true, true, [5]float64{}},
		{"turned and slower", 0, -1.2, true, true, [5]float64{}},
		{"turned and far slower", 0, -0.9, true, false, [5]float64{}},
		{"turned and faster", 0, -2.8, true, true, [5]float64{}},
		{"turned and far faster", 0, -3.2, true, false, [5]float64{}},
		{"a counter that was reset", 1, 2, true, false, [5]float64{}},
		{"a counter that was reset, backward", -1, 2, true, false, [5]float64{}},
		{"one that jumped and turned", 1, -2, true, false, [5]float64{}},
		{"one that stands", 0, 0, true, false, [5]float64{}},
		{"wild samples, and the axis goes on", 0, -2, false, false, [5]float64{}},
		{"turned, wild between", 0, -2, true, true, [5]float64{0, 1, -1, 0.5}},
		{"turned, the first one wild", 0, -2, true, false, [5]float64{1}},
		{"turned, the last one wild", 0, -2, true, false, [5]float64{4: 1}},
	} {
		for _, side := range []float64{1, -1} {
			r, last, x := ray{}, 0.0, 0.0
			for k := range 20 {
				speed := 2.0
				if k >= 10 {
					speed = c.speed
				}
				if x += 2e-3 * speed; k == 10 {
					x += c.jump
				}
				refused := k >= 10 && k < 14
				p := estimator.Sample{Value: side * x, Fresh: true}
				if k >= 10 && k < 15 {
					p.Value += side * c.wild[k-10]
				}
				r.step(2e-3, !refused, k == 14 && c.jumped, &p, last, side*speed)
				if !refused {
					last = p.Value
				}
				if r.turned != (c.turned && k == 14) {
					t.Errorf("%s, %+g, sample %d: %v", c.name, side, k, r.turned)
				}
			}
		}
	}
}
