package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

const safePivot = 1e-3 // of pivots that are not necessary

// share of the unknowns that change sides, in turn: few make a problem that is not far from the one given.
var share = [...]float64{0.5, 0.2, 0.08}

// golden is the fractional part of (i+1)·0.618…: numbers between 0 and 1 that never come near each other.
func golden(i int) float64 {
	_, f := math.Modf(float64(i+1) * 0.6180339887498949)
	return f
}

// elsewhere starts Lemke's path at another complementary basis: unknowns chosen by golden exchange w_j for z_j, which makes
// an equivalent problem with the principal transform of M̃ [CPS09] 2.3, and the path of that one leads elsewhere. Matrices that
// are not copositive can need this.
func (s *Solver) elsewhere(try, limit int, z []float64) (Status, int) {
	n := s.n
	for i := range n {
		s.d[i] = 0
	}
	t := s.load()
	pivots := 0
	for j := range n {
		if golden(try*n+j) < share[try%len(share)] {
			pivots += t.exchange(j)
		}
	}
	return s.onward(t, pivots, pivots+limit, z)
}

// onward follows Lemke's path from the basis of t, of which one of each pair has to be in, with a covering vector of ones.
func (s *Solver) onward(t *tableau, pivots, limit int, z []float64) (Status, int) {
	n, least := s.n, 0.0
	for i := range n {
		row := t.row(i)
		row[n], s.d[i], t.ref[i] = -1, 1, t.basic[i]
		least = min(least, row[n+1])
	}
	if !numeric.Finite(least) {
		return Numeric, pivots
	}
	if least == 0 {
		if s.arrived(t, z) {
			return Solved, pivots
		}
		return Numeric, pivots
	}
	out := s.start(t)
	return s.follow(t, out, -1, pivots+1, limit, z)
}

// exchange lets the pair of j change sides, alone when its number on the diagonal allows it, otherwise together with the first
// pair for which the 2×2 block does. It returns the number of pivots made, 0 when there is no such block.
func (t *tableau) exchange(j int) int {
	n, st := t.n, t.n+2
	pair := func(k int) (row, col int) {
		if a := t.at[k]; a >= 0 {
			return a, ^t.at[n+k]
		}
		return t.at[n+k], ^t.at[k]
	}
	rj, cj := pair(j)
	if math.Abs(t.t[rj*st+cj]) > safePivot {
		t.pivot(rj, cj)
		return 1
	}
	for k := range n {
		if k == j {
			continue
		}
		rk, ck := pair(k)
		a, b := t.t[rj*st+ck], t.t[rk*st+cj]
		if math.Abs(a) > safePivot && math.Abs(b-t.t[rk*st+ck]*t.t[rj*st+cj]/a) > safePivot {
			t.pivot(rj, ck)
			t.pivot(rk, cj)
			return 2
		}
	}
	return 0
}
