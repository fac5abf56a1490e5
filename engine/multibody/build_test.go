package multibody

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// What cannot be built is refused by name, with the way out.
func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(s *Spec)
		want error
		says string
	}{
		{"circle", func(s *Spec) { s.Bodies[0].Parent = "link2" }, ErrCycle,
			`body "link0": parent: bodies hang on each other in a circle (link0 on link2 on link1 on link0): cut the loop`},
		{"own parent", func(s *Spec) { s.Bodies[1].Parent = "link1" }, ErrCycle, "(link1 on link1)"},
		{"unknown parent", func(s *Spec) { s.Bodies[1].Parent = "lnk0" }, ErrParent,
			`body "link1": parent: unknown body "lnk0" (did you mean "link0"?)`},
		{"frame on nothing", func(s *Spec) { s.Frames = []Frame{{Name: "tool", Body: "link9"}} }, ErrParent,
			`frame "tool": body: unknown body "link9"`},
		{"no name", func(s *Spec) { s.Bodies[2].Name = "" }, ErrName, "body 3: name is missing"},
		{"name twice", func(s *Spec) { s.Bodies[2].Name = "link0" }, ErrName, `body "link0": name is already that of a body`},
		{"ground", func(s *Spec) { s.Frames = []Frame{{Name: "ground"}} }, ErrName, "already that of the ground"},
		{"triangle", func(s *Spec) { s.Bodies[0].Inertia.I[2][2] = 0.2 }, ErrTriangle,
			`body "link0": inertia: impossible inertia: principal moments 0.001, 0.0833333, 0.2 kg·m²`},
		{"negative moment", func(s *Spec) { s.Bodies[0].Inertia.I[0][0] = -0.1 }, ErrTriangle, "principal moments -0.1"},
		{"lopsided", func(s *Spec) { s.Bodies[0].Inertia.I[0][1] = 0.01 }, ErrTriangle, "I[1][0] = 0 but I[0][1] = 0.01"},
		{"negative mass", func(s *Spec) { s.Bodies[1].Inertia.Mass = -1 }, ErrMass, `body "link1": inertia: mass -1 kg`},
		{"no number", func(s *Spec) { s.Bodies[1].Inertia.Com.X = math.NaN() }, ErrTriangle, "finite"},
		{"moments without mass", func(s *Spec) { s.Bodies[1].Inertia.Mass = 0 }, ErrMass, "0 kg with moments"},
		{"nothing moves", func(s *Spec) { s.Bodies[2].Inertia = Inertia{} }, ErrMass,
			`body "link2": mass 0 kg: its joint (revolute) moves nothing that has inertia`},
		{"mass on the axis", func(s *Spec) { s.Bodies[2].Inertia = Inertia{Mass: 1, Com: r3.Vec{Z: 0.3}} }, ErrMass, `"link2"`},
		{"axis of a ball", func(s *Spec) { s.Bodies[2].Joint.Kind = Spherical }, ErrJoint, `body "link2": joint (spherical): an axis belongs`},
		{"damping", func(s *Spec) { s.Bodies[2].Joint.Damping = -1 }, ErrJoint, "damping -1, want a number ≥ 0"},
		{"spring of a ball", func(s *Spec) { s.Bodies[2].Joint = Joint{Kind: Spherical, Stiffness: 1} }, ErrJoint,
			"stiffness 1 belongs to a joint with one axis"},
		{"kind", func(s *Spec) { s.Bodies[2].Joint.Kind = 17 }, ErrJoint, "want fixed, revolute"},
		{"quaternion", func(s *Spec) { s.Bodies[2].Place.R = quat.Number{Real: 2} }, ErrPose, "quaternion of length 2, want 1"},
		{"place", func(s *Spec) { s.Bodies[2].Place.P.X = math.Inf(1) }, ErrPose, "finite"},
		{"gravity", func(s *Spec) { s.Gravity.X = math.NaN() }, nil, "gravity"},
	} {
		s := chain(3, r3.Vec{Z: 1})
		c.harm(&s)
		_, err := Build(s)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %v with %q", c.name, err, c.want, c.says)
		}
	}
	// everything at once
	s := chain(3, r3.Vec{Z: 1})
	s.Bodies[0].Inertia.Mass, s.Bodies[1].Joint.Damping, s.Bodies[2].Parent = -1, -1, "nobody"
	if _, err := Build(s); !errors.Is(err, ErrMass) || !errors.Is(err, ErrJoint) || !errors.Is(err, ErrParent) {
		t.Errorf("three mistakes, told %v", err)
	}
}

