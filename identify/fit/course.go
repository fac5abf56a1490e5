package fit

import "math"

// A Course is a column, by row. Most of those of suspects are sines and cosines along the way, of one wave and its multiples.
type Course struct {
	At     func(row int) float64
	Wave   *Wave // of which it is a multiple; nil: it is none
	Order  int   // that multiple
	Cosine bool  // or else the sine
}

// Wave is what all multiples of one share: the angle of the first, by row.
type Wave struct {
	Slope    float64 // of the angle, by position
	Position []float64
}

// waveRun is how many multiples are turned one from the other: what is turned depends on nothing but its order, to the last bit.
const waveRun = 16

// turn is a multiple of a wave at a row.
type turn struct {
	wave             *Wave
	order            int
	sin, cos         float64
	stepSin, stepCos float64 // of the wave
}

// to turns it to the multiple of a course.
func (t *turn) to(c *Course, row int) {
	angle, anchor := c.Wave.Slope*c.Wave.Position[row], c.Order-c.Order%waveRun
	if t.wave != c.Wave {
		*t = turn{wave: c.Wave, order: -1}
		t.stepSin, t.stepCos = math.Sincos(angle)
	}
	if t.order < anchor || t.order > c.Order {
		t.sin, t.cos = math.Sincos(float64(anchor) * angle)
		t.order = anchor
	}
	for ; t.order < c.Order; t.order++ {
		t.sin, t.cos = t.sin*t.stepCos+t.cos*t.stepSin, t.cos*t.stepCos-t.sin*t.stepSin
	}
}

// FillRow writes a row of all columns.
func FillRow(courses []Course, row int, out []float64) {
	var t turn
	for i := range courses {
		c := &courses[i]
		if c.Wave == nil {
			out[i] = c.At(row)
			continue
		}
		if t.to(c, row); c.Cosine {
			out[i] = t.cos
		} else {
			out[i] = t.sin
		}
	}
}

// Courses are the columns of a suspect as it was made.
func (sp *Suspect) Courses() (out []Course) {
	for i, c := range sp.Columns {
		out = append(out, Course{At: c, Wave: sp.Wave, Order: sp.WaveOrder, Cosine: i == 1})
	}
	return out
}

// columnsAt are columns at some rows.
func columnsAt(courses []Course, rows []int) [][]float64 {
	out, row := make([][]float64, len(courses)), make([]float64, len(courses))
	for i := range out {
		out[i] = make([]float64, len(rows))
	}
	for k, at := range rows {
		FillRow(courses, at, row)
		for i, x := range row {
			out[i][k] = x
		}
	}
	return out
}
