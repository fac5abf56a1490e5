package bristle

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// steady is a load that does not change.
type steady float64

func (steady) Span(tau, h, x float64)                         {}
func (l steady) At(tau, x, v float64) (force, dx, dv float64) { return float64(l), 0, 0 }

// The step is that of the engine.
func TestStepAgainstEngine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		p := theta{math.Exp(r.NormFloat64()), 1e4 * math.Exp(2*r.NormFloat64()), 50 * r.Float64(), 3 * r.Float64(), 1, 1 + r.Float64(),
			0.01 * math.Exp(r.NormFloat64()), r.NormFloat64()}
		law := &friction.LuGre{Sigma0: p[sigma0], Sigma1: p[sigma1], Sigma2: p[sigma2], Fc: p[coulomb], Fs: p[breakout], Vs: p[stribeck],
			Offset: p[offset]}
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
	d := &data{h: h, maxForce: 1e-3, y: make([]float64, n), u: make([]float64, n), spans: []span{{0, n, h}}}
	for k := range d.y {
		d.y[k], d.u[k] = 3e-7*r.NormFloat64(), 1e-3*math.Sin(0.3*float64(k))
	}
	f := &filter{d: d, m: &model{}, noise: noise{1e-13, 1e-4}, share: 1, work: new(atomic.Int64), substeps: sub, s: make([]float64, n),
		u: make([]float64, (n-1)*sub)}
	Linear.substepMeans(d.u, nil, sub, f.u)
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
	state0 := state{x: d.y[0], v: (d.y[1] - d.y[0]) / h}
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
	prior := []float64{1e-13, 2*1e-13/(h*h) + h*1e-3*h*1e-3, level * level / 3}
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

// within tells by how many of its standard errors every parameter is off, and which are held by their 95 % interval.
func within(t *testing.T, s *fit.Solution, truth *theta) (off theta, held [count]bool) {
	t.Helper()
	a, err := fit.Assess(s)
	if err != nil {
		t.Fatal(err)
	}
	for j, i := range s.FreeParams {
		at := slices.Index(names[:], s.Params[i].Name)
		ci, se := a.Estimates[j].Interval(a.Residual.White), a.Estimates[j].Err(a.Residual.White)
		if ci == nil || se == nil {
			t.Fatalf("nothing is known of %s", s.Params[i].Name)
		}
		off[at] = (s.Params[i].Value - truth[at]) / *se
		held[at] = ci[0] <= truth[at] && truth[at] <= ci[1]
	}
	return off, held
}

// From the record alone the filter finds every parameter within its errors and close to the truth: soft and stiff contacts,
// open loop and servo, noise of force sensors, disturbances, fine and coarse encoders.
func TestKalmanAccuracy(t *testing.T) {
	for i, b := range benches() {
		if soaking || i%3 == 0 && (!testing.Short() || i == 0) {
			accurate(t, b, theta{0.02, 0.05, 0.1, 0.2, 0.02, 0.02, 0.05, 0.05}, 4)
		}
	}
	for i, b := range fine() {
		if soaking || i == 1 && !testing.Short() {
			accurate(t, b, theta{0.008, 0.003, 0.03, 0.06, 0.008, 0.002, 0.01, 0.01}, 4)
		}
	}
}

