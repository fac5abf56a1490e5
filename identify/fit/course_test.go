package fit

import (
	"math"
	"testing"
)

// Waves that are turned one from the other are those that every one is by itself, and wherever a list of them is cut, to the last bit.
func TestWavesAreTurned(t *testing.T) {
	x := []float64{0, 0.3, -2.7, 41, 1e3}
	wave, courses := &Wave{Slope: 0.7, Position: x}, []Course{{At: func(row int) float64 { return x[row] }}}
	for order := 3; order < 100; order += 1 + order%2 {
		for _, cosine := range []bool{false, true} {
			courses = append(courses, Course{Wave: wave, Order: order, Cosine: cosine})
		}
	}
	other := *wave
	courses = append(courses, Course{Wave: &other, Order: 5})
	whole, part := make([]float64, len(courses)), make([]float64, len(courses))
	for row := range x {
		FillRow(courses, row, whole)
		for i, c := range courses {
			want := x[row]
			if angle := float64(c.Order) * 0.7 * x[row]; c.Cosine {
				want = math.Cos(angle)
			} else if c.Wave != nil {
				want = math.Sin(angle)
			}
			if math.Abs(whole[i]-want) > 1e-13+1e-15*math.Abs(100*x[row]) {
				t.Errorf("row %d, column %d: %.17g, want %.17g", row, i, whole[i], want)
			}
			if FillRow(courses[i:], row, part); part[0] != whole[i] {
				t.Errorf("row %d, column %d: %.17g at the beginning, %.17g in the list", row, i, part[0], whole[i])
			}
		}
	}
}
