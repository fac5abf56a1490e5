package experiment

import (
	"context"
	"math"
	"strings"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/reference"
)

// pidMass is 1 kg sent 1 m away by a PID, by the classical Runge-Kutta method with a step of h (s), written from the equations
// alone. friction gives the force on the sliding mass and the rate of the bristle z; a law without bristles holds the mass at
// rest up to fs (N), and its direction of slip, side, does not change within a step: the step ends where the mass stops.
type pidMass struct {
	kp, ki, kd float64
	fs         float64 // N  0: a law with bristles
	friction   func(v, z, side float64) (f, dz float64)
}

// run gives the position every tenth of a millisecond.
func (p pidMass) run(end float64) (t, x []float64) {
	const h = 1e-4
	y := [4]float64{} // x, v, z, integral
	side := 0.0
	rate := func(y [4]float64) [4]float64 {
		f, dz := p.friction(y[1], y[2], side)
		return [4]float64{y[1], p.kp*(1-y[0]) - p.kd*y[1] + y[3] - f, dz, p.ki * (1 - y[0])}
	}
	add := func(y, d [4]float64, h float64) [4]float64 {
		for i := range y {
			y[i] += h * d[i]
		}
		return y
	}
	for k := 1; float64(k)*h < end+h/2; k++ {
		push := p.kp*(1-y[0]) + y[3]
		if p.fs > 0 && y[1] == 0 && math.Abs(push) <= p.fs {
			y[3] += h * p.ki * (1 - y[0])
		} else {
			if side = math.Copysign(1, y[1]); y[1] == 0 {
				side = math.Copysign(1, push)
			}
			a := rate(y)
			b := rate(add(y, a, h/2))
			c := rate(add(y, b, h/2))
			d := rate(add(y, c, h))
			for i := range y {
				y[i] += h / 6 * (a[i] + 2*b[i] + 2*c[i] + d[i])
			}
			if p.fs > 0 && y[1]*side <= 0 {
				y[1] = 0
			}
		}
		t, x = append(t, float64(k)*h), append(x, y[0])
	}
	return t, x
}

// extremesAndPeriod reads a motion about 1 m with loops of its own.
func extremesAndPeriod(t, x []float64, from float64) (lo, hi, period float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	var first, last float64
	n := 0
	for k := range t {
		if t[k] < from {
			continue
		}
		lo, hi = min(lo, x[k]), max(hi, x[k])
		if x[k-1] < 1 && x[k] >= 1 {
			if n++; n == 1 {
				first = t[k]
			}
			last = t[k]
		}
	}
	return lo, hi, (last - first) / float64(n-1)
}

// slides makes a friction of the sliding mass from a curve over the speed.
func slides(curve func(v float64) float64) func(v, z, side float64) (f, dz float64) {
	return func(v, _, side float64) (f, dz float64) { return side * curve(max(0, side*v)), 0 }
}

