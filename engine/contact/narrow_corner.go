package contact

import "math"

// placement takes points of one body to the frame of another.
type placement struct{ sin, cos, dx, dy float64 }

// point takes a point.
func (r placement) point(x, y float64) (float64, float64) {
	return r.cos*x - r.sin*y + r.dx, r.sin*x + r.cos*y + r.dy
}

// rotateBack takes a direction of the other body to the frame of the one.
func (r placement) rotateBack(nx, ny float64) (float64, float64) {
	return r.cos*nx + r.sin*ny, r.cos*ny - r.sin*nx
}

func (s *Scene) relative(a, b int) placement {
	p, q := &s.body[a], &s.body[b]
	dx, dy := p.p[0]-q.p[0], p.p[1]-q.p[1]
	return placement{
		sin: p.sin*q.cos - p.cos*q.sin, cos: p.cos*q.cos + p.sin*q.sin,
		dx: q.cos*dx + q.sin*dy, dy: q.cos*dy - q.sin*dx,
	}
}

// bears tells whether vertex k of a can touch a surface with the normal (nx, ny), which is in the other frame.
func (r placement) bears(a *Outline, k int, nx, ny float64) bool {
	nx, ny = r.rotateBack(nx, ny)
	return a.bears(k, nx, ny, blunt)
}

// otherSide moves a place over an edge that vertex k of a cannot touch to the neighbour of that edge round a convex corner of b, when it
// can touch that one. Two corners of faces that lie on each other meet like this: which side of the corner is nearer is a matter of
// rounding. A vertex inside of the material has come through that side, however deep it is; one outside is not in it, however near it is to
// the line of that.
func otherSide(a, b *Outline, k int, h *spot, r placement, x, y float64) bool {
	if h.gap > onChord {
		return false
	}
	e := int(h.feature)
	for _, end := range [2]int{e, e + 1} {
		if b.corner[end] != convex {
			continue
		}
		n := b.edgeBefore(e)
		if end > e {
			n = b.edgeAfter(e)
		}
		s, near := b.overEdge(n, x, y), 1e-3*b.length[n]
		along := s.s - b.arc[n]
		if s.gap < near && along > -near && along < b.length[n]+near && r.bears(a, k, s.nx, s.ny) {
			*h = s
			return true
		}
	}
	return false
}

// cornerOnCorner decides about vertex k of a in the sector of a vertex of b. It is a contact when that vertex is in the sector of k as
// well; if not, it is over an edge of a, where the other pass finds it.
func cornerOnCorner(a *Outline, k int, h *spot, r placement) bool {
	// in the frame of a the vertex of b is at −n from vertex k
	nx, ny := r.rotateBack(h.nx, h.ny)
	return a.bears(k, nx, ny, 0)
}

// meanOfCorners is the place of vertex k of a on a vertex of b at the same point. There is no line between them: n is the mean of the edge
// normals of both that either side can touch. Two corners that touch part as soon as they part along one of them: where they do, with the
// velocity v of the vertex, those along which they approach do not count. Where that is the normal of an edge of b, the contact is over this
// edge: corners of faces that lie on each other are at one point to rounding, which must not decide what is under them.
func meanOfCorners(a, b *Outline, k int, h *spot, r placement, v [2]float64) bool {
	at := int(h.feature) - b.edges
	var sx, sy, partX, partY float64 // all, and those along which they do not approach
	add := func(nx, ny float64) {
		sx, sy = sx+nx, sy+ny
		if nx*v[0]+ny*v[1] >= -restSpeed-grazing*math.Hypot(v[0], v[1]) {
			partX, partY = partX+nx, partY+ny
		}
	}
	for _, e := range [2]int{b.edgeBefore(at), at} {
		if r.bears(a, k, b.ty[e], -b.tx[e]) {
			add(b.ty[e], -b.tx[e])
		}
	}
	for _, e := range [2]int{a.edgeBefore(k), k} {
		nx, ny := -(r.cos*a.ty[e] + r.sin*a.tx[e]), -(r.sin*a.ty[e] - r.cos*a.tx[e])
		if b.bears(at, -nx, -ny, blunt) {
			add(nx, ny)
		}
	}
	if partX != 0 || partY != 0 {
		sx, sy = partX, partY
	}
	l := math.Hypot(sx, sy)
	if l == 0 {
		return false
	}
	x, y := r.point(a.x[k], a.y[k])
	h.nx, h.ny, h.bend = sx/l, sy/l, 0
	h.gap = h.nx*(x-b.x[at]) + h.ny*(y-b.y[at])
	for _, e := range [2]int{b.edgeBefore(at), at} {
		if h.nx*b.ty[e]-h.ny*b.tx[e] > 1-1e-12 {
			*h = b.overEdge(e, x, y)
		}
	}
	return true
}

const (
	sharpest  = 0.05 // sine of the angle of an edge to the way of a corner, from which on the corner leads it
	grazing   = 1e-6 // sine of the angle to a surface below which a velocity is along it
	restSpeed = 1e-6 // m/s, below which two corners rest on each other
)
