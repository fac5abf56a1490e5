package brush

import (
	"math"

	"hilrig/engine"
)

// Coordinates names q; u has the same per second.
func (b *Brush) Coordinates() []engine.Signal {
	return []engine.Signal{
		{Name: "x", Unit: "m"}, {Name: "y", Unit: "m"}, {Name: "phi", Unit: "rad"},
		{Name: "u1", Unit: "m"}, {Name: "s1", Unit: "m"}, {Name: "u2", Unit: "m"}, {Name: "s2", Unit: "m"}, {Name: "u3", Unit: "m"},
		{Name: "s3", Unit: "m"},
		{Name: "phi_h", Unit: "rad"}, {Name: "phi_s", Unit: "rad"},
	}
}

// FacePoints is the number of points of the face.
func (b *Brush) FacePoints() int { return len(b.point) }

// FacePoint is where point i of the face is (m).
func (b *Brush) FacePoint(i int, q []float64) (x, y float64) {
	v := &b.point[i]
	xi, eta := v.xi, v.eta
	for j := int(v.segment); j >= 0; j = b.joint[j].Parent {
		xi, eta = xi+q[colS(j)], eta+q[colU(j)]
	}
	s, c := math.Sincos(q[2])
	return q[0] + c*xi - s*eta, q[1] + s*xi + c*eta
}

// Pivot is that of the spring arm (m).
func (b *Brush) Pivot() (x, y float64) { return b.pivotX, b.pivotY }

// HolderCentre is the point about which the holder turns (m).
func (b *Brush) HolderCentre() (x, y float64) { return b.holdX, b.holdY }
