package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// flatCut is a cut in a plane. Rows that the plane meets by itself have no slope and a constant value.
type flatCut struct {
	row, a, b        int
	xa, ya, xb, yb   float64 // m  the origins in the axes of their bodies
	rows             []flatRow
	length, distance float64 // m  > 0: of CutDistance; apart along the normal
}

type flatRow struct {
	kind           byte
	ux, uy, wx, wy float64 // directions of A and B
	g              float64 // of a row without slope
}

const (
	rowIdle  = iota
	rowSlide // u·(pb − pa) = 0
	rowAlign // u·w = 0
)

// axesIn are the axes of the plane, and its normal, in those of a body in its place for q = 0.
type axesIn struct{ e1, e2, n r3.Vec }

func (x axesIn) components(v r3.Vec) (a, b, n float64) {
	return r3.Dot(x.e1, v), r3.Dot(x.e2, v), r3.Dot(x.n, v)
}

// lies tells a direction in the plane, and stands one along its normal.
func lies(n float64) bool      { return math.Abs(n) <= level }
func stands(a, b float64) bool { return math.Hypot(a, b) <= level }

// closings are the cuts of a machine in its plane; ok is false if some equation is not one of the plane, or is a Relation.
func (p *plane) closings(m *Model, d *Data, axes []axesIn) (cuts []flatCut, ok bool) {
	if len(m.loops.relations) > 0 {
		return nil, false
	}
	for i := range m.loops.cuts {
		c := &m.loops.cuts[i]
		f := flatCut{row: c.row, a: c.a, b: c.b, length: c.length}
		var na, nb float64
		f.xa, f.ya, na = axes[c.a].components(c.pa)
		f.xb, f.yb, nb = axes[c.b].components(c.pb)
		f.distance = nb + r3.Dot(p.n, d.body[c.b].pos) - na - r3.Dot(p.n, d.body[c.a].pos)
		for _, s := range c.slides {
			x, y, n := axes[c.a].components(s)
			switch {
			case lies(n):
				f.rows = append(f.rows, flatRow{kind: rowSlide, ux: x, uy: y})
			case stands(x, y):
				f.rows = append(f.rows, flatRow{g: n * f.distance})
			default:
				return nil, false
			}
		}
		for _, s := range c.aligned {
			ux, uy, un := axes[c.a].components(s[0])
			wx, wy, wn := axes[c.b].components(s[1])
			switch {
			case lies(un) && lies(wn):
				f.rows = append(f.rows, flatRow{kind: rowAlign, ux: ux, uy: uy, wx: wx, wy: wy})
			case stands(ux, uy) && (lies(wn) || stands(wx, wy)) || stands(wx, wy) && lies(un):
				f.rows = append(f.rows, flatRow{g: un * wn})
			default:
				return nil, false
			}
		}
		cuts = append(cuts, f)
	}
	return cuts, true
}

// stand places the bodies for q.
func (p *plane) stand(d *Data, q []float64) {
	flat := d.planarBodies[:len(p.body)]
	flat[0].cos = 1
	for j := 1; j < len(p.body); j++ {
		b, s := &p.body[j], &flat[j]
		o := &flat[b.parent]
		s.theta, s.cos, s.sin = o.theta, o.cos, o.sin
		s.rx, s.ry = o.cos*b.x-o.sin*b.y, o.sin*b.x+o.cos*b.y
		if b.slides {
			s.dx, s.dy = o.cos*b.dx-o.sin*b.dy, o.sin*b.dx+o.cos*b.dy
			s.rx += q[b.q] * s.dx
			s.ry += q[b.q] * s.dy
		} else {
			s.theta += b.sign * q[b.q]
			s.sin, s.cos = math.Sincos(s.theta)
		}
		s.px, s.py = o.px+s.rx, o.py+s.ry
		s.kx, s.ky = s.cos*b.cx-s.sin*b.cy, s.sin*b.cx+s.cos*b.cy
	}
}

