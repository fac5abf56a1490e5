package plant

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
)

var _ engine.System = (*Axis)(nil)

// demo is the motor of the demonstration.
func demo() AxisSpec {
	return AxisSpec{
		Motor:    Motor{R: 1.2, L: 0.6e-3, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5},
		Friction: &friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5, Vd: 0.3},
		Thermal:  Thermal{Ambient: 20},
	}
}

func must(t testing.TB, s AxisSpec) *Axis {
	t.Helper()
	d, err := NewAxis(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rk4 integrates the continuous equations by the classic method with n substeps: an independent second way.
func rk4(s AxisSpec, x []float64, u func(t float64) float64, t0, t1 float64, n int) {
	p, m := s.Friction.(*friction.LuGre), s.Motor
	f := func(t float64, x [4]float64) (dx [4]float64) {
		th, w, i, z := x[0], x[1], x[2], x[3]
		g := p.Fc + (p.Fs-p.Fc)*math.Exp(-(w/p.Vs)*(w/p.Vs))
		dz := w - p.Sigma0*math.Abs(w)*z/g
		fr := p.Sigma0*z + p.Sigma1*math.Exp(-(w/p.Vd)*(w/p.Vd))*dz + p.Sigma2*w
		dx[0] = w
		dx[1] = (m.K*i - fr - s.LoadTorque - s.Cogging*math.Sin(float64(s.CoggingN)*th)) / (m.J + s.LoadJ)
		dx[2] = (u(t) - m.R*i - m.K*w - m.BrushDrop*math.Tanh(i/m.DropScale)) / m.L
		dx[3] = dz
		return dx
	}
	h := (t1 - t0) / float64(n)
	a := [4]float64{x[0], x[1], x[2], x[3]}
	axpy := func(c float64, k [4]float64) (r [4]float64) {
		for j := range r {
			r[j] = a[j] + c*k[j]
		}
		return r
	}
	for step := range n {
		t := t0 + float64(step)*h
		k1 := f(t, a)
		k2 := f(t+h/2, axpy(h/2, k1))
		k3 := f(t+h/2, axpy(h/2, k2))
		k4 := f(t+h, axpy(h, k3))
		for j := range a {
			a[j] += h / 6 * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
		}
	}
	copy(x, a[:])
}

// The drive under a staircase of voltages, against Runge–Kutta with tiny steps. Without reversal halving the step divides
// the error by four; each reversal adds an error that depends on where in a step the kink of |ω| falls and the
// launch from rest crosses vd within two steps, so there the order is asked for over a factor of sixteen, with a margin.
func TestAgainstRungeKutta(t *testing.T) {
	s := demo()
	s.LoadJ, s.Cogging, s.CoggingN, s.LoadTorque = 1e-5, 2e-3, 12, 1e-3
	const tick, ticks = 2e-3, 250
	for _, c := range []struct {
		name       string
		launch     float64 // s  at 5 V before the comparison starts
		volts      func(t float64) float64
		from       int        // steps in a tick
		ratio      int        // the step is divided by this
		order      float64    // at least
		limit      [4]float64 // rad, rad/s, A, rad: largest error at 0.1 ms
		fineInners int
	}{
		{"one way", 0.01, func(t float64) float64 { return 5 + 2*math.Sin(2*math.Pi*3*t) }, 20, 2, 1.8, [4]float64{1e-6, 3e-5, 3e-5, 1e-9}, 1000},
		{"reversing", 0, func(t float64) float64 { return 4 * math.Sin(2*math.Pi*3*t) }, 10, 16, 1.45, [4]float64{2e-5, 3e-4, 1e-4, 3e-6}, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref := make([]float64, 5)
			rk4(s, ref, func(float64) float64 { return 5 }, 0, c.launch, 5000)
			start := append([]float64(nil), ref...)
			path := make([][]float64, ticks)
			for k := range ticks {
				rk4(s, ref, func(float64) float64 { return c.volts(float64(k) * tick) }, 0, tick, c.fineInners)
				path[k] = append([]float64(nil), ref...)
			}
			worst := func(inner int) (e [4]float64) {
				d := must(t, s)
				x, y := []float64{start[0], start[1], start[2], s.Thermal.Ambient, start[3]}, make([]float64, Outputs)
				for k := range ticks {
					for range inner {
						if st := d.Step(tick/float64(inner), x, []float64{c.volts(float64(k) * tick), 1}, y); st != engine.OK {
							t.Fatalf("tick %d: %v", k, st)
						}
					}
					for j := range e {
						e[j] = max(e[j], math.Abs(x[[4]int{Theta, Omega, Current, Contact}[j]]-path[k][j]))
					}
				}
				return e
			}
			at, e1, e2 := worst(20), worst(c.from), worst(c.from*c.ratio) // 0.1 ms; from coarse to fine
			t.Logf("largest error at 0.1 ms: θ %.2g rad, ω %.2g rad/s, i %.2g A, z %.2g rad", at[0], at[1], at[2], at[3])
			for j := range at {
				if at[j] > c.limit[j] {
					t.Errorf("state %d: error %g at 0.1 ms, want below %g", j, at[j], c.limit[j])
				}
				if order := math.Log2(e1[j]/e2[j]) / math.Log2(float64(c.ratio)); order < c.order && e1[j] > 1e-15 {
					t.Errorf("state %d: errors %g, %g, order %.2f, want ≥ %g", j, e1[j], e2[j], order, c.order)
				}
			}
		})
	}
}

// A locked rotor without brush drop is an R–L circuit: i = u/R·(1 − e^{−tR/L}).
func TestWindingStep(t *testing.T) {
	s := demo()
	s.Motor.BrushDrop, s.Motor.J = 0, 1e9
	d := must(t, s)
	for _, h := range []float64{1e-4, 5e-5} {
		x, y := d.NewState(), make([]float64, Outputs)
		worst, tau := 0.0, s.Motor.L/s.Motor.R
		for k := 1; float64(k)*h <= 5e-3; k++ {
			d.Step(h, x, []float64{6, 1}, y)
			worst = max(worst, math.Abs(x[Current]-5*-math.Expm1(-float64(k)*h/tau)))
		}
		if limit := 5 * math.Pow(h/tau, 2) / 12 * 0.5; worst > limit { // leading error term of the midpoint rule, largest at t = τ
			t.Errorf("h=%g: error %g A, want below %g", h, worst, limit)
		}
	}
	// a step a hundred times the time constant stays bounded
	x, y := d.NewState(), make([]float64, Outputs)
	for range 1000 {
		d.Step(0.05, x, []float64{6, 1}, y)
		if math.Abs(x[Current]) > 10.0001 {
			t.Fatalf("current %g A in a winding that can reach 5", x[Current])
		}
	}
}

// The end speed with viscous friction only is u/(K + R·σ2/K) less the Coulomb part.
func TestSteadySpeed(t *testing.T) {
	s := demo()
	d := must(t, s)
	x, y := d.NewState(), make([]float64, Outputs)
	for range 20000 {
		d.Step(1e-4, x, []float64{5, 1}, y)
	}
	p, m := s.Friction.(*friction.LuGre), s.Motor
	w := x[Omega]
	i := (p.Fc + p.Sigma2*w) / m.K // far above vs
	if u := m.R*i + m.K*w + m.BrushDrop*math.Tanh(i/m.DropScale); math.Abs(u-5) > 1e-9 {
		t.Errorf("ends at %g rad/s, which needs %g V, want 5", w, u)
	}
	if u := m.Voltage(y[3], w); math.Abs(u-5) > 1e-9 {
		t.Errorf("static inverse gives %g V, want 5", u)
	}
	if math.Abs(y[3]-(p.Fc+p.Sigma2*w)) > 1e-12 {
		t.Errorf("friction output %g N·m, want %g", y[3], p.Fc+p.Sigma2*w)
	}
}

// Electrical work = copper + brushes + friction + load + kinetic + magnetic + cogging, to rounding, for any step size.
func TestEnergyBalance(t *testing.T) {
	s := demo()
	s.Cogging, s.CoggingN, s.LoadTorque = 2e-3, 12, 1e-3
	for _, h := range []float64{5e-5, 1e-4, 1e-3} {
		d := must(t, s)
		x, y := d.NewState(), make([]float64, Outputs)
		in, out := 0.0, 0.0
		for k := range int(2 / h) {
			u := 5 * math.Sin(2*math.Pi*1.3*float64(k)*h)
			d.Step(h, x, []float64{u, 1}, y)
			l := d.Last()
			in += u * l.I * h
			out += h * (l.R*l.I*l.I + s.Motor.Drop(l.I)*l.I + (l.Friction+s.LoadTorque)*l.W)
		}
		n := float64(s.CoggingN)
		stored := s.Motor.L/2*x[Current]*x[Current] + s.Motor.J/2*x[Omega]*x[Omega] + s.Cogging/n*(1-math.Cos(n*x[Theta]))
		if math.Abs(in-out-stored) > 1e-10*in {
			t.Errorf("h=%g: in %.12g J, lost %.12g J, stored %.12g J: %g J missing", h, in, out, stored, in-out-stored)
		}
	}
}

// With the drive off the current dies, never changes sign, and the shaft coasts to rest under friction alone.
func TestFreewheel(t *testing.T) {
	s := demo()
	d := must(t, s)
	x, y := d.NewState(), make([]float64, Outputs)
	for range 3000 {
		d.Step(1e-4, x, []float64{8, 1}, y)
	}
	i0, w0 := x[Current], x[Omega]
	// closed form: i falls to zero within L/R·ln(1 + i·R/(Vf + drop + K·ω))
	zero := s.Motor.L / s.Motor.R * math.Log1p(i0*s.Motor.R/(24.6+s.Motor.K*w0))
	at := 0.0
	for k := range 40000 {
		d.Step(1e-5, x, []float64{8, 0}, y)
		if x[Current] < 0 || x[Current] > i0 {
			t.Fatalf("current %g A after switching off at %g A", x[Current], i0)
		}
		if at == 0 && x[Current] == 0 {
			at = float64(k+1) * 1e-5
		}
	}
	if math.Abs(at-zero) > 1.1e-5 {
		t.Errorf("current ends after %g s, want %g", at, zero)
	}
	coast := w0
	for range 40000 {
		d.Step(1e-4, x, []float64{0, 0}, y)
	}
	if math.Abs(x[Omega]) > 1e-6 {
		t.Errorf("still turning at %g rad/s, %g s after switching off at %g", x[Omega], 4.4, coast)
	}
}

// A law with a rigid stick holds the shaft until the torque of the motor exceeds it, and cuts steps at break-away and arrest:
// halving the step divides the error by four all the same, and the energy balance closes.
func TestRigidFriction(t *testing.T) {
	for _, name := range []string{"karnopp", "seven-parameter", "stribeck-tustin"} {
		t.Run(name, func(t *testing.T) {
			info, ok := friction.Find(name)
			if !ok {
				t.Fatal("not in the registry")
			}
			law := info.NewLaw()
			theta := []float64{}
			for _, p := range law.Params() {
				theta = append(theta, map[string]float64{"Fc": 0.015, "Fs": 0.021, "dFs_inf": 0.006, "Fv": 1.5e-4, "vs": 0.5, "kt": 11, "ct": 0.02,
					"tauL": 0.002, "gamma": 0.1}[p.Name])
			}
			if err := law.SetParams(theta); err != nil {
				t.Fatal(err)
			}
			s := demo()
			s.Friction, s.Motor.BrushDrop = law, 0
			run := func(n int) (angle, missing float64) {
				d := must(t, s)
				x, y := d.NewState(), make([]float64, Outputs)
				h, in, out := 1.0/float64(n), 0.0, 0.0
				for k := range n {
					u := 3 * math.Sin(2*math.Pi*(float64(k)+0.5)*h) // one swing: break-away, reversal with rest, break-away
					if st := d.Step(h, x, []float64{u, 1}, y); st != engine.OK {
						t.Fatalf("step %d: %v", k, st)
					}
					l := d.Last()
					in += u * l.I * h
					out += h*l.R*l.I*l.I + l.Work
				}
				stored := s.Motor.L/2*x[Current]*x[Current] + s.Motor.J/2*x[Omega]*x[Omega]
				return x[Theta], math.Abs(in-out-stored) / in
			}
			ref, _ := run(1 << 18)
			e1, e2 := 0.0, 0.0
			for _, n := range []int{2000, 2200, 2400, 2600} { // where in a step an event falls is chance: mean over several
				a, miss := run(n)
				b, _ := run(8 * n)
				e1, e2 = e1+math.Abs(a-ref), e2+math.Abs(b-ref)
				if miss > 1e-3 {
					t.Errorf("%d steps: %.2g of the energy is missing", n, miss)
				}
			}
			if order := math.Log2(e1/e2) / 3; order < 1.8 {
				t.Errorf("errors %.3g and %.3g rad, order %.2f, want ≥ 1.8", e1, e2, order)
			}
		})
	}
}

// Heating by constant losses follows the exponential of Rth·C; resistance and friction follow the temperature.
// A law that asks for current or normal load gets them: the brush is heated by the armature current, its coefficient falls
// with it, and twice the load brakes with twice the friction.
func TestContactIsToldCurrentAndLoad(t *testing.T) {
	brush := friction.Brush{Sigma0: 11, MuC: 0.2, MuS: 0.2, Vs: 0.5, MuMin: 0.01, Area: 1e-4, N0: 0.05, AJ: -1e-5, Rth: 10, Cth: 0.1,
		Udrop: 1, Tamb: 20}
	s := demo()
	s.Friction = &brush
	run := func(load float64) (friction, temp, amps float64) {
		d := must(t, s)
		d.Normal = load
		x, y := d.NewState(), make([]float64, Outputs)
		for range 20000 { // 20 time constants of the contact
			if st := d.Step(1e-3, x, []float64{6, 1}, y); st != engine.OK {
				t.Fatal(st)
			}
		}
		if math.Abs(y[3]-d.Last().Friction) > 1e-6*y[3] {
			t.Errorf("friction %g N·m at the end of a steady step, mean %g", y[3], d.Last().Friction)
		}
		return d.Last().Friction, x[Contact+1], d.Last().I
	}
	for _, load := range []float64{0, 0.05, 0.1} {
		n := load
		if n == 0 {
			n = brush.N0
		}
		f, temp, amps := run(load)
		if want := n * 0.2 * (1 - 1e-5*amps/brush.Area); math.Abs(f-want) > 1e-9*want {
			t.Errorf("load %g: friction %g N·m at %g A, want %g", load, f, amps, want)
		}
		// in balance with the power of friction and current; the friction is told in the middle of the step
		w := (6 - 1.2*amps - 0.6*math.Tanh(amps/0.05)) / 0.042
		if want := 20 + 10*(f*w+amps); math.Abs(temp-want) > 1e-6*want {
			t.Errorf("load %g: contact at %g °C, want %g", load, temp, want)
		}
	}
}

func TestThermal(t *testing.T) {
	s := demo()
	s.Motor.J, s.Motor.BrushDrop = 1e9, 0 // locked rotor
	s.Thermal = Thermal{Resistance: 10, Capacity: 0.5, CopperTC: 0, Ambient: 25}
	d := must(t, s)
	x, y := d.NewState(), make([]float64, Outputs)
	for range 50000 { // 5 s = one time constant
		d.Step(1e-4, x, []float64{2.4, 1}, y)
	}
	want := 25 + 10*1.2*4*(1-math.Exp(-1)) // R·i² = 4.8 W
	if math.Abs(x[Temperature]-want) > 0.02 {
		t.Errorf("after one time constant %g °C, want %g", x[Temperature], want)
	}
	s.Thermal.CopperTC, s.Thermal.FrictionTC = 0.0039, -0.004
	d = must(t, s)
	x = d.NewState()
	x[Temperature] = 70
	d.Step(1e-4, x, []float64{2.4, 1}, y)
	if r := d.Last().R; math.Abs(r-1.2*(1+0.0039*50)) > 1e-12 {
		t.Errorf("resistance at 70 °C %g Ω", r)
	}
	if f := d.warmth(70); math.Abs(f-0.8) > 1e-12 {
		t.Errorf("friction factor at 70 °C %g, want 0.8", f)
	}
}

func TestBadInput(t *testing.T) {
	d := must(t, demo())
	x, y := d.NewState(), make([]float64, Outputs)
	x[Omega] = 3
	if st := d.Step(1e-4, x, []float64{math.NaN(), 1}, y); st != engine.NonFinite || x[Omega] != 3 {
		t.Errorf("NaN voltage: %v, speed %g; want the state untouched", st, x[Omega])
	}
	s := demo()
	s.Motor.R, s.Motor.L, s.Friction.(*friction.LuGre).Fc, s.Thermal.Capacity = 0, -1, 0, 1
	if _, err := NewAxis(s); err == nil {
		t.Error("a motor without resistance was accepted")
	}
	if n := testing.AllocsPerRun(100, func() { d.Step(1e-4, x, u2, y) }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
}

var u2 = []float64{3, 1}

func BenchmarkAxisStep(b *testing.B) {
	s := demo()
	s.Cogging, s.CoggingN = 1e-3, 12
	d := must(b, s)
	x, y := d.NewState(), make([]float64, Outputs)
	u := []float64{0, 1}
	k := 0.0
	b.ReportAllocs()
	for b.Loop() {
		u[0] = 5 * math.Sin(1e-3*k)
		d.Step(1e-4, x, u, y)
		k++
	}
}
