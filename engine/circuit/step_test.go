package circuit

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// Fixed steps of windings that move, at an imposed motion, against the differential form: second order, also far beyond L/R, with
// brushes, a thermal lump and a diode that conducts all the time.
func TestStepsAreSecondOrder(t *testing.T) {
	source := &VoltageSource{Name: "u", FromNode: "a", ToNode: "0",
		U: reference.Sine{Offset: 20, Tone: reference.Tone{Amplitude: 3, Frequency: 10}}}
	for _, c := range []struct {
		name     string
		elements []Element
		speed    float64
		tol      float64 // of the states at 0.1 ms: A, V, K
	}{
		{"armature with brushes and heat", []Element{source,
			&DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05, BrushDrop: 1, DropScale: 0.5},
				Thermal: plant.Thermal{Resistance: 1, Capacity: 0.5, CopperTC: 0.0039, Ambient: 20}}}, 100, 5e-4},
		{"stiff armature", []Element{source, &DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: 1, L: 1e-6, K: 0.05}}}, 100, 1e-4},
		{"plunger", []Element{source, &Electromagnet{Name: "m", FromNode: "a", ToNode: "0", Plunger: Plunger{Linf: 0.01, C: 1e-4, X0: 1e-3},
			R: 5}}, -0.02, 1e-4},
		{"dq", []Element{&Synchronous{Name: "m", Rotor: salient, R: 0.3, Ud: reference.Constant(-1), Uq: reference.Constant(12)}}, 100, 1e-3},
		{"three phases", []Element{source, &ThreePhase{Name: "m", FromNode: [3]string{"a", "0", "0"}, ToNode: [3]string{"s", "s", "s"},
			Phases: Phases{salient, 0.2e-3}, R: 0.3}}, 60, 2e-2},
		{"diode and resonance", []Element{source, &Diode{Name: "d", FromNode: "a", ToNode: "b", Knee: 0.7, Ron: 0.2, Roff: 1e5},
			&Inductor{Name: "l", FromNode: "b", ToNode: "c", L: 5e-3, R: 4},
			&Capacitor{Name: "c", FromNode: "c", ToNode: "0", C: 2e-4}, &Resistor{Name: "r", FromNode: "c", ToNode: "0", R: 6}}, 0, 1e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			// the speed swings by a third
			const end, w = 0.05, 90.0
			q := func(s float64) []float64 { return []float64{4e-3 + c.speed*(s+(1-math.Cos(w*s))/w/3)} }
			v := func(s float64) []float64 { return []float64{c.speed * (1 + math.Sin(w*s)/3)} }
			n := build(t, 1, c.elements...)
			truth, e := integrate(t, n, q, v, end)
			if e.Relative() > 1e-9 {
				t.Errorf("energies close to %.1e", e.Relative())
			}
			miss := func(h float64) (worst float64, energy Energies) {
				n.Audited = true
				x := make([]float64, len(n.States()))
				n.Reset(x)
				energy.StoredChange = -n.StoredEnergy(q(0), x)
				tau, slope := []float64{0}, []float64{0}
				steps := int(math.Round(end / h))
				for k := range steps {
					s := float64(k) * h
					mean := []float64{(q(s + h)[0] - q(s)[0]) / h}
					p, st := n.Trial(s, h, q(s), []float64{2*mean[0] - v(s + h)[0]}, mean, x, x, tau, slope)
					if st != engine.OK {
						t.Fatal(st)
					}
					energy.Add(p, h)
				}
				energy.StoredChange += n.StoredEnergy(q(end), x)
				for k := range x {
					worst = max(worst, math.Abs(x[k]-truth[k]))
				}
				return worst, energy
			}
			a, _ := miss(2e-4)
			b, energy := miss(1e-4)
			t.Logf("errors %.1e at 0.2 ms, %.1e at 0.1 ms, energies %.1e", a, b, energy.Relative())
			if order := math.Log2(a / b); order < 1.8 && b > 1e-6 {
				t.Errorf("order %.2f, want 2", order)
			}
			if b > c.tol {
				t.Errorf("off by %.2e at 0.1 ms", b)
			}
			if energy.Relative() > 2e-2 {
				t.Errorf("energies of fixed steps close to %.1e", energy.Relative())
			}
		})
	}
}

// A chopper: a motor at constant speed on a switch with a diode beside it. Offline the energies close over thousands of edges, and
// fixed steps, cut at the edges, carry the same current: its ripple is the closed form of two exponentials.
func TestChopper(t *testing.T) {
	const u, r, l, k, w, period, duty = 24.0, 1.0, 1e-3, 0.05, 100.0, 50e-6, 0.6
	c := build(t, 1,
		&VoltageSource{Name: "u", FromNode: "+", ToNode: "0", U: reference.Constant(u)},
		&Switch{Name: "s", FromNode: "+", ToNode: "m", Ron: 1e-6, Roff: 1e9,
			Control: &PWM{High: 1, Period: period, Duty: reference.Constant(duty)}},
		&Diode{Name: "d", FromNode: "0", ToNode: "m", Ron: 1e-6, Roff: 1e9},
		&DC{Name: "motor", FromNode: "m", ToNode: "0", Motor: plant.Motor{R: r, L: l, K: k}})
	// at the beginning of a period: i = I·e^{−T/τ} + …, the fixed point of one on and one off part
	on, off := math.Exp(-duty*period*r/l), math.Exp(-(1-duty)*period*r/l)
	end1, end2 := (u-k*w)/r, -k*w/r
	low := (end1*(1-on)*off + end2*(1-off)) / (1 - on*off)
	v := func(float64) []float64 { return []float64{w} }
	q := func(s float64) []float64 { return []float64{w * s} }
	x, e := integrate(t, c, q, v, 0.012)
	near(t, "offline", x[0], low, 2e-4)
	if e.Relative() > 1e-9 {
		t.Errorf("energies close to %.1e", e.Relative())
	}
	c.Reset(x)
	tau, slope := []float64{0}, []float64{0}
	for step := range 12 {
		if _, st := c.Trial(float64(step)*1e-3, 1e-3, q(float64(step)*1e-3), v(0), v(0), x, x, tau, slope); st != engine.OK {
			t.Fatal(st)
		}
	}
	near(t, "fixed steps", x[0], low, 2e-4)
}
