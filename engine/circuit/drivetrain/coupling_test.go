package drivetrain

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// Speeds tied to a charge, a current and its rate, each with its closed form: offline to 1e-9, in fixed steps to second order.
func TestCouplingRows(t *testing.T) {
	const u, r, l, k, c, inertia = 6.0, 2.0, 4e-3, 0.1, 1e-3, 0.01
	coil := func(more ...circuit.Element) func() []circuit.Element {
		return func() []circuit.Element {
			return append([]circuit.Element{&circuit.VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Constant(u)}}, more...)
		}
	}
	decay := func(at, l float64) float64 { return math.Exp(-at * r / l) }
	const turn = 0.02 // rad/s per A/s
	d := r / 2 / l
	w := math.Sqrt(1/l/c - d*d)
	for _, e := range []struct {
		name  string
		parts func() []circuit.Element
		term  Term
		want  func(at float64) float64
	}{
		{"current", coil(&circuit.Inductor{Name: "l", FromNode: "a", ToNode: "0", L: l, R: r}), Term{State: "l.current", Current: -3},
			func(at float64) float64 { return 3 * u / r * (1 - decay(at, l)) }},
		{"rate", coil(&circuit.Inductor{Name: "l", FromNode: "a", ToNode: "0", L: l, R: r}), Term{State: "l.current", Rate: -turn},
			func(at float64) float64 { return turn * u / l * decay(at, l) }},
		{"charge", coil(&circuit.Inductor{Name: "l", FromNode: "a", ToNode: "b", L: l, R: r}, &circuit.Capacitor{Name: "c", FromNode: "b", ToNode: "0", C: c}), Term{State: "c.voltage", Charge: -500},
			func(at float64) float64 {
				return 500 * c * u * (1 - math.Exp(-d*at)*(math.Cos(w*at)+d/w*math.Sin(w*at)))
			}},
		// the machine induces a voltage that its own rate of current feels: L·i′ = u − R·i − K·v with v = turn·i′
		{"rate with back-emf", coil(&circuit.DC{Name: "m", FromNode: "a", ToNode: "0", Motor: plant.Motor{R: r, L: l, K: k}}), Term{State: "m.current", Rate: -turn},
			func(at float64) float64 { return turn * u / (l + turn*k) * decay(at, l+turn*k) }},
	} {
		const end = 5e-3
		begin := func() (*Train, []float64) {
			n, err := circuit.Build(circuit.Spec{Axes: 1, Elements: e.parts()})
			if err != nil {
				t.Fatal(err)
			}
			tr := train(t, Inertias{{Name: "a", J: inertia}}, []Part{n}, []Row{&Coupling{Label: "row", Circuit: n, X: []float64{1}, Terms: []Term{e.term}}})
			x := tr.NewState()
			x[1] = e.want(0)
			if err := tr.Start(0, x); err != nil {
				t.Errorf("%s: %v", e.name, err)
			}
			return tr, x
		}
		tr, x := begin()
		a, err := tr.Integrate(x, 0, end, Offline{Rtol: 1e-12, Atol: 1e-14}, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, e.name, x[1], e.want(end), 2e-9*e.want(0)+2e-9*e.want(end))
		if err := a.Check(1e-9); err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		miss := func(h float64) float64 {
			tr, x := begin()
			if _, st := tr.Run(x, 0, h, int(math.Round(end/h)), nil); st != engine.OK {
				t.Fatal(e.name, st)
			}
			return math.Abs(x[1] - e.want(end))
		}
		a1, a2 := miss(1e-4), miss(5e-5)
		if order := math.Log2(a1 / a2); order < 1.7 || a2 > 1e-2*(e.want(0)+e.want(end)) {
			t.Errorf("%s: fixed steps: %.2e and %.2e, order %.2f", e.name, a1, a2, order)
		}
	}
}

func TestCouplingRefusals(t *testing.T) {
	n, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: reference.Constant(1)},
		&circuit.Inductor{Name: "l", FromNode: "a", ToNode: "b", L: 1, R: 1}, &circuit.Capacitor{Name: "c", FromNode: "b", ToNode: "0", C: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for words, row := range map[string]*Coupling{
		`no current or voltage of a capacitor "k.current"`: {Circuit: n, X: []float64{1}, Terms: []Term{{State: "k.current", Current: 1}}},
		"l.current has no charge":                          {Circuit: n, X: []float64{1}, Terms: []Term{{State: "l.current", Charge: 1}}},
		"not of c.voltage":                                 {Circuit: n, X: []float64{1}, Terms: []Term{{State: "c.voltage", Rate: 1}}},
		"x: 2 numbers":                                     {Circuit: n, X: []float64{1, 2}, Terms: []Term{{State: "l.current", Current: 1}}},
		"circuit: missing":                                 {X: []float64{1}},
	} {
		row.Label = "row"
		if _, err := New(Inertias{{Name: "a", J: 1}}, []Part{n}, []Row{row}); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "row: ") {
			t.Errorf("%v, want %q", err, words)
		}
	}
	row := &Coupling{Label: "row", Circuit: n, X: []float64{1}, Terms: []Term{{State: "l.current", Current: 1}}}
	if _, err := New(Inertias{{Name: "a", J: 1}}, nil, []Row{row}); err == nil || !strings.Contains(err.Error(), "not a part of this machine") {
		t.Error(err)
	}
	tr := train(t, Inertias{{Name: "a", J: 1}}, []Part{n}, []Row{row})
	if err := tr.Start(0, []float64{0, 1, 0, 0}); err == nil || !strings.Contains(err.Error(), "row: the speeds at the start miss it by 1 rad/s") {
		t.Error(err)
	}
}
