package contact

import (
	"cmp"
	"slices"
)

// hit is a spot of one pair of bodies: point, or disc about it, of the first body on the second one.
type hit struct {
	spot
	gapNow float64 // m, the radius of the disc taken off
	point  int32   // vertex of the first body
	pass   int32   // which pair, in which direction
	x, y   float64 // m, point or centre in the world
	wx, wy float64 // normal in the world
}

const (
	onChord  = 1e-12 // m, height over the line between two neighbours below which a point is in line with them
	carryGap = 1e-9  // m, gap below which two points of an edge carry what lies between them, and how much deeper that may be
	oneSpot  = 1e-9  // m, distance of the points of one contact that is found from both sides
)

// reduceEdges leaves out contacts of one body with one straight edge that others imply: the rigid body cannot come nearer between two
// points than the line between them, so points off the lower convex hull go; and forces on a straight edge are equivalent to
// two, so between the outermost closed points only open and deeper ones stay. It returns how many are left, in front.
func reduceEdges(h []hit, edges int32) int {
	if len(h) < 3 {
		return len(h)
	}
	slices.SortFunc(h, func(a, b hit) int {
		if c := cmp.Compare(a.feature, b.feature); c != 0 {
			return c
		}
		return cmp.Compare(a.s, b.s)
	})
	kept := 0
	for i := 0; i < len(h); {
		j := i + 1
		for j < len(h) && h[j].feature == h[i].feature {
			j++
		}
		if h[i].feature >= edges || j-i < 3 {
			kept += copy(h[kept:], h[i:j])
			i = j
			continue
		}
		// lower hull of (s, gap), built in place
		from := kept
		for ; i < j; i++ {
			c := h[i]
			for kept-from >= 2 && aboveChord(&h[kept-2], &h[kept-1], &c) {
				kept--
			}
			h[kept] = c
			kept++
		}
		kept = outermost(h, from, kept)
	}
	return kept
}

// aboveChord tells whether b is on or above the line from a to c.
func aboveChord(a, b, c *hit) bool {
	d := c.s - a.s
	if !(d > 0) {
		return b.gapNow >= min(a.gapNow, c.gapNow)
	}
	return b.gapNow >= chord(a, b, c)-onChord
}

// outermost drops the closed contacts of h[from:to] that lie between two other closed ones and hardly below the line between them. A
// point that is deeper has work to do: it was the first to arrive.
func outermost(h []hit, from, to int) int {
	first, last := -1, -1
	for i := from; i < to; i++ {
		if h[i].gapNow <= carryGap {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if last-first < 2 {
		return to
	}
	a, c := h[first], h[last]
	kept := from
	for i := from; i < to; i++ {
		if i > first && i < last && h[i].gapNow <= carryGap && h[i].gapNow >= chord(&a, &h[i], &c)-carryGap {
			continue
		}
		h[kept] = h[i]
		kept++
	}
	return kept
}

// chord is the height at b of the line from a to c.
func chord(a, b, c *hit) float64 {
	return a.gapNow + (c.gapNow-a.gapNow)*(b.s-a.s)/(c.s-a.s)
}

// dropTwins removes from h[mid:] what h[:mid] has already: the same spot with the opposite normal, seen from the other body. A hit is
// large: none is copied but those that move up.
func dropTwins(h []hit, mid int) int {
	kept := mid
	for i := mid; i < len(h); i++ {
		if !hasTwin(h[:mid], &h[i]) {
			h[kept] = h[i]
			kept++
		}
	}
	return kept
}

func hasTwin(h []hit, a *hit) bool {
	for i := range h {
		b := &h[i]
		dx, dy := a.x-b.x, a.y-b.y
		if dx*dx+dy*dy < oneSpot*oneSpot && a.wx*b.wx+a.wy*b.wy < -1+1e-9 {
			return true
		}
	}
	return false
}
