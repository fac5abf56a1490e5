package plant

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
)

var _ engine.System = (*Plant)(nil)

// A mass that meets a stop without loss leaves with the speed it came with, whatever the step, and is in it for half a period of the
// spring less what the constant force takes: no force here, so π·√(m/k).
func TestStopGivesBackWhatItStores(t *testing.T) {
	const m, k, v0, end = 2.0, 5e4, 0.3, 0.1
	for _, side := range []float64{1, -1} {
		for _, h := range []float64{1e-3, 5e-5} {
			d := must(t, AxisSpec{Linear: true, Drive: Drive{Kind: NoDrive}, Motor: Motor{J: m}, Friction: viscous(0),
				Stops: Stops{Travel: [2]float64{-end, end}, Stiffness: k}})
			x, y := d.NewState(), make([]float64, Outputs)
			x[Omega] = side * v0
			deepest, inside := 0.0, 0
			for range int(0.6 / h) {
				d.Step(h, x, []float64{0, 1}, y)
				deepest = max(deepest, math.Abs(x[Theta])-end)
				if math.Abs(x[Theta]) > end {
					inside++
				}
			}
			if math.Abs(math.Abs(x[Omega])-v0) > 1e-9 {
				t.Errorf("h=%g: comes with %g m/s, leaves with %g", h, side*v0, x[Omega])
			}
			if want := v0 * math.Sqrt(m/k); math.Abs(deepest-want) > 0.03*want { // seen at the ends of steps
				t.Errorf("h=%g: %g m deep, want %g", h, deepest, want)
			}
			if want := math.Pi * math.Sqrt(m/k); math.Abs(float64(inside)*h-want) > 2*h+0.01*want {
				t.Errorf("h=%g: in the stop for %g s, want %g", h, float64(inside)*h, want)
			}
		}
	}
}

// The loss of a stop: for small λ·v0 the restitution is 1 − ⅔·λ·v0 [HC75]. A force that holds the mass in the stop ends at rest at
// the depth F/k.
func TestStopLoses(t *testing.T) {
	const m, k, v0, loss = 2.0, 5e4, 0.3, 0.1
	spec := AxisSpec{Linear: true, Drive: Drive{Kind: EffortDrive}, Motor: Motor{J: m}, Friction: viscous(0),
		Stops: Stops{Travel: [2]float64{-1, 0.1}, Stiffness: k, Loss: loss}}
	d := must(t, spec)
	x, y := d.NewState(), make([]float64, Outputs)
	x[Omega] = v0
	for range 20000 {
		d.Step(5e-5, x, []float64{0, 1}, y)
	}
	if e := -x[Omega] / v0; math.Abs(e-(1-2.0/3*loss*v0)) > 5e-4 {
		t.Errorf("restitution %g, want about %g", e, 1-2.0/3*loss*v0)
	}
	spec.Friction, spec.Stops.Loss = viscous(20), 2
	d = must(t, spec)
	x = d.NewState()
	for range 100000 {
		d.Step(5e-5, x, []float64{50, 1}, y)
	}
	if math.Abs(x[Theta]-0.1-50/k) > 1e-9 || math.Abs(x[Omega]) > 1e-9 {
		t.Errorf("held with 50 N at %g m, %g m/s; want %g m and rest", x[Theta], x[Omega], 0.1+50/k)
	}
}

