package pose

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Unlabelled finds the pose from points in any order, at most MaxMarkers of them, some of which may be no markers. The triangles of the
// body are looked for among the points by their sides; of the assignments found, the one with the most markers is taken, then the
// one of least cost, in which the turn of the last frames counts. Swapped of the pose says nothing.
//
// The work grows with the third power of markers and of points: some 100 µs for five of each.
func (t *Tracker) Unlabelled(at float64, points []r3.Vec) Pose {
	t.counts.Frames++
	n, m := len(t.body.Offsets), min(len(points), MaxMarkers)
	p := Pose{T: at, R: t.lastTurn(), Verdict: TooFew}
	for _, w := range points[:m] {
		if !math.IsNaN(w.X + w.Y + w.Z) {
			p.Seen++
		}
	}
	t.counts.Missing += max(0, n-p.Seen)
	if p.Seen < 3 {
		t.counts.TooFew++
		return p
	}
	var best trial
	var bestH, h [MaxMarkers]int
	most := 0
	// 5σ of a distance between two markers
	near := 5 * math.Sqrt2 * t.body.Noise
	for i := range n {
		for j := i + 1; j < n; j++ {
			for k := j + 1; k < n; k++ {
				ij, ik, jk := t.side(i, j), t.side(i, k), t.side(j, k)
				for a := range m {
					for b := range m {
						if b == a || !(math.Abs(r3.Norm(r3.Sub(points[a], points[b]))-ij) < near) {
							continue
						}
						for c := range m {
							if c == a || c == b || !(math.Abs(r3.Norm(r3.Sub(points[a], points[c]))-ik) < near) || !(math.Abs(r3.Norm(r3.Sub(points[b], points[c]))-jk) < near) {
								continue
							}
							for l := range n {
								h[l] = -1
							}
							h[i], h[j], h[k] = a, b, c
							count := t.complete(at, points[:m], &h)
							if count < most {
								continue
							}
							if x := t.try(at, points, &h); x.ok && (count > most || x.cost < best.cost) {
								best, bestH, most = x, h, count
							}
						}
					}
				}
			}
		}
	}
	if !best.ok {
		p.Verdict = Misfit
		t.counts.Misfit++
		return p
	}
	p = t.accept(p, best, &bestH)
	p.Swapped = 0
	return p
}

func (t *Tracker) side(i, j int) float64 {
	return r3.Norm(r3.Sub(t.body.Offsets[i], t.body.Offsets[j]))
}

// complete adds to the three assignments in h those of the other markers, by the nearest point to where the pose of
// the three puts them, if none of them has taken it. It counts all.
func (t *Tracker) complete(at float64, points []r3.Vec, h *[MaxMarkers]int) (count int) {
	var taken [MaxMarkers]bool
	for i := range t.body.Offsets {
		if h[i] >= 0 {
			taken[h[i]] = true
		}
	}
	count = 3
	c := t.try(at, points, h)
	if !c.ok {
		return 0
	}
	for i, b := range t.body.Offsets {
		if h[i] >= 0 {
			continue
		}
		w := r3.Add(c.fit.P, rotation.Rotate(c.fit.R, b))
		// the noise of the triangle swings the far end of the body
		reach := 5 * t.body.Noise * (2 + r3.Norm(r3.Sub(w, c.fit.Centre))/c.fit.Spread)
		nearest := reach * reach
		for k, p := range points {
			if d := r3.Norm2(r3.Sub(p, w)); !taken[k] && d < nearest {
				nearest, h[i] = d, k
			}
		}
		if h[i] >= 0 {
			taken[h[i]] = true
			count++
		}
	}
	return count
}
