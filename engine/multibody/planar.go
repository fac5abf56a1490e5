package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// plane is a machine whose motion is that of a plane: every revolute axis has its normal, every prismatic axis lies in it. Motions are
// [turn; x, y] then; moments and forces out of the plane are carried by the joints and move nothing.
type plane struct {
	n, e1, e2 r3.Vec // right-handed axes of the plane, in the world
	body      []flatBody
	cuts      []flatCut
	coversAll bool // all constraints are equations of the plane
}

type flatBody struct {
	parent int
	slides bool
	q, v   int
	sign   float64 // of the axis along n
	x, y   float64 // m  joint in the parent
	dx, dy float64 // direction of sliding in the axes of the joint

	m, cx, cy float64 // kg, kg·m  mass, first moments
	i         float64 // kg·m²  about the origin
	armature  float64

	cosPart, sinPart, axisPart rotation.Matrix // body → world: cosPart·cos θ + sinPart·sin θ + axisPart
	normalOffset               r3.Vec          // m  part of the arm along the normal
}

type flatData struct {
	theta, cos, sin   float64
	rx, ry            float64 // m  origin from that of the parent
	w, vx, vy         float64
	cx, cy            float64 // V × S·v, linear
	dx, dy            float64 // direction of sliding
	a, hx, hy         float64 // I^A = [a hx hy; hx mxx mxy; hy mxy myy]
	mxx, mxy, myy     float64
	p, fx, fy         float64 // p^A
	ua, ux, uy, d1, u float64
	aw, ax, ay        float64
	px, py            float64 // m  origin
	kx, ky, mass      float64 // kg·m, kg  first moments of the body; mass of all that hangs on it, with hx, hy, a
}

// level is how far from parallel, as a sine, two axes may be by rounding alone.
const level = 1e-14

// planeOf finds the plane in which a machine moves; nil if there is none.
func planeOf(m *Model) *plane {
	p := &plane{}
	d := m.NewData()
	Positions(m, d, m.Neutral())
	for j := 1; j < len(m.body); j++ {
		switch b := &m.body[j]; b.kind {
		case Revolute:
			a := d.column[b.iv].ang
			if p.n == (r3.Vec{}) {
				p.n = a
			}
			if r3.Norm(r3.Cross(p.n, a)) > level {
				return nil
			}
		case Spherical, Free, Fixed:
			return nil
		}
		if m.modal {
			return nil
		}
	}
	if p.n == (r3.Vec{}) {
		return nil
	}
	for j := 1; j < len(m.body); j++ {
		if b := &m.body[j]; b.kind == Prismatic && math.Abs(r3.Dot(p.n, d.column[b.iv].lin)) > level {
			return nil
		}
	}
	_, axes := rotation.Eye.Add(-1, rotation.OuterProduct(p.n, p.n)).Eigen() // the eigenvector of 0 is the normal
	p.e1 = column(&axes, 1)
	p.e2 = r3.Cross(p.n, p.e1)
	p.body = make([]flatBody, len(m.body))
	within := make([]axesIn, len(m.body))
	within[0] = axesIn{p.e1, p.e2, p.n}
	for j := 1; j < len(m.body); j++ {
		b, f, s := &m.body[j], &p.body[j], &d.body[j]
		// the axes of a body in the plane are those of its joint's turn alone: angle 0 where its e1 shows to the world's
		e1, e2 := turnBack(&s.rot, p.e1), turnBack(&s.rot, p.e2)
		n := turnBack(&s.rot, p.n)
		within[j] = axesIn{e1, e2, n}
		parent := &d.body[b.parent]
		arm := turn(&parent.rot, b.offset)
		*f = flatBody{
			parent: b.parent, slides: b.kind == Prismatic, q: b.iq, v: b.iv, sign: 1,
			x: r3.Dot(p.e1, arm), y: r3.Dot(p.e2, arm),
			m: b.mass, cx: r3.Dot(e1, b.mc), cy: r3.Dot(e2, b.mc), i: r3.Dot(n, b.io.vec(n)), armature: b.joint.Armature,
		}
		if f.slides {
			f.dx, f.dy = r3.Dot(p.e1, d.column[b.iv].lin), r3.Dot(p.e2, d.column[b.iv].lin)
		} else if r3.Dot(p.n, d.column[b.iv].ang) < 0 {
			f.sign = -1
		}
		f.normalOffset = r3.Scale(r3.Dot(p.n, s.arm), p.n)
		f.axisPart = rotation.OuterProduct(p.n, n)
		f.cosPart = rotation.OuterProduct(p.e1, e1).Add(1, rotation.OuterProduct(p.e2, e2))
		f.sinPart = rotation.OuterProduct(p.e2, e1).Add(-1, rotation.OuterProduct(p.e1, e2))
	}
	p.cuts, p.coversAll = p.closings(m, d, within)
	return p
}