// A stage as the EMPS axis, on a current drive into a stop, under each family of laws, against Runge–Kutta with tiny steps.
func TestStageAgainstRungeKutta(t *testing.T) {
	law := &friction.LuGre{Sigma0: 2e5, Sigma1: 600, Sigma2: 203.5, Fc: 19.3, Fs: 25, Vs: 5e-3}
	s := AxisSpec{Name: "table", Drive: Drive{Kind: CurrentDrive, Bandwidth: 600}, Motor: Motor{K: 35.15, J: 95.1}, Friction: law,
		Stops: Stops{Travel: [2]float64{-0.5, 0.02}, Stiffness: 1e6, Loss: 0.5}, LoadTorque: -3}
	amps := func(t float64) float64 { return 4 * math.Sin(2*math.Pi*2*t) }
	const end, tick = 0.4, 1e-3
	deepest := 0.0
	truth := func(n int) [4]float64 { // x, v, i, z
		h := end / float64(n)
		var q [4]float64
		rate := func(u float64, q [4]float64) [4]float64 {
			x, v, i, z := q[0], q[1], q[2], q[3]
			g := law.Fc + (law.Fs-law.Fc)*math.Exp(-(v/law.Vs)*(v/law.Vs))
			dz := v - law.Sigma0*math.Abs(v)*z/g
			f := 35.15*i - (law.Sigma0*z + law.Sigma1*dz + law.Sigma2*v) + 3
			if p := x - 0.02; p > 0 {
				f -= 1e6 * p * max(0, 1+0.5*v)
			}
			return [4]float64{v, f / 95.1, 600 * (u - i), dz}
		}
		step := func(q, k [4]float64, c float64) [4]float64 {
			for j := range q {
				q[j] += c * k[j]
			}
			return q
		}
		for k := range n {
			u := amps(math.Floor(float64(k)*h/tick+1e-9) * tick)
			k1 := rate(u, q)
			k2 := rate(u, step(q, k1, h/2))
			k3 := rate(u, step(q, k2, h/2))
			k4 := rate(u, step(q, k3, h))
			for j := range q {
				q[j] += h / 6 * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
			}
			deepest = max(deepest, q[0]-0.02)
		}
		return q
	}
	want := truth(400000)
	errAt := func(inner int) (e [3]float64) {
		p := mustPlant(t, Spec{Kind: "stage", Axes: []AxisSpec{s}})
		x, y := p.NewState(), make([]float64, Outputs)
		for k := range int(math.Round(end / tick)) {
			for range inner {
				if st := p.Step(tick/float64(inner), x, []float64{amps(float64(k) * tick), 1}, y); st != engine.OK {
					t.Fatal(st)
				}
			}
		}
		return [3]float64{math.Abs(x[0] - want[0]), math.Abs(x[1] - want[1]), math.Abs(x[2] - want[2])}
	}
	if deepest < 1e-4 {
		t.Fatalf("the stage did not come into the stop: %g m", deepest)
	}
	e := errAt(20)
	t.Logf("%.2g mm into the stop, then at %g m, %g m/s; off by %.2g m, %.2g m/s, %.2g A", 1e3*deepest, want[0], want[1], e[0], e[1], e[2])
	if e[0] > 1e-7 || e[1] > 3e-6 || e[2] > 1e-9 {
		t.Errorf("off by %g m, %g m/s, %g A at 50 µs", e[0], e[1], e[2])
	}
	if lay := mustPlant(t, Spec{Kind: "stage", Axes: []AxisSpec{s}}).Layout(); lay.Outputs[OutFriction] != (engine.Signal{Name: "table.friction", Unit: "N"}) ||
		lay.States[1].Unit != "m/s" || lay.Inputs[0].Unit != "A" || lay.States[4].Unit != "m" {
		t.Errorf("layout %+v", lay)
	}
}

