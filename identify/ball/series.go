package ball

import (
	"fmt"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/plant/ball"
)

// Sample is what smoothing says of a frame, as the source draws it: γ (figure 3b), moduli of the moments (4), M_roll over ω_roll and their
// cosine (5), and the components of the moment (6).
type Sample struct {
	T          float64
	X, Y       float64 // m      path of the centre, frame of the cameras
	Gamma      r3.Vec  //        vertical in the body
	Roll       r3.Vec  // rad/s  ω_h, body axes
	RollMoment r3.Vec  // N·m    of friction against rolling, body axes
	Spin       float64 // rad/s  (ω, γ)
	SpinMoment float64 // N·m    (M, γ)
	Cosine     float64 //        between Roll and RollMoment; 0 where one of them is
}

// Series smooths a recording and asks the equations of motion for the moment of friction, frame by frame.
func Series(spec Spec, rec *Recording) ([]Sample, error) {
	c, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	_, ms, err := c.smoothedMotion(rec)
	if err != nil {
		return nil, err
	}
	m := c.Body.Unchecked()
	out := make([]Sample, len(ms))
	for i := range ms {
		a := &ms[i]
		moment, _ := m.Inverse(&a.f, a.w, a.dw)
		s := Sample{T: a.t, X: a.p.X, Y: a.p.Y, Gamma: a.f.C}
		s.Spin, s.Roll = split(&a.f, a.w)
		s.SpinMoment, s.RollMoment = split(&a.f, moment)
		if n := r3.Norm(s.Roll) * r3.Norm(s.RollMoment); n > 0 {
			s.Cosine = r3.Dot(s.Roll, s.RollMoment) / n
		}
		out[i] = s
	}
	return out, nil
}

// Motion is that of the ball that was found at times (s, rising) not before the first frame of the recording: what figures 7 and 8 of the
// source draw beside the measured one. Places are in the frame of the plane.
func (r *Result) Motion(times []float64) ([]ball.State, error) {
	m := r.Body.Unchecked()
	s, now := r.start, r.startTime
	m.Place(&s)
	out := make([]ball.State, len(times))
	for k, t := range times {
		if t < now {
			return nil, fmt.Errorf("motion: time %d, %g s, lies before %g s", k, t, now)
		}
		if _, st := m.Step(t-now, &s); st == engine.NonFinite || st == engine.NotConverged {
			return nil, fmt.Errorf("motion: the simulation fails at %g s: %v", t, st)
		}
		out[k], now = s, t
	}
	return out, nil
}
