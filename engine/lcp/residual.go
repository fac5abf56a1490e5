package lcp

import (
	"math"

	"hilrig/engine/numeric"
)

// goodResidual is the residual from which on nothing better is looked for, when the rows of z > 0 hold to as much of their own numbers.
const (
	goodResidual = 1e-12
	roundingTol  = 1e-10
)

// residual of z in the problem as given: the larger of
//
//	|min(z, w)|∞ / (1 + |q|∞)                            natural residual [CPS09] 1.5
//	max_i |r_i| / (|q_i| + Σ_j |M_ij|·z_j + σ/s_i)       backward error
//
// with r_i = w_i where z_i > 0, min(w_i, 0) where z_i = 0. The first has the unit of the problem and would call everything
// small a solution of a problem of small numbers; the second is relative to the numbers of each row, σ/s_i being what
// scaling makes of the largest q. NaN and negative z give +Inf. s.exactRows tells whether w = 0 where z > 0 to what rounding leaves of the
// row, and s.sharp whether w ≥ 0 elsewhere to that too.
func (s *Solver) residual(z []float64) float64 {
	n, nat, back, big := s.n, 0.0, 0.0, 0.0
	k := 0
	s.exactRows, s.sharp = true, true
	for j, v := range z {
		if !(v >= 0) || v > math.MaxFloat64 {
			return math.Inf(1)
		}
		s.nonzero[k], s.values[k] = j, v
		if v != 0 {
			k++
		}
	}
	full, some := s.nonzero[:k], s.values[:k]
	for i, q := range s.q {
		row, w, size := s.m[i*n:i*n+n], q, math.Abs(q)
		big = max(big, size)
		for a, j := range full {
			p := row[j] * some[a]
			w += p
			size += math.Abs(p)
		}
		if z[i] == 0 && w >= 0 {
			continue
		}
		if z[i] != 0 && math.Abs(w) > roundingTol*size {
			s.exactRows = false
		}
		s.sharp = s.sharp && (z[i] != 0 || -w <= roundingTol*size)
		e, b := math.Abs(min(z[i], w)), math.Abs(w)/(size+s.sigma/s.s[i])
		if !(e < nat) {
			nat = e
		}
		if !(b < back) {
			back = b
		}
	}
	// NaN and Inf have come through
	if r := max(nat/(1+big), back); numeric.IsFinite(r) {
		return r
	}
	return math.Inf(1)
}

// accept tries the solution with w_i = 0 for the unknowns of s.positive and z_i = 0 for the others. M_SS·z_S = −q_S is solved
// afresh from the data with one step of refinement, unless x is good enough: the path leaves errors relative to
// the largest number of the whole problem, this one relative to each row. x holds a candidate of the path (scaled; nil: none), which
// counts where M_SS is all but singular. The better of both goes to z, and it is a solution if its residual says so.
func (s *Solver) accept(z, x []float64) bool {
	n, k := s.n, 0
	for i, in := range s.positive[:n] {
		if in {
			s.set[k] = i
			k++
		}
	}
	set, y := s.set[:k], s.y[:n]
	if x != nil {
		for i, v := range x {
			y[i] = 0
			if s.positive[i] {
				y[i] = max(v, 0) * s.sigma * s.c[i]
			}
		}
		s.offer(z, y)
	}
	if (s.bestResidual > goodResidual || !s.exactRows) && s.factor(set) {
		s.solve(set)
		clear(y)
		for a, i := range set {
			y[i] = max(s.x[a], 0) * s.sigma * s.c[i]
		}
		s.offer(z, y)
	}
	return s.bestResidual <= Tol
}

// offer takes y for z when it is better than what was found so far.
func (s *Solver) offer(z, y []float64) {
	if r := s.residual(y); r < s.bestResidual {
		s.bestResidual, s.bestSharp = r, s.exactRows && s.sharp
		copy(z, y)
	}
}

