package multibody

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/rotation"
)

// The benchmarks of the multibody community, from their public descriptions: [MM08] is the IVP test set, [GDLC06] the library of the
// University of A Coruña that IFToMM took over.

// total is the energy of a machine.
func total(m *Model, d *Data, q, v []float64) float64 {
	Velocities(m, d, q, v)
	k, p := Energy(m, d, q, v)
	return k + p
}

// follow runs a machine offline to end and looks at it every dt; it returns the largest drift of energy.
func follow(t *testing.T, m *Model, d *Data, q, v []float64, dt, end float64, look func(t float64, q, v []float64)) (drift float64) {
	t.Helper()
	start := total(m, d, q, v)
	o := NewOffline(m, d, nil, nil)
	o.Start(0, q, v)
	for k := 1; float64(k)*dt <= end*(1+1e-12); k++ {
		if err := o.Run(float64(k) * dt); err != nil {
			t.Fatal(err)
		}
		drift = math.Max(drift, math.Abs(total(m, d, o.Q(), o.V())-start))
		look(o.T, o.Q(), o.V())
	}
	if o.Status != OK || o.Gap > 1e-10 || o.Rate > 1e-10 {
		t.Errorf("%v, constraints missed by %.2g, rates by %.2g", o.Status, o.Gap, o.Rate)
	}
	t.Logf("energy %.6g J drifts by %.2g J, constraints within %.2g and %.2g, %d leaps", start, drift, o.Gap, o.Rate, o.Leaps)
	return drift
}

// squeezer is Andrews' squeezer: seven bodies in a plane, 0.033 N·m on the first, a spring on the third [MM08]. Three loops meet in one
// point.
func squeezer() Spec {
	body := func(name, parent string, x, y, mass, cx, cy, inertia float64) Body {
		return Body{Name: name, Parent: parent, Place: At(x, y, 0), Joint: Joint{Kind: Revolute}, Inertia: Inertia{
			Mass: mass, Com: r3.Vec{X: cx, Y: cy}, I: rotation.Diag(r3.Vec{X: inertia / 2, Y: inertia / 2, Z: inertia}),
		}}
	}
	return Spec{
		Bodies: []Body{
			body("K1", "", 0, 0, 0.04325, 92e-5, 0, 2.194e-6),
			body("K2", "K1", 7e-3, 0, 0.00365, -115e-4, 0, 4.41e-7),
			body("K3", "", -0.03635, 0.03273, 0.02373, 1043e-5, -1874e-5, 5.255e-6),
			body("K5", "", -0.06934, -0.00227, 0.0705, 2308e-5, 916e-5, 1.169e-5),
			body("K4", "K5", 4e-2, 0, 0.00706, 0, 1421e-5-2e-2, 5.667e-7),
			body("K7", "", -0.06934, -0.00227, 0.05498, -1228e-5, -449e-5, 1.912e-5),
			body("K6", "K7", 0, -4e-2, 0.00706, 2e-2-1421e-5, 0, 5.667e-7),
		},
		Frames: []Frame{
			{"C2", "K2", At(-28e-3, 0, 0)}, {"C3", "K3", At(0, -35e-3, 0)}, {"C4", "K4", At(0, -2e-2, 0)}, {"C6", "K6", At(2e-2, 0, 0)},
			{"D", "K3", At(2e-2, -18e-3, 0)}, {"C", "", At(0.014, 0.072, 0)},
		},
		Cuts:    []Cut{{"3", CutPoint, "C2", "C3", 0}, {"4", CutPoint, "C2", "C4", 0}, {"6", CutPoint, "C2", "C6", 0}},
		Springs: []Spring{{Name: "spring", A: "D", B: "C", Stiffness: 4530, Length: 0.07785}},
	}
}

