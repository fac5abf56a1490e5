package manipulator

import "fmt"

// Drawn is the motion that a driven joint is given from outside.
type Drawn struct {
	Q float64 // rad
	V float64 // rad/s
	A float64 // rad/s²
}

// led is a driven joint that follows a motion from outside in place of its Drive. Within a step position and speed go along the cubics
// through both ends with their slopes; the acceleration is the slope of the speed.
type led struct {
	active               bool
	startPoint, endPoint Drawn
	startTime, h         float64 // s  of the step
}

// FollowMotion has the driven joint i follow a motion from outside from now on: the next Step begins where the state is, and ends here.
func (k *Machine) FollowMotion(i int, to Drawn) error {
	m := k.p.w.m
	if i < 0 || i >= m.n || m.p.Joints[i].Drive == nil {
		return fmt.Errorf("manipulator: joint %d is not driven", i+1)
	}
	l := &k.p.followers[i]
	l.active, l.endPoint = true, to
	return nil
}

// layCubics begins the cubics of a step of h (s) for the joints that are led.
func (p *stepper) layCubics(h float64) {
	for _, d := range p.w.m.drivenJoints {
		l := &p.followers[d]
		l.startPoint.Q, l.startPoint.V = p.s.q[d], p.s.v[d]
		l.startTime, l.h = p.t, h
	}
}

// reached are the joints that are led at the end of a step.
func (p *stepper) reached() [MostJoints]led {
	to := p.followers
	for i := range to {
		to[i].startPoint.A = to[i].endPoint.A
	}
	return to
}

// motion is that of a driven joint at t (s).
func (p *stepper) motion(i int, t float64) (q, v, a float64) {
	l := &p.followers[i]
	if !l.active {
		return p.w.m.p.Joints[i].Drive.At(t)
	}
	if !(l.h > 0) {
		return l.endPoint.Q, l.endPoint.V, l.endPoint.A
	}
	x := (t - l.startTime) / l.h
	a = 6*x*(1-x)*(l.endPoint.V-l.startPoint.V)/l.h + (1-x)*(1-3*x)*l.startPoint.A - x*(2-3*x)*l.endPoint.A
	return cubic(x, l.h, l.startPoint.Q, l.startPoint.V, l.endPoint.Q, l.endPoint.V),
		cubic(x, l.h, l.startPoint.V, l.startPoint.A, l.endPoint.V, l.endPoint.A), a
}

// cubic goes through values and slopes at both ends of h, at the share x of it.
func cubic(x, h, y0, d0, y1, d1 float64) float64 {
	up := 1 - x
	return up*up*(1+2*x)*y0 + x*x*(1+2*up)*y1 + h*x*up*(up*d0-x*d1)
}
