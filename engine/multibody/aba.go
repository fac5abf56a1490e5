package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// articulated is what a body and all that hangs on it oppose to a motion of the body: force = I^A·A + p^A, with
//
//	I^A = [a h; hᵀ m]
//
// and the elimination of the joint: U = I^A·S, D = SᵀU + armature, u = τ − Sᵀp^A [F08] 7.3. U, D and u are those of a joint with
// one axis; the others stand in multi.
type articulated struct {
	a, m    symmetric
	h       [9]float64 // rows first
	p       Wrench
	ua, ul  r3.Vec
	d, u    float64
	columns int
	multi   *multiData
}

// multiData is the elimination of a joint with n ≤ 6 velocities.
type multiData struct {
	ua, ul [6]r3.Vec
	l      [6][6]float64 // D = L·Lᵀ
	u      [6]float64
}

// ABA is forward dynamics: QDD is dv/dt under the torques tau, by elimination of one joint after the other from the ends to the
// ground, O(n) [F08] 7.3. A machine that moves in a plane is computed with three numbers for six. Valid afterwards: QDD.
// The status is OK, NotPositive or NonFinite; QDD is not to be used unless it is OK.
func ABA(m *Model, d *Data, q, v, tau []float64) Status {
	m.check("ABA", q, v, tau)
	copy(d.QDD, tau)
	m.losses(q, v, d.QDD, -1)
	if m.plane != nil && !d.Bodies {
		d.method = byPlane
		return m.plane.aba(m, d, q, v)
	}
	d.method = byTree
	return m.aba(d, q, v)
}

// aba is the spatial algorithm: QDD holds the torques before and dv/dt afterwards.
func (m *Model) aba(d *Data, q, v []float64) Status {
	for j := 1; j < len(m.body); j++ {
		b, s := &m.body[j], &d.body[j]
		m.place(d, j, q)
		m.move(d, j, v)
		m.weigh(d, j, q, v)
		ha, hl := b.momentum(s, &s.vel)
		w, t := s.vel.ang, &s.art
		t.p = Wrench{M: r3.Add(r3.Cross(w, ha), r3.Cross(s.vel.lin, hl)), F: r3.Cross(w, hl)}
		if d.loaded {
			t.p = Wrench{M: r3.Sub(t.p.M, d.wrench[j].M), F: r3.Sub(t.p.F, d.wrench[j].F)}
		}
		if b.flex != nil {
			m.rush(d, j, &t.p)
			s.flex.begin(b.flex)
			for k, n := 0, b.flex.n; k < n; k++ {
				s.flex.c2[k*n+k] += d.Implicit[b.flex.ia+k]
			}
		}
		t.a = s.io
		t.m = symmetric{xx: b.mass, yy: b.mass, zz: b.mass}
		t.h = [9]float64{0, -s.mc.Z, s.mc.Y, s.mc.Z, 0, -s.mc.X, -s.mc.Y, s.mc.X, 0}
	}
	switch {
	case d.Springless:
		clear(d.passive)
	case len(m.springs) > 0:
		m.pull(d)
		for j := 1; j < len(m.body); j++ {
			p, w := &d.body[j].art.p, &d.passive[j]
			*p = Wrench{M: r3.Sub(p.M, w.M), F: r3.Sub(p.F, w.F)}
		}
	}
	for j := len(m.body) - 1; j > 0; j-- {
		b, s := &m.body[j], &d.body[j]
		var p *articulated
		if b.parent > 0 {
			p = &d.body[b.parent].art
		}
		if b.node != nil {
			m.carry(d, j)
			continue
		}
		if f := b.flex; f != nil && !s.art.condense(s.flex, d.QDD[f.ia:f.ia+f.n]) {
			return NotPositive
		}
		ok := true
		switch b.kind {
		case Fixed:
		case Revolute:
			ok = s.art.turnJoint(d.column[b.iv].ang, d.QDD[b.iv], b.joint.Armature+d.Implicit[b.iv])
		case Prismatic:
			ok = s.art.slideJoint(d.column[b.iv].lin, d.QDD[b.iv], b.joint.Armature+d.Implicit[b.iv])
		default:
			ok = s.art.joint(d.column[b.iv:b.iv+b.nv], d.QDD[b.iv:b.iv+b.nv], b.joint.Armature, d.Implicit[b.iv:b.iv+b.nv])
		}
		switch {
		case !ok:
			return NotPositive
		case p == nil:
			continue
		case b.kind == Fixed:
			s.art.push(&s.cor)
		case b.nv == 1:
			s.art.subtract(&s.cor)
		default:
			s.art.subtractAll(&s.cor)
		}
		s.art.shift(s.arm, p)
	}
	m.expand(d, d.QDD, r3.Scale(-1, m.gravity), true)
	return finiteStatus(d.QDD)
}

