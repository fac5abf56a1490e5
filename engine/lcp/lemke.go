package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

const (
	pivotTol = 1e-11 // of a pivot, relative to the largest number of its column
	tieTol   = 1e-12 // of ratios, relative to 1 + ratio
	lexTol   = 1e-11 // of ratios in the columns of the inverse
	clipTol  = 1e-13 // of right sides below zero by rounding; q̃ is about 1
	zeroTol  = 1e-12 // of the artificial unknown: the path has arrived
)

// tableau is the system w − M̃z − d·z0 = q̃ solved for n of its 2n+1 unknowns:
//
//	x_B + T·x_N = b
//
// T and b side by side, row-major with n+2 columns. Unknowns are numbered w = 0…n−1, z = n…2n−1, z0 = 2n. The inverse of the
// basis, which decides ties, is what the columns of the first basis hold (ref, w as a rule): a
// column of T when the unknown is in x_N, a unit vector when it is in x_B.
type tableau struct {
	n     int
	t     []float64
	basic []int // unknown of each row
	other []int // unknown of each column
	at    []int // row of an unknown in x_B, ^column of one in x_N
	ref   []int // first basis

	tie   []int
	full  []int     // columns of a row that are not 0
	ratio []float64 // b_i/T_ic
}

func newTableau(n int) tableau {
	return tableau{
		t: make([]float64, n*(n+2)), basic: make([]int, n), other: make([]int, n+1), at: make([]int, 2*n+1), tie: make([]int, n),
		ref: make([]int, n), full: make([]int, n+2), ratio: make([]float64, n),
	}
}

// load writes the start: w in x_B, z and z0 in x_N.
func (s *Solver) load() *tableau {
	n, t := s.n, &s.tab
	t.n = n
	for i := range n {
		row, si := t.t[i*(n+2):(i+1)*(n+2)], s.s[i]
		for j, v := range s.m[i*n : i*n+n] {
			row[j] = -v * si * s.s[j]
		}
		row[n], row[n+1] = -s.d[i], s.q[i]*(si/s.sigma)
		t.basic[i], t.at[i], t.ref[i] = i, i, i
		t.other[i], t.at[n+i] = n+i, ^i
	}
	t.other[n], t.at[2*n] = 2*n, ^n
	return t
}

func (t *tableau) row(i int) []float64 { return t.t[i*(t.n+2) : (i+1)*(t.n+2)] }

// pivot exchanges the unknowns of row r and column c. Right sides below zero by rounding become zero.
func (t *tableau) pivot(r, c int) {
	n := t.n
	st := n + 2
	sweep(t.t[:n*st], st, r, c, t.full[:st])
	for i := n + 1; i < n*st; i += st {
		if b := t.t[i]; b < 0 && b > -clipTol {
			t.t[i] = 0
		}
	}
	out, in := t.basic[r], t.other[c]
	t.basic[r], t.other[c] = in, out
	t.at[in], t.at[out] = r, ^c
}

// leaving is the ratio test of column c: the row whose (b, B⁻¹)_i/T_ic is the lexicographic minimum over T_ic > 0, or −1 when
// there is none. z0 leaves whenever it may. Rows that stay equal are told apart by the size of their pivots.
func (t *tableau) leaving(c int) int {
	n, st := t.n, t.n+2
	ratio, big := t.ratio[:n], int64(0)
	for i, k := 0, c; i < n; i, k = i+1, k+st {
		big = max(big, magnitude(t.t[k]))
	}
	tol, least := pivotTol*math.Float64frombits(uint64(big)), math.Inf(1)
	for i, k := 0, 0; i < n; i, k = i+1, k+st {
		row := t.t[k : k+st]
		r := math.Inf(1)
		if a := row[c]; a > tol {
			if r = row[n+1] / a; r < least {
				least = r
			}
		}
		ratio[i] = r
	}
	if math.IsInf(least, 1) {
		return -1
	}
	ties, bound := t.tie[:0], least+tieTol*(1+math.Abs(least))
	for i, r := range ratio {
		if r <= bound {
			if t.basic[i] == 2*n {
				return i
			}
			ties = append(ties, i)
		}
	}
	for _, k := range t.ref[:n] {
		if len(ties) == 1 {
			break
		}
		if r := t.at[k]; r >= 0 {
			// a unit vector: its row is the largest of the tied
			kept := ties[:0]
			for _, i := range ties {
				if i != r {
					kept = append(kept, i)
				}
			}
			ties = kept
			continue
		}
		col := ^t.at[k]
		if col == c {
			continue
		}
		least = math.Inf(1)
		for _, i := range ties {
			least = min(least, t.t[i*st+col]/t.t[i*st+c])
		}
		bound, kept := least+lexTol*(1+math.Abs(least)), ties[:0]
		for _, i := range ties {
			if t.t[i*st+col]/t.t[i*st+c] <= bound {
				kept = append(kept, i)
			}
		}
		ties = kept
	}
	if len(ties) == 0 { // not a number
		return -1
	}
	r := ties[0]
	for _, i := range ties {
		if t.t[i*st+c] > t.t[r*st+c] {
			r = i
		}
	}
	return r
}

