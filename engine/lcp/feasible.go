package lcp

// phaseOne asks whether there is a z ≥ 0 with M·z + q ≥ 0 at all: z0 of w − M̃z − d·z0 = q̃ is made as small as possible by the
// simplex method, with the same lexicographic ratio test, so that it cannot cycle. When z0 = b_r > 0 is the end, all T_rj
// are ≤ 0, and the row of z0, a combination of the rows of the problem,
//
//	z0 + Σ T_rj·x_j = b_r,   u_k = −T_r(w_k) ≥ 0   ⇒   Mᵀu ≤ 0,  qᵀu = −b_r < 0
//
// is Farkas' proof that there is none [CPS09]. RayUnknown: there are such z, or the proof did not hold.
func (s *Solver) phaseOne(limit int) (Status, int) {
	n := s.n
	for i := range n {
		s.d[i] = 1
	}
	t := s.load()
	s.start(t)
	for pivots := 1; pivots < limit && !s.spend(n*n); pivots++ {
		r := t.at[2*n]
		if r < 0 || t.row(r)[n+1] <= zeroTol {
			return RayUnknown, pivots
		}
		row := t.row(r)
		c := 0
		for j, v := range row[:n+1] {
			if v > row[c] {
				c = j
			}
		}
		if row[c] <= pivotTol {
			u := s.rhs[:n]
			for k := range n {
				u[k] = 0
				if a := t.at[k]; a < 0 {
					u[k] = max(-row[^a], 0)
				}
			}
			if s.certified(u) {
				return RayInfeasible, pivots
			}
			return RayUnknown, pivots
		}
		p := t.leaving(c)
		if p < 0 {
			return RayUnknown, pivots
		}
		t.pivot(p, c)
	}
	return PivotLimit, limit
}
