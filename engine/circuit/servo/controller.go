// Package servo closes loops around a machine: controllers that are a part of it, as a motor is.
//
// A controller measures positions, speeds, or states of the circuit, compares them with references, and sets voltages of the circuit,
// efforts of joints, or the references of other controllers. Its law is that of package control,
//
//	u = clamp(Kp·e + I + Kd·ė),   İ = Ki·e,   |I| ≤ Limit,
//
// so that the integral never winds up beyond what the limit lets through. It is continuous, or sampled: every T seconds it measures, adds
// Ki·e·T to the integral, and holds u until the next sample.
//
// A field-oriented controller has two channels, for the currents id and iq of a synchronous machine in axes that turn with its rotor, and
// takes away what the rotation couples them by:
//
//	ud = PI(id* − id) − p·w·Lq·iq,   uq = PI(iq* − iq) + p·w·(Ld·id + ψ),   √(ud² + uq²) ≤ Limit,
//
// where beyond the limit both are made smaller by one factor. Angle and currents are known exactly and at once; the inverter has no dead
// time.
//
// What a controller's effort does on a joint is energy from outside, In of the audit; what its voltages deliver is that of the sources of
// the circuit.
package servo

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/circuit"
	"hilrig/engine/control"
	"hilrig/engine/reference"
)

// Quantity is what a controller measures.
type Quantity uint8

const (
	Position Quantity = iota // of an axis
	Speed                    // of an axis
	State                    // of the circuit: a current, the voltage of a capacitor
)

// Measured is one of them.
type Measured struct {
	Quantity Quantity
	Axis     int
	State    string // its name in the circuit

	stateIndex int // in the states of the circuit
}

// Target is what a controller sets.
type Target struct {
	Source *circuit.Held // a voltage of the circuit or the reference of another controller; nil: Axis
	Axis   int           // on which it exerts an effort
}

// Channel is one error with what it leads to.
type Channel struct {
	Measured
	Reference reference.Generator // a *circuit.Held that another controller sets, or a function of time
	To        Target
	Name      string // of its numbers, behind the controller's; "": it is the only one
	Unit      string // of what it sets
}

// Controller is a PID, or one for the currents of a synchronous machine.
type Controller struct {
	Name string
	control.PID
	SamplePeriod float64 // s  from sample to sample; 0: continuous
	Channels     []Channel
	Rotor        *circuit.Rotor // of two channels d and q: what the rotation couples is taken away; nil: channels for themselves
	Axis         int            // that the rotor turns with

	stateOffset int  // its states among those of the part
	implicit    bool // its voltages are unknowns of a fixed step: it is continuous, and sets a source
	origin      int  // of its outputs among those of all
}

func (c *Controller) sampled() bool { return c.SamplePeriod > 0 }

// check tells what is wrong with it, for a machine of n axes.
func (c *Controller) check(n int) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if !(c.SamplePeriod >= 0) || math.IsInf(c.SamplePeriod, 0) {
		bad("every: %g s, want ≥ 0", c.SamplePeriod)
	}
	for _, p := range []struct {
		name string
		x    float64
	}{{"kp", c.Kp}, {"ki", c.Ki}, {"kd", c.Kd}, {"limit", c.Limit}, {"dead_zone", c.DeadZone}} {
		if !(p.x >= 0) || math.IsInf(p.x, 0) {
			bad("%s: %g, want ≥ 0", p.name, p.x)
		}
	}
	if len(c.Channels) < 1 || len(c.Channels) > 2 || c.Rotor != nil && len(c.Channels) != 2 {
		bad("%d channels, want one, or two of a field-oriented controller", len(c.Channels))
	}
	for k := range c.Channels {
		p := &c.Channels[k]
		if p.Reference == nil {
			bad("reference: missing")
		}
		if p.Quantity != State && (p.Axis < 0 || p.Axis >= n) {
			bad("feedback: axis %d, want 0 to %d", p.Axis, n-1)
		}
		if p.To.Source == nil && (p.To.Axis < 0 || p.To.Axis >= n) {
			bad("target: axis %d, want 0 to %d", p.To.Axis, n-1)
		}
		if p.Quantity != Position && c.Kd != 0 {
			bad("kd: acts on the rate of the error, which is measured of a position only; want 0")
		}
	}
	return errors.Join(errs...)
}

// view is what controllers see of a machine at one instant, or in the middle of a step.
type view struct {
	t    float64
	q, v []float64 // of the axes
	x    []float64 // of the circuit
}

// errorOf is the error of a channel and its rate.
func (p *Channel) errorOf(s *view) (e, de float64) {
	y, dy, _ := p.Reference.At(s.t)
	switch p.Quantity {
	case Position:
		return y - s.q[p.Axis], dy - s.v[p.Axis]
	case Speed:
		return y - s.v[p.Axis], 0
	}
	return y - s.x[p.stateIndex], 0
}

// act writes the outputs for errors of the instant and the integrals as they are then.
func (c *Controller) act(s *view, integral, out []float64) {
	for k := range c.Channels {
		e, de := c.Channels[k].errorOf(s)
		out[k] = c.Kp*e + integral[k] + c.Kd*de
	}
	if c.Rotor == nil {
		for k := range c.Channels {
			out[k] = c.Clamp(out[k])
		}
		return
	}
	r, w := c.Rotor, s.v[c.Axis]
	id, iq := s.x[c.Channels[0].stateIndex], s.x[c.Channels[1].stateIndex]
	out[0] -= r.Pairs * w * r.Lq * iq
	out[1] += r.Pairs * w * (r.Ld*id + r.Psi)
	if u := math.Hypot(out[0], out[1]); c.Limit > 0 && u > c.Limit {
		out[0], out[1] = out[0]*c.Limit/u, out[1]*c.Limit/u
	}
}

// applyOutput hands an output to what it sets, and adds an effort to tau.
func (c *Controller) applyOutput(out, tau []float64) {
	for k := range c.Channels {
		if to := &c.Channels[k].To; to.Source != nil {
			to.Source.Value = out[k]
		} else if tau != nil {
			tau[to.Axis] += out[k]
		}
	}
}

// growth is the rate of the integral of a channel: nothing leads it on beyond the limit.
func (c *Controller) growth(k int, integral float64, s *view) float64 {
	e, _ := c.Channels[k].errorOf(s)
	g := c.Growth(e)
	if c.Limit > 0 && math.Abs(integral) >= c.Limit && g*integral > 0 {
		return 0
	}
	return g
}

// sample takes a sample: states are integrals, then the outputs that are held.
func (c *Controller) sample(s *view, z []float64) {
	n := len(c.Channels)
	for k := range c.Channels {
		e, _ := c.Channels[k].errorOf(s)
		z[k] = c.Clamp(z[k] + c.Growth(e)*c.SamplePeriod)
	}
	c.act(s, z[:n], z[n:2*n])
}

// next is the first sample after t (s).
func (c *Controller) next(t float64) float64 {
	k := math.Floor(t/c.SamplePeriod) + 1
	for k*c.SamplePeriod <= t {
		k++
	}
	for (k-1)*c.SamplePeriod > t {
		k--
	}
	return k * c.SamplePeriod
}
