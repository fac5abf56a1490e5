package circuit

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// saliency is a machine with saliency and cogging; its data are made up.
var salient = Rotor{Ld: 0.8e-3, Lq: 1.4e-3, Psi: 0.02, Pairs: 4, Cogs: []Cog{{0.01, 24}, {0.003, 48}}}

// everything is a network with a part of each kind on two axes.
func everything(t *testing.T) *Circuit {
	t.Helper()
	return build(t, 2,
		&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Constant(24), R: 0.1},
		&DC{Name: "dc", FromNode: "a", ToNode: "b", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05, BrushDrop: 0.8, DropScale: 0.2}, Axis: 0, I0: 1,
			Thermal: plant.Thermal{Resistance: 2, Capacity: 30, CopperTC: 0.0039, Ambient: 40}},
		&DC{Name: "quasi", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 3, K: 0.03}, Axis: 1},
		&Resistor{Name: "r", FromNode: "b", ToNode: "0", R: 0.5},
		&Capacitor{Name: "c", FromNode: "b", ToNode: "0", C: 1e-3, U0: 2},
		&Electromagnet{Name: "coil", FromNode: "a", ToNode: "d", Plunger: Plunger{Linf: 0.01, C: 2e-5, X0: 1e-3}, R: 4, Axis: 1, I0: 0.5},
		&Diode{Name: "d", FromNode: "d", ToNode: "0", Knee: 0.7, Ron: 0.05, Roff: 1e4},
		&Synchronous{Name: "pm", Rotor: salient, R: 0.3, Ud: reference.Constant(-1), Uq: reference.Constant(5), Axis: 0, I0: [2]float64{1, 3}},
		&ThreePhase{Name: "abc", FromNode: [3]string{"a", "b", "0"}, ToNode: [3]string{"s", "s", "s"}, Phases: Phases{salient, 0.3e-3},
			R: 0.4, Axis: 1})
}

// At any state and any motion the power of the instant closes: in = loss + d/dt(stored) + torque·speed, with the rate of the stored
// energy by differences along the flow, which knows nothing of L, Γ or γ.
func TestPowerClosesAnywhere(t *testing.T) {
	c := everything(t)
	n := len(c.States())
	rng := rand.New(rand.NewPCG(1, 18))
	x, dx := make([]float64, n), make([]float64, n)
	for range 200 {
		c.Reset(x)
		for k := range x[:n-1] {
			x[k] += 3 * rng.NormFloat64()
		}
		// the currents of the star add up to zero
		first := 4
		x[first+2] = -x[first] - x[first+1]
		q := []float64{rng.NormFloat64(), 2e-3 * rng.Float64()}
		v := []float64{30 * rng.NormFloat64(), rng.NormFloat64()}
		tau := []float64{0, 0}
		p, st := c.Flow(0, q, v, x, dx, tau)
		if st != engine.OK {
			t.Fatal(st)
		}
		stored := func(s float64) float64 {
			y := make([]float64, n)
			for k := range y {
				y[k] = x[k] + s*dx[k]
			}
			return c.StoredEnergy([]float64{q[0] + s*v[0], q[1] + s*v[1]}, y)
		}
		const s = 1e-6
		rate := (8*(stored(s)-stored(-s)) - (stored(2*s) - stored(-2*s))) / (12 * s)
		near(t, "power", p.Input, p.Loss+rate+tau[0]*v[0]+tau[1]*v[1], 1e-6*(math.Abs(p.Input)+math.Abs(rate)))
		near(t, "work", p.Output, tau[0]*v[0]+tau[1]*v[1], 1e-12*(1+math.Abs(p.Output)))
	}
}

// The index of the star's first current is what the test above takes.
func TestStatesOfEverything(t *testing.T) {
	want := []string{"dc.current", "coil.current", "pm.d.current", "pm.q.current", "abc.a.current", "abc.b.current", "abc.c.current",
		"c.voltage", "dc.temperature"}
	for k, s := range everything(t).States() {
		if s.Name != want[k] {
			t.Errorf("state %d: %s, want %s", k, s.Name, want[k])
		}
	}
}

