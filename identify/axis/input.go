package axis

import (
	"fmt"
	"hilrig/engine/numeric"
	"hilrig/identify/record"
	"math"

	"gonum.org/v1/gonum/floats"
)

// The force between its samples. A command u_k is held, or runs straight to the next one, from the time t_k + δh on, δ the lag
// in samples. A simulation divides the interval from t_k to t_{k+1} into n parts. What acts during part j is the straight line
// with the mean of the input over it,
//
//	a … b = j/n − δ … (j + 1)/n − δ   in samples after t_k, counted on the axis of the commands,
//
// and, where commands run straight, with the rise from a to b. Both are sums of at most three neighbouring commands with
// weights that depend on δ alone and change continuously with it. A command that jumps within a part moves the mass by up to
// an eighth of (h/n)²·Δu/M less or more than its mean does: an error of the order of the scheme.

// window is the part of an interval, in weights of the commands k+first, k+first+1 and k+first+2.
type window struct {
	firstCommand int
	mean         [3]float64 // over the part
	rise         [3]float64 // from its beginning to its end; held commands: zero
}

// windows fills w, one window for every part, for a lag of delta samples.
func windows(w []window, delta float64, straight bool) {
	n := float64(len(w))
	for j := range w {
		w[j] = windowOf(float64(j)/n-delta, float64(j+1)/n-delta, straight)
	}
}

// windowOf is the window from a to b, at most a sample long.
func windowOf(a, b float64, straight bool) window {
	w := window{firstCommand: int(math.Floor(a))}
	for i := range w.mean {
		at := float64(w.firstCommand + i)
		if straight {
			w.mean[i] = (hat(b-at) - hat(a-at)) / (b - a)
			w.rise[i] = max(0, 1-math.Abs(b-at)) - max(0, 1-math.Abs(a-at))
		} else {
			w.mean[i] = (ramp(b-at) - ramp(a-at)) / (b - a)
		}
	}
	return w
}

// ramp is the integral of a command held from 0 to 1.
func ramp(s float64) float64 { return min(max(s, 0), 1) }

// hat is the integral of a command that rises from 0 at −1 to 1 at 0 and falls to 0 at 1.
func hat(s float64) float64 {
	s = min(max(s, -1), 1)
	return 0.5 + s - 0.5*s*math.Abs(s)
}

// meanOf is the mean of u (N) over the window at sample k.
func (w *window) meanOf(u []float64, k int) (mean float64) {
	last := len(u) - 1
	for i, q := range w.mean {
		mean += q * u[min(max(k+w.firstCommand+i, 0), last)]
	}
	return mean
}

// act puts the force of the window at sample k of u (N) into l, for a part of h (s). Before the first sample and after the
// last the force stays.
func (w *window) act(l *loads, u []float64, k int, h float64) {
	var mean, rise float64
	last := len(u) - 1
	for i := range w.mean {
		x := u[min(max(k+w.firstCommand+i, 0), last)]
		mean += w.mean[i] * x
		rise += w.rise[i] * x
	}
	l.u, l.du = mean-rise/2, rise/h
}

// loads is everything that acts on the mass besides friction, during a part of a sampling interval:
//
//	u(t) − offset − k·x − mgs·sin x − mgc·cos x + kd·(p(t) − x) − fv·v − q·|v|
//
// u and p run straight within the part. fv and q are viscous friction, the mean and the half difference of
// the two directions; those of a law that has its own leave only q, where the law is rigid. It is the friction.Load of an
// evaluator.
type loads struct {
	u, du  float64 // N, N/s       drive at the beginning of the part, and its rise
	p, dp  float64 // m, m/s       far end of the spring at the beginning of the part, and its speed
	kd     float64 // N/m
	offset float64 // N
	k      float64 // N/m
	sin    float64 // N
	cos    float64 // N
	fv     float64 // N·s/m
	q      float64 // N·s/m
	turns  bool    // sine or cosine is there
}

