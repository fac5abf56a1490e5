package circuit

import (
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

func build(t *testing.T, axes int, elements ...Element) *Circuit {
	t.Helper()
	c, err := Build(Spec{Axes: axes, Elements: elements})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// integrate runs a network at the given motion to end, with its energies behind the state.
func integrate(t *testing.T, c *Circuit, q, v func(t float64) []float64, end float64) (x []float64, e Energies) {
	t.Helper()
	n := len(c.States())
	tau := make([]float64, c.Axes())
	bad := engine.OK
	f := func(at float64, x, dx []float64) {
		clear(tau)
		p, st := c.Flow(at, q(at), v(at), x[:n], dx[:n], tau)
		bad = max(bad, st)
		dx[n], dx[n+1], dx[n+2] = p.Input, p.Loss, p.Output
	}
	x = make([]float64, n+3)
	c.Reset(x[:n])
	e.StoredChange = -c.StoredEnergy(q(0), x[:n])
	d := engine.NewDormandPrince(f, len(x))
	d.Rtol, d.Atol = 1e-12, 1e-13
	for at := 0.0; at < end; {
		next := min(end, c.Next(at))
		d.Start(at, x)
		for d.T < next {
			if err := d.Step(next); err != nil {
				t.Fatal(err)
			}
		}
		copy(x, d.X)
		at = next
	}
	if bad != engine.OK {
		t.Fatalf("status %v", bad)
	}
	e.StoredChange += c.StoredEnergy(q(end), x[:n])
	e.Input, e.Loss, e.Output = x[n], x[n+1], x[n+2]
	return x[:n], e
}

func still(n int) func(float64) []float64 {
	z := make([]float64, n)
	return func(float64) []float64 { return z }
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.12g, want %.12g ± %.2g", what, got, want, tol)
	}
}

// A series RLC circuit on a step: i = U/(ωL)·e^{−δt}·sin ωt, δ = R/2L, ω² = 1/LC − δ².
func TestSeriesResonance(t *testing.T) {
	const r, l, cap, u, end = 2.0, 1e-3, 2e-6, 5.0, 1.3e-3
	c := build(t, 0,
		&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Constant(u)},
		&Resistor{Name: "r", FromNode: "a", ToNode: "b", R: r},
		&Inductor{Name: "l", FromNode: "b", ToNode: "c", L: l},
		&Capacitor{Name: "c", FromNode: "c", ToNode: "0", C: cap})
	x, e := integrate(t, c, still(0), still(0), end)
	d := r / 2 / l
	w := math.Sqrt(1/l/cap - d*d)
	sin, cos := math.Sincos(w * end)
	decay := math.Exp(-d * end)
	near(t, "current", x[0], u/w/l*decay*sin, 1e-9)
	near(t, "voltage", x[1], u*(1-decay*(cos+d/w*sin)), 1e-8)
	if e.Relative() > 1e-10 {
		t.Errorf("energies %+v: residual %g", e, e.Residual())
	}
	// the solve at the end: voltages across the branches, and the current of the source the other way round
	vb, _ := c.Potential("b")
	va, _ := c.Potential("a")
	j, _ := c.Current("u")
	near(t, "drop of the resistor", va-vb, r*x[0], 1e-9)
	near(t, "source", j, -x[0], 1e-12)
}

// A bridge of resistors and a current source: Ohm's and Kirchhoff's laws by hand. No state at all.
func TestResistorsAlone(t *testing.T) {
	c := build(t, 0,
		&CurrentSource{Name: "i", FromNode: "0", ToNode: "a", I: reference.Constant(2)},
		&Resistor{Name: "r1", FromNode: "a", ToNode: "0", R: 3},
		&Resistor{Name: "r2", FromNode: "a", ToNode: "b", R: 5},
		&Resistor{Name: "wire", FromNode: "b", ToNode: "c"},
		&VoltageSource{Name: "u", FromNode: "c", ToNode: "0", U: reference.Constant(1), R: 1})
	p, st := c.Flow(0, nil, nil, nil, nil, nil)
	if st != engine.OK {
		t.Fatal(st)
	}
	// node a: 2 = a/3 + (a − 1)/6
	a, _ := c.Potential("a")
	near(t, "a", a, (2+1.0/6)/0.5, 1e-12)
	wire, _ := c.Current("wire")
	near(t, "wire", wire, (a-1)/6, 1e-12)
	near(t, "power", p.Input, p.Loss, 1e-12)
}