// expand writes the accelerations to a from the ground to the ends, that of the ground being lin (m/s²); moving: with what the speeds
// add.
func (m *Model) expand(d *Data, a []float64, lin r3.Vec, moving bool) {
	for j := 1; j < len(m.body); j++ {
		b, s := &m.body[j], &d.body[j]
		w, u := r3.Vec{}, lin
		if b.parent > 0 {
			p := &d.body[b.parent]
			w, u = p.acc.ang, r3.Add(p.acc.lin, r3.Cross(p.acc.ang, s.arm))
		}
		if moving {
			w, u = r3.Add(w, s.cor.ang), r3.Add(u, s.cor.lin)
		}
		t := &s.art
		switch b.kind {
		case Fixed:
			if b.node != nil {
				for k, x := range a[m.body[b.parent].flex.ia:][:len(s.modes)] {
					w = r3.Add(w, r3.Scale(x, s.modes[k].ang))
					u = r3.Add(u, r3.Scale(x, s.modes[k].lin))
				}
			}
		case Revolute:
			x := (t.u - r3.Dot(t.ua, w) - r3.Dot(t.ul, u)) * t.d
			a[b.iv] = x
			w = r3.Add(w, r3.Scale(x, d.column[b.iv].ang))
		case Prismatic:
			x := (t.u - r3.Dot(t.ua, w) - r3.Dot(t.ul, u)) * t.d
			a[b.iv] = x
			u = r3.Add(u, r3.Scale(x, d.column[b.iv].lin))
		default:
			x := a[b.iv : b.iv+b.nv]
			t.multi.accelerate(x, w, u)
			for k, x := range x {
				w = r3.Add(w, r3.Scale(x, d.column[b.iv+k].ang))
				u = r3.Add(u, r3.Scale(x, d.column[b.iv+k].lin))
			}
		}
		s.acc = spatial{w, u}
		if f := b.flex; f != nil {
			s.flex.expand(&s.acc, a[f.ia:f.ia+f.n])
		}
	}
}

func finiteStatus(x []float64) Status {
	sum := 0.0
	for _, x := range x {
		sum += x * 0
	}
	if sum != 0 {
		return NonFinite
	}
	return OK
}

// turnJoint eliminates a joint that turns about a. t.d is 1/D afterwards.
func (t *articulated) turnJoint(a r3.Vec, tau, armature float64) bool {
	h := &t.h
	t.ua = t.a.vec(a)
	t.ul = r3.Vec{
		X: h[0]*a.X + h[3]*a.Y + h[6]*a.Z,
		Y: h[1]*a.X + h[4]*a.Y + h[7]*a.Z,
		Z: h[2]*a.X + h[5]*a.Y + h[8]*a.Z,
	}
	x := r3.Dot(a, t.ua) + armature
	t.d, t.u = 1/x, tau-r3.Dot(a, t.p.M)
	return x > 0
}

// slideJoint eliminates a joint that slides along a.
func (t *articulated) slideJoint(a r3.Vec, tau, armature float64) bool {
	h := &t.h
	t.ua = r3.Vec{
		X: h[0]*a.X + h[1]*a.Y + h[2]*a.Z,
		Y: h[3]*a.X + h[4]*a.Y + h[5]*a.Z,
		Z: h[6]*a.X + h[7]*a.Y + h[8]*a.Z,
	}
	t.ul = t.m.vec(a)
	x := r3.Dot(a, t.ul) + armature
	t.d, t.u = 1/x, tau-r3.Dot(a, t.p.F)
	return x > 0
}

