package lcp

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

const (
	branchSize = 100  // unknowns up to which branching is tried
	branchGap  = 1e-9 // of what is missing (scaled) that may be rounding
)

// brancher looks for a solution in all parts of the problem: for each pair one may demand z_i = 0 or w_i = 0. A part is a linear
// program, w − M̃·z = q̃ with z, w ≥ 0 and the demands made so far. When it has no solution nothing in it can solve the problem;
// when it has one in which each pair has a zero, that solves it; otherwise the pair furthest from a zero splits the part in two. With
// nothing left to split, there is no solution.
type brancher struct {
	t        []float64 // x_B + T·x_N = b of the program, n+1 rows of 2n+1: the last is the sum of what is missing
	basic    []int     // w_i = i, z_i = n+i, what is missing in row i = 2n+i
	nonbasic []int
	demand   []int8 // of each pair: 0 any, 1 z_i = 0, 2 w_i = 0
}

func newBrancher(n int) brancher {
	return brancher{
		t: make([]float64, (n+1)*(2*n+1)), basic: make([]int, n), nonbasic: make([]int, 2*n), demand: make([]int8, n),
	}
}

const (
	zeroZ int8 = 1 + iota
	zeroW
)

// branch returns Solved, RayInfeasible, RayUnknown when there is no solution, PivotLimit when the parts are too many for the work that is
// left, or Numeric when one of them was too close to tell.
func (s *Solver) branch(z []float64) (st Status, parts int) {
	clear(s.br.demand[:s.n])
	return s.part(z, &parts), parts
}

// part is branch for the demands made so far; parts counts.
func (s *Solver) part(z []float64, parts *int) Status {
	n, want := s.n, s.br.demand[:s.n]
	*parts++
	ok, empty := s.program()
	switch {
	case *parts == 1 && empty && s.empty():
		return RayInfeasible
	case n > branchSize:
		return PivotLimit
	case ok && empty:
		return RayUnknown
	}
	pair := s.furthest()
	switch {
	case pair >= 0:
	case ok:
		if s.accept(z, s.x[:n]) {
			return Solved
		}
		return Numeric
	default: // too close to tell: its parts may be clearer
		if pair = slices.Index(want, 0); pair < 0 {
			return Numeric
		}
	}
	// first the demand that is nearer to what the program has found
	demands := [2]int8{zeroZ, zeroW}
	if s.x[pair] > s.y[pair] {
		demands = [2]int8{zeroW, zeroZ}
	}
	all := RayUnknown
	for _, want[pair] = range demands {
		if s.workLeft < 0 {
			return PivotLimit
		}
		switch st := s.part(z, parts); st {
		case RayUnknown:
		case Numeric:
			all = st
		default:
			return st
		}
	}
	want[pair] = 0
	return all
}

// furthest is the pair without demand with the largest of min(z, w), −1 when all are zero; s.x and s.y are z and w of the
// program, s.positive where z is the larger.
func (s *Solver) furthest() int {
	n, b := s.n, &s.br
	x, y := s.x[:n], s.y[:n]
	clear(x)
	clear(y)
	for i, k := range b.basic[:n] {
		v := max(b.t[i*(2*n+1)+2*n], 0)
		if k < n {
			y[k] = v
		} else if k < 2*n {
			x[k-n] = v
		}
	}
	pair, far := -1, 0.0
	for i := range n {
		s.positive[i] = x[i] > y[i]
		if m := min(x[i], y[i]); b.demand[i] == 0 && m > far {
			pair, far = i, m
		}
	}
	return pair
}

