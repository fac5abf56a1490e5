package lcp

import "slices"

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

// warm follows Lemke's path from the basis in s.guess, with a covering vector of ones for the rows of that basis.
func (s *Solver) warm(limit int, z []float64) (Status, int) {
	n, t, k := s.n, &s.basis, 0
	for j, in := range s.guess[:n] {
		if s.out[j] = in; in {
			s.full[k] = n + j
			k++
		}
	}
	// M_SS is singular, or nearly
	if !s.build(s.full[:k]) {
		return RayUnknown, 1
	}
	if slices.Min(t.b[:n]) >= 0 {
		if s.arrived(z) {
			return Solved, 1
		}
		return Numeric, 1
	}
	// the sum of the columns of the basis
	copy(t.ref[:n], t.basic[:n])
	for i := range n {
		s.d[i] = 0
		if t.at[i] >= 0 {
			s.d[i] = 1
		}
		for _, x := range s.full[:k] {
			s.d[i] -= s.s[i] * s.s[x-n] * s.m[i*n+x-n]
		}
	}
	return s.follow(s.start(), -1, 2, limit, z)
}
