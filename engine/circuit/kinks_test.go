package circuit

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// Fixed steps in which a current goes through the drop of brushes, or a diode begins and ends to conduct, are of second order too: they go
// as Runge and Kutta take the same equations, written here, in steps a hundred times as short and more.
func TestKinksAreFollowed(t *testing.T) {
	const end, speed, swing = 0.1, 40.0, 30.0
	v := func(s float64) float64 { return speed * math.Sin(swing*s) }
	q := func(s float64) float64 { return speed / swing * (1 - math.Cos(swing*s)) }
	tone := reference.Tone{Amplitude: 4, Frequency: 17}
	u := func(s float64) float64 { return tone.Amplitude * math.Sin(2*math.Pi*tone.Frequency*s) }
	source := &VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Sine{Tone: tone}}
	armature := plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, BrushDrop: 0.6, DropScale: 0.05}
	drop := func(i float64) float64 { return armature.BrushDrop * math.Tanh(i/armature.DropScale) }
	const on, off, knee = 0.05, 2e3, 0.7
	// current of a diode under the voltage x
	conducts := func(x float64) float64 {
		if x > knee {
			return (x-knee)/on + knee/off
		}
		return x / off
	}
	// the voltage x of a node into which current flows as it falls: by halving
	node := func(current func(x float64) float64) float64 {
		lo, hi := -1e4, 1e4
		for range 50 {
			if mid := (lo + hi) / 2; current(mid) > 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		return (lo + hi) / 2
	}
	const l, r = 5e-3, 2.0
	coil := &Inductor{Name: "l", FromNode: "b", ToNode: "0", L: l, R: r}
	for _, c := range []struct {
		name     string
		elements []Element
		rate     func(t, i float64) float64
		sub      int     // steps of Runge and Kutta in a millisecond
		tol      float64 // A at 0.25 ms
	}{
		{"brushes", []Element{source, &DC{Name: "m", FromNode: "a", ToNode: "0", Motor: armature}},
			func(t, i float64) float64 { return (u(t) - armature.R*i - armature.K*v(t) - drop(i)) / armature.L }, 400, 5e-4},
		{"brushes that the voltage hardly overcomes", []Element{source, &DC{Name: "m", FromNode: "a", ToNode: "0",
			Motor: plant.Motor{R: 1.2, L: 0.6e-3, K: 0.1, BrushDrop: 2, DropScale: 0.01}}},
			func(t, i float64) float64 { return (u(t) - 1.2*i - 0.1*v(t) - 2*math.Tanh(i/0.01)) / 0.6e-3 }, 4000, 5e-4},
		{"diode and coil", []Element{source, &Diode{Name: "d", FromNode: "a", ToNode: "b", Knee: knee, Ron: on, Roff: off}, coil},
			func(t, i float64) float64 {
				drop := i * off
				if drop > knee {
					drop = (i-knee/off)*on + knee
				}
				return (u(t) - drop - r*i) / l
			}, 800, 5e-4},
		{"diode and freewheel", []Element{source, &Diode{Name: "d", FromNode: "a", ToNode: "b", Knee: knee, Ron: on, Roff: off},
			&Diode{Name: "f", FromNode: "0", ToNode: "b", Knee: knee, Ron: on, Roff: off}, coil},
			func(t, i float64) float64 {
				return (node(func(x float64) float64 { return conducts(u(t)-x) + conducts(-x) - i }) - r*i) / l
			}, 600, 5e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			// truth at every quarter of a millisecond
			var truth []float64
			i := 0.0
			h := 1e-3 / float64(c.sub)
			for k := range int(math.Round(end / h)) {
				if k%(c.sub/4) == 0 {
					truth = append(truth, i)
				}
				at := float64(k) * h
				k1 := c.rate(at, i)
				k2 := c.rate(at+h/2, i+h/2*k1)
				k3 := c.rate(at+h/2, i+h/2*k2)
				i += h / 6 * (k1 + 2*k2 + 2*k3 + c.rate(at+h, i+h*k3))
			}
			miss := func(every int) (rms float64) { // quarters of a millisecond in a step
				n := build(t, 1, c.elements...)
				x := []float64{0}
				h := float64(every) * 0.25e-3
				for k := 0; k+every < len(truth); k += every {
					s := float64(k) * 0.25e-3
					w := []float64{(q(s+h) - q(s)) / h}
					if _, st := n.Trial(s, h, []float64{q(s)}, []float64{2*w[0] - v(s+h)}, w, x, x, []float64{0}, []float64{0}); st != engine.OK {
						t.Fatal(st)
					}
					e := x[0] - truth[k+every]
					rms += e * e * float64(every) / float64(len(truth))
				}
				return math.Sqrt(rms)
			}
			a, b, fine := miss(4), miss(2), miss(1)
			t.Logf("off by %.1e A at 1 ms, %.1e at 0.5 ms, %.1e at 0.25 ms", a, b, fine)
			if order := math.Log2(a/fine) / 2; order < 1.7 || fine > c.tol {
				t.Errorf("off by %.1e A at 1 ms, %.1e at 0.25 ms: order %.2f, want 2", a, fine, order)
			}
		})
	}
}

