package multibody

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// governor is the stiff flyball governor of IFToMM's benchmark library: a shaft turns about z, two rods with balls hang on its top,
// springs with dampers join their middles to a slider on the shaft [GDLC06] A05.
func governor() Spec {
	box := func(mass, x, y, z float64) Inertia {
		return Inertia{Mass: mass, I: rotation.Diag(r3.Vec{X: mass / 12 * (y*y + z*z), Y: mass / 12 * (x*x + z*z), Z: mass / 12 * (x*x + y*y)})}
	}
	rod := box(0.3, 1, 0.01, 0.01).Transform(At(0.5, 0, 0)).Plus(Inertia{Mass: 5, Com: r3.Vec{X: 1}})
	hinge := Joint{Kind: Revolute, Axis: r3.Vec{Y: 1}}
	return Spec{
		Gravity: r3.Vec{Z: -9.81},
		Bodies: []Body{
			{Name: "shaft", Joint: Joint{Kind: Revolute, Axis: r3.Vec{Z: 1}}, Inertia: box(0.3, 0.01, 0.01, 1).Transform(At(0, 0, 0.5))},
			{Name: "slider", Parent: "shaft", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{Z: 1}}, Inertia: box(3, 0.1, 0.1, 0.1)},
			{Name: "right", Parent: "shaft", Place: At(0.05, 0, 1), Joint: hinge, Inertia: rod},
			{Name: "left", Parent: "shaft", Place: At(-0.05, 0, 1).Turned(r3.Vec{Z: math.Pi}), Joint: hinge, Inertia: rod},
		},
		Frames: []Frame{
			{"right half", "right", At(0.5, 0, 0)}, {"left half", "left", At(0.5, 0, 0)},
			{"right ear", "slider", At(0.05, 0, 0)}, {"left ear", "slider", At(-0.05, 0, 0)},
		},
		Springs: []Spring{
			{Name: "right", A: "right ear", B: "right half", Stiffness: 8e5, Damping: 4e4, Length: 0.5},
			{Name: "left", A: "left ear", B: "left half", Stiffness: 8e5, Damping: 4e4, Length: 0.5},
		},
	}
}

func readMotions(t *testing.T) (l struct{ Governor, Pendulum [][]float64 }) {
	t.Helper()
	raw, err := os.ReadFile("testdata/motions.json")
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The governor is stiff by its dampers, 4e4 1/s; the explicit integrator pays for it with steps, and is right.
func TestGovernor(t *testing.T) {
	m, d := build(t, governor())
	o := NewOffline(m, d, nil, nil)
	o.Rtol, o.Atol = 1e-8, 1e-10
	o.Start(0, []float64{0, 0.5, math.Pi / 6, math.Pi / 6}, []float64{2 * math.Pi, 0, 0, 0})
	for _, row := range readMotions(t).Governor {
		if err := o.Run(row[0]); err != nil {
			t.Fatal(err)
		}
		near(t, "governor", []float64{o.Q()[2], o.Q()[1], o.V()[0]}, row[1:], 1e-7)
		if x := o.Q()[2] - o.Q()[3]; math.Abs(x) > 1e-9 {
			t.Errorf("the rods differ by %g rad", x)
		}
	}
	t.Logf("%d steps", o.Accepted)
}

// The double pendulum keeps its energy and follows another program's until it becomes chaotic.
func TestDoublePendulum(t *testing.T) {
	m, d := build(t, chain(2, r3.Vec{Z: 1}))
	for i := range m.body {
		if i > 0 && math.Abs(m.body[i].inertia.I[2][2]-1.0/12) > 1e-15 {
			t.Fatal("not the rods of the table")
		}
	}
	o := NewOffline(m, d, nil, nil)
	o.Rtol, o.Atol = 1e-12, 1e-12
	o.Start(0, []float64{0, 0}, []float64{0, 0})
	for _, row := range readMotions(t).Pendulum {
		if err := o.Run(row[0]); err != nil {
			t.Fatal(err)
		}
		near(t, "double pendulum", o.Q(), row[1:], 1e-8)
	}
	if err := o.Run(10); err != nil {
		t.Fatal(err)
	}
	if e := total(m, d, o.Q(), o.V()); math.Abs(e) > 1e-8 {
		t.Errorf("energy drifted by %g J", e)
	}
}

// pendulumOnBall has a spherical joint, a damped and sprung hinge and a slide.
func pendulumOnBall() Spec {
	return Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{
		{Name: "ball", Joint: Joint{Kind: Spherical, Damping: 0.05},
			Inertia: Inertia{Mass: 1, Com: r3.Vec{X: 0.2}, I: rotation.Diag(r3.Vec{X: 0.02, Y: 0.03, Z: 0.04})}},
		{Name: "hinge", Parent: "ball", Place: At(0.4, 0, 0),
			Joint: Joint{Kind: Revolute, Axis: r3.Vec{Y: 1}, Damping: 0.1, Stiffness: 3, Rest: 0.2}, Inertia: rod(0.5)},
		{Name: "slide", Parent: "hinge", Place: At(0.5, 0, 0), Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}, Stiffness: 200},
			Inertia: Inertia{Mass: 0.3}},
	}}
}

// NewOffline makes an integrator; torques (nil: none) writes the torques of the joints at t (s), q, v.
func NewOffline(m *Model, d *Data, torques func(t float64, q, v, tau []float64), drives []func(t float64) Motion) *Offline {
	if len(drives) != len(m.loops.drives) {
		panic("multibody: NewOffline: want a motion for each drive")
	}
	return newOffline(m, d, 0, func(t float64, q, v, z, tau, dz []float64) {
		if torques != nil {
			torques(t, q, v, tau)
		}
	}, drives)
}
