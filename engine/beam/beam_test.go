package beam

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
)

// like is the beam of the source with other ends.
func like(t testing.TB, left, right string, elements int) *Beam {
	t.Helper()
	p := Paper()
	p.Left.Kind, p.Right.Kind, p.Elements = left, right, elements
	b, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.10g, want %.10g ± %.2g", what, got, want, tol)
	}
}

// root is the n-th root of f, n from 1 on, by a scan and bisection: the frequency equations of the textbooks are solved here.
func root(n int, f func(x float64) float64) float64 {
	x := 0.5
	for step := 1e-2; ; x += step {
		if f(x)*f(x+step) > 0 {
			continue
		}
		if n--; n > 0 {
			continue
		}
		lo, hi := x, x+step
		for range 60 {
			if mid := (lo + hi) / 2; f(lo)*f(mid) <= 0 {
				hi = mid
			} else {
				lo = mid
			}
		}
		return lo
	}
}

// Natural frequencies against the closed forms f = (βL)²/(2πL²)·√(EI/ρA), with the values printed in the literature of the example.
func TestFrequencies(t *testing.T) {
	unit := math.Sqrt(2.1/4.7) / (2 * math.Pi)
	clamped := func(x float64) float64 { return math.Cos(x) - 1/math.Cosh(x) }
	cantilever := func(x float64) float64 { return math.Cos(x) + 1/math.Cosh(x) }
	propped := func(x float64) float64 { return math.Sin(x) - math.Cos(x)*math.Tanh(x) }
	for _, c := range []struct {
		left, right string
		rigid       int // modes without strain
		first       float64
		equation    func(float64) float64
	}{
		{Pinned, Pinned, 0, 1.04998, math.Sin},
		{Clamped, Clamped, 0, 2.38018, clamped},
		{Clamped, Free, 0, 0.37405, cantilever},
		{Free, Clamped, 0, 0.37405, cantilever},
		{Clamped, Pinned, 0, 0, propped},
		{Free, Free, 2, 2.38018, clamped},
		{Pinned, Free, 1, 0, propped},
	} {
		b := like(t, c.left, c.right, 40)
		f, err := b.Frequencies()
		if err != nil {
			t.Fatal(err)
		}
		for k := range 4 {
			beta := root(k+1, c.equation)
			near(t, c.left+" "+c.right, f[k+c.rigid], beta*beta*unit, 2e-5*beta*beta*unit)
		}
		if c.first > 0 {
			near(t, c.left+" "+c.right+", printed", f[c.rigid], c.first, 1e-5)
		}
		for k := range c.rigid {
			near(t, "rigid motion", f[k], 0, 0)
		}
	}
	for _, c := range []struct {
		ends       string
		first, top float64 // Hz, rad/s
	}{{Pinned, 1.049986, 3356}, {Clamped, 2.380267, 3225}} {
		f, err := like(t, c.ends, c.ends, 10).Frequencies()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ten elements", f[0], c.first, 6e-7)
		near(t, "highest", 2*math.Pi*f[len(f)-1], c.top, 0.5)
		near(t, "fastest", like(t, c.ends, c.ends, 10).Fastest(), c.top, 0.03*c.top)
	}
}

// The error of a frequency falls with the fourth power of the length of an element.
func TestFrequencyOrder(t *testing.T) {
	exact := 4 * math.Pi * math.Pi * math.Sqrt(2.1/4.7) / (2 * math.Pi) // second of a pinned beam
	last := 0.0
	for _, n := range []int{4, 8, 16} {
		f, err := like(t, Pinned, Pinned, n).Frequencies()
		if err != nil {
			t.Fatal(err)
		}
		e := f[1] - exact
		if last > 0 {
			near(t, "order", math.Log2(last/e), 4, 0.15)
		}
		last = e
	}
}

