package axis

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// The controller in the simulation. At sample k it asks for
//
//	u_k = stiff·(r_k − x_k) − damp·(x_{k−d} − x_{k−d−m}),   |u_k| ≤ limit,
//
// with stiff = gain·kv·kp, damp = gain·kv/(m·h), d = Delay and m = Mean. What of it acts when, input.go says. A command that
// acts before its stamp (δ < 0, or a straight hold) answers the position that it leads to: the interval is repeated until both
// agree. Commands later than that are taken straight on, u_{k+i} = u_k + i·(u_{k+1} − u_k).

// servo is the controller of a piece in an evaluator, with its memory.
type servo struct {
	h                  float64
	reference          []float64 // m
	commands           []float64 // N, the recorded commands, where the controller looks back on what was not recorded
	pulse              []float64 // N, added to the command; nil: none
	mean, delay, pad   int
	stiffness, damping float64   // N/m
	slope              float64   // N/m, what a command loses per metre of its position
	limit              float64   // N
	reach              float64   // m, beyond it the simulation has left the record
	taps               []taps    // of every part
	nextWeight         float64   // what of the next command acts in the interval; 0: none
	nextDisplacement   float64   // the same, weighted by the time its impulse has to move the mass
	x                  []float64 // m, simulated, with the pad
	u                  float64   // N, asked for at this sample
	u0, u1, u2         float64   // N, acting from this sample and the two before
	un, answered       float64   // N, acting from the next sample, and asked for there, without the limit
	saved              []float64 // state at the beginning of the interval
}

// taps are a window in weights of the commands two samples before an interval, one before, at its beginning and at its end.
type taps struct{ mean, rise [4]float64 }

// Limits of the lag in samples.
const lagLo, lagHi = -1.5, 1.5

// farAway is the number of ranges of a record beyond which a motion has left it.
const farAway = 1e3

// newServo is the controller of a piece; states is the length of the state of the body.
func newServo(s *Spec, p *piece, states int) *servo {
	c := &servo{h: p.dt, reference: p.rec.Reference, commands: p.pulses.commands, pulse: p.pulses.force,
		mean: max(s.Controller.Mean, 1), delay: s.Controller.Delay, limit: math.Inf(1), saved: make([]float64, states)}
	gain := s.Controller.Gain * s.Controller.Kv
	c.stiffness, c.damping = gain*s.Controller.Kp, gain/(float64(c.mean)*c.h)
	if c.slope = c.stiffness; c.delay == 0 {
		c.slope += c.damping
	}
	if l := s.Controller.Limit; l > 0 {
		c.limit = s.Controller.Gain * l
	}
	c.pad = c.delay + c.mean
	c.x = make([]float64, p.n+c.pad)
	c.reach = floats.Norm(p.rec.Position, math.Inf(1)) + farAway*numeric.Span(p.rec.Position)
	return c
}

// begin puts the memory on the parabola that leads to the start.
func (c *servo) begin(s start) {
	for i := range c.pad {
		back := float64(c.pad-i) * c.h
		c.x[i] = s.x - back*s.v + back*back*s.a/2
	}
}

// setWindows takes the windows of the parts.
func (c *servo) setWindows(w []window) {
	c.taps = tapsOf(c.taps, w)
	c.nextWeight, c.nextDisplacement = 0, 0
	n := float64(len(w))
	for j := range c.taps {
		mean := &c.taps[j].mean
		c.nextWeight += math.Abs(mean[3])
		c.nextDisplacement += mean[3] * (n - float64(j) - 0.5) / (n * n)
	}
}

// tapsOf are those of windows, in the room of t.
func tapsOf(t []taps, w []window) []taps {
	t = t[:0]
	for j := range w {
		t = append(t, taps{mean: w[j].tapWeights(&w[j].mean), rise: w[j].tapWeights(&w[j].rise)})
	}
	return t
}

// tapWeights spreads weights over the commands of taps.
func (w *window) tapWeights(weight *[3]float64) (t [4]float64) {
	for i, q := range weight {
		switch at := w.firstCommand + i; {
		case at <= -2:
			t[0] += q
		case at <= 1:
			t[2+at] += q
		default:
			t[2] -= float64(at-1) * q
			t[3] += float64(at) * q
		}
	}
	return t
}

// ask takes the position at sample k and finds the command.
func (c *servo) ask(k int, x float64) {
	c.x[c.pad+k] = x
	if k < c.pad {
		c.u = c.commands[k]
	} else {
		i := c.pad + k - c.delay
		c.u = c.clamp(c.stiffness*(c.reference[k]-x) - c.damping*(c.x[i]-c.x[i-c.mean]))
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

// drive moves the body from sample k of a piece in a controller to the next, and finds the command at its end.
func (e *evaluator) drive(i, k int, c *servo) engine.Status {
	if k+1 < c.pad {
		c.un = c.commands[k+1] + c.added(k+1)
		return e.pass(i, k, c, nil)
	}
	// u_{k+1} = target − slope·x_{k+1}(u_{k+1}): Newton's method with a free mass, then secants
	b, at := e.b, c.pad+k+1-c.delay
	target := c.stiffness*c.reference[k+1] + c.damping*c.x[at-c.mean]
	if c.delay > 0 {
		target -= c.damping * c.x[at]
	}
	copy(c.saved, b.x)
	c.un = c.u0
	last, missed := 0.0, 0.0
	for n := 0; ; n++ {
		status := e.pass(i, k, c, nil)
		c.answered = target - c.slope*b.x[0]
		miss := c.clamp(c.answered) + c.added(k+1) - c.un
		if status == engine.NonFinite || n == answers || !(math.Abs(miss) > 1e-10*(math.Abs(c.un)+math.Abs(c.u0))) {
			return status
		}
		step := miss / (1 + c.slope*c.h*c.h/b.mass.M*c.nextDisplacement)
		if n > 0 && miss != missed {
			step = -miss * (c.un - last) / (miss - missed)
		}
		last, missed = c.un, miss
		c.un += step
		copy(b.x, c.saved)
	}
}

// meanOf is the mean of what acts (N).
func (t *taps) meanOf(c *servo) float64 {
	return t.mean[0]*c.u2 + t.mean[1]*c.u1 + t.mean[2]*c.u0 + t.mean[3]*c.un
}

// at is what acts at the beginning of a part of h (s), in N, and its rise in N/s.
func (t *taps) at(c *servo, h float64) (u, du float64) {
	rise := t.rise[0]*c.u2 + t.rise[1]*c.u1 + t.rise[2]*c.u0 + t.rise[3]*c.un
	return t.meanOf(c) - rise/2, rise / h
}

// checkServo tells what is wrong with the controller, and with what is compared in it.
func (s *Spec) checkServo(add func(format string, args ...any)) {
	switch c := s.Controller; {
	case s.Drive == Servo && c == nil:
		add("controller: missing, a servo needs its gains kp and kv")
	case s.Drive == Servo && !(c.Kp >= 0 && c.Kv > 0 && c.Gain > 0 && c.Limit >= 0 && c.Mean >= 0 && c.Delay >= 0) ||
		c != nil && math.IsInf(c.Kp*c.Kv*c.Gain, 0):
		add("controller: kp %g, kv %g, gain %g, limit %g, mean %d, delay %d: want finite gains, kv and gain > 0, the others ≥ 0", c.Kp, c.Kv,
			c.Gain, c.Limit, c.Mean, c.Delay)
	case s.Drive == Servo && s.Output == Velocity:
		add("output: a servo compares its command, or the position")
	case s.Drive != Servo && s.Output == Command:
		add("output: a command is compared in closed loop only, with the drive servo and its controller")
	}
}
