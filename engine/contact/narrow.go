package contact

import (
	"cmp"
	"math"
	"slices"
)

// spot is a place of an outline near a point, in the frame of the outline. With v the velocity and a the acceleration of the point in this
// frame, ġ = n·v and g̈ = n·a + bend·(t·v)².
type spot struct {
	gap     float64 // m, from the surface to the point, negative inside the material
	nx, ny  float64 // outward normal
	bend    float64 // 1/m, 0 over an edge
	s       float64 // m, arc length of the place
	feature int32   // edge, or number of edges + vertex
	chain   uint8
	rank    uint8 // among several places on one chain
}

// sameVertex is the distance (m) below which two vertices count as one point, so that the line between them gives no normal.
const sameVertex = 1e-9

// overEdge is the place of the line of edge e. The point may be beyond the ends of the edge.
func (o *Outline) overEdge(e int, x, y float64) spot {
	dx, dy := x-o.x[e], y-o.y[e]
	return spot{
		gap: dx*o.ty[e] - dy*o.tx[e], nx: o.ty[e], ny: -o.tx[e],
		s: o.arc[e] + dx*o.tx[e] + dy*o.ty[e], feature: int32(e), chain: o.chain[e],
	}
}

// overVertex is the place of vertex v: the normal is along the line from the vertex to the point, or along the bisector when they are one
// to rounding.
func (o *Outline) overVertex(v int, x, y float64) spot {
	dx, dy := x-o.x[v], y-o.y[v]
	d := math.Hypot(dx, dy)
	h := spot{gap: d, s: o.arc[v], feature: int32(o.edges + v), chain: o.chain[v]}
	if d > sameVertex/2 {
		h.nx, h.ny, h.bend = dx/d, dy/d, 1/d
		return h
	}
	a := o.edgeBefore(v)
	nx, ny := o.ty[a]+o.ty[v], -o.tx[a]-o.tx[v]
	l := math.Hypot(nx, ny)
	h.nx, h.ny = nx/l, ny/l
	return h
}

// blunt is the sine of the angle by which an edge of a body may lead into a surface that its vertex is said to touch. Flat faces that lie
// on each other are off by rounding and by penetration; a corner that meets the wrong side of another corner is off by its whole angle.
const blunt = 0.2

// bears tells whether the contour leads away, at vertex v, from a surface with the normal (nx, ny) in the frame of o, or into it by an
// angle whose sine is at most tol: the vertex can touch that surface before its neighbours do.
func (o *Outline) bears(v int, nx, ny, tol float64) bool {
	before := o.edgeBefore(v)
	return nx*o.tx[before]+ny*o.ty[before] <= tol && nx*o.tx[v]+ny*o.ty[v] >= -tol
}

// edgeCoordinate is the place (m) of a point on the line of edge e, from the beginning of the edge.
func (o *Outline) edgeCoordinate(e int, x, y float64) float64 {
	return (x-o.x[e])*o.tx[e] + (y-o.y[e])*o.ty[e]
}

