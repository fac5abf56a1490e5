package contact

import (
	"math"
	"testing"

	"hilrig/engine/lcp"
)

// The large form is the matrix of the blocks
//
//	[ G_NN·P  G_NH −G_NH 0 0 ; G_HN·P  G_HH −G_HH I 0 ; … ; μ_H −I 0 0 0 ; μ_H 0 −I 0 0 ]
//
// and the small one [ G_NN(P) − G_NH·μ_H  G_NH 0 ; … I ; 2μ_H −I 0 ], written down here by hand from W and M.
func TestFormsAreTheBlocks(t *testing.T) {
	r := seeded(11)
	const n = 3
	b := randomBodies(r, n, 2, false)
	c := newCorner(n)
	c.n = n
	h := []int{0, 2} // contact 1 slides with ġ_T < 0
	sigma := -1.0
	for i, l := range b.laws {
		c.mu[i], c.base[i] = l.Mu, 0
	}
	c.side[1] = backward
	G := func(i, j int) float64 { return b.g[i*2*n+j] }
	N, T := func(i int) int { return 2 * i }, func(i int) int { return 2*i + 1 }
	// columns of P = W_N + W_G·μ_G
	P := func(row, j int) float64 {
		v := G(row, N(j))
		if j == 1 {
			v -= c.mu[1] * sigma * G(row, T(1))
		}
		return v
	}
	for _, large := range []bool{true, false} {
		var want [][]float64
		var q []float64
		pad := func(row []float64, n int) []float64 { return append(row, make([]float64, n-len(row))...) }
		size := n + 2*len(h)
		if large {
			size = n + 4*len(h)
		}
		motion := func(at int, s float64, k int) {
			var row []float64
			for j := range n {
				v := P(at, j)
				if !large && j != 1 {
					v -= c.mu[j] * G(at, T(j))
				}
				row = append(row, s*v)
			}
			for _, j := range h {
				row = append(row, s*G(at, T(j)))
			}
			if large {
				for _, j := range h {
					row = append(row, -s*G(at, T(j)))
				}
			}
			row = pad(row, size)
			if k >= 0 {
				row[k] = 1
			}
			want, q = append(want, row), append(q, s*b.v[at])
		}
		for i := range n {
			motion(N(i), 1, -1)
		}
		kPlus := n + len(h)
		if large {
			kPlus = n + 2*len(h)
		}
		for a, i := range h {
			motion(T(i), 1, kPlus+a)
		}
		if large {
			for a, i := range h {
				motion(T(i), -1, kPlus+len(h)+a)
			}
		}
		halves := 1
		if large {
			halves = 2
		}
		for s := range halves {
			for a, i := range h {
				row := make([]float64, size)
				row[i], row[n+s*len(h)+a] = c.mu[i], -1
				if !large {
					row[i] *= 2
				}
				want, q = append(want, row), append(q, 0)
			}
		}
		if got := c.assemble(b.g, b.v, large); got != size {
			t.Fatalf("large %v: %d unknowns, want %d", large, got, size)
		}
		for i := range size {
			if math.Abs(c.q[i]-q[i]) > 1e-12*(1+math.Abs(q[i])) {
				t.Errorf("large %v: q[%d] = %g, want %g", large, i, c.q[i], q[i])
			}
			for j := range size {
				if got := c.a[i*size+j]; math.Abs(got-want[i][j]) > 1e-12*(1+math.Abs(got)) {
					t.Errorf("large %v: A[%d,%d] = %g, want %g", large, i, j, got, want[i][j])
				}
			}
		}
	}
}

// Both forms give the same accelerations, sliding contacts included.
func TestFormsGiveTheSameAccelerations(t *testing.T) {
	worst, compared, none := 0.0, 0, 0
	for k := range 400 {
		r := seeded(uint64(k))
		n := 1 + r.IntN(6)
		b := randomBodies(r, n, 1+r.IntN(n+1), false)
		c := newCorner(n)
		c.n = n
		for i, l := range b.laws {
			c.mu[i], c.base[i], c.side[i] = 0.4*l.Mu, 0, side(r.IntN(3))
		}
		var acc [2][]float64
		ok := true
		for form := range 2 {
			size := c.assemble(b.g, b.v, form == 1)
			res := c.solver.Solve(c.a[:size*size], c.q[:size], c.x[:size])
			ok = ok && res.Status.OK()
			p := make([]float64, 2*n)
			c.forces(p)
			acc[form] = make([]float64, 2*n)
			product(b.g, p, b.v, acc[form])
		}
		if !ok {
			none++
			continue
		}
		size, diff := 0.0, 0.0
		for i, x := range b.v {
			size = max(size, math.Abs(x), math.Abs(acc[1][i]))
			diff = max(diff, math.Abs(acc[0][i]-acc[1][i]))
		}
		compared++
		if diff > 1e-10*size {
			t.Errorf("seed %d: accelerations differ by %.2g", k, diff/size)
		}
		worst = max(worst, diff/size)
	}
	t.Logf("%d compared, largest difference %.1e; %d without solution in one form", compared, worst, none)
	if compared < 380 {
		t.Errorf("only %d of 400 solved", compared)
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
			c.mu[i], c.base[i], c.r[i], c.side[i] = l.Mu, 0, 0, either
			if k%2 == 1 {
				c.base[i] = 0.01 * r.Float64()
				switch r.IntN(3) {
				case 0:
					c.side[i], c.r[i] = atLeast, 0.7*l.Mu*c.base[i]
				case 1:
					c.side[i], c.r[i] = atMost, -0.4*l.Mu*c.base[i]
				}
			}
		}
		p, v := make([]float64, 2*n), make([]float64, 2*n)
		if res := c.solve(b.g, b.v, p); !res.Status.OK() {
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
			switch c.side[i] {
			case atLeast:
				lo = [2]float64{0, c.r[i]}
			case atMost:
				hi = [2]float64{0, c.r[i]}
			}
			row, tow := a[2*i*w:2*i*w+w], a[(2*i+1)*w:(2*i+1)*w+w]
			if st[i][0] == 0 {
				row[2*i], rhs[2*i] = 1, c.base[i]
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
			switch c.side[i] {
			case atLeast:
				lo = c.r[i]
			case atMost:
				hi = c.r[i]
			}
			pn, pt, vn, vt := p[2*i], p[2*i+1], v[2*i], v[2*i+1]
			ok = ok && pn >= c.base[i]-tol && vn >= -tol && pt >= lo-tol && pt <= hi+tol
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
	c.n, c.mu[0], c.side[0] = 1, 1, forward
	p := make([]float64, 2)
	for _, x := range []struct {
		gnt, b float64
		ok     bool
	}{{0.5, -1, true}, {1.5, -1, false}, {1.5, 1, true}, {0.5, 1, true}, {-1.5, -1, true}} {
		res := c.solve([]float64{1, x.gnt, x.gnt, 4}, []float64{x.b, 1}, p)
		if res.Status.OK() != x.ok {
			t.Errorf("G_NT = %g, b = %g: %+v", x.gnt, x.b, res)
		}
		if want := max(-x.b, 0) / (1 - x.gnt); x.ok {
			near(t, "λ_N", p[0], want, 1e-12)
			near(t, "λ_T", p[1], -want, 1e-12)
		} else if res.Status != lcp.RayInfeasible {
			t.Errorf("G_NT = %g, b = %g: %v", x.gnt, x.b, res.Status)
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