// subtract makes I^A that of the body free to move in its joint, and p^A what its parent feels: I − U·Uᵀ/D, p + I·c + U·u/D.
func (t *articulated) subtract(c *spatial) {
	t.downdate(t.ua, t.ul, t.d)
	x := t.u * t.d
	t.push(c)
	t.p.M = r3.Add(t.p.M, r3.Scale(x, t.ua))
	t.p.F = r3.Add(t.p.F, r3.Scale(x, t.ul))
}

// downdate subtracts x·U·Uᵀ from I^A.
func (t *articulated) downdate(ua, ul r3.Vec, x float64) {
	a, l := r3.Scale(x, ua), r3.Scale(x, ul)
	t.a.xx -= a.X * ua.X
	t.a.xy -= a.X * ua.Y
	t.a.xz -= a.X * ua.Z
	t.a.yy -= a.Y * ua.Y
	t.a.yz -= a.Y * ua.Z
	t.a.zz -= a.Z * ua.Z
	h := &t.h
	h[0] -= a.X * ul.X
	h[1] -= a.X * ul.Y
	h[2] -= a.X * ul.Z
	h[3] -= a.Y * ul.X
	h[4] -= a.Y * ul.Y
	h[5] -= a.Y * ul.Z
	h[6] -= a.Z * ul.X
	h[7] -= a.Z * ul.Y
	h[8] -= a.Z * ul.Z
	t.m.xx -= l.X * ul.X
	t.m.xy -= l.X * ul.Y
	t.m.xz -= l.X * ul.Z
	t.m.yy -= l.Y * ul.Y
	t.m.yz -= l.Y * ul.Z
	t.m.zz -= l.Z * ul.Z
}

// push adds I^A·c to p^A.
func (t *articulated) push(c *spatial) {
	h, w, u := &t.h, c.ang, c.lin
	m, f := t.a.vec(w), t.m.vec(u)
	t.p.M.X += m.X + h[0]*u.X + h[1]*u.Y + h[2]*u.Z
	t.p.M.Y += m.Y + h[3]*u.X + h[4]*u.Y + h[5]*u.Z
	t.p.M.Z += m.Z + h[6]*u.X + h[7]*u.Y + h[8]*u.Z
	t.p.F.X += f.X + h[0]*w.X + h[3]*w.Y + h[6]*w.Z
	t.p.F.Y += f.Y + h[1]*w.X + h[4]*w.Y + h[7]*w.Z
	t.p.F.Z += f.Z + h[2]*w.X + h[5]*w.Y + h[8]*w.Z
}

// shift adds I^A and p^A, seen from the parent whose origin is at −r, to those of the parent.
func (t *articulated) shift(r r3.Vec, p *articulated) {
	p.p.M = r3.Add(p.p.M, r3.Add(t.p.M, r3.Cross(r, t.p.F)))
	p.p.F = r3.Add(p.p.F, t.p.F)
	m := &t.m
	p.m.xx += m.xx
	p.m.xy += m.xy
	p.m.xz += m.xz
	p.m.yy += m.yy
	p.m.yz += m.yz
	p.m.zz += m.zz
	// h' = h + r~·m, then a' = a + r~·hᵀ − h'·r~
	h := &t.h
	h0, h1, h2 := h[0]+r.Y*m.xz-r.Z*m.xy, h[1]+r.Y*m.yz-r.Z*m.yy, h[2]+r.Y*m.zz-r.Z*m.yz
	h3, h4, h5 := h[3]+r.Z*m.xx-r.X*m.xz, h[4]+r.Z*m.xy-r.X*m.yz, h[5]+r.Z*m.xz-r.X*m.zz
	h6, h7, h8 := h[6]+r.X*m.xy-r.Y*m.xx, h[7]+r.X*m.yy-r.Y*m.xy, h[8]+r.X*m.yz-r.Y*m.xz
	p.a.xx += t.a.xx + r.Y*h[2] - r.Z*h[1] - (r.Z*h1 - r.Y*h2)
	p.a.xy += t.a.xy + r.Y*h[5] - r.Z*h[4] - (r.X*h2 - r.Z*h0)
	p.a.xz += t.a.xz + r.Y*h[8] - r.Z*h[7] - (r.Y*h0 - r.X*h1)
	p.a.yy += t.a.yy + r.Z*h[3] - r.X*h[5] - (r.X*h5 - r.Z*h3)
	p.a.yz += t.a.yz + r.Z*h[6] - r.X*h[8] - (r.Y*h3 - r.X*h4)
	p.a.zz += t.a.zz + r.X*h[7] - r.Y*h[6] - (r.Y*h6 - r.X*h7)
	g := &p.h
	g[0] += h0
	g[1] += h1
	g[2] += h2
	g[3] += h3
	g[4] += h4
	g[5] += h5
	g[6] += h6
	g[7] += h7
	g[8] += h8
}

