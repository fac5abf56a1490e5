package contact

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// scenePass looks for the points of body a, or its disc, over body b.
type scenePass struct {
	a, b        int
	law         Law
	base        uint32  // of the ids
	radius      float64 // m, of the disc, 0 for vertices
	second      bool    // the other direction of a pair: places around vertices were seen in the first
	hints       []int32 // edge of b that point k of a was over
	reachRadius float64 // m, from the origin of b to where the points of a may touch it
	room        float64 // m, that a may move within a step without being lost behind the surface of b
	fewEdges    bool    // both are discs or solids of few edges, which an axis may part

	overrunBefore float64 // overrun at the look before, and where it is not 0
	depthBefore   float64 // m, how deep the bodies were in their contacts then

	// A point that is away from b needs no look before the bodies have moved that far: travel (m) is a bound of the way of any point of a in
	// the frame of b so far, and point k cannot be nearer than travelLimits[k] − travel.
	size          float64 // m, of the points of a about its origin
	lastPlacement placement
	travel        float64
	travelLimits  []float64
}

// advance adds the way from the last placement to r.
func (p *scenePass) advance(r placement) {
	l := &p.lastPlacement
	p.travel += math.Hypot(r.dx-l.dx, r.dy-l.dy) + p.size*math.Hypot(r.sin-l.sin, r.cos-l.cos)
	*l = r
	if !(p.travel < 1e3) { // digits run out, or the state was not finite
		p.travel = 0
		clear(p.travelLimits)
	}
}

// perPoint is the number of ids of one point over one body.
const perPoint = maxChains * ranks

// pair makes the passes: discs look at outlines, and two outlines look at each other.
func (s *Scene) pair(index map[string]int) error {
	next := uint64(0)
	thick := map[*Outline]float64{}
	add := func(a, b int, law Law, second bool) {
		shape := &s.spec.Bodies[a].Shape
		p := scenePass{a: a, b: b, law: law, base: uint32(next), radius: shape.Radius, second: second}
		points, other := 1, &s.spec.Bodies[b].Shape
		if shape.Outline != nil {
			points = shape.Outline.edges + 1
		}
		p.size, p.reachRadius = shape.reach(), other.reach()+other.Radius+shape.Radius
		switch {
		case other.HalfPlane:
			p.room = math.Inf(1)
		case other.Outline != nil:
			if _, known := thick[other.Outline]; !known {
				thick[other.Outline] = other.Outline.thickness()
			}
			p.room = shape.Radius + thick[other.Outline]/2
		default:
			p.room = shape.Radius + other.Radius
		}
		p.fewEdges = shape.fewEdges() && other.fewEdges()
		p.travelLimits, p.hints = make([]float64, points), slices.Repeat([]int32{-1}, points)
		s.passes = append(s.passes, p)
		next += uint64(points) * perPoint
	}
	for _, p := range s.spec.Pairs {
		a, b := index[p.A], index[p.B]
		if rank := s.spec.Bodies[a].Shape.rank(); rank > s.spec.Bodies[b].Shape.rank() {
			a, b = b, a
		}
		add(a, b, p.Law, false)
		if s.spec.Bodies[a].Shape.Outline != nil && s.spec.Bodies[b].Shape.Outline != nil {
			add(b, a, p.Law, true)
		}
	}
	if next > math.MaxUint32 {
		return fmt.Errorf("pairs: outlines have too many vertices for 32-bit contact ids")
	}
	return nil
}

// rank orders shapes: the lower one brings the points.
func (s *Shape) rank() int {
	switch {
	case s.HalfPlane:
		return 2
	case s.Outline != nil:
		return 1
	}
	return 0
}

// Contacts lists the pairs whose gap is below reach. Where there are more than set holds, the ones with the largest gaps are dropped.
func (s *Scene) Contacts(t float64, q, u []float64, reach float64, set *Set) {
	set.Clear()
	s.collect(t, q, u, reach)
	if room := len(set.ID); len(s.hits) > room && !set.grows {
		set.Dropped += len(s.hits) - room
		s.nearest(room)
	}
	set.Dropped += s.list.dropped
	for i := range s.hits {
		s.fill(&s.hits[i], set)
	}
}

// nearest keeps the room contacts with the smallest gaps, in the order they are in; of equal ones the first.
func (s *Scene) nearest(room int) {
	s.order = s.order[:0] // by rising gap
	for i := range s.hits {
		k := sort.Search(len(s.order), func(k int) bool { return s.hits[s.order[k]].gapNow > s.hits[i].gapNow })
		if k < room {
			s.order = slices.Insert(s.order[:min(len(s.order), room-1)], k, i)
		}
	}
	slices.Sort(s.order)
	for k, i := range s.order {
		s.hits[k] = s.hits[i]
	}
	s.hits = s.hits[:room]
}