// An elastic support is between none and a firm one: a rigid mass on two springs below, a pinned beam above, and the closed form of a
// cantilever with a spring at its tip, static deflection F/(k + 3EI/L³).
func TestElastic(t *testing.T) {
	p := Paper()
	p.Left, p.Right = Support{Kind: Elastic, Spring: 1e-3}, Support{Kind: Elastic, Spring: 1e-3}
	soft, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	f, err := soft.Frequencies()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "on soft springs", f[0], math.Sqrt(2e-3/4.7)/(2*math.Pi), 1e-6)
	p.Left, p.Right = Support{Kind: Elastic, Spring: 1e9}, Support{Kind: Elastic, Spring: 1e9}
	hard, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = hard.Frequencies(); err != nil {
		t.Fatal(err)
	}
	near(t, "on hard springs", f[0], 1.049986, 2e-6)
	p.Left, p.Right = Support{Kind: Clamped}, Support{Kind: Elastic, Spring: 5, Turning: 0}
	tip, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	load := make([]float64, tip.N)
	end, _ := tip.At(1)
	end.Add(2, load)
	if err := tip.Static(load); err != nil {
		t.Fatal(err)
	}
	near(t, "cantilever on a spring", end.Of(&end.N, load), 2/(5+3*2.1), 1e-12)
}

// Deflections under a force, closed forms of the textbooks: exact at nodes, 8.62323 mm against 8.62470 mm between two.
func TestDeflection(t *testing.T) {
	b := like(t, Pinned, Pinned, 10)
	under := func(a float64) float64 { return a * a * (1 - a) * (1 - a) / (3 * 2.1) } // at the force itself, pinned
	for _, c := range []struct{ x, want, tol float64 }{{0.37, 8.62323e-3, 5e-9}, {0.3, under(0.3), 1e-14}, {0.5, under(0.5), 1e-14}} {
		q := make([]float64, b.N)
		at, err := b.At(c.x)
		if err != nil {
			t.Fatal(err)
		}
		at.Add(1, q)
		if err := b.Static(q); err != nil {
			t.Fatal(err)
		}
		near(t, "under the force", at.Of(&at.N, q), c.want, c.tol)
		if c.x == 0.37 {
			near(t, "exact", under(0.37), 8.62470e-3, 5e-9)
			near(t, "relative", at.Of(&at.N, q)/under(0.37)-1, -1.7e-4, 5e-6)
		}
		// the slope is the derivative of the deflection
		h := 1e-6
		l, r := b.PlaceIn(at.Element, c.x-h), b.PlaceIn(at.Element, c.x+h)
		near(t, "slope", at.Of(&at.Nx, q), (r.Of(&r.N, q)-l.Of(&l.N, q))/(2*h), 1e-9)
		near(t, "curvature", at.Of(&at.Nxx, q), (r.Of(&r.Nx, q)-l.Of(&l.Nx, q))/(2*h), 1e-8)
	}
	// cantilever under a force and a moment at the tip: F·L³/3EI + M·L²/2EI, slope F·L²/2EI + M·L/EI
	c := like(t, Clamped, Free, 3)
	q := make([]float64, c.N)
	tip, _ := c.At(1)
	tip.Add(0.7, q)
	tip.AddMoment(-0.2, q)
	if err := c.Static(q); err != nil {
		t.Fatal(err)
	}
	near(t, "tip", tip.Of(&tip.N, q), 0.7/(3*2.1)-0.2/(2*2.1), 1e-13)
	near(t, "slope of the tip", tip.Of(&tip.Nx, q), 0.7/(2*2.1)-0.2/2.1, 1e-13)
	// sag by its own weight, 5ρAgL⁴/384EI and ρAgL⁴/384EI: 0.286 m and 0.057 m, against small slopes
	for _, s := range []struct {
		ends       string
		share, sag float64
	}{{Pinned, 5, 0.286}, {Clamped, 1, 0.057}} {
		b := like(t, s.ends, s.ends, 10)
		q := make([]float64, b.N)
		b.AddWeight(9.81, q)
		if err := b.Static(q); err != nil {
			t.Fatal(err)
		}
		mid, _ := b.At(0.5)
		near(t, "sag", mid.Of(&mid.N, q), -s.share*4.7*9.81/(384*2.1), 1e-12)
		near(t, "sag, printed", -mid.Of(&mid.N, q), s.sag, 5e-4)
		w := make([]float64, b.Nodes())
		b.Deflections(q, w)
		near(t, "middle node", w[5], mid.Of(&mid.N, q), 0)
		near(t, "end", w[10], 0, 0)
	}
}

