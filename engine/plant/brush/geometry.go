package brush

import (
	"math"

	"hilrig/engine/contact"
)

// scene is a configuration as the contacts see it, in the inertial frame unless said otherwise.
type scene struct {
	state
	x, y, dx, dy float64 // centre of the main body
}

// contactRow is one contact before it is written: the point (px, py), the unit normal n from B to A, and the motion of both bodies
// there. What depends on d²q/dt² is left out of the accelerations.
type contactRow struct {
	px, py, nx, ny float64
	turn           float64 // rad/s   of n
	vx, vy         float64 // m/s     of A against B at the point
	ax, ay         float64 // m/s²    rate of change of that, following the point
}

// onFace tells contacts of face and commutator from the others.
func onFace(id uint32) bool { return id < idHolder || id >= idCorner }

// completeContact completes contact i: w·u + V is the velocity, whose own part V is left to the caller, and
//
//	A_N = n·a − Ω_n·ġ_T,   A_T = t·a + Ω_n·ġ_N      for a normal that turns by Ω_n
//
// Friction and restitution that depend on the speed take its value here.
func (b *Brush) completeContact(set *contact.Set, i int, c *contactRow) {
	tx, ty := c.ny, -c.nx
	vn, vt := c.nx*c.vx+c.ny*c.vy, tx*c.vx+ty*c.vy
	set.AN[i] = c.nx*c.ax + c.ny*c.ay - c.turn*vt
	set.AT[i] = tx*c.ax + ty*c.ay + c.turn*vn
	set.X[i], set.Y[i], set.NX[i], set.NY[i] = c.px, c.py, c.nx, c.ny
	if b.drifts {
		law := &set.Law[i]
		law.EpsN = b.p.Restitution(law.EpsN, vn)
		if onFace(set.ID[i]) {
			law.Mu = b.p.FaceMu(b.temperature, b.density, vt)
		}
	}
}

// Contacts lists, in this order: vertices of the face on the commutator, with true slots corners of the
// commutator on the face, the holder's two walls (lower and upper end of each), the
// tip of the arm on the top.
func (b *Brush) Contacts(t float64, q, u []float64, reach float64, set *contact.Set) {
	set.Clear()
	var s scene
	b.unpack(q, u, &s.state)
	s.x, s.y, s.dx, s.dy = q[0], q[1], u[0], u[1]
	b.onCommutator(t, &s, reach, set)
	b.cornersOnFace(t, &s, reach, set)
	b.inHolder(&s, reach, set)
	b.underSpring(&s, reach, set)
}

// onCommutator looks at every vertex of the face from the frame of the commutator, where the outline is at rest.
func (b *Brush) onCommutator(t float64, s *scene, reach float64, set *contact.Set) {
	sin, cos := math.Sincos(b.Angle(t))
	// centre, e_t and e_n in that frame
	x0, y0 := cos*s.x+sin*s.y, cos*s.y-sin*s.x
	etx, ety := cos*s.cos+sin*s.sin, cos*s.sin-sin*s.cos
	for k := range b.point {
		v := &b.point[k]
		g := v.segment
		xi, eta := v.xi+s.xi[g]-b.joint[g].Position, v.eta+s.eta[g]+b.down
		cx, cy := x0+xi*etx-eta*ety, y0+xi*ety+eta*etx
		var gap, nx, ny, bend float64
		var feature int32
		switch {
		case b.smoothComm == nil:
			gap, nx, ny, feature = b.comm.Edge(cx, cy, &b.hint[k])
		case b.smoothComm.OutOfReach(cx, cy, reach):
			continue
		default:
			gap, nx, ny, bend, feature = b.smoothComm.Edge(cx, cy)
		}
		if gap > reach {
			continue
		}
		i := set.Add(v.id, b.law, gap)
		if i < 0 {
			continue
		}
		set.Feature[i] = feature
		c := contactRow{px: cos*cx - sin*cy, py: sin*cx + cos*cy, nx: cos*nx - sin*ny, ny: sin*nx + cos*ny, turn: b.speed}
		b.faceRows(s, int(g), xi, eta, bend, &c, set, i)
	}
}

// Lift is the distance (m) of the face, at its nearest vertex, from the mean circle of the commutator; 0 on or below it.
func (b *Brush) Lift(q, u []float64) float64 {
	var s state
	b.unpack(q, u, &s)
	least := math.Inf(1)
	for k := range b.point {
		v := &b.point[k]
		g := v.segment
		xi, eta := v.xi+s.xi[g]-b.joint[g].Position, v.eta+s.eta[g]+b.down
		x, y := q[0]+s.cos*xi-s.sin*eta, q[1]+s.sin*xi+s.cos*eta
		least = min(least, x*x+y*y)
	}
	return max(0, math.Sqrt(least)-b.p.Commutator.Radius)
}

