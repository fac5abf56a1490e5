package drivetrain

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
)

// crankRockerBodies is the mechanism of theory 1.8, with the inertia of a rotor (kg·m²) on the crank.
func crankRockerBodies(t testing.TB, cut multibody.CutKind, rotor float64) *Bodies {
	t.Helper()
	rod := func(l float64) multibody.Inertia {
		i := l * l * l / 12 // 1 kg/m
		return multibody.Inertia{Mass: l, Com: r3.Vec{X: l / 2}, I: rotation.Diag(r3.Vec{Y: i, Z: i})}
	}
	hinge := multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Z: 1}}
	crank := hinge
	crank.Armature = rotor
	m, err := multibody.Build(multibody.Spec{
		Gravity: r3.Vec{Y: -9.81},
		Bodies: []multibody.Body{
			{Name: "crank", Joint: crank, Inertia: rod(0.1)},
			{Name: "coupler", Parent: "crank", Place: multibody.At(0.1, 0, 0), Joint: hinge, Inertia: rod(0.35)},
			{Name: "rocker", Place: multibody.At(0.4, 0, 0), Joint: hinge, Inertia: rod(0.3)},
		},
		Frames: []multibody.Frame{{Name: "coupler end", Body: "coupler", Pose: multibody.At(0.35, 0, 0)},
			{Name: "rocker end", Body: "rocker", Pose: multibody.At(0.3, 0, 0)}},
		Cuts: []multibody.Cut{{Name: "pin", Kind: cut, A: "coupler end", B: "rocker end"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := NewBodies(m)
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}

// exampleB is the crank-rocker with a DC motor of theory 1.8: the loop is cut at the pin of coupler and rocker, in the plane (two
// equations) or as a revolute joint in space (five, three of them redundant).
func exampleB(t testing.TB, cut multibody.CutKind) (*Train, []float64) {
	t.Helper()
	bodies := crankRockerBodies(t, cut, 1e-3)
	c, err := circuit.Build(circuit.Spec{Axes: 3, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(12)},
		&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 2, L: 5e-3, K: 0.3}, Axis: 0},
	}})
	if err != nil {
		t.Fatal(err)
	}
	tr := train(t, bodies, []Part{c, &Bearing{Label: "bearing", Twist: Twist{A: 0, B: Ground}, Law: &friction.Viscous{Fv: 0.002, Delta: 1}}},
		nil)
	x := tr.NewState()
	x[0], x[1], x[2] = 0.5, 0.77711649-0.5, 1.78139383
	if err := tr.Start(0, x); err != nil {
		t.Fatal(err)
	}
	return tr, x
}

// tableB is theory 1.8: t, crank, coupler, rocker (absolute), speed of the crank, current, by another program.
var tableB = [][6]float64{
	{0.10, 2.04500106, 0.52360092, 2.06596716, 22.68992221, 2.6526518},
	{0.25, 7.07736802, 0.68944934, 1.77165913, 42.26025929, -0.46401782},
	{0.50, 16.12415332, 0.72788248, 2.44525486, 48.53320191, -1.02372981},
	{1.00, 34.61049178, 0.64232841, 2.39211602, 43.02791667, -0.20721432},
}

func rowB(x []float64) [5]float64 { return [5]float64{x[0], x[0] + x[1], x[2], x[3], x[6]} }

func TestExampleBOffline(t *testing.T) {
	for _, cut := range []multibody.CutKind{multibody.CutPoint, multibody.CutRevolute} {
		tr, x := exampleB(t, cut)
		row := 0
		a, err := tr.Integrate(x, 0, 1, Offline{Rtol: 1e-11, Atol: 1e-12, Every: 0.05}, func(at float64, x []float64) {
			if row >= len(tableB) || math.Abs(at-tableB[row][0]) > 1e-9 {
				return
			}
			got := rowB(x)
			for k, want := range tableB[row][1:] {
				if math.Abs(got[k]-want) > 1e-6*math.Max(1, math.Abs(want)) {
					t.Errorf("%v, t = %g, column %d: %.9g, want %.9g", cut, at, k+1, got[k], want)
				}
			}
			row++
		})
		if err != nil || row != len(tableB) {
			t.Fatal(err, row)
		}
		if err := a.Check(1e-9); err != nil {
			t.Error(cut, err)
		}
		t.Logf("%v: energies close to %.1e", cut, a.Total().Relative())
	}
}