// drift finds velocities for v, accelerations for dv/dt = 0 less gravity, and in Tau what the bodies need for them; after stand.
func (p *plane) drift(m *Model, d *Data, v []float64) {
	flat := d.planarBodies[:len(p.body)]
	flat[0].ax, flat[0].ay = -r3.Dot(p.e1, m.gravity), -r3.Dot(p.e2, m.gravity)
	for j := 1; j < len(p.body); j++ {
		b, s := &p.body[j], &flat[j]
		o := &flat[b.parent]
		x := v[b.v]
		s.w, s.vx, s.vy = o.w, o.vx-o.w*s.ry, o.vy+o.w*s.rx
		if b.slides {
			s.vx += x * s.dx
			s.vy += x * s.dy
			s.ax, s.ay = o.ax-s.w*x*s.dy, o.ay+s.w*x*s.dx
		} else {
			x *= b.sign
			s.w += x
			s.ax, s.ay = o.ax+s.vy*x, o.ay-s.vx*x
		}
		// the turns do not accelerate: A has no angular part
		lx, ly := b.m*s.vx-s.w*s.ky, b.m*s.vy+s.w*s.kx
		s.p = s.vx*ly - s.vy*lx + s.kx*s.ay - s.ky*s.ax
		s.fx, s.fy = b.m*s.ax-s.w*ly, b.m*s.ay+s.w*lx
	}
	if d.loaded {
		p.subtractLoads(d)
	}
	for j := len(p.body) - 1; j > 0; j-- {
		b, s := &p.body[j], &flat[j]
		if b.slides {
			d.Tau[b.v] = s.fx*s.dx + s.fy*s.dy
		} else {
			d.Tau[b.v] = b.sign * s.p
		}
		if b.parent > 0 {
			o := &flat[b.parent]
			o.p += s.p + s.rx*s.fy - s.ry*s.fx
			o.fx += s.fx
			o.fy += s.fy
		}
	}
}

// subtractLoads takes what acts on the bodies from outside from what they need.
func (p *plane) subtractLoads(d *Data) {
	for j := 1; j < len(p.body); j++ {
		s, w := &d.planarBodies[j], &d.wrench[j]
		s.p -= r3.Dot(p.n, w.M)
		s.fx -= r3.Dot(p.e1, w.F)
		s.fy -= r3.Dot(p.e2, w.F)
	}
}

// composite fills the lower triangle of H, after stand.
func (p *plane) composite(d *Data, n int) {
	flat := d.planarBodies[:len(p.body)]
	for j := 1; j < len(p.body); j++ {
		b, s := &p.body[j], &flat[j]
		s.mass, s.hx, s.hy, s.a = b.m, s.kx, s.ky, b.i
	}
	for j := len(p.body) - 1; j > 0; j-- {
		b, s := &p.body[j], &flat[j]
		row := d.H[b.v*n : b.v*n+n]
		var moment, fx, fy float64 // that give all that hangs on j the motion of its joint
		if b.slides {
			fx, fy = s.mass*s.dx, s.mass*s.dy
			moment = s.hx*s.dy - s.hy*s.dx
			row[b.v] = fx*s.dx + fy*s.dy + b.armature
		} else {
			moment, fx, fy = b.sign*s.a, -b.sign*s.hy, b.sign*s.hx
			row[b.v] = s.a + b.armature
		}
		for at := j; p.body[at].parent > 0; {
			t := &flat[at]
			moment += t.rx*fy - t.ry*fx
			at = p.body[at].parent
			if o := &p.body[at]; o.slides {
				row[o.v] = fx*flat[at].dx + fy*flat[at].dy
			} else {
				row[o.v] = o.sign * moment
			}
		}
		if b.parent > 0 {
			o := &flat[b.parent]
			o.mass += s.mass
			o.hx += s.hx + s.mass*s.rx
			o.hy += s.hy + s.mass*s.ry
			o.a += s.a + 2*(s.rx*s.hx+s.ry*s.hy) + s.mass*(s.rx*s.rx+s.ry*s.ry)
		}
	}
}

