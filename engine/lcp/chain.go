package lcp

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// chain tries one method after the other, the cheap and the likely ones first. guess: z holds a first guess.
func (s *Solver) chain(z []float64, guess bool) Result {
	n := s.n
	if !numeric.AllFinite(s.q...) || !numeric.AllFinite(s.m...) {
		return Result{Status: Numeric, Residual: math.Inf(1)}
	}
	if n == 0 || slices.Min(s.q) >= 0 {
		clear(z)
		return Result{Status: Trivial}
	}
	limit := s.MaxPivots
	if limit <= 0 {
		limit = 10*n + 50
	}
	res := Result{}
	ended := func(st Status, k int, by Method) bool {
		res.Pivots += k
		s.share()
		if st == Solved || st == RayInfeasible {
			res.Status, res.Residual, res.Method = st, s.best, by
			return true
		}
		return false
	}

	// the basis of the guess, if it still holds
	if guess {
		for i, v := range z {
			s.in[i] = v > 0
		}
		s.scale()
		if ended(s.holds(z), 0, Warm) {
			return res
		}
		copy(s.guess, s.in[:n])
	}
	// contact problems have a path of their own
	s.left, s.spare = math.Inf(1), math.Inf(1)
	st, k, form := s.contact(limit, z)
	if ended(st, k, Path) {
		return res
	}
	if form == 0 && !guess {
		s.scale()
	}
	// Lemke's path from the guess, then from w, with ones
	if guess {
		copy(s.in, s.guess[:n])
		if st, k := s.warm(limit, z); ended(st, k, Warm) {
			return res
		}
	}
	first, k := s.lemke(limit, z)
	if ended(first, k, Lemke) {
		return res
	}
	res.Status, res.Residual = first, s.best
	if s.Quick {
		return res
	}
	s.spare = s.Work
	if s.spare <= 0 {
		s.spare = 1e9 + 4*float64(n*n*n)
	}
	s.cut = false
	s.left = 0
	s.share()
	if form != 0 {
		s.scale()
	}
	// games have their own start
	if st, k := s.lemkeHowson(limit, z); ended(st, k, LemkeHowson) {
		return res
	}
	// no w ≥ 0 at all, or one of all complementary parts
	if s.MaxPivots <= 0 {
		s.left, s.spare = s.left+s.spare, 0
		st, none, k := s.branch(z)
		by := Branch
		if st == RayInfeasible {
			by = PhaseOne
		}
		if ended(st, k, by) {
			return res
		}
		if none {
			res.Status, res.Method, res.NoSolution = RayUnknown, Branch, true
		}
	}
	res.Residual = s.best
	if s.cut && !res.NoSolution {
		res.Status = PivotLimit
	}
	return res
}

// share gives the next link half of the work that is left.
func (s *Solver) share() {
	s.spare = (s.spare + max(s.left, 0)) / 2
	s.left = s.spare
}

// spend takes k from the work of the link at hand, and tells whether it is used up.
func (s *Solver) spend(k int) bool {
	s.left -= float64(k)
	s.cut = s.cut || s.left < 0
	return s.left < 0
}