// A pendulum without friction has the period 4·K(sin(θ0/2))·√(J/(m·g·l)), K the complete elliptic integral by the arithmetic-geometric
// mean; its energy stays what it is, to rounding, at any step.
func TestPendulumPeriod(t *testing.T) {
	const j, mgl = 0.01, 0.3
	for _, theta0 := range []float64{0.1, 1.5, 3.0} {
		a, g := 1.0, math.Cos(theta0/2)
		for range 8 {
			a, g = (a+g)/2, math.Sqrt(a*g)
		}
		period := 2 * math.Pi / a * math.Sqrt(j/mgl)
		period4 := func(h float64) float64 {
			p := mustPlant(t, Spec{Kind: "pendulum", Axes: []AxisSpec{{Drive: Drive{Kind: NoDrive}, Motor: Motor{J: j}, Gravity: mgl,
				Friction: viscous(0)}}})
			x, y := p.NewState(), make([]float64, Outputs)
			x[0] = theta0
			energy := func() float64 { return j/2*x[1]*x[1] - mgl*math.Cos(x[0]) }
			e0, zeros, first := energy(), 0, 0.0
			for k := range 1 << 20 {
				before := x[0]
				p.Step(h, x, []float64{0, 0}, y)
				if math.Abs(energy()-e0) > 1e-9*mgl {
					t.Fatalf("energy off by %g J after %d steps of %g s", energy()-e0, k, h)
				}
				if before < 0 && x[0] >= 0 { // four of these are three periods
					at := h * (float64(k) + before/(before-x[0]))
					if zeros++; zeros == 1 {
						first = at
					} else if zeros == 4 {
						return (at - first) / 3
					}
				}
			}
			t.Fatal("does not swing")
			return 0
		}
		e1, e2 := period4(2e-3)/period-1, period4(1e-3)/period-1
		t.Logf("from %g rad: period %.6g s, off by %.2g and %.2g", theta0, period, e1, e2)
		if order := math.Log2(math.Abs(e1 / e2)); math.Abs(order-2) > 0.3 || math.Abs(e2) > 1e-4 {
			t.Errorf("from %g rad: period off by %.3g and %.3g, order %.2f, want 2", theta0, e1, e2, order)
		}
	}
}

// A pendulum that rests on a rigid law stays where its friction holds it, and falls from where it does not.
func TestPendulumSticks(t *testing.T) {
	for _, c := range []struct {
		angle float64
		moves bool
	}{{0.19, false}, {-0.19, false}, {0.22, true}, {-0.22, true}, {math.Pi - 0.19, false}} { // sin θ = 0.2
		p := mustPlant(t, Spec{Kind: "pendulum", Axes: []AxisSpec{{Drive: Drive{Kind: NoDrive}, Motor: Motor{J: 0.01}, Gravity: 1,
			Friction: &friction.Karnopp{Fc: 0.15, Fs: 0.2}}}})
		x, y := p.NewState(), make([]float64, Outputs)
		x[0] = c.angle
		for range 1000 {
			p.Step(1e-4, x, []float64{0, 0}, y)
		}
		if moved := x[0] != c.angle; moved != c.moves {
			t.Errorf("from %g rad to %g: want it to move %v", c.angle, x[0], c.moves)
		}
	}
}

// testArm is an arm with unequal links.
var testArm = TwoLink{Mass: [2]float64{1.3, 0.8}, Length: 0.4, Centre: [2]float64{0.18, 0.15}, Inertia: [2]float64{0.02, 0.009},
	Gravity: 9.81}

const armJ1, armJ2 = 0.01, 0.004 // kg·m²

// heights and speeds of the centres of mass, from the geometry alone: the energy of the arm (J), in plain coordinates.
func armEnergy(q, v [2]float64, gravity bool) float64 {
	l := &testArm
	a, b := q[0], q[0]+q[1]
	va, vb := v[0], v[0]+v[1]
	vx1, vy1 := l.Centre[0]*va*math.Cos(a), l.Centre[0]*va*math.Sin(a)
	vx2 := l.Length*va*math.Cos(a) + l.Centre[1]*vb*math.Cos(b)
	vy2 := l.Length*va*math.Sin(a) + l.Centre[1]*vb*math.Sin(b)
	e := l.Mass[0]/2*(vx1*vx1+vy1*vy1) + l.Mass[1]/2*(vx2*vx2+vy2*vy2) + l.Inertia[0]/2*va*va + l.Inertia[1]/2*vb*vb +
		armJ1/2*v[0]*v[0] + armJ2/2*v[1]*v[1]
	if gravity {
		e -= l.Gravity * (l.Mass[0]*l.Centre[0]*math.Cos(a) + l.Mass[1]*(l.Length*math.Cos(a)+l.Centre[1]*math.Cos(b)))
	}
	return e
}

