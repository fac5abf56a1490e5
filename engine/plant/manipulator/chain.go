package manipulator

import (
	"math"

	"hilrig/engine/beam"
)

// joints is a number for every joint of a chain.
type joints [MostJoints]float64

// pose is what follows from the coordinates of the joints and their speeds.
type pose struct {
	tip    beam.Point
	jx, jy joints                          // rows of the tip's Jacobian
	m      [MostJoints][MostJoints]float64 // mass matrix
	h      joints                          // M·q″ + h = τ without contact: velocity terms, weight, springs, dampers
	joint  [MostJoints][2]float64          // m  where the joints are
	turn   [MostJoints]turn                // of the revolute joints, kept from one evaluation to the next
}

// turn is the angle of a body against the ground with its sine and cosine.
type turn struct{ angle, sin, cos float64 }

// evaluate fills a pose. With masses false only tip and Jacobian are valid. Each body adds m·JᵀJ + I to the mass matrix and its bias
// acceleration, the one without accelerations of joints, to h.
func (m *Model) evaluate(q, v *joints, masses bool, p *pose) {
	n := m.n
	if masses {
		p.m = [MostJoints][MostJoints]float64{}
		for i := range n {
			j := &m.p.Joints[i]
			p.h[i] = j.Spring*(q[i]-j.Rest) + j.Damping*v[i]
		}
	}
	var axis [MostJoints][2]float64 // of the prismatic joints
	var ox, oy, ux, uy, ax, ay float64
	w, c, s := 0.0, 1.0, 0.0
	angle := 0.0
	for i := range n {
		j := &m.p.Joints[i]
		rx, ry := j.Location[0], j.Location[1]
		if j.Kind == Prismatic {
			rx += q[i]
		}
		dx, dy := c*rx-s*ry, s*rx+c*ry
		ox, oy = ox+dx, oy+dy
		ux, uy = ux-w*dy, uy+w*dx
		ax, ay = ax-w*w*dx, ay-w*w*dy
		if j.Kind == Prismatic {
			axis[i] = [2]float64{c, s}
			ux, uy = ux+v[i]*c, uy+v[i]*s
			ax, ay = ax-2*w*v[i]*s, ay+2*w*v[i]*c
		} else {
			angle += q[i]
			if at := &p.turn[i]; at.angle != angle || at.cos == 0 && at.sin == 0 {
				at.angle = angle
				at.sin, at.cos = math.Sincos(angle)
			}
			s, c = p.turn[i].sin, p.turn[i].cos
			w += v[i]
		}
		p.joint[i] = [2]float64{ox, oy}
		if !masses {
			continue
		}
		// centre of mass: bias acceleration, Jacobian
		kx, ky := c*j.Center[0]-s*j.Center[1], s*j.Center[0]+c*j.Center[1]
		gx, gy := j.Mass*(ax-w*w*kx), j.Mass*(ay-w*w*ky+m.p.Gravity)
		kx, ky = ox+kx, oy+ky
		var cx, cy, cw joints
		for b := range i + 1 {
			cx[b], cy[b], cw[b] = m.column(b, kx, ky, &axis, p)
			p.h[b] += cx[b]*gx + cy[b]*gy
			for a := range b + 1 {
				p.m[b][a] += j.Mass*(cx[a]*cx[b]+cy[a]*cy[b]) + j.Inertia*cw[a]*cw[b]
			}
		}
	}
	if masses {
		for b := range n {
			for a := range b {
				p.m[a][b] = p.m[b][a]
			}
		}
	}
	dx, dy := c*m.p.Tip[0]-s*m.p.Tip[1], s*m.p.Tip[0]+c*m.p.Tip[1]
	p.tip = beam.Point{X: ox + dx, Y: oy + dy, VX: ux - w*dy, VY: uy + w*dx, GX: ax - w*w*dx, GY: ay - w*w*dy}
	for b := range n {
		p.jx[b], p.jy[b], _ = m.column(b, p.tip.X, p.tip.Y, &axis, p)
	}
}

// column is how joint b moves and turns a point (x, y) of a body behind it.
func (m *Model) column(b int, x, y float64, axis *[MostJoints][2]float64, p *pose) (cx, cy, cw float64) {
	if m.p.Joints[b].Kind == Prismatic {
		return axis[b][0], axis[b][1], 0
	}
	return p.joint[b][1] - y, x - p.joint[b][0], 1
}

// energy of the chain at a pose (J): of motion, of springs and height.
func (m *Model) energy(q, v *joints, p *pose) (motion, stored float64) {
	for a := range m.n {
		for b := range m.n {
			motion += v[a] * p.m[a][b] * v[b] / 2
		}
	}
	angle := 0.0
	c, s := 1.0, 0.0
	for i := range m.n {
		j := &m.p.Joints[i]
		stored += j.Spring * (q[i] - j.Rest) * (q[i] - j.Rest) / 2
		if j.Kind == Revolute {
			angle += q[i]
			s, c = math.Sincos(angle)
		}
		stored += j.Mass * m.p.Gravity * (p.joint[i][1] + s*j.Center[0] + c*j.Center[1])
	}
	return motion, stored
}

// Shape is where the joints and the tip are (m) at joint coordinates q, for a picture.
func (m *Model) Shape(q []float64) (points [][2]float64) {
	var at, v joints
	copy(at[:], q)
	var p pose
	m.evaluate(&at, &v, false, &p)
	points = append(points, p.joint[:m.n]...)
	return append(points, [2]float64{p.tip.X, p.tip.Y})
}