// At constant speed and voltage the currents of a synchronous machine solve two linear equations:
// id = (R·ud + X_q·(uq − E))/(R² + Xd·Xq), iq = (R·(uq − E) − Xd·ud)/(R² + Xd·Xq), X = p·w·L, E = p·w·ψ.
func TestSynchronousSteadyState(t *testing.T) {
	const r, w, ud, uq = 0.3, 80.0, -2.0, 9.0
	m := salient
	m.Cogs = nil
	c := build(t, 1, &Synchronous{Name: "m", Rotor: m, R: r, Ud: reference.Constant(ud), Uq: reference.Constant(uq)})
	speed := func(float64) []float64 { return []float64{w} }
	x, e := integrate(t, c, func(s float64) []float64 { return []float64{w * s} }, speed, 0.2)
	xd, xq, emf := 4*w*m.Ld, 4*w*m.Lq, 4*w*m.Psi
	det := r*r + xd*xq
	id, iq := (r*ud+xq*(uq-emf))/det, (r*(uq-emf)-xd*ud)/det
	near(t, "id", x[0], id, 1e-9)
	near(t, "iq", x[1], iq, 1e-9)
	tau := []float64{0}
	p, _ := c.Flow(0.2, []float64{0}, []float64{w}, x, make([]float64, 2), tau)
	near(t, "torque", tau[0], 1.5*4*(m.Psi*iq+(m.Ld-m.Lq)*id*iq), 1e-9)
	near(t, "power", p.Input, 1.5*(ud*id+uq*iq), 1e-9)
	if e.Relative() > 1e-10 {
		t.Errorf("residual %g", e.Relative())
	}
}

// The same machine wound as three phases in a star, fed with the phase voltages that ud and uq are: the currents transform into
// id and iq, and the torque is the same. The phases have inductances that turn, a constraint at the star point and no dq anywhere.
func TestThreePhasesAreTheSameMachine(t *testing.T) {
	const r, w, ud, uq, end = 0.3, 60.0, 1.0, 8.0, 7e-3
	m := salient
	angle := func(k int, at float64) float64 { return m.Pairs*w*at - 2*math.Pi/3*float64(k) }
	var sources []Element
	names := [3]string{"a", "b", "c"}
	for k, n := range names {
		// ud·cos θ − uq·sin θ as one sine
		sources = append(sources, &VoltageSource{Name: "u" + n, FromNode: n, ToNode: "0", U: reference.Sine{Tone: reference.Tone{
			Amplitude: math.Hypot(ud, uq), Frequency: m.Pairs * w / 2 / math.Pi, Phase: math.Atan2(ud, -uq) - 2*math.Pi/3*float64(k)}}})
	}
	abc := build(t, 1, append(sources, &ThreePhase{Name: "m", FromNode: names, ToNode: [3]string{"s", "s", "s"},
		Phases: Phases{m, 0.2e-3}, R: r})...)
	dq := build(t, 1, &Synchronous{Name: "m", Rotor: m, R: r, Ud: reference.Constant(ud), Uq: reference.Constant(uq)})
	q := func(at float64) []float64 { return []float64{w * at} }
	v := func(float64) []float64 { return []float64{w} }
	x, e := integrate(t, abc, q, v, end)
	y, ey := integrate(t, dq, q, v, end)
	id, iq := 0.0, 0.0
	for k := range 3 {
		sin, cos := math.Sincos(angle(k, end))
		id += 2. / 3 * cos * x[k]
		iq -= 2. / 3 * sin * x[k]
	}
	near(t, "id", id, y[0], 1e-8)
	near(t, "iq", iq, y[1], 1e-8)
	near(t, "star", x[0]+x[1]+x[2], 0, 1e-12)
	near(t, "work", e.Output, ey.Output, 1e-9)
	near(t, "energy", e.Input, ey.Input, 1e-9)
	for _, e := range []Energies{e, ey} {
		if e.Relative() > 1e-9 {
			t.Errorf("residual %g", e.Relative())
		}
	}
}

// An armature without inductance is the limit of one with little.
func TestQuasiStaticArmature(t *testing.T) {
	at := func(l float64) (tau float64) {
		c := build(t, 1,
			&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Constant(12)},
			&DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 2, L: l, K: 0.05}})
		x, xn := make([]float64, len(c.States())), make([]float64, len(c.States()))
		f, slope := []float64{0}, []float64{0}
		if _, st := c.Trial(0, 1e-3, []float64{0}, []float64{50}, []float64{50}, x, xn, f, slope); st != engine.OK {
			t.Fatal(st)
		}
		near(t, "slope", slope[0], -0.05*0.05/2, 1e-5)
		return f[0]
	}
	near(t, "torque", at(0), 0.05*(12-0.05*50)/2, 1e-12)
	near(t, "torque with 1 nH", at(1e-9), at(0), 1e-6)
}

