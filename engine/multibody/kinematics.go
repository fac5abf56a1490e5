package multibody

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Positions places the bodies for q. Valid afterwards: Pose, FramePose, Jacobian.
func Positions(m *Model, d *Data, q []float64) {
	m.check("Positions", q, nil, nil)
	for j := 1; j < len(m.body); j++ {
		m.place(d, j, q)
	}
}

// Velocities is Positions, and the velocities of the bodies for v. Valid afterwards: also Velocity, FrameVelocity.
func Velocities(m *Model, d *Data, q, v []float64) {
	m.check("Velocities", q, v, nil)
	for j := 1; j < len(m.body); j++ {
		m.place(d, j, q)
		m.move(d, j, v)
	}
}

// place finds where body j stands, and the columns of its joint.
func (m *Model) place(d *Data, j int, q []float64) {
	b, s := &m.body[j], &d.body[j]
	if b.node != nil {
		m.placeNode(d, j, q)
		return
	}
	p := &d.body[b.parent]
	s.arm = b.offset
	if b.parent > 0 {
		s.arm = turn(&p.rot, b.offset)
	}
	switch b.kind {
	case Fixed:
		b.mount(p, s)
	case Revolute:
		sin, cos := math.Sincos(q[b.iq])
		c := 1 - cos
		var r rotation.Matrix
		for i := range 3 {
			t, tk, tkk := &b.t[i], &b.tk[i], &b.tkk[i]
			r[i] = [3]float64{t[0] + sin*tk[0] + c*tkk[0], t[1] + sin*tk[1] + c*tkk[1], t[2] + sin*tk[2] + c*tkk[2]}
		}
		if b.parent > 0 {
			multiply(&p.rot, &r, &s.rot)
		} else {
			s.rot = r
		}
		d.column[b.iv].ang = turn(&s.rot, b.joint.Axis)
	case Prismatic:
		b.mount(p, s)
		a := turn(&s.rot, b.joint.Axis)
		d.column[b.iv].lin = a
		s.arm = r3.Add(s.arm, r3.Scale(q[b.iq], a))
	case Spherical, Free:
		b.mount(p, s)
		base := s.rot
		g, _ := rotation.Unit(quat.Number{Real: q[b.iq], Imag: q[b.iq+1], Jmag: q[b.iq+2], Kmag: q[b.iq+3]})
		r := rotation.MatrixOf(g)
		multiply(&base, &r, &s.rot)
		for k := range 3 {
			d.column[b.iv+k].ang = column(&s.rot, k)
		}
		if b.kind == Free {
			s.arm = r3.Add(s.arm, turn(&base, r3.Vec{X: q[b.iq+4], Y: q[b.iq+5], Z: q[b.iq+6]}))
			for k := range 3 {
				d.column[b.iv+3+k].lin = column(&s.rot, k)
			}
		}
	}
	s.pos = r3.Add(p.pos, s.arm)
}

// mount puts the axes of the joint at the parent into s.
func (b *body) mount(p, s *bodyData) {
	if b.straight {
		s.rot = p.rot
	} else {
		multiply(&p.rot, &b.t, &s.rot)
	}
}

// move finds the velocity of body j and V × S·v.
func (m *Model) move(d *Data, j int, v []float64) {
	b, s := &m.body[j], &d.body[j]
	if b.node != nil {
		m.moveNode(d, j, v)
		return
	}
	w, u := r3.Vec{}, r3.Vec{}
	if b.parent > 0 {
		p := &d.body[b.parent]
		w = p.vel.ang
		u = r3.Add(p.vel.lin, r3.Cross(w, s.arm))
	}
	switch b.kind {
	case Revolute:
		a := r3.Scale(v[b.iv], d.column[b.iv].ang)
		s.cor = spatial{r3.Cross(w, a), r3.Cross(u, a)}
		w = r3.Add(w, a)
	case Prismatic:
		a := r3.Scale(v[b.iv], d.column[b.iv].lin)
		s.cor = spatial{lin: r3.Cross(w, a)}
		u = r3.Add(u, a)
	default:
		var rel spatial
		for k := range b.nv {
			c := &d.column[b.iv+k]
			rel.ang = r3.Add(rel.ang, r3.Scale(v[b.iv+k], c.ang))
			rel.lin = r3.Add(rel.lin, r3.Scale(v[b.iv+k], c.lin))
		}
		w, u = r3.Add(w, rel.ang), r3.Add(u, rel.lin)
		s.cor = spatial{r3.Cross(w, rel.ang), r3.Add(r3.Cross(u, rel.ang), r3.Cross(w, rel.lin))}
	}
	s.vel = spatial{w, u}
}

// weigh turns the inertia of body j to world axes. v is for flexible bodies, nil: at rest.
func (m *Model) weigh(d *Data, j int, q, v []float64) {
	b, s := &m.body[j], &d.body[j]
	if b.flex != nil {
		m.deform(d, j, q, v)
		return
	}
	s.mc = turn(&s.rot, b.mc)
	b.io.turned(&s.rot, &s.io)
}

// momentum is I·V of body j.
func (b *body) momentum(s *bodyData, v *spatial) (ang, lin r3.Vec) {
	lin = r3.Add(r3.Scale(b.mass, v.lin), r3.Cross(v.ang, s.mc))
	return r3.Add(s.io.vec(v.ang), r3.Cross(s.mc, v.lin)), lin
}

// Pose is where body j stands: R·pB + P is the place in the world of a point pB of the body.
func (d *Data) Pose(j int) (r rotation.Matrix, p r3.Vec) { return d.body[j].rot, d.body[j].pos }

// Velocity is the angular velocity of body j (rad/s) and the velocity of its origin (m/s), world axes.
func (d *Data) Velocity(j int) (ang, lin r3.Vec) { return d.body[j].vel.ang, d.body[j].vel.lin }

// FramePose is where a frame stands in the world.
func (m *Model) FramePose(d *Data, frame int) (r rotation.Matrix, p r3.Vec) {
	f := &m.frames[frame]
	s := &d.body[f.body]
	multiply(&s.rot, &f.rot, &r)
	return r, r3.Add(s.pos, turn(&s.rot, f.pose.P))
}

// FrameVelocity is the angular velocity of a frame and the velocity of its origin, world axes.
func (m *Model) FrameVelocity(d *Data, frame int) (ang, lin r3.Vec) {
	f := &m.frames[frame]
	s := &d.body[f.body]
	return s.vel.ang, r3.Add(s.vel.lin, r3.Cross(s.vel.ang, turn(&s.rot, f.pose.P)))
}