// A beam seen from behind bends alike: loads and points mirrored, moments and slopes with the other sign, the first coordinate among them.
func TestMirrored(t *testing.T) {
	for _, ends := range [][2]string{{Free, Clamped}, {Pinned, Clamped}} {
		var w, slope, steep, rest [2]float64
		for side := range 2 {
			b := like(t, ends[side], ends[1-side], 3)
			mirror := func(x float64) float64 { return map[int]float64{0: x, 1: 1 - x}[side] }
			sign := float64(1 - 2*side)
			q := make([]float64, b.N)
			load, _ := b.At(mirror(0.1))
			turn, _ := b.At(mirror(0.2))
			at, _ := b.At(mirror(0.05))
			load.Add(0.3, q)
			turn.AddMoment(sign*0.4, q)
			if err := b.Static(q); err != nil {
				t.Fatal(err)
			}
			w[side], slope[side], steep[side] = at.Of(&at.N, q), sign*at.Of(&at.Nx, q), b.SteepestSlope(q)
			m, err := b.Modes(1)
			if err != nil {
				t.Fatal(err)
			}
			rest[side], _ = m.Correction(&at, &load)
			if top := math.Abs(slope[side]); steep[side] < top/2 {
				t.Errorf("the steepest slope at a node is %g, beside one it is %g", steep[side], top)
			}
		}
		near(t, "deflection", w[1], w[0], 1e-13)
		near(t, "slope", slope[1], slope[0], 1e-12)
		near(t, "steepest slope", steep[1], steep[0], 1e-12)
		near(t, "correction", rest[1], rest[0], 1e-12)
	}
}

// The mass matrix moves the whole beam: rigid motions have the kinetic energy m·v²/2 and J·ω²/2.
func TestMass(t *testing.T) {
	b := like(t, Free, Free, 7)
	up, turn := make([]float64, b.N), make([]float64, b.N)
	for k := range b.Nodes() {
		w, s := b.Node(k)
		up[w], turn[w], turn[s] = 2, 3*(float64(k)/7-0.5), 3
	}
	bend, move := b.Energy(up, up)
	near(t, "energy of rising", move, 4.7*4/2, 1e-12)
	near(t, "strain of rising", bend, 0, 1e-9)
	bend, move = b.Energy(turn, turn)
	near(t, "energy of turning", move, 4.7/12*9/2, 1e-12)
	near(t, "strain of turning", bend, 0, 1e-9)
	near(t, "mass", b.Mass(), 4.7, 1e-12)
}

// Rayleigh's damping in every mode: φᵀDφ = α + β·ω².
func TestDamping(t *testing.T) {
	p := Paper()
	p.Damping = Damping{Mass: 0.4, Stiffness: 3e-4}
	b, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Modes(5)
	if err != nil {
		t.Fatal(err)
	}
	for i, phi := range m.Phi {
		w2 := m.Omega[i] * m.Omega[i]
		near(t, "mass", b.M.Form(phi, phi), 1, 1e-9)
		near(t, "stiffness", b.K.Form(phi, phi)/w2, 1, 1e-8)
		near(t, "damping", b.D.Form(phi, phi)/(0.4+3e-4*w2), 1, 1e-8)
		near(t, "ratio", m.Zeta[i], (0.4/m.Omega[i]+3e-4*m.Omega[i])/2, 1e-12)
	}
}

