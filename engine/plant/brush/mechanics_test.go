package brush

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/contact"
)

var (
	_ contact.System   = (*Brush)(nil)
	_ contact.Stiff    = (*Brush)(nil)
	_ contact.Dynamics = (*Brush)(nil)
)

// build makes a brush after change of the defaults, on the star or on the chain.
func build(t testing.TB, chain bool, change func(*Params)) *Brush {
	t.Helper()
	p := DefaultParams()
	if change != nil {
		change(&p)
	}
	j := Star(p.Brush.Width)
	if chain {
		j = Chain(p.Brush.Width)
	}
	b, err := NewJoined(p, j)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// maps runs a test on both joint maps, and with corners of bars against the face.
func maps(t *testing.T, test func(t *testing.T, b *Brush)) {
	t.Run("star", func(t *testing.T) { test(t, build(t, false, nil)) })
	t.Run("chain", func(t *testing.T) { test(t, build(t, true, nil)) })
	t.Run("true slots", func(t *testing.T) {
		test(t, build(t, false, func(p *Params) { p.Commutator.TrueSlots = true }))
	})
}

// somewhere is a configuration near the start with velocities of the order of 1 m/s and 100 rad/s.
func somewhere(b *Brush, r *rand.Rand) (q, u []float64) {
	q, u = make([]float64, dof), make([]float64, dof)
	_ = b.Start(q, u) // a tip beside the top is wanted by one test
	for j := range dof {
		dq, du := 1e-4, 1.0
		if j == 2 || j > 8 {
			dq, du = 0.02, 100
		}
		q[j] += dq * r.NormFloat64()
		u[j] = du * r.NormFloat64()
	}
	return q, u
}

// kinetic is the energy of the four parts of the brush, of holder and arm, from positions alone: every velocity by a central
// difference of the place along q + s·u.
func kinetic(b *Brush, q, u []float64) float64 {
	place := func(s float64) (p [4][2]float64) {
		at := func(j int) float64 { return q[j] + s*u[j] }
		sin, cos := math.Sincos(at(2))
		p[0] = [2]float64{at(0), at(1)}
		for i, j := range b.joint {
			xi, eta := j.Position, -b.p.Brush.Length/2
			for k := i; k >= 0; k = b.joint[k].Parent {
				eta += at(3 + 2*k)
				xi += at(4 + 2*k)
			}
			p[i+1] = [2]float64{at(0) + cos*xi - sin*eta, at(1) + sin*xi + cos*eta}
		}
		return p
	}
	const s = 1e-6
	hi, lo := place(s), place(-s)
	h2, l2 := place(2*s), place(-2*s)
	g := &b.p
	w, hs := g.Brush.Width, g.Segment.Height
	rho := g.Brush.Density * g.Brush.Depth
	main, part := rho*w*(g.Brush.Length-hs), rho*w/3*hs
	e := 0.0
	for i := range 4 {
		m := part
		if i == 0 {
			m = main
		}
		for c := range 2 {
			v := (8*(hi[i][c]-lo[i][c]) - (h2[i][c] - l2[i][c])) / (12 * s)
			e += m * v * v / 2
		}
	}
	turn := main*(w*w+math.Pow(g.Brush.Length-hs, 2))/12 + 3*part*(w*w/9+hs*hs)/12
	return e + (turn*u[2]*u[2]+g.Holder.Inertia*u[9]*u[9]+g.Spring.Inertia*u[10]*u[10])/2
}

func TestMassIsThatOfTheKineticEnergy(t *testing.T) {
	maps(t, func(t *testing.T, b *Brush) {
		r := rand.New(rand.NewPCG(1, 1))
		m := make([]float64, dof*dof)
		for range 50 {
			q, u := somewhere(b, r)
			b.Mass(0, q, m)
			have := 0.0
			for i := range dof {
				for j := range dof {
					have += u[i] * m[i*dof+j] * u[j] / 2
				}
			}
			if want := kinetic(b, q, u); math.Abs(have-want) > 1e-8*want {
				t.Fatalf("½uᵀMu = %.12g J, bodies have %.12g J", have, want)
			}
		}
	})
}

// Lagrange: f = ∂L/∂q − (d/dt of ∂T/∂u at du/dt = 0) − dampers, with the potential energy written down independently.
func TestForceIsThatOfLagrange(t *testing.T) {
	maps(t, func(t *testing.T, b *Brush) {
		r := rand.New(rand.NewPCG(2, 1))
		g := &b.p
		potential := func(q []float64) float64 {
			sin, cos := math.Sincos(q[2])
			rho := g.Brush.Density * g.Brush.Depth * g.Brush.Width
			v := rho * (g.Brush.Length - g.Segment.Height) * 9.81 * q[1]
			var us, ss [3]float64
			for i, j := range b.joint {
				for k := i; k >= 0; k = b.joint[k].Parent {
					us[i] += q[3+2*k]
					ss[i] += q[4+2*k]
				}
				v += rho / 3 * g.Segment.Height * 9.81 * (q[1] + sin*(j.Position+ss[i]) + cos*(us[i]-g.Brush.Length/2))
				v += 0.5*1e6*q[3+2*i]*q[3+2*i] + 0.5*3.5e5*q[4+2*i]*q[4+2*i]
			}
			v += 0.5 * (5e5*(us[0]*us[0]+us[2]*us[2]) + 1.75e5*(ss[0]*ss[0]+ss[2]*ss[2]))
			for i := range 2 {
				v += 0.5*5e5*math.Pow(us[i+1]-us[i], 2) + 0.5*1.75e5*math.Pow(ss[i+1]-ss[i], 2)
			}
			return v + 250*q[9]*q[9] + 4e-3*q[10]*q[10] + 0.05*q[10]
		}
		momentum := func(q, u []float64) []float64 {
			m, p := make([]float64, dof*dof), make([]float64, dof)
			b.Mass(0, q, m)
			for i := range dof {
				for j := range dof {
					p[i] += m[i*dof+j] * u[j]
				}
			}
			return p
		}
		energy := func(q, u []float64) float64 {
			e := 0.0
			for i, p := range momentum(q, u) {
				e += p * u[i] / 2
			}
			return e - potential(q)
		}
		k, c := make([]float64, dof*dof), make([]float64, dof*dof)
		b.Linear(k, c)
		f := make([]float64, dof)
		for range 20 {
			q, u := somewhere(b, r)
			b.Force(0, q, u, f)
			scale := 1.0
			for i := range dof {
				scale = max(scale, math.Abs(f[i]))
			}
			along := func(s float64) []float64 {
				z := make([]float64, dof)
				for j := range z {
					z[j] = q[j] + s*u[j]
				}
				return momentum(z, u)
			}
			const s = 1e-6
			hi, lo := along(s), along(-s)
			for i := range dof {
				d := 1e-6
				z := append([]float64(nil), q...)
				z[i] += d
				want := energy(z, u)
				z[i] -= 2 * d
				want = (want - energy(z, u)) / (2 * d)
				want -= (hi[i] - lo[i]) / (2 * s)
				for j := range dof {
					want -= c[i*dof+j] * u[j]
				}
				if math.Abs(f[i]-want) > 1e-6*scale {
					t.Errorf("f[%d] = %.9g, Lagrange %.9g (scale %.3g)", i, f[i], want, scale)
				}
			}
		}
	})
}

// In flight without dampers the energy stays, to the order of a fine Runge–Kutta integration of Mass and Force.
func TestFlightKeepsItsEnergy(t *testing.T) {
	b := build(t, false, func(p *Params) {
		p.Segment.AxialDamping, p.Segment.ShearDamping, p.Holder.Damping, p.Spring.Damping = 0, 0, 0, 0
	})
	r := rand.New(rand.NewPCG(3, 1))
	q, u := somewhere(b, r)
	k, c := make([]float64, dof*dof), make([]float64, dof*dof)
	b.Linear(k, c)
	mass := b.p.Mass()
	m := make([]float64, dof*dof)
	energy := func() float64 {
		b.Mass(0, q, m)
		e := 0.05 * q[10]
		for i := range dof {
			for j := range dof {
				e += u[i] * m[i*dof+j] * u[j] / 2
			}
		}
		for i := range dof {
			for j := range dof {
				e += q[i] * k[i*dof+j] * q[j] / 2
			}
		}
		sin, cos := math.Sincos(q[2])
		e += 9.81 * mass * q[1]
		for i, j := range b.joint {
			e += 9.81 * b.ms * (sin*(j.Position+q[4+2*i]) + cos*(q[3+2*i]-b.down))
		}
		return e
	}
	acc := func(q, u []float64) []float64 {
		m, f := make([]float64, dof*dof), make([]float64, dof)
		b.Mass(0, q, m)
		b.Force(0, q, u, f)
		return solveDense(m, f)
	}
	e0 := energy()
	const h = 5e-8
	add := func(a, b []float64, s float64) []float64 {
		z := make([]float64, dof)
		for i := range z {
			z[i] = a[i] + s*b[i]
		}
		return z
	}
	for range 2000 {
		a1 := acc(q, u)
		u2 := add(u, a1, h/2)
		a2 := acc(add(q, u, h/2), u2)
		u3 := add(u, a2, h/2)
		a3 := acc(add(q, u2, h/2), u3)
		u4 := add(u, a3, h)
		a4 := acc(add(q, u3, h), u4)
		for i := range dof {
			q[i] += h / 6 * (u[i] + 2*u2[i] + 2*u3[i] + u4[i])
			u[i] += h / 6 * (a1[i] + 2*a2[i] + 2*a3[i] + a4[i])
		}
	}
	if e := energy(); math.Abs(e-e0) > 1e-10*math.Abs(e0) {
		t.Errorf("energy %.14g J became %.12g J", e0, e)
	}
}

// dT/dt along the free motion is the power of weight, springs and dampers: the terms quadratic in the velocities do no work
// beyond what the change of M takes.
func TestPowerBalance(t *testing.T) {
	maps(t, func(t *testing.T, b *Brush) {
		r := rand.New(rand.NewPCG(4, 1))
		m, f := make([]float64, dof*dof), make([]float64, dof)
		k, c := make([]float64, dof*dof), make([]float64, dof*dof)
		b.Linear(k, c)
		energy := func(q, u []float64) float64 {
			b.Mass(0, q, m)
			e := 0.0
			for i := range dof {
				for j := range dof {
					e += u[i] * m[i*dof+j] * u[j] / 2
				}
			}
			return e
		}
		for range 20 {
			q, u := somewhere(b, r)
			b.Mass(0, q, m)
			b.Force(0, q, u, f)
			a := solveDense(m, append([]float64(nil), f...))
			at := func(s float64) float64 {
				z, v := make([]float64, dof), make([]float64, dof)
				for i := range z {
					z[i], v[i] = q[i]+s*u[i], u[i]+s*a[i]
				}
				return energy(z, v)
			}
			// T(s) along this line is a trigonometric polynomial times a quadratic: a sixth-order difference is exact to rounding
			const s = 1e-6
			rate := (45*(at(s)-at(-s)) - 9*(at(2*s)-at(-2*s)) + at(3*s) - at(-3*s)) / (60 * s)
			power, scale := 0.0, 0.0
			b.Force(0, q, make([]float64, dof), f)
			for i := range dof {
				for j := range dof {
					f[i] -= c[i*dof+j] * u[j]
				}
				power += u[i] * f[i]
				scale += math.Abs(u[i] * f[i])
			}
			if math.Abs(rate-power) > 1e-10*scale {
				t.Errorf("dT/dt = %.12g W, power %.12g W", rate, power)
			}
		}
	})
}

func TestProjectAgainstDense(t *testing.T) {
	maps(t, func(t *testing.T, b *Brush) {
		r := rand.New(rand.NewPCG(5, 1))
		set := contact.NewSet(24, dof)
		m, k, c := make([]float64, dof*dof), make([]float64, dof*dof), make([]float64, dof*dof)
		f, free := make([]float64, dof), make([]float64, dof)
		b.Linear(k, c)
		for _, h := range []float64{20e-6, 2e-6, 1e-3} {
			const theta = 0.55
			for range 20 {
				q, u := somewhere(b, r)
				b.Contacts(0, q, u, math.Inf(1), set)
				chosen := make([]int32, 0, 24)
				for i := range set.N {
					if r.IntN(2) == 0 {
						chosen = append(chosen, int32(i))
					}
				}
				n := 2 * len(chosen)
				x, d := make([]float64, n*dof), make([]float64, n*n)
				if !b.Free(0, h, theta, q, u, free) {
					t.Fatal("Free refused")
				}
				b.Project(set, chosen, x, d)

				b.Mass(0, q, m)
				b.Force(0, q, u, f)
				for i := range dof {
					for j := range dof {
						m[i*dof+j] += h*theta*c[i*dof+j] + h*h*theta*theta*k[i*dof+j]
						f[i] -= h * theta * k[i*dof+j] * u[j]
					}
					f[i] *= h
				}
				want := solveDense(append([]float64(nil), m...), f)
				scale := norm(want)
				for j := range dof {
					if math.Abs(free[j]-u[j]-want[j]) > 1e-11*scale {
						t.Fatalf("h = %g s: Δu_free[%d] = %g, dense %g", h, j, free[j]-u[j], want[j])
					}
				}
				dense := make([]float64, n*dof)
				rows := func(i int) []float64 {
					if i%2 == 0 {
						return set.RowN(int(chosen[i/2]))
					}
					return set.RowT(int(chosen[i/2]))
				}
				for i := range n {
					xi := solveDense(append([]float64(nil), m...), append([]float64(nil), rows(i)...))
					copy(dense[i*dof:], xi)
					for j := range dof {
						if math.Abs(x[i*dof+j]-xi[j]) > 1e-12*norm(xi) {
							t.Fatalf("h = %g s: x[%d][%d] = %.15g, dense %.15g", h, i, j, x[i*dof+j], xi[j])
						}
					}
				}
				for i := range n {
					for j := range n {
						sum, size := 0.0, 0.0
						for l, w := range rows(j) {
							sum += w * dense[i*dof+l]
							size += math.Abs(w * dense[i*dof+l])
						}
						if math.Abs(d[i*n+j]-sum) > 1e-12*size {
							t.Fatalf("h = %g s: D[%d][%d] = %.15g, dense %.15g", h, i, j, d[i*n+j], sum)
						}
					}
				}
			}
		}
	})
}

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s = max(s, math.Abs(x))
	}
	return s
}

