package study

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hilrig/engine/numeric"
)

// Summary describes a result over the runs of a study.
type Summary struct {
	N              int     // finite values
	Mean, SD       float64 // SD with N − 1
	Min, Median    float64
	Max            float64
	WithinSD       float64 // between replicates of a point, pooled over the points; NaN without replicates
	WithinDF       int     // degrees of freedom of WithinSD
	RelativeWithin float64 // mean over the points of SD/|mean| between replicates; NaN without
}

// Summarise describes the values of all runs, replicates of a point side by side. Values that are not finite are left out.
func Summarise(values []float64, replicates int) Summary {
	s := Summary{Mean: math.NaN(), SD: math.NaN(), Min: math.NaN(), Median: math.NaN(), Max: math.NaN(), WithinSD: math.NaN(),
		RelativeWithin: math.NaN()}
	var all []float64
	squares, relative, counted := 0.0, 0.0, 0
	for point := range slices.Chunk(values, max(replicates, 1)) {
		part := numeric.OnlyFinite(point...)
		all = append(all, part...)
		if len(part) < 2 {
			continue
		}
		mean, sd := stat.MeanStdDev(part, nil)
		squares += sd * sd * float64(len(part)-1)
		s.WithinDF += len(part) - 1
		if mean != 0 {
			relative += sd / math.Abs(mean)
			counted++
		}
	}
	if s.WithinDF > 0 {
		s.WithinSD = math.Sqrt(squares / float64(s.WithinDF))
	}
	if counted > 0 {
		s.RelativeWithin = relative / float64(counted)
	}
	if s.N = len(all); s.N == 0 {
		return s
	}
	s.Mean, s.SD = stat.MeanStdDev(all, nil)
	slices.Sort(all)
	s.Min, s.Median, s.Max = all[0], numeric.Median(all), all[len(all)-1]
	return s
}

// Means is the mean over the replicates of every point; NaN where no replicate gave a number.
func Means(values []float64, replicates int) []float64 {
	var out []float64
	for point := range slices.Chunk(values, max(replicates, 1)) {
		mean := math.NaN()
		if part := numeric.OnlyFinite(point...); len(part) > 0 {
			mean = stat.Mean(part, nil)
		}
		out = append(out, mean)
	}
	return out
}

// RunningMedian sorts the points by x and gives, in the middle of every window of so many neighbours, the medians of x and y.
// The window moves by an eighth of its width.
func RunningMedian(x, y []float64, window int) (mx, my []float64) {
	type pair struct{ x, y float64 }
	var all []pair
	for i := range x {
		if numeric.IsFinite(x[i]) && numeric.IsFinite(y[i]) {
			all = append(all, pair{x[i], y[i]})
		}
	}
	slices.SortFunc(all, func(a, b pair) int {
		if a.x < b.x || a.x == b.x && a.y < b.y {
			return -1
		}
		return 1
	})
	if window = min(window, len(all)); window < 1 {
		return nil, nil
	}
	xs, ys := make([]float64, window), make([]float64, window)
	for from := 0; from+window <= len(all); from += max(window/8, 1) {
		for i, p := range all[from : from+window] {
			xs[i], ys[i] = p.x, p.y
		}
		mx, my = append(mx, numeric.Median(xs)), append(my, numeric.Median(ys))
	}
	return mx, my
}
