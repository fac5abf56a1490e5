package lcp

import "math"

// scale finds S = diag(s) > 0 such that the largest number of every row and column of M̃ = S·M·S is near 1, and σ = |S·q|∞:
//
//	z = σ·S·z̃,   w = σ·S⁻¹·w̃,   w̃ = M̃·z̃ + q̃,   q̃ = S·q/σ
//
// The same S on both sides keeps signs, complementarity, definiteness and copositivity. Unknowns with a number on the diagonal come
// first: s_i is 1 over the root of the largest number of row i between them. The others follow, s_i = 1/max_j |M_ij|·s_j. In
// contact problems this comes to 1/√G_ii for a force and √G_ii for the slack that goes with it. All scales are powers of two:
// scaling rounds nothing.
func (s *Solver) scale() {
	n, sc := s.n, s.s[:s.n]
	clear(sc)
	first := s.set[:0]
	for i := range n {
		if s.m[i*n+i] != 0 {
			first = append(first, i)
		}
	}
	for _, i := range first {
		row, top := s.m[i*n:i*n+n], int64(0)
		for _, j := range first {
			top = max(top, magnitude(row[j]))
		}
		s.some[i] = 1 / math.Sqrt(math.Float64frombits(uint64(top)))
	}
	for _, i := range first {
		sc[i] = s.some[i]
	}
	for i := range n {
		if sc[i] > 0 {
			continue
		}
		big, row := 0.0, s.m[i*n:i*n+n]
		for j, v := range row {
			if v != 0 {
				if v = math.Abs(v) * sc[j]; v > big {
					big = v
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
