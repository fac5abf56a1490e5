package manipulator

import "fmt"

// Drawn is the motion that a driven joint is given from outside.
type Drawn struct {
	Q float64 // rad
	V float64 // rad/s
	A float64 // rad/s²
}

// led is a driven joint that follows a motion from outside in place of its Drive. Within a step position and speed go along the cubics through
// both ends with their slopes; the acceleration is the slope of the speed.
type led struct {
	on       bool
	was, now Drawn
	begin, h float64 // s  of the step
}

// Lead has the driven joint i follow a motion from outside from now on: the next Step begins where the state is, and ends here.
func (k *Machine) Lead(i int, to Drawn) error {
	m := k.p.w.m
	if i < 0 || i >= m.n || m.p.Joints[i].Drive == nil {
		return fmt.Errorf("manipulator: joint %d is not driven", i+1)
	}
	l := &k.p.led[i]
	l.on, l.now = true, to
	return nil
}

// lead lays out a step of h (s) for the joints that are led.
func (p *stepper) lead(h float64) {
	for _, d := range p.w.m.driven {
		l := &p.led[d]
		l.was.Q, l.was.V = p.s.q[d], p.s.v[d]
		l.begin, l.h = p.t, h
	}
}

// reached are the joints that are led at the end of a step.
func (p *stepper) reached() [MostJoints]led {
	to := p.led
	for i := range to {
		to[i].was.A = to[i].now.A
	}
	return to
}

// motion is that of a driven joint at t (s).
func (p *stepper) motion(i int, t float64) (q, v, a float64) {
	l := &p.led[i]
	if !l.on {
		return p.w.m.p.Joints[i].Drive.At(t)
	}
	if !(l.h > 0) {
		return l.now.Q, l.now.V, l.now.A
	}
	x := (t - l.begin) / l.h
	a = 6*x*(1-x)*(l.now.V-l.was.V)/l.h + (1-x)*(1-3*x)*l.was.A - x*(2-3*x)*l.now.A
	return cubic(x, l.h, l.was.Q, l.was.V, l.now.Q, l.now.V), cubic(x, l.h, l.was.V, l.was.A, l.now.V, l.now.A), a
}

// cubic goes through values and slopes at both ends of h, at the share x of it.
func cubic(x, h, y0, d0, y1, d1 float64) float64 {
	up := 1 - x
	return up*up*(1+2*x)*y0 + x*x*(1+2*up)*y1 + h*x*up*(up*d0-x*d1)
}