// faceRows completes contact i: a point of segment g at (ξ, η) in the frame of the brush on the surface of the commutator, whose
// normal turns with it and, where the outline is bent, with the sliding.
func (b *Brush) faceRows(s *scene, g int, xi, eta, bend float64, c *contactRow, set *contact.Set, i int) {
	// n along e_t and e_n; t is (n_n, −n_t)
	nt, nn := s.cos*c.nx+s.sin*c.ny, s.cos*c.ny-s.sin*c.nx
	// the point moves by v and would accelerate by γ without d²q/dt²
	w := b.speed
	vt, vn := s.vt+s.dxi[g]-s.omega*eta, s.vn+s.deta[g]+s.omega*xi
	at := -2*s.omega*s.deta[g] - s.omega*s.omega*xi
	an := 2*s.omega*s.dxi[g] - s.omega*s.omega*eta
	// against the surface ω×p
	mx, my := s.cos*vt-s.sin*vn, s.sin*vt+s.cos*vn
	c.vx, c.vy = mx+w*c.py, my-w*c.px
	c.ax, c.ay = s.cos*at-s.sin*an+w*my, s.sin*at+s.cos*an-w*mx
	c.turn -= bend * (c.ny*c.vx - c.nx*c.vy)
	set.VN[i], set.VT[i] = w*(c.nx*c.py-c.ny*c.px), w*(c.ny*c.py+c.nx*c.px)
	wn, wt := set.RowN(i), set.RowT(i)
	wn[0], wn[1], wn[2] = c.nx, c.ny, xi*nn-eta*nt
	wt[0], wt[1], wt[2] = c.ny, -c.nx, -xi*nt-eta*nn
	for j := g; j >= 0; j = b.joint[j].Parent {
		wn[3+2*j], wn[4+2*j] = nn, nt
		wt[3+2*j], wt[4+2*j] = -nt, nn
	}
	b.completeContact(set, i, c)
}

// inHolder: the lower end of each wall meets the side of the brush; at the upper end it is the end of the wall while the
// brush reaches above it, and the top corner of the brush against the wall once wear has drawn that into the holder.
func (b *Brush) inHolder(s *scene, reach float64, set *contact.Set) {
	sin, cos := sincos(b.rake + s.hold)
	w := b.p.Brush.Width / 2
	for side := range 2 {
		sign := float64(2*side - 1)
		id := uint32(idHolder + 4*side)
		b.wallEnd(s, sign, cos*b.wall[side]-sin*b.wallLow, sin*b.wall[side]+cos*b.wallLow, reach, id, set)
		// the top corner from the holder's pivot, in the inertial frame and in the holder's
		ct, cn := sign*w, b.halfHeight+sign*w*b.topTan
		px, py := s.x+s.cos*ct-s.sin*cn, s.y+s.sin*ct+s.cos*cn
		hx, hy := px-b.holdX, py-b.holdY
		if up := cos*hy - sin*hx; up > b.wallTop {
			b.wallEnd(s, sign, cos*b.wall[side]-sin*b.wallTop, sin*b.wall[side]+cos*b.wallTop, reach, id+1, set)
			continue
		}
		gap := sign * (b.wall[side] - (cos*hx + sin*hy))
		if gap > reach {
			continue
		}
		i := set.Add(id+2, b.holder, gap)
		if i < 0 {
			continue
		}
		// A is the brush, B the wall, n into the holder
		rx, ry := px-s.x, py-s.y
		c := contactRow{px: px, py: py, nx: -sign * cos, ny: -sign * sin, turn: s.holdRate}
		mx, my := s.dx-s.omega*ry, s.dy+s.omega*rx
		c.vx, c.vy = mx+s.holdRate*hy, my-s.holdRate*hx
		// −φ̇²ρ of the corner, and φ̇_h × its velocity for the wall under it
		c.ax, c.ay = -s.omega*s.omega*rx+s.holdRate*my, -s.omega*s.omega*ry-s.holdRate*mx
		b.rows(set, i, &c, rx, ry, 1, colHolder, hx, hy, -1)
		b.completeContact(set, i, &c)
	}
}