// sharpen goes on from a solution of which a row is below zero by more than its own numbers leave to rounding: beside numbers of the whole
// problem that is nothing, and yet the unknown that belongs to it may be zero by mistake. Such an unknown may be positive, one that comes
// out negative becomes zero, the first of them at a time [CPS09] 4.2; of a P-matrix that ends at the solution. What was found stays where
// it does not.
func (s *Solver) sharpen(z []float64) {
	n := s.n
	for i := range n {
		s.positive[i] = z[i] > 0
	}
	for range 2*n + 10 {
		k := 0
		for i, in := range s.positive[:n] {
			if in {
				s.set[k] = i
				k++
			}
		}
		set, y := s.set[:k], s.y[:n]
		if s.spend(k*k*(k/3+1)) || !s.factor(set) {
			return
		}
		s.solve(set)
		clear(y)
		wrong := n
		for a, i := range set {
			if y[i] = s.x[a] * s.sigma * s.c[i]; y[i] < 0 {
				wrong = min(wrong, i)
			}
		}
		for i := range wrong {
			if s.positive[i] {
				continue
			}
			w, size := s.q[i], math.Abs(s.q[i])
			for _, j := range set {
				p := s.m[i*n+j] * y[j]
				w, size = w+p, size+math.Abs(p)
			}
			if -w > roundingTol*size {
				wrong = i
				break
			}
		}
		if wrong == n {
			if r := s.residual(y); r <= Tol && s.exactRows && s.sharp {
				s.bestResidual, s.bestSharp = r, true
				copy(z, y)
			}
			return
		}
		s.positive[wrong] = !s.positive[wrong]
	}
}

// solve writes z̃_S of M̃_SS·z̃_S = −q̃_S to s.x, with one step of refinement, after factor.
func (s *Solver) solve(set []int) {
	n, k := s.n, len(set)
	rhs, sol := s.rhs[:k], s.x[:k]
	for a, i := range set {
		rhs[a] = -s.q[i] * (s.s[i] / s.sigma)
	}
	s.lu.Solve(rhs)
	copy(sol, rhs)
	for a, i := range set {
		r, row := -s.q[i]*(s.s[i]/s.sigma), s.m[i*n:i*n+n]
		for b, j := range set {
			r -= row[j] * s.s[i] * s.c[j] * sol[b]
		}
		rhs[a] = r
	}
	s.lu.Solve(rhs)
	for a := range sol {
		sol[a] += rhs[a]
	}
}

// factor is the LU decomposition of the scaled M_SS; false when it is singular.
func (s *Solver) factor(set []int) bool {
	n, k := s.n, len(set)
	s.lu.Resize(k)
	for r, i := range set {
		row, to, si := s.m[i*n:i*n+n], s.lu.A[r*k:r*k+k], s.s[i]
		for c, j := range set {
			to[c] = row[j] * si * s.c[j]
		}
	}
	return s.lu.Factor()
}

const (
	certZero = 1e-12 // of Mᵀu, relative to |M|ᵀu: rounding
	certFar  = 1e-9  // of −qᵀu, relative to |q|ᵀu: beyond rounding
)

// certified checks u (scaled) as a proof against M and q as given: u ≥ 0, (Mᵀu)_j ≤ 1e-12·(|M|ᵀ|u|)_j and
// qᵀu ≤ −1e-9·|q|ᵀ|u|. The small allowance is a statement as well: a matrix that differs from M by at most 1e-12 of each of its
// numbers makes the problem infeasible without any allowance. In a part of the problem (brancher.demand) u_i may have any sign where w_i
// has to be zero, and (Mᵀu)_j any value where z_j has to.
func (s *Solver) certified(u []float64) bool {
	n, c, v, size, want := s.n, s.cert[:s.n], s.x[:s.n], s.y[:s.n], s.br.demand[:s.n]
	big := 0.0
	for _, ui := range u {
		big = max(big, math.Abs(ui))
	}
	if big == 0 || !numeric.IsFinite(big) {
		return false
	}
	clear(v)
	clear(size)
	qu, qa := 0.0, 0.0
	for i := range n {
		// uᵀw = Σ ũ_i w̃_i up to a factor: u_i = s_i·ũ_i
		ui := u[i] / big
		if !(ui > 1e-14) && !(want[i] == zeroW && ui < -1e-14) {
			ui = 0
		}
		ui *= s.s[i]
		c[i] = ui
		qu += s.q[i] * ui
		qa += math.Abs(s.q[i] * ui)
		if ui == 0 {
			continue
		}
		for j, mij := range s.m[i*n : i*n+n] {
			p := mij * ui
			v[j] += p
			size[j] += math.Abs(p)
		}
	}
	if !(qu <= -certFar*qa && qu < 0) {
		return false
	}
	for j := range n {
		if want[j] != zeroZ && !(v[j] <= certZero*size[j]) {
			return false
		}
	}
	return true
}