// joint eliminates a joint with several velocities.
func (t *articulated) joint(s []spatial, tau []float64, armature float64, implicit []float64) bool {
	e := t.multi
	for k := range s {
		var f Wrench
		f, t.p = t.p, Wrench{}
		t.push(&s[k])
		e.ua[k], e.ul[k] = t.p.M, t.p.F
		t.p = f
		e.u[k] = tau[k] - r3.Dot(s[k].ang, t.p.M) - r3.Dot(s[k].lin, t.p.F)
		for i := range k + 1 {
			e.l[k][i] = r3.Dot(s[i].ang, e.ua[k]) + r3.Dot(s[i].lin, e.ul[k])
		}
		e.l[k][k] += armature + implicit[k]
	}
	// Cholesky's factor of D; then U·L⁻ᵀ for U and L⁻¹·u for u, so that the rest is that of single axes with D = 1
	for k := range s {
		for i := range k + 1 {
			x := e.l[k][i]
			for j := range i {
				x -= e.l[k][j] * e.l[i][j]
			}
			if i < k {
				e.l[k][i] = x / e.l[i][i]
			} else if !(x > 0) {
				return false
			} else {
				e.l[k][k] = math.Sqrt(x)
			}
		}
		for i := range k {
			x := e.l[k][i]
			e.ua[k] = r3.Sub(e.ua[k], r3.Scale(x, e.ua[i]))
			e.ul[k] = r3.Sub(e.ul[k], r3.Scale(x, e.ul[i]))
			e.u[k] -= x * e.u[i]
		}
		x := 1 / e.l[k][k]
		e.ua[k], e.ul[k], e.u[k] = r3.Scale(x, e.ua[k]), r3.Scale(x, e.ul[k]), x*e.u[k]
	}
	t.columns = len(s)
	return true
}

// subtractAll is subtract for a joint with several velocities.
func (t *articulated) subtractAll(c *spatial) {
	e := t.multi
	for k := range t.columns {
		t.downdate(e.ua[k], e.ul[k], 1)
	}
	t.push(c)
	for k := range t.columns {
		t.p.M = r3.Add(t.p.M, r3.Scale(e.u[k], e.ua[k]))
		t.p.F = r3.Add(t.p.F, r3.Scale(e.u[k], e.ul[k]))
	}
}

// accelerate writes D⁻¹(u − Uᵀ·A) to x for the acceleration A = [w; u] without that of the joint.
func (e *multiData) accelerate(x []float64, w, u r3.Vec) {
	for k := range x {
		x[k] = e.u[k] - r3.Dot(e.ua[k], w) - r3.Dot(e.ul[k], u)
	}
	for k := len(x) - 1; k >= 0; k-- {
		for i := k + 1; i < len(x); i++ {
			x[k] -= e.l[i][k] * x[i]
		}
		x[k] /= e.l[k][k]
	}
}
