package machine

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
)

// A motor with brushes and dry friction, whose voltage is held for 20 ms at a time, goes as Runge and Kutta take it in short steps: its current
// passes the drop of the brushes in a small part of a step. Errors fall with the square of the step, and no energy is lost.
func TestBrushesAreFollowed(t *testing.T) {
	const inertia, damping, fc, speed, end = 7e-5, 1.5e-4, 0.015, 0.3, 1.0
	m := plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, BrushDrop: 0.6, DropScale: 0.05}
	level := func(t float64) float64 {
		k := math.Floor(t/0.02 + 1e-9)
		return 3 * math.Sin(k*k)
	}
	rate := func(u float64, y [3]float64) [3]float64 {
		i, w := y[0], y[2]
		return [3]float64{(u - m.R*i - m.K*w - m.BrushDrop*math.Tanh(i/m.DropScale)) / m.L, w,
			(m.K*i - damping*w - fc*math.Tanh(w/speed)) / inertia}
	}
	var truth [][3]float64 // at every millisecond
	var y [3]float64
	const sub = 200
	for k := range int(end * 1e3) {
		truth = append(truth, y)
		u, h := level(float64(k)*1e-3), 1e-3/sub
		for range sub {
			step := func(k [3]float64, by float64) (z [3]float64) {
				for i := range z {
					z[i] = y[i] + by*k[i]
				}
				return z
			}
			k1 := rate(u, y)
			k2 := rate(u, step(k1, h/2))
			k3 := rate(u, step(k2, h/2))
			k4 := rate(u, step(k3, h))
			for i := range y {
				y[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
			}
		}
	}
	voltage := &circuit.Held{}
	spec := Spec{Spec: multibody.Spec{Bodies: []multibody.Body{{Name: "rotor",
		Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Z: 1}, Armature: inertia, Damping: damping}}}},
		Friction: []Friction{{Joint: "rotor", Law: &friction.Coulomb{Fc: fc}, Speed: speed}},
		Parts: func(axis func(joint string) (int, error), axes int) ([]drivetrain.Part, error) {
			c, err := circuit.Build(circuit.Spec{Axes: axes, Elements: []circuit.Element{
				&circuit.VoltageSource{Name: "u", FromNode: "a", ToNode: "0", U: voltage},
				&circuit.DC{Name: "motor", FromNode: "a", ToNode: "0", Motor: m}}})
			return []drivetrain.Part{c}, err
		}}
	var off [2][2]float64 // rms of current and angle, at 1 ms and 0.25 ms
	for i, steps := range []int{1, 4} {
		s, err := NewStepper(spec, StepOptions{Audited: true})
		if err != nil {
			t.Fatal(err)
		}
		x := s.NewState()
		if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
			t.Fatal(err)
		}
		for k, want := range truth {
			for j, e := range []float64{x[2] - want[0], x[0] - want[1]} {
				off[i][j] += e * e / float64(len(truth))
			}
			voltage.Value = level(float64(k) * 1e-3)
			for part := range steps {
				h := 1e-3 / float64(steps)
				if st := s.Step(float64(k)*1e-3+float64(part)*h, h, x); st != engine.OK {
					t.Fatalf("%v: %s", st, s.StatusText())
				}
			}
		}
		s.Forces(end, 0, x)
		if miss := math.Abs(s.BalanceError()); miss > 1e-2*s.Loss {
			t.Errorf("%d steps: %.2g of %.2g J are not accounted for", steps, miss, s.Loss)
		}
		if n := testing.AllocsPerRun(10, func() { s.Step(0, 1e-3, x) }); n > 0 {
			t.Errorf("a step allocates %g times", n)
		}
	}
	for j, name := range []string{"current", "angle"} {
		a, b := math.Sqrt(off[0][j]), math.Sqrt(off[1][j])
		t.Logf("%s: off by %.2g at 1 ms, %.2g at 0.25 ms", name, a, b)
		if order := math.Log2(a/b) / 2; a > 1e-3 || order < 1.5 {
			t.Errorf("%s: off by %.2g at 1 ms, %.2g at 0.25 ms: order %.1f, want 2", name, a, b, order)
		}
	}
}