// aba is ABA in the plane: QDD holds the torques before and dv/dt afterwards.
func (p *plane) aba(m *Model, d *Data, q, v []float64) Status {
	flat := d.planarBodies[:len(p.body)]
	flat[0].cos = 1
	for j := 1; j < len(p.body); j++ {
		b, s := &p.body[j], &flat[j]
		o := &flat[b.parent]
		s.theta, s.cos, s.sin = o.theta, o.cos, o.sin
		s.rx, s.ry = o.cos*b.x-o.sin*b.y, o.sin*b.x+o.cos*b.y
		if b.slides {
			x := v[b.v]
			s.dx, s.dy = o.cos*b.dx-o.sin*b.dy, o.sin*b.dx+o.cos*b.dy
			s.rx += q[b.q] * s.dx
			s.ry += q[b.q] * s.dy
			s.w = o.w
			s.vx, s.vy = o.vx-o.w*s.ry+x*s.dx, o.vy+o.w*s.rx+x*s.dy
			s.cx, s.cy = -s.w*x*s.dy, s.w*x*s.dx
		} else {
			x := b.sign * v[b.v]
			s.theta += b.sign * q[b.q]
			s.sin, s.cos = math.Sincos(s.theta)
			s.w = o.w + x
			s.vx, s.vy = o.vx-o.w*s.ry, o.vy+o.w*s.rx
			s.cx, s.cy = s.vy*x, -s.vx*x
		}
		// inertia and what the motion takes
		mx, my := s.cos*b.cx-s.sin*b.cy, s.sin*b.cx+s.cos*b.cy
		lx, ly := b.m*s.vx-s.w*my, b.m*s.vy+s.w*mx
		s.p, s.fx, s.fy = s.vx*ly-s.vy*lx, -s.w*ly, s.w*lx
		s.a, s.hx, s.hy = b.i, -my, mx
		s.mxx, s.mxy, s.myy = b.m, 0, b.m
	}
	if d.loaded {
		p.subtractLoads(d)
	}
	for j := len(p.body) - 1; j > 0; j-- {
		b, s := &p.body[j], &flat[j]
		x := 0.0
		if b.slides {
			s.ua = s.hx*s.dx + s.hy*s.dy
			s.ux, s.uy = s.mxx*s.dx+s.mxy*s.dy, s.mxy*s.dx+s.myy*s.dy
			x = s.ux*s.dx + s.uy*s.dy
			s.u = d.QDD[b.v] - s.fx*s.dx - s.fy*s.dy
		} else {
			s.ua, s.ux, s.uy = s.a, s.hx, s.hy
			x = s.a
			s.u = b.sign*d.QDD[b.v] - s.p
		}
		if x += b.armature + d.Implicit[b.v]; !(x > 0) {
			return NotPositive
		}
		s.d1 = 1 / x
		if b.parent == 0 {
			continue
		}
		ua, ux, uy := s.ua, s.ux, s.uy
		ka, kx, ky := s.d1*ua, s.d1*ux, s.d1*uy
		a, hx, hy := s.a-ka*ua, s.hx-ka*ux, s.hy-ka*uy
		mxx, mxy, myy := s.mxx-kx*ux, s.mxy-kx*uy, s.myy-ky*uy
		pa := s.p + hx*s.cx + hy*s.cy + ka*s.u
		fx := s.fx + mxx*s.cx + mxy*s.cy + kx*s.u
		fy := s.fy + mxy*s.cx + myy*s.cy + ky*s.u
		// a turn of the parent moves this origin by (−ry, rx)
		gx, gy := hx-s.ry*mxx+s.rx*mxy, hy-s.ry*mxy+s.rx*myy
		o := &flat[b.parent]
		o.a += a - s.ry*(hx+gx) + s.rx*(hy+gy)
		o.hx += gx
		o.hy += gy
		o.mxx += mxx
		o.mxy += mxy
		o.myy += myy
		o.p += pa + s.rx*fy - s.ry*fx
		o.fx += fx
		o.fy += fy
	}
	flat[0].ax, flat[0].ay = -r3.Dot(p.e1, m.gravity), -r3.Dot(p.e2, m.gravity)
	sum := 0.0
	for j := 1; j < len(p.body); j++ {
		b, s := &p.body[j], &flat[j]
		o := &flat[b.parent]
		aw, ax, ay := o.aw, o.ax-o.aw*s.ry+s.cx, o.ay+o.aw*s.rx+s.cy
		x := (s.u - s.ua*aw - s.ux*ax - s.uy*ay) * s.d1
		if b.slides {
			ax += x * s.dx
			ay += x * s.dy
			d.QDD[b.v] = x
		} else {
			aw += x
			d.QDD[b.v] = b.sign * x
		}
		s.aw, s.ax, s.ay = aw, ax, ay
		sum += x * 0
	}
	if sum != 0 {
		return NonFinite
	}
	return OK
}

// yield is Answer with what aba has left.
func (p *plane) yield(d *Data, a []float64) {
	flat := d.planarBodies[:len(p.body)]
	for j := range flat {
		s := &flat[j]
		s.p, s.fx, s.fy = 0, 0, 0
	}
	for j := len(flat) - 1; j > 0; j-- {
		b, s := &p.body[j], &flat[j]
		if b.slides {
			s.u = a[b.v] - s.fx*s.dx - s.fy*s.dy
		} else {
			s.u = b.sign*a[b.v] - s.p
		}
		if b.parent == 0 {
			continue
		}
		o, x := &flat[b.parent], s.u*s.d1
		m, fx, fy := s.p+x*s.ua, s.fx+x*s.ux, s.fy+x*s.uy
		o.p += m + s.rx*fy - s.ry*fx
		o.fx += fx
		o.fy += fy
	}
	flat[0].ax, flat[0].ay = 0, 0
	for j := 1; j < len(flat); j++ {
		b, s := &p.body[j], &flat[j]
		o := &flat[b.parent]
		aw, ax, ay := o.aw, o.ax-o.aw*s.ry, o.ay+o.aw*s.rx
		x := (s.u - s.ua*aw - s.ux*ax - s.uy*ay) * s.d1
		if b.slides {
			ax += x * s.dx
			ay += x * s.dy
			a[b.v] = x
		} else {
			aw += x
			a[b.v] = b.sign * x
		}
		s.aw, s.ax, s.ay = aw, ax, ay
	}
}