// accurate holds a fit from the record alone within shares of the truth and a number of standard errors.
func accurate(t *testing.T, b *bench, limits theta, errs float64) {
	t.Run(fmt.Sprintf("%s, %g s", b.name, b.seconds), func(t *testing.T) {
		s, err := Kalman(context.Background(), []*record.Record{b.draw(1)}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		off, _ := within(t, s, &b.truth)
		for i, z := range off[:fading] {
			rel := s.Params[i].Value/b.truth[i] - 1
			t.Logf("%-7s %+.3f %%, %+.2f standard errors", names[i], 100*rel, z)
			if math.Abs(z) > errs || math.Abs(rel) > limits[i] {
				t.Errorf("%s = %.6g, truth %.6g: off by %.2f %%, limit %.1f %%, %.1f standard errors", names[i], s.Params[i].Value, b.truth[i],
					100*rel, 100*limits[i], z)
			}
		}
		if in, lim := s.Extra["innovation"].(float64), s.Extra["innovation_limit"].(float64); math.Abs(in-1) > lim {
			t.Errorf("mean of e²/S %.3f, want 1 ± %.3f", in, lim)
		}
		if shift := s.Extra["substep_shift"].(float64); shift > 1./3 {
			t.Errorf("sub-steps half as long move a parameter by %.2f standard errors", shift)
		}
	})
}

// prepared is a tracker at the truth of a bench.
func prepared(t testing.TB, b *bench, o Options) *tracker {
	d, err := newData([]*record.Record{b.draw(1)}, &o)
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
	mo.choose(d.reach)
	return newTracker(d, m, &o, &smoothed{theta: b.truth, cost: 0.01, mo: mo}, nil)
}

// A run of the filter and a trial of the separable fit take no memory.
func TestNoAllocations(t *testing.T) {
	b := benches()[0]
	b.seconds = 2
	k := prepared(t, b, Options{})
	k.divide(Smooth, 5)
	rows := make([]float64, len(k.r))
	if n := testing.AllocsPerRun(3, func() { k.f.Residuals(b.truth[:], rows) }); n > 0 {
		t.Errorf("the filter allocates %g times per run", n)
	}
	mo := newMotion(k.d, Linear)
	copy(mo.x, k.d.y)
	mo.derive()
	mo.choose(k.d.reach)
	e := &separable{p: newProjector(mo, k.m), curvedPlaces: curved[:]}
	q := []float64{b.truth[sigma0], b.truth[coulomb], 0.1, b.truth[stribeck]}
	if n := testing.AllocsPerRun(3, func() { e.Residuals(q, rows[:len(mo.rows)]) }); n > 0 {
		t.Errorf("the separable fit allocates %g times per trial", n)
	}
}

func BenchmarkFilter(b *testing.B) {
	g := benches()[1]
	k := prepared(b, g, Options{})
	k.divide(Smooth, 6)
	b.ReportAllocs()
	for b.Loop() {
		k.f.Residuals(g.truth[:], k.r)
	}
}

// The number of workers changes no digit.
func TestWorkers(t *testing.T) {
	b := benches()[0]
	b.seconds = 2
	rec := []*record.Record{b.draw(1)}
	var first []fit.Param
	for _, workers := range []int{1, 3} {
		s, err := Kalman(context.Background(), rec, Params(false), Options{Hold: Linear, Workers: workers}, nil)
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
	for name, between := range map[string]independent.Between{"smooth": independent.Exact, "held": independent.Held} {
		b := benches()[0]
		b.seconds, b.between = 2.5, between
		s, err := Kalman(context.Background(), []*record.Record{b.draw(1)}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Extra["hold"] != name {
			t.Errorf("the force is taken as %v, want %s: %v", s.Extra["hold"], name, s.Extra["hold_likelihood"])
		}
	}
}

// An error of the force sensor and a force that acts on the mass are told apart.
func TestShareOfForceNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("two fits")
	}
	for name, want := range map[string]float64{"medium, noisy force sensor": 1, "medium, disturbed": 0} {
		b := named(t, name)
		s, err := Kalman(context.Background(), []*record.Record{b.draw(1)}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Extra["force_noise_sensor"].(float64); math.Abs(got-want) > 0.15 {
			t.Errorf("%s: %.2f of the force noise is taken for that of the sensor, want %g", name, got, want)
		}
	}
}

// Pieces of one recording give what the whole gives, but for the samples between them.
func TestPieces(t *testing.T) {
	b := benches()[0]
	whole := b.draw(1)
	cut := func(from, to int) *record.Record {
		return &record.Record{Dt: whole.Dt, Position: whole.Position[from:to], Force: whole.Force[from:to]}
	}
	n := whole.Len()
	for name, method := range methods {
		all, err := method(context.Background(), []*record.Record{whole}, Params(false), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := method(context.Background(), []*record.Record{cut(0, n/2), cut(n/2+7, n/2+20), cut(n/2+30, n)}, Params(false), Options{},
			nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(parts.Pieces) != 2 {
			t.Errorf("%s: pieces begin at rows %v, want two of them", name, parts.Pieces)
		}
		if !strings.Contains(strings.Join(parts.Notes, " "), "1 pieces of less than 50 samples") {
			t.Errorf("%s: notes %q do not say that a piece was left out", name, parts.Notes)
		}
		a, err := fit.Assess(all)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range parts.Params[:fading] {
			if d := math.Abs(p.Value - all.Params[i].Value); d > 1.5**a.Estimates[i].Err(a.Residual.White) {
				t.Errorf("%s: %s = %.5g in pieces, %.5g of the whole, %.1f standard errors", name, p.Name, p.Value, all.Params[i].Value,
					d / *a.Estimates[i].Err(a.Residual.White))
			}
		}
	}
}

// methods that fit all of LuGre.
var methods = map[string]func(context.Context, []*record.Record, []fit.Param, Options, fit.Watch) (*fit.Solution,
	error){"lugre": Separable, "kalman": Kalman}

// Any parameter may be fixed at its known value; the others are found around it. With all fixed the methods evaluate.
func TestFixed(t *testing.T) {
	b := benches()[0]
	b.seconds = 2.5
	rec := []*record.Record{b.draw(1)}
	for name, method := range methods {
		all := map[string]float64{}
		for i := range names {
			all[names[i]] = b.truth[i]
			if testing.Short() && i != inertia || !soaking && i%2 > 0 || i == fading { // which is fixed by itself
				continue
			}
			s, err := method(context.Background(), rec, fixed(Params(false), map[string]float64{names[i]: b.truth[i]}), Options{}, nil)
			if err != nil {
				t.Fatalf("%s with %s fixed: %v", name, names[i], err)
			}
			if len(s.FreeParams) != count-2 || len(s.Jac) != len(s.Residual)*(count-2) {
				t.Errorf("%s: %d free parameters, Jac of %d numbers for %d rows", name, len(s.FreeParams), len(s.Jac), len(s.Residual))
			}
			for j, p := range s.Params[:fading] {
				if off := math.Abs(p.Value/b.truth[j] - 1); off > 0.15 || j == i && off > 0 {
					t.Errorf("%s with %s fixed: %s = %.6g, truth %.6g", name, names[i], p.Name, p.Value, b.truth[j])
				}
			}
		}
		s, err := method(context.Background(), rec, fixed(Params(false), all), Options{}, nil)
		if err != nil {
			t.Fatalf("%s with all fixed: %v", name, err)
		}
		if len(s.FreeParams) != 0 || !s.Converged || s.Reason != "nothing was fitted" {
			t.Errorf("%s with all fixed: %d free, %q", name, len(s.FreeParams), s.Reason)
		}
		a, err := fit.Assess(s)
		if err != nil {
			t.Fatal(err)
		}
		if limit := map[string]float64{"lugre": 4 * b.sensor, "kalman": 1.1}[name]; a.Fit.RMS > limit {
			t.Errorf("%s: the truth leaves %.3g rms, limit %.3g", name, a.Fit.RMS, limit)
		}
	}
}
