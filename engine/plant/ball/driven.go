package ball

import "gonum.org/v1/gonum/spatial/r3"

// RollingUnder is dω/dt (rad/s²) and the force of the plane (N, in its frame) of a ball that rolls, turning at w, under a moment (N·m, body
// axes) beside the friction of the model. Both are linear in the moment. An estimator whose friction is unknown gives it here to a
// model without any.
func (m *Model) RollingUnder(f *Frame, w, moment r3.Vec) (dw, force r3.Vec) {
	a := m.accelerate(f, w, r3.Vec{}, Mode{})
	rho := axpy(m.radius, f.C, m.c)
	k := m.inertia.plus(m.mass, rho)
	s := solver{f: k.factor()}
	if _, d := m.moment(f.C, w, Mode{}); d != (r3.Vec{}) {
		s.dry, s.m, s.lever, s.kd = true, m.mass, r3.Cross(m.c, f.C), s.f.solve(d)
		s.below = 1 + m.mass*r3.Dot(s.lever, s.kd)
	}
	more := s.solve(moment)
	return r3.Add(a.W, more), axpy(m.mass, f.ToPlane(r3.Cross(more, rho)), a.Force)
}