// places finds where a point may touch the outline within reach (m): over the nearest edge, which owns its beginning and not its end;
// around a convex vertex when the point is outside of both its edges; and in a notch on both its sides. A point inside
// the material is listed however deep it is. hint is the edge of last time.
//
// In a valley that is no notch a point is over one edge at a time, as over a Commutator.
//
// away (m) is the distance of the point from the outline.
func (o *Outline) places(x, y, reach float64, hint *int32, out *[3]spot) (n int, away float64) {
	f := o.nearest(x, y, math.Inf(1), *hint)
	if f.edge < 0 {
		return 0, 0 // not a number
	}
	*hint = int32(f.edge)
	away = math.Sqrt(f.d2)
	add := func(h spot) {
		if h.gap <= reach {
			out[n] = h
			n++
		}
	}
	if f.s > 0 && f.s < 1 {
		e := f.edge
		add(o.overEdge(e, x, y))
		// the other side of a notch, not beyond its far end; beyond the notch its line is under this edge and does no harm
		if o.corner[e] == notch {
			if a := o.edgeBefore(e); o.edgeCoordinate(a, x, y) >= 0 {
				add(o.overEdge(a, x, y))
			}
		}
		if o.corner[e+1] == notch {
			if a := o.edgeAfter(e); o.edgeCoordinate(a, x, y) <= o.length[a] {
				add(o.overEdge(a, x, y))
			}
		}
		return n, away
	}
	v := f.edge
	if f.s == 1 {
		v = o.edgeAfter(v)
	}
	before := o.edgeBefore(v)
	switch o.corner[v] {
	case straight:
		add(o.overEdge(v, x, y))
	case convex:
		if o.edgeCoordinate(v, x, y) >= 0 {
			add(o.overEdge(v, x, y))
		} else {
			add(o.overVertex(v, x, y))
		}
	case concave: // below the valley: the wall that is crossed further
		p, q := o.overEdge(before, x, y), o.overEdge(v, x, y)
		if p.gap < q.gap {
			q = p
		}
		add(q)
	case notch:
		add(o.overEdge(before, x, y))
		add(o.overEdge(v, x, y))
	}
	return n, away
}

const (
	discPlaces = 32 // places of one disc on one outline
	ranks      = 4  // of these on one chain
)

// placeList is a list of bounded length; what finds no room is counted.
type placeList struct {
	n, dropped int
	spots      [discPlaces]spot
}

func (l *placeList) add(h spot) {
	if l.n < len(l.spots) {
		l.spots[l.n] = h
		l.n++
		return
	}
	// room for the nearest
	l.dropped++
	far := 0
	for i := range l.spots {
		if l.spots[i].gap > l.spots[far].gap {
			far = i
		}
	}
	if h.gap < l.spots[far].gap {
		l.spots[far] = h
	}
}

// placesOfDisc finds where a disc about a point may touch the outline: every edge and every convex vertex that is nearer to the centre than
// its neighbours and nearer than bound (m). With the centre inside the material the list is that of the centre.
func (o *Outline) placesOfDisc(x, y, bound float64, hint *int32, l *placeList) {
	l.n = 0
	var first [3]spot
	n, _ := o.places(x, y, bound, hint, &first)
	if n == 0 {
		return
	}
	if first[0].gap < 0 {
		l.n = copy(l.spots[:], first[:n])
		return
	}
	near := func(b *box) bool { return !(b.distance2(x, y) > bound*bound) }
	o.tree.edges(o, near, func(e int) bool {
		o.discOver(e, x, y, bound, l)
		return false
	})
	// in order of arc length, numbered along each chain
	slices.SortStableFunc(l.spots[:l.n], func(a, b spot) int { return cmp.Compare(a.s, b.s) })
	kept := 0
	for i := range l.n {
		h := l.spots[i]
		for j := range kept {
			if l.spots[j].chain == h.chain {
				h.rank++
			}
		}
		if h.rank >= ranks {
			l.dropped++
			continue
		}
		l.spots[kept] = h
		kept++
	}
	l.n = kept
}

// discOver adds the place of a disc over edge e or its first vertex.
func (o *Outline) discOver(e int, x, y, bound float64, l *placeList) {
	switch along := o.edgeCoordinate(e, x, y); {
	case along < 0 && o.facesVertex(e, x, y):
		if h := o.overVertex(e, x, y); h.gap <= bound {
			l.add(h)
		}
	case along >= 0 && along < o.length[e]:
		if h := o.overEdge(e, x, y); h.gap >= 0 && h.gap <= bound {
			l.add(h)
		}
	}
}

// facesVertex tells whether a point before edge e has the first vertex of e as its nearest place among the two edges there.
func (o *Outline) facesVertex(e int, x, y float64) bool {
	a := o.edgeBefore(e)
	return (o.corner[e] == convex || o.corner[e] == straight) && o.edgeCoordinate(a, x, y) >= o.length[a]
}
