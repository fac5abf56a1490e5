package lcp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// bounded is a problem of SolveBounded.
type bounded struct {
	friction
	bound []Bound
}

// limits are the bounds of p_T of contact i at p_N as slope and constant: lower, upper.
func (q *bounded) limits(i int) (lower, upper [2]float64) {
	lower, upper = [2]float64{-q.mu[i], 0}, [2]float64{q.mu[i], 0}
	switch b := q.bound[i]; b.Side {
	case Forward:
		upper = lower
	case Backward:
		lower = upper
	case AtLeast:
		lower = [2]float64{0, b.R}
	case AtMost:
		upper = [2]float64{0, b.R}
	}
	return lower, upper
}

// breach says which line of the law p breaks, by more than a share of what it is made of.
func (q *bounded) breach(p []float64) string {
	const tol = 1e-7
	v := q.velocity(p)
	for i, b := range q.bound {
		size, speed := math.Abs(b.Base), 0.0
		for j, x := range p {
			size = max(size, math.Abs(x))
			speed = max(speed, math.Abs(q.d[2*i*len(p)+j]*x), math.Abs(q.d[(2*i+1)*len(p)+j]*x))
		}
		speed = max(speed, math.Abs(q.b[2*i]), math.Abs(q.b[2*i+1]))
		pn, pt, vn, vt := p[2*i], p[2*i+1], v[2*i], v[2*i+1]
		l, u := q.limits(i)
		low, high := l[0]*pn+l[1], u[0]*pn+u[1]
		switch {
		case pn < b.Base-tol*size || vn < -tol*speed || pn > b.Base+tol*size && vn > tol*speed:
			return fmt.Sprintf("contact %d: p_N %g with Base %g and v_N %g", i, pn, b.Base, vn)
		case pt < low-tol*size || pt > high+tol*size:
			return fmt.Sprintf("contact %d: p_T %g outside %g … %g", i, pt, low, high)
		case b.Side == Forward || b.Side == Backward:
		case vt > tol*speed && pt > low+tol*size || vt < -tol*speed && pt < high-tol*size:
			return fmt.Sprintf("contact %d: p_T %g in %g … %g with v_T %g", i, pt, low, high, vt)
		}
	}
	return ""
}

// solvable tries x = 0 or v_N = 0 with p_T at its lower bound, its upper bound or v_T = 0 for every contact.
func (q *bounded) solvable() bool {
	n, w := len(q.mu), len(q.b)
	for code := range int(math.Pow(6, float64(n))) {
		a, rhs := make([]float64, w*w), make([]float64, w)
		moves := func(r int) {
			copy(a[r*w:r*w+w], q.d[r*w:])
			rhs[r] = -q.b[r]
		}
		for i := range n {
			l, u := q.limits(i)
			if code%2 == 0 {
				a[2*i*w+2*i], rhs[2*i] = 1, q.bound[i].Base
			} else {
				moves(2 * i)
			}
			r := 2*i + 1
			switch code / 2 % 3 {
			case 0:
				a[r*w+r], a[r*w+r-1], rhs[r] = 1, -l[0], l[1]
			case 1:
				a[r*w+r], a[r*w+r-1], rhs[r] = 1, -u[0], u[1]
			case 2:
				moves(r)
			}
			code /= 6
		}
		if p := gauss(a, rhs); p != nil && q.breach(p) == "" {
			return true
		}
	}
	return false
}