// squeezerStart is the position of the test set at rest.
func squeezerStart(t *testing.T, m *Model, d *Data) (q, v []float64) {
	t.Helper()
	beta, theta, gamma, phi, delta, omega, epsilon := -0.0617138900142764496, 0.0, 0.45527981916307038, 0.222668390165885884,
		0.48736497954384255, -0.222668390165885884, 1.230547444549821192
	q, v = []float64{beta, theta, gamma, delta, phi, epsilon, omega}, make([]float64, 7)
	a, err := Assemble(m, d, q, v, Assembly{})
	if err != nil || a.DOF != 1 || a.PositionChange > 1e-14 || len(a.Redundant) > 0 {
		t.Fatal(a, err)
	}
	return q, v
}

// squeezerEnd is the position at 0.03 s.
var squeezerEnd = []float64{15.81077119629904, -15.75637105984298, 0.04082224013073101, 0.5244099658805304, -0.5347301163226948,
	1.048080741042263, 0.5347301163226948}

// Andrews' squeezer at 0.03 s against the reference of the test set (PSIDE, 1e-14): β Θ γ Φ δ Ω ε and their rates.
func TestAndrews(t *testing.T) {
	m, d := build(t, squeezer())
	q, v := squeezerStart(t, m, d)
	Dynamics(m, d, q, v, []float64{0.033, 0, 0, 0, 0, 0, 0})
	near(t, "first accelerations", d.QDD[:2], []float64{14222.4439199541138705911625887, -10666.8329399655854029433719415}, 1e-10)
	wantQ := squeezerEnd
	wantV := []float64{1139.920302151208, -1424.379294994111, 11.03291221937134, 0.5735699284790808, 19.29337464421385, 0.3231791658026955,
		-19.29337464421385}
	o := NewOffline(m, d, func(t float64, q, v, tau []float64) { tau[0] = 0.033 }, nil)
	o.Rtol, o.Atol = 1e-11, 1e-11
	o.Start(0, q, v)
	if err := o.Run(0.03); err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, w := range wantQ {
		worst = math.Max(worst, math.Abs(o.Q()[i]-w))
	}
	if worst > 1e-6 || o.Gap > 1e-10 {
		t.Errorf("coordinates at 0.03 s differ by %.3g rad (%v), constraints by %.2g", worst, o.Q(), o.Gap)
	}
	near(t, "rates at 0.03 s", o.V(), wantV, 1e-6)
	t.Logf("%d steps, coordinates within %.2g rad, constraints within %.2g", o.Accepted, worst, o.Gap)
}

// The simple pendulum in coordinates x, y: a point of 1 kg 1 m from the origin, let go in the horizontal [GDLC06] A01.
func TestSimplePendulum(t *testing.T) {
	s := Spec{
		Gravity: r3.Vec{Y: -9.81},
		Bodies: []Body{
			{Name: "x", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}},
			{Name: "y", Parent: "x", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{Y: 1}}, Inertia: Inertia{Mass: 1}},
		},
		Cuts: []Cut{{Name: "rod", Kind: CutDistance, A: "ground", B: "y", Length: 1}},
	}
	m, d := build(t, s)
	// the angle by itself: φ″ = −g·cos φ from φ = 0, here −π…0
	angle := engine.NewDormandPrince(func(t float64, x, dx []float64) { dx[0], dx[1] = x[1], -9.81*math.Cos(x[0]) }, 2)
	angle.Rtol, angle.Atol = 1e-12, 1e-12
	angle.Start(0, []float64{-math.Pi, 0})
	worst := 0.0
	drift := follow(t, m, d, []float64{-1, 0}, []float64{0, 0}, 0.1, 10, func(at float64, q, v []float64) {
		for angle.T < at {
			if err := angle.Step(at); err != nil {
				t.Fatal(err)
			}
		}
		sin, cos := math.Sincos(angle.X[0])
		worst = math.Max(worst, math.Hypot(q[0]-cos, q[1]-sin))
	})
	if worst > 1e-6 || drift > 1e-6 {
		t.Errorf("off by %.2g m, energy by %.2g J", worst, drift)
	}
}

