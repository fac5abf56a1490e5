package experiment

import (
	"math"
	"sort"
)

// What scenarios read off their records: every function takes columns and is linear in time.

// index is the first row with t ≥ at.
func index(t []float64, at float64) int {
	return min(sort.SearchFloat64s(t, at*(1-1e-12)), len(t))
}

// upward lists the times at which y rises through level.
func upward(t, y []float64, level float64) []float64 {
	var at []float64
	for k := 1; k < len(t); k++ {
		if y[k-1] < level && y[k] >= level {
			at = append(at, t[k-1]+(t[k]-t[k-1])*(level-y[k-1])/(y[k]-y[k-1]))
		}
	}
	return at
}

// cycle is a motion to and fro about a level.
type cycle struct {
	amplitude float64 // half the distance of the extremes
	period    float64 // s  mean distance of upward crossings; NaN with fewer than two
	growth    float64 // amplitude of the second half over that of the first: 1 for a limit cycle; NaN at rest
}

// readCycle reads the motion y about level from the time at on.
func readCycle(t, y []float64, level, at float64) (c cycle) {
	amplitude := func(y []float64) float64 {
		lo, hi := extremes(y)
		return (hi - lo) / 2
	}
	from := index(t, at)
	t, y = t[from:], y[from:]
	c.amplitude, c.period = amplitude(y), math.NaN()
	c.growth = amplitude(y[len(y)/2:]) / amplitude(y[:len(y)/2])
	if up := upward(t, y, level); len(up) > 1 {
		c.period = (up[len(up)-1] - up[0]) / float64(len(up)-1)
	}
	return c
}

// extremes are the smallest and the largest value.
func extremes(y []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range y {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// bandShare is the share of the line from a to b that lies within ±band.
func bandShare(a, b, band float64) float64 {
	if a > b {
		a, b = -a, -b // the band is symmetric
	}
	switch {
	case b < -band || a > band:
		return 0
	case a == b:
		return 1
	}
	return (min(b, band) - max(a, -band)) / (b - a)
}

// change counts a change of sign between values that leave ±band: last remembers the side.
func change(last *float64, v, band float64) int {
	if math.Abs(v) < band {
		return 0
	}
	s := math.Copysign(1, v)
	n := 0
	if *last != 0 && s != *last {
		n = 1
	}
	*last = s
	return n
}

// shoelace is the area enclosed by the closed polygon (x, y), positive counter-clockwise.
func shoelace(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		j := (i + 1) % len(x)
		sum += x[i]*y[j] - x[j]*y[i]
	}
	return sum / 2
}
