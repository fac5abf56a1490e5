package contact

import "math"

// Sweeper is a System that knows how far its bodies may move from step to step before a contact can be missed.
type Sweeper interface {
	// Overrun looks at the motion of a step of h (s) from the contacts of the last call of Contacts. It returns the two bodies which come
	// near each other and move furthest against each other in terms of what their thickness allows, and that quotient: above 1 one may
	// get through the other, or be pushed out on its far side.
	Overrun(h float64) (a, b string, share float64)
	// Missed looks back from the contacts of the last call of Contacts to the coordinates q0 at t0 (s) of the look before, a step of h (s)
	// ago. It returns the bodies which moved further than Overrun allows and of which it is not certain that their contacts were found on
	// the side from which they came; share is that of Overrun, 0: there are none.
	Missed(h, t0 float64, q0 []float64) (a, b string, share float64)
}

// Overrun is Sweeper.Overrun. The points of a have to come to rest over the near half of b once; a disc has its radius beside that. Bodies
// that slide along each other may be as fast as they like: what counts is the motion across an axis that parts them.
func (s *Scene) Overrun(h float64) (a, b string, share float64) {
	for i := range s.passes {
		if p := &s.passes[i]; !math.IsInf(p.room, 1) {
			if x := s.overrun(p, h, max(1, share)); x > 0 {
				a, b, share = s.spec.Bodies[p.a].Name, s.spec.Bodies[p.b].Name, x
			}
		}
	}
	return a, b, share
}

// overrun is the quotient of motion and room of a pass, 0 where it is not above limit.
func (s *Scene) overrun(p *scenePass, h, limit float64) float64 {
	// a point of a close to b moves against b with v = v_a − v_b − ω_b×(r_a − r_b) + (ω_a − ω_b)×(r − r_a),
	// or the same seen from b
	x, y := &s.body[p.a], &s.body[p.b]
	rx, ry, vx, vy := x.p[0]-y.p[0], x.p[1]-y.p[1], x.v[0]-y.v[0], x.v[1]-y.v[1]
	turn := math.Abs(x.v[2] - y.v[2])
	way := h * min(math.Hypot(vx+y.v[2]*ry, vy-y.v[2]*rx)+turn*p.size, math.Hypot(vx+x.v[2]*ry, vy-x.v[2]*rx)+turn*p.reachRadius)
	if way <= limit*p.room {
		return 0
	}
	around := s.spec.Bodies[p.a].Shape.bounds()
	around = around.enclosure(s.relative(p.a, p.b), way)
	if other := s.spec.Bodies[p.b].Shape.bounds(); !around.meets(&other) {
		return 0
	}
	spin := min(math.Abs(y.v[2])*math.Hypot(rx, ry)+turn*p.size, math.Abs(x.v[2])*math.Hypot(rx, ry)+turn*p.reachRadius)
	if way = min(way, h*(s.slowestAcross(p, vx, vy)+spin)); way > limit*p.room {
		return way / p.room
	}
	return 0
}

// Missed is Sweeper.Missed.
func (s *Scene) Missed(h, t0 float64, q0 []float64) (a, b string, share float64) {
	known := false
	for i := range s.passes {
		p := &s.passes[i]
		if math.IsInf(p.room, 1) {
			continue
		}
		far := s.overrun(p, h, 1)
		worst := max(far, p.overrunBefore)
		depthBefore := p.depthBefore
		p.overrunBefore, p.depthBefore = 0, 0
		if far > 0 && p.fewEdges { // of others it is uncertain at once
			p.overrunBefore = far
			s.pairHits(p, func(h *hit, _ float64) { p.depthBefore = max(p.depthBefore, -h.gapNow) })
		}
		if worst <= share {
			continue
		}
		if !known {
			known = true
			s.posesBefore = append(s.posesBefore[:0], s.body...)
			for k := range s.spec.Bodies {
				c := &s.posesBefore[k]
				s.drive(c, k, t0, q0, q0)
				c.sin, c.cos = math.Sincos(c.p[2])
			}
		}
		if !p.fewEdges || !s.foundInTime(p, depthBefore) {
			a, b, share = s.spec.Bodies[p.a].Name, s.spec.Bodies[p.b].Name, worst
		}
	}
	return a, b, share
}