// The limit of the triangle inequality has two sides: a thin rod and a disc are possible.
func TestInertiaLimit(t *testing.T) {
	for _, c := range []struct {
		moments r3.Vec
		ok      bool
	}{{r3.Vec{X: 0, Y: 1, Z: 1}, true}, {r3.Vec{X: 1, Y: 1, Z: 2}, true}, {r3.Vec{X: 1, Y: 1, Z: 2.0001}, false},
		{r3.Vec{X: -1e-4, Y: 1, Z: 1}, false}, {r3.Vec{}, true}} {
		turn := rotation.MatrixOf(rotation.Exp(r3.Vec{X: 1, Y: 2, Z: 3}))
		i := Inertia{Mass: 1, I: turn.Mul(rotation.Diag(c.moments)).Mul(turn.T())}
		if err := i.Check(); (err == nil) != c.ok {
			t.Errorf("moments %v: %v", c.moments, err)
		}
	}
}

// A joint that moves no mass of its own is fine where armature, or a body further out, has inertia.
func TestMasslessLink(t *testing.T) {
	s := chain(3, r3.Vec{Z: 1})
	s.Bodies[1].Inertia = Inertia{}
	build(t, s)
	s.Bodies[2].Inertia = Inertia{}
	s.Bodies[1].Joint.Armature, s.Bodies[2].Joint.Armature = 0.1, 0.1
	build(t, s)
}

// Bodies in any order, and fixed ones, make the machine that the same bodies in order and in one piece make.
func TestOrderAndFixed(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	one := randomSpec(r, 1)
	one.Bodies[0].Joint = Joint{Kind: Spherical}
	extra := Body{Name: "mast", Parent: "b0", Place: At(0.1, 0.2, 0.3).Turned(r3.Vec{X: 1, Y: -1}),
		Inertia: Inertia{Mass: 2, Com: r3.Vec{Z: 0.5}, I: rotation.Diag(r3.Vec{X: 0.2, Y: 0.2, Z: 0.01})}}
	load := Body{Name: "load", Parent: "mast", Place: At(0, 0, 1), Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}},
		Inertia: Inertia{Mass: 1}}

	whole := one
	whole.Bodies = []Body{one.Bodies[0], load}
	whole.Bodies[0].Inertia = whole.Bodies[0].Inertia.Plus(extra.Inertia.Transform(extra.Place))
	whole.Bodies[1].Parent, whole.Bodies[1].Place = "b0", extra.Place.Compose(load.Place)
	mixed := one
	mixed.Bodies = []Body{load, extra, one.Bodies[0]}

	a, da := build(t, whole)
	b, db := build(t, mixed)
	if name, kind, iq, iv := b.JointOf(2); name != "load" || kind != Prismatic || iq != 4 || iv != 3 || b.Bodies() != 2 || b.Parent(2) != 1 {
		t.Errorf("second joint is %s (%v) at %d, %d", name, kind, iq, iv)
	}
	q, v, tau := motion(r, a)
	ABA(a, da, q, v, tau)
	ABA(b, db, q, v, tau)
	near(t, "dv/dt", db.QDD, da.QDD, 1e-13)
	// the mast is known still, and so is a misspelt one
	f, err := b.Frame("mast")
	if err != nil || b.BodyOf(f) != 1 {
		t.Errorf("mast: frame %d of body %d, %v", f, b.BodyOf(f), err)
	}
	rot, foot := da.Pose(1)
	if _, p := b.FramePose(db, f); r3.Norm(r3.Sub(p, r3.Add(foot, rot.Vec(r3.Vec{X: 0.1, Y: 0.2, Z: 0.3})))) > 1e-14 {
		t.Errorf("mast at %v", p)
	}
	if _, err := b.Frame("mats"); err == nil || !strings.Contains(err.Error(), `did you mean "mast"?`) {
		t.Errorf("misspelt frame: %v", err)
	}
	if _, err := b.Joint("laod"); err == nil || !strings.Contains(err.Error(), `did you mean "load"?`) {
		t.Errorf("misspelt joint: %v", err)
	}
}

