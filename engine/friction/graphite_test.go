package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"hilrig/engine"
)

func brush() *Brush {
	return &Brush{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, MuC: 0.2, MuS: 0.3, Vs: 0.05, Vd: 0.02, AT: -1e-3, T0: 20, AJ: -1e-6,
		MuMin: 0.02, Area: 1e-4, N0: 5, Rth: 10, Cth: 0.1, Udrop: 1, Tamb: 20}
}

// slide moves the brush at v (m/s) for n steps of h (s) and returns the last mean force.
func slide(p *Brush, z []float64, in Input, n int) (f float64) {
	for range n {
		f = p.Step(z, in)
	}
	return f
}

// Without dependence on temperature and current the brush is LuGre with Fc = μc·N0 and Fs = μs·N0, for every scheme; twice
// the load is twice the force at the same deflection.
func TestBrushIsLuGreAtConstantTemperature(t *testing.T) {
	p := brush()
	p.AT, p.AJ = 0, 0
	q := &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}
	z, z2, zq := newZ(p), newZ(p), newZ(q)
	for k := range 2000 {
		scheme := []Scheme{Midpoint, Explicit}[k%2]
		in := Input{Dt: 1e-3, V: 0.1 * math.Sin(0.01*float64(k)) * math.Sin(0.27*float64(k)), I: 3}
		f, df := p.Trial(scheme, z, z, in)
		want, dwant := q.Trial(scheme, zq, zq, in)
		in.N = 10
		f2, _ := p.Trial(scheme, z2, z2, in)
		if math.Abs(f-want) > 1e-12 || math.Abs(z[0]-zq[0]) > 1e-15 || scheme == Midpoint && math.Abs(df-dwant) > 1e-9*(1+math.Abs(dwant)) {
			t.Fatalf("step %d, %v: F = %.15g, slope %g; LuGre %.15g, %g", k, scheme, f, df, want, dwant)
		}
		if math.Abs(f2-2*f) > 1e-12 || z2[0] != z[0] {
			t.Fatalf("step %d: %g N at twice the load, want %g N", k, f2, 2*f)
		}
	}
}

// Constant power: T = Tamb + Rth·P·(1 − e^{−t/(Rth·Cth)}), P = μ·N·v + σ2·v² + Udrop·|I|, in steps of any length.
func TestBrushHeats(t *testing.T) {
	p := brush()
	p.AT, p.AJ = 0, 0
	const v, i = -2.0, -3.0
	power := p.N0*p.MuC*2 + p.Sigma2*4 + p.Udrop*3
	for _, h := range []float64{1e-3, 0.05, 0.4} {
		z := []float64{-p.N0 * p.MuC / p.Sigma0, p.Tamb} // bristles in steady sliding
		for k := range int(2 / h) {
			p.Step(z, Input{Dt: h, V: v, I: i})
			want := p.Tamb + p.Rth*power*(1-math.Exp(-h*float64(k+1)/(p.Rth*p.Cth)))
			if math.Abs(z[1]-want) > 1e-9*want {
				t.Fatalf("h=%g, %g s: %.9f °C, want %.9f °C", h, h*float64(k+1), z[1], want)
			}
		}
	}
	// and cools at rest without current
	z := []float64{0, 120}
	p.Step(z, Input{Dt: 0.7})
	if want := 20 + 100*math.Exp(-0.7); math.Abs(z[1]-want) > 1e-9 {
		t.Errorf("cooling: %.9f °C, want %.9f °C", z[1], want)
	}
}