// Table 6.3 of [MOGI]: what a position controller does with static friction. The numbers of the scenario are held against the
// independent integration, those of the set of [C95] against theory §10.2 as well.
func TestHunting(t *testing.T) {
	coulomb := func(v float64) float64 { return 1 + 0.4*v }
	lugre := func(s0, s1, vs, vd float64) func(v, z, side float64) (f, dz float64) {
		return func(v, z, _ float64) (f, dz float64) {
			dz = v - s0*math.Abs(v)*z/(1+0.5*math.Exp(-v*v/vs/vs))
			fade := 1.0
			if vd > 0 {
				fade = math.Exp(-v * v / vd / vd)
			}
			return s0*z + s1*fade*dz + 0.4*v, dz
		}
	}
	for _, c := range []struct {
		law   string
		model friction.Model // nil: with its public numbers
		mass  pidMass
		hunts bool
	}{
		{law: "viscous", mass: pidMass{friction: func(v, _, _ float64) (f, dz float64) { return 0.4 * v, 0 }}},
		{law: "coulomb", mass: pidMass{fs: 1, friction: slides(func(float64) float64 { return 1 })}},
		{law: "static-coulomb-viscous", mass: pidMass{fs: 1.5, friction: slides(coulomb)}, hunts: true},
		{law: "karnopp", mass: pidMass{fs: 1.5, friction: slides(coulomb)}, hunts: true},
		{law: "stribeck-bo-pavelescu", mass: pidMass{fs: 1.5,
			friction: slides(func(v float64) float64 { return coulomb(v) + 0.5*math.Exp(-v*v/0.0025) })}, hunts: true},
		{law: "stribeck-hess-soom", mass: pidMass{fs: 1.5, friction: slides(func(v float64) float64 { return coulomb(v) + 0.5/(1+v*v/0.0025) })}},
		{law: "lugre", mass: pidMass{friction: lugre(1e3, 30, 0.05, 0.02)}, hunts: true},
		{law: "lugre", model: &friction.LuGre{Sigma0: 1e5, Sigma1: math.Sqrt(1e5), Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 1e-3}, hunts: true},
	} {
		name := c.law
		if c.model != nil {
			name = "the set of C95"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, _ := friction.Find(c.law)
			if c.model == nil {
				c.model = info.NewLaw()
			}
			o, err := Scenarios[5].Run(context.Background(), Subject{Name: c.law, Label: c.law, Law: c.model, Force: info.Force}, Public())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, m := range o.Metrics {
				got[m.Key] = m.Value
			}
			if v := o.Parts[0].Trace.Summary.VEnd; math.Abs(v) > 1e-9 {
				t.Errorf("under PD it still moves at %g m/s", v)
			}
			if hunts := got["pid_amplitude"] > 0.01 && math.Abs(got["pid_growth"]-1) < 1e-3; hunts != c.hunts {
				t.Errorf("hunts: %v, want %v (amplitude %.4g m, growth %.4g)", hunts, c.hunts, got["pid_amplitude"], got["pid_growth"])
			}
			near := func(what string, got, want, tol float64) {
				if !(math.Abs(got-want) <= tol) {
					t.Errorf("%s %.6g, want %.6g ± %.1g", what, got, want, tol)
				}
			}
			if c.mass.friction == nil { // theory §10.2: −0.338 m, ±0.064 … 0.065 m, 24.4 s
				near("error of PD", got["pd_error"], 0.338, 5e-4)
				near("amplitude", got["pid_amplitude"], 0.0645, 1e-3)
				near("period", got["pid_period"], 24.4, 0.05)
				return
			}
			c.mass.kp, c.mass.kd = 3, 6
			_, x := c.mass.run(60)
			near("error of PD", got["pd_error"], 1-x[len(x)-1], 1e-5)
			if !c.hunts {
				return
			}
			c.mass.ki = 4
			at, x := c.mass.run(600)
			lo, hi, period := extremesAndPeriod(at, x, 300)
			t.Logf("amplitude %.6f m, period %.4f s; independent %.6f, %.4f", got["pid_amplitude"], got["pid_period"], (hi-lo)/2, period)
			near("amplitude", got["pid_amplitude"], (hi-lo)/2, 1e-4*(hi-lo)/2)
			near("period", got["pid_period"], period, 1e-4*period)
		})
	}
}

// controlled is 1 kg under a controller.
func controlled(law friction.Model, c Control, in reference.Generator, h, end float64) Spec {
	return Spec{Plant: ControlledMass, Law: law, Mass: 1, Control: c, Input: in, Step: h, Duration: end}
}

