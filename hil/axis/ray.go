package axis

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// ray looks at the positions that the filter refuses until it takes them for a new one. A counter that was reset goes on as before, from
// elsewhere. An encoder that turns its sign in motion goes on from where it was, as fast the other way: that is no jump.
type ray struct {
	speed       float64 // rad/s  when a position was taken last
	elapsed     float64 // s      … that was so long ago
	odd         int     // refused since then
	firstOffset float64 // rad    the first of them, from the last one that was taken, and its time (s)
	firstTime   float64
	turned      bool // the position taken now is the end of one that turned
}

// step takes a tick, dt (s) after the one before: whether its position was taken, whether as a new one, the one taken before, and the
// estimated speed.
func (r *ray) step(dt float64, taken, jumped bool, p *estimator.Sample, last, speed float64) {
	r.elapsed += dt
	r.turned = false
	switch {
	case taken:
		if jumped && r.odd > 1 {
			back := func(way, time float64) bool { // by half to one and a half of the speed before
				return math.Abs(way+r.speed*time) < math.Abs(r.speed*time)/2
			}
			r.turned = back(r.firstOffset, r.firstTime) && back(p.Value-last-r.firstOffset, r.elapsed-r.firstTime)
		}
		r.speed, r.elapsed, r.odd = speed, 0, 0
	case p.Updated && numeric.IsFinite(p.Value):
		if r.odd++; r.odd == 1 {
			r.firstOffset, r.firstTime = p.Value-last, r.elapsed
		}
	}
}

// leap finds a sample that is further away from where the axis was going than it can go. It trips nothing by itself: it names what leaves
// its limits with it.
type leap struct {
	hasPosition           bool
	lastPosition, elapsed float64 // rad, s  the sample before, and the time since then
	speed                 float64 // rad/s   between that and the one before it
	samples               int     // since the leap
	finding               Finding
}

// step takes a tick, dt (s) after the one before, and the sample of the position every so many s, of an axis that goes at most so fast
// (rad/s, 0: not known), and a count (rad) of its encoder. A leap is told for five samples.
func (l *leap) step(dt float64, p *estimator.Sample, every, top, count float64) Finding {
	l.elapsed += dt
	if !p.Updated || !numeric.IsFinite(p.Value) {
		return l.finding
	}
	way, most := p.Value-l.lastPosition, top*(l.elapsed+every)+2*count
	l.samples++
	switch leaps := l.hasPosition && top > 0 && math.Abs(way-l.speed*l.elapsed) > most; {
	case leaps:
		l.finding, l.samples = Finding{Jump, estimator.Position, way, most}, 0
	case l.hasPosition:
		l.speed = way / l.elapsed
	}
	if l.samples >= minSamples {
		l.finding = Finding{}
	}
	l.hasPosition, l.lastPosition, l.elapsed = true, p.Value, 0
	return l.finding
}