// fourBars is n parallelograms in a row: n+1 standing rods and n lying ones, 1 m and 1 kg each [GDLC06] A02.
func fourBars(n int) Spec {
	s := Spec{Gravity: r3.Vec{Y: -9.81}}
	thin := Inertia{Mass: 1, Com: r3.Vec{X: 0.5}, I: rotation.Diag(r3.Vec{Y: 1.0 / 12, Z: 1.0 / 12})}
	name := func(kind string, i int) string { return kind + string(rune('0'+i)) }
	for i := range n + 1 {
		s.Bodies = append(s.Bodies, Body{Name: name("post", i), Place: At(float64(i), 0, 0), Joint: Joint{Kind: Revolute}, Inertia: thin})
		s.Frames = append(s.Frames, Frame{name("top", i), name("post", i), At(1, 0, 0)})
	}
	for i := range n {
		s.Bodies = append(s.Bodies, Body{Name: name("beam", i), Parent: name("post", i), Place: At(1, 0, 0), Joint: Joint{Kind: Revolute},
			Inertia: thin})
		s.Frames = append(s.Frames, Frame{name("end", i), name("beam", i), At(1, 0, 0)})
		s.Cuts = append(s.Cuts, Cut{Name: name("pin", i), Kind: CutPoint, A: name("end", i), B: name("top", i+1)})
	}
	return s
}

// fourBarsStart is upright, with the top of the first post at 1 m/s along x.
func fourBarsStart(n int) (q, v []float64) {
	q, v = make([]float64, 2*n+1), make([]float64, 2*n+1)
	for i := range n + 1 {
		q[i], v[i] = math.Pi/2, -1
	}
	for i := range n {
		q[n+1+i], v[n+1+i] = -math.Pi/2, 1
	}
	return q, v
}

// fallingPosts integrates the angle of the posts by itself.
func fallingPosts(n int) *engine.DormandPrince {
	k := float64(n)
	angle := engine.NewDormandPrince(func(t float64, x, dx []float64) {
		dx[0], dx[1] = x[1], -9.81*((k+1)/2+k)/((k+1)/3+k)*math.Cos(x[0])
	}, 2)
	angle.Rtol, angle.Atol = 1e-13, 1e-13
	angle.Start(0, []float64{math.Pi / 2, -1})
	return angle
}

// The row of four-bars falls through its flat position, where it could fold in n+1 ways, and keeps to the motion of a parallelogram:
// ((n+1)/3 + n)·θ″ = −g·((n+1)/2 + n)·cos θ.
func TestFourBarsThroughSingular(t *testing.T) {
	for _, n := range []int{2, 4} {
		m, d := build(t, fourBars(n))
		q, v := fourBarsStart(n)
		a, err := Assemble(m, d, q, v, Assembly{})
		if err != nil || a.DOF != 1 || a.PositionChange > 1e-15 {
			t.Fatal(a, err)
		}
		angle := fallingPosts(n)
		worst := 0.0
		drift := follow(t, m, d, q, v, 0.05, 10, func(at float64, q, v []float64) {
			for angle.T < at {
				if err := angle.Step(at); err != nil {
					t.Fatal(err)
				}
			}
			for i := range n + 1 {
				worst = math.Max(worst, math.Abs(q[i]-angle.X[0]))
			}
		})
		if worst > 1e-5 || drift > 1e-6 {
			t.Errorf("n = %d: off by %.2g rad, energy by %.2g J", n, worst, drift)
		}
		t.Logf("n = %d: turned to %.6f rad, off by %.2g", n, angle.X[0], worst)
	}
}

