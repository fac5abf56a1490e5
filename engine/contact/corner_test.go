package contact

import (
	"math"
	"testing"

	"hilrig/engine/lcp"
)

// large is the complementarity problem of n_N + 4·n_H unknowns x = (x_N, λ⁺, λ⁻, k⁺, k⁻) after [SNB06] (14), for all but sides
// AtLeast and AtMost. It is solved by lcp.Solver, and forces are returned in the order of corner; nil without a solution.
func large(c *corner, g, b []float64) (p []float64, status lcp.Status) {
	n := c.n
	w := 2 * n
	var h []int
	for i := range n {
		if c.bound[i].Side == lcp.Either {
			h = append(h, i)
		}
	}
	nh := len(h)
	size := n + 4*nh
	a, q := make([]float64, size*size), make([]float64, size)
	row := func(to, at int, sign float64) {
		q[to] = sign * b[at]
		for j := range n {
			v := g[at*w+2*j]
			switch c.bound[j].Side {
			case lcp.Forward:
				v -= c.mu[j] * g[at*w+2*j+1]
			case lcp.Backward:
				v += c.mu[j] * g[at*w+2*j+1]
			}
			a[to*size+j] = sign * v
		}
		for k, j := range h {
			a[to*size+n+k], a[to*size+n+nh+k] = sign*g[at*w+2*j+1], -sign*g[at*w+2*j+1]
		}
	}
	for i := range n {
		row(i, 2*i, 1)
	}
	for k, i := range h {
		row(n+k, 2*i+1, 1)
		row(n+nh+k, 2*i+1, -1)
		for s := range 2 {
			a[(n+s*nh+k)*size+n+2*nh+s*nh+k] = 1
			a[(n+2*nh+s*nh+k)*size+i], a[(n+2*nh+s*nh+k)*size+n+s*nh+k] = c.mu[i], -1
		}
	}
	x := make([]float64, size)
	res := lcp.NewSolver(size).Solve(a, q, x)
	if !res.Status.OK() {
		return nil, res.Status
	}
	p = make([]float64, w)
	for i := range n {
		p[2*i] = x[i]
		switch c.bound[i].Side {
		case lcp.Forward:
			p[2*i+1] = -c.mu[i] * x[i]
		case lcp.Backward:
			p[2*i+1] = c.mu[i] * x[i]
		}
	}
	for k, i := range h {
		p[2*i+1] = x[n+k] - x[n+nh+k]
	}
	return p, res.Status
}

// The form of n_N + 4·n_H unknowns, solved as a complementarity problem, has a solution when corner has one, with the same accelerations
// unless there are several.
func TestForcesAreThoseOfTheLargeForm(t *testing.T) {
	for _, kind := range []struct {
		name   string
		factor float64 // of friction
		sides  int
	}{{"may stick", 1, 1}, {"slide gently", 0.4, 3}, {"slide", 1, 3}} {
		solved, none, apart := 0, 0, 0
		for k := range 1500 {
			r := seeded(uint64(k))
			n := 1 + r.IntN(8)
			b := randomBodies(r, n, 1+r.IntN(n+1), false)
			c := newCorner(n)
			c.n = n
			for i, l := range b.laws {
				c.set(i, kind.factor*l.Mu, lcp.Side(r.IntN(kind.sides)))
			}
			p, acc, want := make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n)
			got, ok := c.solve(b.g, b.v, p)
			ref, status := large(c, b.g, b.v)
			if ok != status.OK() {
				t.Errorf("%s, seed %d: %v, the large form %v", kind.name, k, got, status)
				continue
			}
			if ref == nil {
				none++
				continue
			}
			solved++
			product(b.g, p, b.v, acc)
			product(b.g, ref, b.v, want)
			size, diff := 0.0, 0.0
			for i, x := range b.v {
				size = max(size, math.Abs(x), math.Abs(want[i]))
				diff = max(diff, math.Abs(acc[i]-want[i]))
			}
			if diff > 1e-8*size {
				apart++
			}
		}
		t.Logf("%s: %d solved, %d with other accelerations, %d without a solution", kind.name, solved, apart, none)
		if apart > solved/50 {
			t.Errorf("%s: %d of %d have other accelerations", kind.name, apart, solved)
		}
	}
}