// Two coils with a mutual inductance M: in series aiding they are L1 + L2 + 2M, and both currents stay equal to the last digits,
// for the node between them is a constraint.
func TestCoupledCoilsInSeries(t *testing.T) {
	const l1, l2, m, r, u, end = 2e-3, 1e-3, 0.7e-3, 3.0, 6.0, 2e-3
	c := build(t, 0,
		&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Constant(u)},
		&Windings{Name: "coils", Axis: -1, Field: &Constant{L: []float64{l1, m, m, l2}},
			Branches: []Winding{{Name: "first", FromNode: "a", ToNode: "b", R: 1}, {Name: "second", FromNode: "b", ToNode: "0", R: 2}}})
	x, e := integrate(t, c, still(0), still(0), end)
	near(t, "first", x[0], u/r*-math.Expm1(-end*r/(l1+l2+2*m)), 1e-11)
	near(t, "difference", x[0]-x[1], 0, 1e-14)
	if e.Relative() > 1e-10 {
		t.Errorf("residual %g", e.Relative())
	}
}

// A sine current into a star of two windings: their sum follows it, and they share it as 1/L.
func TestCurrentSourceIntoWindings(t *testing.T) {
	s := reference.Sine{Tone: reference.Tone{Amplitude: 3, Frequency: 50}}
	c := build(t, 0,
		&CurrentSource{Name: "i", FromNode: "0", ToNode: "a", I: s},
		&Inductor{Name: "l1", FromNode: "a", ToNode: "0", L: 1e-3},
		&Inductor{Name: "l2", FromNode: "a", ToNode: "0", L: 3e-3})
	x, _ := integrate(t, c, still(0), still(0), 3e-3)
	want, _, _ := s.At(3e-3)
	near(t, "l1", x[0], 0.75*want, 1e-9)
	near(t, "l2", x[1], 0.25*want, 1e-9)
}

// A half-wave rectifier into a resistor: with both lines of the diode the mean over the halves is known.
func TestRectifier(t *testing.T) {
	c := build(t, 0,
		&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Sine{Tone: reference.Tone{Amplitude: 10, Frequency: 50}}},
		&Diode{Name: "d", FromNode: "a", ToNode: "b", Knee: 0.6, Ron: 0.1, Roff: 1e6},
		&Resistor{Name: "r", FromNode: "b", ToNode: "0", R: 9.9})
	for _, at := range []float64{1e-3, 5e-3, 12e-3, 15e-3} {
		if _, st := c.Flow(at, nil, nil, nil, nil, nil); st != engine.OK {
			t.Fatal(st)
		}
		u := 10 * math.Sin(2*math.Pi*50*at)
		want := u / (1e6 + 9.9)
		if u > 0.6 {
			want = (u - 0.6 + 0.1*0.6/1e6) / 10
		}
		i, _ := c.Current("d")
		near(t, "diode", i, want, 1e-12)
	}
}

// A buck converter: switch closed for the share D, diode in the other part. In steady state the mean voltage of
// the inductor is zero: mean output = D·U, less what resistances take. It starts at the trough of the current, mean less half of (U −
// DU)·DT/L.
func TestBuckConverter(t *testing.T) {
	pwm := &PWM{High: 1, Period: 20e-6, Duty: reference.Constant(0.4)}
	c := build(t, 0,
		&VoltageSource{Name: "u", FromNode: "in", ToNode: "0", U: reference.Constant(24)},
		&Switch{Name: "s", FromNode: "in", ToNode: "x", Ron: 1e-3, Roff: 1e6, Control: pwm},
		&Diode{Name: "d", FromNode: "0", ToNode: "x", Ron: 1e-3, Roff: 1e6},
		&Inductor{Name: "l", FromNode: "x", ToNode: "out", L: 100e-6, I0: 1.424},
		&Capacitor{Name: "c", FromNode: "out", ToNode: "0", C: 100e-6, U0: 9.6},
		&Resistor{Name: "load", FromNode: "out", ToNode: "0", R: 4.8})
	x, e := integrate(t, c, still(0), still(0), 3e-3)
	near(t, "output", x[1], 0.4*24, 0.02)
	if e.Relative() > 1e-9 {
		t.Errorf("residual %g: %+v", e.Relative(), e)
	}
}

