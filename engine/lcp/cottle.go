package lcp

import "math"

// cottle is the principal pivoting method of Cottle and Dantzig [CD68], [CPS09] 4.2, from w in the basis: one negative w_r after
// the other is brought to zero. Its partner z_r drives; when another unknown comes to zero first, that one leaves and its
// partner drives on, all but the pair of r staying complementary. What is not negative never becomes negative. For positive
// semidefinite matrices every w_r gets there or shows that the problem is infeasible; for symmetric ones this is Keller's
// method [K73]. For others it may stop, or come to nothing.
func (s *Solver) cottle(limit int, z []float64) (Status, int) {
	n := s.n
	clear(s.d[:n])
	t := s.load()
	return s.drive(t, 0, limit, z)
}

// drive goes on from any tableau with one of each pair in the basis, z0 left out.
func (s *Solver) drive(t *tableau, pivots, limit int, z []float64) (Status, int) {
	n, st := t.n, t.n+2
	for {
		// the most negative
		r := 0
		for i := range n {
			if t.t[i*st+n+1] < t.t[r*st+n+1] {
				r = i
			}
		}
		if !(t.t[r*st+n+1] < -zeroTol) {
			if s.arrived(t, z) {
				return Solved, pivots
			}
			return Numeric, pivots
		}
		k := t.basic[r]
		for in, out := partner(k, n), -1; out != k; in = partner(out, n) {
			if pivots >= limit || s.spend(n*n) {
				return PivotLimit, pivots
			}
			if in == k { // the pair is where it started
				return RayUnknown, pivots
			}
			c := ^t.at[in]
			p := t.stops(t.at[k], c)
			if p < 0 {
				return RayUnknown, pivots
			}
			out = t.basic[p]
			t.pivot(p, c)
			pivots++
		}
	}
}

// stops is the row that comes to zero first when the unknown of column c grows: row r from below, the others from above, of
// which those that are negative do not count. −1: none.
func (t *tableau) stops(r, c int) int {
	n, st := t.n, t.n+2
	big := int64(0)
	for i, k := 0, c; i < n; i, k = i+1, k+st {
		big = max(big, magnitude(t.t[k]))
	}
	tol := pivotTol * math.Float64frombits(uint64(big))
	p, least := -1, math.Inf(1)
	if a := t.t[r*st+c]; a < -tol {
		p, least = r, t.t[r*st+n+1]/a
	}
	for i := range n {
		row := t.t[i*st : i*st+st]
		a, b := row[c], row[n+1]
		if i == r || a <= tol || b < -zeroTol {
			continue
		}
		e, tie := max(b, 0)/a, tieTol*(1+least)
		if e < least-tie || e < least+tie && p != r && (p < 0 || a > t.t[p*st+c]) {
			p, least = i, e
		}
	}
	return p
}

// partner is w_i of z_i and z_i of w_i.
func partner(k, n int) int {
	if k < n {
		return k + n
	}
	return k - n
}
