package lcp

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// chain tries one method after the other, the cheap and the likely ones first.
func (s *Solver) chain(z []float64) (res Result) {
	n := s.n
	if !numeric.AllFinite(s.q...) || !numeric.AllFinite(s.m...) {
		return Result{Status: Numeric, Residual: math.Inf(1)}
	}
	if !slices.ContainsFunc(s.q, func(v float64) bool { return v < 0 }) {
		clear(z)
		return Result{Status: Trivial}
	}
	limit := 10*n + 50
	ended := func(st Status, k int, by Method) bool {
		res.Pivots += k
		s.share()
		if st == Solved && !s.bestSharp {
			s.sharpen(z)
		}
		if st == Solved || st == RayInfeasible {
			res.Status, res.Residual, res.Method = st, s.bestResidual, by
			return true
		}
		return false
	}

	s.workLeft, s.spare = math.Inf(1), math.Inf(1)
	clear(s.br.demand[:n])
	s.scale()
	equal := s.crooked() && s.equilibrate()
	first, k := s.lemke(limit, z)
	if ended(first, k, Lemke) {
		return res
	}
	res.Status, res.Residual = first, s.bestResidual
	s.spare = s.Work
	if s.spare <= 0 {
		s.spare = 1e9 + 4*float64(n*n*n)
	}
	s.shareSpent = false
	s.workLeft = 0
	s.share()
	// games have their own start
	if st, k := s.lemkeHowson(limit, z); ended(st, k, LemkeHowson) {
		return res
	}
	// the same path in other units, which those of the problem may hide from it
	if !equal && s.equilibrate() {
		if st, k := s.lemke(limit, z); ended(st, k, Lemke) {
			return res
		}
	}
	// no w ≥ 0 at all, or one of all complementary parts
	s.workLeft, s.spare = s.workLeft+s.spare, 0
	st, k := s.branch(z)
	by := Branch
	if st == RayInfeasible {
		by = PhaseOne
	}
	if ended(st, k, by) {
		return res
	}
	if st == RayUnknown {
		res.Status, res.Method, res.NoSolution = RayUnknown, Branch, true
	}
	res.Residual = s.bestResidual
	if s.shareSpent && !res.NoSolution {
		res.Status = PivotLimit
	}
	return res
}

// share gives the next link half of the work that is left.
func (s *Solver) share() {
	s.spare = (s.spare + max(s.workLeft, 0)) / 2
	s.workLeft = s.spare
}

// spend takes k from the work of the link at hand, and tells whether it is used up.
func (s *Solver) spend(k int) bool {
	s.workLeft -= float64(k)
	s.shareSpent = s.shareSpent || s.workLeft < 0
	return s.workLeft < 0
}
