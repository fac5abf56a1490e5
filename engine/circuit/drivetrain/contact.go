package drivetrain

import (
	"errors"
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/plant"
)

// Contact is a gap in a twist with a spring and the loss of [HC75] on each side, never pulling: backlash between two coordinates, or the
// ends of the travel of one against Ground,
//
//	T = Stiffness·p·(1 + Loss·dp/dt) with the depth p beyond the end of the gap, with its sign.
//
// The gap is Stops.Travel of δ; an end at ±Inf is not there. A backlash of b (rad, on the side of B) has Travel ±b/2, the seat of a
// magnet with the gap q_A a Travel of [0, +Inf] with B = Ground.
type Contact struct {
	stateless
	Label string
	Twist
	plant.Stops
}

// Name is the label.
func (c *Contact) Name() string { return c.Label }

func (c *Contact) check(n int) error {
	errs := []error{c.checkTwist(n), atLeast("stiffness", c.Stiffness, "N·m/rad", true), atLeast("loss", c.Loss, "s/rad", false)}
	if !(c.Travel[0] <= c.Travel[1]) {
		errs = append(errs, errors.New("travel: want the lower end first"))
	}
	return errors.Join(errs...)
}

// ends are those of the gap, finite: what is not there is as far beyond as no step goes.
func (c *Contact) ends() plant.Stops {
	const far = 1e9 // rad or m
	s := c.Stops
	s.Travel[0], s.Travel[1] = max(s.Travel[0], -far), min(s.Travel[1], far)
	return s
}

// depth is how far δ is beyond the gap, with its sign.
func (c *Contact) depth(d float64) float64 {
	return max(0, d-c.Travel[1]) + min(0, d-c.Travel[0])
}

// lossPower is what goes into heat while the depth (rad or m) of an end goes from p0 to p1 in h (s): the damper, which takes the
// spring's own force where the contact leaves faster than the spring comes back. It does not use the force, so that the audit of a
// contact can fail.
func (c *Contact) lossPower(p0, p1, h float64) float64 {
	return c.Stiffness * (p1*p1 - p0*p0) / 2 / h * max(c.Loss*(p1-p0)/h, -1)
}

// Flow adds the torque.
func (c *Contact) Flow(t float64, q, v, z, dz, tau []float64) (circuit.Power, engine.Status) {
	d, rate := c.of(q), c.of(v)
	s := c.ends()
	f, _, _ := s.Force(0, d, rate, false) // on δ, against it
	p := c.depth(d)
	deepens := math.Copysign(rate, rate*p)
	return circuit.Power{Loss: c.Stiffness * math.Abs(p) * deepens * max(c.Loss*deepens, -1), Output: c.exert(-f, v, tau)}, engine.OK
}

// Trial adds the mean torque of the way: what the spring stores it gives back.
func (c *Contact) Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (circuit.Power, engine.Status) {
	d, rate := c.of(q), c.of(w)
	s := c.ends()
	f, dx, dv := s.Force(d, d+h/2*rate, rate, true)
	c.steepen(-dx*h/2-dv, len(w), slope)
	end := d + h*rate
	lost := c.lossPower(max(0, d-c.Travel[1]), max(0, end-c.Travel[1]), h) + c.lossPower(max(0, c.Travel[0]-d), max(0, c.Travel[0]-end), h)
	return circuit.Power{Loss: lost, Output: c.exert(-f, w, tau)}, engine.OK
}

// StoredEnergy is that of the spring.
func (c *Contact) StoredEnergy(q, z []float64) float64 {
	p := c.depth(c.of(q))
	return c.Stiffness * p * p / 2
}
