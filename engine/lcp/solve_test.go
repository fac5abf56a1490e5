package lcp

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Solved by hand.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		m, q   []float64
		status Status
		z      []float64 // nil: not unique, or none
	}{
		{"one unknown", []float64{2}, []float64{-3}, Solved, []float64{1.5}},
		{"nothing to do", []float64{-1, 5, 0, 0}, []float64{0, 1}, Trivial, []float64{0, 0}},
		// 2z1 + z2 = 5, z1 + 2z2 = 6
		{"both positive", []float64{2, 1, 1, 2}, []float64{-5, -6}, Solved, []float64{4.0 / 3, 7.0 / 3}},
		// z1 = 0: w1 = 2 − 1 = 1 > 0
		{"one positive", []float64{2, 1, 1, 2}, []float64{0.5, -2}, Solved, []float64{0, 1}},
		// z1 = 1, then 2·z1 + z2 ≥ 1 already: w2 = 1
		{"Murty", []float64{1, 0, 2, 1}, []float64{-1, -1}, Solved, []float64{1, 0}},
		{"not P, one solution of two", []float64{1, 2, 2, 1}, []float64{-1, -1}, Solved, nil},
		// w1 + w2 = −2
		{"contradiction", []float64{1, -1, -1, 1}, []float64{-1, -1}, RayInfeasible, nil},
		{"row of zeros", []float64{1, 0, 0, 0}, []float64{-1, -1}, RayInfeasible, nil},
		// w = −z − 1 < 0
		{"negative", []float64{-1}, []float64{-1}, RayInfeasible, nil},
		{"nothing to push with", []float64{0}, []float64{-1}, RayInfeasible, nil},
		// w1 = z2 − 1, w2 = 1 − z1: z = (1, 1) makes both zero; (0, 1) has z2·w2 = 1
		{"skew", []float64{0, 1, -1, 0}, []float64{-1, 1}, Solved, []float64{1, 1}},
		// feasible with z2 ≥ 1, but w2 = 1 asks for z2 = 0
		{"feasible without a solution", []float64{0, 1, 0, 0}, []float64{-1, 1}, RayUnknown, nil},
		// 3×3: chain of three equal balls, theory 1.4: G = [2 −1; −1 2], first at 1 m/s, with a third contact that stays open
		{"chain of balls", []float64{2, -1, 0, -1, 2, 0, 0, 0, 1}, []float64{-1, 0, 3}, Solved, []float64{2.0 / 3, 1.0 / 3, 0}},
		// 2z1 − z2 = 1, −z1 + 2z2 − z3 = 0, −z2 + 2z3 = 1
		{"tridiagonal", []float64{2, -1, 0, -1, 2, -1, 0, -1, 2}, []float64{-1, 0, -1}, Solved, []float64{1, 1, 1}},
		{"degenerate", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, []float64{-1, -1, -1}, Solved, nil},
		// block on a plane, m = 1 kg, g = 10 m/s², pulled with 3 N, μ = 0.5: sticks, λ_N = 10 N, λ_T = −3 N
		{"block sticks", block(0.5), []float64{-10, 3, -3, 0, 0}, Solved, nil},
	} {
		n := len(c.q)
		p := problem{c.name, n, c.m, c.q}
		s, z := NewSolver(n), make([]float64, n)
		r := s.Solve(c.m, c.q, z)
		honest(t, p, s, r, z)
		if r.Status != c.status {
			t.Errorf("%s: %+v, want %v", c.name, r, c.status)
			continue
		}
		for i, want := range c.z {
			if math.Abs(z[i]-want) > 1e-14 {
				t.Errorf("%s: z = %v, want %v", c.name, z, c.z)
				break
			}
		}
	}
}

// block is one contact of a unit mass that may stick, theory n_N + 4n_H.
func block(mu float64) []float64 {
	return []float64{
		1, 0, 0, 0, 0,
		0, 1, -1, 1, 0,
		0, -1, 1, 0, 1,
		mu, -1, 0, 0, 0,
		mu, 0, -1, 0, 0,
	}
}

