package engine

import (
	"math"
	"math/rand/v2"
	"testing"
)

// swing is a pendulum, q̈ = −sin q; forced adds a force that depends on time, so that wrong stage times show.
func swing(t float64, x, dx []float64)  { dx[0], dx[1] = x[1], -math.Sin(x[0]) }
func forced(t float64, x, dx []float64) { dx[0], dx[1] = x[1], -math.Sin(x[0])+math.Cos(3*t) }

type method struct {
	name  string
	order float64
	step  Stepper
}

func methods(n int) []method {
	return []method{
		{"SemiImplicit", 1, NewSemiImplicit(Layout{NQ: n / 2, NV: n - n/2})},
		{"ImplicitMidpoint", 2, NewImplicitMidpoint(n)},
		{"RadauIIA3", 3, NewRadauIIA3(n)},
		{"RK4", 4, NewRK4(n)},
		{"RadauIIA5", 5, NewRadauIIA5(n)},
	}
}

// Halving h divides the error by 2ᵖ. The reference is RK4 with steps 40 times as fine as the finest; the error of the
// methods lies at least three decades above it.
func TestFixedOrder(t *testing.T) {
	end := func(s Stepper, n int) []float64 {
		x := []float64{1, 0.5}
		if _, st := Repeat(s, forced, 0.3, 2/float64(n), n, x); st != OK {
			t.Fatalf("%v", st)
		}
		return x
	}
	ref := end(NewRK4(2), 8000)
	for _, m := range methods(2) {
		errs := [3]float64{}
		for i, n := range []int{20, 40, 80} {
			x := end(m.step, n)
			errs[i] = math.Hypot(x[0]-ref[0], x[1]-ref[1])
		}
		for i := range 2 {
			if p := math.Log2(errs[i] / errs[i+1]); math.Abs(p-m.order) > 0.2 {
				t.Errorf("%s: order %.2f, want %g (errors %.2e)", m.name, p, m.order, errs)
			}
		}
	}
}

// The stability functions of the methods on ẋ = λx, in closed form: (1+z/2)/(1−z/2), (1+z/3)/(1−2z/3+z²/6) and
// (1+2z/5+z²/20)/(1−3z/5+3z²/20−z³/60) [HW96 IV.3]. The last two vanish as z → −∞: a stiff component is gone in one step.
func TestImplicitStability(t *testing.T) {
	for _, z := range []float64{-1e-3, -0.7, -3, -40, -1e3, -1e6, 0.5} {
		f := func(_ float64, x, dx []float64) { dx[0] = z * x[0] }
		for _, c := range []struct {
			name string
			step Stepper
			want float64
		}{
			{"ImplicitMidpoint", NewImplicitMidpoint(1), (1 + z/2) / (1 - z/2)},
			{"RadauIIA3", NewRadauIIA3(1), (1 + z/3) / (1 - 2*z/3 + z*z/6)},
			{"RadauIIA5", NewRadauIIA5(1), (1 + 2*z/5 + z*z/20) / (1 - 3*z/5 + 3*z*z/20 - z*z*z/60)},
		} {
			x := []float64{2}
			if st := c.step.Step(f, 0, 1, x); st != OK || math.Abs(x[0]/2-c.want) > 1e-10 {
				t.Errorf("%s, z = %g: %v, factor %.12f, want %.12f", c.name, z, st, x[0]/2, c.want)
			}
		}
	}
}

// Prothero–Robinson, ẋ = λ(x − sin t) + cos t with x(0) = 0: the solution is sin t whatever λ. With λ = −1e6 Radau keeps
// its stage order (errors below (h)⁴/|λ|·…, in fact near rounding times stiffness), explicit methods cannot run at all.
func TestRadauProtheroRobinson(t *testing.T) {
	const lambda = -1e6
	f := func(t float64, x, dx []float64) { dx[0] = lambda*(x[0]-math.Sin(t)) + math.Cos(t) }
	for _, m := range []method{{"RadauIIA3", 0, NewRadauIIA3(1)}, {"RadauIIA5", 0, NewRadauIIA5(1)}} {
		x := []float64{0}
		if _, st := Repeat(m.step, f, 0, 0.1, 30, x); st != OK {
			t.Fatalf("%s: %v", m.name, st)
		}
		// one step leaves about h^{s+1}/|λh| of defect, damped at once
		if e := math.Abs(x[0] - math.Sin(3)); e > 1e-8 {
			t.Errorf("%s: error %.2e, want < 1e-8", m.name, e)
		}
	}
	x := []float64{1e-3}
	if _, st := Repeat(NewRK4(1), f, 0, 0.1, 30, x); st == OK && math.Abs(x[0]-math.Sin(3)) < 1 {
		t.Errorf("RK4 survived λh = −1e5: the problem is not stiff")
	}
}

