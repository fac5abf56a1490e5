package axis

import (
	"math"

	"hilrig/engine"
	"hilrig/identify/record"
)

// The controller in the simulation of a Model, so that every law and every load can be compared in closed loop. At sample k
// it asks for
//
//	u_k = stiff·(r_k − x_k) − damp·(x_{k−d} − x_{k−d−m}),   |u_k| ≤ limit,
//
// with stiff = gain·kv·kp, damp = gain·kv/(m·h), d = Delay and m = Mean. Between the samples the law moves with its own
// scheme under the mean of what acts over the interval. A command is held, or runs straight to the next, from its stamp
// plus the lag on, so that mean is a sum of the commands around k,
//
//	ū = Σ w_i·u_{k+i},   w_i = ∫ s_i(τ) dτ over 0 … 1,   δ = lag/h,
//
// with τ the share of the interval and s_i the shape of command i, shifted by δ. That it jumps or rises inside the interval
// moves a mass by h²/M·Σ d_i·u_{k+i} further than the mean does, d_i = ∫ (1 − τ)·s_i dτ − w_i/2; this is added to the next
// position, but not to that of a mass that a rigid contact holds. The d_i cancel each other over the intervals, so a
// sticking bristle does not drift. A command that acts before its stamp (δ < 0, or a straight hold) answers the position that
// it leads to: the interval is repeated until both agree. Commands later than that are taken straight on.

// servo is the controller of a piece in an evaluator, with its memory.
type servo struct {
	h                float64
	reference        []float64 // m
	asked            []float64 // N, the recorded commands, where the controller looks back on what was not recorded
	pulse            []float64 // N, added to the command; nil: none
	mean, delay, pad int
	stiff, damp      float64   // N/m
	slope            float64   // N/m, what a command loses per metre of its position
	limit            float64   // N
	reach            float64   // m, beyond it the simulation has left the record
	ahead, shift     taps4     // of ū, and of the displacement beyond it
	x                []float64 // m, simulated, with the pad
	u                float64   // N, asked for at this sample
	u0, u1, u2       float64   // N, acting from this sample and the two before
	saved            []float64 // state at the beginning of the interval
	lag              float64   // s, of w; NaN: none yet
	linear           bool
}

// newServo is the controller of a piece; states is the length of the state of the body.
func newServo(s *Spec, p *piece, states int) *servo {
	c := &servo{h: p.dt, reference: p.rec.Reference, asked: p.pulses.asked, pulse: p.pulses.force, linear: s.LinearHold,
		mean: max(s.Controller.Mean, 1), delay: s.Controller.Delay, limit: math.Inf(1), lag: math.NaN(), saved: make([]float64, states)}
	gain := s.Controller.Gain * s.Controller.Kv
	c.stiff, c.damp = gain*s.Controller.Kp, gain/(float64(c.mean)*c.h)
	if c.slope = c.stiff; c.delay == 0 {
		c.slope += c.damp
	}
	if l := s.Controller.Limit; l > 0 {
		c.limit = s.Controller.Gain * l
	}
	c.pad = c.delay + c.mean
	c.x = make([]float64, p.n+c.pad)
	c.reach = reachOf(p.rec)
	return c
}

// reachOf is the position beyond which a simulation has left the record.
func reachOf(d *record.Record) float64 {
	top := 0.0
	for _, x := range d.Position {
		top = max(top, math.Abs(x))
	}
	return top + farAway*span(d.Position)
}

// begin puts the memory on the parabola that leads to the start, with a lag (s).
func (c *servo) begin(s start, lag float64) {
	for i := range c.pad {
		back := float64(c.pad-i) * c.h
		c.x[i] = s.x - back*s.v + back*back*s.a/2
	}
	if lag != c.lag {
		c.lag = lag
		c.ahead, c.shift = acting(lag/c.h, c.linear)
	}
}

// taps4 are weights of the commands two samples before an interval, one before, at its beginning and at its end.
type taps4 [4]float64

// known weighs those that are known at the beginning.
func (w *taps4) known(c *servo) float64 { return w[0]*c.u2 + w[1]*c.u1 + w[2]*c.u0 }

