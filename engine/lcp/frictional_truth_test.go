package lcp

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/peer"
)

// all solutions of a problem of regular D by trying all 4ⁿ states: the velocities of each.
func (q friction) all() [][]float64 {
	n, w := len(q.mu), len(q.b)
	var found [][]float64
	for code := range 1 << (2 * n) {
		a, rhs := make([]float64, w*w), make([]float64, w)
		st := make([]State, n)
		for i := range n {
			st[i] = State(code >> (2 * i) & 3)
			s := st[i].sense()
			for e := range 2 {
				r := 2*i + e
				if st[i] == Open || (e == 1 && st[i] != Stick) {
					a[r*w+r] = 1
					if e == 1 && st[i] != Open {
						a[r*w+r-1] = s * q.mu[i]
					}
				} else {
					copy(a[r*w:r*w+w], q.d[r*w:])
					rhs[r] = -q.b[r]
				}
			}
		}
		p := gauss(a, rhs)
		if p == nil || !(q.misfit(p) <= 1e-9) {
			continue
		}
		v := q.velocity(p)
		if !slices.ContainsFunc(found, func(u []float64) bool { return q.apart(u, v) < 1e-7 }) {
			found = append(found, v)
		}
	}
	return found
}

// gauss solves by elimination with row pivoting; nil when a is singular.
func gauss(a, b []float64) []float64 {
	n := len(b)
	for c := range n {
		p := c
		for i := c; i < n; i++ {
			if math.Abs(a[i*n+c]) > math.Abs(a[p*n+c]) {
				p = i
			}
		}
		if math.Abs(a[p*n+c]) < 1e-12 {
			return nil
		}
		for j := range n {
			a[c*n+j], a[p*n+j] = a[p*n+j], a[c*n+j]
		}
		b[c], b[p] = b[p], b[c]
		for i := range n {
			if i != c {
				g := a[i*n+c] / a[c*n+c]
				for j := range n {
					a[i*n+j] -= g * a[c*n+j]
				}
				b[i] -= g * b[c]
			}
		}
	}
	for i := range n {
		b[i] /= a[i*n+i]
	}
	return b
}

func (q friction) velocity(p []float64) []float64 {
	v := slices.Clone(q.b)
	for i := range v {
		for j, x := range p {
			v[i] += q.d[i*len(v)+j] * x
		}
	}
	return v
}

// apart is the largest difference of two velocities in units of the largest b.
func (q friction) apart(u, v []float64) float64 {
	worst, sigma := 0.0, 0.0
	for i := range u {
		s := math.Sqrt(q.d[i*len(u)+i])
		worst, sigma = max(worst, math.Abs(u[i]-v[i])/s), max(sigma, math.Abs(q.b[i])/s)
	}
	return worst / sigma
}

func TestFrictionIsAmongAllSolutions(t *testing.T) {
	for n := 1; n <= 4; n++ {
		several := 0
		for i := range 150 {
			r := source(uint64(500*n + i))
			q := rods(r, n, 2*n+2)
			if i%2 == 0 {
				// friction so strong that problems have several solutions
				for k := range q.mu {
					q.mu[k] *= 3
				}
			}
			list := q.all()
			st, p := make([]State, n), make([]float64, 2*n)
			for k := range st {
				st[k] = State(r.IntN(4))
			}
			res := q.solved(t, NewFrictional(n), st, p)
			v := q.velocity(p)
			if len(list) > 1 {
				several++
			}
			if !slices.ContainsFunc(list, func(u []float64) bool { return q.apart(u, v) < 1e-7 }) {
				// redundant contacts leave the enumeration without a regular matrix
				if len(list) > 0 || res.Status != Verified {
					t.Errorf("n = %d, problem %d: %+v is none of the %d solutions", n, i, res, len(list))
				}
			}
		}
		t.Logf("%d contacts: %d of 150 with several solutions", n, several)
	}
}

// five is the problem in the form n_N + 4·n_H with all contacts free to stick: p_N, p+, p−, k+, k−.
func (q friction) five() (m, b []float64) {
	k := len(q.mu)
	n, w := 5*k, 2*k
	m, b = make([]float64, n*n), make([]float64, n)
	for i := range k {
		b[i], b[k+i], b[2*k+i] = q.b[2*i], q.b[2*i+1], -q.b[2*i+1]
		for j := range k {
			nn, nt, tn, tt := q.d[2*i*w+2*j], q.d[2*i*w+2*j+1], q.d[(2*i+1)*w+2*j], q.d[(2*i+1)*w+2*j+1]
			m[i*n+j], m[i*n+k+j], m[i*n+2*k+j] = nn, nt, -nt
			m[(k+i)*n+j], m[(k+i)*n+k+j], m[(k+i)*n+2*k+j] = tn, tt, -tt
			m[(2*k+i)*n+j], m[(2*k+i)*n+k+j], m[(2*k+i)*n+2*k+j] = -tn, -tt, tt
		}
		m[(k+i)*n+3*k+i], m[(2*k+i)*n+4*k+i] = 1, 1
		m[(3*k+i)*n+i], m[(3*k+i)*n+k+i] = q.mu[i], -1
		m[(4*k+i)*n+i], m[(4*k+i)*n+2*k+i] = q.mu[i], -1
	}
	return m, b
}

