package engine

import (
	"math"
	"slices"
)

// Event is a function of time and state whose sign changes are looked for. Where it is not a number it is passed over.
type Event struct {
	Func     func(t float64, x []float64) float64
	Dir      int  // +1: rising only, −1: falling only, 0: both; in the direction of integration
	Terminal bool // the step ends here
}

// Hit is an event found.
type Hit struct {
	Event  int     // index
	T      float64 // s  first time known to be on the far side of the zero
	Rising bool

	theta float64 // share of the step
}

const (
	// every step is looked at in so many places: two zeros closer together than an eighth of a step may be missed, unless
	// MaxStep is lowered
	eventParts = 8
	eventTol   = 1e-12 // of the step
	eventEvals = 200   // halving from 1 to 1e-12 takes 40
)

// locator finds events on a continuous solution.
type locator struct {
	sign []int     // of every function at the beginning of the step; 0: on the zero
	g    []float64 // value at the beginning of the part
	hits []Hit
	x    []float64
}

// start takes the signs at the beginning. A function that is zero is on its event, which is not counted: its sign is that
// of its first value that is not zero.
func (l *locator) start(events []Event, t float64, x []float64) {
	if len(l.sign) != len(events) || len(l.x) != len(x) {
		l.sign, l.g = make([]int, len(events)), make([]float64, len(events))
		l.x = make([]float64, len(x))
		l.hits = make([]Hit, 0, eventParts*len(events))
	}
	l.hits = l.hits[:0]
	for i, e := range events {
		l.g[i] = e.Func(t, x)
		l.sign[i] = sign(l.g[i])
	}
}

// locate finds the events of the last step and ends it at the first terminal one. Events at the same time all stay.
func (d *DormandPrince) locate() {
	l := &d.events
	if len(d.Events) == 0 {
		return
	}
	for i := range d.Events {
		d.scan(i)
	}
	slices.SortStableFunc(l.hits, func(a, b Hit) int {
		switch {
		case a.theta < b.theta:
			return -1
		case a.theta > b.theta:
			return 1
		}
		return 0
	})
	for k, h := range l.hits {
		if !d.Events[h.Event].Terminal {
			continue
		}
		// the end of the step: those within the tolerance of it happen together
		end := h.theta
		for k+1 < len(l.hits) && l.hits[k+1].theta <= h.theta+2*eventTol {
			k++
			end = max(end, l.hits[k].theta)
		}
		l.hits = l.hits[:k+1]
		if end == 1 {
			return
		}
		d.theta(end, d.X)
		d.T = d.Old + end*d.span
		d.fresh = true
		for i, e := range d.Events {
			l.g[i] = e.Func(d.T, d.X)
			l.sign[i] = sign(l.g[i])
		}
		return
	}
}

// scan appends the hits of one function in the last step, and leaves its value and sign at the end of it.
func (d *DormandPrince) scan(i int) {
	l, e := &d.events, &d.Events[i]
	a, ga := 0.0, l.g[i]
	for part := 1; part <= eventParts; part++ {
		b := float64(part) / eventParts
		gb := d.value(e, b)
		if math.IsNaN(gb) {
			continue
		}
		was, now := l.sign[i], sign(gb)
		if now != was {
			l.sign[i] = now
			// leaving a zero is no crossing, arriving there is one
			if rising := was < 0; was != 0 && (e.Dir == 0 || e.Dir > 0 == rising) {
				th := b
				if now != 0 {
					th = d.zero(e, a, b, ga, gb)
				}
				l.hits = append(l.hits, Hit{Event: i, T: d.Old + th*d.span, Rising: rising, theta: th})
			}
		}
		a, ga = b, gb
	}
	l.g[i] = ga
}

// value is an event function at the share th of the last step.
func (d *DormandPrince) value(e *Event, th float64) float64 {
	if th == 1 {
		return e.Func(d.T, d.X)
	}
	d.theta(th, d.events.x)
	return e.Func(d.Old+th*d.span, d.events.x)
}

// zero narrows the bracket [a, b] of a sign change to eventTol and returns its far end: secant steps, at least half a
// tolerance from the ends, and halving whenever two of them did not halve the bracket.
func (d *DormandPrince) zero(e *Event, a, b, ga, gb float64) float64 {
	const tol = 0.5 * eventTol
	wide, count := b-a, 0
	fa, fb := ga, gb // values for the secant, one of them halved when the same end stays twice (Illinois)
	side := 0
	for n := 0; b-a > eventTol && n < eventEvals; n++ {
		th := 0.5 * (a + b)
		if count < 2 {
			th = min(max(a+(b-a)*fa/(fa-fb), a+tol), b-tol)
		}
		g := d.value(e, th)
		switch {
		case g == 0:
			return th
		case g > 0 == (gb > 0):
			b, fb = th, g
			if side > 0 {
				fa /= 2
			}
			side = 1
		default:
			a, fa = th, g
			if side < 0 {
				fb /= 2
			}
			side = -1
		}
		if count++; b-a <= wide/2 {
			wide, count = b-a, 0
		}
	}
	return b
}

// sign is −1, 0 or 1.
func sign(g float64) int {
	switch {
	case g > 0:
		return 1
	case g < 0:
		return -1
	}
	return 0
}