// wallEnd is the end of a wall, at (hx, hy) from the holder's pivot, against the side of the brush. A is the holder.
func (b *Brush) wallEnd(s *scene, sign, hx, hy, reach float64, id uint32, set *contact.Set) {
	px, py := b.holdX+hx, b.holdY+hy
	rx, ry := px-s.x, py-s.y
	gap := sign*(s.cos*rx+s.sin*ry) - b.p.Brush.Width/2
	if gap > reach {
		return
	}
	i := set.Add(id, b.holder, gap)
	if i < 0 {
		return
	}
	c := contactRow{px: px, py: py, nx: sign * s.cos, ny: sign * s.sin, turn: s.omega}
	mx, my := -s.holdRate*hy, s.holdRate*hx
	c.vx, c.vy = mx-s.dx+s.omega*ry, my-s.dy-s.omega*rx
	// the end on its circle; the side of the brush turns under it
	c.ax = -s.holdRate*s.holdRate*hx + s.omega*(my-s.dy)
	c.ay = -s.holdRate*s.holdRate*hy - s.omega*(mx-s.dx)
	b.rows(set, i, &c, rx, ry, -1, colHolder, hx, hy, 1)
	b.completeContact(set, i, &c)
}

// underSpring is the round tip of the arm on the top face, or on one of its corners once it is beyond it. A is the tip.
func (b *Brush) underSpring(s *scene, reach float64, set *contact.Set) {
	sin, cos := sincos(s.arm)
	hx, hy := b.reach*cos, b.reach*sin // centre of the tip from the pivot
	cx, cy := b.pivotX+hx, b.pivotY+hy
	// tangent and normal of the top, and the centre along them from the middle of the top
	tx, ty := s.cos*b.topC-s.sin*b.topS, s.sin*b.topC+s.cos*b.topS
	ox, oy := cx-s.x+s.sin*b.halfHeight, cy-s.y-s.cos*b.halfHeight
	along, above := tx*ox+ty*oy, tx*oy-ty*ox
	if above-b.tip > reach {
		return
	}
	c := contactRow{nx: -ty, ny: tx, turn: s.omega}
	id := uint32(idSpring)
	gap := above - b.tip
	edge := b.p.Brush.Width / 2 / b.topC
	vx, vy := -s.armRate*hy, s.armRate*hx // of the centre
	if beyond := math.Abs(along) - edge; beyond > 0 {
		// corner and circle
		dist := math.Hypot(beyond, above)
		if gap = dist - b.tip; gap > reach || dist == 0 {
			return
		}
		a, n := math.Copysign(beyond, along)/dist, above/dist
		c.nx, c.ny = a*tx-n*ty, a*ty+n*tx
		id++
		kx, ky := cx-c.nx*dist-s.x, cy-c.ny*dist-s.y // corner from the centre of the brush
		rel := (vx-s.dx+s.omega*ky)*c.ny - (vy-s.dy-s.omega*kx)*c.nx
		c.turn = -rel / dist
	}
	i := set.Add(id, b.spring, gap)
	if i < 0 {
		return
	}
	// the point of the tip that touches moves with the centre and with n: ṗ = v − r_s·ṅ, ṅ = −Ω_n·t
	c.px, c.py = cx-b.tip*c.nx, cy-b.tip*c.ny
	mx, my := vx+b.tip*c.turn*c.ny, vy-b.tip*c.turn*c.nx
	rx, ry := c.px-s.x, c.py-s.y
	hx, hy = c.px-b.pivotX, c.py-b.pivotY
	c.vx, c.vy = -s.armRate*hy-s.dx+s.omega*ry, s.armRate*hx-s.dy-s.omega*rx
	c.ax = -s.armRate*my + s.omega*(my-s.dy)
	c.ay = s.armRate*mx - s.omega*(mx-s.dx)
	b.rows(set, i, &c, rx, ry, -1, colArm, hx, hy, 1)
	b.completeContact(set, i, &c)
}

// rows writes w_N and w_T of a contact between the main body, (rx, ry) from its centre, and a body that turns about a fixed
// pivot by coordinate col, (hx, hy) from it: each with the sign of its part in the velocity of A against B.
func (b *Brush) rows(set *contact.Set, i int, c *contactRow, rx, ry, main float64, col int, hx, hy, other float64) {
	wn, wt := set.RowN(i), set.RowT(i)
	wn[0], wn[1], wn[2] = main*c.nx, main*c.ny, main*(rx*c.ny-ry*c.nx)
	wt[0], wt[1], wt[2] = main*c.ny, -main*c.nx, -main*(rx*c.nx+ry*c.ny)
	wn[col] = other * (hx*c.ny - hy*c.nx)
	wt[col] = -other * (hx*c.nx + hy*c.ny)
}