// Van der Pol, μ = 1000 in scaled time: ẋ = v, εv̇ = (1−x²)v − x with ε = 1e-6, from (2, 0). The values at t = 1 and 2 are
// those of the stiff test problem [HW96 IV.10]; eight of their digits are asked for.
func TestRadauVanDerPol(t *testing.T) {
	const eps = 1e-6
	f := func(_ float64, x, dx []float64) { dx[0], dx[1] = x[1], ((1-x[0]*x[0])*x[1]-x[0])/eps }
	want := [][]float64{{-1.863646254808130, 0.7535430865435460}, {1.706167732170456, -0.8928097010248257}}
	// a fixed method in the hands of a caller who halves and doubles the step: one step of h against two of h/2
	s := NewRadauIIA5(2)
	x, one, two := []float64{2, 0}, make([]float64, 2), make([]float64, 2)
	at, h, tried := 0.0, 1e-6, 0
	for k, w := range want {
		for end := float64(k + 1); at < end; tried++ {
			g := min(h, end-at)
			copy(one, x)
			copy(two, x)
			a := s.Step(f, at, g, one)
			_, b := Repeat(s, f, at, g/2, 2, two)
			e := 0.0
			for i := range x {
				e = max(e, math.Abs(one[i]-two[i])/(1e-9+1e-9*math.Abs(two[i])))
			}
			if a != OK || b != OK || e > 1 {
				if h = g / 2; h < 1e-14 {
					t.Fatalf("t = %g: %v %v, error %g", at, a, b, e)
				}
				continue
			}
			copy(x, two)
			if at += g; g < h || end-at < 1e-13 {
				at = end
			}
			if e < 1.0/64 {
				h = 2 * g
			}
		}
		for i := range x {
			if math.Abs(x[i]-w[i]) > 1e-8*math.Abs(w[i]) {
				t.Errorf("x%d(%g) = %.12f, want %.12f", i, at, x[i], w[i])
			}
		}
	}
	t.Logf("%d steps tried", tried)
}

// Over 1000 periods of the pendulum the energy of the symplectic methods oscillates and does not drift; that of RK4 with
// the same step drifts one way, which is what tells the test can see a drift.
func TestSymplecticEnergy(t *testing.T) {
	energy := func(x []float64) float64 { return x[1]*x[1]/2 - math.Cos(x[0]) }
	const h, n = 0.2, 35000
	for _, c := range []struct {
		name  string
		step  Stepper
		swing float64 // largest error of energy: O(h) and O(h²)
		drift float64 // between the first and the last tenth, mean energy
	}{
		{"SemiImplicit", NewSemiImplicit(Layout{NQ: 1, NV: 1}), 0.1, 1e-4},
		{"ImplicitMidpoint", NewImplicitMidpoint(2), 4e-3, 1e-5},
		{"RK4", NewRK4(2), 1, 1},
	} {
		x := []float64{1, 0}
		e0, worst, head, tail := energy(x), 0.0, 0.0, 0.0
		for k := range n {
			if st := c.step.Step(swing, 0, h, x); st != OK {
				t.Fatalf("%s: %v", c.name, st)
			}
			e := energy(x) - e0
			worst = max(worst, math.Abs(e))
			if k < n/10 {
				head += e / (n / 10)
			}
			if k >= n-n/10 {
				tail += e / (n / 10)
			}
		}
		if worst > c.swing || math.Abs(tail-head) > c.drift {
			t.Errorf("%s: energy error %.2e (limit %g), drift %.2e (limit %g)", c.name, worst, c.swing, tail-head, c.drift)
		}
		if c.name == "RK4" && math.Abs(tail-head) < 1e-3 {
			t.Errorf("RK4 drifts by %.2e only: the test could not see a drift", tail-head)
		}
	}
	// quadratic invariants are exact for the midpoint rule, at any step
	x, s := []float64{1, 0}, NewImplicitMidpoint(2)
	Repeat(s, func(_ float64, x, dx []float64) { dx[0], dx[1] = x[1], -x[0] }, 0, 3, 1000, x)
	if r := math.Hypot(x[0], x[1]); math.Abs(r-1) > 1e-11 {
		t.Errorf("circle of radius %.14f after 1000 steps of 3 rad, want 1", r)
	}
}

