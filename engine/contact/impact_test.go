package contact

import (
	"math"
	"math/rand/v2"
	"testing"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// bodies is a random planar system: contacts between free bodies and on surfaces that may move.
type bodies struct {
	f, n   int
	inv    []float64 // 1/M, diagonal
	w      []float64 // rows w_N0, w_T0, w_N1, …
	u      []float64
	vs     []float64 // w̃
	g, v   []float64
	laws   []Law
	moving bool
}

func randomBodies(r *rand.Rand, n, count int, moving bool) *bodies {
	b := &bodies{f: 3 * count, n: n, moving: moving}
	b.inv, b.u = make([]float64, b.f), make([]float64, b.f)
	for k := range count {
		m, l := math.Pow(10, -3*r.Float64()), 0.02+0.2*r.Float64()
		b.inv[3*k], b.inv[3*k+1], b.inv[3*k+2] = 1/m, 1/m, 12/(m*l*l)
		b.u[3*k], b.u[3*k+1], b.u[3*k+2] = r.NormFloat64(), r.NormFloat64(), 10*r.NormFloat64()
	}
	b.w, b.vs = make([]float64, 2*n*b.f), make([]float64, 2*n)
	for i := range n {
		a, c := r.IntN(count), r.IntN(count)
		if moving {
			// one moving surface to a body: more of them may leave no motion at all
			a = i
		}
		phi := 2 * math.Pi * r.Float64()
		nx, ny := math.Cos(phi), math.Sin(phi)
		put := func(body int, sign float64) {
			rx, ry := 0.1*r.NormFloat64(), 0.1*r.NormFloat64()
			wn, wt := b.w[2*i*b.f+3*body:], b.w[(2*i+1)*b.f+3*body:]
			wn[0], wn[1], wn[2] = sign*nx, sign*ny, sign*(rx*ny-ry*nx)
			wt[0], wt[1], wt[2] = sign*ny, -sign*nx, sign*(-rx*nx-ry*ny)
		}
		put(a, 1)
		if c != a {
			put(c, -1)
		}
		if moving && c == a {
			b.vs[2*i], b.vs[2*i+1] = 0.3*r.NormFloat64(), r.NormFloat64()
		}
		b.laws = append(b.laws, Law{Mu: r.Float64(), EpsN: r.Float64(), EpsT: r.Float64(), Nu: r.Float64()})
	}
	b.fill()
	return b
}

func (b *bodies) fill() {
	w := 2 * b.n
	b.g, b.v = make([]float64, w*w), make([]float64, w)
	for i := range w {
		b.v[i] = b.vs[i]
		for k := range b.f {
			b.v[i] += b.w[i*b.f+k] * b.u[k]
			for j := range w {
				b.g[i*w+j] += b.w[i*b.f+k] * b.inv[k] * b.w[j*b.f+k]
			}
		}
	}
}

// kinetic energy before and after, and the work of the surfaces, from the masses.
func (b *bodies) balance(p []float64) (before, after, work float64) {
	for k := range b.f {
		u := b.u[k]
		before += 0.5 * u * u / b.inv[k]
		for i, pi := range p {
			u += b.inv[k] * b.w[i*b.f+k] * pi
		}
		after += 0.5 * u * u / b.inv[k]
	}
	for i, pi := range p {
		work -= pi * b.vs[i]
	}
	return before, after, work
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.17g, want %.17g", what, got, want)
	}
}