// A bridge behind a coil charges a capacitor: two diodes change at once, and between two half waves all rest, also where they are nearly
// ideal. Errors fall with the square of the step, and the energies close.
func TestBridgeIsFollowed(t *testing.T) {
	const end = 0.05
	for _, r := range [][2]float64{{0.05, 1e5}, {1e-6, 1e9}} {
		diode := func(name, from, to string) *Diode {
			return &Diode{Name: name, FromNode: from, ToNode: to, Knee: 0.7, Ron: r[0], Roff: r[1]}
		}
		run := func(h float64) ([]float64, Energies) {
			c := build(t, 0,
				&VoltageSource{Name: "u", FromNode: "s", ToNode: "n", U: reference.Sine{Tone: reference.Tone{Amplitude: 30, Frequency: 50}}},
				&Resistor{Name: "earth", FromNode: "n", ToNode: "0", R: 1e4}, &Inductor{Name: "l", FromNode: "s", ToNode: "a", L: 1e-3, R: 0.1},
				diode("ap", "a", "p"), diode("np", "n", "p"), diode("0a", "0", "a"), diode("0n", "0", "n"),
				&Capacitor{Name: "c", FromNode: "p", ToNode: "0", C: 1e-3}, &Resistor{Name: "load", FromNode: "p", ToNode: "0", R: 50})
			c.Audited = true
			x := make([]float64, len(c.States()))
			c.Reset(x)
			e := Energies{StoredChange: -c.StoredEnergy(nil, x)}
			for k := range int(math.Round(end / h)) {
				p, st := c.Trial(float64(k)*h, h, nil, nil, nil, x, x, nil, nil)
				if st != engine.OK {
					t.Fatalf("%g s: %v", float64(k)*h, st)
				}
				e.Add(p, h)
			}
			e.StoredChange += c.StoredEnergy(nil, x)
			return x, e
		}
		truth, _ := run(5e-6)
		miss := func(h float64) (off float64) {
			x, e := run(h)
			for k := range x {
				off = max(off, math.Abs(x[k]-truth[k]))
			}
			if e.Relative() > 1e-2 {
				t.Errorf("%g Ω, %g s: energies close to %.1e", r[0], h, e.Relative())
			}
			return off
		}
		a, b := miss(1e-3), miss(2.5e-4)
		t.Logf("%g Ω: off by %.1e A, V at 1 ms, %.1e at 0.25 ms", r[0], a, b)
		if order := math.Log2(a/b) / 2; order < 1.7 || b > 2e-2 {
			t.Errorf("%g Ω: off by %.1e A, V at 1 ms, %.1e at 0.25 ms: order %.2f, want 2", r[0], a, b, order)
		}
	}
}
