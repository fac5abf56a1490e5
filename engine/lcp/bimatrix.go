package lcp

import "math"

// lemkeHowson solves bimatrix games [LH64], [CPS09] 1.2 and 4.4:
//
//	M = | 0  A |   rows and columns in any order, q < 0 somewhere
//	    | B  0 |
//
// for which Lemke's covering vector leads to a ray at once. Instead of z0 the pair (z_k, w_k) of one strategy k gives up
// complementarity: z_k enters so large that all rows it plays against hold, then the partner of the row that binds enters likewise
// on the other side, and the path goes on from there until z_k or w_k leaves. RayUnknown also means: not such a matrix.
func (s *Solver) lemkeHowson(limit int, z []float64) (Status, int) {
	n := s.n
	if !s.bipartite() {
		return RayUnknown, 0
	}
	st, pivots := RayUnknown, 0
	for k := range n {
		t := s.load()
		side := s.colour[k]
		r := s.cover(n+k, 1-side)
		if r < 0 {
			continue
		}
		t.pivot(r, n+k)
		p := s.cover(n+r, side)
		if p < 0 {
			continue
		}
		t.pivot(p, n+r)
		pivots += 2
		if p == k {
			if s.arrived(z) {
				return Solved, pivots
			}
			continue
		}
		st, pivots = s.follow(p, k, pivots, limit, z)
		if st == Solved || st == PivotLimit || st == RayInfeasible {
			break
		}
	}
	return st, pivots
}

// bipartite colours the unknowns 0 and 1 (s.colour) such that M has numbers between different colours only; false if that
// cannot be.
func (s *Solver) bipartite() bool {
	n, colour, stack := s.n, s.colour[:s.n], s.set[:0]
	for i := range colour {
		colour[i] = -1
	}
	for first := range n {
		if colour[first] >= 0 {
			continue
		}
		colour[first] = 0
		stack = append(stack, first)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for j := range n {
				if s.m[i*n+j] == 0 && s.m[j*n+i] == 0 {
					continue
				}
				if colour[j] < 0 {
					colour[j] = 1 - colour[i]
					stack = append(stack, j)
				} else if colour[j] == colour[i] {
					return false
				}
			}
		}
	}
	return true
}

// cover is the row of the given colour that binds last when unknown in grows until b ≥ 0 in all of them, the
// lexicographic minimum of (b_i, e_i)/−col_i. It is −1 when growing does not help one of them.
func (s *Solver) cover(in, colour int) int {
	t := &s.basis
	s.enter(in)
	r, least := -1, math.Inf(1)
	for i, a := range t.col[:t.n] {
		if s.colour[i] != colour {
			continue
		}
		b := t.b[i]
		switch {
		case a < 0:
			if -b/a <= least {
				r, least = i, -b/a
			}
		case b < 0 || a > 0:
			return -1
		}
	}
	if least >= 0 {
		return -1
	}
	return r
}
