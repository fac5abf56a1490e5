package contact

import "fmt"

// crossesItself looks for two edges with a point in common that are not neighbours.
func (o *Outline) crossesItself() (err error) {
	for b := range o.edges {
		around := box{min(o.x[b], o.x[b+1]), min(o.y[b], o.y[b+1]), max(o.x[b], o.x[b+1]), max(o.y[b], o.y[b+1])}
		if o.tree.edges(o, around.meets, func(a int) bool {
			if a >= b || !o.edgesMeet(a, b) {
				return a >= b
			}
			err = fmt.Errorf("outline: edge %d from (%g, %g) to (%g, %g) m meets edge %d from (%g, %g) to (%g, %g) m",
				a, o.x[a], o.y[a], o.x[a+1], o.y[a+1], b, o.x[b], o.y[b], o.x[b+1], o.y[b+1])
			return true
		}); err != nil {
			return err
		}
	}
	return nil
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

// overlaps finds an edge of o that an edge of b passes through by more than a billionth of a metre, after that is turned by (sin, cos) and
// shifted by (dx, dy) to get into the frame of o. Lines that touch do not overlap; it is used before a start, not in a run.
func (o *Outline) overlaps(b *Outline, r placement) (i, j int) {
	const tol = 1e-9 // m
	i = -1
	for j := range b.edges {
		ax, ay := r.point(b.x[j], b.y[j])
		bx, by := r.point(b.x[j+1], b.y[j+1])
		around := box{min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)}
		if o.tree.edges(o, around.meets, func(e int) bool {
			a := (ax-o.x[e])*o.ty[e] - (ay-o.y[e])*o.tx[e]
			b := (bx-o.x[e])*o.ty[e] - (by-o.y[e])*o.tx[e]
			if min(a, b) > -tol || max(a, b) < tol {
				return false
			}
			s := a / (a - b)
			along := o.edgeCoordinate(e, ax+s*(bx-ax), ay+s*(by-ay))
			i = e
			return along > tol && along < o.length[e]-tol
		}) {
			return i, j
		}
	}
	return -1, -1
}