// Friction that changes with temperature: with θ = T − Tamb and Tamb = T0 the balance is the quadratic
// θ = Rth·(v·(N·μ·mJ·(1 + aT·θ + bT·θ²) + σ2·v) + Udrop·I), solved here by its formula.
func TestBrushSettles(t *testing.T) {
	for _, c := range []struct{ aT, bT, v, n, i float64 }{
		{-1e-3, 0, 2, 5, 0}, {-4e-3, 8e-6, 3, 5, 0}, {2e-3, 0, 1, 5, 4}, {-2e-3, 0, 5, 12, 10}, {1e-3, 5e-6, 1.5, 6, 2},
	} {
		p := brush()
		p.AT, p.BT = c.aT, c.bT
		j := c.i / p.Area
		a := c.v * c.n * p.MuC * (1 + p.AJ*j) // far above vs
		rest := c.v*c.n/p.N0*p.Sigma2*c.v + p.Udrop*c.i
		qa, qb, qc := p.Rth*a*c.bT, p.Rth*a*c.aT-1, p.Rth*(a+rest)
		theta := -qc / qb
		if c.bT != 0 {
			theta = (-qb - math.Sqrt(qb*qb-4*qa*qc)) / (2 * qa)
		}
		wantF := c.n/p.N0*p.Sigma2*c.v + a/c.v*(1+c.aT*theta+c.bT*theta*theta)
		z := newZ(p)
		f := slide(p, z, Input{Dt: 1e-3, V: c.v, N: c.n, I: c.i}, 60000)
		if math.Abs(z[1]-p.Tamb-theta) > 1e-6*theta || math.Abs(f/wantF-1) > 1e-6 {
			t.Errorf("%+v: %.6f °C, %.6f N; want %.6f °C, %.6f N", c, z[1], f, p.Tamb+theta, wantF)
		}
		sf, st := p.SteadyAt(c.v, c.n, c.i)
		if math.Abs(st-p.Tamb-theta) > 1e-9*theta || math.Abs(sf/wantF-1) > 1e-9 {
			t.Errorf("%+v: SteadyAt %.9f °C, %.9f N; want %.9f °C, %.9f N", c, st, sf, p.Tamb+theta, wantF)
		}
	}
}

// Temperature and motion together against a Runge–Kutta integration of the differential form with steps of 2 µs: halving
// the step halves the error of the temperature, which reaches back on friction with the value at the beginning of the step.
func TestBrushOrder(t *testing.T) {
	p := brush()
	p.AT, p.Rth, p.Cth = -4e-3, 100, 1e-3
	motion := func(t float64) float64 { return 1.5 + 0.8*math.Sin(20*t) }
	in := func(v float64) Input { return Input{V: v, I: 2, N: 6} }
	const end = 0.3
	ref := []float64{p.N0 * p.MuC / p.Sigma0, 60}
	start := [2]float64{ref[0], ref[1]}
	var k1, k2, k3, k4, y [2]float64
	const n = 150000
	for k := range n {
		const h = end / n
		t := float64(k) * h
		p.Flow(ref, k1[:], in(motion(t)))
		for i := range y {
			y[i] = ref[i] + h/2*k1[i]
		}
		p.Flow(y[:], k2[:], in(motion(t+h/2)))
		for i := range y {
			y[i] = ref[i] + h/2*k2[i]
		}
		p.Flow(y[:], k3[:], in(motion(t+h/2)))
		for i := range y {
			y[i] = ref[i] + h*k3[i]
		}
		p.Flow(y[:], k4[:], in(motion(t+h)))
		for i := range y {
			ref[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
	var err []float64
	for _, m := range []int{150, 300, 600} {
		z := []float64{start[0], start[1]}
		for k := range m {
			h := end / float64(m)
			q := in(motion((float64(k) + 0.5) * h))
			q.Dt = h
			p.Step(z, q)
		}
		err = append(err, math.Abs(z[1]-ref[1]))
	}
	t.Logf("%.4f °C, errors %.3g", ref[1], err)
	if order := math.Log2(err[1] / err[2]); order < 0.9 || err[0] > 0.5 {
		t.Errorf("errors %g °C, order %.2f, want at least 0.9", err, order)
	}
}

// The derivative that steers Newton's method.
func TestBrushSlope(t *testing.T) {
	p := brush()
	for _, s := range []Scheme{Midpoint, Implicit} {
		for _, z := range []float64{-1e-3, 0, 1.2e-3} {
			for _, v := range []float64{-0.3, -0.01, 1e-4, 0.04, 2} {
				var zn [2]float64
				in := Input{Dt: 1e-3, V: v, N: 7}
				_, df := p.Trial(s, []float64{z, 45}, zn[:], in)
				const eps = 1e-5
				in.V = v * (1 + eps)
				hi, _ := p.Trial(s, []float64{z, 45}, zn[:], in)
				in.V = v * (1 - eps)
				lo, _ := p.Trial(s, []float64{z, 45}, zn[:], in)
				if num := (hi - lo) / (2 * eps * v); math.Abs(num-df) > 1e-5*(1+math.Abs(num)) {
					t.Errorf("%v z=%g v=%g: slope %g, by differences %g", s, z, v, df, num)
				}
			}
		}
	}
}

// A hot brush stays at its floor, a lifted one has no friction.
func TestBrushFloorAndLift(t *testing.T) {
	p := brush()
	p.AT = -1e-2
	if mu := p.Mu(0.5, 300, 0); mu != p.MuMin {
		t.Errorf("coefficient %g at 300 °C, want the floor %g", mu, p.MuMin)
	}
	if a, b := p.Mu(0.5, -400, 0), p.Mu(0.5, brushCold, 0); a != b {
		t.Errorf("coefficient %g far below the range of the polynomial, want %g", a, b)
	}
	z := newZ(p)
	if f := p.Step(z, Input{Dt: 1e-3, V: 1, N: -1}); f != 0 {
		t.Errorf("%g N without contact", f)
	}
}

// Random laws: finite, and passive where they say so, with heat and current at work.
func TestBrushEnergy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := func(name string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(rt, name))
		}
		p := &Brush{Sigma0: log("sigma0", 1, 1e7), Sigma1: log("sigma1", 1e-3, 1e4), Sigma2: log("sigma2", 1e-5, 10), MuC: log("mu_c", 1e-2, 1),
			Vs: log("vs", 1e-4, 1),
			AT: rapid.Float64Range(-0.1, 0.1).Draw(rt, "aT"), BT: rapid.Float64Range(-1e-3, 1e-3).Draw(rt, "bT"), T0: 20,
			MuMin: log("mu_min", 1e-3, 0.1),
			Area:  1e-4, N0: log("N0", 0.1, 100), Rth: log("Rth", 1e-2, 1e3), Cth: log("Cth", 1e-4, 1),
			Tamb: rapid.Float64Range(-50, 100).Draw(rt, "Tamb")}
		p.MuS = p.MuC * rapid.Float64Range(1, 3).Draw(rt, "mu_s")
		p.Vd = 9 * p.N0 * p.MuMin / p.Sigma1 // 4·√(2e) = 9.33 is the limit
		if ok, _ := p.Passive(); !ok {
			rt.Fatal("counts as not passive")
		}
		driveStorage(rt, p, log("m", 1e-3, 100), p.N0*p.MuS, p.Vs, 1e-9)
	})
}

