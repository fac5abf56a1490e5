package servo_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/servo"
	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// A DC motor whose current a controller keeps at 2 A turns a flywheel: K·i/J = 0.05·2/1e-3 = 100 rad/s².
func Example() {
	supply := new(circuit.Held)
	c, _ := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "a", ToNode: "0", U: supply},
		&circuit.DC{Name: "motor", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05}},
	}})
	p, _ := servo.New("circuit", c, 1, []servo.Controller{{Name: "current", PID: control.PID{Kp: 20, Ki: 1e4, Limit: 24},
		Channels: []servo.Channel{{
			Measured: servo.Measured{Quantity: servo.State, State: "motor.current"}, Reference: reference.Constant(2),
			To: servo.Target{Source: supply}, Unit: "V"}}}})
	const h, inertia = 1e-3, 1e-3 // s, kg·m²
	q, v := []float64{0}, []float64{0}
	z, zn := make([]float64, len(p.States())), make([]float64, len(p.States()))
	p.Reset(z)
	for k := range 300 {
		w := v[0] // mean speed of the step, 2·J·(w − v)/h = τ(w)
		for range 3 {
			tau, slope := []float64{0}, []float64{0}
			if _, st := p.Trial(float64(k)*h, h, q, v, []float64{w}, z, zn, tau, slope); st != engine.OK {
				fmt.Println(st)
			}
			w -= (2*inertia*(w-v[0])/h - tau[0]) / (2*inertia/h - slope[0])
		}
		q[0], v[0] = q[0]+h*w, 2*w-v[0]
		z, zn = zn, z
	}
	fmt.Printf("%.2f A, %.1f rad/s\n", z[0], v[0])
	// Output: 2.00 A, 30.0 rad/s
}

