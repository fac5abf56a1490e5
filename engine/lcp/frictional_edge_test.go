package lcp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"hilrig/engine/numeric"
)

func TestFrictionOneContactClosedForm(t *testing.T) {
	for _, c := range []struct {
		name    string
		d       []float64
		b       [2]float64
		mu      float64
		pn, pt  float64
		st      State
		clashes bool
	}{
		{"leaves", []float64{1, 0, 0, 3}, [2]float64{0.1, -2}, 0.5, 0, 0, Open, false},
		{"disc that sticks", []float64{1, 0, 0, 3}, [2]float64{-1, 0.9}, 0.3, 1, -0.3, Stick, false},
		{"disc that slides", []float64{1, 0, 0, 3}, [2]float64{-1, 0.91}, 0.3, 1, -0.3, SlipPlus, false},
		{"disc that slides back", []float64{1, 0, 0, 3}, [2]float64{-1, -2}, 0.3, 1, 0.3, SlipMinus, false},
		{"without friction", []float64{2, 1, 1, 3}, [2]float64{-1, -2}, 0, 0.5, 0, SlipMinus, false},
		// a − μ·b < 0: sliding forward drives the contact in and cannot last; the impulse makes it stick
		{"Painlevé, approaching", []float64{1, 2, 2, 5}, [2]float64{-1, 1}, 1, 7, -3, Stick, false},
		// a second solution, jammed, exists; the one without an impulse is taken
		{"Painlevé, leaving", []float64{1, 2, 2, 5}, [2]float64{0.1, 1}, 1, 0, 0, Open, false},
		// D is not that of bodies: no solution
		{"Painlevé, none", []float64{1, 2, 2, 0}, [2]float64{-1, 10}, 1, 0, 0, 0, true},
	} {
		for start := range 4 {
			st, p := []State{State(start)}, []float64{1, -1}
			q := friction{c.d, c.b[:], []float64{c.mu}}
			r := q.solved(t, NewFrictional(1), st, p)
			if c.clashes {
				if r.Status != Degraded || !r.NoSolution || math.IsNaN(p[0]+p[1]) {
					t.Errorf("%s: %+v, p = %v; want degraded, no solution", c.name, r, p)
				}
				continue
			}
			if (r.Jams == 1) != (c.name == "Painlevé, approaching") || r.NoSolution {
				t.Errorf("%s: %+v", c.name, r)
			}
			if r.Status != Verified || math.Abs(p[0]-c.pn) > 1e-14 || math.Abs(p[1]-c.pt) > 1e-14 ||
				(st[0] != c.st && c.mu > 0 && c.name != "disc that sticks") {
				t.Errorf("%s from %v: %+v, %v p = %v, want %v p = [%g %g]", c.name, State(start), r, st[0], p, c.st, c.pn, c.pt)
			}
		}
	}
}

// plate of mass 1, inertia j, on k points of a plane in a row, falling with 1 m/s and moving sideways with vt.
func plate(k int, mu, vt float64) friction {
	w, list := make([][]float64, 2*k), make([]float64, k)
	for i := range k {
		x := -0.1
		if k > 1 {
			x += 0.2 * float64(i) / float64(k-1)
		}
		w[2*i], w[2*i+1] = []float64{0, 1, x}, []float64{1, 0, 0.05}
		list[i] = mu
	}
	return frictionOf(w, []float64{1, 1, 300}, []float64{vt, -1, 0}, nil, list)
}

func TestFrictionRedundantBlock(t *testing.T) {
	for k := 2; k <= 20; k++ {
		for _, c := range []struct{ vt, fric float64 }{{0.2, -0.2}, {0.6, -0.3}, {-5, 0.3}, {0, 0}} {
			q := plate(k, 0.3, c.vt)
			for start := range 4 {
				st, p := slices.Repeat([]State{State(start)}, k), make([]float64, 2*k)
				r := q.solved(t, NewFrictional(k), st, p)
				pn, pt := 0.0, 0.0
				for i := range k {
					pn, pt = pn+p[2*i], pt+p[2*i+1]
				}
				if r.Status != Verified || math.Abs(pn-1) > 1e-12 || math.Abs(pt-c.fric) > 1e-12 {
					t.Errorf("%d points, vt = %g: %+v, sums %.15g %.15g, want 1 %g", k, c.vt, r, pn, pt, c.fric)
				}
			}
		}
	}
}

