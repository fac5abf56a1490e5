package lcp

import (
	"fmt"
	"math"
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

// Against enumeration, small whole numbers (degenerate) and arbitrary matrices: solved and infeasible must agree with it. How
// many solvable ones of no class at all end without a solution is printed.
func TestAgainstEnumeration(t *testing.T) {
	missed, solvable, proved := 0, 0, 0
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
		case res.Status == RayInfeasible && has:
			t.Errorf("%v: has a solution, %+v", p, res)
		case class == 3 && !res.Status.OK():
			t.Errorf("%v: P, %+v", p, res)
		case has && !res.Status.OK():
			missed++
			if class == 2 {
				t.Errorf("%v: semidefinite and solvable, %+v", p, res)
			}
		case res.Status == RayInfeasible:
			proved++
		}
	}
	t.Logf("%d solvable, of which %d were missed; %d proved infeasible", solvable, missed, proved)
	if missed > solvable/100 {
		t.Error("more than 1 % missed")
	}
}

// Sliding contacts alone: λ_N with W_N'·M⁻¹·(W_N − W_T·μ·sgn ġ_T), no longer copositive for large μ (Painlevé). There may be no
// solution, one or several: against enumeration.
func TestSliding(t *testing.T) {
	solvable, missed, none := 0, 0, 0
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
		case has && res.Status == RayInfeasible:
			t.Errorf("%v: has a solution, %+v", p, res)
		case has:
			solvable++
			if !res.Status.OK() {
				missed++
			}
		default:
			none++
		}
	}
	t.Logf("%d solvable, of which %d were missed; %d without a solution", solvable, missed, none)
	if missed > solvable/100 {
		t.Error("more than 1 % missed")
	}
}
