package sink

import "math"

// histogram counts durations in bins of equal width and remembers the largest exactly. Negative durations count as zero.
type histogram struct {
	width    int64    // ns
	bins     []uint64 // bin i holds i·width ≤ d < (i+1)·width
	overflow uint64   // at or above the last edge
	n        uint64
	sum      float64 // ns
	max      int64   // ns
}

func newHistogram(width int64, bins int) histogram {
	return histogram{width: width, bins: make([]uint64, bins)}
}

func (h *histogram) add(ns int64) {
	ns = max(ns, 0)
	if i := ns / h.width; i < int64(len(h.bins)) {
		h.bins[i]++
	} else {
		h.overflow++
	}
	h.n++
	h.sum += float64(ns)
	h.max = max(h.max, ns)
}

func (h *histogram) reset() {
	clear(h.bins)
	h.overflow, h.n, h.sum, h.max = 0, 0, 0, 0
}

// quantile is the upper edge, in µs, of the bin that holds the q-quantile by nearest rank, but never more than the maximum:
// the true value is at most one bin below it. Beyond the last edge only the maximum is known, and it is returned. NaN when
// nothing was counted.
func (h *histogram) quantile(q float64) float64 {
	if h.n == 0 {
		return math.NaN()
	}
	rank := max(uint64(math.Ceil(q*float64(h.n))), 1)
	for i, seen := 0, uint64(0); i < len(h.bins); i++ {
		if seen += h.bins[i]; seen >= rank {
			return float64(min(int64(i+1)*h.width, h.max)) * 1e-3
		}
	}
	return float64(h.max) * 1e-3
}

// countBelow counts the durations under an edge in ns that is a multiple of the width.
func (h *histogram) countBelow(edge int64) uint64 {
	var n uint64
	for _, c := range h.bins[:min(edge/h.width, int64(len(h.bins)))] {
		n += c
	}
	return n
}

// Spread are the quantiles of a duration, in µs; NaN (null in JSON) when nothing was counted.
type Spread struct {
	P50, P99, P999, Max float64
}

func (h *histogram) spread() Spread {
	s := Spread{h.quantile(0.50), h.quantile(0.99), h.quantile(0.999), math.NaN()}
	if h.n > 0 {
		s.Max = float64(h.max) * 1e-3
	}
	return s
}