// loop is a coil of 1 Ω and 1 mH under a controller of its current.
func loop(t *testing.T, pid control.PID, every float64, want reference.Generator) *servo.Part {
	t.Helper()
	supply := new(circuit.Held)
	c, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "a", ToNode: "0", U: supply},
		&circuit.Inductor{Name: "coil", FromNode: "a", ToNode: "0", L: 1e-3, R: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := servo.New("circuit", c, 1, []servo.Controller{{Name: "current", SamplePeriod: every, PID: pid, Channels: []servo.Channel{{
		Measured: servo.Measured{Quantity: servo.State, State: "coil.current"}, Reference: want, To: servo.Target{Source: supply}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A loop that is ten times as fast as the step settles where it should without ringing up: L·i′ = kp·(1 − i) − R·i, kp/L = 10/h,
// i∞ = kp/(kp + R).
func TestFastLoopInSlowStep(t *testing.T) {
	const h, kp = 1e-3, 10.0
	p := loop(t, control.PID{Kp: kp}, 0, reference.Constant(1))
	z, zero := make([]float64, len(p.States())), make([]float64, 1)
	p.Reset(z)
	tau, slope := make([]float64, 1), make([]float64, 1)
	for k := range 200 {
		was := z[0]
		if _, st := p.Trial(float64(k)*h, h, zero, zero, zero, z, z, tau, slope); st != engine.OK {
			t.Fatal(st)
		}
		if math.Abs(z[0]-kp/(kp+1)) > 1.0001*math.Abs(was-kp/(kp+1)) && math.Abs(z[0]-kp/(kp+1)) > 1e-12 {
			t.Fatalf("step %d: %g A after %g A", k, z[0], was)
		}
	}
	if math.Abs(z[0]-kp/(kp+1)) > 1e-9 {
		t.Errorf("%.12g A, want %.12g", z[0], kp/(kp+1))
	}
	if n := testing.AllocsPerRun(50, func() { p.Trial(1, h, zero, zero, zero, z, z, tau, slope) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// The integral goes to the limit and no further, continuous and sampled, and comes back at once when the error turns.
func TestLimit(t *testing.T) {
	for _, every := range []float64{0, 1e-3} {
		p := loop(t, control.PID{Ki: 1e4, Limit: 3}, every, reference.Step{Offset: 10, Amplitude: -20, Frequency: 5}) // −10 A, then 10 A
		z, zero := make([]float64, len(p.States())), make([]float64, 1)
		p.Reset(z)
		tau, slope := make([]float64, 1), make([]float64, 1)
		least, most := 0.0, 0.0
		for k := range 200 {
			at := float64(k) * 1e-3
			p.Sample(at, 1e-9, zero, zero, z)
			if _, st := p.Trial(at, 1e-3, zero, zero, zero, z, z, tau, slope); st != engine.OK {
				t.Fatal(st)
			}
			least, most = min(least, z[1]), max(most, z[1])
		}
		if least != -3 || most != 3 || math.Abs(z[0]-3) > 1e-6 {
			t.Errorf("every %g s: integral from %g to %g V, want ±3 V; %g A at the end, want 3 A", every, least, most, z[0])
		}
	}
}

// Both voltages of a field-oriented controller together stay within its limit, and keep their direction.
func TestFieldLimit(t *testing.T) {
	ud, uq := new(circuit.Held), new(circuit.Held)
	rotor := circuit.Rotor{Ld: 2e-3, Lq: 3e-3, Psi: 0.05, Pairs: 4}
	c, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{&circuit.Synchronous{Name: "m", Rotor: rotor, R: 0.5, Ud: ud,
		Uq: uq}}})
	if err != nil {
		t.Fatal(err)
	}
	channel := func(name string, want float64, to *circuit.Held) servo.Channel {
		return servo.Channel{Measured: servo.Measured{Quantity: servo.State, State: "m." + name + ".current"},
			Reference: reference.Constant(want), To: servo.Target{Source: to}, Name: name}
	}
	p, err := servo.New("circuit", c, 1, []servo.Controller{{Name: "field", PID: control.PID{Kp: 10, Limit: 20}, Rotor: &rotor,
		Channels: []servo.Channel{channel("d", 1, ud), channel("q", 2.5, uq)}}})
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, len(p.States()))
	z[0], z[1] = -0.5, 2
	w := 30.0
	p.Flow(0, []float64{0}, []float64{w}, z, make([]float64, len(z)), make([]float64, 1))
	d, q := 10*1.5-4*w*3e-3*2, 10*0.5+4*w*(2e-3*-0.5+0.05)
	if u := math.Hypot(d, q); u > 20 {
		t.Fatal("the case is beyond the limit")
	} else if math.Abs(ud.Value-d) > 1e-12 || math.Abs(uq.Value-q) > 1e-12 {
		t.Errorf("%g and %g V, want %g and %g", ud.Value, uq.Value, d, q)
	}
	z[1] = -2
	p.Flow(0, []float64{0}, []float64{w}, z, make([]float64, len(z)), make([]float64, 1))
	d, q = 10*1.5-4*w*3e-3*-2, 10*4.5+4*w*(2e-3*-0.5+0.05)
	if math.Abs(math.Hypot(ud.Value, uq.Value)-20) > 1e-12 || math.Abs(ud.Value*q-uq.Value*d) > 1e-9 {
		t.Errorf("%g and %g V, want 20 V along %g and %g", ud.Value, uq.Value, d, q)
	}
}

// What cannot work is refused.
func TestRefuses(t *testing.T) {
	a, b := new(circuit.Held), new(circuit.Held)
	one := func(name string, want reference.Generator, to servo.Target) servo.Controller {
		return servo.Controller{Name: name, PID: control.PID{Kp: 1},
			Channels: []servo.Channel{{Measured: servo.Measured{Quantity: servo.Speed}, Reference: want, To: to}}}
	}
	rate := one("r", a, servo.Target{})
	rate.Kd = 1
	for want, list := range map[string][]servo.Controller{
		"x: sets what y sets already": {one("y", b, servo.Target{Source: a}), one("x", b, servo.Target{Source: a})},
		"in a ring":                   {one("x", a, servo.Target{Source: b}), one("y", b, servo.Target{Source: a})},
		"reference: missing":          {one("x", nil, servo.Target{})},
		"target: axis 1, want 0 to 0": {one("x", a, servo.Target{Axis: 1})},
		"kd: acts on the rate":        {rate},
		"no current or voltage": {{Name: "x", PID: control.PID{Kp: 1},
			Channels: []servo.Channel{{Measured: servo.Measured{Quantity: servo.State, State: "i"}, Reference: a}}}},
	} {
		if _, err := servo.New("p", nil, 1, list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
