package lcp

import "math"

// scale finds R = C = S = diag(s) > 0 such that the largest number of every row and column of M̃ = S·M·S is near 1, and σ = |S·q|∞:
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
		s.values[i] = power(-(exponent(top) + 1) >> 1)
	}
	for _, i := range first {
		sc[i] = s.values[i]
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
	copy(s.c, sc)
	s.sigma = s.largest()
}

// largest is |R·q|∞ as a power of two.
func (s *Solver) largest() float64 {
	top := int64(1 << 52)
	for i, v := range s.q {
		top = max(top, magnitude(v*s.s[i]))
	}
	return math.Float64frombits(uint64(top &^ (1<<52 - 1)))
}

// crookedBelow is the number on the diagonal of M̃, relative to the largest of its row, below which a row is crooked.
const crookedBelow = 0x1p-16

// crooked tells that rows and unknowns are in units of their own: no symmetric scaling makes numbers of one size of them.
func (s *Solver) crooked() bool {
	n := s.n
	for i, sc := range s.s[:n] {
		if d := math.Abs(s.m[i*n+i]) * sc * sc; d < crookedBelow && d > 0 {
			return true
		}
	}
	return false
}

// equilibrations are the sweeps of equilibrate: the logarithms of the largest numbers halve in each.
const equilibrations = 12

// equilibrate finds R and C, each for itself, such that the largest number of every row and column of M̃ = R·M·C is near 1 [R01], and
// σ = |R·q|∞:
//
//	z = σ·C·z̃,   w = σ·R⁻¹·w̃,   w̃ = M̃·z̃ + q̃,   q̃ = R·q/σ
//
// Signs, complementarity and the signs of principal minors stay, so a P-matrix stays one; what is definite or copositive need not stay so.
// The scales of scale are where it begins; false: they were good.
func (s *Solver) equilibrate() bool {
	n, r, c := s.n, s.s[:s.n], s.c[:s.n]
	same := true
	for range equilibrations {
		for i := range n {
			top := int64(0)
			for j, v := range s.m[i*n : i*n+n] {
				top = max(top, magnitude(v*r[i]*c[j]))
			}
			s.values[i] = 1
			if top > 0 {
				s.values[i] = power(-(exponent(top) + 1) >> 1)
			}
		}
		for j := range n {
			top := int64(0)
			for i := range n {
				top = max(top, magnitude(s.m[i*n+j]*r[i]*c[j]))
			}
			if top > 0 {
				f := power(-(exponent(top) + 1) >> 1)
				c[j] *= f
				same = same && f == 1
			}
		}
		for i, f := range s.values[:n] {
			r[i] *= f
			same = same && f == 1
		}
	}
	s.sigma = s.largest()
	return !same
}

// magnitude is |v| as a whole number that orders as |v| does: the largest of many without a branch.
func magnitude(v float64) int64 { return int64(math.Float64bits(v) &^ (1 << 63)) }

// exponent of the number with these bits, which is ≥ 0.
func exponent(bits int64) int { return int(bits>>52) - 1023 }

// power is 2^k, between bounds that keep the products of two scales and a number of M finite and away from zero.
func power(k int) float64 { return math.Float64frombits(uint64(min(max(k, -160), 160)+1023) << 52) }