// Fixed steps: errors at the times of the table at 1 ms and 0.1 ms, second order, no allocation.
func TestExampleBFixed(t *testing.T) {
	miss := func(h float64) (worst [5]float64) {
		tr, x := exampleB(t, multibody.CutPoint)
		a, st := tr.Run(x, 0, h, int(math.Round(1/h)), func(k int, x []float64) {
			for _, row := range tableB {
				if math.Abs(float64(k)*h-row[0]) < 1e-9 {
					got := rowB(x)
					for i, want := range row[1:] {
						worst[i] = max(worst[i], math.Abs(got[i]-want))
					}
				}
			}
		})
		if st != engine.OK {
			t.Fatal(st)
		}
		bodies := tr.Mech.(*Bodies)
		multibody.Terms(bodies.model, bodies.data, x[:3], x[3:6])
		if g, rate := bodies.data.Residual(); g > 1e-12 || rate > 1e-10 {
			t.Errorf("the loop is open by %.2g m, %.2g m/s", g, rate)
		}
		t.Logf("h = %g ms: crank %.1e coupler %.1e rocker %.1e rad, speed %.1e rad/s, current %.1e A, energies %.1e", h*1e3, worst[0], worst[1],
			worst[2], worst[3], worst[4], a.Total().Relative())
		return worst
	}
	a, b := miss(1e-3), miss(1e-4)
	for k := range a {
		if order := math.Log10(a[k] / b[k]); order < 1.7 {
			t.Errorf("column %d: order %.2f, want 2", k+1, order)
		}
	}
	if b[0] > 2e-3 {
		t.Errorf("crank off by %.2e rad at 0.1 ms", b[0])
	}
	tr, x := exampleB(t, multibody.CutPoint)
	if n := testing.AllocsPerRun(100, func() { tr.Step(0, 1e-3, x) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// A step does not depend on what the one before left: a machine that is put somewhere goes on as one that came there.
func TestStepsFromAnywhere(t *testing.T) {
	tr, x := exampleB(t, multibody.CutPoint)
	for k := range 300 {
		fresh, y := exampleB(t, multibody.CutPoint)
		copy(y, x)
		fresh.Step(float64(k)*1e-3, 1e-3, y)
		tr.Step(float64(k)*1e-3, 1e-3, x)
		for i := range x {
			if math.Abs(x[i]-y[i]) > 1e-8*(1+math.Abs(y[i])) {
				t.Fatalf("step %d, state %d: %.15g, from anew %.15g", k, i, x[i], y[i])
			}
		}
		if k == 150 { // elsewhere
			x[3], x[4], x[5] = 0, 0, 0
		}
	}
}

// A step of 1 ms, and how many evaluations of the equations of motion in space it costs, measured in turn with it.
func BenchmarkExampleB(b *testing.B) {
	tr, x := exampleB(b, multibody.CutPoint)
	bodies := crankRockerBodies(b, multibody.CutPoint, 1e-3)
	d := bodies.model.NewData()
	var step, dynamics time.Duration
	tau := make([]float64, 3)
	b.ReportAllocs()
	for b.Loop() {
		at := time.Now()
		for range 100 {
			tr.Step(0, 1e-3, x)
		}
		mid := time.Now()
		for range 100 {
			multibody.Dynamics(bodies.model, d, x[:3], x[3:6], tau)
		}
		step, dynamics = step+mid.Sub(at), dynamics+time.Since(mid)
	}
	b.ReportMetric(float64(step.Nanoseconds())/float64(b.N)/100, "ns/step")
	b.ReportMetric(float64(step)/float64(dynamics), "dynamics/step")
}
