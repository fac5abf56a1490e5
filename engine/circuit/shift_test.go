package circuit

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// A Trial that is moved to other mean speeds is the Trial at these, also after a switch was thrown between steps; where it cannot be
// moved it says so.
func TestShift(t *testing.T) {
	gate := &Held{Value: 1}
	machine := func() *Circuit {
		return build(t, 2,
			&VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Sine{Offset: 20, Tone: reference.Tone{Amplitude: 3, Frequency: 10}}},
			&Switch{Name: "gate", FromNode: "a", ToNode: "b", Ron: 0.1, Roff: 1e4, Control: gate},
			&DC{Name: "m", FromNode: "b", ToNode: "c", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05}, Axis: 0},
			&Capacitor{Name: "c", FromNode: "c", ToNode: "0", C: 2e-3},
			&DC{Name: "quasi", FromNode: "c", ToNode: "0", Motor: plant.Motor{R: 3, K: 0.03}, Axis: 1})
	}
	moved, tried := machine(), machine()
	if !moved.Affine() {
		t.Fatal("the circuit is a straight line in the speeds")
	}
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, len(moved.States()))
	moved.Reset(x)
	got, want := make([]float64, len(x)), make([]float64, len(x))
	q, v := []float64{1, 2}, []float64{30, -20}
	const h = 1e-3
	for step := range 40 {
		if step%7 == 6 {
			gate.Value = 1 - gate.Value
		}
		at, w, dw := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		for k := range at {
			at[k], w[k] = v[k]+r.NormFloat64(), v[k]+r.NormFloat64()
			dw[k] = w[k] - at[k]
		}
		tau, slope := make([]float64, 2), make([]float64, 4)
		if _, st := moved.Trial(float64(step)*h, h, q, v, at, x, got, tau, slope); st != engine.OK {
			t.Fatal(st)
		}
		p, ok := moved.Shift(w, dw, got)
		force, other := make([]float64, 2), make([]float64, 4)
		e, st := tried.Trial(float64(step)*h, h, q, v, w, x, want, force, other)
		if st != engine.OK || !ok {
			t.Fatal(st, ok)
		}
		same := func(what string, a, b, tol float64) {
			if math.Abs(a-b) > tol*(1+math.Abs(b)) {
				t.Errorf("step %d, %s: %.15g, want %.15g", step, what, a, b)
			}
		}
		for k := range x {
			same("state", got[k], want[k], 1e-12)
		}
		for k := range tau {
			same("force", tau[k]+slope[2*k]*dw[0]+slope[2*k+1]*dw[1], force[k], 1e-12)
		}
		same("work", p.Output, e.Output, 1e-12)
		for k := range moved.Nodes() {
			same("voltage", moved.Voltage(k), tried.Voltage(k), 1e-11)
		}
		for _, name := range []string{"u", "gate", "c", "quasi"} {
			a, _ := moved.Current(name)
			b, _ := tried.Current(name)
			same("current of "+name, a, b, 1e-11)
		}
		copy(x, want)
	}
	if err := moved.SetParams(func() (theta []float64) {
		for _, p := range moved.Params() {
			theta = append(theta, p.Value)
		}
		return theta
	}()); err != nil {
		t.Fatal(err)
	}
	// cut by the edge of a source inside the step; asked for energies; not a straight line
	cut := build(t, 1, &VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: &PWM{High: 10, Period: 4e-4, Duty: reference.Constant(0.5)}},
		&DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05}})
	y := []float64{0}
	cut.Trial(0, h, []float64{0}, []float64{1}, []float64{1}, y, y, []float64{0}, []float64{0})
	if _, ok := cut.Shift([]float64{1}, []float64{0}, y); ok {
		t.Error("a step of several parts was moved")
	}
	moved.Audited = true
	if _, ok := moved.Shift(v, v, got); ok {
		t.Error("a step whose losses are wanted was moved")
	}
	for _, e := range []Element{
		&DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05, BrushDrop: 1, DropScale: 0.5}},
		&DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05},
			Thermal: plant.Thermal{Resistance: 1, Capacity: 0.5, CopperTC: 0.0039, Ambient: 20}},
		&Diode{Name: "d", FromNode: "a", ToNode: "0", Ron: 0.2, Roff: 1e5},
		&Electromagnet{Name: "m", FromNode: "a", ToNode: "0", Plunger: Plunger{Linf: 0.01, C: 1e-4, X0: 1e-3}, R: 5},
	} {
		c := build(t, 1, &VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Constant(1), R: 1}, e)
		if c.Affine() {
			t.Errorf("%T: taken for a straight line", e)
		}
	}
}
