package models

import (
	"math"

	"hilrig/hil"
)

// brushPlan decides in each tick how many sub-steps of the brush it may take, or that the contact is averaged. All it looks at
// is the speed and what the steps before took: both are in the rows, so a replay decides the same.
//
//	fit   = (room − b)/c         sub-steps that find room in the model's share of a period T
//	need  = max(T/(2·step), surface)      fewer do not resolve the joints or the surface
//	wish  = max(T/step, surface)
//	full contact with min(wish, fit) sub-steps while need ≤ fit, else the averaged one
//
// c (s) is what a sub-step costs in all but the worst 2 % of ticks, b (s) the rest of a step. c moves by a small factor up or
// down, never by what a single step took: a host that takes the processor away for milliseconds says nothing about the model. A
// step of nine tenths of a period or more averages the contact at once, for a rest; another one soon after the rest is believed, and
// c is what it took. The full contact comes back after the rest when need ≤ 0.9·fit. Meanwhile some ticks take a few sub-steps as
// a probe, so that c stays true.
type brushPlan struct {
	choice BrushContact
	period float64 // s
	room   float64 // s  share of it
	step   float64 // s  wanted

	cost            float64 // s  c
	base            float64 // s  b
	costSteps       int     // steps that cost has learnt from, up to trust
	lastSubsteps    int     // sub-steps of the step before
	probe           bool    // … were a probe
	averagedContact bool
	rest            int // ticks that the averaged contact stays at least
	probeAge        int // ticks since the last probe
	overlongTicks   int // ticks left in which an overlong one is believed
}

const (
	trust          = 8    // steps before cost decides anything
	worst          = 0.98 // share of steps that cost no more than c
	overlong       = 0.9  // of a period
	returnShare    = 0.9  // of fit
	pause          = 0.1  // s   rest after a lack of room
	breath         = 0.01 // s   rest after an overlong step
	overlongWindow = 20   // ticks after a rest in which an overlong one is believed
	probing        = 0.02 // s   from probe to probe
	probeSize      = 8    // sub-steps
	stretch        = 2    // longest sub-step, in configured ones
)

// next takes the times of a tick and the least number of sub-steps that the speed needs. n sub-steps are to be taken, as a probe beside
// the averaged contact or as the model itself; none: averaged.
func (p *brushPlan) next(in *hil.ModelInput, surface float64) (n int, probe bool) {
	busy := in.StepTime
	p.period, p.room = in.Dt, in.Room
	p.learn(busy)
	wish := math.Ceil(math.Max(p.period/p.step*(1-1e-9), surface))
	switch p.choice {
	case ContactAveraged:
		p.averagedContact, p.lastSubsteps = true, 0
		return 0, false
	case ContactFull: // at least the sub-steps that the joints need, at most what finds room
		p.averagedContact = false
		p.lastSubsteps = int(math.Min(wish, math.Max(p.fit(), math.Ceil(p.period/(stretch*p.step)))))
		return p.lastSubsteps, false
	}
	need := math.Max(p.period/(stretch*p.step), surface)
	ticks := func(s float64) int { return int(math.Ceil(s / p.period)) }
	switch {
	case !p.averagedContact && p.lastSubsteps > 0 && busy >= overlong*p.period:
		p.averagedContact, p.rest, p.probeAge = true, ticks(breath), 0
		if p.overlongTicks > 0 {
			p.cost = math.Max(p.cost, p.substepTime(busy))
		}
	case !p.averagedContact && need > p.fit():
		p.averagedContact, p.rest, p.probeAge = true, ticks(pause), 0
	case p.averagedContact && p.rest <= 0 && need <= returnShare*p.fit():
		p.averagedContact, p.overlongTicks = false, overlongWindow
	case !p.averagedContact:
		p.overlongTicks = max(0, p.overlongTicks-1)
	}
	p.probe = false
	if p.averagedContact {
		p.rest--
		p.lastSubsteps = 0
		if p.probeAge++; p.probeAge >= ticks(probing) {
			p.probeAge, p.probe, p.lastSubsteps = 0, true, probeSize
		}
		return p.lastSubsteps, p.probe
	}
	p.lastSubsteps = int(math.Max(1, math.Min(wish, p.fit())))
	return p.lastSubsteps, false
}

// level is 1 with the averaged contact.
func (p *brushPlan) level() uint8 {
	if p.averagedContact {
		return 1
	}
	return 0
}

// fit is the number of sub-steps that find room, bounded so that it is a number.
func (p *brushPlan) fit() float64 {
	const most = 1e4
	if p.costSteps < trust || !(p.cost > 0) {
		return most
	}
	return math.Max(0, math.Min(most, (p.room-p.base)/p.cost))
}

// learn takes what the step before took (s). The first ones count by their least: they find nothing in the caches.
func (p *brushPlan) learn(busy float64) {
	if !(busy > 0) {
		return
	}
	switch {
	case p.lastSubsteps == 0:
		p.base = follow(p.base, busy, 0.5, 0.02)
	case p.probe:
		p.cost = follow(p.cost, p.substepTime(busy), 0.5, 0.05)
	case p.costSteps < trust:
		p.costSteps++
		if each := p.substepTime(busy); p.costSteps == 1 || each < p.cost {
			p.cost = each
		}
	default:
		p.cost = follow(p.cost, p.substepTime(busy), worst, 0.02)
	}
}

// substepTime is what a sub-step took in the step before (s).
func (p *brushPlan) substepTime(busy float64) float64 {
	return math.Max(busy-p.base, 0.1*busy) / float64(p.lastSubsteps)
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