// The factors of a band solve as a dense solver does.
func TestBand(t *testing.T) {
	b := like(t, Pinned, Free, 6)
	dense := mat.NewSymDense(b.N, nil)
	a := NewBand(b.N)
	a.Sum(3, &b.M, 1e-3, &b.K)
	for r := range b.N {
		for c := range r + 1 {
			dense.SetSym(r, c, a.At(r, c))
		}
	}
	x, y, want := make([]float64, b.N), make([]float64, b.N), mat.NewVecDense(b.N, nil)
	for i := range x {
		x[i] = math.Sin(float64(3*i + 1))
	}
	rhs := append([]float64(nil), x...)
	if err := want.SolveVec(dense, mat.NewVecDense(b.N, rhs)); err != nil {
		t.Fatal(err)
	}
	f := NewBand(b.N)
	copy(f.A, a.A)
	if !f.Factor() {
		t.Fatal("not positive definite")
	}
	f.Solve(x)
	a.Mul(x, y)
	for i := range x {
		near(t, "solution", x[i], want.AtVec(i), 1e-11*math.Abs(want.AtVec(i))+1e-13)
		near(t, "product", y[i], rhs[i], 1e-11)
	}
	f.Sum(-1, &a, 0, &a)
	if f.Factor() {
		t.Error("a negative matrix was factored")
	}
	if n := testing.AllocsPerRun(10, func() { f.Sum(1, &a, 0, &a); f.Factor(); f.Solve(x); a.Mul(x, y) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Each fault of a description is named with its key.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(p *Params)
		want   string
	}{
		{func(p *Params) { p.Length = 0 }, "length: 0 m, want > 0"},
		{func(p *Params) { p.Elements = 0 }, "elements: 0, want 1 to 1000"},
		{func(p *Params) { p.Elements = 1001 }, "elements: 1001, want 1 to 1000"},
		{func(p *Params) { p.Elements = 1 }, "elements: one element clamped at both ends cannot move"},
		{func(p *Params) { p.Young = math.NaN() }, "young: NaN Pa, want > 0"},
		{func(p *Params) { p.SecondMoment = -1 }, "second_moment: -1 m⁴, want > 0"},
		{func(p *Params) { p.Area = math.Inf(1) }, "area: +Inf m², want > 0"},
		{func(p *Params) { p.Density = 0 }, "density: 0 kg/m³, want > 0"},
		{func(p *Params) { p.Damping.Stiffness = -1 }, "damping.stiffness: -1 s, want >= 0"},
		{func(p *Params) { p.Damping.Mass = math.NaN() }, "damping.mass: NaN 1/s, want >= 0"},
		{func(p *Params) { p.Left.Kind = "welded" }, `left.kind: "welded", want free, pinned, clamped or elastic`},
		{func(p *Params) { p.Right.Kind = Elastic }, "right: an elastic support without stiffness"},
		{func(p *Params) { p.Right.Spring = 3 }, "right: stiffness is given to a support that is clamped, want elastic"},
		{func(p *Params) { p.Right = Support{Kind: Elastic, Turning: -3} }, "right.turning: -3 N·m/rad, want >= 0"},
	} {
		p := Paper()
		c.change(&p)
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), c.want) || len(engine.Problems(err)) != 1 {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	p := Paper()
	p.Elements, p.Right.Kind = 1, Pinned
	if _, err := New(p); err != nil {
		t.Errorf("one element that can move: %v", err)
	}
}

// A beam that can move without strain has no static deflection; one that hangs on least has.
func TestLoose(t *testing.T) {
	spring, turn := Support{Kind: Elastic, Spring: 1}, Support{Kind: Elastic, Turning: 1}
	for _, c := range []struct {
		left, right Support
		held        bool
	}{
		{Support{Kind: Free}, Support{Kind: Free}, false}, {Support{Kind: Pinned}, Support{Kind: Free}, false},
		{spring, Support{Kind: Free}, false}, {turn, turn, false}, {Support{Kind: Pinned}, turn, true}, {spring, turn, true},
		{spring, spring, true},
		{Support{Kind: Elastic, Spring: 1, Turning: 1}, Support{Kind: Free}, true}, {Support{Kind: Free}, Support{Kind: Clamped}, true},
	} {
		p := Paper()
		p.Left, p.Right = c.left, c.right
		b, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Static(make([]float64, b.N)); (err == nil) != c.held || err != nil && !errors.Is(err, ErrLoose) {
			t.Errorf("%+v %+v: %v", c.left, c.right, err)
		}
	}
}

// A load beside the beam is refused, at both ends, on both sides of the limit.
func TestBeside(t *testing.T) {
	b := like(t, Clamped, Clamped, 10)
	for _, c := range []struct {
		x    float64
		want string
		e    int
	}{
		{0, "", 0}, {1, "", 9}, {0.05, "", 0}, {0.95, "", 9}, {-1e-12, "over its left end", 0}, {1 + 1e-12, "over its right end", 0},
		{math.NaN(), "left the beam", 0},
	} {
		p, err := b.At(c.x)
		var left *LeftError
		switch {
		case c.want == "" && (err != nil || p.Element != c.e):
			t.Errorf("x = %g: element %d, %v", c.x, p.Element, err)
		case c.want != "" && (!errors.As(err, &left) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("x = %g: %v, want %q", c.x, err, c.want)
		}
	}
	if got, want := (&LeftError{T: 1.9374333, X: 1, Length: 1}).Error(), "the load left the beam over its right end at t = 1.9374333 s: x = "+
		"1 m on a beam from 0 to 1 m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