// A step of any length is exact: an armature at constant speed under a pulsed voltage, steps ten
// times its time constant long, against pieces of the exponential by hand.
func TestPulsedStepIsExact(t *testing.T) {
	const r, l, k, w, h = 1.0, 0.2e-3, 0.05, 40.0, 2e-3
	pwm := &PWM{Low: -5, High: 24, Period: 0.3e-3, Duty: reference.Constant(0.37)}
	c := build(t, 1,
		&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: pwm},
		&DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: r, L: l, K: k}})
	x := []float64{0}
	i, charge := 0.0, 0.0
	hand := func(u, d float64) {
		end := (u - k*w) / r
		e := math.Exp(-d * r / l)
		charge += end*d + (i-end)*(1-e)*l/r
		i = end + (i-end)*e
	}
	for step := range 3 {
		tau, slope := []float64{0}, []float64{0}
		if _, st := c.Trial(float64(step)*h, h, []float64{0}, []float64{w}, []float64{w}, x, x, tau, slope); st != engine.OK {
			t.Fatal(st)
		}
		charge = 0
		for at, end := float64(step)*h, float64(step+1)*h; at < end-1e-12; {
			period := math.Floor(at/0.3e-3 + 1e-9)
			fall, next := (period+0.37)*0.3e-3, (period+1)*0.3e-3
			u := 24.0
			if at >= fall-1e-12 {
				u, fall = -5, next
			}
			fall = min(fall, end)
			hand(u, fall-at)
			at = fall
		}
		near(t, "current", x[0], i, 1e-9)
		near(t, "torque", tau[0], k*charge/h, 1e-9)
	}
}

// The slopes of a step are its derivatives, by differences; they leave out what a position does to the currents within the step.
func TestSlopesOfAStep(t *testing.T) {
	c := everything(t)
	n := len(c.States())
	x, xn := make([]float64, n), make([]float64, n)
	c.Reset(x)
	run := func(w []float64) (tau, slope []float64) {
		tau, slope = make([]float64, 2), make([]float64, 4)
		if _, st := c.Trial(0, 1e-4, []float64{0.3, 1e-3}, []float64{20, 0.1}, w, x, xn, tau, slope); st != engine.OK {
			t.Fatal(st)
		}
		return tau, slope
	}
	w := []float64{20, 0.1}
	_, slope := run(w)
	for b := range 2 {
		const d = 1e-3
		up, down := []float64{w[0], w[1]}, []float64{w[0], w[1]}
		up[b] += d
		down[b] -= d
		tu, _ := run(up)
		td, _ := run(down)
		for a := range 2 {
			got, want := slope[a*2+b], (tu[a]-td[a])/2/d
			near(t, "slope", got, want, 0.05*math.Abs(want)+1e-3)
		}
	}
}

// Neither form allocates.
func TestAllocations(t *testing.T) {
	c := everything(t)
	c.Audited = true
	n := len(c.States())
	x, dx := make([]float64, n), make([]float64, n)
	c.Reset(x)
	q, v, tau, slope := []float64{0.3, 1e-3}, []float64{20, 0.1}, make([]float64, 2), make([]float64, 4)
	if a := testing.AllocsPerRun(50, func() { c.Flow(0, q, v, x, dx, tau) }); a != 0 {
		t.Errorf("Flow: %g allocations", a)
	}
	if a := testing.AllocsPerRun(50, func() { c.Trial(0, 1e-4, q, v, v, x, dx, tau, slope) }); a != 0 {
		t.Errorf("Trial: %g allocations", a)
	}
}

// Not a number in, a status out, and the state as it was.
func TestNonFinite(t *testing.T) {
	c := everything(t)
	n := len(c.States())
	x, xn := make([]float64, n), make([]float64, n)
	c.Reset(x)
	tau, slope := make([]float64, 2), make([]float64, 4)
	v := []float64{math.NaN(), 0}
	if _, st := c.Flow(0, []float64{0, 0}, v, x, xn, tau); st != engine.NonFinite {
		t.Errorf("Flow: %v", st)
	}
	if _, st := c.Trial(0, 1e-3, []float64{0, 0}, v, v, x, xn, tau, slope); st != engine.NonFinite || tau[0] != 0 {
		t.Errorf("Trial: %v, torque %g", st, tau[0])
	}
}
