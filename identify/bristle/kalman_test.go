package bristle

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// steady is a load that does not change.
type steady float64

func (steady) Span(tau, h, x float64)                         {}
func (l steady) At(tau, x, v float64) (force, dx, dv float64) { return float64(l), 0, 0 }

// The step is that of the engine.
func TestStepAgainstEngine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		p := theta{math.Exp(r.NormFloat64()), 1e4 * math.Exp(2*r.NormFloat64()), 50 * r.Float64(), 3 * r.Float64(), 1, 1 + r.Float64(), 0.01 * math.Exp(r.NormFloat64()), r.NormFloat64()}
		law := &friction.LuGre{Sigma0: p[sigma0], Sigma1: p[sigma1], Sigma2: p[sigma2], Fc: p[coulomb], Fs: p[breakout], Vs: p[stribeck], Offset: p[offset]}
		mass, err := friction.NewMass(p[inertia], law, friction.Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		const h = 2e-4
		zeta := (2*r.Float64() - 1) * p[coulomb]
		x := []float64{0.1, 0.05 * r.NormFloat64(), zeta / p[sigma0]}
		s := state{x[0], x[1], zeta}
		var m mover
		m.set(&p, h)
		m.tol = 1e-12
		tan := tangent{vv: 1, zz: 1}
		u := 3 * r.NormFloat64()
		mass.Step(h, x, steady(u))
		if _, ok := m.move(&s, u, s.v, &tan); !ok {
			t.Fatalf("%v: no solution", p)
		}
		if math.Abs(s.x-x[0]) > 1e-11 || math.Abs(s.v-x[1]) > 1e-7 || math.Abs(s.z/p[sigma0]-x[2]) > 1e-11 {
			t.Fatalf("%v: step to %v, engine %v", p, s, x)
		}
	}
}

// The tangent over several steps is the difference quotient of the steps.
func TestTangent(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	run := func(p *theta, s state, u float64) (state, tangent) {
		var m mover
		m.set(p, 2e-4)
		m.tol = 1e-13
		tan := tangent{vv: 1, zz: 1}
		for range 5 {
			m.move(&s, u, s.v, &tan)
		}
		return s, tan
	}
	for range 200 {
		p := theta{1, 4e4 * math.Exp(r.NormFloat64()), 200 * r.Float64(), 2, 1, 1.5, 0.01, 0.1}
		v := 0.03 * r.NormFloat64()
		if math.Abs(v) < 0.003 { // not across the corner at v = 0
			continue
		}
		s, u := state{0.1, v, 0.9 * (2*r.Float64() - 1)}, v/math.Abs(v)
		_, tan := run(&p, s, u)
		for _, c := range []struct {
			name             string
			dv, dz, du       float64
			wantX, wantV, wz float64
		}{
			{"v", 1e-7, 0, 0, tan.xv, tan.vv, tan.zv},
			{"zeta", 0, 1e-6, 0, tan.xz, tan.vz, tan.zz},
			{"u", 0, 0, 1e-5, tan.xu, tan.vu, tan.zu},
		} {
			a, _ := run(&p, state{s.x, s.v + c.dv, s.z + c.dz}, u+c.du)
			b, _ := run(&p, state{s.x, s.v - c.dv, s.z - c.dz}, u-c.du)
			d := 2 * (c.dv + c.dz + c.du)
			for _, q := range [][2]float64{{(a.x - b.x) / d, c.wantX}, {(a.v - b.v) / d, c.wantV}, {(a.z - b.z) / d, c.wz}} {
				if math.Abs(q[0]-q[1]) > 1e-5*math.Abs(q[1])+1e-7/d*1e-6 {
					t.Fatalf("∂/∂%s at %v: difference %.9g, tangent %.9g", c.name, s, q[0], q[1])
				}
			}
		}
	}
}