// acting are the weights of the commands in the mean of what acts over an interval, for a lag of delta samples, and in the
// displacement beyond it.
func acting(delta float64, linear bool) (mean, shift taps4) {
	delta = min(max(delta, lagLo), lagHi)
	once, twice := ramp, rampTwice
	if linear {
		once, twice = hat, hatTwice
	}
	for i := -before; i <= after+1; i++ {
		from, to := -delta-float64(i), 1-delta-float64(i)
		w := once(to) - once(from)
		d := twice(to) - twice(from) - once(from) - w/2
		if i <= 1 {
			mean[before+i] += w
			shift[before+i] += d
			continue
		}
		// u_{k+i} = u_k + i·(u_{k+1} − u_k)
		mean[before] -= float64(i-1) * w
		shift[before] -= float64(i-1) * d
		mean[before+1] += float64(i) * w
		shift[before+1] += float64(i) * d
	}
	return mean, shift
}

// rampTwice is the integral of ramp.
func rampTwice(s float64) float64 {
	if s > 1 {
		return s - 0.5
	}
	s = max(s, 0)
	return s * s / 2
}

// hatTwice is the integral of hat.
func hatTwice(s float64) float64 {
	switch {
	case s <= -1:
		return 0
	case s < 0:
		return (1 + s) * (1 + s) * (1 + s) / 6
	case s < 1:
		return s + (1-s)*(1-s)*(1-s)/6
	}
	return s
}

// ask takes the position at sample k and finds the command.
func (c *servo) ask(k int, x float64) {
	c.x[c.pad+k] = x
	if k < c.pad {
		c.u = c.asked[k]
	} else {
		i := c.pad + k - c.delay
		c.u = c.clamp(c.stiff*(c.reference[k]-x) - c.damp*(c.x[i]-c.x[i-c.mean]))
	}
	c.u2, c.u1, c.u0 = c.u1, c.u0, c.u+c.added(k)
	if k == 0 {
		c.u1, c.u2 = c.u0, c.u0
	}
}

func (c *servo) clamp(u float64) float64 { return min(max(u, -c.limit), c.limit) }

// added is the pulse at sample k.
func (c *servo) added(k int) float64 {
	if c.pulse == nil {
		return 0
	}
	return c.pulse[k]
}

// answers bounds the repetitions of an interval; two or three are usual.
const answers = 8

// drive moves the body from sample k of the piece to the next.
func (c *servo) drive(b *body, k, parts int) engine.Status {
	next := c.ahead[before+1]
	switch {
	case next == 0:
		return c.move(b, 0, parts)
	case k+1 < c.pad:
		return c.move(b, c.asked[k+1]+c.added(k+1), parts)
	}
	// u_{k+1} = target − slope·x_{k+1}(u_{k+1}): Newton's method with a free mass, then secants
	i := c.pad + k + 1 - c.delay
	target := c.stiff*c.reference[k+1] + c.damp*c.x[i-c.mean]
	if c.delay > 0 {
		target -= c.damp * c.x[i]
	}
	copy(c.saved, b.x)
	un, last, missed := c.u0, 0.0, 0.0
	for n := 0; ; n++ {
		status := c.move(b, un, parts)
		miss := c.clamp(target-c.slope*b.x[0]) + c.added(k+1) - un
		if status == engine.NonFinite || n == answers || !(math.Abs(miss) > 1e-10*(math.Abs(un)+math.Abs(c.u0))) {
			return status
		}
		step := miss / (1 + c.slope*c.h*c.h/b.mass.M*(next/2+c.shift[before+1]))
		if n > 0 && miss != missed {
			step = -miss * (un - last) / (miss - missed)
		}
		last, missed = un, miss
		un += step
		copy(b.x, c.saved)
	}
}

// move moves the body by an interval at whose end un (N) is asked for.
func (c *servo) move(b *body, un float64, parts int) engine.Status {
	b.loads.u = c.ahead.known(c) + c.ahead[before+1]*un
	status := b.advance(c.h, parts)
	if !b.switched || b.x[1] != 0 {
		b.x[0] += c.h * c.h / b.mass.M * (c.shift.known(c) + c.shift[before+1]*un)
	}
	return status
}
