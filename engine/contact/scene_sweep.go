package contact

import "math"

// Sweeper is a System that knows how far its bodies may move from step to step before a contact can be missed.
type Sweeper interface {
	// Overrun looks at the motion of a step of h (s) from the contacts of the last call of Contacts. It returns the two bodies which come
	// near each other and move furthest against each other in terms of what their thickness allows, and that quotient: above 1 one may
	// get through the other, or be pushed out on its far side.
	Overrun(h float64) (a, b string, share float64)
}

// Overrun is Sweeper.Overrun. The points of a have to come to rest over the near half of b once; a disc has its radius beside that. Bodies
// that slide along each other may be as fast as they like: what counts is the motion across an axis that parts them.
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
		way := h * min(math.Hypot(vx+y.v[2]*ry, vy-y.v[2]*rx)+turn*p.size, math.Hypot(vx+x.v[2]*ry, vy-x.v[2]*rx)+turn*p.reachRadius)
		if way <= p.room || way <= share*p.room {
			continue
		}
		around := s.spec.Bodies[p.a].Shape.bounds()
		around = around.enclosure(s.relative(p.a, p.b), way)
		if other := s.spec.Bodies[p.b].Shape.bounds(); !around.meets(&other) {
			continue
		}
		spin := min(math.Abs(y.v[2])*math.Hypot(rx, ry)+turn*p.size, math.Abs(x.v[2])*math.Hypot(rx, ry)+turn*p.reachRadius)
		if way = min(way, h*(s.slowestAcross(p, vx, vy)+spin)); way > p.room && way > share*p.room {
			a, b, share = s.spec.Bodies[p.a].Name, s.spec.Bodies[p.b].Name, way/p.room
		}
	}
	return a, b, share
}

const (
	axisEdges  = 64  // edges of an outline up to which their normals are tried as axes
	axisInside = 0.1 // of room: bodies that are no deeper in each other count as parted
)

// fewEdges tells whether the shape is a disc or a solid of few edges, which an axis can part from another.
func (s *Shape) fewEdges() bool {
	if s.Outline == nil {
		return true
	}
	area, _, _ := s.Outline.Section()
	return area > 0 && s.Outline.edges <= axisEdges
}

// slowestAcross is the smallest component of the velocity (vx, vy) of a against b along an axis that parts the bodies (m/s): normals of the
// edges of both, and the line of the centres of two discs. It is +Inf where none of them does.
func (s *Scene) slowestAcross(p *scenePass, vx, vy float64) float64 {
	a, b, slow := &s.spec.Bodies[p.a].Shape, &s.spec.Bodies[p.b].Shape, math.Inf(1)
	if !p.fewEdges {
		return slow
	}
	x, y := &s.body[p.a], &s.body[p.b]
	try := func(nx, ny float64) { // from b to a
		speed := math.Abs(nx*vx + ny*vy)
		if speed < slow && x.extent(a, -nx, -ny)+y.extent(b, nx, ny) <= nx*(x.p[0]-y.p[0])+ny*(x.p[1]-y.p[1])+axisInside*p.room {
			slow = speed
		}
	}
	for side, o := range [2]*Outline{b.Outline, a.Outline} {
		body, sign := [2]*sceneBody{y, x}[side], [2]float64{1, -1}[side]
		if o == nil {
			continue
		}
		for e := range o.edges {
			nx, ny := sign*o.ty[e], -sign*o.tx[e]
			try(body.cos*nx-body.sin*ny, body.sin*nx+body.cos*ny)
		}
	}
	if d := math.Hypot(x.p[0]-y.p[0], x.p[1]-y.p[1]); a.Outline == nil && b.Outline == nil && d > 0 {
		try((x.p[0]-y.p[0])/d, (x.p[1]-y.p[1])/d)
	}
	return slow
}

// extent is how far a shape of the body reaches from its origin along the unit vector (nx, ny) of the world (m).
func (b *sceneBody) extent(shape *Shape, nx, ny float64) float64 {
	o := shape.Outline
	if o == nil {
		return shape.Radius
	}
	nx, ny = b.cos*nx+b.sin*ny, b.cos*ny-b.sin*nx
	far := math.Inf(-1)
	for k := range o.edges {
		far = max(far, nx*o.x[k]+ny*o.y[k])
	}
	return far
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