// Span does nothing: the forces are known at every instant.
func (l *loads) Span(tau, h, x float64) {}

// At is the load and its derivatives.
func (l *loads) At(tau, x, v float64) (force, dx, dv float64) {
	force = l.u + l.du*tau + l.kd*(l.p+l.dp*tau-x) - l.offset - l.k*x
	dx = -l.kd - l.k
	if l.turns {
		s, c := math.Sincos(x)
		force -= l.sin*s + l.cos*c
		dx += l.sin*-c + l.cos*s
	}
	force -= l.fv * v
	dv = -l.fv
	if l.q != 0 {
		force -= l.q * math.Abs(v)
		dv -= l.q * numeric.Sign(v)
	}
	return force, dx, dv
}

// pulses are forces on the axis that the controller did not ask for: a known force beside the drive, or something added to
// the command before it was recorded, as is done to test a model on another motion. Either way the simulation has to get
// them too.
type pulses struct {
	force    []float64 // N, nil: none
	drive    []float64 // N, what acts on the axis in all: the recorded force, and the pulses where it does not contain them
	commands []float64 // N, what is compared in closed loop: the recorded command without them
	note     string
}

// addedFrom is the share of the recorded command, rms, from which what the controller did not ask for counts as added. Below
// it are the steps of the encoder and filters that are not modelled.
const addedFrom = 0.01

// lastingFrom is the correlation from sample to sample above which a departure is a force that somebody added; below it is the
// noise of the recorded command, which belongs to the residual.
const lastingFrom = 0.5

// pulsesOf finds the pulses of a record. In closed loop the controller is run on the recorded motion:
//
//	departure = recorded command − what the controller asks for there
//
// and the departure says whether a recorded pulse is part of the command, or, where no pulse was recorded, is the pulse.
func (s *Spec) pulsesOf(d *record.Record) pulses {
	n := len(d.Force)
	p := pulses{drive: d.Force, commands: d.Force}
	given := len(d.Disturbance) == n
	if s.Drive != Servo {
		if given {
			p.drive = floats.AddTo(make([]float64, n), d.Force, d.Disturbance)
		}
		return p
	}
	c := s.Controller
	mean := max(c.Mean, 1)
	departure := make([]float64, n)
	limit := math.Inf(1)
	if c.Limit > 0 {
		limit = c.Limit
	}
	var all, gone, left, next float64
	for k := c.Delay + mean; k < n; k++ {
		v := (d.Position[k-c.Delay] - d.Position[k-c.Delay-mean]) / (float64(mean) * d.Dt)
		asked := c.Gain * min(max(c.Kv*(c.Kp*(d.Reference[k]-d.Position[k])-v), -limit), limit)
		departure[k] = d.Force[k] - asked
		all += d.Force[k] * d.Force[k]
		gone += departure[k] * departure[k]
		next += departure[k] * departure[k-1]
		if given {
			left += (departure[k] - d.Disturbance[k]) * (departure[k] - d.Disturbance[k])
		}
	}
	switch {
	case given && left < gone: // part of the command
		p.force, p.commands = d.Disturbance, floats.SubTo(make([]float64, n), d.Force, d.Disturbance)
	case given:
		p.force, p.drive = d.Disturbance, floats.AddTo(make([]float64, n), d.Force, d.Disturbance)
	case gone > addedFrom*addedFrom*all && next > lastingFrom*gone:
		rms := math.Sqrt(gone / float64(n))
		p.force, p.commands = departure, floats.SubTo(make([]float64, n), d.Force, departure)
		p.note = fmt.Sprintf("the recorded command departs by %.3g %s rms, %.1f %%, from what the controller asks for along the recorded "+
			"motion; the difference is added in the simulation too, and the residual is smaller for it. If nothing was added on purpose, the "+
			"gains or the filter of the controller are wrong",
			rms, namesOf(s.Rotary).unitF, 100*math.Sqrt(gone/all))
	}
	return p
}
