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
	n, sc, first := s.n, s.s[:s.n], s.set[:0]
	for i := range n {
		if sc[i] = 0; s.m[i*n+i] != 0 {
			first = append(first, i)
		}
	}
	for _, i := range first {
		row, top := s.m[i*n:i*n+n], int64(0)
		for _, j := range first {
			top = max(top, magnitude(row[j]))
		}
		s.some[i] = power(-(exponent(top) + 1) >> 1)
	}
	for _, i := range first {
		sc[i] = s.some[i]
	}
	for i := range n {
		if sc[i] > 0 {
			continue
		}
		top := int64(0)
		for j, v := range s.m[i*n : i*n+n] {
			top = max(top, magnitude(v*sc[j]))
		}
		if sc[i] = 1; top > 0 {
			sc[i] = power(-exponent(top))
		}
	}
	top := int64(1 << 52)
	for i, v := range s.q {
		top = max(top, magnitude(v*sc[i]))
	}
	s.sigma = math.Float64frombits(uint64(top &^ (1<<52 - 1)))
}

// magnitude is |v| as a whole number that orders as |v| does: the largest of many without a branch.
func magnitude(v float64) int64 { return int64(math.Float64bits(v) &^ (1 << 63)) }

// exponent of the number with these bits, which is ≥ 0.
func exponent(bits int64) int { return int(bits>>52) - 1023 }

// power is 2^k, between bounds that keep the products of two scales and a number of M finite and away from zero.
func power(k int) float64 { return math.Float64frombits(uint64(min(max(k, -160), 160)+1023) << 52) }