// armAccel solves Lagrange's equations of that energy, differentiated by numbers: d/dt(∂T/∂v) − ∂T/∂q + ∂U/∂q = τ.
func armAccel(q, v, tau [2]float64) (acc [2]float64) {
	unit := func(i int) (e [2]float64) { e[i] = 1; return e }
	mass := func(q [2]float64) (m [2][2]float64) { // T is quadratic in v, so these are exact
		for i := range 2 {
			for j := range 2 {
				sum := unit(i)
				sum[j]++
				m[i][j] = armEnergy(q, sum, false) - armEnergy(q, unit(i), false) - armEnergy(q, unit(j), false)
			}
		}
		return m
	}
	const d = 1e-4
	f := tau
	for k := range 2 {
		up, down := q, q
		up[k] += d
		down[k] -= d
		mu, md := mass(up), mass(down)
		for i := range 2 {
			for j := range 2 { // dM/dt·v, the part of q[k]
				f[i] -= (mu[i][j] - md[i][j]) / (2 * d) * v[k] * v[j]
			}
		}
		f[k] += (armEnergy(up, v, false) - armEnergy(down, v, false)) / (2 * d)
		f[k] -= (armEnergy(up, [2]float64{}, true) - armEnergy(down, [2]float64{}, true)) / (2 * d)
	}
	m := mass(q)
	det := m[0][0]*m[1][1] - m[0][1]*m[1][0]
	return [2]float64{(m[1][1]*f[0] - m[0][1]*f[1]) / det, (m[0][0]*f[1] - m[1][0]*f[0]) / det}
}

// armSpec is the arm with efforts in its joints.
func armSpec(one, two friction.Model) Spec {
	return Spec{Kind: "two-link", TwoLink: testArm, Axes: []AxisSpec{
		{Name: "shoulder", Drive: Drive{Kind: EffortDrive}, Motor: Motor{J: armJ1}, Friction: one},
		{Name: "elbow", Drive: Drive{Kind: EffortDrive}, Motor: Motor{J: armJ2}, Friction: two},
	}}
}

// An arm without friction that falls freely keeps its energy up to an error of second order that does not grow, in many turns.
func TestArmKeepsItsEnergy(t *testing.T) {
	drift := func(h float64) float64 {
		p := mustPlant(t, armSpec(viscous(0), viscous(0)))
		x, y := p.NewState(), make([]float64, 2*Outputs)
		x[0], x[1] = 2.5, -1
		e0, worst := armEnergy([2]float64{x[0], x[1]}, [2]float64{x[2], x[3]}, true), 0.0
		for range int(10 / h) {
			if st := p.Step(h, x, []float64{0, 1, 0, 1}, y); st != engine.OK {
				t.Fatal(st)
			}
			worst = max(worst, math.Abs(armEnergy([2]float64{x[0], x[1]}, [2]float64{x[2], x[3]}, true)-e0))
		}
		return worst
	}
	e1, e2 := drift(1e-3), drift(5e-4)
	t.Logf("energy within %.2g and %.2g J at 1 and 0.5 ms", e1, e2)
	if order := math.Log2(e1 / e2); order < 1.8 || e2 > 2e-3 {
		t.Errorf("energy within %g and %g J, order %.2f, want 2", e1, e2, order)
	}
}

