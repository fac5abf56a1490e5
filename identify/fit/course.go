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

// FillRow writes a row of all columns.
func FillRow(courses []Course, row int, out []float64) {
	var wave *Wave
	var angle, sin, cos, stepSin, stepCos float64
	order := -1 // of sin and cos
	for i := range courses {
		c := &courses[i]
		if c.Wave == nil {
			out[i] = c.At(row)
			continue
		}
		if c.Wave != wave {
			wave, order = c.Wave, -1
			angle = wave.Slope * wave.Position[row]
			stepSin, stepCos = math.Sincos(angle)
		}
		if anchor := c.Order - c.Order%waveRun; order < anchor || order > c.Order {
			sin, cos = math.Sincos(float64(anchor) * angle)
			order = anchor
		}
		for ; order < c.Order; order++ {
			sin, cos = float64(sin*stepCos)+float64(cos*stepSin), float64(cos*stepCos)-float64(sin*stepSin)
		}
		if out[i] = sin; c.Cosine {
			out[i] = cos
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
