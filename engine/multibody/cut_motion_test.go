package multibody

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
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
		body("C", "D", At(0.3, 0, 0), coupler.In(At(-0.35, 0, 0)))
		s.Frames = []Frame{{"p", "A", At(0.1, 0, 0)}, {"q", "C", At(-0.35, 0, 0)}}
	case "A":
		body("D", "", At(0.4, 0, 0), rocker)
		body("C", "D", At(0.3, 0, 0), coupler.In(At(-0.35, 0, 0)))
		body("B", "C", At(-0.35, 0, 0), crank.In(At(-0.1, 0, 0)))
		s.Frames = []Frame{{"p", "", Pose{}}, {"q", "B", At(-0.1, 0, 0)}}
	case "D":
		body("A", "", Pose{}, crank)
		body("B", "A", At(0.1, 0, 0), coupler)
		body("C", "B", At(0.35, 0, 0), rocker.In(At(-0.3, 0, 0)))
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

// slowed runs the crank-rocker from 15 rad/s of its crank with a law in each joint, and returns the speed of the crank (rad/s) and the loss
// (J) after 0.3 s; the energy has to fall by the loss.
func slowed(t *testing.T, where string, kind CutKind, law func() friction.Model, h float64) (speed, lost float64) {
	t.Helper()
	m, d := build(t, fourBarCutAt(where, kind))
	set := bars(where, 0.5, 0.77711649, 1.78139383)
	q, v := make([]float64, 3), make([]float64, 3)
	laws := map[string]friction.Model{"cut": law()}
	for j := 1; j <= 3; j++ {
		name, _, iq, _ := m.JointOf(j)
		q[iq] = set[name]
		laws[name] = law()
	}
	if _, err := Assemble(m, d, q, v, Assembly{}); err != nil {
		t.Fatal(err)
	}
	crank := "A"
	if where == "A" {
		crank = "B" // on the far side of the loop
	}
	spin(t, m, d, q, v, crank, 15)
	step, y := newStepper(t, m, Options{Friction: laws})
	x := step.NewState(q, v)
	start := total(m, d, x[:3], x[3:6])
	for range int(math.Round(0.3 / h)) {
		if st := step.Step(h, x, make([]float64, 3), y); st != engine.OK {
			t.Fatal(where, st)
		}
		lost += h * step.FrictionPower()
	}
	if e := start - total(m, d, x[:3], x[3:6]); math.Abs(e-lost) > 1e-3*lost || e < 1e-3 {
		t.Errorf("cut at %s: energy fell by %.9g J, friction took %.9g J", where, e, lost)
	}
	Velocities(m, d, x[:3], x[3:6])
	j, _ := m.Joint(crank)
	w, _ := d.Velocity(j)
	return w.Z, lost
}

// The friction of all four joints, with the load that each carries, does the same wherever the loop is cut, with laws of every kind. What
// differs is the error of the step: it falls with its square.
func TestFrictionOfCuts(t *testing.T) {
	for name, law := range map[string]func() friction.Model{
		"viscous":             func() friction.Model { return &friction.Viscous{Fv: 0.003, Delta: 1} },
		"Coulomb of the load": func() friction.Model { return &friction.Coulomb{Mu: 2e-3} },
		"bristles": func() friction.Model {
			return &friction.LuGre{Sigma0: 50, Sigma1: 0.05, Sigma2: 1e-3, Fc: 0.03, Fs: 0.04, Vs: 0.1}
		},
	} {
		var spread [2]float64
		for i, h := range []float64{6e-4, 2e-4} {
			speed, lost := slowed(t, "C", CutPoint, law, h)
			for _, where := range []string{"A", "B", "D"} {
				w, l := slowed(t, where, CutPoint, law, h)
				spread[i] = math.Max(spread[i], math.Max(math.Abs(w/speed-1), math.Abs(l/lost-1)))
			}
			t.Logf("%s, %g ms: crank %.9g rad/s, lost %.9g J, other cuts within %.2g", name, h*1e3, speed, lost, spread[i])
		}
		if spread[1] > 1e-5 || spread[1] > spread[0]/6 {
			t.Errorf("%s: results differ by %.3g with the place of the cut", name, spread)
		}
		// a cut of five equations, three of them redundant
		w, l := slowed(t, "B", CutPoint, law, 1e-3)
		if a, b := slowed(t, "B", CutRevolute, law, 1e-3); math.Abs(a/w-1) > 1e-9 || math.Abs(b/l-1) > 1e-9 {
			t.Errorf("%s: revolute cut %.12g rad/s, %.12g J, point %.12g, %.12g", name, a, b, w, l)
		}
	}
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

// A block between two slides: the friction of a prismatic cut with its own load is that of the same slide in the tree.
func TestFrictionOfPrismaticCut(t *testing.T) {
	const mu, alpha = 0.3, 0.6
	ramp := Pose{}.Turned(r3.Vec{Y: alpha}).Turned(r3.Vec{Y: math.Pi / 2}) // z down the ramp
	free := Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{{Name: "block", Joint: Joint{Kind: Free}, Inertia: Inertia{Mass: 3, I: rod(1).I.Add(0.1, [3][3]float64{{1}, {0, 1}, {0, 0, 1}})}}},
		Frames: []Frame{{"ramp", "", ramp}, {"foot", "block", ramp}},
		Cuts:   []Cut{{Name: "slide", Kind: CutPrismatic, A: "ramp", B: "foot"}}}
	m, _ := build(t, free)
	step, y := newStepper(t, m, Options{Friction: map[string]friction.Model{"slide": &friction.Coulomb{Mu: mu}}})
	x := step.NewState(m.Neutral(), make([]float64, 6))
	for range 1000 {
		if st := step.Step(1e-3, x, make([]float64, 6), y); st != engine.OK {
			t.Fatal(st)
		}
	}
	sin, cos := math.Sincos(alpha)
	want := 0.5 * 9.81 * (sin - mu*cos)
	if s := math.Hypot(x[4], x[6]); math.Abs(s-want) > 1e-6 {
		t.Errorf("slid %.9g m, want %.9g", s, want)
	}
	if f := y[5]; step.Layout().Outputs[5].Name != "slide.friction" || math.Abs(f-mu*cos*3*9.81) > 1e-6 {
		t.Errorf("%s %.9g N, want %.9g", step.Layout().Outputs[5].Name, f, mu*cos*3*9.81)
	}
	if n := testing.AllocsPerRun(20, func() { step.Step(1e-3, x, make([]float64, 0, 6)[:6], y) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A law on what has no one axis is refused by name.
func TestCutFrictionRefuses(t *testing.T) {
	s := crankRocker(CutPoint)
	s.Cuts = append(s.Cuts, Cut{Name: "ball", Kind: CutSpherical, A: "coupler end", B: "rocker end"}, Cut{Name: "crank", Kind: CutRevolute, A: "coupler end", B: "rocker end"})
	m, _ := build(t, s)
	for name, says := range map[string]string{
		"ball":  `cut "ball" has no one axis`,
		"crank": `"crank" is a joint and a cut`,
		"pen":   `unknown joint "pen"`,
	} {
		if _, err := NewStepper(m, Options{Friction: map[string]friction.Model{name: &friction.Coulomb{Fc: 1}}}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
	if _, err := m.Cut("bal"); err == nil || !strings.Contains(err.Error(), `unknown cut "bal" (did you mean "ball"?)`) {
		t.Error(err)
	}
}
