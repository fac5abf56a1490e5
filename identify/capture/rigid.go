package capture

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/numeric"
)

// Group is a set of markers that move as one body: the distances between all of them stay.
type Group struct {
	Markers []int   // places in Capture.Markers, at least three
	Size    float64 // m, the largest distance between two of them
	Scatter float64 // m, the largest spread (5 to 95 %) of a distance
	Travel  float64 // m, the largest way across that one of them covers; 0: at rest
}

// A distance stays when its spread is below rigidShare of it, or below rigidLeast: markers stick out of a body by their stems and are
// found to some 0.1 mm, and what is alive bends by more. In a field that is small, as when its unit is wrong, rigidField of it counts.
const (
	rigidShare = 0.02
	rigidLeast = 0.5e-3 // m
	rigidField = 5e-3
)

// The noise of a body is that of its stiffest pair, or not much more: what is far away keeps its distance from a small body that moves by
// rigidShare, and is not of it.
const likeFirst = 4

// groupSamples is how many distances are looked at in all, groupFrames for a pair at most.
const (
	groupSamples = 4_000_000
	groupFrames  = 500
	groupLeast   = 10 // frames in which both are seen
)

// Groups finds the markers that move as one body, the largest group first. Each marker is in one group at most. Everything that rests
// is one group, too.
func Groups(c *Capture) []Group {
	lo, hi, _ := Extent(c.Markers)
	least := min(rigidLeast, rigidField*r3.Norm(r3.Sub(hi, lo)))
	pairs := rigidPairs(c, least)
	byPlace := map[[2]int]*rigidPair{}
	for i := range pairs {
		byPlace[pairs[i].markers] = &pairs[i]
	}
	pair := func(i, j int) *rigidPair { return byPlace[[2]int{min(i, j), max(i, j)}] }
	taken := make([]bool, len(c.Markers))
	var out []Group
	for _, first := range pairs {
		if taken[first.markers[0]] || taken[first.markers[1]] {
			continue
		}
		g := Group{Markers: []int{first.markers[0], first.markers[1]}, Size: first.length, Scatter: first.spread}
		most := likeFirst*first.spread + least
		for k := range c.Markers {
			if taken[k] || slices.Contains(g.Markers, k) || slices.ContainsFunc(g.Markers,
				func(m int) bool { p := pair(m, k); return p == nil || p.spread > most }) {
				continue
			}
			for _, m := range g.Markers {
				p := pair(m, k)
				g.Size, g.Scatter = max(g.Size, p.length), max(g.Scatter, p.spread)
			}
			g.Markers = append(g.Markers, k)
		}
		if len(g.Markers) < 3 {
			continue
		}
		slices.Sort(g.Markers)
		for _, k := range g.Markers {
			taken[k] = true
			lo, hi, _ := Extent(c.Markers[k : k+1])
			if way := r3.Norm(r3.Sub(hi, lo)); way > 4*max(least, rigidShare*g.Size) {
				g.Travel = max(g.Travel, way)
			}
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b Group) int { return cmp.Compare(len(b.Markers), len(a.Markers)) })
	return out
}

// rigidPair is a distance that stays.
type rigidPair struct {
	markers        [2]int
	length, spread float64 // m
}

// rigidPairs are the pairs of markers whose distance stays, those with the smallest spread first.
func rigidPairs(c *Capture, least float64) (out []rigidPair) {
	n := len(c.Markers)
	if n < 3 {
		return nil
	}
	frames := min(max(groupSamples/(n*(n-1)/2), 2*groupLeast), groupFrames)
	step := max(len(c.Time)/frames, 1)
	d := make([]float64, 0, len(c.Time)/step+1)
	for i := range n {
		for j := i + 1; j < n; j++ {
			a, b := &c.Markers[i], &c.Markers[j]
			d = d[:0]
			for k := 0; k < len(c.Time); k += step {
				if a.Visible[k] && b.Visible[k] {
					d = append(d, r3.Norm(r3.Sub(a.Path[k], b.Path[k])))
				}
			}
			if len(d) < groupLeast {
				continue
			}
			p := rigidPair{markers: [2]int{i, j}}
			low, middle := numeric.QuantileInPlace(d, 0.05), numeric.QuantileInPlace(d, 0.5)
			p.length, p.spread = middle, numeric.QuantileInPlace(d, 0.95)-low
			if p.spread <= max(least, rigidShare*p.length) && p.length > 0 {
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b rigidPair) int { return cmp.Compare(a.spread, b.spread) })
	return out
}

// Extent is the box that markers were seen in, m; ok: any was.
func Extent(markers []Marker) (lo, hi r3.Vec, ok bool) {
	lo = r3.Vec{X: math.Inf(1), Y: math.Inf(1), Z: math.Inf(1)}
	hi = r3.Scale(-1, lo)
	for i := range markers {
		for k, p := range markers[i].Path {
			if markers[i].Visible[k] {
				lo, hi, ok = r3.Vec{X: min(lo.X, p.X), Y: min(lo.Y, p.Y), Z: min(lo.Z, p.Z)},
					r3.Vec{X: max(hi.X, p.X), Y: max(hi.Y, p.Y), Z: max(hi.Z, p.Z)}, true
			}
		}
	}
	if !ok {
		return r3.Vec{}, r3.Vec{}, false
	}
	return lo, hi, true
}