// solveDense solves m·x = f by elimination with pivots, in place.
func solveDense(m, f []float64) []float64 {
	n := len(f)
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(m[i*n+k]) > math.Abs(m[p*n+k]) {
				p = i
			}
		}
		for j := range n {
			m[k*n+j], m[p*n+j] = m[p*n+j], m[k*n+j]
		}
		f[k], f[p] = f[p], f[k]
		for i := k + 1; i < n; i++ {
			l := m[i*n+k] / m[k*n+k]
			for j := k; j < n; j++ {
				m[i*n+j] -= l * m[k*n+j]
			}
			f[i] -= l * f[k]
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			f[k] -= m[k*n+j] * f[j]
		}
		f[k] /= m[k*n+k]
	}
	return f
}

func TestStartIsAtRestJustAboveContact(t *testing.T) {
	for _, change := range []func(*Params){
		nil,
		func(p *Params) { p.Brush.Length = 0.012 },
		func(p *Params) { p.Holder.Rake, p.Holder.X = 0.01, 2e-3 },
		func(p *Params) { p.Brush.Length, p.Spring.Follows, p.Spring.PivotHeight = 0.028, false, 2e-3 },
	} {
		b := build(t, false, change)
		q, u := make([]float64, dof), make([]float64, dof)
		if err := b.Start(q, u); err != nil {
			t.Fatal(err)
		}
		set := contact.NewSet(24, dof)
		b.Contacts(0, q, u, math.Inf(1), set)
		face := math.Inf(1)
		for i := range set.N {
			switch id := set.ID[i]; {
			case id == idSpring:
				if math.Abs(set.Gap[i]) > 1e-12 {
					t.Errorf("tip %g m above the top", set.Gap[i])
				}
			case id >= idHolder:
				if math.Abs(set.Gap[i]-7e-5) > 1e-6 {
					t.Errorf("holder contact %d: gap %g m, want half the clearance", id, set.Gap[i])
				}
			default:
				face = min(face, set.Gap[i])
			}
		}
		if math.Abs(face-20e-6) > 1e-12 {
			t.Errorf("face %g m above contact, want 20 µm", face)
		}
	}
}