// wedge is a body between two walls that are closer than it is wide; c asks both contacts to part.
func wedge() (q friction, c []float64) {
	w := [][]float64{{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}}
	return frictionOf(w, []float64{1, 1, 300}, []float64{0.01, -0.5, 0}, nil, []float64{0.2, 0.2}), []float64{-0.1, 0, -0.1, 0}
}

func TestFrictionClashIsEased(t *testing.T) {
	q, c := wedge()
	hard := friction{q.d, slices.Clone(q.b), q.mu}
	for i, x := range c {
		hard.b[i] += x
	}
	f, st, p := NewFrictional(2), make([]State, 2), make([]float64, 4)
	if r := hard.solved(t, f, st, p); r.Status != Degraded || !r.Clash || r.Method != BySafe {
		t.Errorf("walls that clash: %+v", r)
	}
	for _, x := range p {
		if math.Abs(x) > 100 {
			t.Errorf("walls that clash: impulse %g", x)
		}
	}
	clear(st)
	clear(p)
	r := f.SolveEased(q.d, q.b, c, q.mu, st, p)
	if r.Status != Verified || r.Eased != 2 || q.misfit(p) > 1e-10 {
		t.Errorf("eased: %+v, misfit %g", r, q.misfit(p))
	}
	// without a clash nothing is eased
	clear(st)
	clear(p)
	c[2] = 0
	q.b[2] = 0.5
	r = f.SolveEased(q.d, q.b, c, q.mu, st, p)
	q.b[0] += c[0]
	if r.Status != Verified || r.Eased != 0 || q.misfit(p) > 1e-10 {
		t.Errorf("no clash: %+v, misfit %g", r, q.misfit(p))
	}
}

func TestFrictionRefusesWhatIsNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for k := range 4*9 + 6 + 3 {
			q := rods(source(1), 3, 3)
			switch {
			case k < 36:
				q.d[k] = bad
			case k < 42:
				q.b[k-36] = bad
			default:
				q.mu[k-42] = bad
			}
			st, p := []State{Stick, Open, SlipPlus}, []float64{1, 2, 3, 4, 5, 6}
			r := NewFrictional(3).Solve(q.d, q.b, q.mu, st, p)
			if r.Status != Failed || !slices.Equal(p, make([]float64, 6)) || !slices.Equal(st, []State{Stick, Open, SlipPlus}) {
				t.Errorf("%g at %d: %+v %v %v", bad, k, r, st, p)
			}
		}
	}
	q := rods(source(1), 1, 1)
	q.mu[0] = -0.1
	if r := NewFrictional(1).Solve(q.d, q.b, q.mu, make([]State, 1), make([]float64, 2)); r.Status != Failed {
		t.Errorf("negative friction: %+v", r)
	}
	// a bad start is no bad problem
	q.mu[0] = 0.1
	if r := NewFrictional(1).Solve(q.d, q.b, q.mu, []State{77}, []float64{math.NaN(), math.Inf(1)}); r.Status != Verified {
		t.Errorf("bad start: %+v", r)
	}
}

// The same bodies in other units are the same problem.
func TestFrictionKnowsNoUnits(t *testing.T) {
	for i := range 40 {
		n := 1 + i%6
		q := rods(source(uint64(i)), n, n+1)
		f, st, p := NewFrictional(n), make([]State, n), make([]float64, 2*n)
		r := q.solved(t, f, st, p)
		for _, e := range [][2]int{{-40, 0}, {40, 0}, {0, -60}, {0, 60}, {100, -100}} {
			o := friction{slices.Clone(q.d), slices.Clone(q.b), q.mu}
			for k := range o.d {
				o.d[k] = math.Ldexp(o.d[k], e[0])
			}
			for k := range o.b {
				o.b[k] = math.Ldexp(o.b[k], e[1])
			}
			st2, p2 := make([]State, n), make([]float64, 2*n)
			r2 := f.Solve(o.d, o.b, o.mu, st2, p2)
			for k := range p2 {
				p2[k] = math.Ldexp(p2[k], e[0]-e[1])
			}
			if r2 != r || !slices.Equal(st, st2) || !slices.Equal(p, p2) {
				t.Errorf("problem %d, units 2^%v: %+v %v, not %+v %v", i, e, r2, p2, r, p)
			}
		}
	}
}