// All combinations of states of a few contacts, each a system of linear equations: the velocities of corner are among those of
// the combinations that keep the law, for every kind of bound.
func TestVelocitiesAreThoseOfEnumeration(t *testing.T) {
	several, compared := 0, 0
	for k := range 600 {
		r := seeded(uint64(k))
		n := 1 + r.IntN(3)
		b := randomBodies(r, n, n+1, false)
		c := newCorner(n)
		c.n = n
		for i, l := range b.laws {
			c.set(i, l.Mu, lcp.Either)
			if k%2 == 1 {
				c.bound[i].Base = 0.01 * r.Float64()
				switch r.IntN(3) {
				case 0:
					c.bound[i].Side, c.bound[i].R = lcp.AtLeast, 0.7*l.Mu*c.bound[i].Base
				case 1:
					c.bound[i].Side, c.bound[i].R = lcp.AtMost, -0.4*l.Mu*c.bound[i].Base
				}
			}
		}
		p, v := make([]float64, 2*n), make([]float64, 2*n)
		if res, ok := c.solve(b.g, b.v, p); !ok {
			t.Fatalf("seed %d: %+v", k, res)
		}
		product(b.g, p, b.v, v)
		all := enumerate(c, b.g, b.v)
		if len(all) == 0 {
			t.Fatalf("seed %d: enumeration found none", k)
		}
		if len(all) > 1 {
			several++
		}
		best := math.Inf(1)
		for _, w := range all {
			d := 0.0
			for i := range v {
				d = max(d, math.Abs(w[i]-v[i]))
			}
			best = min(best, d)
		}
		compared++
		if best > 1e-9 {
			t.Errorf("seed %d: nearest of %d differs by %g m/s", k, len(all), best)
		}
	}
	t.Logf("%d compared, %d with more than one solution", compared, several)
}

// enumerate lists the distinct velocities of all admissible states.
func enumerate(c *corner, g, b []float64) (all [][]float64) {
	n := c.n
	w := 2 * n
	states := 1
	for range n {
		states *= 6
	}
	for code := range states {
		// normal: x = 0 or v = 0; tangent: lower bound, upper bound, between
		a, rhs := make([]float64, w*w), make([]float64, w)
		st := make([][2]int, n)
		for i, k := 0, code; i < n; i, k = i+1, k/6 {
			st[i] = [2]int{k % 2, k / 2 % 3}
			lo, hi := [2]float64{-c.mu[i], 0}, [2]float64{c.mu[i], 0}
			switch c.bound[i].Side {
			case lcp.AtLeast:
				lo = [2]float64{0, c.bound[i].R}
			case lcp.AtMost:
				hi = [2]float64{0, c.bound[i].R}
			}
			row, tow := a[2*i*w:2*i*w+w], a[(2*i+1)*w:(2*i+1)*w+w]
			if st[i][0] == 0 {
				row[2*i], rhs[2*i] = 1, c.bound[i].Base
			} else {
				copy(row, g[2*i*w:2*i*w+w])
				rhs[2*i] = -b[2*i]
			}
			switch st[i][1] {
			case 0:
				tow[2*i+1], tow[2*i], rhs[2*i+1] = 1, -lo[0], lo[1]
			case 1:
				tow[2*i+1], tow[2*i], rhs[2*i+1] = 1, -hi[0], hi[1]
			default:
				copy(tow, g[(2*i+1)*w:(2*i+1)*w+w])
				rhs[2*i+1] = -b[2*i+1]
			}
		}
		eq := newPivoted(w)
		copy(eq.a, a)
		copy(eq.b, rhs)
		p, v := make([]float64, w), make([]float64, w)
		if rank, _ := eq.solve(w, p); rank < w {
			continue
		}
		product(g, p, b, v)
		const tol = 1e-9
		ok := true
		for i := range n {
			lo, hi := -c.mu[i]*p[2*i], c.mu[i]*p[2*i]
			switch c.bound[i].Side {
			case lcp.AtLeast:
				lo = c.bound[i].R
			case lcp.AtMost:
				hi = c.bound[i].R
			}
			pn, pt, vn, vt := p[2*i], p[2*i+1], v[2*i], v[2*i+1]
			ok = ok && pn >= c.bound[i].Base-tol && vn >= -tol && pt >= lo-tol && pt <= hi+tol
			switch st[i][1] {
			case 0:
				ok = ok && vt >= -tol
			case 1:
				ok = ok && vt <= tol
			}
		}
		if !ok {
			continue
		}
		same := false
		for _, x := range all {
			d := 0.0
			for i := range v {
				d = max(d, math.Abs(x[i]-v[i]))
			}
			same = same || d < 1e-7
		}
		if !same {
			all = append(all, v)
		}
	}
	return all
}