// The block of theory 1.3: pulled with less than μ·m·g it stays, with more it accelerates by the difference.
func TestBlockOnPlane(t *testing.T) {
	s, z := NewSolver(5), make([]float64, 5)
	for _, pull := range []float64{-8, -5.0001, -3, 0, 1, 4.9999, 6, 20} {
		q := []float64{-10, pull, -pull, 0, 0}
		r := s.Solve(block(0.5), q, z)
		if !r.Status.OK() {
			t.Fatalf("%g N: %+v", pull, r)
		}
		a := pull + z[1] - z[2]
		want := 0.0
		if math.Abs(pull) > 5 {
			want = pull - math.Copysign(5, pull)
		}
		if math.Abs(z[0]-10) > 1e-12 || math.Abs(a-want) > 1e-12 {
			t.Errorf("%g N: normal force %g N, acceleration %g m/s², want 10 and %g", pull, z[0], a, want)
		}
	}
}

func TestRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	s, z := NewSolver(2), []float64{7, 7}
	for _, c := range [][2][]float64{
		{{nan, 0, 0, 1}, {-1, -1}}, {{1, 0, 0, inf}, {-1, -1}}, {{1, 0, 0, 1}, {-1, nan}}, {{1, 0, 0, 1}, {-inf, 1}},
		{{nan, 0, 0, 1}, {1, 1}}, {{1, 0, 0, 1}, {inf, 1}},
	} {
		r := s.Solve(c[0], c[1], z)
		if r.Status != Numeric || r.Pivots != 0 || z[0] != 0 || z[1] != 0 {
			t.Errorf("%v: %+v, z = %v", c, r, z)
		}
	}
	panics := func(name string, f func()) {
		defer func() {
			if msg, _ := recover().(string); !strings.HasPrefix(msg, "lcp: ") {
				t.Errorf("%s: %q", name, msg)
			}
		}()
		f()
	}
	panics("not square", func() { s.Solve(make([]float64, 3), make([]float64, 2), z) })
	panics("too large", func() { s.Solve(make([]float64, 9), make([]float64, 3), make([]float64, 3)) })
	panics("z", func() { s.Solve(make([]float64, 4), make([]float64, 2), make([]float64, 1)) })

	_, err := Dense([][]float64{{1, nan}, {1}}, []float64{inf, 1, 2})
	for _, want := range []string{"matrix M: 2 rows, want 3", "M[0]: 2 numbers, want 3", "M[0][1]: NaN", "M[1]: 1 numbers", "q[0]: +Inf"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: lacks %q", err, want)
		}
	}
	if _, err := Dense(nil, nil); err == nil {
		t.Error("empty problem accepted")
	}
	m, err := Dense([][]float64{{1, 2}, {3, 4}}, []float64{1, 1})
	if err != nil || !slices.Equal(m, []float64{1, 2, 3, 4}) {
		t.Error(m, err)
	}
}

// The numbers of a problem may be of any size: N and t, m and µm.
func TestUnits(t *testing.T) {
	for _, e := range []float64{1e-250, 1e-30, 1e-9, 1, 1e9, 1e30, 1e250} {
		for _, f := range []float64{1e-30, 1, 1e30} {
			m, q, z := []float64{2 * f, f, f, 2 * f}, []float64{-5 * e, -6 * e}, make([]float64, 2)
			r := NewSolver(2).Solve(m, q, z)
			if !r.Status.OK() || math.Abs(z[0]*f/e-4.0/3) > 1e-14 || math.Abs(z[1]*f/e-7.0/3) > 1e-14 {
				t.Errorf("M·%g, q·%g: %+v, z = %v", f, e, r, z)
			}
			// small numbers are no excuse
			m, q = []float64{f, -f, -f, f}, []float64{-e, -e}
			if r := NewSolver(2).Solve(m, q, z); r.Status != RayInfeasible {
				t.Errorf("contradiction, M·%g, q·%g: %+v, z = %v", f, e, r, z)
			}
		}
	}
	// far apart in one problem: w1 = 1e-8·z1 − 1e-8, w2 = 1e8·z2 − 1e8
	z := make([]float64, 2)
	if r := NewSolver(2).Solve([]float64{1e-8, 0, 0, 1e8}, []float64{-1e-8, -1e8}, z); r.Status != Solved || z[0] != 1 || z[1] != 1 {
		t.Errorf("%+v, z = %v", r, z)
	}
}

