package multibody

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// fourBarCutAt is the crank-rocker, its bodies hung on each other so that the loop is closed at one of its four joints: A ground–crank,
// B crank–coupler, C coupler–rocker, D rocker–ground.
func fourBarCutAt(where string, kind CutKind) Spec {
	hinge := Joint{Kind: Revolute, Axis: r3.Vec{Z: 1}}
	crank, coupler, rocker := rod(0.1), rod(0.35), rod(0.3)
	heavy := Inertia{Mass: 1, Com: r3.Vec{}, I: [3][3]float64{{1e-3}, {0, 1e-3}, {0, 0, 1e-3}}} // a disc on the crank
	crank = crank.Plus(heavy)
	s := Spec{Gravity: r3.Vec{Y: -9.81}}
	body := func(name, parent string, at Pose, i Inertia) {
		s.Bodies = append(s.Bodies, Body{Name: name, Parent: parent, Place: at, Joint: hinge, Inertia: i})
	}
	// from the ground by A with the x axes along the rods, and by D with the frames of the bodies at their far ends
	switch where {
	case "C":
		body("A", "", Pose{}, crank)
		body("B", "A", At(0.1, 0, 0), coupler)
		body("D", "", At(0.4, 0, 0), rocker)
		s.Frames = []Frame{{"p", "B", At(0.35, 0, 0)}, {"q", "D", At(0.3, 0, 0)}}
	case "B":
		body("A", "", Pose{}, crank)
		body("D", "", At(0.4, 0, 0), rocker)
		body("C", "D", At(0.3, 0, 0), coupler.Transform(At(-0.35, 0, 0)))
		s.Frames = []Frame{{"p", "A", At(0.1, 0, 0)}, {"q", "C", At(-0.35, 0, 0)}}
	case "A":
		body("D", "", At(0.4, 0, 0), rocker)
		body("C", "D", At(0.3, 0, 0), coupler.Transform(At(-0.35, 0, 0)))
		body("B", "C", At(-0.35, 0, 0), crank.Transform(At(-0.1, 0, 0)))
		s.Frames = []Frame{{"p", "", Pose{}}, {"q", "B", At(-0.1, 0, 0)}}
	case "D":
		body("A", "", Pose{}, crank)
		body("B", "A", At(0.1, 0, 0), coupler)
		body("C", "B", At(0.35, 0, 0), rocker.Transform(At(-0.3, 0, 0)))
		s.Frames = []Frame{{"p", "C", At(-0.3, 0, 0)}, {"q", "", At(0.4, 0, 0)}}
	}
	s.Cuts = []Cut{{Name: "cut", Kind: kind, A: "p", B: "q"}}
	return s
}

// bars are the angles of the joints where crank, coupler and rocker have the angles a, b, c (rad).
func bars(where string, a, b, c float64) map[string]float64 {
	switch where {
	case "C":
		return map[string]float64{"A": a, "B": b - a, "D": c}
	case "B":
		return map[string]float64{"A": a, "D": c, "C": b - c}
	case "A":
		return map[string]float64{"D": c, "C": b - c, "B": a - b}
	}
	return map[string]float64{"A": a, "B": b - a, "C": c - b}
}

// spin gives a body the angular velocity w (rad/s) about z, the others what the loop asks for.
func spin(t *testing.T, m *Model, d *Data, q, v []float64, body string, w float64) {
	t.Helper()
	j, err := m.Joint(body)
	if err != nil {
		t.Fatal(err)
	}
	// the loop has one freedom: any motion, projected and scaled
	for i := range v {
		v[i] = 1 + 0.3*float64(i)
	}
	for range 3 {
		if st := Project(m, d, q, v); st != OK {
			t.Fatal(st)
		}
		Velocities(m, d, q, v)
		now, _ := d.Velocity(j)
		for i := range v {
			v[i] *= w / now.Z
		}
	}
}

// A cut that is not there is named.
func TestUnknownCut(t *testing.T) {
	s := crankRocker(CutPoint)
	s.Cuts = append(s.Cuts, Cut{Name: "ball", Kind: CutSpherical, A: "coupler end", B: "rocker end"})
	m, _ := build(t, s)
	if _, err := m.CutIndex("bal"); err == nil || !strings.Contains(err.Error(), `unknown cut "bal" (did you mean "ball"?)`) {
		t.Error(err)
	}
}