// close evaluates the constraints, after stand, with motion after drift. It is Model.constrain in the plane.
func (p *plane) close(m *Model, d *Data, q, v []float64, motion bool) {
	n := m.nv
	for i := range p.cuts {
		c := &p.cuts[i]
		a, b := &d.planarBodies[c.a], &d.planarBodies[c.b]
		ax, ay := a.cos*c.xa-a.sin*c.ya, a.sin*c.xa+a.cos*c.ya
		bx, by := b.cos*c.xb-b.sin*c.yb, b.sin*c.xb+b.cos*c.yb
		x, y := b.px+bx, b.py+by
		gx, gy := x-a.px-ax, y-a.py-ay
		if c.length > 0 {
			kx, ky := gx/c.length, gy/c.length
			d.G[c.row] = 0.5 * (kx*gx + ky*gy + c.distance*c.distance/c.length - c.length)
			p.lever(d, c, kx, ky, 0, x, y, d.Jac[c.row*n:c.row*n+n])
			if motion {
				ux, uy := b.vx-b.w*by-a.vx+a.w*ay, b.vy+b.w*bx-a.vy-a.w*ax
				jx, jy := b.accelerationAt(bx, by)
				ix, iy := a.accelerationAt(ax, ay)
				d.Bias[c.row] = kx*(jx-ix) + ky*(jy-iy) + (ux*ux+uy*uy)/c.length
			}
			continue
		}
		var rx, ry float64 // acceleration of B's origin as seen from A
		if motion {
			ox, oy := x-a.px, y-a.py // the point of A that coincides with it
			ux, uy := b.vx-b.w*by-a.vx+a.w*oy, b.vy+b.w*bx-a.vy-a.w*ox
			jx, jy := b.accelerationAt(bx, by)
			ix, iy := a.accelerationAt(ox, oy)
			rx, ry = jx-ix+2*a.w*uy, jy-iy-2*a.w*ux
		}
		for k := range c.rows {
			r, at := &c.rows[k], c.row+k
			jac := d.Jac[at*n : at*n+n]
			switch r.kind {
			case rowIdle:
				d.G[at], d.Bias[at] = r.g, 0
				clear(jac)
			case rowSlide:
				kx, ky := a.cos*r.ux-a.sin*r.uy, a.sin*r.ux+a.cos*r.uy
				d.G[at] = kx*gx + ky*gy
				p.lever(d, c, kx, ky, 0, x, y, jac)
				d.Bias[at] = kx*rx + ky*ry
			case rowAlign:
				ux, uy := a.cos*r.ux-a.sin*r.uy, a.sin*r.ux+a.cos*r.uy
				wx, wy := b.cos*r.wx-b.sin*r.wy, b.sin*r.wx+b.cos*r.wy
				g, w := ux*wx+uy*wy, b.w-a.w
				d.G[at], d.Bias[at] = g, -g*w*w
				p.lever(d, c, 0, 0, wx*uy-wy*ux, x, y, jac)
			}
		}
	}
	m.constrainJoints(d, q)
	if motion {
		m.rates(d, v)
	}
}

func (s *flatData) accelerationAt(x, y float64) (ax, ay float64) {
	return s.ax - s.w*(s.vy+s.w*x), s.ay + s.w*(s.vx-s.w*y)
}

// lever is the power of a force f at x, y and a moment, acting on B and back on A, for a unit of each velocity.
func (p *plane) lever(d *Data, c *flatCut, fx, fy, moment, x, y float64, row []float64) {
	for j, k := c.a, c.b; j != k; {
		at, sign := k, 1.0
		if j > k {
			at, sign = j, -1
		}
		b, s := &p.body[at], &d.planarBodies[at]
		if b.slides {
			row[b.v] = sign * (fx*s.dx + fy*s.dy)
		} else {
			row[b.v] = sign * b.sign * (moment + (x-s.px)*fy - (y-s.py)*fx)
		}
		if sign > 0 {
			k = b.parent
		} else {
			j = b.parent
		}
	}
}

// lift puts the places of the bodies and the columns of their joints into space, after stand.
func (p *plane) lift(d *Data) {
	for j := 1; j < len(p.body); j++ {
		b, s, o := &p.body[j], &d.planarBodies[j], &d.body[j]
		for i := range 3 {
			u, w, c := &b.cosPart[i], &b.sinPart[i], &b.axisPart[i]
			for k := range 3 {
				o.rot[i][k] = s.cos*u[k] + s.sin*w[k] + c[k]
			}
		}
		o.arm = r3.Add(r3.Add(r3.Scale(s.rx, p.e1), r3.Scale(s.ry, p.e2)), b.normalOffset)
		o.pos = r3.Add(d.body[b.parent].pos, o.arm)
		if b.slides {
			d.column[b.v].lin = r3.Add(r3.Scale(s.dx, p.e1), r3.Scale(s.dy, p.e2))
		} else {
			d.column[b.v].ang = r3.Scale(b.sign, p.n)
		}
	}
}

// Terms finds what the equations of motion are made of at q, v: H, in Tau what the bodies and the losses of the joints take at constant
// speeds, and the constraints. A machine that moves in a plane is computed with three numbers for six unless Bodies are wanted. Valid
// afterwards: H, Tau, G, GRate, Jac, Bias.
func Terms(m *Model, d *Data, q, v []float64) {
	m.check("Terms", q, v, nil)
	d.crossing.prepare(d)
	if p := m.plane; p != nil && p.coversAll && !d.Bodies {
		p.stand(d, q)
		p.drift(m, d, v)
		p.composite(d, m.nv)
		p.close(m, d, q, v, true)
	} else {
		m.assess(d, q, v)
		m.constrain(d, q, v, true)
	}
	d.crossing.replace(d, q, v)
	m.losses(q, v, d.Tau, +1)
	n := m.nv
	for i := range n {
		for k := range i {
			d.H[k*n+i] = d.H[i*n+k]
		}
	}
}
