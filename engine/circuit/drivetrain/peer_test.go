package drivetrain

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// readPeer gives the rows of a case of testdata/peer.csv, which testdata/peer.py has written: time, then the numbers of the case.
func readPeer(t *testing.T, name string) (rows [][]float64) {
	t.Helper()
	f, err := os.Open("testdata/peer.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Split(s.Text(), ",")
		if words[0] != name {
			continue
		}
		var row []float64
		for _, w := range words[1:] {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// magnet is the relay of testdata/peer.py: coordinate 0 is the gap.
func magnet(t testing.TB) (*Train, []float64) {
	t.Helper()
	const m, k, rest = 0.05, 400.0, 4.0e-3
	c, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(24)},
		&circuit.Electromagnet{Name: "coil", FromNode: "+", ToNode: "0", Plunger: circuit.Plunger{Linf: 0.03, C: 2e-5, X0: 0.4e-3}, R: 20},
	}})
	if err != nil {
		t.Fatal(err)
	}
	tr := train(t, Inertias{{Name: "gap", J: m, Pull: -m*9.81 - k*rest, Linear: true}}, []Part{c,
		&Shaft{Label: "spring", Twist: Twist{A: 0, B: Ground}, K: k},
		&Contact{Label: "seat", Twist: Twist{A: 0, B: Ground},
			Stops: plant.Stops{Travel: [2]float64{0, math.Inf(1)}, Stiffness: 2e6, Loss: 0.5}}}, nil)
	x := tr.NewState()
	x[0] = rest + m*9.81/k
	return tr, x
}

// servo is the machine of testdata/peer.py.
func servo(t testing.TB) (*Train, []float64) {
	t.Helper()
	c, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
		&circuit.Synchronous{Name: "m", Rotor: circuit.Rotor{Ld: 0.8e-3, Lq: 1.4e-3, Psi: 0.02, Pairs: 4,
			Cogs: []circuit.Cog{{Amplitude: 0.01, Order: 24}, {Amplitude: 0.003, Order: 48}}},
			R: 0.3, Ud: reference.Constant(-1), Uq: reference.Constant(14)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	tr := train(t, Inertias{{Name: "rotor", J: 2e-4, Pull: 0.05}}, []Part{c,
		&Bearing{Label: "bearing", Twist: Twist{A: 0, B: Ground}, Law: &friction.Viscous{Fv: 5e-4, Delta: 1}}}, nil)
	return tr, tr.NewState()
}

// Both machines against SciPy, offline to 1e-6 of the largest value of each column, and their energies to 1e-9. Fixed steps come nearer
// as the square of the step for the servo; the seat of the magnet is stiff, √(m/k) = 0.16 ms, and the speeds of its
// bounces count.
func TestAgainstSciPy(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(testing.TB) (*Train, []float64)
		fixed [2]float64 // largest errors at 0.1 and 0.01 ms
	}{
		{"magnet", magnet, [2]float64{0.4, 3e-3}},
		{"servo", servo, [2]float64{2e-4, 2e-6}},
	} {
		rows := readPeer(t, c.name)
		peak := make([]float64, len(rows[0]))
		for _, r := range rows {
			for k, v := range r {
				peak[k] = max(peak[k], math.Abs(v))
			}
		}
		compare := func(row int, x []float64) (worst float64) {
			for k, want := range rows[row][1:] {
				worst = max(worst, math.Abs(x[k]-want)/peak[k+1])
			}
			return worst
		}
		end := rows[len(rows)-1][0]
		tr, x := c.make(t)
		worst, row := 0.0, 0
		a, err := tr.Integrate(x, 0, end, Offline{Rtol: 1e-12, Atol: 1e-14, Every: rows[1][0]}, func(at float64, x []float64) {
			worst = max(worst, compare(row, x))
			row++
		})
		if err != nil || row != len(rows) {
			t.Fatal(err, row)
		}
		if err := a.Check(1e-9); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if worst > 1e-6 {
			t.Errorf("%s: off by %.2e of the peak", c.name, worst)
		}
		var miss [2]float64
		for i, h := range []float64{1e-4, 1e-5} {
			tr, x := c.make(t)
			every := int(math.Round(rows[1][0] / h))
			if _, st := tr.Run(x, 0, h, int(math.Round(end/h)), func(k int, x []float64) {
				if k%every == 0 {
					miss[i] = max(miss[i], compare(k/every, x))
				}
			}); st != engine.OK {
				t.Fatal(st)
			}
			if miss[i] > c.fixed[i] {
				t.Errorf("%s at %g s: off by %.2e of the peak", c.name, h, miss[i])
			}
		}
		t.Logf("%s: offline %.1e, energies %.1e, fixed %.1e at 0.1 ms, %.1e at 0.01 ms", c.name, worst, a.Total().Relative(), miss[0], miss[1])
	}
}
