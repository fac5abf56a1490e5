package reference

import "math"

// Next is the first instant after t (s) at which the square wave jumps; +Inf: none. At has the value after the jump there.
func (s Step) Next(t float64) float64 {
	if !(s.Frequency > 0) {
		if t < 0 {
			return 0
		}
		return math.Inf(1)
	}
	// halves of a period, as At counts them
	half := func(t float64) float64 { return math.Floor(2 * (t * s.Frequency)) }
	k := half(math.Max(t, 0)) + 1
	next := k / 2 / s.Frequency
	for half(next) < k || next <= t {
		next = math.Nextafter(next, math.Inf(1))
	}
	return next
}

// Next is the first instant after t (s) at which a level ends, or a rise; +Inf: none. At has what comes after it there.
func (l *Levels) Next(t float64) float64 {
	t = math.Max(t, 0)
	next := l.edge(t)
	if math.IsInf(next, 1) {
		return next
	}
	// rounding may leave the edge a hair before its own instant
	middle := (t + next) / 2
	was, slope, _ := l.At(middle)
	for range 64 {
		x, v, _ := l.At(next)
		if v != slope || math.Abs(x-was-slope*(next-middle)) > 1e-9*(math.Abs(x)+math.Abs(was)) {
			break
		}
		next = math.Nextafter(next, math.Inf(1))
	}
	return next
}

// edge is that instant by the lengths of the levels.
func (l *Levels) edge(t float64) float64 {
	all, turn := l.Duration(), 0.0
	if l.loop {
		turn = math.Floor(t/all) * all
	}
	later := t + 64*(math.Nextafter(t, math.Inf(1))-t) // an edge that was moved is past
	for range 2 {
		begin := 0.0
		for k, end := range l.ends {
			if rise := turn + begin + l.rise; l.rise > 0 && (k > 0 || turn > 0) && rise > later {
				return rise
			}
			if turn+end > later && (l.loop || k < len(l.ends)-1) {
				return turn + end
			}
			begin = end
		}
		if !l.loop {
			break
		}
		turn += all
	}
	return math.Inf(1)
}
