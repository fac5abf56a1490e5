package multibody

import "gonum.org/v1/gonum/spatial/r3"

// Jacobian writes to jac, 6×nv with rows first, what the velocities do to a frame: rows 0–2 its angular velocity, rows 3–5 the velocity
// of its origin, world axes. Positions must be valid.
func Jacobian(m *Model, d *Data, frame int, jac []float64) {
	n := m.nv
	if len(jac) != 6*n {
		panic("multibody: Jacobian: matrix of another size, want 6×nv")
	}
	clear(jac)
	f := &m.frames[frame]
	s := &d.body[f.body]
	p := r3.Add(s.pos, turn(&s.rot, f.pose.P))
	for i := m.lastVelocity(f.body); i >= 0; i = m.dof[i].parent {
		w := d.column[i].ang
		u := m.columnAt(d, i, p)
		jac[i], jac[n+i], jac[2*n+i] = w.X, w.Y, w.Z
		jac[3*n+i], jac[4*n+i], jac[5*n+i] = u.X, u.Y, u.Z
	}
}

// lastVelocity is the last velocity on which the motion of body j depends, −1: none. The others follow by dof.parent.
func (m *Model) lastVelocity(j int) int {
	if j == 0 {
		return -1
	}
	return m.body[j].iv + m.body[j].nv - 1
}

// columnAt is the velocity at a point p (world) of any body that velocity i moves.
func (m *Model) columnAt(d *Data, i int, p r3.Vec) r3.Vec {
	c := &d.column[i]
	return r3.Add(c.lin, r3.Cross(c.ang, r3.Sub(p, d.body[m.dof[i].body].pos)))
}
