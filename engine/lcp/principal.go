package lcp

const patience = 10 // rounds that need not improve before pivots become single

// principal is block principal pivoting with Murty's rule behind it [JP94], [M74]: guess the set S of the z that may be positive,
// solve M_SS·z_S = −q_S, and let every unknown with the wrong sign (z_S or w outside S) change sides. When the number of
// wrong signs does not fall for some rounds, only the last of them changes sides until it does; for P matrices that alone ends
// after finitely many steps.
func (s *Solver) principal(limit int, z []float64) (Status, int) {
	n, x := s.n, s.x[:s.n]
	clear(s.in[:n])
	fewest, left := n+1, patience
	for rounds := range limit {
		k := 0
		for i, in := range s.in[:n] {
			if in {
				s.set[k] = i
				k++
			}
		}
		set, b := s.set[:k], s.rhs[:k]
		if s.spend(k*k*k/3 + k*n) {
			return PivotLimit, rounds
		}
		if !s.factor(set) {
			return RayUnknown, rounds
		}
		for a, i := range set {
			b[a] = -s.q[i] * (s.s[i] / s.sigma)
		}
		s.lu.Solve(b)
		// x: z̃ inside S, w̃ outside
		for i := range n {
			if s.in[i] {
				continue
			}
			w, row := s.q[i]*(s.s[i]/s.sigma), s.m[i*n:i*n+n]
			for a, j := range set {
				w += row[j] * s.s[i] * s.s[j] * b[a]
			}
			x[i] = w
		}
		for a, i := range set {
			x[i] = b[a]
		}
		wrong, last := 0, 0
		for i, v := range x {
			if v < -zeroTol {
				wrong, last = wrong+1, i
			}
		}
		if wrong == 0 {
			if s.accept(z, nil) {
				return Solved, rounds + 1
			}
			return Numeric, rounds + 1
		}
		if wrong < fewest {
			fewest, left = wrong, patience
		} else {
			left--
		}
		if left < 0 {
			s.in[last] = !s.in[last]
			continue
		}
		for i, v := range x {
			if v < -zeroTol {
				s.in[i] = !s.in[i]
			}
		}
	}
	return PivotLimit, limit
}