// An arm under LuGre friction in both joints, driven through reversals, against Runge–Kutta on Lagrange's equations.
func TestArmAgainstRungeKutta(t *testing.T) {
	laws := [2]*friction.LuGre{{Sigma0: 400, Sigma1: 2, Sigma2: 0.05, Fc: 0.4, Fs: 0.55, Vs: 0.1},
		{Sigma0: 200, Sigma1: 1, Sigma2: 0.02, Fc: 0.2, Fs: 0.3, Vs: 0.1}}
	tau := func(t float64) [2]float64 {
		return [2]float64{6 * math.Sin(2*math.Pi*0.9*t), -2 * math.Sin(2*math.Pi*1.3*t)}
	}
	const end, tick = 0.6, 2e-3
	type state struct{ q, v, z [2]float64 }
	rate := func(t float64, s state) (d state) {
		f := tau(t)
		for i, p := range laws {
			v := s.v[i]
			g := p.Fc + (p.Fs-p.Fc)*math.Exp(-(v/p.Vs)*(v/p.Vs))
			d.z[i] = v - p.Sigma0*math.Abs(v)*s.z[i]/g
			f[i] -= p.Sigma0*s.z[i] + p.Sigma1*d.z[i] + p.Sigma2*v
		}
		d.q, d.v = s.v, armAccel(s.q, s.v, f)
		return d
	}
	add := func(s, d state, c float64) state {
		for i := range 2 {
			s.q[i] += c * d.q[i]
			s.v[i] += c * d.v[i]
			s.z[i] += c * d.z[i]
		}
		return s
	}
	var want state
	want.q = [2]float64{0.3, 0.4}
	const n = 30000
	for k := range n {
		h := end / n
		at := math.Floor(float64(k)*h/tick+1e-9) * tick
		k1 := rate(at, want)
		k2 := rate(at, add(want, k1, h/2))
		k3 := rate(at, add(want, k2, h/2))
		k4 := rate(at, add(want, k3, h))
		want = add(add(add(add(want, k1, h/6), k2, h/3), k3, h/3), k4, h/6)
	}
	errAt := func(inner int) (e float64) {
		p := mustPlant(t, armSpec(laws[0], laws[1]))
		x, y := p.NewState(), make([]float64, 2*Outputs)
		x[0], x[1] = 0.3, 0.4
		for k := range int(math.Round(end / tick)) {
			f := tau(float64(k) * tick)
			for range inner {
				if st := p.Step(tick/float64(inner), x, []float64{f[0], 1, f[1], 1}, y); st != engine.OK {
					t.Fatalf("tick %d: %v", k, st)
				}
			}
		}
		for i := range 2 {
			e = max(e, math.Abs(x[i]-want.q[i]), 0.1*math.Abs(x[2+i]-want.v[i]))
		}
		return e
	}
	e1, e2 := errAt(2), errAt(32)
	t.Logf("at %v rad, %v rad/s; errors %.2g and %.2g", want.q, want.v, e1, e2)
	if order := math.Log2(e1/e2) / 4; order < 1.5 || e2 > 2e-6 {
		t.Errorf("errors %g at 1 ms and %g at 62 µs, order %.2f, want 2 and 1e-6", e1, e2, order)
	}
}