// For a linear contact the filter gives the Gaussian likelihood of the whole record, here from its dense covariance.
func TestFilterIsGaussianLikelihood(t *testing.T) {
	const n, sub, h = 40, 3, 1e-3
	p := theta{1, 4e4, 100, 2, 1e4, 1e4, 1, 1e-3} // levels out of reach: no hysteresis
	r := rand.New(rand.NewPCG(3, 1))
	d := &data{h: h, y: make([]float64, n), u: make([]float64, n)}
	for k := range d.y {
		d.y[k], d.u[k] = 3e-7*r.NormFloat64(), 1e-3*math.Sin(0.3*float64(k))
	}
	f := &filter{d: d, m: &model{}, noise: noise{1e-13, 1e-4}, substeps: sub, s: make([]float64, n), u: make([]float64, (n-1)*sub)}
	Linear.between(d.u, nil, sub, f.u)
	// the prior of the bristles would be the level
	const level = 1e4
	rows := make([]float64, n)
	logS, ok := f.run(&p, rows)
	if !ok {
		t.Fatal("the filter fails")
	}
	got := n * logS
	for _, e := range rows {
		got += e * e
	}

	// y = mean + A·(v0, ζ0) + B·w + e, all Gaussian: dense covariance
	var m mover
	m.set(&p, h/sub)
	mean := make([]float64, n)
	sens := mat.NewDense(n, 2+n-1+1, nil) // x0, v0, ζ0, noises
	state0 := state{x: d.y[0]}
	phi := mat.NewDense(3, 3, nil)
	gam := mat.NewVecDense(3, nil)
	cols := mat.NewDense(3, 2+n, nil)
	cols.Set(0, 0, 1)
	cols.Set(1, 1, 1)
	cols.Set(2, 2, 1)
	for k := range n {
		mean[k] = state0.x
		for j := range 2 + n {
			sens.Set(k, j, cols.At(0, j))
		}
		if k == n-1 {
			break
		}
		tan := tangent{vv: 1, zz: 1}
		for i := range sub {
			m.move(&state0, f.u[k*sub+i], state0.v, &tan)
		}
		phi.SetRow(0, []float64{1, tan.xv, tan.xz})
		phi.SetRow(1, []float64{0, tan.vv, tan.vz})
		phi.SetRow(2, []float64{0, tan.zv, tan.zz})
		gam.SetVec(0, tan.xu)
		gam.SetVec(1, tan.vu)
		gam.SetVec(2, tan.zu)
		var next mat.Dense
		next.Mul(phi, cols)
		for i := range 3 {
			if 3+k < 2+n {
				next.Set(i, 3+k, gam.AtVec(i))
			}
		}
		cols.Copy(&next)
	}
	prior := []float64{1e-13, 2 * 1e-13 / (h * h), level * level / 3}
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := 0.0
			for q := range 2 + n {
				w := 1e-4
				if q < 3 {
					w = prior[q]
				}
				v += w * sens.At(i, q) * sens.At(j, q)
			}
			if i == j {
				v += 1e-13
			}
			c.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		t.Skip("the dense covariance is not positive")
	}
	e := mat.NewVecDense(n, nil)
	for k := range n {
		e.SetVec(k, d.y[k]-mean[k])
	}
	var ci mat.VecDense
	if err := chol.SolveVecTo(&ci, e); err != nil {
		t.Log(err)
	}
	want := chol.LogDet() + mat.Dot(e, &ci)
	if math.Abs(got/want-1) > 1e-6 {
		t.Errorf("−2·ln L = %.9g, dense %.9g", got, want)
	}
}

// limits are the accuracies that are asked for, in the order of the parameters.
var limits = [count]float64{0.008, 0.003, 0.03, 0.06, 0.008, 0.002, 0.01, 0.01}

// From the record alone the filter finds every parameter, within its limits and its errors.
func TestKalmanAccuracy(t *testing.T) {
	for _, g := range rigs() {
		t.Run(g.name, func(t *testing.T) {
			if testing.Short() && g.name != "light and soft" {
				t.Skip("one experiment is enough for a short test")
			}
			g.run(1)
			s, err := Kalman(context.Background(), g.record(1), Params(false), Options{Hold: Smooth}, nil)
			if err != nil {
				t.Fatal(err)
			}
			se := deviations(t, s)
			for i, p := range s.Params {
				off := p.Value/g.truth[i] - 1
				t.Logf("%-7s %+.3f %%, %+.2f standard errors", p.Name, 100*off, (p.Value-g.truth[i])/se[i])
				if math.Abs(off) > limits[i] {
					t.Errorf("%s = %.6g, truth %.6g: off by %.3f %%, limit %.1f %%", p.Name, p.Value, g.truth[i], 100*off, 100*limits[i])
				}
				if math.Abs(p.Value-g.truth[i]) > 4.5*se[i] {
					t.Errorf("%s = %.6g is %.1f standard errors from %.6g", p.Name, p.Value, (p.Value-g.truth[i])/se[i], g.truth[i])
				}
			}
			if in, lim := s.Extra["innovation"].(float64), s.Extra["innovation_limit"].(float64); math.Abs(in-1) > lim {
				t.Errorf("mean of e²/S %.3f, want 1 ± %.3f", in, lim)
			}
		})
	}
}

