package lcp

import "math"

// SolveFrom is Solve with z as a first guess: unknowns with z_i > 0 are expected to be positive in the solution as well, the
// others zero. When that basis holds the answer costs one small system of equations and no pivot; otherwise Lemke's path
// starts from it, with the principal transform of M̃ and a covering vector of ones for the rows that have become
// negative, and where that does not arrive, everything starts afresh. After Solved a z with zeros where the
// solution is degenerate is a poorer guess than the numbers of the basis, but as good a one as any.
func (s *Solver) SolveFrom(m, q, z []float64) Result {
	return s.run(m, q, z, true)
}

// holds tries the basis in s.in.
func (s *Solver) holds(z []float64) Status {
	if s.accept(z, nil) {
		return Solved
	}
	return RayUnknown
}

// warm follows Lemke's path from the basis in s.in.
func (s *Solver) warm(limit int, z []float64) (Status, int) {
	n := s.n
	// the scaled problem is solved for the basis, the largest pivots first
	t := s.load()
	for i := range n {
		s.keep[i] = 0
		if s.in[i] {
			s.keep[i] = 1
		}
	}
	st := n + 2
	for {
		r, c, big := -1, -1, safePivot
		for j, want := range s.keep[:n] {
			if want == 0 || t.at[n+j] >= 0 {
				continue
			}
			k := ^t.at[n+j]
			for i := range n {
				if b := t.basic[i]; b < n && s.keep[b] == 1 {
					if a := math.Abs(t.t[i*st+k]); a > big {
						r, c, big = i, k, a
					}
				}
			}
		}
		if r < 0 {
			break
		}
		t.pivot(r, c)
	}
	// M_SS is singular, or nearly
	for j := range n {
		if a, b := t.at[j], t.at[n+j]; a >= 0 == (b >= 0) {
			return RayUnknown, 1
		}
	}
	return s.onward(t, 1, limit, z)
}
