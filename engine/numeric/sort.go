package numeric

import (
	"math"
	"slices"
	"sync"
)

// digit is the number of bits by which Sort sorts at a time, and fewToSort the number of values from which on that is faster than
// comparing.
const (
	digit     = 11
	fewToSort = 2000
)

// sortRoom is as much room as the longest that was sorted.
var sortRoom = sync.Pool{New: func() any { return new([]float64) }}

// Sort sorts x, in which there are no NaNs: by the digits of the bits of the numbers, the lowest first, in a time that grows with the
// number of values alone.
func Sort(x []float64) {
	if len(x) < fewToSort {
		slices.Sort(x)
		return
	}
	const sign = 1 << 63
	room := sortRoom.Get().(*[]float64)
	defer sortRoom.Put(room)
	*room = slices.Grow((*room)[:0], len(x))
	keys, other := x, (*room)[:len(x)] // of the keys only the bits count
	var count [(64 + digit - 1) / digit][1 << digit]int32
	for k, v := range x { // bits in the order of the numbers
		b := math.Float64bits(v)
		b ^= uint64(int64(b)>>63) | sign
		keys[k] = math.Float64frombits(b)
		for d := range count {
			count[d][b>>(d*digit)%(1<<digit)]++
		}
	}
	for d := range count {
		c := &count[d]
		if c[math.Float64bits(keys[0])>>(d*digit)%(1<<digit)] == int32(len(x)) { // all have this digit
			continue
		}
		sum := int32(0)
		for k, n := range c {
			c[k], sum = sum, sum+n
		}
		for _, v := range keys {
			at := &c[math.Float64bits(v)>>(d*digit)%(1<<digit)]
			other[*at] = v
			*at++
		}
		keys, other = other, keys
	}
	for k, v := range keys {
		b := math.Float64bits(v)
		x[k] = math.Float64frombits(b ^ (^uint64(int64(b)>>63) | sign))
	}
}

// Range is the least and the largest of x, in which there are no NaNs; 0, 0: it is empty.
func Range(x []float64) (lo, hi float64) {
	if len(x) == 0 {
		return 0, 0
	}
	lo, hi = x[0], x[0]
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi
}

// Span is the distance of the largest of x from the least; 0: it is empty.
func Span(x []float64) float64 {
	lo, hi := Range(x)
	return hi - lo
}

// Largest is the largest size of a value of x, in which there are no NaNs; 0: it is empty.
func Largest(x []float64) float64 {
	lo, hi := Range(x)
	return max(-lo, hi)
}