// Bad numbers at run time have a status, not a NaN that passes for a result.
func TestStatus(t *testing.T) {
	for _, axis := range []r3.Vec{{Z: 1}, {X: 0.1, Z: 1}} {
		s := chain(2, axis)
		s.Bodies[1].Place = s.Bodies[1].Place.Turned(r3.Vec{X: axis.X})
		m, d := build(t, s)
		if st := ABA(m, d, []float64{0, math.NaN()}, []float64{0, 0}, []float64{0, 0}); st == OK {
			t.Errorf("planar %v: NaN as a position is %v", m.Planar(), st)
		}
		if st := ABA(m, d, []float64{0, 0}, []float64{0, 0}, []float64{0, math.Inf(1)}); st != NonFinite {
			t.Errorf("planar %v: infinite torque is %v", m.Planar(), st)
		}
	}
}

// Joints that move nothing of their own are named: a point on a ball joint does not feel a turn about its arm, nor a rod one about itself,
// and of two hinges about one axis the second moves what the first does.
func TestBuildNamesIdleJoints(t *testing.T) {
	rod := rotation.Diag(r3.Vec{X: 0.1, Y: 0.1})
	for name, bodies := range map[string][]Body{
		"point": {{Name: "ball", Joint: Joint{Kind: Spherical}, Inertia: Inertia{Mass: 1, Com: r3.Vec{X: 0.3, Y: 0.4, Z: 1.2}}}},
		"rod":   {{Name: "ball", Joint: Joint{Kind: Spherical}, Inertia: Inertia{Mass: 1.7, Com: r3.Vec{Z: 0.5}, I: rod}}},
		"twice": {{Name: "first", Joint: Joint{Kind: Revolute, Axis: r3.Vec{X: 1, Y: 1, Z: 1}}},
			{Name: "ball", Parent: "first", Joint: Joint{Kind: Revolute, Axis: r3.Vec{X: 1, Y: 1, Z: 1}},
				Inertia: Inertia{Mass: 1, Com: r3.Vec{X: 0.3, Z: 0.2}, I: rotation.Diag(r3.Vec{X: 0.01, Y: 0.01, Z: 0.02})}}},
	} {
		if _, err := Build(Spec{Bodies: bodies}); !errors.Is(err, ErrMass) || !strings.Contains(err.Error(), `body "ball"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Moments that were carried from the origin of a body to its centre of mass keep the rounding of m·|c|² = 5e-4 kg·m²: those of a point
// mass come out as 0 ± 1e-19. What is larger than rounding is no body's, to either side of the triangle.
func TestPointMassOfRoundedMoments(t *testing.T) {
	point := func(a, b, c float64) error {
		return Inertia{Mass: 0.526, Com: r3.Vec{Z: 0.03045}, I: rotation.Matrix{{a, 0, 0}, {0, b, 0}, {0, 0, c}}}.Check()
	}
	for _, p := range [][3]float64{{-5.42101e-20, -5.42101e-20, 0}, {0, 0, 1e-19}, {1e-19, -1e-19, 0}} {
		if err := point(p[0], p[1], p[2]); err != nil {
			t.Errorf("moments %g: %v", p, err)
		}
	}
	for _, p := range [][3]float64{{-1e-16, 0, 0}, {0, 0, 1e-16}} {
		if err := point(p[0], p[1], p[2]); !errors.Is(err, ErrTriangle) {
			t.Errorf("moments %g: %v, want %v", p, err, ErrTriangle)
		}
	}
	if err := (Inertia{Mass: 0.526, I: rotation.Matrix{{-5.42101e-20}}}).Check(); !errors.Is(err, ErrTriangle) {
		t.Errorf("a negative moment about a centre of mass at the origin: %v, want %v", err, ErrTriangle)
	}
}