// A disc of mass m and inertia m·r²/2 on a plane: G_NN = 1/m, G_TT = 3/m, G_NT = 0, so all is known in closed form.
func TestDiscOnPlaneInClosedForm(t *testing.T) {
	const m = 0.25
	g := []float64{1 / m, 0, 0, 3 / m}
	for _, c := range []struct {
		name   string
		vn, vt float64
		law    Law
	}{
		{"sticks, no tangential restitution", -2, 0.5, Law{Mu: 0.3, EpsN: 0.6}},
		{"slides", -2, 5, Law{Mu: 0.3, EpsN: 0.6, EpsT: 1}},
		{"slides backward", -1, -4, Law{Mu: 0.2, EpsN: 0.3}},
		{"super-ball", -2, 0.7, Law{Mu: 0.5, EpsN: 1, EpsT: 1}},
		{"super-ball spinning back", -2, -0.7, Law{Mu: 0.5, EpsN: 0.8, EpsT: 1}},
		{"part of the tangential impulse", -2, 0.7, Law{Mu: 0.5, EpsN: 0.8, EpsT: 0.4}},
		{"smooth", -3, 1, Law{EpsN: 0.9, EpsT: 1}},
		{"separates", 1, 1, Law{Mu: 0.5, EpsN: 1, EpsT: 1}},
		{"plastic", -1, 0.1, Law{Mu: 1}},
	} {
		v, p := []float64{c.vn, c.vt}, make([]float64, 2)
		res := NewImpact(Poisson, 1).Solve(g, v, []Law{c.law}, p)
		ln := max(-c.vn, 0) * m
		lt, back := -c.vt*m/3, c.law.EpsN*ln
		if top := c.law.Mu * ln; math.Abs(lt) <= top {
			// sticks: v_TE = −ε_N·ε_T·v_TA unless the bound of friction is reached
			lt += c.law.EpsN * c.law.EpsT * lt
		} else {
			// slides: what stays of the tangential velocity is braked by μ·ε_N·P_NC, at most to rest
			s := math.Copysign(1, -c.vt)
			lt = s * top
			lt += s * min(c.law.Mu*back, math.Abs(c.vt)*m/3-top)
		}
		if ln == 0 {
			lt = 0
		}
		if res.Status != Resolved {
			t.Errorf("%s: %v", c.name, res.Status)
		}
		near(t, c.name+": P_N", p[0], ln+back, 1e-12)
		near(t, c.name+": P_T", p[1], lt, 1e-12)
	}
}

// Reversibility: a contact that slides in compression keeps ν of what it stored.
func TestReversibilityWhenSliding(t *testing.T) {
	// G_NT ≠ 0 slows the contact down in compression already
	g := []float64{2, 0, 0, 3}
	law := Law{Mu: 0.2, EpsN: 0.5, EpsT: 0.8, Nu: 0.6}
	v, p := []float64{-1, 0.303}, make([]float64, 2)
	NewImpact(Poisson, 1).Solve(g, v, []Law{law}, p)
	// P_NC = 1/2, P_TC = −0.1 slides (0.303 > 0.3), then at least 0.6·0.5·0.8·0.1 is given back
	near(t, "P_N", p[0], 0.75, 1e-12)
	near(t, "P_T", p[1], -0.1-0.024, 1e-12)
}

// Three equal balls in a row, the first at 1 m/s.
func TestThreeBallsByEachLaw(t *testing.T) {
	g := []float64{
		2, 0, -1, 0,
		0, 1, 0, 0,
		-1, 0, 2, 0,
		0, 0, 0, 1,
	}
	v := []float64{-1, 0, 0, 0}
	p := make([]float64, 4)
	for _, c := range []struct {
		law    ImpactLaw
		eps    float64
		p1, p2 float64
	}{
		{Poisson, 0, 2. / 3, 1. / 3},
		{Poisson, 1, 4. / 3, 2. / 3},
		{Newton, 1, 4. / 3, 2. / 3},
		{Newton, 0, 2. / 3, 1. / 3},
		{Sequential, 1, 1, 1},
		{Sequential, 0, 2. / 3, 1. / 3},
		{ByEngine, 1, 4. / 3, 2. / 3},
	} {
		l := Law{EpsN: c.eps}
		res := NewImpact(c.law, 2).Solve(g, v, []Law{l, l}, p)
		if res.Status != Resolved {
			t.Errorf("%v ε = %g: %v", c.law, c.eps, res.Status)
		}
		tol := 1e-12
		if c.law == Sequential && c.eps == 0 {
			tol = 1e-8 // a geometric series that is cut off
		}
		near(t, c.law.String()+" P_1", p[0], c.p1, tol)
		near(t, c.law.String()+" P_2", p[2], c.p2, tol)
	}
}

// Over random frictional impacts the energy from the masses never rises, and the velocities are those of the law.
func TestRandomImpactsGainNoEnergy(t *testing.T) { randomImpacts(t, 1000) }

