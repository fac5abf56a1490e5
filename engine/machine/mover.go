package machine

import (
	"hilrig/engine"
	"hilrig/engine/friction"
)

// Mover is a joint with one coordinate that makes its own step within that of the machine: one with friction that sticks, or the axis of a
// rig with its drive.
type Mover interface {
	// Move finds how the joint goes on for h (s) from the position q and speed v as a mass (kg·m², kg) under a torque that is held (N·m, N)
	// and whatever the mover does itself: its mean speed w, which is the way divided by h, and its speed at the end. It is asked several
	// times in a step and keeps what it did the last time.
	Move(h, q, v, mass, torque float64) (w, end float64, st engine.Status)
}

// sticking is a Mover with dry friction alone.
type sticking struct {
	mass   *friction.Mass
	load   *loaded // nil: the law as it is
	x      []float64
	torque float64
}

func newSticking(law friction.Model) (*sticking, error) {
	mass, err := friction.NewMass(1, friction.Clone(law), friction.Midpoint)
	if err != nil {
		return nil, err
	}
	return &sticking{mass: mass, x: mass.NewState()}, nil
}

// Span and At are those of a constant load.
func (*sticking) Span(tau, h, x float64) {}

func (s *sticking) At(tau, x, v float64) (force, dx, dv float64) { return s.torque, 0, 0 }

func (s *sticking) Move(h, q, v, mass, torque float64) (w, end float64, st engine.Status) {
	s.x[0], s.x[1] = q, v
	s.mass.M, s.torque = mass, torque
	if s.load != nil {
		// M·dv/dt = τ − k·F: a mass M/k under τ/k
		const least = 1e-12
		k := max(s.load.scale, least*mass)
		s.mass.M, s.torque = mass/k, torque/k
	}
	r := s.mass.Step(h, s.x, s)
	return r.W, s.x[1], r.Status
}
