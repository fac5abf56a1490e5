package drivetrain

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// exampleA is the motor with gear, shaft and load of theory 1.7, 12 V from rest.
func exampleA(t testing.TB, coulomb float64) *Train {
	t.Helper()
	c, err := circuit.Build(circuit.Spec{Axes: 2, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(12)},
		&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05}, Axis: 0},
	}})
	if err != nil {
		t.Fatal(err)
	}
	parts := []Part{c,
		&Bearing{Label: "motor bearing", Twist: Twist{A: 0, B: Ground}, Law: &friction.Viscous{Fv: 1e-5, Delta: 1}},
		&Shaft{Label: "shaft", Twist: Twist{A: 0, B: 1, Ratio: 10}, K: 50, C: 0.02},
		&Bearing{Label: "load bearing", Twist: Twist{A: 1, B: Ground}, Law: &friction.Viscous{Fv: 0.01, Delta: 1}},
	}
	if coulomb > 0 {
		parts = append(parts, &Bearing{Label: "load friction", Twist: Twist{A: 1, B: Ground}, Law: &friction.Coulomb{Fc: coulomb}, Speed: 0.01})
	}
	return train(t, Inertias{{Name: "rotor", J: 1e-4}, {Name: "load", J: 0.02}}, parts, nil)
}

func train(t testing.TB, m Mechanics, parts []Part, rows []Row) *Train {
	t.Helper()
	tr, err := New(m, parts, rows)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// tableA is theory 1.7: t, i, th_m, w_m, th_l, w_l, by an independent Radau program at 1e-10.
var tableA = [][6]float64{
	{0.01, 10.2760786, 0.188414087, 41.8158925, 8.93236e-5, 0.0488362874},
	{0.02, 8.83877419, 0.756140069, 65.9741568, 3.94718e-3, 0.948363772},
	{0.05, 10.0377140, 2.33104036, 39.4775857, 0.141904370, 8.41776688},
	{0.10, 5.32155318, 7.09635722, 133.013369, 0.647819875, 11.4933553},
	{0.50, 1.59996181, 81.4685281, 208.087839, 8.13216881, 20.8464624},
}

// place of i, th_m, w_m, th_l, w_l in the state of the train
var inA = [5]int{4, 0, 2, 1, 3}

// Offline every number of the table to 1e-6, relative or to the digits it is printed with, and the energies of every part to 1e-9.
func TestExampleAOffline(t *testing.T) {
	tr := exampleA(t, 0.5)
	x := tr.NewState()
	row := 0
	_, err := tr.Integrate(x, 0, 0.5, Offline{Rtol: 1e-11, Atol: 1e-13, Every: 0.01}, func(at float64, x []float64) {
		if row >= len(tableA) || math.Abs(at-tableA[row][0]) > 1e-9 {
			return
		}
		for k, want := range tableA[row][1:] {
			printed := 0.5e-8 * math.Pow(10, math.Ceil(math.Log10(math.Abs(want))-1e-12)-1) // nine digits, the small ones six
			if math.Abs(want) < 0.01 {
				printed = 0.5e-8
				if want < 1e-4 {
					printed = 0.5e-10
				}
			}
			if got := x[inA[k]]; math.Abs(got-want) > 1e-6*math.Abs(want)+printed {
				t.Errorf("t = %g, number %d: %.9g, want %.9g", at, k, got, want)
			}
		}
		row++
	})
	if err != nil || row != len(tableA) {
		t.Fatal(err, row)
	}
	x = tr.NewState()
	a, err := tr.Integrate(x, 0, 0.5, Offline{Rtol: 1e-11, Atol: 1e-13}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Check(1e-9); err != nil {
		t.Error(err)
	}
	for _, e := range a.Lines {
		t.Logf("%-14s in %10.6f loss %10.6f out %10.6f stored %10.6f residual %.1e", e.Name, e.Input, e.Loss, e.Output, e.StoredChange,
			e.Relative())
	}
}

// The steady state: K·i = bm·w_m + (bl·w_l + Fc)/n, 12 = R·i + K·w_m.
func TestExampleALimit(t *testing.T) {
	tr := exampleA(t, 0.5)
	x := tr.NewState()
	if _, err := tr.Integrate(x, 0, 4, Offline{}, nil); err != nil {
		t.Fatal(err)
	}
	// (12 − K·n·w)·K·n/R = (bm·n² + bl)·w + 0.5
	w := (12*0.05*10 - 0.5) / (0.25 + 1e-5*100 + 0.01)
	near(t, "speed of the load", x[3], w, 1e-8)
	near(t, "theory", w, 21.0727969, 5e-8)
	near(t, "current", x[4], 12-0.05*10*w, 1e-8)
	near(t, "theory", x[4], 1.46360153, 1e-7)
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.12g, want %.12g ± %.2g", what, got, want, tol)
	}
}

// Fixed steps: the largest error over 0.5 s of each state relative to its largest value, at 1 ms and 0.1 ms; second order.
func TestExampleAFixed(t *testing.T) {
	const end = 0.5
	reference := func(every float64) (all [][]float64) {
		tr := exampleA(t, 0.5)
		x := tr.NewState()
		if _, err := tr.Integrate(x, 0, end, Offline{Rtol: 1e-11, Atol: 1e-13, Every: every}, func(_ float64, x []float64) {
			all = append(all, append([]float64(nil), x...))
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	truth := reference(1e-3)
	worst := func(h float64) (e [5]float64) {
		tr := exampleA(t, 0.5)
		x := tr.NewState()
		every := int(math.Round(1e-3 / h))
		var peak [5]float64
		a, st := tr.Run(x, 0, h, int(math.Round(end/h)), func(k int, x []float64) {
			if k%every != 0 {
				return
			}
			for i := range e {
				e[i] = max(e[i], math.Abs(x[i]-truth[k/every][i]))
				peak[i] = max(peak[i], math.Abs(truth[k/every][i]))
			}
		})
		if st != engine.OK {
			t.Fatal(st)
		}
		for i := range e {
			e[i] /= peak[i]
		}
		t.Logf("h = %g ms: errors relative to the peaks: th_m %.2e th_l %.2e w_m %.2e w_l %.2e i %.2e, energies %.1e", h*1e3, e[0], e[1], e[2],
			e[3], e[4], a.Total().Relative())
		return e
	}
	at1, at05, at01 := worst(1e-3), worst(0.5e-3), worst(1e-4)
	for i := range at1 {
		order := math.Log2(at1[i] / at05[i])
		if order < 1.7 {
			t.Errorf("state %d: order %.2f from 1 ms to 0.5 ms, want 2", i, order)
		}
		if at01[i] > 3e-4 {
			t.Errorf("state %d: %.2e at 0.1 ms", i, at01[i])
		}
	}
}

func TestExampleAAllocations(t *testing.T) {
	tr := exampleA(t, 0.5)
	x := tr.NewState()
	if a := testing.AllocsPerRun(100, func() { tr.Step(0, 1e-3, x) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}

func BenchmarkExampleA(b *testing.B) {
	tr := exampleA(b, 0.5)
	x := tr.NewState()
	b.ReportAllocs()
	for b.Loop() {
		tr.Step(0, 1e-3, x)
	}
}
