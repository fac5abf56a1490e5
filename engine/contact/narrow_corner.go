package contact

import "math"

// placement takes points of one body to the frame of another.
type placement struct{ sin, cos, dx, dy float64 }

func (s *Scene) relative(a, b int) placement {
	p, q := &s.body[a], &s.body[b]
	dx, dy := p.p[0]-q.p[0], p.p[1]-q.p[1]
	return placement{
		sin: p.sin*q.cos - p.cos*q.sin, cos: p.cos*q.cos + p.sin*q.sin,
		dx: q.cos*dx + q.sin*dy, dy: q.cos*dy - q.sin*dx,
	}
}

// bears tells whether vertex k of a can touch a surface with the normal of h, which is in the other frame.
func (r placement) bears(a *Outline, k int, h *spot) bool {
	return a.bears(k, r.cos*h.nx+r.sin*h.ny, r.cos*h.ny-r.sin*h.nx)
}

// otherSide moves a place over an edge that vertex k of a cannot touch to the neighbour of that edge round a convex corner of b, when it can
// touch that one. Two corners of faces that lie on each other meet like this: which side of the corner is nearer is a matter of rounding.
func otherSide(a, b *Outline, k int, h *spot, r placement, x, y float64) bool {
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
		if math.Abs(s.gap) < near && along > -near && along < b.length[n]+near && r.bears(a, k, &s) {
			*h = s
			return true
		}
	}
	return false
}

// cornerOnCorner decides about vertex k of a in the sector of a vertex of b. It is a contact when that vertex is in the sector of k as well;
// if not, it is over an edge of a, where the other pass finds it. Two vertices at one point have no line between them: n is then
// the mean of the edge normals of both that either side can touch.
func cornerOnCorner(a, b *Outline, k int, h *spot, r placement) bool {
	before, after := a.edgesAt(k)
	if h.bend > 0 {
		// in the frame of a the vertex of b is at −n from vertex k
		nx, ny := r.cos*h.nx+r.sin*h.ny, r.cos*h.ny-r.sin*h.nx
		return (before < 0 || nx*a.tx[before]+ny*a.ty[before] <= 0) && (after < 0 || nx*a.tx[after]+ny*a.ty[after] >= 0)
	}
	v := int(h.feature) - b.edges
	mean := *h
	mean.nx, mean.ny = 0, 0
	p, q := b.edgesAt(v)
	for _, e := range [2]int{p, q} {
		if e < 0 {
			continue
		}
		n := spot{nx: b.ty[e], ny: -b.tx[e]}
		if r.bears(a, k, &n) {
			mean.nx, mean.ny = mean.nx+n.nx, mean.ny+n.ny
		}
	}
	for _, e := range [2]int{before, after} {
		if e < 0 {
			continue
		}
		nx, ny := -(r.cos*a.ty[e] + r.sin*a.tx[e]), -(r.sin*a.ty[e] - r.cos*a.tx[e])
		if b.bears(v, nx, ny) {
			mean.nx, mean.ny = mean.nx+nx, mean.ny+ny
		}
	}
	l := math.Hypot(mean.nx, mean.ny)
	if l == 0 {
		return false
	}
	h.nx, h.ny = mean.nx/l, mean.ny/l
	return true
}