// A stick mode in a joint of an arm: with its elbow held by friction the arm is one pendulum, whose energy stays; when the shoulder is
// held too nothing moves at all; and the torque at which the elbow gives way is the break-away level.
func TestArmSticks(t *testing.T) {
	rigid := func(fs float64) friction.Model { return &friction.Karnopp{Fc: 0.8 * fs, Fs: fs} }
	p := mustPlant(t, armSpec(viscous(0), rigid(50)))
	x, y := p.NewState(), make([]float64, 2*Outputs)
	x[0], x[1] = 1.2, 0.7
	energy := func() float64 { return armEnergy([2]float64{x[0], x[1]}, [2]float64{x[2], x[3]}, true) }
	e0 := energy()
	for range 20000 {
		p.Step(1e-4, x, []float64{0, 1, 0, 1}, y)
		if x[1] != 0.7 || x[3] != 0 {
			t.Fatalf("the elbow moves: %g rad, %g rad/s", x[1], x[3])
		}
		if math.Abs(energy()-e0) > 1e-6 {
			t.Fatalf("energy off by %g J", energy()-e0)
		}
	}

	p = mustPlant(t, armSpec(rigid(50), rigid(50)))
	x = p.NewState()
	x[0], x[1] = 1.2, 0.7
	want := slices.Clone(x)
	for range 100 {
		p.Step(1e-4, x, []float64{3, 1, -3, 1}, y)
	}
	if !slices.Equal(x, want) {
		t.Errorf("both joints held: %v, want %v", x, want)
	}
	// the friction that is told holds gravity and drive
	l := &testArm
	g2 := l.Mass[1] * l.Gravity * l.Centre[1] * math.Sin(1.9)
	g1 := g2 + l.Gravity*(l.Mass[0]*l.Centre[0]+l.Mass[1]*l.Length)*math.Sin(1.2)
	if f1, f2 := y[OutFriction], y[Outputs+OutFriction]; math.Abs(f1-(3-g1)) > 1e-9 || math.Abs(f2-(-3-g2)) > 1e-9 {
		t.Errorf("holds with %g and %g N·m, want %g and %g", f1, f2, 3-g1, -3-g2)
	}

	for _, over := range []float64{0.999, 1.001} {
		p = mustPlant(t, armSpec(rigid(50), rigid(0.5)))
		x = p.NewState()
		for range 200 {
			p.Step(1e-4, x, []float64{0, 1, 0.5 * over, 1}, y)
		}
		if moved := x[1] != 0; moved != (over > 1) || x[0] != 0 {
			t.Errorf("%g of the break-away torque: at %v", over, x[:2])
		}
	}
}

// An arm carries every law in both joints: steps converge, nothing is allocated, and energy only goes.
func TestArmCarriesEveryLaw(t *testing.T) {
	for _, info := range friction.Laws() {
		law := info.NewLaw()
		fc := math.Abs(law.SteadyForce(1))
		spec := armSpec(law, info.NewLaw())
		for i := range spec.Axes { // as heavy as the laws are strong
			spec.Axes[i].Motor.J *= fc
		}
		for i := range 2 {
			spec.TwoLink.Mass[i] *= fc
			spec.TwoLink.Inertia[i] *= fc
		}
		p := mustPlant(t, spec)
		x, u, y := p.NewState(), []float64{0, 1, 0, 1}, make([]float64, 2*Outputs)
		x[0], x[1] = 2, 0.5
		const h, n = 1e-4, 8000
		bad := 0
		work, spent := 0.0, 0.0
		energy := func() float64 { return fc * armEnergy([2]float64{x[0], x[1]}, [2]float64{x[2], x[3]}, true) }
		e0 := energy()
		for k := range n {
			u[0], u[2] = 3*fc*math.Sin(20*h*float64(k)), 2*fc*math.Sin(31*h*float64(k))
			switch st := p.Step(h, x, u, y); st {
			case engine.NonFinite:
				t.Fatalf("%s: step %d: %v", info.Name, k, st)
			case engine.NotConverged:
				bad++
			}
			for i := range 2 {
				l := p.Axis(i).Last()
				work, spent = work+h*l.Effort*l.W, spent+l.Work
			}
		}
		if miss := math.Abs(work - spent - energy() + e0); miss > 5e-3*(math.Abs(work)+spent) {
			t.Errorf("%s: work %g J, friction %g J, energy %g J more: %g J missing", info.Name, work, spent, energy()-e0, miss)
		}
		if bad > n/1000 {
			t.Errorf("%s: %d of %d steps not converged", info.Name, bad, n)
		}
		if a := testing.AllocsPerRun(50, func() { p.Step(h, x, u, y) }); a != 0 {
			t.Errorf("%s: %g allocations in a step", info.Name, a)
		}
	}
}

