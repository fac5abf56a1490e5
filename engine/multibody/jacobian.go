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
	for j := f.body; j > 0; j = m.body[j].parent {
		m.columns(d, j, p, func(i int, w, u r3.Vec) {
			jac[i], jac[n+i], jac[2*n+i] = w.X, w.Y, w.Z
			jac[3*n+i], jac[4*n+i], jac[5*n+i] = u.X, u.Y, u.Z
		})
	}
}

// columns calls do with the velocities of body j and what a unit of each does to it, to a point p (world) of it: of the joint, or of the
// modes if it is a node.
func (m *Model) columns(d *Data, j int, p r3.Vec, do func(i int, w, u r3.Vec)) {
	b, s := &m.body[j], &d.body[j]
	r := r3.Sub(p, s.pos)
	for i := b.iv; i < b.iv+b.nv; i++ {
		c := &d.column[i]
		do(i, c.ang, r3.Add(c.lin, r3.Cross(c.ang, r)))
	}
	for k := range s.modes {
		c := &s.modes[k]
		do(m.body[b.parent].flex.ia+k, c.ang, r3.Add(c.lin, r3.Cross(c.ang, r)))
	}
}

// lastVelocity is the last velocity on which the motion of body j depends, −1: none. The others follow by dof.parent.
func (m *Model) lastVelocity(j int) int {
	for ; j > 0; j = m.body[j].parent {
		b := &m.body[j]
		switch {
		case b.flex != nil:
			return b.flex.ia + b.flex.n - 1
		case b.nv > 0:
			return b.iv + b.nv - 1
		}
	}
	return -1
}

// columnAt is the velocity at a point p (world) of any body that velocity i, of a joint, moves.
func (m *Model) columnAt(d *Data, i int, p r3.Vec) r3.Vec {
	c := &d.column[i]
	return r3.Add(c.lin, r3.Cross(c.ang, r3.Sub(p, d.body[m.dof[i].body].pos)))
}