// randomImpacts tries so many by Poisson's law and a third of them by the others.
func randomImpacts(t *testing.T, many int) {
	for _, law := range []ImpactLaw{Poisson, Newton, Sequential} {
		im := NewImpact(law, 8)
		lowered, worst := [3]int{}, 0.0
		count, closes := many/3, 1e-9
		if law == Poisson {
			count = many
		}
		if law == Sequential {
			closes = 1e-6
		}
		for k := range count {
			r := seeded(uint64(k))
			n := 1 + r.IntN(8)
			b := randomBodies(r, n, 1+r.IntN(n+1), false)
			p := make([]float64, 2*n)
			res := im.Solve(b.g, b.v, b.laws, p)
			if res.Status == Unsolved {
				t.Fatalf("%v, seed %d: %+v", law, k, res)
			}
			lowered[res.Repeats]++
			before, after, _ := b.balance(p)
			if e := (after - before) / before; e > worst {
				worst = e
			}
			if after > before*(1+1e-12) {
				t.Errorf("%v, seed %d: energy %g → %g J, %+v", law, k, before, after, res)
			}
			v := make([]float64, 2*n)
			product(b.g, p, b.v, v)
			size, terms := 0.0, 0.0 // m/s; what adds up to a velocity may be far larger, and leaves its rounding
			for i, x := range b.v {
				size = max(size, math.Abs(x))
				for j, pj := range p {
					terms = max(terms, math.Abs(b.g[i*len(p)+j]*pj))
				}
			}
			for i, l := range b.laws {
				if v[2*i] < -closes*size-1e-12*terms {
					t.Errorf("%v, seed %d: contact %d closes with %g m/s", law, k, i, v[2*i])
				}
				if math.Abs(p[2*i+1]) > l.Mu*p[2*i]*(1+1e-12)+1e-15 {
					t.Errorf("%v, seed %d: contact %d leaves the cone", law, k, i)
				}
			}
		}
		t.Logf("%v: as asked, one ε, ε = 0: %v; largest rise %.1e of the energy", law, lowered, worst)
	}
}

// Surfaces that move do work; the balance holds with it, and the energy relative to them never rises.
func TestMovingSurfacesAreAccountedFor(t *testing.T) {
	im := NewImpact(Poisson, 4)
	rose := 0
	for k := range 2000 {
		r := seeded(uint64(k))
		n := 1 + r.IntN(4)
		b := randomBodies(r, n, n+1, true)
		p := make([]float64, 2*n)
		res := im.Solve(b.g, b.v, b.laws, p)
		if res.Status == Unsolved {
			t.Fatalf("seed %d: %+v", k, res)
		}
		before, after, work := b.balance(p)
		if after > before {
			rose++
		}
		near(t, "balance", after-before-work, res.Gain, 1e-10*before)
		if res.Gain > 1e-12*before {
			t.Errorf("seed %d: gained %g J", k, res.Gain)
		}
	}
	if rose == 0 {
		t.Error("no surface ever put energy in")
	}
}

func TestImpactAllocatesNothing(t *testing.T) {
	b := randomBodies(seeded(3), 4, 5, false)
	p := make([]float64, 8)
	for _, law := range []ImpactLaw{Poisson, Newton, Sequential} {
		im := NewImpact(law, 4)
		if n := testing.AllocsPerRun(20, func() { im.Solve(b.g, b.v, b.laws, p) }); n != 0 {
			t.Errorf("%v: %g allocations", law, n)
		}
	}
}

func TestImpactRefusesNonFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := []float64{1, 1}
		res := NewImpact(Poisson, 1).Solve([]float64{1, 0, 0, 1}, []float64{bad, 0}, []Law{{}}, p)
		if res.Status != Unsolved || p[0] != 0 || p[1] != 0 {
			t.Errorf("%g: %+v, p = %v", bad, res, p)
		}
		res = NewImpact(Poisson, 1).Solve([]float64{1, bad, 0, 1}, []float64{-1, 0}, []Law{{Mu: 1}}, p)
		if res.Status != Unsolved {
			t.Errorf("g %g: %+v, p = %v", bad, res, p)
		}
	}
}
