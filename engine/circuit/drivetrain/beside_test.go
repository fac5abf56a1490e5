package drivetrain

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// The crank-rocker of example B driven by a small motor behind a gear of 5 instead of the large one on the crank: rotor inertia
// 1e-3/25, constant 0.3/5, friction 0.002/25. Without loss it is the same machine, to the digits of the table; with loss the energies
// close too.
func TestRotorBesideBodies(t *testing.T) {
	geared := func(mesh *Mesh) (*Train, []float64) {
		const n = 5.0
		_, x := exampleB(t, multibody.CutPoint)
		m := crankRockerBodies(t, multibody.CutPoint, 0)
		c, err := circuit.Build(circuit.Spec{Axes: 4, Elements: []circuit.Element{
			&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(12)},
			&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 2, L: 5e-3, K: 0.3 / n}, Axis: 0},
		}})
		if err != nil {
			t.Fatal(err)
		}
		tr := train(t, NewBeside(Inertias{{Name: "rotor", J: 1e-3 / n / n}}, m), []Part{c,
			&Bearing{Label: "bearing", Twist: Twist{A: 0, B: Ground}, Law: &friction.Viscous{Fv: 0.002 / n / n, Delta: 1}}},
			[]Row{&Gear{Label: "gear", Twist: Twist{A: 0, B: 1, Ratio: n}, Mesh: mesh}})
		y := tr.NewState()
		copy(y[1:4], x[:3])
		y[0] = n * x[0]
		if err := tr.Start(0, y); err != nil {
			t.Fatal(err)
		}
		return tr, y
	}
	tr, x := geared(nil)
	a, err := tr.Integrate(x, 0, 0.5, Offline{Rtol: 1e-11, Atol: 1e-12}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Check(1e-9); err != nil {
		t.Error(err)
	}
	for k, got := range []float64{x[1], x[1] + x[2], x[3], x[5], x[8]} {
		want := tableB[2][k+1]
		near(t, "column", got, want, 1e-6*math.Max(1, math.Abs(want)))
	}
	near(t, "ratio", x[0]-5*x[1], 0, 1e-9)

	lossy := &Mesh{Efficiency: 0.8, Back: 0.7, Speed: 0.5}
	tr, x = geared(lossy)
	if a, err = tr.Integrate(x, 0, 0.3, Offline{Rtol: 1e-11, Atol: 1e-12}, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.Check(1e-9); err != nil {
		t.Error(err)
	}
	miss := func(h float64) float64 {
		tr, y := geared(lossy)
		if _, st := tr.Run(y, 0, h, int(math.Round(0.3/h)), nil); st != engine.OK {
			t.Fatal(st)
		}
		t.Logf("ratio off by %.1e rad after steps of %g s", y[0]-5*y[1], h)
		return math.Abs(y[1] - x[1])
	}
	b, c := miss(1e-3), miss(1e-4)
	t.Logf("with loss %.3f J of %.3f J, crank off by %.1e rad at 1 ms, %.1e at 0.1 ms", a.Lines[2].Loss, a.Lines[0].Out, b, c)
	if c > 1e-4 || b/c < 8 {
		t.Errorf("crank off by %.2e and %.2e rad", b, c)
	}
	if n := testing.AllocsPerRun(20, func() { tr.Step(0, 1e-3, x) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
