package contact

import (
	"fmt"
	"math"
)

// Point is a point of a plane (m).
type Point struct{ X, Y float64 }

// Outline is the contour of a body as a closed polyline in the frame of the body. Material lies to the left of its direction: that
// of a solid runs counter-clockwise. Edge k joins vertex k to vertex k + 1 and owns its beginning, not its end. Normals point out of
// the material. An outline is constant once made; any number of goroutines may use it.
type Outline struct {
	edges  int
	x, y   []float64    // m, one more than edges: the last vertex is the first
	tx, ty []float64    // direction of edge k; the outward normal is (ty, −tx)
	length []float64    // m
	arc    []float64    // m, from vertex 0 to vertex k
	corner []vertexKind // at vertex k
	chain  []uint8      // of edge k: changes at sharp concave corners
	tree   boxTree
}

// vertexKind is the shape of the material at a vertex.
type vertexKind uint8

const (
	straight vertexKind = iota // both edges on one line, to rounding
	convex
	concave
	notch // concave by more than notchTurn: both edges may be touched at once
)

// NewOutline makes a closed outline of a solid. A last point equal to the first is dropped; points that run clockwise are turned round,
// the first one staying the first. Refused are fewer than three points, points that are not finite, edges of no length, spikes, and
// edges that cross or touch each other.
func NewOutline(points []Point) (*Outline, error) { return closedOutline(points, false) }

// NewCavity makes a closed outline around a hole: material is outside. Points that run counter-clockwise are turned round.
func NewCavity(points []Point) (*Outline, error) { return closedOutline(points, true) }

func closedOutline(points []Point, hole bool) (*Outline, error) {
	if n := len(points); n > 1 && points[0] == points[n-1] {
		points = points[:n-1]
	}
	if len(points) < 3 {
		return nil, fmt.Errorf("outline: %d points, a closed one has at least 3", len(points))
	}
	if err := checkPoints(points); err != nil {
		return nil, err
	}
	turn := (shoelace(points) < 0) != hole
	n := len(points)
	f := func(n int) []float64 { return make([]float64, n) }
	o := &Outline{
		edges: n, x: f(n + 1), y: f(n + 1), arc: f(n + 1), corner: make([]vertexKind, n+1), chain: make([]uint8, n),
		tx: f(n), ty: f(n), length: f(n),
	}
	for k := range n + 1 {
		p := points[k%n]
		if turn {
			p = points[(n-k)%n]
		}
		o.x[k], o.y[k] = p.X, p.Y
	}
	return o, o.finish()
}

func checkPoints(points []Point) error {
	if len(points) > maxPoints {
		return fmt.Errorf("outline: %d points, at most %d", len(points), maxPoints)
	}
	for k, p := range points {
		if s := p.X + p.Y; math.IsNaN(s) || math.IsInf(s, 0) || math.Abs(p.X) > 1e9 || math.Abs(p.Y) > 1e9 {
			return fmt.Errorf("outline: point %d is (%g, %g), want two numbers in m", k, p.X, p.Y)
		}
	}
	return nil
}

// shoelace is twice the area, seen from the first point, positive counter-clockwise.
func shoelace(p []Point) float64 {
	s := 0.0
	for k := 2; k < len(p); k++ {
		s += (p[k-1].X-p[0].X)*(p[k].Y-p[0].Y) - (p[k].X-p[0].X)*(p[k-1].Y-p[0].Y)
	}
	return s
}

// finish derives directions, corners and boxes, and refuses what is no simple line.
func (o *Outline) finish() error {
	size := 0.0
	for k := range o.x {
		size = max(size, math.Abs(o.x[k]-o.x[0]), math.Abs(o.y[k]-o.y[0]))
	}
	for k := range o.edges {
		dx, dy := o.x[k+1]-o.x[k], o.y[k+1]-o.y[k]
		l := math.Hypot(dx, dy)
		if !(l > 1e-12*size) {
			return fmt.Errorf("outline: edge %d from (%g, %g) m has no length", k, o.x[k], o.y[k])
		}
		o.tx[k], o.ty[k], o.length[k] = dx/l, dy/l, l
		o.arc[k+1] = o.arc[k] + l
	}
	for k := range o.corner {
		j := k % o.edges
		i := o.edgeBefore(j)
		cross := o.tx[i]*o.ty[j] - o.ty[i]*o.tx[j]
		dot := o.tx[i]*o.tx[j] + o.ty[i]*o.ty[j]
		switch {
		case dot < 0 && math.Abs(cross) < 1e-9:
			return fmt.Errorf("outline: a spike at vertex %d, (%g, %g) m: the line turns back onto itself", k%o.edges, o.x[k], o.y[k])
		case cross > 1e-12:
			o.corner[k] = convex
		case cross < -1e-12:
			o.corner[k] = concave
			if dot < 0 || cross < -notchTurn {
				o.corner[k] = notch
			}
		}
	}
	o.chains()
	o.tree.build(o)
	return o.crossesItself()
}

