package estimator

import "math"

// event is what came of one group at one time.
type event struct {
	group      int
	time       float64 // ns  on the raster of its group
	age        float64 // s   when it came
	dt         float64 // s   since the event of its group before
	lossBefore bool    // others were lost in between

	y             [nY]float64
	updated       [nY]bool
	u             float64 // measured input
	measured      bool    // it is there
	driveInactive bool    // the drive did not act
	emf           float64 // V  of its winding, then
}

// moment is an event and what the filter knew after it.
type moment struct {
	event
	belief belief
}

// past keeps the newest events in the order of their times.
type past struct {
	ring        []moment // maxEvents, or 2 of a single group: the newest and the one before
	oldestIndex int
	n           int
}

const maxEvents = 64

// at is the event number i, from the oldest.
func (p *past) at(i int) *moment {
	if i += p.oldestIndex; i >= len(p.ring) {
		i -= len(p.ring)
	}
	return &p.ring[i]
}

// atCapacity tells whether older events are forgotten.
func (p *past) atCapacity() bool { return p.n == len(p.ring) }

// insert puts an event where its time belongs and tells where that is. It is not ok when what the filter knew before that time is
// forgotten.
func (p *past) insert(e *event) (i int, ok bool) {
	i = p.n
	for i > 0 && p.at(i-1).time > e.time {
		i--
	}
	if p.atCapacity() {
		if i < 2 {
			return 0, false
		}
		if p.oldestIndex++; p.oldestIndex == len(p.ring) {
			p.oldestIndex = 0
		}
		p.n, i = p.n-1, i-1
	}
	p.n++
	for j := p.n - 1; j > i; j-- {
		p.at(j).event = p.at(j - 1).event
	}
	p.at(i).event = *e
	return i, true
}

// newestTime is the time of the newest event (ns); 0 without one.
func (p *past) newestTime() float64 {
	if p.n == 0 {
		return 0
	}
	return p.at(p.n - 1).event.time
}

// age is that of the newest event (s) at t (ns); +Inf without one.
func (p *past) age(t int64) float64 {
	if p.n == 0 {
		return math.Inf(1)
	}
	return (float64(t) - p.newestTime()) * 1e-9
}

// measured are the first event from i on that has a measured input, and the last before it; nil where there is none.
func (p *past) measured(i int) (next, last *event) {
	for j := i; j < p.n && next == nil; j++ {
		if m := p.at(j); m.measured {
			next = &m.event
		}
	}
	for j := i - 1; j >= 0 && last == nil; j-- {
		if m := p.at(j); m.measured {
			last = &m.event
		}
	}
	return next, last
}

// lastMeasured is the newest event with a measured input.
func (p *past) lastMeasured() *event {
	_, last := p.measured(p.n)
	return last
}
