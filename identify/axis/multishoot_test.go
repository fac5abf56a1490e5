package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// chaos is a damped pendulum driven by a torque that swings: J = 1, friction 0.5·v + 0.05·sgn v, gravity 1, torque
// 1.5·cos(2t/3), which it follows in no period. The generator is Runge and Kutta's method of fourth order with 50 steps to a
// sample, the torque held from sample to sample.
func chaos(n int, noise float64, seed uint64) *record.Record {
	const dt, sub = 0.05, 50
	rng := rand.New(rand.NewPCG(seed, 3))
	r := &record.Record{Dt: dt}
	x, v := 0.2, 0.0
	f := func(x, v, u float64) float64 { return u - 0.5*v - math.Sin(x) }
	for k := range n {
		u := 1.5 * math.Cos(2.0/3*float64(k)*dt)
		r.Position = append(r.Position, x+noise*rng.NormFloat64())
		r.Force = append(r.Force, u)
		for range sub {
			const h = dt / sub
			a1 := f(x, v, u)
			x2, v2 := x+h/2*v, v+h/2*a1
			a2 := f(x2, v2, u)
			x3, v3 := x+h/2*v2, v+h/2*a2
			a3 := f(x3, v3, u)
			x4, v4 := x+h*v3, v+h*a3
			a4 := f(x4, v4, u)
			x, v = x+h/6*(v+2*v2+2*v3+v4), v+h/6*(a1+2*a2+2*a3+a4)
		}
	}
	return r
}

const chaosNoise = 5e-3 // rad

// chaosModel starts 30 % off, and 0.1 rad/s.
func chaosModel(t *testing.T, rec *record.Record) (*Model, []fit.Param) {
	t.Helper()
	m, err := New(Spec{Rotary: true, Law: "viscous", Drive: Force, Terms: []string{"gravity-sin"}, Initial: Free, Substeps: 2},
		[]*record.Record{rec})
	if err != nil {
		t.Fatal(err)
	}
	ps := m.Params()
	for i := range ps {
		if v, ok := map[string]float64{"J": 1.3, "Fv": 0.35, "mgs": 1.3}[ps[i].Name]; ok {
			ps[i].Value = v
		}
		if ps[i].Name == "v0" {
			ps[i].Value = 0.1
		}
	}
	return m, ps
}

// 150 s of chaos: a simulation from the beginning leaves the record for good. With a growing horizon, and in segments, the same start
// finds the truth and the residual is the noise.
func TestShootingSucceedsOnChaosWhereOneSimulationFails(t *testing.T) {
	rec := chaos(3001, chaosNoise, 1)
	m, ps := chaosModel(t, rec)
	for _, horizons := range [][]float64{nil, {.05, .1, .2, .35, .5, .7, 1}} {
		pr, err := m.Problem(ps)
		if err != nil {
			t.Fatal(err)
		}
		s, err := fit.LM{Horizons: horizons}.Fit(context.Background(), pr, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch got := numeric.RMS(s.Residual); {
		case horizons == nil && got < 10*chaosNoise:
			t.Errorf("one simulation explains the record to %g rad: this is no test of segments", got)
		case horizons != nil && got > 1.1*chaosNoise:
			t.Errorf("a growing horizon leaves %g rad, noise %g rad", got, chaosNoise)
		}
	}
	for _, n := range []int{0, 40, 80} {
		pr, err := m.Shooting(ps, n)
		if err != nil {
			t.Fatal(err)
		}
		s, err := fit.LM{}.Fit(context.Background(), pr, nil)
		if err != nil {
			t.Fatal(err)
		}
		last := s.Pieces[len(s.Pieces)-1]
		if got := numeric.RMS(s.Residual[:last]); got > 1.1*chaosNoise || numeric.RMS(s.Residual[last:]) > chaosNoise {
			t.Errorf("%d segments: residual %g rad, gaps %g, noise %g rad", n, got, numeric.RMS(s.Residual[last:]), chaosNoise)
		}
		for i, want := range []float64{1, 0.5, 1} {
			if p := s.Params[i]; math.Abs(p.Value/want-1) > 1e-3 {
				t.Errorf("%d segments: %s = %.5g, want %g", n, p.Name, p.Value, want)
			}
		}
		if err := m.CompleteSolution(ps, s); err != nil || len(s.FreeParams) != len(pr.Params) || len(s.Input) != pr.Rows ||
			len(s.Velocity) != pr.Rows {
			t.Errorf("complete: %v, %d free of %d", err, len(s.FreeParams), len(pr.Params))
		}
		if _, err := fit.Assess(s); err != nil {
			t.Error(err)
		}
		if _, err := m.Problem(s.Params); err != nil {
			t.Error(err)
		}
	}
}

// The derivatives that use the structure are those of the residuals as a whole; segments of a motion that fits leave no gaps.
func TestShootingDerivatives(t *testing.T) {
	rec := chaos(201, 0, 1)
	m, ps := chaosModel(t, rec)
	pr, err := m.Shooting(ps, 5)
	if err != nil {
		t.Fatal(err)
	}
	ev := pr.NewEvaluator()
	n := len(pr.Params)
	theta := startOf(pr)
	r := make([]float64, pr.Rows)
	jac, _ := jacobianOf(pr, ev, theta)
	up, dn := make([]float64, pr.Rows), make([]float64, pr.Rows)
	for j := range n {
		at := theta[j]
		const h = 1e-5
		theta[j] = at + h
		ev.Residuals(theta, up)
		theta[j] = at - h
		ev.Residuals(theta, dn)
		theta[j] = at
		size := 0.0
		for k := range up {
			size = max(size, math.Abs(up[k]-dn[k])/(2*h))
		}
		for k := range up {
			if want := (up[k] - dn[k]) / (2 * h); math.Abs(jac[k*n+j]-want) > 1e-4*size {
				t.Fatalf("∂r[%d]/∂%s = %g, want %g", k, pr.Params[j].Name, jac[k*n+j], want)
			}
		}
	}
	if a := testing.AllocsPerRun(3, func() { ev.Residuals(theta, r); ev.(fit.Differentiable).Columns(theta) }); a != 0 {
		t.Errorf("%g allocations, want none", a)
	}
}

// One segment is plain output error: there is no gap, and the solution can be judged.
func TestShootingInOneSegment(t *testing.T) {
	rec := &record.Record{Dt: 1e-3, Position: make([]float64, 400), Force: make([]float64, 400)}
	for k := range rec.Position { // 2 kg under 4 N from rest
		s := float64(k) * rec.Dt
		rec.Force[k], rec.Position[k] = 4, s*s+1e-7*float64(k*7%11)
	}
	m, err := New(Spec{Drive: Force, Initial: Rest}, []*record.Record{rec})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Shooting(m.Params(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fit.LM{}.Fit(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit.Assess(s); err != nil {
		t.Error(err)
	}
	for _, q := range s.Params {
		if q.Name == "M" && math.Abs(q.Value/2-1) > 1e-3 {
			t.Errorf("M %.6g kg, want 2", q.Value)
		}
	}
}
