package plot

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

const (
	thinTo    = 0.12 // points (1/72 in) that a thinned line may lie off; a third of a pixel on paper
	thinChunk = 2048 // points looked at together: the worst case of the method grows with their square
	slice     = 0.35 // points; of a noisy curve no more than the extremes within it can be seen
)

// sliced leaves of a curve that runs from left to right the first, the lowest, the highest and the last point of every slice of the
// figure. Another curve stays as it is.
func sliced(p []vg.Point) []vg.Point {
	if len(p) < 3 || !slices.IsSortedFunc(p, func(a, b vg.Point) int { return cmp.Compare(a.X, b.X) }) {
		return p
	}
	out := p[:0:0]
	for from := 0; from < len(p); {
		lo, hi, to := from, from, from
		for ; to < len(p) && p[to].X-p[from].X < slice; to++ {
			if p[to].Y < p[lo].Y {
				lo = to
			}
			if p[to].Y > p[hi].Y {
				hi = to
			}
		}
		for _, k := range slices.Compact(slices.Sorted(slices.Values([]int{from, lo, hi, to - 1}))) {
			out = append(out, p[k])
		}
		from = to
	}
	return out
}

// thin leaves out the points of a polyline that nobody would see, by the method of [DP73]: of the points between two that
// are kept, the one farthest from their connection is kept too, as long as it is more than thinTo away. It works for time
// series and for loops alike.
func thin(p []vg.Point) []vg.Point {
	if len(p) < 3 {
		return p
	}
	keep := make([]bool, len(p))
	keep[0], keep[len(p)-1] = true, true
	var open [][2]int
	for from := 0; from < len(p)-1; from += thinChunk {
		to := min(from+thinChunk, len(p)-1)
		keep[to] = true
		open = append(open, [2]int{from, to})
	}
	for len(open) > 0 {
		a, b := open[len(open)-1][0], open[len(open)-1][1]
		open = open[:len(open)-1]
		far, at := thinTo, -1
		for i := a + 1; i < b; i++ {
			if d := offLine(p[i], p[a], p[b]); d > far {
				far, at = d, i
			}
		}
		if at > 0 {
			keep[at] = true
			open = append(open, [2]int{a, at}, [2]int{at, b})
		}
	}
	out := p[:0:0]
	for i, k := range keep {
		if k {
			out = append(out, p[i])
		}
	}
	return out
}

// offLine is the distance of q from the segment ab, in points.
func offLine(q, a, b vg.Point) float64 {
	dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
	qx, qy := float64(q.X-a.X), float64(q.Y-a.Y)
	if l := dx*dx + dy*dy; l > 0 {
		s := min(max((qx*dx+qy*dy)/l, 0), 1)
		qx, qy = qx-s*dx, qy-s*dy
	}
	return math.Hypot(qx, qy)
}