// One solver for problems of all sizes, results as from a fresh one bit by bit, arguments untouched, no allocation.
func TestReuse(t *testing.T) {
	s := NewSolver(50)
	for i := range 300 {
		r := source(uint64(i))
		var p problem
		switch n := 1 + r.IntN(20); i % 3 {
		case 0:
			p = contacts(r, 1+r.IntN(10))
		case 1:
			p = problem{"any", n, normals(r, n*n), normals(r, n)}
		default:
			p = problem{"PSD", n, gram(r, n, n/2), normals(r, n)}
		}
		m, q := slices.Clone(p.m), slices.Clone(p.q)
		z, zFresh := make([]float64, p.n), make([]float64, p.n)
		fresh := NewSolver(p.n)
		a, b := s.Solve(p.m, p.q, z), fresh.Solve(p.m, p.q, zFresh)
		if a != b || !slices.Equal(z, zFresh) || !slices.Equal(s.Certificate(), fresh.Certificate()) {
			t.Errorf("%v: %+v and %+v", p, a, b)
		}
		if !slices.Equal(m, p.m) || !slices.Equal(q, p.q) {
			t.Errorf("%v: data changed", p)
		}
		if got := testing.AllocsPerRun(1, func() { s.Solve(p.m, p.q, z) }); got != 0 {
			t.Errorf("%v: %v allocations", p, got)
		}
	}
}

func FuzzSolve(f *testing.F) {
	f.Add([]byte{2, 1, 1, 2, 251, 250})
	f.Add([]byte{0, 1, 0, 0, 255, 1})
	f.Add([]byte{1, 255, 255, 1, 255, 255})
	f.Add([]byte{0, 0, 1, 0, 0, 1, 1, 1, 0, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 1
		for (n+1)*(n+2) <= len(b) && n < 7 {
			n++
		}
		if len(b) < n*(n+1) {
			return
		}
		v := make([]float64, n*(n+1))
		for i := range v {
			v[i] = float64(int8(b[i]))
		}
		p := problem{"fuzz", n, v[:n*n], v[n*n:]}
		res := run(t, p)
		if res.Status == RayInfeasible && enumerate(p) {
			t.Errorf("%v: %+v, but it has a solution", p, res)
		}
	})
}

func BenchmarkSolve(b *testing.B) {
	for _, k := range []int{1, 3, 5, 10, 20} {
		b.Run(fmt.Sprintf("contacts=%d/n=%d", k, 5*k), func(b *testing.B) { benchmark(b, k) })
	}
}

func benchmark(b *testing.B, k int) {
	ps := make([]problem, 20)
	for i := range ps {
		ps[i] = contacts(source(uint64(i)), k)
	}
	s, z, i := NewSolver(5*k), make([]float64, 5*k), 0
	b.ReportAllocs()
	for b.Loop() {
		p := &ps[i%len(ps)]
		s.Solve(p.m, p.q, z)
		i++
	}
}

// A block of 1 kg on a plane with μ = 0.5 is pulled with 8 N; 5 N of friction remain at most, and it accelerates with 3 m/s².
func ExampleSolver() {
	rows := [][]float64{ // unknowns: normal force, friction in both directions, acceleration in both directions
		{1, 0, 0, 0, 0},
		{0, 1, -1, 1, 0},
		{0, -1, 1, 0, 1},
		{0.5, -1, 0, 0, 0},
		{0.5, 0, -1, 0, 0},
	}
	q := []float64{-10, 8, -8, 0, 0}
	m, err := Dense(rows, q)
	if err != nil {
		panic(err)
	}
	s, z := NewSolver(len(q)), make([]float64, len(q))
	r := s.Solve(m, q, z)
	fmt.Printf("%v by %v: normal force %.0f N, friction %.0f N, acceleration %.0f m/s²\n", r.Status, r.Method, z[0], z[1]-z[2], z[4])
	// Output: solved by lemke: normal force 10 N, friction -5 N, acceleration 3 m/s²
}
