package contact

import (
	"fmt"
	"math"
)

// What only tests ask for.

// NewOpenOutline makes an outline with two ends, of ground for example. Material is on the given side. A body off the ends is not in
// contact with the material behind them: let the outline reach beyond what can be touched.
func NewOpenOutline(points []Point, material Side) (*Outline, error) {
	if len(points) < 2 {
		return nil, fmt.Errorf("outline: %d points, an open one has at least 2", len(points))
	}
	if err := checkPoints(points); err != nil {
		return nil, err
	}
	n := len(points)
	o := &Outline{}
	o.allocate(n - 1)
	for k, p := range points {
		if material == Right {
			k = n - 1 - k
		}
		o.x[k], o.y[k] = p.X, p.Y
	}
	return o, o.finish()
}

// RegularPolygon has n vertices at the distance radius (m) from the origin, the first at angle phase (rad).
func RegularPolygon(n int, radius, phase float64) (*Outline, error) {
	if n < 3 || n > maxPoints || !(radius > 0) {
		return nil, fmt.Errorf("polygon: %d vertices at %g m, want 3 to %d at a radius > 0", n, radius, maxPoints)
	}
	p := make([]Point, n)
	for k := range p {
		sin, cos := math.Sincos(phase + 2*math.Pi*float64(k)/float64(n))
		p[k] = Point{radius * cos, radius * sin}
	}
	return NewOutline(p)
}
