package ball

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// SetFriction replaces the friction of m: an estimator gives its copy of a model what it believes.
func (m *Model) SetFriction(roll, spin Friction) { m.roll, m.spin = roll, spin }

// RollingForce is dω/dt (rad/s², body axes) and the force of the plane (N, in its frame) of a ball that rolls.
func (m *Model) RollingForce(f *Frame, w r3.Vec) (dw, force r3.Vec) {
	a := m.accelerate(f, w, r3.Vec{}, Mode{})
	return a.W, a.Force
}

// Slopes are the derivatives of dω/dt, column by column, in body axes.
type Slopes struct {
	Turn  [3]r3.Vec // 1/s²     by a small turn of the body about each of its axes: q·exp(δ)
	Omega [3]r3.Vec // 1/s      by ω
	// by the linear coefficients (1/(kg·m²·s)…: rad/s² per N·m·s), and the quadratic one against rolling
	Roll, Spin, Quadratic r3.Vec
}

// Slopes differentiates the equations of a ball that rolls, turning at w with acceleration dw, by orientation, ω and coefficients.
// Friction of Coulomb's type is left out: it has none at rest, and an estimator that knows it gives the rest.
func (m *Model) Slopes(f *Frame, w, dw r3.Vec) (s Slopes) {
	g, c := f.C, m.c
	rho := axpy(m.radius, g, c)
	wc := r3.Cross(w, c)
	iw := m.inertia.mulVec(w)
	weight := f.ToBody(m.weight)
	held := axpy(m.mass, r3.Cross(w, wc), r3.Scale(-1, weight))
	k := m.inertia.plus(m.mass, rho)
	inv := k.factor()

	wn := r3.Dot(w, g)
	wh := axpy(-wn, g, w)
	speed, spin := r3.Norm(wh), math.Abs(wn)
	// change of the moment of friction with ω and γ
	moment := func(dw, dg r3.Vec) r3.Vec {
		dn := r3.Dot(dw, g) + r3.Dot(w, dg)
		dh := axpy(-dn, g, axpy(-wn, dg, dw))
		d := r3.Scale(-(m.roll.Linear + m.roll.Quadratic*speed), dh)
		if m.roll.Quadratic != 0 && speed > 0 {
			d = axpy(-m.roll.Quadratic*r3.Dot(wh, dh)/speed, wh, d)
		}
		d = axpy(-(m.spin.Linear+2*m.spin.Quadratic*spin)*dn, g, d)
		return axpy(-(m.spin.Linear+m.spin.Quadratic*spin)*wn, dg, d)
	}
	for j, e := range [3]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}} {
		ie := m.inertia.mulVec(e)
		d := r3.Sub(moment(e, r3.Vec{}), r3.Add(r3.Cross(e, iw), r3.Cross(w, ie)))
		lever := r3.Add(r3.Cross(e, wc), r3.Cross(w, r3.Cross(e, c)))
		s.Omega[j] = inv.solve(axpy(-m.mass, r3.Cross(rho, lever), d))
	}
	// a turn about the normal changes γ in no way, and the weight only on a slope: two turns in the plane, and the third where it leans
	for j, e := range [3]r3.Vec{f.A, f.B, g} {
		if j == 2 && m.weight.X == 0 && m.weight.Y == 0 {
			break
		}
		dg := r3.Cross(g, e)
		dr := r3.Scale(m.radius, dg)
		d := r3.Sub(moment(r3.Vec{}, dg), r3.Cross(dr, held))
		d = r3.Add(d, r3.Cross(rho, r3.Cross(weight, e)))
		rr := r3.Dot(rho, dr)
		dk := axpy(2*rr, dw, axpy(-r3.Dot(rho, dw), dr, r3.Scale(-r3.Dot(dr, dw), rho)))
		col := inv.solve(axpy(-m.mass, dk, d))
		s.Turn[0] = axpy(e.X, col, s.Turn[0])
		s.Turn[1] = axpy(e.Y, col, s.Turn[1])
		s.Turn[2] = axpy(e.Z, col, s.Turn[2])
	}
	s.Roll = inv.solve(r3.Scale(-1, wh))
	s.Spin = inv.solve(r3.Scale(-wn, g))
	s.Quadratic = r3.Scale(speed, s.Roll)
	return s
}
