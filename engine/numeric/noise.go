package numeric

import (
	"math"
	"slices"
)

const (
	maxSamples = 1 << 17 // that are looked at: more would tell nothing new
	runLength  = 1 << 10 // of the stretches in which they are taken from a longer series

	ulp = 0x1p-52
)

// EncoderStep is the step of a quantised signal, in the unit of x: the largest number of which nearly all distances between
// its levels are whole multiples. It is 0 where there is no such number: an analogue signal, or one with fewer than four
// levels. Several series are pieces of one signal; their grids have one step but need no common zero.
//
// The distances are those between neighbours in the sorted values, not in time, so a fast motion counts as well as a slow
// one. They may be off by some rounding of their own, as in a text file, by up to a seventh of the step; a twentieth of them, at
// least two, may be off by anything, as from a wild sample. That so many multiples are chance must be less likely than one
// in ten thousand. A noiseless ramp or parabola has equal distances too, but its third differences are zero, those of a
// count are not.
func EncoderStep(pieces ...[]float64) float64 {
	return steps.get(pieces, func() float64 { return encoderStep(pieces) })
}

// What EncoderStep and Noise have answered.
var steps, noises answers

func encoderStep(pieces [][]float64) float64 {
	gaps := levelGaps(pieces)
	n := len(gaps)
	if n < 3 {
		return 0
	}
	Sort(gaps)
	few := gaps // the smallest, and some of the others
	if small := 1500; n > 2*small {
		few = slices.Clone(gaps[:small])
		for k := small; k < n; k += n/small + 1 {
			few = append(few, gaps[k])
		}
	}
	for _, part := range []float64{1, 2, 3} { // the step itself need not be among the distances
		for _, p := range []float64{0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0} {
			if step := divides(gaps[int(p*float64(n-1))]/part, few); step > 0 && counts(step, pieces) {
				return step
			}
		}
	}
	return 0
}

// levelGaps are the distances between neighbouring levels of all pieces, those of rounding left out.
func levelGaps(pieces [][]float64) []float64 {
	stride := thinned(pieces)
	var gaps []float64
	for _, x := range pieces {
		gaps = slices.Grow(gaps, len(x)/stride)
		level := make([]float64, 0, len(x)/stride+1)
		for k := 0; k < len(x); k += stride {
			if IsFinite(x[k]) {
				level = append(level, x[k])
			}
		}
		if len(level) < 2 {
			continue
		}
		Sort(level)
		tiny := roundingOf(level)
		from := level[0]
		for _, v := range level[1:] {
			if v-from > tiny {
				gaps = append(gaps, v-from)
				from = v
			}
		}
	}
	return gaps
}

// thinned is which part of the samples are enough: 1 in so many.
func thinned(pieces [][]float64) int {
	total := 0
	for _, x := range pieces {
		total += len(x)
	}
	return max(1, (total+maxSamples-1)/maxSamples)
}

// roundingOf is what sorted values may differ by through rounding alone. A few wild ones have no part in it.
func roundingOf(sorted []float64) float64 {
	cut := len(sorted) / 100
	if len(sorted) > 8 {
		cut = max(cut, 1)
	}
	lo, hi := sorted[cut], sorted[len(sorted)-1-cut]
	return max(1e-9*(hi-lo), 8*ulp*max(math.Abs(lo), math.Abs(hi)))
}

// divides refines q over multiples that grow with its accuracy, and gives it back if the distances, which are sorted, are
// multiples of it by more than chance, else 0.
func divides(q float64, gaps []float64) float64 {
	const farthest, near = 10000, 0.15
	for most := 1.0; ; most *= 2 {
		sum, weight := 0.0, 0.0
		hits, all := 0, 0
		for _, s := range gaps {
			n := math.Round(s / q)
			if n > most {
				break
			}
			if n >= 1 {
				all++
				if math.Abs(s/q-n) < near {
					sum, weight = sum+n*s, weight+n*n
					hits++
				}
			}
		}
		if most >= 32 && all > 500 && 5*hits < 2*all { // chance alone hits three in ten
			return 0
		}
		if weight > 0 {
			q = sum / weight
		}
		if most > farthest {
			break
		}
	}
	for _, near := range []float64{0.15, 0.05, 0.01, 0.001} {
		hits, n := 0, 0
		for _, s := range gaps {
			r := s / q
			if r > farthest {
				break
			}
			n++
			if r > 0.5 && math.Abs(r-math.Round(r)) < near {
				hits++
			}
		}
		miss := n - hits
		if hits < 3 || miss > max(2, n/20) {
			continue
		}
		// the chance of so many hits of distances that have nothing to do with q, which is one of them or near it
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(hits + 1))
		c, _ := math.Lgamma(float64(miss + 1))
		if a-b-c+float64(hits-1)*math.Log(2*near) < math.Log(1e-4) {
			return q
		}
	}
	return 0
}