func TestBrushPassive(t *testing.T) {
	p := brush()
	p.Vd = 1.01 * 4 * p.N0 * p.MuMin * math.Sqrt(2*math.E) / p.Sigma1
	ok, v := p.Passive()
	if r := v / p.Vd; ok || math.Abs(p.Sigma1*v*math.Exp(-r*r)/(4*p.N0*p.MuMin)-1) > 1e-9 {
		t.Errorf("passive=%v from %g m/s, want the speed at which σ1·v = 4·N0·μmin", ok, v)
	}
}

// Stick-slip with a load of 5 N: that of LuGre on the public set, while 0.3 K of heat take 0.03 % of the friction.
func TestBrushStickSlip(t *testing.T) {
	p := brush()
	a := newBench(t, &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}, 1, Midpoint,
		&pulled{k: 100, speed: 0.02, h: 1e-3})
	b := newBench(t, p, 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 1e-3})
	evals, worst := 0, 0.0
	for range 5000 {
		a.step()
		r := b.step()
		if r.Status != engine.OK {
			t.Fatalf("%v at %g s", r.Status, b.s.t)
		}
		evals += r.Evals
		worst = max(worst, math.Abs(a.x[0]-b.x[0]))
	}
	t.Logf("%.2g m apart, %.2f evaluations a step, %.3f °C", worst, float64(evals)/5000, b.x[3])
	// 0.03 % of 1.5 N on 100 N/m are 4.5 µm, times the growth over the slips
	if worst > 1e-4 || b.x[3] < 20.05 || b.x[3] > 20.5 {
		t.Errorf("%.3g m from LuGre, at %.3f °C", worst, b.x[3])
	}
	if mean := float64(evals) / 5000; mean > 3.5 {
		t.Errorf("%.2f evaluations a step", mean)
	}
}

func BenchmarkBrushMass(b *testing.B) {
	m := newBench(b, brush(), 1, Midpoint, &pulled{k: 100, speed: 0.02, h: 1e-3})
	b.ReportAllocs()
	for b.Loop() {
		m.step()
	}
}
