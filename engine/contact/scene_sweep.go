package contact

import "math"

// Sweeper is a System that knows how far its bodies may move from step to step before a contact can be missed.
type Sweeper interface {
	// Overrun looks at the motion of a step of h (s) from the contacts of the last call of Contacts. It returns the two bodies which come
	// near each other and move furthest against each other in terms of what their thickness allows, and that quotient: above 1 one may
	// get through the other, or be pushed out on its far side.
	Overrun(h float64) (a, b string, share float64)
}

// Overrun is Sweeper.Overrun. The points of a have to come to rest over the near half of b once; a disc has its radius beside that.
func (s *Scene) Overrun(h float64) (a, b string, share float64) {
	for i := range s.passes {
		p := &s.passes[i]
		if math.IsInf(p.room, 1) {
			continue
		}
		// a point of a close to b moves against b with v = v_a − v_b − ω_b×(r_a − r_b) + (ω_a − ω_b)×(r − r_a), or the same seen from b
		x, y := &s.body[p.a], &s.body[p.b]
		rx, ry, vx, vy := x.p[0]-y.p[0], x.p[1]-y.p[1], x.v[0]-y.v[0], x.v[1]-y.v[1]
		turn := math.Abs(x.v[2] - y.v[2])
		way := h * min(math.Hypot(vx+y.v[2]*ry, vy-y.v[2]*rx)+turn*p.size, math.Hypot(vx+x.v[2]*ry, vy-x.v[2]*rx)+turn*p.far)
		if way <= p.room || way <= share*p.room {
			continue
		}
		around := s.spec.Bodies[p.a].Shape.bounds()
		around = around.in(s.relative(p.a, p.b), way)
		if other := s.spec.Bodies[p.b].Shape.bounds(); around.meets(&other) {
			a, b, share = s.spec.Bodies[p.a].Name, s.spec.Bodies[p.b].Name, way/p.room
		}
	}
	return a, b, share
}

// bounds is the box around a shape in its frame.
func (s *Shape) bounds() box {
	if s.Outline != nil {
		return *s.Outline.tree.root()
	}
	return box{-s.Radius, -s.Radius, s.Radius, s.Radius}
}

// reach is the largest distance of the vertices of a shape from its origin (m).
func (s *Shape) reach() float64 {
	far := 0.0
	if s.Outline != nil {
		for k, x := range s.Outline.x {
			far = max(far, math.Hypot(x, s.Outline.y[k]))
		}
	}
	return far
}

// thickness is the least distance of an edge from the far side of the material below its middle (m): +Inf for material without one.
func (o *Outline) thickness() float64 {
	least := math.Inf(1)
	const work = 4e6 // pairs of edges; of longer outlines some edges do
	for k := 0; k < o.edges; k += 1 + int(float64(o.edges)*float64(o.edges)/work) {
		x, y := (o.x[k]+o.x[k+1])/2, (o.y[k]+o.y[k+1])/2
		nx, ny := -o.ty[k], o.tx[k] // into the material
		for e := range o.edges {
			// x + d·n on edge e
			cross := nx*o.ty[e] - ny*o.tx[e]
			if e == k || cross == 0 {
				continue
			}
			dx, dy := o.x[e]-x, o.y[e]-y
			d, along := (dx*o.ty[e]-dy*o.tx[e])/cross, (dx*ny-dy*nx)/cross
			if d > 0 && d < least && along >= 0 && along <= o.length[e] {
				least = d
			}
		}
	}
	return least
}
