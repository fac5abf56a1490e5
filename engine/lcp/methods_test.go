package lcp

import (
	"math"
	"slices"
	"testing"
)

// prepare is a solver before its chain, for a single link of it.
func prepare(p problem) (*Solver, []float64) {
	s := NewSolver(p.n)
	s.n, s.m, s.q, s.bestResidual = p.n, p.m, p.q, math.Inf(1)
	s.scale()
	return s, make([]float64, p.n)
}

// Each link alone on classes that it has to solve; the solution is unique for P.
func TestLinksAlone(t *testing.T) {
	links := map[string]func(s *Solver, z []float64) Status{
		"lemke":  func(s *Solver, z []float64) Status { st, _ := s.lemke(1000, z); return st },
		"branch": func(s *Solver, z []float64) Status { st, _ := s.branch(z); return st },
	}
	for name, link := range links {
		missed, all := 0, 0
		for i := range 200 {
			r := source(uint64(i))
			n := 1 + r.IntN(20)
			p := problem{"P", n, skewed(r, n, gram(r, n, n)), normals(r, n)}
			switch i % 3 {
			case 1:
				p = problem{"symmetric P", n, gram(r, n, n), normals(r, n)}
			case 2: // only as many as there are ranks are in the solution
				p = problem{"PSD", n, gram(r, n, (n+1)/2), nil}
				p.q = feasibleQ(r, n, p.m)
			}
			want := make([]float64, n)
			if st := NewSolver(n).Solve(p.m, p.q, want); !st.Status.OK() {
				t.Fatalf("%v: %+v", p, st)
			}
			s, z := prepare(p)
			all++
			if st := link(s, z); st != Solved {
				missed++
				if i%3 != 2 {
					t.Errorf("%s, %v: %v", name, p, st)
				}
				continue
			}
			if e := natural(p, z); !(e <= 1e-9) {
				t.Errorf("%s, %v: residual %g", name, p, e)
			}
			if i%3 == 2 {
				continue
			}
			for j := range z {
				if math.Abs(z[j]-want[j]) > 1e-6*(1+slices.Max(want)) {
					t.Errorf("%s, %v: %v, want %v", name, p, z, want)
					break
				}
			}
		}
		t.Logf("%s: %d of %d missed", name, missed, all)
		if missed > all/10 {
			t.Errorf("%s: %d of %d missed", name, missed, all)
		}
	}
}

// Branching alone decides as enumeration does.
func TestBranchAgainstEnumeration(t *testing.T) {
	count := [2]int{}
	for i := range 1000 {
		r := source(uint64(i))
		n := 1 + r.IntN(7)
		p := problem{"any", n, normals(r, n*n), normals(r, n)}
		s, z := prepare(p)
		st, _ := s.branch(z)
		if has := enumerate(p); has != (st == Solved) || has == (st == RayUnknown || st == RayInfeasible) {
			t.Errorf("%v: %v, want a solution %v", p, st, has)
		} else if has {
			count[1]++
		} else {
			count[0]++
		}
	}
	t.Logf("%d with, %d without a solution", count[1], count[0])
}

// Contact problems of small whole numbers: coinciding events, contacts twice, no friction, contacts at rest, G singular or without
// any sign, in both forms: every one is decided.
func TestDegenerateContacts(t *testing.T) {
	by := map[Method]int{}
	for i := range 3000 {
		r := source(uint64(i))
		k := 1 + r.IntN(6)
		f := 2 + r.IntN(4) // degrees of freedom
		w := make([]float64, 2*k*f)
		for j := range w {
			w[j] = float64(r.IntN(3) - 1)
		}
		if k > 1 && r.IntN(3) == 0 { // the same contact twice
			copy(w[f:2*f], w[:f])
			copy(w[(k+1)*f:(k+2)*f], w[k*f:(k+1)*f])
		}
		n := 5 * k
		m, q := make([]float64, n*n), make([]float64, n)
		g := func(a, b int) (v float64) {
			for l := range f {
				v += w[a*f+l] * w[b*f+l]
			}
			return v
		}
		sign := 1.0
		if i%10 == 9 {
			sign = -1 // nothing that mechanics would give
		}
		for a := range 2 * k {
			for b := range 2 * k {
				v := sign * g(a, b)
				m[a*n+b] = v
				if b >= k {
					m[a*n+k+b] = -v
				}
				if a >= k {
					m[(k+a)*n+b] = -v
					if b >= k {
						m[(k+a)*n+k+b] = v
					}
				}
			}
			// in the range of W as a rule, so that there is a motion
			for l := range f {
				q[a] += w[a*f+l] * float64((i*7+l*5)%5-3)
			}
			if i%7 == 0 {
				q[a] = float64(r.IntN(3) - 1)
			}
			if a >= k {
				q[k+a] = -q[a]
			}
		}
		for c := range k {
			mu := []float64{0, 0.5, 1, 0.25}[r.IntN(4)]
			m[(k+c)*n+3*k+c], m[(2*k+c)*n+4*k+c] = 1, 1
			m[(3*k+c)*n+c], m[(3*k+c)*n+k+c] = mu, -1
			m[(4*k+c)*n+c], m[(4*k+c)*n+2*k+c] = mu, -1
		}
		p := problem{"degenerate contacts", n, m, q}
		if i%2 == 0 {
			p = slim(p)
		}
		s, z := NewSolver(p.n), make([]float64, p.n)
		res := s.Solve(p.m, p.q, z)
		honest(t, p, s, res, z)
		by[res.Method]++
		if !res.Status.OK() && res.Status != RayInfeasible && !res.NoSolution {
			t.Errorf("%v: %+v", p, res)
		}
	}
	t.Logf("%v", by)
}
