package lcp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/gonum"

	"hilrig/engine/numeric"
)

const (
	pivotTol = 1e-11 // of a pivot, relative to the largest number of its column
	tieTol   = 1e-12 // of ratios, relative to 1 + ratio
	lexTol   = 1e-11 // of ratios in the columns of the inverse
	clipTol  = 1e-13 // of right sides below zero by rounding; q̃ is about 1
	zeroTol  = 1e-12 // of the artificial unknown: the path has arrived
)

// basis is the system w − M̃z − d·z0 = q̃ solved for n of its 2n+1 unknowns,
//
//	x_B + B⁻¹N·x_N = B⁻¹q̃
//
// in the product form of the inverse [DO54]: every pivot leaves the column that it was made in, and any other column follows from
// these. Lemke's path needs one column a pivot, so this is less work than to keep all of them. Unknowns are numbered w = 0…n−1,
// z = n…2n−1, z0 = 2n.
type basis struct {
	n     int
	basic []int     // unknown of each row
	rowOf []int     // row of each unknown, −1 outside the basis
	b     []float64 // B⁻¹q̃
	col   []float64 // column of the unknown that enters
	lex   []float64 // the same of w, which decides ties
	tie   []int

	count int       // of pivots since the basis was w
	eta   []float64 // columns of these pivots, with 1/pivot in the row
	row   []int     // and their rows
}

// etas is the number of pivots after which the basis is built up again.
func etas(n int) int { return 2*n + 2 }

func newBasis(n int) basis {
	f := func(k int) []float64 { return make([]float64, k) }
	return basis{
		basic: make([]int, n), rowOf: make([]int, 2*n+1), b: f(n), lex: f(n), tie: make([]int, n),
		eta: f(n * etas(n)), row: make([]int, etas(n)),
	}
}

// load makes w the basis.
func (s *Solver) load() *basis {
	n, t := s.n, &s.basis
	t.n, t.count = n, 0
	for i := range n {
		t.basic[i], t.rowOf[i], t.rowOf[n+i] = i, i, -1
		t.b[i] = s.q[i] * (s.s[i] / s.sigma)
	}
	t.rowOf[2*n] = -1
	return t
}

// column fills x with the column of unknown k.
func (s *Solver) column(k int, x []float64) {
	n, t := s.n, &s.basis
	x = x[:n]
	switch {
	case k < n:
		clear(x)
		x[k] = 1
	case k < 2*n:
		m, f := s.m[k-n:], -s.c[k-n]
		for i, sc := range s.s[:n] {
			x[i] = f * sc * m[i*n]
		}
	default:
		copy(x, s.d)
	}
	t.apply(x)
}

// apply makes B⁻¹·x of x.
func (t *basis) apply(x []float64) {
	n := t.n
	for k, r := range t.row[:t.count] {
		if x[r] == 0 {
			continue
		}
		col := t.eta[k*n : k*n+n]
		f := x[r] * col[r]
		axpy(x, col, f)
		x[r] = f
	}
}

// axpy is y −= f·x, both of the same length.
func axpy(y, x []float64, f float64) { gonum.Implementation{}.Daxpy(len(x), -f, x, 1, y, 1) }

// enter finds the column of unknown k, the next to come into the basis.
func (s *Solver) enter(k int) {
	t := &s.basis
	t.col = t.eta[t.count*t.n : (t.count+1)*t.n]
	s.column(k, t.col)
}

// pivot lets unknown in, whose column is t.col, take row r. Right sides below zero by rounding become zero.
func (t *basis) pivot(r, in int) {
	col, b, p := t.col, t.b[:len(t.col)], 1/t.col[r]
	f := b[r] * p
	b[r] = f
	col[r] = 0
	for i, v := range col {
		v = b[i] - f*v
		if v < 0 && v > -clipTol {
			v = 0
		}
		b[i] = v
	}
	col[r] = p
	t.row[t.count] = r
	t.count++
	t.rowOf[t.basic[r]], t.rowOf[in] = -1, r
	t.basic[r] = in
}

// refactor builds the basis up from the problem as given, in fewer pivots than have led to it: the largest pivot of each column in the
// rows that w has left. It is false when the unknowns are no basis.
func (s *Solver) refactor() bool {
	n, enter := s.n, s.nonzero[:0]
	for i := range n {
		s.leavingRows[i] = s.basis.rowOf[i] < 0
	}
	for x := n; x <= 2*n; x++ {
		if s.basis.rowOf[x] >= 0 {
			enter = append(enter, x)
		}
	}
	t := s.load()
	for _, k := range enter {
		s.enter(k)
		r, top, all := -1, 0.0, 0.0
		for i, v := range t.col[:n] {
			v = math.Abs(v)
			if all = max(all, v); v > top && t.basic[i] == i && s.leavingRows[i] {
				r, top = i, v
			}
		}
		if r < 0 || top <= pivotTol*all {
			return false
		}
		t.pivot(r, k)
	}
	return true
}

