package hil

import "math"

// besidePlan decides in each tick how many sub-steps of the brush it may take, or that the contact is averaged. All it looks at
// is the speed and how long the ticks before were busy: both are in the rows, so a replay decides the same.
//
//	fit   = (share·T − b)/c      sub-steps that find room in a period T
//	need  = max(T/(2·step), surface)      fewer do not resolve the joints or the surface
//	wish  = max(T/step, surface)
//	full contact with min(wish, fit) sub-steps while need ≤ fit, else the averaged one
//
// c (s) is what a sub-step costs in all but the worst 2 % of ticks, b (s) the rest of a tick. c moves by a small factor up or
// down, never by what a single tick took: a host that takes the processor away for milliseconds says nothing about the model. A
// tick of nine tenths of a period or more averages the contact at once, for a rest; another one soon after the rest is believed, and
// c is what it took. The full contact comes back after the rest when need ≤ 0.9·fit. Meanwhile some ticks take a few sub-steps as
// a probe, so that c stays true.
type besidePlan struct {
	choice BesideContact
	period float64 // s
	budget float64 // s  share·T
	step   float64 // s

	cost     float64 // s  c
	base     float64 // s  b
	seen     int     // ticks that cost has learnt from, up to trust
	last     int     // sub-steps of the tick before
	probe    bool    // … were a probe
	averaged bool
	rest     int // ticks that the averaged contact stays at least
	idle     int // ticks since the last probe
	fresh    int // ticks left in which an overlong one is believed
}

const (
	trust     = 8    // ticks before cost decides anything
	worst     = 0.98 // share of ticks that cost no more than c
	overlong  = 0.9  // of a period
	back      = 0.9  // of fit
	pause     = 0.1  // s   rest after a lack of room
	breath    = 0.01 // s   rest after an overlong tick
	soon      = 20   // ticks after a rest in which an overlong one is believed
	probing   = 0.02 // s   from probe to probe
	probeSize = 8    // sub-steps
	stretch   = 2    // longest sub-step, in configured ones
)

// next takes the busy time of the tick before (s) and the least number of sub-steps that the speed needs. n sub-steps are to
// be taken, as a probe beside the averaged contact or as the model itself; none: averaged.
func (p *besidePlan) next(busy, surface float64) (n int, probe bool) {
	p.learn(busy)
	wish := math.Ceil(math.Max(p.period/p.step*(1-1e-9), surface))
	switch p.choice {
	case BesideAveraged:
		p.averaged, p.last = true, 0
		return 0, false
	case BesideFull: // at least the sub-steps that the joints need, at most what finds room
		p.averaged = false
		p.last = int(math.Min(wish, math.Max(p.fit(), math.Ceil(p.period/(stretch*p.step)))))
		return p.last, false
	}
	need := math.Max(p.period/(stretch*p.step), surface)
	ticks := func(s float64) int { return int(math.Ceil(s / p.period)) }
	switch {
	case !p.averaged && p.last > 0 && busy >= overlong*p.period:
		p.averaged, p.rest, p.idle = true, ticks(breath), 0
		if p.fresh > 0 {
			p.cost = math.Max(p.cost, p.each(busy))
		}
	case !p.averaged && need > p.fit():
		p.averaged, p.rest, p.idle = true, ticks(pause), 0
	case p.averaged && p.rest <= 0 && need <= back*p.fit():
		p.averaged, p.fresh = false, soon
	case !p.averaged:
		p.fresh = max(0, p.fresh-1)
	}
	p.probe = false
	if p.averaged {
		p.rest--
		p.last = 0
		if p.idle++; p.idle >= ticks(probing) {
			p.idle, p.probe, p.last = 0, true, probeSize
		}
		return p.last, p.probe
	}
	p.last = int(math.Max(1, math.Min(wish, p.fit())))
	return p.last, false
}

// fit is the number of sub-steps that find room, bounded so that it is a number.
func (p *besidePlan) fit() float64 {
	const most = 1e4
	if p.seen < trust || !(p.cost > 0) {
		return most
	}
	return math.Max(0, math.Min(most, (p.budget-p.base)/p.cost))
}

// learn takes what the tick before tells. The first ticks count by their least: they find nothing in the caches.
func (p *besidePlan) learn(busy float64) {
	if !(busy > 0) {
		return
	}
	switch {
	case p.last == 0:
		p.base = follow(p.base, busy, 0.5, 0.02)
	case p.probe:
		p.cost = follow(p.cost, p.each(busy), 0.5, 0.05)
	case p.seen < trust:
		p.seen++
		if each := p.each(busy); p.seen == 1 || each < p.cost {
			p.cost = each
		}
	default:
		p.cost = follow(p.cost, p.each(busy), worst, 0.02)
	}
}

// each is what a sub-step took in the tick before (s).
func (p *besidePlan) each(busy float64) float64 {
	return math.Max(busy-p.base, 0.1*busy) / float64(p.last)
}

// follow moves v towards the q-quantile of what x is from call to call, by the share k at most.
func follow(v, x, q, k float64) float64 {
	switch {
	case v == 0:
		return x
	case x > v:
		return v * (1 + k*q)
	}
	return v * (1 - k*(1-q))
}