// foundInTime tells whether the bodies of a pass, which in s.posesBefore were no deeper in each other than depth (m) in their contacts, either
// have not met since, or are in contact along the axis on which they met. Convex bodies that move along straight lines meet where the
// last axis that parts them ceases to do so. It is false where that is not certain.
func (s *Scene) foundInTime(p *scenePass, depth float64) bool {
	a, b, x, y := &s.posesBefore[p.a], &s.posesBefore[p.b], &s.body[p.a], &s.body[p.b]
	slack, turn := axisInside*p.room, 0.0
	if s.spec.Bodies[p.a].Shape.Outline != nil {
		turn = math.Abs(x.p[2] - a.p[2])
	}
	if s.spec.Bodies[p.b].Shape.Outline != nil {
		turn = max(turn, math.Abs(y.p[2]-b.p[2]))
	}
	if (p.size+p.reachRadius)*turn*turn/8 > slack { // by so much the way is no straight line
		return false
	}
	last, lx, ly, parted := -1.0, 0.0, 0.0, false
	s.axes(p, func(owner int, nx, ny float64) {
		n0x, n0y := s.posesBefore[owner].turned(nx, ny)
		nx, ny = s.body[owner].turned(nx, ny)
		g0, g1 := s.gapAlong(p, a, b, n0x, n0y), s.gapAlong(p, x, y, nx, ny)
		if g0 < -max(slack, depth*(1+1e-9)) {
			return
		}
		if parted = parted || g1 >= -slack; parted {
			return
		}
		if at := max(g0, 0) / (max(g0, 0) - g1); at > last {
			last, lx, ly = at, nx, ny
		}
	})
	if parted || last < 0 {
		return parted
	}
	found, same := false, true
	s.pairHits(p, func(h *hit, sign float64) {
		if h.gapNow <= 0 {
			found, same = true, same && sign*(h.wx*lx+h.wy*ly) >= sameAxis
		}
	})
	return found && same
}

// pairHits gives the contacts between the bodies of a pass, with the sign that makes their normals point from b to a.
func (s *Scene) pairHits(p *scenePass, each func(h *hit, sign float64)) {
	for i := range s.hits {
		h := &s.hits[i]
		switch q := &s.passes[h.pass]; {
		case q.a == p.a && q.b == p.b:
			each(h, 1)
		case q.a == p.b && q.b == p.a:
			each(h, -1)
		}
	}
}

const (
	axisEdges  = 64  // edges of an outline up to which their normals are tried as axes
	axisInside = 0.1 // of room: bodies that are no deeper in each other count as parted
	sameAxis   = 0.9 // cosine of the angle up to which the normal of a contact is that of an axis
)

// fewEdges tells whether the shape is a disc or a solid of few edges, which an axis can part from another.
func (s *Shape) fewEdges() bool {
	if s.Outline == nil {
		return true
	}
	area, _, _ := s.Outline.Section()
	return area > 0 && s.Outline.edges <= axisEdges
}

// slowestAcross is the smallest component of the velocity (vx, vy) of a against b along an axis that parts the bodies (m/s). It is +Inf
// where none of them does.
func (s *Scene) slowestAcross(p *scenePass, vx, vy float64) float64 {
	slow := math.Inf(1)
	if !p.fewEdges {
		return slow
	}
	x, y := &s.body[p.a], &s.body[p.b]
	s.axes(p, func(owner int, nx, ny float64) {
		nx, ny = s.body[owner].turned(nx, ny)
		if speed := math.Abs(nx*vx + ny*vy); speed < slow && s.gapAlong(p, x, y, nx, ny) >= -axisInside*p.room {
			slow = speed
		}
	})
	return slow
}

// axes gives each axis that may part the bodies of a pass as a unit vector from b to a in the frame of its owner, a place in s.body:
// normals of the edges of both, and the line of the centres of two discs.
func (s *Scene) axes(p *scenePass, each func(owner int, nx, ny float64)) {
	a, b := s.spec.Bodies[p.a].Shape.Outline, s.spec.Bodies[p.b].Shape.Outline
	if b != nil {
		for e := range b.edges {
			each(p.b, b.ty[e], -b.tx[e])
		}
	}
	if a != nil {
		for e := range a.edges {
			each(p.a, -a.ty[e], a.tx[e])
		}
	}
	x, y := &s.body[p.a], &s.body[p.b]
	if d := math.Hypot(x.p[0]-y.p[0], x.p[1]-y.p[1]); a == nil && b == nil && d > 0 {
		each(len(s.spec.Bodies), (x.p[0]-y.p[0])/d, (x.p[1]-y.p[1])/d)
	}
}

// gapAlong is the distance of the bodies of a pass at the poses x and y along the unit vector (nx, ny) from b to a (m): above 0 the vector
// parts them.
func (s *Scene) gapAlong(p *scenePass, x, y *sceneBody, nx, ny float64) float64 {
	a, b := &s.spec.Bodies[p.a].Shape, &s.spec.Bodies[p.b].Shape
	return nx*(x.p[0]-y.p[0]) + ny*(x.p[1]-y.p[1]) - x.extent(a, -nx, -ny) - y.extent(b, nx, ny)
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
