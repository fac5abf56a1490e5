// Package numeric answers, once for the whole program, what is asked of samples: quantile and median, the step of a
// quantised signal, the noise of a sample, values between samples, and least squares of rows that come one by one.
//
// Lengths, angles and forces go in and come out in the unit of the samples. Nothing here changes its arguments, unless its
// name says so.
package numeric

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// IsFinite tells that x is a number: neither NaN nor infinite.
func IsFinite(x float64) bool { return x-x == 0 }

// OrNull is a pointer to a finite number, else nil, which JSON shows as null.
func OrNull(x float64) *float64 {
	if !IsFinite(x) {
		return nil
	}
	return &x
}

// OrZero is x, or 0 for what is no number.
func OrZero(x float64) float64 {
	if !IsFinite(x) {
		return 0
	}
	return x
}

// Sign is −1, 0 or 1.
func Sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// Length is the root of the sum of squares. Where that leaves the range of numbers the slower floats.Norm takes it.
func Length(x []float64) float64 {
	if sum := floats.Dot(x, x); sum > 1e-280 && sum < 1e280 {
		return math.Sqrt(sum)
	}
	return floats.Norm(x, 2)
}

// RMS is the root of the mean square of x, 0 of nothing.
func RMS(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(max(1, len(x))))
}

// OnlyFinite are the values of x that are numbers, in a slice of their own.
func OnlyFinite(x ...float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return !IsFinite(v) })
}

// AllFinite tells that every value is a number. 0·v is NaN when v is not; four sums do not wait for each other.
func AllFinite(x ...float64) bool {
	var a, b, c, d float64
	for len(x) >= 4 {
		a += x[0] * 0
		b += x[1] * 0
		c += x[2] * 0
		d += x[3] * 0
		x = x[4:]
	}
	for _, v := range x {
		a += v * 0
	}
	return a+b+c+d == 0
}

// Quantile is the value below which the share p of the sample x lies, 0 ≤ p ≤ 1, linear between neighbours: type 7 of
// [HF96], as numpy and R have it. NaN where x is empty or holds a NaN.
func Quantile(x []float64, p float64) float64 {
	room := sortRoom.Get().(*[]float64)
	defer sortRoom.Put(room)
	*room = append((*room)[:0], x...)
	return QuantileInPlace(*room, p)
}

// QuantileInPlace is Quantile without a copy: the order of x is lost.
func QuantileInPlace(x []float64, p float64) float64 {
	if len(x) == 0 || slices.ContainsFunc(x, func(v float64) bool { return v != v }) {
		return math.NaN()
	}
	at := min(max(p, 0), 1) * float64(len(x)-1)
	k := int(at)
	partition(x, k)
	if w := at - float64(k); w > 0 {
		if next, _ := Range(x[k+1:]); next != x[k] {
			return x[k] + w*(next-x[k])
		}
	}
	return x[k]
}

// QuantileOf is the quantile p of a quantity of the samples 0 … n − 1, by as many of them as are enough; 0 without any.
func QuantileOf(n int, p float64, of func(k int) float64) float64 {
	if n == 0 {
		return 0
	}
	room := sortRoom.Get().(*[]float64)
	defer sortRoom.Put(room)
	x := slices.Grow((*room)[:0], min(n, maxSamples))
	for k, stride := 0, max(1, (n+maxSamples-1)/maxSamples); k < n; k += stride {
		x = append(x, of(k))
	}
	*room = x
	return QuantileInPlace(x, p)
}

// Median is the middle of the sample, the mean of the two middle ones of an even number. NaN where x is empty or holds a NaN.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// partition reorders x so that x[k] is what it would be in sorted order, with nothing larger before and nothing smaller
// behind it.
func partition(x []float64, k int) {
	for len(x) > 32 {
		// the pivot is the median of three; equal values stop both pointers, so many of them cost nothing more
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			x = x[:j+1]
		case k >= i:
			x, k = x[i:], k-i
		default:
			return
		}
	}
	slices.Sort(x)
}

// MovingMean is the mean of every sample and half of them on either side, as far as there are any.
func MovingMean(x []float64, half int) []float64 {
	sum, out := make([]float64, len(x)+1), make([]float64, len(x))
	for k, v := range x {
		sum[k+1] = sum[k] + v - x[0]
	}
	for k := range x {
		i, j := max(k-half, 0), min(k+half+1, len(x))
		out[k] = x[0] + (sum[j]-sum[i])/float64(j-i)
	}
	return out
}

// Slope is (x_{k+w} − x_{k−w})/(2w·dt), at the ends from the samples that are there; zero of a single one.
func Slope(x []float64, w int, dt float64) []float64 {
	v := make([]float64, len(x))
	for k := range v {
		if a, b := max(k-w, 0), min(k+w, len(x)-1); b > a {
			v[k] = (x[b] - x[a]) / (float64(b-a) * dt)
		}
	}
	return v
}

// Lagrange is the value at a place of the polynomial through the points, which are few and all at different x.
func Lagrange(x, y []float64, at float64) (sum float64) {
	for i, term := range y {
		for j := range x {
			if i != j {
				term *= (at - x[j]) / (x[i] - x[j])
			}
		}
		sum += term
	}
	return sum
}

// Interpolate reads a curve given at rising x: straight between the points, the value of the nearest end beyond them. Where
// an x stands twice, the curve jumps, and the value there is the one before the jump. NaN where there is no point.
func Interpolate(x, y []float64, at float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	i := sort.SearchFloat64s(x, at)
	switch {
	case i == 0:
		return y[0]
	case i == len(x):
		return y[i-1]
	case x[i] == at:
		return y[i]
	}
	return y[i-1] + (y[i]-y[i-1])*(at-x[i-1])/(x[i]-x[i-1])
}

// Clamp is x cut to lo … hi; NaN stays.
func Clamp(x, lo, hi float64) float64 { return min(hi, max(lo, x)) }
