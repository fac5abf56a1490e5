package reference

import (
	"math"
	"sort"
)

// Levels goes through values one after the other and stays at each. It begins at the first and ends at the last, or starts
// anew. From one value to the next it jumps, or runs straight through the rise at the beginning of the hold; the time
// derivative of a jump is left out, as in Step.
type Levels struct {
	offset float64   // rad
	value  []float64 // rad
	ends   []float64 // s, when a value ends
	rise   float64   // s
	loop   bool
}

// NewLevels holds every level for its time. rise (s, ≥ 0, below every hold) is that of each change; 0: a jump.
func NewLevels(offset float64, levels []Level, rise float64, loop bool) *Levels {
	l := &Levels{offset: offset, rise: rise, loop: loop}
	end := 0.0
	for _, v := range levels {
		end += v.Hold
		l.value, l.ends = append(l.value, v.Value), append(l.ends, end)
	}
	return l
}

// Duration is the time of all levels, s.
func (l *Levels) Duration() float64 { return l.ends[len(l.ends)-1] }

// At returns the motion at t (s).
func (l *Levels) At(t float64) (pos, vel, acc float64) {
	t = math.Max(t, 0)
	n := len(l.value)
	first := true // nothing before the first level to rise from
	if all := l.Duration(); l.loop && t >= all {
		t, first = t-math.Floor(t/all)*all, false
	}
	// an end that rounding puts a hair behind t is an end
	k := min(sort.Search(n, func(i int) bool { return l.ends[i] > t+1e-12*l.ends[i] }), n-1)
	to := l.value[k]
	if k == 0 && first {
		return l.offset + to, 0, 0
	}
	from, begin := l.value[(k+n-1)%n], 0.0
	if k > 0 {
		begin = l.ends[k-1]
	}
	if s := t - begin; l.rise > 0 && s < l.rise {
		slope := (to - from) / l.rise
		return l.offset + from + slope*math.Max(s, 0), slope, 0
	}
	return l.offset + to, 0, 0
}
