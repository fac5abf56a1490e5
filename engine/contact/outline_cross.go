package contact

import "fmt"

// crossesItself looks for two edges with a point in common that are not neighbours, by descending the tree against itself.
func (o *Outline) crossesItself() error {
	a, b := o.pairWithin(o.tree.top(), 0)
	if a < 0 {
		return nil
	}
	return fmt.Errorf("outline: edge %d from (%g, %g) to (%g, %g) m meets edge %d from (%g, %g) to (%g, %g) m",
		a, o.x[a], o.y[a], o.x[a+1], o.y[a+1], b, o.x[b], o.y[b], o.x[b+1], o.y[b+1])
}

// pairWithin finds two crossing edges below one node; −1, −1 when there are none.
func (o *Outline) pairWithin(level, node int) (int, int) {
	if level == 0 {
		last := min((node+1)*leafEdges, o.edges)
		for i := node * leafEdges; i < last; i++ {
			for j := i + 1; j < last; j++ {
				if o.edgesMeet(i, j) {
					return i, j
				}
			}
		}
		return -1, -1
	}
	first, last := node*fan, min((node+1)*fan, len(o.tree.level[level-1]))
	for i := first; i < last; i++ {
		if a, b := o.pairWithin(level-1, i); a >= 0 {
			return a, b
		}
		for j := i + 1; j < last; j++ {
			if a, b := o.pairBetween(level-1, i, j); a >= 0 {
				return a, b
			}
		}
	}
	return -1, -1
}

// pairBetween finds an edge below node i that meets an edge below node j of the same level.
func (o *Outline) pairBetween(level, i, j int) (int, int) {
	boxes := o.tree.level[level]
	if !boxes[i].meets(&boxes[j]) {
		return -1, -1
	}
	if level == 0 {
		for a := i * leafEdges; a < min((i+1)*leafEdges, o.edges); a++ {
			for b := j * leafEdges; b < min((j+1)*leafEdges, o.edges); b++ {
				if o.edgesMeet(a, b) {
					return a, b
				}
			}
		}
		return -1, -1
	}
	below := len(o.tree.level[level-1])
	for a := i * fan; a < min((i+1)*fan, below); a++ {
		for b := j * fan; b < min((j+1)*fan, below); b++ {
			if p, q := o.pairBetween(level-1, a, b); p >= 0 {
				return p, q
			}
		}
	}
	return -1, -1
}

// edgesMeet is false for neighbours, which share a vertex and cannot share more: spikes are refused elsewhere.
func (o *Outline) edgesMeet(i, j int) bool {
	if o.edgeAfter(i) == j || o.edgeAfter(j) == i {
		return false
	}
	return segmentsMeet(o.x[i], o.y[i], o.x[i+1], o.y[i+1], o.x[j], o.y[j], o.x[j+1], o.y[j+1])
}

// segmentsMeet tells whether segments ab and cd have a point in common, their ends included.
func segmentsMeet(ax, ay, bx, by, cx, cy, dx, dy float64) bool {
	side := func(px, py, qx, qy, rx, ry float64) float64 { return (qx-px)*(ry-py) - (qy-py)*(rx-px) }
	d1, d2 := side(ax, ay, bx, by, cx, cy), side(ax, ay, bx, by, dx, dy)
	d3, d4 := side(cx, cy, dx, dy, ax, ay), side(cx, cy, dx, dy, bx, by)
	if d1 != 0 && d2 != 0 && d3 != 0 && d4 != 0 {
		return (d1 > 0) != (d2 > 0) && (d3 > 0) != (d4 > 0)
	}
	on := func(px, py, qx, qy, rx, ry float64) bool {
		return min(px, qx) <= rx && rx <= max(px, qx) && min(py, qy) <= ry && ry <= max(py, qy)
	}
	return (d1 > 0) != (d2 > 0) && d1 != 0 && d2 != 0 && (d3 > 0) != (d4 > 0) && d3 != 0 && d4 != 0 ||
		d1 == 0 && on(ax, ay, bx, by, cx, cy) || d2 == 0 && on(ax, ay, bx, by, dx, dy) ||
		d3 == 0 && on(cx, cy, dx, dy, ax, ay) || d4 == 0 && on(cx, cy, dx, dy, bx, by)
}

// overlaps finds an edge of o that crosses an edge of b, which is turned by (sin, cos) and shifted by (dx, dy) to get into the frame of o.
// Touching counts as crossing only when the lines pass through each other; it is used before a start, not in a run.
func (o *Outline) overlaps(b *Outline, sin, cos, dx, dy float64) (i, j int) {
	for j := range b.edges {
		ax, ay := cos*b.x[j]-sin*b.y[j]+dx, sin*b.x[j]+cos*b.y[j]+dy
		bx, by := cos*b.x[j+1]-sin*b.y[j+1]+dx, sin*b.x[j+1]+cos*b.y[j+1]+dy
		r := box{min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)}
		if i := o.crossedBy(o.tree.top(), 0, &r, ax, ay, bx, by); i >= 0 {
			return i, j
		}
	}
	return -1, -1
}

// crossedBy finds an edge that the segment ab passes through by more than a billionth of its length.
func (o *Outline) crossedBy(level, node int, r *box, ax, ay, bx, by float64) int {
	if !o.tree.level[level][node].meets(r) {
		return -1
	}
	if level > 0 {
		for i := node * fan; i < min((node+1)*fan, len(o.tree.level[level-1])); i++ {
			if e := o.crossedBy(level-1, i, r, ax, ay, bx, by); e >= 0 {
				return e
			}
		}
		return -1
	}
	const tol = 1e-9 // m
	for e := node * leafEdges; e < min((node+1)*leafEdges, o.edges); e++ {
		a := (ax-o.x[e])*o.ty[e] - (ay-o.y[e])*o.tx[e]
		b := (bx-o.x[e])*o.ty[e] - (by-o.y[e])*o.tx[e]
		if min(a, b) > -tol || max(a, b) < tol {
			continue
		}
		s := a / (a - b)
		along := (ax+s*(bx-ax)-o.x[e])*o.tx[e] + (ay+s*(by-ay)-o.y[e])*o.ty[e]
		if along > tol && along < o.length[e]-tol {
			return e
		}
	}
	return -1
}
