package multibody

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// planarSpec is a random tree in a plane that stands askew in the world, with cuts of every kind, a coupling and a drive.
func planarSpec(r *rand.Rand, n int) Spec {
	plane := Pose{P: r3.Vec{X: 0.3, Y: -0.2, Z: 0.5}}.Turned(r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: 1})
	s := Spec{Gravity: r3.Vec{X: 1, Y: 2, Z: -9}}
	for i := range n {
		flip := r3.Vec{}
		if r.IntN(3) == 0 {
			flip.X = math.Pi // the axis shows the other way
		}
		b := Body{Name: fmt.Sprint("b", i), Place: At(r.NormFloat64(), r.NormFloat64(),
			r.NormFloat64()).Turned(flip).Turned(r3.Vec{Z: r.NormFloat64()}),
			Joint:   Joint{Kind: Revolute, Armature: 0.1, Damping: 0.2},
			Inertia: randomInertia(r, func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} })}
		if r.IntN(3) == 0 {
			b.Joint.Kind, b.Joint.Axis = Prismatic, r3.Vec{X: r.NormFloat64(), Y: 1}
		}
		if k := r.IntN(i + 1); k > 0 {
			b.Parent = fmt.Sprint("b", k-1)
		} else {
			b.Place = plane.Compose(b.Place)
		}
		s.Bodies = append(s.Bodies, b)
	}
	s.Bodies[0].Joint.Kind, s.Bodies[0].Joint.Axis = Revolute, r3.Vec{}
	last := s.Bodies[n-1].Name
	s.Frames = []Frame{{"a", "b0", At(0.2, 0.4, 0.1).Turned(r3.Vec{Z: 0.3})}, {"b", last, At(-0.2, 0.1, 0.3).Turned(r3.Vec{Z: 1.3})},
		{"c", "", plane.Compose(At(0.2, 0.4, 0.1))}, {"d", last, Pose{}.Turned(r3.Vec{X: math.Pi / 2})}}
	s.Cuts = []Cut{{Name: "point", Kind: CutPoint, A: "a", B: "b"}, {Name: "revolute", Kind: CutRevolute, A: "c", B: "b"},
		{Name: "fixed", Kind: CutFixed, A: "b", B: "a"},
		{Name: "distance", Kind: CutDistance, A: "a", B: "b", Length: 0.7}, {Name: "slide", Kind: CutPrismatic, A: "d", B: "a"}}
	s.Couplings = []Coupling{{Name: "gear", Terms: []Term{{"b0", 2}, {last, -3}}, Offset: 0.4}}
	s.Drives = []Drive{{Name: "drive", Joint: "b0"}}
	return s
}

// The terms of a machine in a plane are those of the recursion in space: H and the bias torques by CRBA and RNEA, the constraints by their
// equations in space.
func TestTermsInPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for try := range 200 {
		s := planarSpec(r, 2+r.IntN(6))
		if try%2 == 1 {
			s.Cuts = slices.DeleteFunc(s.Cuts, func(c Cut) bool { return c.Kind == CutPrismatic })
		}
		m, d := build(t, s)
		if m.plane == nil || !m.plane.coversAll {
			t.Fatal("not taken for a machine in a plane")
		}
		q, v, _ := motion(r, m)
		d.Drive(0, Motion{0.3, 0.4, 0.5})
		d.Push(1, Wrench{M: r3.Vec{X: 1, Y: 2, Z: 3}, F: r3.Vec{X: -2, Y: 1, Z: 4}})
		Terms(m, d, q, v)
		e := m.NewData()
		e.Drive(0, Motion{0.3, 0.4, 0.5})
		e.Push(1, Wrench{M: r3.Vec{X: 1, Y: 2, Z: 3}, F: r3.Vec{X: -2, Y: 1, Z: 4}})
		RNEA(m, e, q, v, nil)
		near(t, "bias torques", d.Tau, e.Tau, 1e-12)
		CRBA(m, e, q)
		near(t, "H", d.H, e.H, 1e-12)
		m.prepare(e, q, v)
		near(t, "g", d.G, e.G, 1e-12)
		near(t, "dg/dt", d.GRate, e.GRate, 1e-12)
		near(t, "Jacobian", d.Jac, e.Jac, 1e-12)
		near(t, "d²g/dt²", d.Bias, e.Bias, 1e-12)
		// what Project leaves valid
		m.plane.stand(d, q)
		m.plane.lift(d)
		for j := 1; j <= m.Bodies(); j++ {
			rot, pos := d.Pose(j)
			want, at := e.Pose(j)
			for i := range 3 {
				near(t, "rotation", rot[i][:], want[i][:], 1e-12)
			}
			if x := r3.Norm(r3.Sub(pos, at)); x > 1e-12 {
				t.Fatalf("body %d is off by %g m", j, x)
			}
		}
		for i := range d.column {
			if x := r3.Norm(r3.Sub(d.column[i].ang, e.column[i].ang)) + r3.Norm(r3.Sub(d.column[i].lin, e.column[i].lin)); x > 1e-12 {
				t.Fatalf("column %d is off by %g", i, x)
			}
		}
	}
}

// Cuts that do not belong to a plane, and relations, leave the constraints to the way in space.
func TestNotInPlane(t *testing.T) {
	askew := crankRocker(CutPoint)
	askew.Frames[0].Pose = askew.Frames[0].Pose.Turned(r3.Vec{X: 0.1})
	turned := crankRocker(CutPrismatic)
	turned.Frames[1].Pose = turned.Frames[1].Pose.Turned(r3.Vec{X: 0.1})
	related := crankRocker(CutPoint)
	above := &pointAbove{}
	related.Relations = []Relation{{Name: "plane", Rows: []string{"z"}, Relater: above}}
	for _, s := range []Spec{askew, turned, related} {
		m, d := build(t, s)
		if m.plane == nil || m.plane.coversAll {
			t.Error("taken for a machine in a plane")
		}
		q, v := []float64{0.5, 0.3, 1.8}, []float64{1, 2, 3}
		Terms(m, d, q, v)
		e := m.NewData()
		RNEA(m, e, q, v, nil)
		near(t, "bias torques", d.Tau, e.Tau, 1e-13)
		m.prepare(e, q, v)
		near(t, "Jacobian", d.Jac, e.Jac, 1e-13)
	}
}