// start brings z0 into the basis at the lexicographic minimum of (b_i, e_i)/d_i, after which b ≥ 0. It returns the unknown that
// has left.
func (s *Solver) start(t *tableau) int {
	n, r, least := t.n, 0, math.Inf(1)
	for i := range n {
		if v := t.row(i)[n+1] / s.d[i]; v <= least {
			r, least = i, v
		}
	}
	out := t.basic[r]
	t.pivot(r, n)
	return out
}

// lemke follows Lemke's path [L65], [CPS09] 4.4 and 4.9: w − M̃z − d·z0 = q̃ with a covering vector d > 0 holds at the start with z0
// large enough. Unknowns enter one by one, each time the partner of the one that has left, so that z_i·w_i = 0 all along the way,
// until z0 leaves: solved; or until nothing leaves: a ray.
func (s *Solver) lemke(limit int, z []float64) (Status, int) {
	t := s.load()
	out := s.start(t)
	return s.follow(t, out, -1, 1, limit, z)
}

// follow goes on from a tableau whose last pivot drove out the unknown out. The path ends when z0 leaves, or one of the pair of
// k (−1: there is none).
func (s *Solver) follow(t *tableau, out, k, pivots, limit int, z []float64) (Status, int) {
	n := t.n
	tried := false
	for {
		// the partner of the unknown that has left enters
		in := out + n
		if out >= n {
			in = out - n
		}
		if pivots >= limit || s.spend(n*n) {
			return PivotLimit, pivots
		}
		c := ^t.at[in]
		r := t.leaving(c)
		if r < 0 {
			return s.ray(t, c), pivots
		}
		out = t.basic[r]
		t.pivot(r, c)
		pivots++
		if out == 2*n || out == k || out == k+n && k >= 0 {
			if s.arrived(t, z) {
				return Solved, pivots
			}
			return Numeric, pivots
		}
		if r := t.at[2*n]; r >= 0 && !tried && t.row(r)[n+1] <= zeroTol {
			if tried = true; s.arrived(t, z) {
				return Solved, pivots
			}
		}
	}
}

// arrived tries the z of the basis as a solution.
func (s *Solver) arrived(t *tableau, z []float64) bool {
	n, x := s.n, s.x[:s.n]
	for i := range n {
		r := t.at[n+i]
		s.in[i], x[i] = r >= 0, 0
		if r >= 0 {
			x[i] = t.row(r)[n+1]
		}
	}
	return s.accept(z, x)
}

// ray looks at the direction (z̄, z̄0) of the ray along column c. With M copositive plus, z̄ᵀM = −(M·z̄)ᵀ ≤ 0 and qᵀz̄ < 0
// [CPS09] 4.4: z̄ proves that the problem is infeasible. Whether it does is checked, whatever M is.
func (s *Solver) ray(t *tableau, c int) Status {
	n, u := s.n, s.rhs[:s.n]
	for i := range n {
		u[i] = 0
		if a := t.at[n+i]; a >= 0 {
			u[i] = -t.row(a)[c]
		} else if ^a == c {
			u[i] = 1
		}
		if !numeric.Finite(u[i]) {
			return Numeric
		}
	}
	if s.certified(u) {
		return RayInfeasible
	}
	return RayUnknown
}