// counts tells that the signal walks on its grid as a quantised one does: at least one change in ten breaks off, so that the
// third differences around it are not smaller than half a step.
func counts(q float64, pieces [][]float64) bool {
	changes, breaks := 0, 0
	for _, x := range pieces {
		for k := 1; k < len(x); k++ {
			if math.Abs(x[k]-x[k-1]) > q/2 {
				changes++
			}
			if k > 2 && math.Abs(x[k]-3*x[k-1]+3*x[k-2]-x[k-3]) > q/2 {
				breaks++
			}
		}
	}
	return changes >= 3 && breaks >= 3 && 10*breaks > changes
}

// Noise is the standard deviation of the white noise of a smooth motion that x samples, in its unit. Several series are
// pieces of one signal. 0: there is none that shows.
//
// It is the median of the third differences, of which noise of variance s² gives 20·s², or of the next orders up to the sixth
// where they see less of the motion. What happens in less than half of the samples, wild values and slips between rests among
// them, does not count. A quantised signal has at least the noise of its step, step/√12: while it rests on a count for many
// samples most differences are zero and say nothing. Values that a slower sensor holds for some samples count once each.
func Noise(pieces ...[]float64) float64 {
	return noises.get(pieces, func() float64 { return noiseOf(pieces) })
}

func noiseOf(pieces [][]float64) float64 {
	step := EncoderStep(pieces...)
	d := stretches(pieces)
	if step == 0 {
		d = changes(d)
	}
	n := 0
	for _, x := range d {
		n += len(x)
	}
	by := make([]float64, 0, n)
	for _, x := range d {
		for _, v := range x {
			by = append(by, math.Abs(v))
		}
	}
	if len(by) == 0 {
		return 0
	}
	rounding := 32 * ulp * QuantileInPlace(by, 0.99)

	noise, gain := 0.0, 1.0 // gain: the variance of the difference of order p for that of the noise, (2p)!/p!²
	for p := 1; p <= 6; p++ {
		by = by[:0]
		for i, x := range d {
			for k := range max(len(x)-1, 0) {
				x[k] = x[k+1] - x[k]
				by = append(by, math.Abs(x[k]))
			}
			d[i] = x[:max(len(x)-1, 0)]
		}
		gain *= float64(2*(2*p-1)) / float64(p)
		if p < 3 || len(by) == 0 {
			continue
		}
		s := 0.0
		if step > 0 {
			s = spreadOfCounts(by, step)
		} else if m := QuantileInPlace(by, 0.5); m > rounding {
			s = m / quartile
		}
		s /= math.Sqrt(gain)
		// a higher order is better where it tells less by more than its own scatter
		if p == 3 || s < noise*(1-4/math.Sqrt(float64(len(by)))) {
			noise = s
		}
		rounding *= 2
	}
	return max(noise, step/math.Sqrt(12))
}

// quartile of the standard normal distribution: the median of its absolute value.
const quartile = 0.6744897501960817

// spreadOfCounts is the standard deviation of which by are the sizes, multiples of the step. Their median, each standing for
// the interval around it, says what is too far out to count in full; it alone would miss a count that flickers now and then.
func spreadOfCounts(by []float64, step float64) float64 {
	m := math.Round(QuantileInPlace(by, 0.5) / step)
	below, at := 0, 0
	for _, v := range by {
		switch r := math.Round(v / step); {
		case r < m:
			below++
		case r == m:
			at++
		}
	}
	share := (float64(len(by))/2 - float64(below)) / float64(max(at, 1)) // none: the median lies between two
	median := (m - 0.5 + share) * step
	if m == 0 {
		median = share * step / 2
	}
	far, sum := 4*max(step, median/quartile), 0.0
	for _, v := range by {
		v = min(v, far)
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(by)))
}

// changes leaves out of every piece the samples that repeat the one before, if those are many and none is repeated for long.
func changes(pieces [][]float64) [][]float64 {
	n, kept := 0, 0
	for _, x := range pieces {
		n += len(x)
		kept += len(x)
		for k := 1; k < len(x); k++ {
			if x[k] == x[k-1] {
				kept--
			}
		}
	}
	if 3*kept > 2*n || 20*kept < n {
		return pieces
	}
	for i, x := range pieces {
		pieces[i] = slices.Compact(x)
	}
	return pieces
}

// stretches are copies of the pieces without what is not finite, or of as many runs from all over them as are enough.
func stretches(pieces [][]float64) [][]float64 {
	every := thinned(pieces)
	var out [][]float64
	for _, x := range pieces {
		run := len(x)
		if every > 1 {
			run = runLength
		}
		for from := 0; from < len(x); from += run * every {
			part := x[from:min(from+run, len(x))]
			for len(part) > 0 {
				n := slices.IndexFunc(part, func(v float64) bool { return !IsFinite(v) })
				if n < 0 {
					n = len(part)
				}
				if n > 3 {
					out = append(out, slices.Clone(part[:n]))
				}
				part = part[min(n+1, len(part)):]
			}
		}
	}
	return out
}