func TestSpringThatCannotReachIsRefused(t *testing.T) {
	p := DefaultParams()
	p.Brush.Length, p.Spring.Follows = 0.012, false
	if _, err := New(p); err == nil {
		t.Error("a fixed pivot 24 mm above a worn brush was accepted")
	}
}

func TestNothingIsAllocated(t *testing.T) {
	b := build(t, false, nil)
	r := rand.New(rand.NewPCG(8, 1))
	q, u := somewhere(b, r)
	set := contact.NewSet(24, dof)
	free, x, d := make([]float64, dof), make([]float64, 48*dof), make([]float64, 48*48)
	chosen := []int32{0, 5, 15, 19}
	m := make([]float64, dof*dof)
	if n := testing.AllocsPerRun(100, func() {
		b.Contacts(0, q, u, math.Inf(1), set)
		b.Free(0, 20e-6, 0.55, q, u, free)
		b.Project(set, chosen, x, d)
		b.Mass(0, q, m)
		b.Force(0, q, u, free)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSeriesForSmallAngles(t *testing.T) {
	for i := range 4001 {
		x := -0.2 + 1e-4*float64(i)
		s, c := sincos(x)
		if ws, wc := math.Sincos(x); math.Abs(s-ws) > 3e-17 || math.Abs(c-wc) > 1.2e-16 {
			t.Fatalf("at %g: off by %g and %g", x, s-ws, c-wc)
		}
	}
}

func BenchmarkStepParts(bm *testing.B) {
	b := build(bm, false, nil)
	q, u := make([]float64, dof), make([]float64, dof)
	if err := b.Start(q, u); err != nil {
		bm.Fatal(err)
	}
	set := contact.NewSet(24, dof)
	free, x, d := make([]float64, dof), make([]float64, 48*dof), make([]float64, 48*48)
	b.Contacts(0, q, u, math.Inf(1), set)
	chosen := []int32{7, 19}
	bm.Run("free", func(bm *testing.B) {
		for bm.Loop() {
			b.Free(0, 20e-6, 0.55, q, u, free)
		}
	})
	bm.Run("contacts", func(bm *testing.B) {
		i := 0
		for bm.Loop() {
			b.Contacts(float64(i)*20e-6, q, u, 1e-12, set)
			i++
		}
	})
	b.Contacts(0, q, u, math.Inf(1), set)
	bm.Run("project", func(bm *testing.B) {
		for bm.Loop() {
			b.Project(set, chosen, x, d)
		}
	})
}