// Where the two methods find different velocities, both must be solutions: friction does not make them unique.
func TestFrictionAgainstComplementarity(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		same, other := 0, 0
		for i := range 60 {
			q := rods(source(uint64(70*n+i)), n, 1+(2*n+2)/3)
			m, b := q.five()
			z := make([]float64, 5*n)
			if r := NewSolver(5*n).Solve(m, b, z); !r.Status.OK() {
				t.Errorf("n = %d, problem %d: complementarity problem: %+v", n, i, r)
				continue
			}
			p2 := make([]float64, 2*n)
			for k := range n {
				p2[2*k], p2[2*k+1] = z[k], z[n+k]-z[2*n+k]
			}
			st, p := make([]State, n), make([]float64, 2*n)
			q.solved(t, NewFrictional(n), st, p)
			if q.apart(q.velocity(p), q.velocity(p2)) < 1e-6 {
				same++
			} else if e := q.misfit(p2); e < 1e-7 {
				other++
			} else {
				t.Errorf("n = %d, problem %d: misfit of the complementarity solver's solution %g", n, i, e)
			}
		}
		t.Logf("%d contacts: %d the same, %d another solution", n, same, other)
		if same < 50 {
			t.Errorf("%d contacts: only %d of 60 agree", n, same)
		}
	}
}

const clashScript = `
import sys, json, itertools, numpy as np
from scipy.optimize import linprog
for o in json.load(sys.stdin):
    b = np.array(o['b']); n2 = len(b); n = n2 // 2
    D = np.array(o['d']).reshape(n2, n2); s = 1/np.sqrt(np.diag(D)); D = D*s[:, None]*s[None, :]; b = b*s; b /= abs(b).max()
    mu = np.array(o['mu'])*s[0::2]/s[1::2]
    unit = lambda i: np.eye(n2+1)[i]
    row = lambda i: np.r_[D[i], 0]
    best = 9.0
    for st in itertools.product(range(4), repeat=n):
        Au, bu, Ae = [], [], []
        def le(a, r): Au.append(a); bu.append(r)
        for i, x in enumerate(st):
            N, T = 2*i, 2*i+1
            if x == 0:
                Ae += [unit(N), unit(T)]; le(-row(N)-unit(n2), b[N]); continue
            for g in (1, -1): le(g*row(N)-unit(n2), -g*b[N])
            le(-unit(N), 0)
            if x == 1:
                for g in (1, -1): le(g*row(T)-unit(n2), -g*b[T]); le(g*unit(T)-mu[i]*unit(N), 0)
            else:
                g = 1 if x == 2 else -1
                le(-g*row(T)-unit(n2), g*b[T]); Ae.append(unit(T)+g*mu[i]*unit(N))
        r = linprog(np.r_[np.zeros(n2), 1], A_ub=np.array(Au), b_ub=bu, A_eq=np.array(Ae) if Ae else None, b_eq=np.zeros(len(Ae)) if Ae else None,
                    bounds=[(None, None)]*n2 + [(0, None)], method='highs')
        if r.status == 0: best = min(best, r.x[-1])
    print(best)
`

// A clash is no failure of the solver: linear programs over all 4ⁿ states, which know redundant contacts as well, find no
// solution; the least violation is far from rounding.
func TestFrictionClashHasNoSolution(t *testing.T) {
	peer.Python(t, "scipy")
	type plain struct {
		D  []float64 `json:"d"`
		B  []float64 `json:"b"`
		Mu []float64 `json:"mu"`
	}
	var list []plain
	for _, c := range brushes[5:] {
		s := newSlider(source(4))
		c.set(s)
		s.start()
		f, kept := NewFrictional(20), 0
		s.seen = func(q friction, c []float64, st []State, p []float64) {
			n := len(st)
			if n == 0 || n > 4 || kept == 1 {
				return
			}
			q.b = slices.Clone(q.b)
			for i, x := range c {
				q.b[i] += x
			}
			if r := f.Solve(q.d, q.b, q.mu, slices.Clone(st), slices.Clone(p)); r.Status != Verified {
				if !r.Clash {
					t.Errorf("degraded without a clash: %+v", r)
				}
				list, kept = append(list, plain{q.d, q.b, q.mu}), kept+1
			}
		}
		for range 800 {
			s.step(20e-6)
		}
	}
	if len(list) == 0 {
		t.Fatal("no clash in all runs")
	}
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/usr/bin/python3", "-c", clashScript)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var worst []string
	for _, line := range strings.Fields(string(out)) {
		var e float64
		if _, err := fmt.Sscan(line, &e); err != nil || !(e > 1e-7) {
			t.Errorf("a state with a violation of %s only", line)
		}
		worst = append(worst, line)
	}
	if len(worst) != len(list) {
		t.Errorf("%d answers to %d problems", len(worst), len(list))
	}
	t.Logf("least violations of %d clashes: %v", len(list), worst)
}
