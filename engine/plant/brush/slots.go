package brush

import (
	"math"

	"hilrig/engine/contact"
)

// idCorner starts the numbers of commutator vertices against edges of the face: + vertex.
const idCorner = 1 << 16

// corners are the vertices of the commutator at the ends of its bars, in its own frame: those above half the depth of a true slot
// and within the rounded edge. A face vertex that drops into a slot is not all there is: the bar's end then meets the edge of
// the face between two vertices.
func (b *Brush) corners() {
	c := &b.p.Commutator
	if !c.TrueSlots || c.SlotDepth == 0 || c.SlotWidth == 0 {
		return
	}
	pitch, half := 2*math.Pi/c.Bars, c.SlotWidth/2
	x, y := b.comm.Vertices()
	for k := range x {
		a := math.Atan2(y[k], x[k])
		arc := math.Abs(a-pitch*math.Round(a/pitch)) * c.Radius
		if arc < half+c.EdgeLength+c.Spacing && math.Hypot(x[k], y[k]) > c.Radius-c.SlotDepth/2 {
			b.corner = append(b.corner, place{x[k], y[k], uint32(idCorner + k)})
		}
	}
	b.bump = make([]bump, len(b.point))
}

// place is a corner of the commutator in its own frame.
type place struct {
	x, y float64
	id   uint32
}

// bump is the corner that stands highest over one edge of the face.
type bump struct {
	gap, px, py, xi, eta float64
	id                   uint32 // 0: none
}

// cornersOnFace looks at every corner of the commutator near the face, against the edge of its polyline that it is under, and
// keeps the deepest one of each edge. A is the commutator, n points out of the brush. The search is plain: true slots
// are not for the loop.
func (b *Brush) cornersOnFace(t float64, s *scene, reach float64, set *contact.Set) {
	if len(b.corner) == 0 {
		return
	}
	sin, cos := math.Sincos(b.Angle(t))
	n := int(b.p.Face.Vertices)
	clear(b.bump)
	for k := range b.corner {
		c := &b.corner[k]
		px, py := cos*c.x-sin*c.y, sin*c.x+cos*c.y
		// in the frame of the main body
		rx, ry := px-s.x, py-s.y
		xi, eta := s.cos*rx+s.sin*ry, s.cos*ry-s.sin*rx
		if math.Abs(xi) > b.p.Brush.Width || eta > 0 {
			continue
		}
		for g := range segments {
			x, y := xi-(s.xi[g]-b.joint[g].Position), eta-(s.eta[g]+b.down)
			part := b.point[g*n : (g+1)*n]
			if x < part[0].xi || x >= part[n-1].xi {
				continue
			}
			j := 0
			for x >= part[j+1].xi {
				j++
			}
			nt, nn := outward(part[j:])
			gap := (x-part[j].xi)*nt + (y-part[j].eta)*nn
			// a corner that is deep inside belongs to the other side of the brush
			if e := &b.bump[g*n+j]; gap <= reach && gap > -b.p.Segment.Height && (e.id == 0 || gap < e.gap) {
				*e = bump{gap, px, py, xi, eta, c.id}
			}
			break
		}
	}
	for e := range b.bump {
		if b.bump[e].id == 0 {
			continue
		}
		if i := set.Add(b.bump[e].id, b.law, b.bump[e].gap); i >= 0 {
			set.Feature[i] = int32(e)
			b.cornerRows(s, e, set, i)
		}
	}
}

// outward is the normal of the edge from the first to the second of two points of the face, along e_t and e_n: down.
func outward(p []vertex) (nt, nn float64) {
	tx, ty := p[1].xi-p[0].xi, p[1].eta-p[0].eta
	l := math.Hypot(tx, ty)
	return ty / l, -tx / l
}

// cornerRows completes contact i of the corner over edge e.
func (b *Brush) cornerRows(s *scene, e int, set *contact.Set, i int) {
	p := &b.bump[e]
	g := e / int(b.p.Face.Vertices)
	xi, eta, w := p.xi, p.eta, b.speed
	nt, nn := outward(b.point[e:])
	c := contactRow{px: p.px, py: p.py, nx: s.cos*nt - s.sin*nn, ny: s.sin*nt + s.cos*nn, turn: s.omega}
	// A moves by ω×p; B is the segment, at the same point
	mx, my := -w*p.py, w*p.px
	vt, vn := s.vt+s.dxi[g]-s.omega*eta, s.vn+s.deta[g]+s.omega*xi
	c.vx, c.vy = mx-(s.cos*vt-s.sin*vn), my-(s.sin*vt+s.cos*vn)
	// ω×(ω×p) less γ of the segment there, less φ̇ × what the point moves against it
	at, an := -2*s.omega*s.deta[g]-s.omega*s.omega*xi, 2*s.omega*s.dxi[g]-s.omega*s.omega*eta
	c.ax = -w*my - (s.cos*at - s.sin*an) + s.omega*c.vy
	c.ay = w*mx - (s.sin*at + s.cos*an) - s.omega*c.vx
	set.VN[i], set.VT[i] = c.nx*mx+c.ny*my, c.ny*mx-c.nx*my
	wn, wt := set.RowN(i), set.RowT(i)
	wn[0], wn[1], wn[2] = -c.nx, -c.ny, -(xi*nn - eta*nt)
	wt[0], wt[1], wt[2] = -c.ny, c.nx, xi*nt+eta*nn
	for j := g; j >= 0; j = b.joint[j].Parent {
		wn[3+2*j], wn[4+2*j] = -nn, -nt
		wt[3+2*j], wt[4+2*j] = nt, -nn
	}
	b.completeContact(set, i, &c)
}
