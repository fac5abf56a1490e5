package axis

import (
	"math"
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
				p := estimator.Sample{Value: side * x, Updated: true}
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

// A sample that is further away than 10 rad/s carry an axis in two periods of 2 ms, 40 mrad, and two counts of 1 mrad, is told as a leap,
// to both sides, for five samples; the same way after a gap of 20 ms is none, nor is any where no speed is known.
func TestLeap(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, c := range []struct {
			way, speed float64
			gap        int // ticks without a sample
			told       bool
		}{{0.043, 10, 0, true}, {0.041, 10, 0, false}, {0.043, 10, 9, false}, {0.25, 10, 9, true}, {9, 0, 0, false}} {
			var l leap
			at := func(x float64, fresh bool) Finding {
				return l.step(2e-3, &estimator.Sample{Value: side * x, Updated: fresh}, 2e-3, c.speed, 1e-3)
			}
			if f := at(5, true); f.Fault != Fine {
				t.Errorf("the first sample: %+v", f)
			}
			for range c.gap {
				at(0, false)
			}
			f := at(5+c.way, true)
			if (f.Fault == Jump) != c.told || c.told && (math.Abs(f.Value-side*c.way) > 1e-12 || !(math.Abs(f.Value) > f.Limit)) {
				t.Errorf("%+g, %g rad at %g rad/s behind %d ticks: %+v", side, c.way, c.speed, c.gap, f)
			}
			told := 0
			for range 10 {
				if at(5+c.way, true).Fault == Jump {
					told++
				}
			}
			if want := map[bool]int{true: minSamples - 1}[c.told]; told != want {
				t.Errorf("%+g, %g rad: told for %d samples more, want %d", side, c.way, told, want)
			}
		}
	}
}

// An axis that speeds up to five times the speed that it should have, by a twentieth of it in each sample, does not leap.
func TestLeapOfAFastAxis(t *testing.T) {
	for _, side := range []float64{1, -1} {
		l, x := leap{}, 0.0
		for k := range 100 {
			x += side * 0.5 * float64(k) * 2e-3
			if f := l.step(2e-3, &estimator.Sample{Value: x, Updated: true}, 2e-3, 10, 1e-3); f.Fault != Fine {
				t.Fatalf("%+g, sample %d: %+v", side, k, f)
			}
		}
	}
}
