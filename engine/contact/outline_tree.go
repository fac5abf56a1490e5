package contact

import "math"

// box is a rectangle along the axes.
type box struct{ x0, y0, x1, y1 float64 }

func (b *box) add(x, y float64) {
	b.x0, b.x1, b.y0, b.y1 = min(b.x0, x), max(b.x1, x), min(b.y0, y), max(b.y1, y)
}

// distance2 is the squared distance of a point from the box, 0 inside.
func (b *box) distance2(x, y float64) float64 {
	dx, dy := max(b.x0-x, x-b.x1, 0), max(b.y0-y, y-b.y1, 0)
	return dx*dx + dy*dy
}

func (b *box) meets(c *box) bool { return b.x0 <= c.x1 && c.x0 <= b.x1 && b.y0 <= c.y1 && c.y0 <= b.y1 }

// enclosure encloses the box in the frame of another body, widened by reach on all sides.
func (b *box) enclosure(r placement, reach float64) box {
	hx, hy := (b.x1-b.x0)/2, (b.y1-b.y0)/2
	x, y := r.point((b.x0+b.x1)/2, (b.y0+b.y1)/2)
	s, c := math.Abs(r.sin), math.Abs(r.cos)
	wx, wy := c*hx+s*hy+reach, s*hx+c*hy+reach
	return box{x - wx, y - wy, x + wx, y + wy}
}

const (
	leafEdges = 8 // edges in a box of the lowest level
	fan       = 4 // boxes in a box above
)

// boxTree is a hierarchy of boxes over consecutive edges. Neighbours on the line are neighbours in the tree, so it needs no pointers:
// node i of a level holds nodes fan·i … of the level below, and leaf i holds edges leafEdges·i … .
type boxTree struct {
	level [][]box // level[0] are the leaves, the last level is one box
}

func (t *boxTree) build(o *Outline) {
	leaves := make([]box, (o.edges+leafEdges-1)/leafEdges)
	for i := range leaves {
		b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		for k := i * leafEdges; k <= min((i+1)*leafEdges, o.edges); k++ {
			b.add(o.x[k], o.y[k])
		}
		leaves[i] = b
	}
	t.level = [][]box{leaves}
	for len(leaves) > 1 {
		up := make([]box, (len(leaves)+fan-1)/fan)
		for i := range up {
			b := leaves[i*fan]
			for _, c := range leaves[i*fan+1 : min((i+1)*fan, len(leaves))] {
				b.add(c.x0, c.y0)
				b.add(c.x1, c.y1)
			}
			up[i] = b
		}
		t.level = append(t.level, up)
		leaves = up
	}
}

func (t *boxTree) root() *box { return &t.level[len(t.level)-1][0] }

// edges goes through the edges of every leaf whose boxes are all near, in order, until visit returns true, and tells whether it did.
func (t *boxTree) edges(o *Outline, near func(*box) bool, visit func(edge int) bool) bool {
	return t.edgesBelow(o, len(t.level)-1, 0, near, visit)
}

func (t *boxTree) edgesBelow(o *Outline, level, node int, near func(*box) bool, visit func(edge int) bool) bool {
	if !near(&t.level[level][node]) {
		return false
	}
	if level == 0 {
		for e := node * leafEdges; e < min((node+1)*leafEdges, o.edges); e++ {
			if visit(e) {
				return true
			}
		}
		return false
	}
	for i := node * fan; i < min((node+1)*fan, len(t.level[level-1])); i++ {
		if t.edgesBelow(o, level-1, i, near, visit) {
			return true
		}
	}
	return false
}

// foot is the point of an outline nearest to a given one.
type foot struct {
	edge int     // −1: nothing nearer than the bound
	s    float64 // place on the edge, 0 … 1; 0 and 1 are the vertices
	d2   float64 // m², squared distance
}

// footOn is the nearest point of edge e.
func (o *Outline) footOn(e int, x, y float64) foot {
	dx, dy := x-o.x[e], y-o.y[e]
	along := dx*o.tx[e] + dy*o.ty[e]
	switch {
	case along <= 0:
		return foot{e, 0, dx*dx + dy*dy}
	case along >= o.length[e]:
		dx, dy = x-o.x[e+1], y-o.y[e+1]
		return foot{e, 1, dx*dx + dy*dy}
	}
	off := dx*o.ty[e] - dy*o.tx[e]
	return foot{e, along / o.length[e], off * off}
}

// nearest finds the nearest point of the outline whose distance is below bound. hint is an edge that may be near, or −1: it makes the
// search short and changes nothing else, since equal distances go to the edge with the smaller number.
func (o *Outline) nearest(x, y, bound float64, hint int32) foot {
	best := foot{edge: -1, d2: bound * bound}
	if uint(hint) < uint(o.edges) {
		if f := o.footOn(int(hint), x, y); f.d2 < best.d2 {
			best = f
		}
	}
	o.search(len(o.tree.level)-1, 0, x, y, &best)
	return best
}

func (o *Outline) search(level, node int, x, y float64, best *foot) {
	if level == 0 {
		for e := node * leafEdges; e < min((node+1)*leafEdges, o.edges); e++ {
			if f := o.footOn(e, x, y); f.d2 < best.d2 || f.d2 == best.d2 && e < best.edge {
				*best = f
			}
		}
		return
	}
	below := o.tree.level[level-1]
	first := node * fan
	last := min(first+fan, len(below))
	var d [fan]float64
	for i := first; i < last; i++ {
		d[i-first] = below[i].distance2(x, y)
	}
	// nearest box first
	for range last - first {
		k := 0
		for i := 1; i < last-first; i++ {
			if d[i] < d[k] {
				k = i
			}
		}
		if !(d[k] <= best.d2) {
			return
		}
		d[k] = math.Inf(1)
		o.search(level-1, first+k, x, y, best)
	}
}