// What cannot be solved is refused by name.
func TestRefusals(t *testing.T) {
	one := reference.Constant(1)
	for _, c := range []struct {
		name  string
		kind  error
		words []string
		parts []Element
	}{
		{"sources that contradict", ErrLoop, []string{"u1", "u2", "contradict each other by 1 V"}, []Element{
			&VoltageSource{Name: "u1", FromNode: "a", ToNode: "0", U: one},
			&VoltageSource{Name: "u2", FromNode: "a", ToNode: "0", U: reference.Constant(2)}}},
		{"sources that agree", ErrLoop, []string{"u1", "u2", "redundant"}, []Element{
			&VoltageSource{Name: "u1", FromNode: "a", ToNode: "0", U: one},
			&VoltageSource{Name: "u2", FromNode: "0", ToNode: "a", U: reference.Constant(-1)}}},
		{"a triangle of sources that agree", ErrLoop, []string{"u1", "u2", "u3", "redundant"}, []Element{
			&VoltageSource{Name: "u1", FromNode: "a", ToNode: "0", U: one}, &VoltageSource{Name: "u2", FromNode: "b", ToNode: "a", U: one},
			&VoltageSource{Name: "u3", FromNode: "b", ToNode: "0", U: reference.Constant(2)}}},
		{"capacitor on a source", ErrLoop, []string{"u", "c", "resistor in series"}, []Element{
			&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: one}, &Capacitor{Name: "c", FromNode: "a", ToNode: "0", C: 1e-6}}},
		{"an island", ErrFloating, []string{"nodes b, c"}, []Element{
			&Resistor{Name: "r1", FromNode: "a", ToNode: "0", R: 1}, &Resistor{Name: "r2", FromNode: "b", ToNode: "c", R: 1}}},
		{"current sources in series", ErrCut, []string{"i1", "i2", "node a"}, []Element{
			&CurrentSource{Name: "i1", FromNode: "0", ToNode: "a", I: one}, &CurrentSource{Name: "i2", FromNode: "a", ToNode: "0", I: one}}},
		{"a jump into a coil", ErrCut, []string{"i", "jumps"}, []Element{
			&CurrentSource{Name: "i", FromNode: "0", ToNode: "a", I: &Held{}}, &Inductor{Name: "l", FromNode: "a", ToNode: "0", L: 1}}},
		{"star with currents left over", ErrStart, []string{"l1, l2", "0.5 A"}, []Element{
			&Inductor{Name: "l1", FromNode: "0", ToNode: "a", L: 1, I0: 1}, &Inductor{Name: "l2", FromNode: "a", ToNode: "0", L: 1, I0: 1.5}}},
		{"coupling of one", ErrSingular, []string{"coils", "coupling"}, []Element{
			&Windings{Name: "coils", Axis: -1, Field: &Constant{L: []float64{1, 1, 1, 1}},
				Branches: []Winding{{Name: "p", FromNode: "a", ToNode: "0"}, {Name: "q", FromNode: "b", ToNode: "0"}}},
			&Resistor{Name: "r1", FromNode: "a", ToNode: "0", R: 1}, &Resistor{Name: "r2", FromNode: "b", ToNode: "0", R: 1}}},
		{"a number", nil, []string{"l: L: -1 H, want > 0", "r: R: NaN Ω, want ≥ 0"}, []Element{
			&Inductor{Name: "l", FromNode: "a", ToNode: "0", L: -1}, &Resistor{Name: "r", FromNode: "a", ToNode: "0", R: math.NaN()}}},
		{"names and nodes", nil, []string{"two elements of this name", "both ends at node a"}, []Element{
			&Resistor{Name: "r", FromNode: "a", ToNode: "0", R: 1}, &Resistor{Name: "r", FromNode: "a", ToNode: "a", R: 1}}},
		{"an axis that is not there", nil, []string{"m: axis: 2, want 0 to 0"}, []Element{
			&DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 1, L: 1, K: 1}, Axis: 2}}},
	} {
		_, err := Build(Spec{Axes: 1, Elements: c.parts})
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		if c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", c.name, err, c.kind)
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.name, err, w)
			}
		}
	}
}

// The cures that the refusals name are accepted.
func TestCures(t *testing.T) {
	one := reference.Constant(1)
	build(t, 0, &VoltageSource{Name: "u1", FromNode: "a", ToNode: "0", U: one},
		&VoltageSource{Name: "u2", FromNode: "a", ToNode: "0", U: reference.Constant(2), R: 1e-3})
	build(t, 0, &CurrentSource{Name: "i", FromNode: "0", ToNode: "a", I: &Held{}}, &Inductor{Name: "l", FromNode: "a", ToNode: "0", L: 1},
		&Resistor{Name: "r", FromNode: "a", ToNode: "0", R: 1e3})
	build(t, 0, &VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: one, R: 1e-3},
		&Capacitor{Name: "c", FromNode: "a", ToNode: "0", C: 1e-6})
}
