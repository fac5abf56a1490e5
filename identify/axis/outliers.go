package axis

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// Samples of a position that stand apart from all their neighbours are no motion. A difference of them is larger than any
// that the axis makes: 20 mm at 1 kHz look like kilometres per second squared, and an inertia guessed from that is a
// thousandth of what it is. A loss that forgives outliers comes too late there, since guesses and bounds are made before.

// Neighbours on either side that vote on a sample. A monotone motion is never touched, however fast.
const voters = 3

// despiked is x with straight lines over the samples that stand apart from the median of their neighbourhood, at the ends
// from a line of median slope. What is apart is asked of the record itself: further than ten times what nine samples of ten are, and than
// a usual step between samples. It is x where there are none; the second look is for outliers next to each other.
func despiked(x []float64) []float64 {
	const size = 2*voters + 1
	n := len(x)
	if n < 4*size {
		return x
	}
	var w [size]float64
	off, step := make([]float64, n), make([]float64, n-1)
	guess, apart := make([]float64, n), make([]bool, n)
	out := x
	for range 4 {
		for k := range n {
			if guess[k] = 0; k >= voters && k < n-voters {
				copy(w[:], out[k-voters:])
				guess[k] = numeric.QuantileInPlace(w[:], 0.5)
			}
		}
		for k := range voters {
			guess[k] = lineAt(out[:size], k)
			guess[n-1-k] = lineAt(out[n-size:], size-1-k)
		}
		for k := range n {
			off[k] = math.Abs(out[k] - guess[k])
		}
		for k := range n - 1 {
			step[k] = math.Abs(out[k+1] - out[k])
		}
		fence := max(10*numeric.Quantile(off, 0.9), 2*numeric.QuantileInPlace(step, 0.75))
		clean := true
		for k := range n {
			if off[k] > fence {
				apart[k], clean = true, false
			}
		}
		if clean {
			break
		}
		out = bridged(x, apart, guess)
	}
	return out
}

// bridged is x with straight lines over the samples that are apart; before the first and behind the last that is not, guess.
func bridged(x []float64, apart []bool, guess []float64) []float64 {
	out := slices.Clone(x)
	last := -1
	for k := 0; k <= len(x); k++ {
		if k < len(x) && apart[k] {
			continue
		}
		for j := last + 1; j < k; j++ {
			if last < 0 || k == len(x) {
				out[j] = guess[j]
				continue
			}
			out[j] = x[last] + (x[k]-x[last])*float64(j-last)/float64(k-last)
		}
		last = k
	}
	return out
}

// lineAt is the value at sample k of the line through w whose slope is the median of those between any two samples, and
// whose height is the median of what is left [Theil, Sen].
func lineAt(w []float64, k int) float64 {
	const size = 2*voters + 1
	var slopes [size * (size - 1) / 2]float64
	m := 0
	for i := range size {
		for j := range i {
			slopes[m] = (w[i] - w[j]) / float64(i-j)
			m++
		}
	}
	slope := numeric.QuantileInPlace(slopes[:m], 0.5)
	var left [size]float64
	for i := range left {
		left[i] = w[i] - slope*float64(i)
	}
	return numeric.QuantileInPlace(left[:], 0.5) + slope*float64(k)
}