// notchTurn is the sine of the turn from which a concave corner is one that holds a point from two sides. Below it, in the valleys of
// a rough surface, a point passes from one edge to the next, which is a kink.
const notchTurn = 0.1

// chains numbers the runs of edges between notches. A point or a disc that moves along a run stays the same contact; in a notch it has
// two. Numbers repeat after maxChains, far away.
func (o *Outline) chains() {
	runs, n := 0, maxChains
	for _, c := range o.corner[:o.edges] {
		if c == notch {
			runs++
		}
	}
	if runs > 1 && (runs-1)%n == 0 {
		n-- // first and last are neighbours
	}
	for k, c := 0, 0; k < o.edges; k++ {
		if k > 0 && o.corner[k] == notch {
			c++
		}
		o.chain[k] = uint8(c % max(runs, 1) % n) // the last run goes on at edge 0, unless that begins one
	}
	if runs == 1 {
		o.divide()
	}
}

// divide gives the only run of an outline with one notch two numbers, so that the walls of the notch differ. They change at the convex
// vertex that is farthest from it, or at the farthest of all where none is convex.
func (o *Outline) divide() {
	first := 0
	for o.corner[first] != notch {
		first++
	}
	around := o.arc[o.edges]
	last, far := first, -1.0
	for k := range o.edges {
		d := math.Abs(o.arc[k] - o.arc[first])
		if d = min(d, around-d); o.corner[k] == convex {
			d += around
		}
		if k != first && d > far {
			last, far = k, d
		}
	}
	for k := first; k != last; k = (k + 1) % o.edges {
		o.chain[k] = 1
	}
}

const maxChains = 64

// Vertices is the number of vertices.
func (o *Outline) Vertices() int { return o.edges }

// Vertex is vertex k, k = 0 … Vertices() − 1.
func (o *Outline) Vertex(k int) Point { return Point{o.x[k], o.y[k]} }

// Normal is the outward unit normal of edge k.
func (o *Outline) Normal(k int) (nx, ny float64) { return o.ty[k], -o.tx[k] }

// Length is the length of the whole line (m).
func (o *Outline) Length() float64 { return o.arc[o.edges] }

// Section gives area (m²), centroid (m) and polar moment of area about the centroid (m⁴) of the outline. A homogeneous body of
// mass m has the inertia m·moment/area. Area and moment of a cavity are negative.
func (o *Outline) Section() (area float64, centroid Point, moment float64) {
	// sums over the triangles of each edge with vertex 0, which keeps digits for an outline far from the origin
	x0, y0 := o.x[0], o.y[0]
	var sx, sy, polar float64
	for k := range o.edges {
		ax, ay, bx, by := o.x[k]-x0, o.y[k]-y0, o.x[k+1]-x0, o.y[k+1]-y0
		c := ax*by - bx*ay
		area += c / 2
		sx += c * (ax + bx) / 6
		sy += c * (ay + by) / 6
		polar += c * (ax*ax + ax*bx + bx*bx + ay*ay + ay*by + by*by) / 12
	}
	sx, sy = sx/area, sy/area
	return area, Point{x0 + sx, y0 + sy}, polar - area*(sx*sx+sy*sy)
}

// edgeBefore is the edge that ends at the beginning of edge e.
func (o *Outline) edgeBefore(e int) int {
	if e == 0 {
		return o.edges - 1
	}
	return e - 1
}

// edgeAfter is the edge that begins at the end of edge e.
func (o *Outline) edgeAfter(e int) int {
	if e+1 == o.edges {
		return 0
	}
	return e + 1
}