// collect finds the contacts of all pairs.
func (s *Scene) collect(t float64, q, u []float64, reach float64) {
	s.move(t, q, u)
	s.hits, s.list.dropped = s.hits[:0], 0
	first := 0 // of the pair
	for i := range s.passes {
		p := &s.passes[i]
		begin := len(s.hits)
		if !p.second {
			first = begin
		}
		s.findPass(int32(i), reach)
		switch b := &s.spec.Bodies[p.b].Shape; {
		case b.Outline != nil:
			s.hits = s.hits[:begin+reduceEdges(s.hits[begin:], int32(b.Outline.edges))]
		case b.HalfPlane:
			s.hits = s.hits[:begin+reduceEdges(s.hits[begin:], 1)]
		}
		if p.second {
			s.hits = s.hits[:first+dropTwins(s.hits[first:], begin-first)]
		}
	}
}

// findPass finds the contacts of one pass.
func (s *Scene) findPass(pass int32, reach float64) {
	p := &s.passes[pass]
	a, b := &s.spec.Bodies[p.a].Shape, &s.spec.Bodies[p.b].Shape
	r := s.relative(p.a, p.b)
	if a.Outline != nil {
		p.advance(r)
		s.lookVertices(pass, r, len(a.Outline.tree.level)-1, 0, reach)
		return
	}
	x, y := r.dx, r.dy
	switch {
	case b.HalfPlane:
		s.addPlace(pass, 0, &spot{gap: y, ny: 1, s: x}, x, y, reach)
	case b.Outline != nil:
		b.Outline.placesOfDisc(x, y, p.radius+reach, &p.hints[0], &s.list)
		for i := range s.list.n {
			s.addPlace(pass, 0, &s.list.spots[i], x, y, reach)
		}
	default:
		d := math.Hypot(x, y)
		h := spot{gap: d - b.Radius, nx: 1}
		if d > 0 {
			h.nx, h.ny, h.bend = x/d, y/d, 1/d
		}
		s.addPlace(pass, 0, &h, x, y, reach)
	}
}

// lookVertices takes the vertices below a node of the tree of body a that can touch: convex ones. Those of a straight line say nothing that
// its ends do not.
func (s *Scene) lookVertices(pass int32, r placement, level, node int, reach float64) {
	p := &s.passes[pass]
	a, b := s.spec.Bodies[p.a].Shape.Outline, s.spec.Bodies[p.b].Shape.Outline
	around := a.tree.level[level][node].enclosure(r, reach)
	if b != nil && !around.meets(b.tree.root()) || b == nil && around.y0 > 0 {
		return
	}
	if level > 0 {
		for i := node * fan; i < min((node+1)*fan, len(a.tree.level[level-1])); i++ {
			s.lookVertices(pass, r, level-1, i, reach)
		}
		return
	}
	far := p.travel + reach + sameVertex
	for k := node * leafEdges; k < min((node+1)*leafEdges, a.edges); k++ {
		if a.corner[k] != convex || p.travelLimits[k] > far {
			continue
		}
		x, y := r.point(a.x[k], a.y[k])
		if b == nil {
			s.addPlace(pass, int32(k), &spot{gap: y, ny: 1, s: x}, x, y, reach)
			continue
		}
		s.lookVertex(pass, k, r, x, y, reach)
	}
}

// lookVertex takes the places over an outline of vertex k of body a, which is convex, may be near and stands at x, y.
func (s *Scene) lookVertex(pass int32, k int, r placement, x, y, reach float64) {
	p := &s.passes[pass]
	a, b := s.spec.Bodies[p.a].Shape.Outline, s.spec.Bodies[p.b].Shape.Outline
	var out [3]spot
	n, away := b.places(x, y, reach, &p.hints[k], &out)
	p.travelLimits[k] = 0
	if n == 0 {
		p.travelLimits[k] = p.travel + away
	}
	if away <= 2*sameVertex || n > 0 && out[0].gap < 0 {
		if v := s.coincidentVertex(p, k, x, y, away); v >= 0 {
			h := b.overVertex(v, x, y)
			if !p.second && meanOfCorners(a, b, k, &h, r, s.approach(p, x, y)) {
				s.addPlace(pass, int32(k), &h, x, y, reach)
			}
			return
		}
	}
	for i := range n {
		h := &out[i]
		if int(h.feature) >= b.edges {
			if p.second || !cornerOnCorner(a, k, h, r) {
				continue
			}
		} else if !r.bears(a, k, h.nx, h.ny) && !otherSide(a, b, k, h, r, x, y) {
			continue
		}
		s.addPlace(pass, int32(k), h, x, y, reach)
	}
}

