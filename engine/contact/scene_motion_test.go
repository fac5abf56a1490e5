package contact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// bothEngines runs a scene for a time (s) and returns where it ends.
func bothEngines(t *testing.T, spec SceneSpec, end, h float64, check func(engine string, q, u []float64)) {
	t.Helper()
	s := mustScene(t, spec)
	f := s.DOF()
	q, u := make([]float64, f), make([]float64, f)
	s.Start(q, u)
	m, err := NewMoreau(s, MoreauOptions{Step: h})
	if err != nil {
		t.Fatal(err)
	}
	for k := range int(math.Round(end / h)) {
		if r := m.Step(float64(k)*h, q, u); r.Status != 0 {
			t.Fatalf("Moreau: step %d: %v", k, r.Status)
		}
	}
	check("Moreau", q, u)
	s = mustScene(t, spec)
	s.Start(q, u)
	e, err := NewEventDriven(s, EventOptions{Reach: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(0, q, u); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(end, nil); err != nil {
		t.Fatal(err)
	}
	e.State(q, u)
	check("EventDriven", q, u)
}

const weight = 9.81 // m/s²

func inclineScene(shape Shape, height, mu, alpha float64) SceneSpec {
	sin, cos := math.Sincos(alpha)
	return SceneSpec{
		Gravity: [2]float64{0, -weight},
		Bodies: []BodySpec{
			{Name: "slope", Locked: [3]bool{true, true, true}, Shape: Shape{HalfPlane: true}, Pose: [3]float64{0, 0, -alpha}},
			{Name: "body", Mass: 2, Inertia: 2 * 0.01 / 2, Shape: shape, Pose: [3]float64{height * sin, height * cos, -alpha}},
		},
		Pairs: []PairSpec{{A: "body", B: "slope", Law: Law{Mu: mu}}},
	}
}

func TestBlockOnASlopeSticksOrSlides(t *testing.T) {
	box := mustOutline(t)(Rectangle(0.3, 0.1, 0.01))
	const alpha, end = 0.3, 0.5
	for _, mu := range []float64{0.2, 0.35} {
		bothEngines(t, inclineScene(Shape{Outline: box}, 0.05, mu, alpha), end, 1e-3, func(engine string, q, u []float64) {
			a := math.Max(0, weight*(math.Sin(alpha)-mu*math.Cos(alpha)))
			v := u[0]*math.Cos(alpha) - u[1]*math.Sin(alpha)
			off := u[0]*math.Sin(alpha) + u[1]*math.Cos(alpha)
			if math.Abs(v-a*end) > 2e-3*weight || math.Abs(off) > 1e-6 || math.Abs(u[2]) > 1e-6 {
				t.Errorf("%s, mu = %g: speed %g, want %g; off the slope at %g, turning at %g", engine, mu, v, a*end, off, u[2])
			}
		})
	}
}

// A disc on a slope rolls with ⅔·g·sin α when μ ≥ tan α/3, otherwise it slides with g·(sin α − μ·cos α).
func TestDiscRollsOrSlidesDownASlope(t *testing.T) {
	const alpha, end, r = 0.5, 0.5, 0.1
	for _, mu := range []float64{0.1, 0.3} {
		bothEngines(t, inclineScene(Shape{Radius: r}, r, mu, alpha), end, 1e-4, func(engine string, q, u []float64) {
			a, spin := weight*(math.Sin(alpha)-mu*math.Cos(alpha)), -mu*weight*math.Cos(alpha)*2/r
			if mu > math.Tan(alpha)/3 {
				a = 2.0 / 3 * weight * math.Sin(alpha)
				spin = -a / r
			}
			v := u[0]*math.Cos(alpha) - u[1]*math.Sin(alpha)
			if math.Abs(v-a*end) > 1e-3 || math.Abs(u[2]-spin*end) > 1e-2 {
				t.Errorf("%s, mu = %g: speed %g and spin %g, want %g and %g", engine, mu, v, u[2], a*end, spin*end)
			}
		})
	}
}

// A polygon of 720 sides rolls almost like the disc; its contacts pass from vertex to vertex.
func TestPolygonRollsLikeADisc(t *testing.T) {
	o := mustOutline(t)(RegularPolygon(720, 0.1, -math.Pi/2-math.Pi/720))
	spec := inclineScene(Shape{Outline: o}, 0.1*math.Cos(math.Pi/720), 0.5, 0.1)
	s := mustScene(t, spec)
	q, u := make([]float64, 3), make([]float64, 3)
	s.Start(q, u)
	m, err := NewMoreau(s, MoreauOptions{Step: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 5000 {
		if r := m.Step(float64(k)*1e-4, q, u); r.Status != 0 {
			t.Fatalf("step %d: %v", k, r.Status)
		}
	}
	v := u[0]*math.Cos(0.1) - u[1]*math.Sin(0.1)
	if want := 2.0 / 3 * weight * math.Sin(0.1) * 0.5; math.Abs(v-want) > 0.05*want || math.Abs(u[2]+v/0.1) > 1e-3*want/0.1 {
		t.Errorf("speed %g, want %g; spin %g", v, want, u[2])
	}
}

// The forces of springs and mounts against the slope of their energy, written down here again; dampers against their power.
func TestSpringForcesAgainstTheirEnergy(t *testing.T) {
	spec := SceneSpec{
		Gravity: [2]float64{0.3, -weight},
		Bodies: []BodySpec{
			{Name: "a", Mass: 2, Inertia: 0.1, Pose: [3]float64{0.1, 0.2, 0.3}},
			{Name: "b", Mass: 3, Inertia: 0.2, Pose: [3]float64{1.1, -0.2, -0.4}, Locked: [3]bool{false, true, false}},
		},
		Springs: []SpringSpec{
			{A: "a", B: "b", PA: Point{0.1, 0.05}, PB: Point{-0.2, 0.1}, Stiffness: 100, Tension: 4},
			{A: "", B: "a", PA: Point{-1, 1}, PB: Point{0.02, -0.1}, Stiffness: 50, Tension: -3},
			{A: "b", B: "", PA: Point{0.3, 0}, PB: Point{2, 2}, Stiffness: 70, Tension: 1, Linearized: true},
		},
		Mounts: []MountSpec{{Body: "b", Stiffness: [3]float64{30, 40, 2}}},
		Forces: []ForceSpec{{Body: "a", Point: Point{0.2, 0.1}, Constant: [3]float64{2, 1, 0.3}}},
	}
	s := mustScene(t, spec)
	f := s.DOF()
	if f != 5 {
		t.Fatalf("%d coordinates", f)
	}
	q0, u := make([]float64, f), make([]float64, f)
	s.Start(q0, u)
	body := func(q []float64, i int) [3]float64 {
		if i == 0 {
			return [3]float64{q[0], q[1], q[2]}
		}
		return [3]float64{q[3], -0.2, q[4]}
	}
	world := func(p [3]float64, x, y float64) (float64, float64) {
		s, c := math.Sincos(p[2])
		return p[0] + c*x - s*y, p[1] + s*x + c*y
	}
	length := func(q []float64, i int) float64 {
		var ax, ay, bx, by float64
		a, b := body(q, 0), body(q, 1)
		switch i {
		case 0:
			ax, ay = world(a, 0.1, 0.05)
			bx, by = world(b, -0.2, 0.1)
		case 1:
			ax, ay = -1, 1
			bx, by = world(a, 0.02, -0.1)
		case 2:
			ax, ay = world(b, 0.3, 0)
			bx, by = 2, 2
		}
		return math.Hypot(ax-bx, ay-by)
	}
	lSlope := make([]float64, f) // of the small spring, at the start
	for k := range q0 {
		q := append([]float64(nil), q0...)
		q[k] += 1e-6
		hi := length(q, 2)
		q[k] -= 2e-6
		lSlope[k] = (hi - length(q, 2)) / 2e-6
	}
	energy := func(q []float64) float64 {
		e := 0.0
		for i, k := range []float64{100, 50, 70} {
			d := length(q, i) - length(q0, i)
			if i == 2 {
				d = 0
				for j := range q {
					d += lSlope[j] * (q[j] - q0[j])
				}
			}
			e += k*d*d/2 + []float64{4, -3, 1}[i]*d
		}
		a, b := body(q, 0), body(q, 1)
		e += 30*(b[0]-1.1)*(b[0]-1.1)/2 + 2*(b[2]+0.4)*(b[2]+0.4)/2
		e -= 2*(0.3*a[0]-weight*a[1]) + 3*0.3*b[0]
		px, py := world(a, 0.2, 0.1)
		return e - 2*px - py - 0.3*a[2]
	}
	rng := rand.New(rand.NewPCG(1, 1))
	load := make([]float64, f)
	for range 20 {
		q := make([]float64, f)
		for k := range q {
			q[k] = q0[k] + 0.5*(rng.Float64()-0.5)
		}
		s.Force(0, q, u, load)
		for k := range q {
			p := append([]float64(nil), q...)
			p[k] += 1e-6
			hi := energy(p)
			p[k] -= 2e-6
			if want := -(hi - energy(p)) / 2e-6; math.Abs(load[k]-want) > 1e-7*(1+math.Abs(want)) {
				t.Fatalf("force along %v: %g, want %g", s.Coordinates()[k], load[k], want)
			}
		}
	}
}

// Linear is the slope of the forces where all parts are linear, dampers included, and driven bodies act through the same parts.
func TestLinearIsTheSlopeOfTheForces(t *testing.T) {
	s := mustScene(t, SceneSpec{
		Bodies: []BodySpec{
			{Name: "a", Mass: 2, Inertia: 0.1, Pose: [3]float64{0.1, 0.2, 0.3}},
			{Name: "b", Mass: 3, Inertia: 0.2, Pose: [3]float64{1.1, -0.2, -0.4}},
			{Name: "c", Drive: [3]*Drive{{Rate: 1}, {Amplitude: 0.1, Omega: 3}, {Rate: -2}}},
		},
		Springs: []SpringSpec{
			{A: "a", B: "b", PA: Point{0.1, 0.05}, PB: Point{-0.2, 0.1}, Stiffness: 100, Damping: 3, Tension: 4, Linearized: true},
			{A: "c", B: "b", PA: Point{0.1, 0.05}, PB: Point{-0.2, 0.1}, Stiffness: 20, Damping: 1, Linearized: true},
		},
		Mounts: []MountSpec{{Body: "b", Stiffness: [3]float64{30, 40, 2}, Damping: [3]float64{1, 2, 3}}},
	})
	const f = 6
	var k, c [f * f]float64
	s.Linear(k[:], c[:])
	q, u, at, lo := make([]float64, f), make([]float64, f), make([]float64, f), make([]float64, f)
	s.Start(q, u)
	for _, m := range []struct {
		what []float64
		of   []float64
	}{{k[:], q}, {c[:], u}} {
		for j := range f {
			m.of[j] += 0.5
			s.Force(0.4, q, u, at)
			m.of[j] -= 1
			s.Force(0.4, q, u, lo)
			m.of[j] += 0.5
			for i := range f {
				if d := lo[i] - at[i]; math.Abs(d-m.what[i*f+j]) > 1e-11 || m.what[i*f+j] != m.what[j*f+i] {
					t.Fatalf("row %d, column %d: %g, forces say %g", i, j, m.what[i*f+j], d)
				}
			}
		}
	}
	// the only motion is that of c: dampers and springs pull along
	s.Force(0.4, q, u, at)
	if at[3] == 0 || at[5] == 0 {
		t.Error("the driven body pulls at nothing")
	}
}
