package contact

import (
	"fmt"
	"math"
	"slices"
)

// Rectangle is the outline of a block of the given width along x and height along y about its centre, with corners cut off at 45° by
// chamfer along either side (all m).
func Rectangle(width, height, chamfer float64) (*Outline, error) {
	if !(width > 0) || !(height > 0) || !(chamfer >= 0) || 2*chamfer > min(width, height) {
		return nil, fmt.Errorf("rectangle: %g m × %g m with a chamfer of %g m, want sides > 0 and 0 ≤ chamfer ≤ half the shorter side",
			width, height, chamfer)
	}
	w, h, c := width/2, height/2, chamfer
	return NewOutline(slices.Compact([]Point{
		{-w + c, -h}, {w - c, -h}, {w, -h + c}, {w, h - c}, {w - c, h}, {-w + c, h}, {-w, h - c}, {-w, -h + c},
	}))
}

// Outline is the contour of the commutator for a body of a Scene.
func (c *Commutator) Outline() (*Outline, error) {
	p := make([]Point, c.n)
	for k := range p {
		p[k] = Point{c.x[k], c.y[k]}
	}
	return NewOutline(p)
}

// Roughen gives an outline a rough surface: its edges are divided into pieces of at most dx (m; 0: the smaller of 25 µm and l/20),
// and each new point moves along the normal of its edge, each old corner along the bisector, by the height of a RoughRing with the
// correlation length l and the depth rz (m) at its arc length.
func Roughen(o *Outline, dx, l, rz float64, seed uint64) (*Outline, error) {
	if dx == 0 {
		dx = defaultSpacing(l)
	}
	if !(dx > 0) || o.Length()/dx > maxPoints {
		return nil, fmt.Errorf("outline: spacing %g m for a length of %g m, want > 0 and at most %d points", dx, o.Length(), maxPoints)
	}
	n := max(3, int(math.Ceil(o.Length()/dx)))
	step := o.Length() / float64(n)
	h, err := RoughRing(n, step, l, rz, seed)
	if err != nil {
		return nil, err
	}
	ring := RoughProfile{Dx: step, H: append(h, h[0])}
	var p []Point
	for e := range o.edges {
		m := max(1, int(math.Ceil(o.length[e]/dx)))
		for i := range m {
			s := o.length[e] * float64(i) / float64(m)
			nx, ny := o.Normal(e)
			if i == 0 {
				bx, by := o.Normal(o.edgeBefore(e))
				k := max(1+nx*bx+ny*by, 0.1) // a sharp corner does not grow a thorn
				nx, ny = (nx+bx)/k, (ny+by)/k
			}
			z := ring.At(o.arc[e] + s)
			p = append(p, Point{o.x[e] + s*o.tx[e] + z*nx, o.y[e] + s*o.ty[e] + z*ny})
		}
	}
	return NewOutline(p)
}