// bricard is Bricard's mechanism: five rods along edges of a cube and six hinges, each across both of its rods [GDLC06] A04. Grübler
// counts no degree of freedom, it has one.
func bricard() Spec {
	x, y, z := r3.Vec{X: 1}, r3.Vec{Y: 1}, r3.Vec{Z: 1}
	along := []r3.Vec{x, r3.Scale(-1, y), z, r3.Scale(-1, x), y}
	axis := []r3.Vec{y, z, x, y, z}
	s := Spec{Gravity: r3.Vec{Y: -9.81}}
	parent, place := "", Pose{}
	for i, e := range along {
		// 1 m × 0.1 m × 0.1 m, 1 kg
		across, long := (0.01+0.01)/12, (1+0.01)/12
		i3 := rotation.Eye.Scale(long).Add(across-long, rotation.OuterProduct(e, e))
		name := string(rune('1' + i))
		s.Bodies = append(s.Bodies, Body{Name: name, Parent: parent, Place: place, Joint: Joint{Kind: Revolute, Axis: axis[i]},
			Inertia: Inertia{Mass: 1, Com: r3.Scale(0.5, e), I: i3}})
		parent, place = name, Pose{P: e}
	}
	toX := r3.Vec{Y: math.Pi / 2} // the last hinge turns about x: z of the frames to x
	s.Frames = []Frame{{"P5", "5", Pose{P: y}.Turned(toX)}, {"Q5", "", At(0, 0, 1).Turned(toX)}}
	s.Cuts = []Cut{{Name: "hinge", Kind: CutRevolute, A: "Q5", B: "P5"}}
	return s
}

// Bricard's mechanism swings: its angles keep the closed form of the mechanism, three of them equal and the other three,
// cos α + cos β + cos α·cos β = 0 with the angles between the rods.
func TestBricard(t *testing.T) {
	m, d := build(t, bricard())
	q, v := make([]float64, 5), make([]float64, 5)
	a, err := Assemble(m, d, q, v, Assembly{})
	if err != nil || a.DOF != 1 || len(a.Redundant) != 1 || a.Singular {
		t.Fatalf("%+v, %v: want 1 degree of freedom and 1 redundant equation of 5", a, err)
	}
	worst, swing := 0.0, 0.0
	drift := follow(t, m, d, q, v, 0.05, 10, func(at float64, q, v []float64) {
		swing = math.Max(swing, math.Abs(q[0]))
		a, b := math.Sin(q[0]), math.Sin(q[1]) // cosines of the angles between the rods, which are right at the start
		for _, e := range []float64{q[0] - q[2], q[0] - q[4], q[1] - q[3], a + b + a*b} {
			worst = math.Max(worst, math.Abs(e))
		}
	})
	t.Logf("swings by %.3f rad, closed form within %.2g", swing, worst)
	if worst > 1e-9 || drift > 1e-6 || swing < 0.5 {
		t.Errorf("closed form missed by %.2g, energy by %.2g J, swing %.3g rad", worst, drift, swing)
	}
}

// A slider-crank with equal lengths folds onto itself every half turn, where crank and rod could go on turning together; it unfolds
// again: the rod stays the mirror image of the crank, and the energy what it was.
func TestSliderCrankThroughFold(t *testing.T) {
	s := Spec{
		Bodies: []Body{
			{Name: "crank", Joint: Joint{Kind: Revolute}, Inertia: rod(1)},
			{Name: "rod", Parent: "crank", Place: At(1, 0, 0), Joint: Joint{Kind: Revolute}, Inertia: rod(1)},
			{Name: "slider", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}, Inertia: Inertia{Mass: 1}},
		},
		Frames: []Frame{{"end", "rod", At(1, 0, 0)}},
		Cuts:   []Cut{{Name: "pin", Kind: CutPoint, A: "end", B: "slider"}},
	}
	m, d := build(t, s)
	q, v := []float64{0.5, -1, 2 * math.Cos(0.5)}, []float64{4, 0, 0}
	if a, err := Assemble(m, d, q, v, Assembly{Hold: []string{"crank"}}); err != nil || a.DOF != 1 {
		t.Fatal(a, err)
	}
	worst, turned := 0.0, 0.0
	drift := follow(t, m, d, q, v, 0.1, 5, func(at float64, q, v []float64) {
		turned = q[0]
		worst = math.Max(worst, math.Max(math.Abs(q[1]+2*q[0]), math.Abs(q[2]-2*math.Cos(q[0]))))
	})
	if worst > 1e-9 || drift > 1e-6 || turned < 12 {
		t.Errorf("turned %g rad, off the mirror image by %.2g, energy by %.2g J", turned, worst, drift)
	}
}
