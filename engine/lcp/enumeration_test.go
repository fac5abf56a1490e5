package lcp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// enumerate tries all complementary bases: whether one with a well-conditioned M_SS gives a solution. An independent check, by
// Gauss–Jordan elimination.
func enumerate(p problem) bool {
	n := p.n
	a := make([]float64, n*(n+1))
next:
	for set := range 1 << n {
		// columns: −M_j of j in S, e_j otherwise
		for i := range n {
			for j := range n {
				switch {
				case set>>j&1 == 1:
					a[i*(n+1)+j] = -p.m[i*n+j]
				case i == j:
					a[i*(n+1)+j] = 1
				default:
					a[i*(n+1)+j] = 0
				}
			}
			a[i*(n+1)+n] = p.q[i]
		}
		for c := range n {
			r := c
			for i := c; i < n; i++ {
				if math.Abs(a[i*(n+1)+c]) > math.Abs(a[r*(n+1)+c]) {
					r = i
				}
			}
			if math.Abs(a[r*(n+1)+c]) < 1e-9 {
				continue next
			}
			for j := range n + 1 {
				a[r*(n+1)+j], a[c*(n+1)+j] = a[c*(n+1)+j], a[r*(n+1)+j]
			}
			for i := range n {
				if i == c {
					continue
				}
				f := a[i*(n+1)+c] / a[c*(n+1)+c]
				for j := range n + 1 {
					a[i*(n+1)+j] -= f * a[c*(n+1)+j]
				}
			}
		}
		ok := true
		for i := range n {
			ok = ok && a[i*(n+1)+n]/a[i*(n+1)+i] >= -1e-11
		}
		if ok {
			return true
		}
	}
	return false
}

// Against enumeration, small whole numbers (degenerate) and arbitrary matrices: what has a solution
// must be solved, what has none must be known to have none.
func TestAgainstEnumeration(t *testing.T) {
	solvable, proved, none := 0, 0, 0
	for i := range 3000 {
		r := source(uint64(i))
		n := 1 + r.IntN(6)
		if i%100 == 0 {
			n = 8
		}
		p := problem{"any", n, normals(r, n*n), normals(r, n)}
		class := i % 4
		switch class {
		case 1: // whole numbers
			for k := range p.m {
				p.m[k] = float64(r.IntN(5) - 2)
			}
			for k := range p.q {
				p.q[k] = float64(r.IntN(5) - 3)
			}
		case 2: // singular, degenerate
			a, k := normals(r, n*n), (n+1)/2
			for i := range n {
				p.q[i] = math.Round(p.q[i])
				for j := range n {
					p.m[i*n+j] = 0
					for l := range k {
						p.m[i*n+j] += math.Round(a[i*k+l]) * math.Round(a[j*k+l])
					}
				}
			}
		case 3: // P
			p.m = skewed(r, n, gram(r, n, n))
		}
		res, has := run(t, p), enumerate(p)
		if has {
			solvable++
		}
		switch {
		case has && !res.Status.OK():
			t.Errorf("%v: has a solution, %+v", p, res)
		case class == 3 && !res.Status.OK():
			t.Errorf("%v: P, %+v", p, res)
		case res.Status == RayInfeasible:
			proved++
		case !res.Status.OK():
			if !res.NoSolution {
				t.Errorf("%v: has no solution, %+v", p, res)
			}
			none++
		}
	}
	t.Logf("%d solvable, all solved; %d proved infeasible, %d feasible without a solution", solvable, proved, none)
	if solvable < 1000 || proved < 500 || none < 50 {
		t.Error("too few of a kind")
	}
}

// Sliding contacts alone: λ_N with W_N'·M⁻¹·(W_N − W_T·μ·sgn ġ_T), no longer copositive for large μ (Painlevé). There may be no
// solution, one or several: against enumeration.
func TestSliding(t *testing.T) {
	solvable, none := 0, 0
	for i := range 600 {
		r := source(uint64(i))
		k := 1 + r.IntN(7)
		big := contactsOn(r, k, 1+r.IntN(3))
		p := problem{fmt.Sprintf("%d sliding contacts", k), k, make([]float64, k*k), big.q[:k]}
		for j := range k {
			mu := big.m[(3*k+j)*big.n+j]
			if r.IntN(2) == 0 {
				mu = -mu
			}
			for l := range k {
				p.m[l*k+j] = big.m[l*big.n+j] - mu*big.m[l*big.n+k+j]
			}
		}
		res, has := run(t, p), enumerate(p)
		switch {
		case has:
			solvable++
			if !res.Status.OK() {
				t.Errorf("%v: has a solution, %+v", p, res)
			}
		case res.Status.OK():
			t.Errorf("%v: has no solution, %+v", p, res)
		default:
			none++
			if res.Status != RayInfeasible && !res.NoSolution {
				t.Errorf("%v: has no solution, %+v", p, res)
			}
		}
	}
	t.Logf("%d solvable, %d without a solution", solvable, none)
}

// Contacts of which some slide and some stick, with strong friction, in the large form: whatever is not solved must be known to
// have no solution.
func TestSomeSlide(t *testing.T) {
	for _, c := range [][2]int{{2, 1}, {3, 1}, {5, 2}, {8, 2}, {8, 5}, {12, 6}} {
		none, unknown := 0, 0
		count := tally(t, 100, func(r *rand.Rand) problem { return someSlide(r, c[0], c[1], 1) })
		for i := range 100 {
			p := someSlide(source(uint64(i)), c[0], c[1], 1)
			if r := run(t, p); r.NoSolution {
				none++
			} else if !r.Status.OK() && r.Status != RayInfeasible {
				unknown++
				t.Errorf("%d contacts, %d stick, seed %d: %+v", c[0], c[1], i, r)
			}
		}
		t.Logf("%d contacts, %d stick: %d solved, %d infeasible, %d without a solution, %d unknown", c[0], c[1],
			count[Solved]+count[Trivial], count[RayInfeasible], none, unknown)
	}
}

// No class at all, too large to enumerate: every one is decided. Half of the problems are made to have a solution, and none of
// these may be said to have none.
func TestIndefinite(t *testing.T) {
	for _, n := range []int{8, 12, 16, 20, 25} {
		count, none, parts := map[Status]int{}, 0, 0
		for i := range 60 {
			r := source(uint64(i))
			p := problem{"any", n, normals(r, n*n), normals(r, n)}
			if i%2 == 0 {
				p.name, p.q = "any, solvable", feasibleQ(r, n, p.m)
			}
			res := run(t, p)
			count[res.Status]++
			parts = max(parts, res.Pivots)
			switch {
			case i%2 == 0 && !res.Status.OK(), !res.NoSolution && !res.Status.OK() && res.Status != RayInfeasible:
				t.Errorf("n = %d, seed %d, %s: %+v", n, i, p.name, res)
			case res.NoSolution:
				none++
			}
		}
		t.Logf("n = %d: %v, %d feasible without a solution; at most %d pivots and parts", n, count, none, parts)
	}
}