// deviations are the standard errors of the free parameters.
func deviations(t *testing.T, s *fit.Solution) []float64 {
	t.Helper()
	e, ok := standardErrors(s)
	if !ok {
		t.Fatal("the parameters cannot be told apart")
	}
	return e
}

// A run of the filter and a trial of the separable fit take no memory.
func TestNoAllocations(t *testing.T) {
	g := rigs()[0]
	g.duration = 2
	g.run(1)
	o := Options{}
	d, err := newData(g.record(1), &o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModel(Params(false))
	if err != nil {
		t.Fatal(err)
	}
	mo := newMotion(d, Linear)
	copy(mo.x, d.y)
	mo.derive()
	mo.rows()
	k := newTracker(d, m, &o, &smoothed{theta: g.truth, cost: 0.01, mo: mo}, nil)
	k.divide(Smooth, 5)
	rows := make([]float64, len(d.y))
	theta := g.truth[:]
	if n := testing.AllocsPerRun(3, func() { k.f.Residuals(theta, rows) }); n > 0 {
		t.Errorf("the filter allocates %g times per run", n)
	}
	e := &separable{p: newProjector(mo, m), at: curved[:]}
	q := []float64{g.truth[sigma0], g.truth[coulomb], 0.5, g.truth[stribeck]}
	if n := testing.AllocsPerRun(3, func() { e.Residuals(q, rows[:mo.last-mo.first]) }); n > 0 {
		t.Errorf("the separable fit allocates %g times per trial", n)
	}
}

func BenchmarkFilter(b *testing.B) {
	g := rigs()[0]
	g.run(1)
	o := Options{}
	d, err := newData(g.record(1), &o)
	if err != nil {
		b.Fatal(err)
	}
	m, err := newModel(Params(false))
	if err != nil {
		b.Fatal(err)
	}
	mo := newMotion(d, Linear)
	copy(mo.x, d.y)
	mo.derive()
	mo.rows()
	k := newTracker(d, m, &o, &smoothed{theta: g.truth, cost: 1.0, mo: mo}, nil)
	k.divide(Smooth, 6)
	rows := make([]float64, len(d.y))
	b.ReportAllocs()
	for b.Loop() {
		k.f.Residuals(g.truth[:], rows)
	}
}

// The number of workers changes no digit.
func TestWorkers(t *testing.T) {
	g := rigs()[2]
	g.duration = 2
	g.run(1)
	var first []fit.Param
	for _, workers := range []int{1, 3} {
		s, err := Kalman(context.Background(), g.record(1), Params(false), Options{Hold: Linear, Workers: workers}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s.Params
		}
		for i, p := range s.Params {
			if p.Value != first[i].Value {
				t.Errorf("%s = %v with %d workers, %v with one", p.Name, p.Value, workers, first[i].Value)
			}
		}
	}
}

// The force between samples is told from the data where it matters: half a sample of delay does.
func TestHoldFromData(t *testing.T) {
	g := rigs()[2]
	g.duration = 4
	g.hold = Held
	g.run(1)
	s, err := Kalman(context.Background(), g.record(1), Params(false), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Extra["hold"] != "held" {
		t.Errorf("the force is taken as %v, want held: %v", s.Extra["hold"], s.Extra["hold_likelihood"])
	}
	if in, lim := s.Extra["innovation"].(float64), s.Extra["innovation_limit"].(float64); math.Abs(in-1) > lim {
		t.Errorf("mean of e²/S %.3f, want 1 ± %.3f", in, lim)
	}
}