// coincidentVertex is the convex vertex of body b at which vertex k of body a stands, or through which it came to its depth, x and y in the
// frame of b, or −1. Both passes of a pair get the same answer to the last bit: otherwise one of them drops a contact that the other does
// not replace, or keeps one beside it.
func (s *Scene) coincidentVertex(p *scenePass, k int, x, y, depth float64) int {
	a, b := s.spec.Bodies[p.a].Shape.Outline, s.spec.Bodies[p.b].Shape.Outline
	e := int(p.hints[k])
	if e < 0 { // not a number
		return -1
	}
	far := 2*sameVertex + depth/sharpest
	for _, v := range [2]int{e, b.edgeAfter(e)} {
		if b.corner[v] != convex || math.Abs(x-b.x[v]) > far || math.Abs(y-b.y[v]) > far {
			continue
		}
		bodyA, bodyB := &s.body[p.a], &s.body[p.b]
		ax, ay := bodyA.world(a.x[k], a.y[k])
		bx, by := bodyB.world(b.x[v], b.y[v])
		dx, dy := ax-bx, ay-by
		if math.Hypot(dx, dy) <= sameVertex {
			return v
		}
		vx := bodyA.v[0] - bodyA.v[2]*(ay-bodyA.p[1]) - (bodyB.v[0] - bodyB.v[2]*(by-bodyB.p[1]))
		vy := bodyA.v[1] + bodyA.v[2]*(ax-bodyA.p[0]) - (bodyB.v[1] + bodyB.v[2]*(bx-bodyB.p[0]))
		speed := math.Hypot(vx, vy)
		if dx*vx+dy*vy > 0 && math.Abs(dx*vy-dy*vx) <= sameVertex*speed && bodyA.pointed(a, k, vx, vy) && bodyB.pointed(b, v, -vx, -vy) {
			return v
		}
	}
	return -1
}

// pointed tells whether vertex k of a body, which moves along (vx, vy), leads both its edges: neither lies along the way.
func (b *sceneBody) pointed(o *Outline, k int, vx, vy float64) bool {
	x, y := b.cos*vx+b.sin*vy, b.cos*vy-b.sin*vx
	least := sharpest * math.Hypot(x, y)
	for _, e := range [2]int{o.edgeBefore(k), k} {
		if o.ty[e]*x-o.tx[e]*y < least {
			return false
		}
	}
	return true
}

// approach is the velocity of the point x, y of body a in the frame of b.
func (s *Scene) approach(p *scenePass, x, y float64) [2]float64 {
	a, b := &s.body[p.a], &s.body[p.b]
	wx, wy := b.world(x, y)
	vx := a.v[0] - a.v[2]*(wy-a.p[1]) - b.v[0] + b.v[2]*(wy-b.p[1])
	vy := a.v[1] + a.v[2]*(wx-a.p[0]) - b.v[1] - b.v[2]*(wx-b.p[0])
	return [2]float64{b.cos*vx + b.sin*vy, b.cos*vy - b.sin*vx}
}

// addPlace keeps a place when it is within reach.
func (s *Scene) addPlace(pass, point int32, h *spot, x, y, reach float64) {
	p := &s.passes[pass]
	gap := h.gap - p.radius
	if !(gap <= reach) {
		return
	}
	b := &s.body[p.b]
	n := hit{spot: *h, gapNow: gap, point: point, pass: pass}
	n.x, n.y = b.world(x, y)
	n.wx, n.wy = b.cos*h.nx-b.sin*h.ny, b.sin*h.nx+b.cos*h.ny
	s.hits = append(s.hits, n)
}

// fill writes the rows of a contact; the equations are those of Scene.
func (s *Scene) fill(h *hit, set *Set) {
	p := &s.passes[h.pass]
	i := set.Add(p.base+uint32(h.point)*perPoint+uint32(h.chain)*ranks+uint32(h.rank), p.law, h.gapNow)
	if i < 0 {
		return
	}
	set.Feature[i] = h.feature
	nx, ny := h.wx, h.wy
	tx, ty := ny, -nx
	set.X[i], set.Y[i] = h.x-p.radius*nx, h.y-p.radius*ny

	a, b := &s.body[p.a], &s.body[p.b]
	ax, ay, bx, by := h.x-a.p[0], h.y-a.p[1], h.x-b.p[0], h.y-b.p[1]
	// derivatives of ġ_N and ġ_T by the velocities of both bodies
	rows := [2][2][3]float64{
		{{nx, ny, ax*ny - ay*nx}, {tx, ty, ax*ty - ay*tx + p.radius}},
		{{-nx, -ny, by*nx - bx*ny}, {-tx, -ty, by*tx - bx*ty - h.gap}},
	}
	wn, wt := set.RowN(i), set.RowT(i)
	for side, end := range [2]int{p.a, p.b} {
		m := &s.body[end]
		for j, k := range s.index[end] {
			n, t := rows[side][0][j], rows[side][1][j]
			if k >= 0 {
				wn[k] += n
				wt[k] += t
				continue
			}
			set.VN[i] += n * m.v[j]
			set.VT[i] += t * m.v[j]
			set.AN[i] += n * m.a[j]
			set.AT[i] += t * m.a[j]
		}
	}
	// velocity of the point in the frame of b, and its acceleration without those of the coordinates
	wa, wb := a.v[2], b.v[2]
	vx := a.v[0] - wa*ay - b.v[0] + wb*by
	vy := a.v[1] + wa*ax - b.v[1] - wb*bx
	gx := -wa*wa*ax + wb*wb*bx + 2*wb*vy
	gy := -wa*wa*ay + wb*wb*by - 2*wb*vx
	vn, vt := nx*vx+ny*vy, tx*vx+ty*vy
	set.AN[i] += nx*gx + ny*gy + h.bend*vt*vt
	set.AT[i] += tx*gx + ty*gy - h.bend*vt*vn - wb*vn
}