// leaving is the ratio test of t.col: the row whose (b, B⁻¹)_i/col_i is the lexicographic minimum over col_i > 0, or −1 when
// there is none. z0 leaves whenever it may. Rows that stay equal are told apart by the size of their pivots.
func (s *Solver) leaving() int {
	t := &s.basis
	n, col := t.n, t.col[:t.n]
	r, b, big, tol := -1, t.b[:n], int64(0), 0.0
	least, bound, tied := 0.0, 0.0, false
	for {
		r, least, bound, tied = -1, math.Inf(1), math.Inf(1), false
		for i, a := range col {
			big = max(big, magnitude(a))
			if b[i] <= bound*a && a > tol { // seldom; rows that go up fail the first, as b ≥ 0
				e := b[i] / a
				if e >= least {
					tied = true
					continue
				}
				bound = e + tieTol*(1+math.Abs(e))
				r, least, tied = i, e, least <= bound
			}
		}
		if tol = pivotTol * math.Float64frombits(uint64(big)); r < 0 || col[r] > tol {
			break
		}
		// a pivot that is rounding: once more without any of these
	}
	if z0 := t.rowOf[2*n]; r >= 0 && z0 >= 0 && col[z0] > tol && b[z0] <= bound*col[z0] {
		return z0
	}
	if !tied {
		return r
	}
	ties := t.tie[:0]
	for i, a := range col {
		if b[i] <= bound*a && a > tol {
			ties = append(ties, i)
		}
	}
	for k := 0; k < n && len(ties) > 1; k++ {
		if r := t.rowOf[k]; r >= 0 {
			// a unit vector: its row is the largest of the tied
			ties = slices.DeleteFunc(ties, func(i int) bool { return i == r })
			continue
		}
		s.column(k, t.lex)
		least = math.Inf(1)
		for _, i := range ties {
			least = min(least, t.lex[i]/col[i])
		}
		bound = least + lexTol*(1+math.Abs(least))
		ties = slices.DeleteFunc(ties, func(i int) bool { return !(t.lex[i]/col[i] <= bound) })
	}
	if len(ties) == 0 { // not a number
		return -1
	}
	r = ties[0]
	for _, i := range ties {
		if col[i] > col[r] {
			r = i
		}
	}
	return r
}

// start brings z0 into the basis at the lexicographic minimum of (b_i, e_i)/d_i, after which b ≥ 0. It returns the unknown that
// has left.
func (s *Solver) start() int {
	t := &s.basis
	s.enter(2 * t.n)
	r, least := 0, math.Inf(1)
	for i, d := range t.col[:t.n] {
		if v := -t.b[i] / d; v <= least {
			r, least = i, v
		}
	}
	out := t.basic[r]
	t.pivot(r, 2*t.n)
	return out
}

// lemke follows Lemke's path [L65], [CPS09] 4.4 and 4.9: w − M̃z − d·z0 = q̃ with a covering vector d > 0 holds at the start with z0
// large enough. Unknowns enter one by one, each time the partner of the one that has left, so that z_i·w_i = 0 all along the way,
// until z0 leaves: solved; or until nothing leaves: a ray.
func (s *Solver) lemke(limit int, z []float64) (Status, int) {
	s.load()
	return s.follow(s.start(), -1, 1, limit, z)
}

// golden is the fractional part of (i+1)·0.618…: numbers between 0 and 1 that never come near each other.
func golden(i int) float64 {
	_, f := math.Modf(float64(i+1) * 0.6180339887498949)
	return f
}

// follow goes on from a basis whose last pivot drove out the unknown out. The path ends when z0 leaves, or one of the pair of
// k (−1: there is none).
func (s *Solver) follow(out, k, pivots, limit int, z []float64) (Status, int) {
	n, t := s.n, &s.basis
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
		if t.count == etas(n) && !s.refactor() {
			return Numeric, pivots
		}
		s.enter(in)
		r := s.leaving()
		if r < 0 {
			return s.ray(in), pivots
		}
		out = t.basic[r]
		t.pivot(r, in)
		pivots++
		if out == 2*n || out == k || out == k+n && k >= 0 {
			if s.arrived(z) {
				return Solved, pivots
			}
			return Numeric, pivots
		}
		if r := t.rowOf[2*n]; r >= 0 && !tried && t.b[r] <= zeroTol {
			if tried = true; s.arrived(z) {
				return Solved, pivots
			}
		}
	}
}

// arrived tries the z of the basis as a solution.
func (s *Solver) arrived(z []float64) bool {
	n, x, t := s.n, s.x[:s.n], &s.basis
	for i := range n {
		r := t.rowOf[n+i]
		s.positive[i], x[i] = r >= 0, 0
		if r >= 0 && t.b[r] > clipTol { // the rest is rounding
			x[i] = t.b[r]
		}
	}
	return s.accept(z, x)
}

// ray looks at the direction (z̄, z̄0) of the ray along which unknown in grows. With M copositive plus, z̄ᵀM = −(M·z̄)ᵀ ≤ 0
// and qᵀz̄ < 0 [CPS09] 4.4: z̄ proves that the problem is infeasible. Whether it does is checked, whatever M is.
func (s *Solver) ray(in int) Status {
	n, u, t := s.n, s.rhs[:s.n], &s.basis
	for i := range n {
		u[i] = 0
		if r := t.rowOf[n+i]; r >= 0 {
			u[i] = -t.col[r]
		} else if n+i == in {
			u[i] = 1
		}
		if !numeric.IsFinite(u[i]) {
			return Numeric
		}
	}
	if s.certified(u) {
		return RayInfeasible
	}
	return RayUnknown
}
