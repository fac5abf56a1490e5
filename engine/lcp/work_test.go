package lcp

import (
	"math/rand/v2"
	"testing"
)

// Problems without any class, made solvable but too large to be decided: what is done for them is bounded, whatever the size, and the
// status says what the bound has cut off.
func TestWorkIsBounded(t *testing.T) {
	for _, n := range []int{60, 120, 200} {
		count := map[Status]int{}
		for i := range 2 {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			p := problem{"any, solvable", n, normals(r, n*n), nil}
			p.q = feasibleQ(r, n, p.m)
			s, z := NewSolver(n), make([]float64, n)
			for _, s.Work = range []float64{1, 3e7} {
				res := s.Solve(p.m, p.q, z)
				honest(t, p, s, res, z)
				count[res.Status]++
				// a step of Newton's method is the largest piece
				if done := s.Work - s.workLeft - s.spare; done > s.Work+float64(n*n*n) {
					t.Errorf("n = %d: %g done of %g", n, done, s.Work)
				}
				if res.Status == RayInfeasible || res.NoSolution || res.Status == RayUnknown && s.shareSpent {
					t.Errorf("n = %d: has a solution, not all was tried, %+v", n, res)
				}
			}
		}
		t.Logf("n = %d: %v", n, count)
	}
}