// One sliding contact: A = G_NN − μ·σ·G_NT decides. A < 0 with b < 0 has no forces, and the solver must say so.
func TestNoForcesWithoutSolution(t *testing.T) {
	c := newCorner(1)
	c.n = 1
	c.set(0, 1, lcp.Forward)
	p := make([]float64, 2)
	for _, x := range []struct {
		gnt, b float64
		ok     bool
	}{{0.5, -1, true}, {1.5, -1, false}, {1.5, 1, true}, {0.5, 1, true}, {-1.5, -1, true}} {
		res, ok := c.solve([]float64{1, x.gnt, x.gnt, 4}, []float64{x.b, 1}, p)
		if ok != x.ok {
			t.Errorf("G_NT = %g, b = %g: %+v", x.gnt, x.b, res)
		}
		if want := max(-x.b, 0) / (1 - x.gnt); x.ok {
			near(t, "λ_N", p[0], want, 1e-12)
			near(t, "λ_T", p[1], -want, 1e-12)
		} else if !res.NoSolution {
			t.Errorf("G_NT = %g, b = %g: %+v", x.gnt, x.b, res)
		}
	}
}

func TestIndexSetsHaveHysteresis(t *testing.T) {
	set := NewSet(8, 1)
	add := func(id uint32, gap, vn, vt float64) {
		i := set.Add(id, Law{Mu: 0.3}, gap)
		set.VN[i], set.VT[i] = vn, vt
	}
	add(0, 0, 0, 0)          // sticks
	add(1, 2e-9, 0, 0)       // open
	add(2, 0, 5e-8, 0)       // separates
	add(3, 0, 0, 5e-8)       // slides
	add(4, 2e-9, 5e-8, 5e-8) // was held: still is, and sticks
	add(5, 0, 2e-7, 0)       // was held: separates
	add(6, 0, 0, 5e-8)       // was held sliding: slides
	add(7, 2e-8, 0, 0)       // was held: open
	x := sets{tolG: 1e-9, tolV: 1e-8, tolT: 1e-8}
	was := []held{{id: 4}, {id: 5}, {id: 6, sigma: 1}, {id: 7}}
	x.close(set, was)
	x.rest(set, []float64{0}, was)
	for _, c := range []struct {
		name string
		got  []int32
		want []int32
	}{{"I_S", x.s, []int32{0, 2, 3, 4, 5, 6}}, {"I_N", x.n, []int32{0, 3, 4, 6}}, {"I_H", x.h, []int32{0, 4}}} {
		if len(c.got) != len(c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
			continue
		}
		for i := range c.got {
			if c.got[i] != c.want[i] {
				t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
			}
		}
	}
}
