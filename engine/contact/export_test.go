package contact

import (
	"fmt"
	"math"
)

// What only tests ask for.

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