// trace records every step.
func trace(t *testing.T, s Spec) *Trace {
	t.Helper()
	tr, err := Record(context.Background(), s, Recording{Stride: 1})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// PD is a spring and a damper to the reference, so a mass that PD leads along a ramp is a drawn mass: it sticks and slips.
func TestPDIsADrawnMass(t *testing.T) {
	in := reference.Ramp{Velocity: 0.02}
	for _, name := range []string{"lugre", "static-coulomb-viscous", "seven-parameter"} {
		info, _ := friction.Find(name)
		a := trace(t, controlled(info.NewLaw(), Control{PID: control.PID{Kp: 100, Kd: 0.5}}, in, 1e-3, 10))
		b := trace(t, Spec{Plant: DrawnMass, Law: info.NewLaw(), Mass: 1, Spring: 100, Damper: 0.5, Input: in, Step: 1e-3, Duration: 10})
		for k := range a.T {
			if math.Abs(a.X[k]-b.X[k]) > 1e-9 {
				t.Fatalf("%s: at %g s %.12g m, drawn %.12g m", name, a.T[k], a.X[k], b.X[k])
			}
		}
	}
}

// A velocity controller with integral on viscous friction, from rest to r: M·dv/dt = kp·(r − v) + I − Fv·v, dI/dt = ki·(r − v).
// With s² + (kp + Fv)s + ki = (s + 1)(s + 4), v = r + A·e^{−t} + B·e^{−4t}, v(0) = 0 and dv/dt(0) = kp·r. The error of the
// scheme falls with the square of the step.
func TestVelocityController(t *testing.T) {
	const r, kp, ki = 0.5, 4.6, 4.0
	var worst [2]float64
	for i, h := range []float64{1e-2, 5e-3} {
		tr := trace(t, controlled(&friction.Viscous{Fv: 0.4, Delta: 1}, Control{PID: control.PID{Kp: kp, Ki: ki}, Speed: true},
			reference.Constant(r), h, 5))
		b := (r - kp*r) / 3
		a := -r - b
		for k, at := range tr.T {
			worst[i] = max(worst[i], math.Abs(tr.V[k]-(r+a*math.Exp(-at)+b*math.Exp(-4*at))))
		}
	}
	if worst[0] > 1e-4 || worst[0]/worst[1] < 3.5 || worst[0]/worst[1] > 4.5 {
		t.Errorf("errors %.3g and %.3g m/s, want less than 0.1 mm/s and a quarter with half the step", worst[0], worst[1])
	}
}

// A controller that samples every 50 ms and holds its force: between the samples the motion under viscous friction is exact,
// v⁺ = v·e + u·(1 − e)/Fv with e = e^{−Fv·T/M}. Limit and dead zone are those of a rig.
func TestSampledController(t *testing.T) {
	const T, fv = 0.05, 0.4
	c := Control{PID: control.PID{Kp: 3, Ki: 4, Kd: 6, Limit: 2, DeadZone: 0.01}, Period: T}
	tr := trace(t, controlled(&friction.Viscous{Fv: fv, Delta: 1}, c, reference.Constant(1), 1e-3, 10))
	var x, v, sum float64
	for k := range 200 {
		e := 1 - x
		if math.Abs(e) > 0.01 {
			sum = max(-2, min(2, sum+4*e*T))
		}
		u := max(-2, min(2, 3*e+sum-6*v))
		q := math.Exp(-fv * T)
		x += u/fv*T + (v-u/fv)*(1-q)/fv
		v = v*q + u/fv*(1-q)
		if got := tr.X[50*k+49]; math.Abs(got-x) > 1e-6 {
			t.Fatalf("sample %d: %.9g m, want %.9g", k, got, x)
		}
	}
}

// What makes no sense is said; a limit below break-away never moves the mass; a step allocates nothing.
func TestControllerLimits(t *testing.T) {
	law := &friction.StaticCoulombViscous{Fc: 1, Fs: 1.5, Fv: 0.4, Delta: 1}
	good := Control{PID: control.PID{Kp: 3, Ki: 4, Kd: 6}}
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Control.PID = control.PID{} }, "all gains are zero"},
		{func(s *Spec) { s.Control.Kp = -1 }, "control.kp"},
		{func(s *Spec) { s.Control.Ki = math.NaN() }, "control.ki"},
		{func(s *Spec) { s.Control.Limit = math.Inf(1) }, "control.limit"},
		{func(s *Spec) { s.Control.Speed = true }, "control.kd"},
		{func(s *Spec) { s.Control.Period = 1.5e-3 }, "control.period"},
		{func(s *Spec) { s.Control.Period = 1e-4 }, "control.period"},
		{func(s *Spec) { s.Scheme = friction.Explicit }, "midpoint or implicit"},
		{func(s *Spec) { s.Mass = 0 }, "mass"},
	} {
		s := controlled(law, good, reference.Constant(1), 1e-3, 1)
		c.change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want it to name %q", err, c.want)
		}
	}
	for _, limit := range []struct{ top, want float64 }{{1.499, 0}, {1.501, 1}} {
		c := good
		c.Limit = limit.top
		tr := trace(t, controlled(law, c, reference.Constant(-1), 1e-3, 10))
		if moved := math.Abs(tr.X[len(tr.X)-1]) > 1e-3; moved != (limit.want == 1) {
			t.Errorf("limit %g N: moved to %g m", limit.top, tr.X[len(tr.X)-1])
		}
		if tr.Summary.DriveMin < -limit.top || tr.Summary.DriveMax > limit.top {
			t.Errorf("limit %g N: force from %g to %g N", limit.top, tr.Summary.DriveMin, tr.Summary.DriveMax)
		}
	}
	for _, period := range []float64{0, 2e-3} {
		c := good
		c.Period = period
		s := controlled(&friction.LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05}, c, reference.Constant(1), 1e-3, 1)
		r, err := newRunner(&s)
		if err != nil {
			t.Fatal(err)
		}
		var q Sample
		at := 0.0
		if n := testing.AllocsPerRun(1000, func() { r.step(at, 1e-3, &q); at += 1e-3 }); n != 0 {
			t.Errorf("period %g s: a step allocates %g times", period, n)
		}
	}
}