func TestFrictionStaysFinite(t *testing.T) {
	for _, x := range []float64{1e-320, 1e-200, 1e160, 1e300} {
		for _, y := range []float64{1e-320, 1e-200, 1, 1e160, 1e300} {
			q := rods(source(2), 3, 2)
			for i := range q.d {
				q.d[i] *= x / 100
			}
			for i := range q.b {
				q.b[i] *= y / 100
			}
			p := make([]float64, 6)
			r := NewFrictional(3).Solve(q.d, q.b, q.mu, make([]State, 3), p)
			for _, v := range p {
				if !numeric.IsFinite(v) {
					t.Errorf("D × %g, b × %g: %+v, p = %v", x, y, r, p)
				}
			}
			if !q.inside(p) {
				t.Errorf("D × %g, b × %g: outside the cones: %v", x, y, p)
			}
		}
	}
}

func TestFrictionPathAlone(t *testing.T) {
	for i := range 200 {
		n := 1 + i%8
		q := rods(source(uint64(9000+i)), n, 1+(2*n+2)/3)
		f, st, p := NewFrictional(n), make([]State, n), make([]float64, 2*n)
		f.start(q.d, q.b, q.mu, st, p)
		f.bestR = math.Inf(1)
		pivots := 0
		if f.follow(pathEps, 500, &pivots) {
			f.update(polishRounds, new(int))
		}
		f.finish(new(FrictionResult), st, p)
		if e := q.misfit(p); !(e <= 1.01e-10) || !q.inside(p) {
			t.Errorf("problem %d: misfit %g", i, e)
		}
	}
}

func TestFrictionAllocatesNothing(t *testing.T) {
	q, c := wedge()
	hard := slices.Clone(q.b)
	hard[0], hard[2] = hard[0]-0.1, hard[2]-0.1
	big := rods(source(8), 12, 9)
	f, st, p := NewFrictional(12), make([]State, 12), make([]float64, 24)
	if k := testing.AllocsPerRun(50, func() {
		clear(st)
		clear(p)
		f.Solve(big.d, big.b, big.mu, st, p)
		f.Solve(q.d, hard, q.mu, st[:2], p[:4])
		f.SolveEased(q.d, q.b, c, q.mu, st[:2], p[:4])
	}); k != 0 {
		t.Errorf("%g allocations", k)
	}
}

func FuzzFrictional(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(2), 0.3, 1.0)
	f.Add(uint64(2), uint8(9), uint8(1), 1.5, -1e-3)
	f.Fuzz(func(t *testing.T, seed uint64, contacts, bodies uint8, mu, push float64) {
		n := 1 + int(contacts%10)
		q := rods(source(seed), n, 1+int(bodies%8))
		for i := range q.mu {
			q.mu[i] *= mu
			q.b[2*i] += push
		}
		st, p := make([]State, n), make([]float64, 2*n)
		r := NewFrictional(n).Solve(q.d, q.b, q.mu, st, p)
		for _, x := range p {
			if !numeric.IsFinite(x) {
				t.Fatalf("%+v: p = %v", r, p)
			}
		}
		if r.Status == Failed {
			return
		}
		if r.Status == Verified && math.Abs(push) < 1e6 && !(q.misfit(p) <= 1.01e-10) {
			t.Errorf("%+v with a misfit of %g", r, q.misfit(p))
		}
		if !q.inside(p) {
			t.Errorf("%+v: outside the cones: %v", r, p)
		}
	})
}

func ExampleFrictional() {
	// a disc of 1 kg that lands with 1 m/s, sliding with 0.5 m/s: D = diag(1/m, 3/m)
	f := NewFrictional(1)
	state, p := make([]State, 1), make([]float64, 2)
	r := f.Solve([]float64{1, 0, 0, 3}, []float64{-1, 0.5}, []float64{0.1}, state, p)
	fmt.Printf("%v, %v, p = %.2f N·s\n", r.Status, state[0], p)
	// Output: verified, slip +, p = [1.00 -0.10] N·s
}
