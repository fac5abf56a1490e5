package lcp

import "math"

// scale finds S = diag(s) > 0 such that the largest number of every row and column of M̃ = S·M·S is near 1, and σ = |S·q|∞:
//
//	z = σ·S·z̃,   w = σ·S⁻¹·w̃,   w̃ = M̃·z̃ + q̃,   q̃ = S·q/σ
//
// The same S on both sides keeps signs, complementarity, definiteness and copositivity. Unknowns with a number on the diagonal come
// first: s_i is 1 over the root of the largest number between them. The others follow from those: s_i = 1/max_j(|M_ij|, |M_ji|)·s_j. In
// contact problems this comes to 1/√G_ii for a force and √G_ii for the slack that goes with it. All scales are powers of
// two: scaling rounds nothing.
func (s *Solver) scale() {
	n, sc, top := s.n, s.s[:s.n], s.top[:s.n]
	clear(top)
	clear(sc)
	first := s.set[:0]
	for i := range n {
		if s.m[i*n+i] != 0 {
			first = append(first, i)
		}
	}
	for k, i := range first {
		r := top[i]
		for _, j := range first[:k+1] {
			v := max(magnitude(s.m[i*n+j]), magnitude(s.m[j*n+i]))
			r, top[j] = max(r, v), max(top[j], v)
		}
		top[i] = max(r, top[i])
	}
	for _, i := range first {
		sc[i] = 1 / math.Sqrt(math.Float64frombits(uint64(top[i])))
	}
	for i := range n {
		if sc[i] > 0 {
			continue
		}
		big, row := 0.0, s.m[i*n:i*n+n]
		for j, f := range sc {
			if v := max(magnitude(row[j]), magnitude(s.m[j*n+i])); v != 0 {
				if x := math.Float64frombits(uint64(v)) * f; x > big {
					big = x
				}
			}
		}
		if sc[i] = 1; big > 0 {
			sc[i] = 1 / big
		}
	}
	s.sigma = 0
	for i, v := range s.q {
		sc[i] = powerOfTwo(clampScale(sc[i]))
		s.sigma = max(s.sigma, math.Abs(v)*sc[i])
	}
	s.sigma = powerOfTwo(s.sigma)
}

// powerOfTwo is the largest one that is not above v > 0.
func powerOfTwo(v float64) float64 {
	if v < 0x1p-1022 {
		return 0x1p-1022
	}
	return math.Float64frombits(math.Float64bits(v) &^ (1<<52 - 1))
}

// clampScale keeps the products of two scales and a number of M finite and away from zero.
func clampScale(v float64) float64 { return min(max(v, 0x1p-160), 0x1p+160) }