// The layout decides what is a position: with NQ = 0 everything is advanced at once, with auxiliary states the order is
// velocities and auxiliary first.
func TestSemiImplicitOrderOfUpdate(t *testing.T) {
	x := []float64{1, 2, 3}
	f := func(_ float64, x, dx []float64) { dx[0], dx[1], dx[2] = x[1]+x[2], -x[0], x[1] }
	if st := NewSemiImplicit(Layout{NQ: 1, NV: 1, NA: 1}).Step(f, 0, 0.5, x); st != OK {
		t.Fatal(st)
	}
	// v⁺ = 2 − ½·1, a⁺ = 3 + ½·2, q⁺ = 1 + ½(1.5 + 4)
	if want := [3]float64{3.75, 1.5, 4}; [3]float64(x) != want {
		t.Errorf("x = %v, want %v", x, want)
	}
}

// A slope that is no number leaves the state alone; an equation without a solution is not called solved.
func TestFixedTrouble(t *testing.T) {
	for _, m := range methods(2) {
		x := []float64{1, 2}
		st := m.step.Step(func(_ float64, x, dx []float64) { dx[0], dx[1] = x[1], math.NaN() }, 0, 0.1, x)
		if st != NonFinite || x[0] != 1 || x[1] != 2 {
			t.Errorf("%s: NaN gives %v and x = %v, want the state untouched", m.name, st, x)
		}
	}
	// ẋ = 1 + x² from 0 has a pole at π/2; the stages of a step to t = 4 have no solution
	pole := func(_ float64, x, dx []float64) { dx[0] = 1 + x[0]*x[0] }
	for _, s := range []Stepper{NewImplicitMidpoint(1), NewRadauIIA3(1), NewRadauIIA5(1)} {
		if st := s.Step(pole, 0, 4, []float64{0}); st == OK {
			t.Errorf("%T %v: a step over a pole is OK", s, s.(*Implicit).tab.c)
		}
	}
	if at, st := Repeat(NewRK4(1), pole, 0, 0.1, 100, []float64{0}); st != NonFinite || at < 1.5 || at > 3 {
		t.Errorf("RK4 over a pole: %v at %g", st, at)
	}
	defer func() {
		if recover() == nil {
			t.Error("a state of the wrong length is accepted")
		}
	}()
	NewRK4(2).Step(swing, 0, 0.1, make([]float64, 3))
}

// A component that is exactly zero, or small beside the others, does not keep Newton's method from ending.
func TestImplicitScales(t *testing.T) {
	f := func(t float64, x, dx []float64) {
		dx[0] = -1e5*x[0] + 1e-3*math.Sin(t)
		dx[1] = 1e6 * math.Cos(t)
		dx[2] = 0 * x[1]
		dx[3] = 1e-9*(x[1]-1e6*math.Sin(t)) - x[3]
	}
	for _, s := range []Stepper{NewImplicitMidpoint(4), NewRadauIIA3(4), NewRadauIIA5(4)} {
		x := make([]float64, 4)
		if at, st := Repeat(s, f, 0, 0.01, 200, x); st != OK {
			t.Errorf("%T: %v at %g, x = %g", s, st, at, x)
		}
	}
}

func TestFixedAllocs(t *testing.T) {
	for _, m := range methods(2) {
		x := []float64{1, 0}
		if n := testing.AllocsPerRun(50, func() { m.step.Step(swing, 0, 0.01, x) }); n != 0 {
			t.Errorf("%s: %g allocations in a step", m.name, n)
		}
	}
}

// A·x of the solution gives b back, also when the largest number of a column is never on the diagonal.
func TestLU(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 12; n++ {
		a, b := make([]float64, n*n), make([]float64, n)
		for i := range a {
			a[i] = rng.NormFloat64()
		}
		for i := range b {
			b[i] = rng.NormFloat64()
			a[i*n+i] = 0
			a[i*n+(i+1)%n] += 3
		}
		l := NewLU(n)
		copy(l.A, a)
		if !l.Factor() {
			t.Fatalf("n = %d: singular", n)
		}
		x := append([]float64(nil), b...)
		l.Solve(x)
		for i := range n {
			r := -b[i]
			for j := range n {
				r += a[i*n+j] * x[j]
			}
			if math.Abs(r) > 1e-11 {
				t.Errorf("n = %d: residual %g", n, r)
			}
		}
	}
	l := NewLU(2)
	copy(l.A, []float64{1, 2, 2, 4})
	if l.Factor() {
		t.Error("a singular matrix is factored")
	}
}

// A correction that brings a stage of a zero component back to zero is large, not infinite: the step goes on.
func TestImplicitCorrectionToZero(t *testing.T) {
	s := NewImplicitMidpoint(1)
	s.z[0], s.r[0] = -0.5, 0.5
	if size := s.correct([]float64{0}); size != 1 || s.z[0] != 0 {
		t.Errorf("size %g, stage %g, want 1 and 0", size, s.z[0])
	}
}