// program minimises what is missing for a point of the part by the simplex method, with Bland's rule after a while, and tells whether
// the part is empty, by a proof that holds for M and q as given. It is not ok when that cannot be told.
func (s *Solver) program() (ok, empty bool) {
	n, b := s.n, &s.br
	st := 2*n + 1
	sum := b.t[n*st : n*st+st]
	clear(sum)
	for i := range n {
		row, q := b.t[i*st:i*st+st], s.q[i]*(s.s[i]/s.sigma)
		clear(row)
		from, si := s.m[i*n:i*n+n], s.s[i]
		for j, v := range from {
			row[j] = -v * si * s.c[j]
		}
		row[2*n] = q
		b.nonbasic[i], b.nonbasic[n+i] = n+i, 2*n+i
		b.basic[i] = i
		if q < 0 || b.demand[i] == zeroW {
			if q < 0 {
				for j := range row {
					row[j] = -row[j]
				}
			}
			row[n+i] = math.Copysign(1, q+0) // −0 is not below zero
			b.basic[i], b.nonbasic[n+i] = 2*n+i, i
			for j, v := range row {
				sum[j] += v
			}
		}
	}
	for pivots := range 20*n + 50 {
		if s.spend(2 * n * n) {
			return false, false
		}
		if sum[2*n] <= 0 {
			return true, false
		}
		c := -1
		for j, k := range b.nonbasic[:2*n] {
			if k >= 2*n || k < n && b.demand[k] == zeroW || k >= n && b.demand[k-n] == zeroZ {
				continue
			}
			switch {
			case sum[j] <= pivotTol:
			case c < 0, pivots < 4*n && sum[j] > sum[c], pivots >= 4*n && k < b.nonbasic[c]:
				c = j
			}
		}
		if c < 0 {
			missing := sum[2*n]
			empty := s.empty()
			return empty || missing <= branchGap, empty
		}
		r, least := -1, math.Inf(1)
		for i := range n {
			a := b.t[i*st+c]
			if a <= pivotTol {
				continue
			}
			e := max(b.t[i*st+2*n], 0) / a
			switch {
			case r < 0, e < least-tieTol, e <= least+tieTol && pivots < 4*n && a > b.t[r*st+c],
				e <= least+tieTol && pivots >= 4*n && b.basic[i] < b.basic[r]:
				r, least = i, e
			}
		}
		if r < 0 {
			sum[c] = 0
			continue
		}
		sweep(b.t[:(n+1)*st], st, r, c)
		b.basic[r], b.nonbasic[c] = b.nonbasic[c], b.basic[r]
		sum = b.t[n*st : n*st+st]
		if !numeric.IsFinite(sum[2*n]) {
			return false, false
		}
	}
	return false, false
}

// sweep exchanges the unknowns of row r and column c in the tableau t of rows of length st: Gauss–Jordan in place.
func sweep(t []float64, st, r, c int) {
	top := t[r*st : r*st+st]
	p := 1 / top[c]
	top[c] = 1
	for j, v := range top {
		top[j] = v * p
	}
	for at := 0; at < len(t); at += st {
		row := t[at : at+st]
		f := row[c]
		if f == 0 || at == r*st {
			continue
		}
		row[c] = 0
		axpy(row, top, f)
	}
}

// empty checks the proof that the last row offers. Its numbers y_i in the columns of w_i combine the rows of the program,
//
//	Σ y_i·w_i − Σ (M̃ᵀy)_j·z_j = yᵀq̃ > 0,   y_i ≤ 0 and (M̃ᵀy)_j ≥ 0 where w_i and z_j are not demanded to be zero
//
// so −y is what certified asks for. Where the sweeps have rounded too much of it, it is found afresh from the basis.
func (s *Solver) empty() bool {
	n, b := s.n, &s.br
	u := s.rhs[:n]
	clear(u)
	for j, k := range b.nonbasic[:2*n] {
		if k < n {
			u[k] = -b.t[n*(2*n+1)+j]
		}
	}
	return s.certified(u) || s.dual(u) && s.certified(u)
}

// Rows of a basis of the program.
const (
	bothZero = iota // w_i and what is missing are both zero
	hasW            // w_i is basic, so y_i = 0
	lacks           // what is missing is basic, so y_i is its sign
)

// dual writes −y of the basis to u: (M̃ᵀy)_j = 0 for the z_j in it, from M as given, with one step of refinement.
func (s *Solver) dual(u []float64) bool {
	n, row := s.n, s.colour[:s.n]
	clear(row)
	clear(u)
	rows, columns := s.set[:0], s.nonzero[:0]
	for _, k := range s.br.basic[:n] {
		switch {
		case k < n:
			row[k] = hasW
		case k < 2*n:
			columns = append(columns, k-n)
		default:
			row[k-2*n] = lacks
			u[k-2*n] = -math.Copysign(1, s.q[k-2*n]+0)
		}
	}
	for i, of := range row {
		if of == bothZero {
			rows = append(rows, i)
		}
	}
	k := len(rows)
	if len(columns) != k {
		return false
	}
	s.lu.Resize(k)
	for r, j := range columns {
		for c, i := range rows {
			s.lu.A[r*k+c] = s.m[i*n+j] * s.s[i] * s.c[j]
		}
	}
	if !s.lu.Factor() {
		return false
	}
	left := s.values[:k]
	for range 2 {
		for r, j := range columns {
			left[r] = 0
			for i, v := range u {
				if v != 0 {
					left[r] -= s.m[i*n+j] * s.s[i] * s.c[j] * v
				}
			}
		}
		s.lu.Solve(left)
		for c, i := range rows {
			u[i] += left[c]
		}
	}
	return true
}