// Problems at random with Base, sides and R: what comes out obeys the law, and where nothing does none of all combinations is a solution.
// Contacts that slide by force against strong coupling leave some problems to the search of all states; contacts without friction have no
// tangential impulse.
func TestBoundsAgainstAllCombinations(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	searched, smooth, none := 0, 0, 0
	f := NewFrictional(3) // of all: nothing of a problem is left for the next one
	for k := range 12000 {
		n := 1 + k%3
		w := 2 * n
		c := make([]float64, w*w)
		for i := range c {
			c[i] = r.NormFloat64()
		}
		q := bounded{friction{d: make([]float64, w*w), b: make([]float64, w), mu: make([]float64, n)}, make([]Bound, n)}
		for i := range w {
			q.b[i] = r.NormFloat64()
			for j := range w {
				for l := range w {
					q.d[i*w+j] += c[i*w+l] * c[j*w+l]
				}
			}
			q.d[i*(w+1)] += 0.05
		}
		kept, bare := false, false
		for i := range n {
			b := &q.bound[i]
			q.mu[i] = []float64{0, 0.3, 1.5, 4}[r.IntN(4)]
			if r.IntN(2) == 0 {
				b.Base = r.Float64()
			}
			b.Side = Side(r.IntN(5))
			if k%2 == 0 { // strong coupling by force
				b.Side, q.mu[i] = Side(1+r.IntN(2)), 4
			}
			if b.Side >= AtLeast {
				if b.R = q.mu[i] * b.Base * (0.1 + 0.8*r.Float64()); b.Side == AtMost {
					b.R = -b.R
				}
				if b.R == 0 {
					b.Side = Either
				}
			}
			kept = kept || b.Base > 0
			bare = bare || b.Base > 0 && q.mu[i] == 0
		}
		p := make([]float64, w)
		res := f.SolveBounded(q.d, q.b, q.mu, q.bound, p)
		switch {
		case res.Status == Verified:
			if bad := q.breach(p); bad != "" {
				t.Errorf("%d, %v: %s", k, res.Method, bad)
			}
			if res.Method == BySearch && kept {
				searched++
			}
			if bare {
				smooth++
			}
		case q.solvable():
			t.Errorf("%d: %+v, but there is a solution: %+v", k, res, q)
		default:
			none++
		}
	}
	t.Logf("%d with Base by search, %d with Base and without friction, %d without solution", searched, smooth, none)
	if searched < 20 || smooth < 500 || none < 100 {
		t.Errorf("%d with Base by search, %d with Base and without friction, %d without solution: too few to tell", searched, smooth, none)
	}
}

// One contact by hand: with D_NN = 1, b_N = −1 or 1 and Base 0.5 the normal impulse is 1 where the contact closes and 0.5 where it opens.
// Without friction the tangential velocity has no say, of either sign, and friction at the bounds of Base acts on a contact that opens.
func TestBaseOfOneContact(t *testing.T) {
	d := []float64{1, 0.25, 0.25, 2}
	for _, c := range []struct{ bn, bt, mu, pn, pt float64 }{
		{-1, 3, 0, 1, 0},
		{-1, -3, 0, 1, 0},
		{1, 3, 0, 0.5, 0},
		{1, -3, 0, 0.5, 0},
		{1, -0.125, 0, 0.5, 0}, // v_T = 0
		{1, 3, 0.4, 0.5, -0.2},
		{1, -3, 0.4, 0.5, 0.2},
		{1, 0.075, 0.4, 0.5, -0.1}, // sticks: 0.25·0.5 + 2·p_T = −0.075
	} {
		p := make([]float64, 2)
		r := NewFrictional(1).SolveBounded(d, []float64{c.bn, c.bt}, []float64{c.mu}, []Bound{{Base: 0.5}}, p)
		if r.Status != Verified || math.Abs(p[0]-c.pn) > 1e-12 || math.Abs(p[1]-c.pt) > 1e-12 {
			t.Errorf("b %g, %g, μ = %g: %v, %v, want %g, %g", c.bn, c.bt, c.mu, p, r, c.pn, c.pt)
		}
	}
}

// Where no solution is, all states show it up to searchStates of them: two of a contact that slides by force, with D_NN − μ·D_NT < 0
// and an approach no force can stop, four of each that may stick beside it, and two of each with Base and without friction.
func TestSearchKnowsThatThereIsNoSolution(t *testing.T) {
	for _, c := range []struct {
		beside     int
		base, mu   float64
		noSolution bool
	}{{0, 0, 0, true}, {5, 0, 0.5, true}, {6, 0, 0.5, false}, {11, 0.25, 0, true}, {12, 0.25, 0, false}} {
		n := 1 + c.beside
		d, b, mu, bound := make([]float64, 4*n*n), make([]float64, 2*n), make([]float64, n), make([]Bound, n)
		for i := range n {
			d[4*n*i+2*i], d[(2*i+1)*2*n+2*i+1] = 1, 1
			b[2*i], b[2*i+1], mu[i], bound[i].Base = -1, 0.3, c.mu, c.base
		}
		d[1], d[2*n], mu[0], bound[0] = 0.8, 0.8, 2, Bound{Side: Forward}
		p := make([]float64, 2*n)
		if r := NewFrictional(n).SolveBounded(d, b, mu, bound, p); r.Status != Degraded || r.NoSolution != c.noSolution {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}