// Several axes of one plant do not know of each other, and each is what it is alone.
func TestAxesAreIndependent(t *testing.T) {
	a, b := demo(), demo()
	a.Name, b.Name, b.Motor.J, b.Friction = "left", "right", 2e-4, &friction.Karnopp{Fc: 0.015, Fs: 0.02}
	p := mustPlant(t, Spec{Kind: "motor", Axes: []AxisSpec{a, b}})
	alone := []*Axis{must(t, a), must(t, b)}
	x, y := p.NewState(), make([]float64, 2*Outputs)
	xs, own := [][]float64{alone[0].NewState(), alone[1].NewState()}, make([]float64, Outputs)
	for k := range 3000 {
		u := []float64{6 * math.Sin(5e-3*float64(k)), 1, 3, float64(k / 1500)}
		p.Step(1e-4, x, u, y)
		for i := range 2 {
			alone[i].Step(1e-4, xs[i], u[2*i:2*i+2], own)
			if !slices.Equal(own, y[i*Outputs:(i+1)*Outputs]) {
				t.Fatalf("step %d: axis %d: %v, alone %v", k, i, y[i*Outputs:(i+1)*Outputs], own)
			}
		}
	}
	l := p.Layout()
	if len(l.States) != len(x) || len(l.Outputs) != len(y) || len(l.Inputs) != 4 || l.States[1].Name != "right.position" ||
		l.States[2].Name != "left.velocity" {
		t.Errorf("layout %+v of %d states", l, len(x))
	}
}

func TestBadPlants(t *testing.T) {
	for _, c := range []struct {
		s    Spec
		want string
	}{
		{Spec{Kind: "ball"}, "there are motor, stage, pendulum, two-link"},
		{Spec{Kind: "motor"}, "0 axes, want 1 to 4"},
		{Spec{Kind: "two-link", Axes: make([]AxisSpec, 3)}, "two-link has 2 axes, got 3"},
		{armSpec(nil, viscous(0)), "axis shoulder: friction: no law"},
		{Spec{Kind: "two-link", Axes: armSpec(viscous(0), viscous(0)).Axes}, "mass of the first link: 0 kg"},
		{Spec{Kind: "stage", Axes: []AxisSpec{{Drive: Drive{Kind: EffortDrive}, Motor: Motor{J: 1}, Friction: viscous(0),
			Stops: Stops{Travel: [2]float64{1, 0}}}}}, "want low < high and a stiffness > 0"},
		{Spec{Kind: "stage", Axes: []AxisSpec{{Drive: Drive{Kind: VelocityDrive}, Motor: Motor{J: 1}, Friction: viscous(0)}}}, "Kp = Ki = 0"},
		{Spec{Kind: "stage", Axes: []AxisSpec{{Drive: Drive{Kind: EffortDrive}, Friction: viscous(0)}}}, "inertia: 0 kg·m², want > 0"},
	} {
		if _, err := New(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.want)
		}
	}
	p := mustPlant(t, armSpec(viscous(0), viscous(0)))
	x, y := p.NewState(), make([]float64, 2*Outputs)
	x[3] = 1
	if st := p.Step(1e-3, x, []float64{0, 1, math.NaN(), 1}, y); st != engine.NonFinite || x[3] != 1 || x[1] != 0 {
		t.Errorf("NaN effort: %v, %v; want the state untouched", st, x)
	}
}

func BenchmarkArmStep(b *testing.B) {
	law := &friction.LuGre{Sigma0: 400, Sigma1: 2, Sigma2: 0.05, Fc: 0.4, Fs: 0.55, Vs: 0.1}
	p := mustPlant(b, armSpec(law, law))
	x, u, y := p.NewState(), []float64{0, 1, 0, 1}, make([]float64, 2*Outputs)
	k := 0.0
	b.ReportAllocs()
	for b.Loop() {
		u[0], u[2] = 6*math.Sin(1e-3*k), -2*math.Sin(1.4e-3*k)
		p.Step(5e-5, x, u, y)
		k++
	}
}
