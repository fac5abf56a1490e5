package multibody

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/rotation"
)

// pointAbove is the relation z(frame) = h of a frame, as a user would write it.
type pointAbove struct {
	frame int
	h     float64
}

func (p *pointAbove) Relate(m *Model, d *Data, q, v []float64, to Equations) {
	_, at := m.FramePose(d, p.frame)
	to.G[0] = at.Z - p.h
	s := &d.body[m.BodyOf(p.frame)]
	for i := range to.Jac {
		to.Jac[i] = 0
	}
	for i := m.lastVelocity(m.BodyOf(p.frame)); i >= 0; i = m.dof[i].parent {
		to.Jac[i] = m.columnAt(d, i, at).Z
	}
	to.Bias[0] = accelerationAt(s, r3.Sub(at, s.pos)).Z + m.gravity.Z
}

// Jacobian and bias of every constraint are the slopes of its equations along a motion, also where these are far from being met.
func TestConstraintSlopes(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for try := range 60 {
		s := randomSpec(r, 9)
		s.Bodies[8].Joint = Joint{Kind: Revolute, Axis: r3.Vec{X: 1}}
		s.Bodies[7].Joint = Joint{Kind: Prismatic, Axis: r3.Vec{Y: 1}}
		s.Bodies[6].Joint, s.Bodies[6].Parent = Joint{Kind: Free}, ""
		s.Frames = []Frame{
			{Name: "a", Body: []string{"b8", "ground"}[try%2], Pose: At(0.1, 0.2, 0.3).Turned(r3.Vec{X: 1, Z: 2})},
			{Name: "b", Body: "b6", Pose: At(-0.1, 0.2, 0.5).Turned(r3.Vec{Y: 1, Z: -2})},
		}
		for k := range cutNames {
			s.Cuts = append(s.Cuts, Cut{Name: cutNames[k], Kind: CutKind(k), A: "a", B: "b", Length: 0.7})
		}
		s.Couplings = []Coupling{{Name: "gear", Offset: 0.3, Terms: []Term{{"b8", 1}, {"b7", -3}}}}
		s.Drives = []Drive{{Name: "motor", Joint: "b8"}}
		above := &pointAbove{h: 0.2}
		s.Relations = []Relation{{Name: "plane", Rows: []string{"z"}, Relater: above}}
		m, d := build(t, s)
		above.frame, _ = m.Frame("b")
		q, v, a := motion(r, m)
		at, mid, rate := make([]float64, m.NQ()), make([]float64, m.NV()), make([]float64, m.NV())
		evaluate := func(h float64) (g []float64) {
			for i := range v {
				mid[i], rate[i] = v[i]+h/2*a[i], v[i]+h*a[i]
			}
			// to third order the motion with constant dv/dt: Integrate(mid) is Magnus' second-order scheme
			Integrate(m, q, mid, h, at)
			d.Drive(0, Motion{X: 0.4 + 0.5*h + 0.35*h*h, V: 0.5 + 0.7*h, A: 0.7})
			if st := m.prepare(d, at, rate); st != OK {
				t.Fatal(st)
			}
			return d.GRate
		}
		const h = 1e-5
		ahead := slices.Clone(evaluate(h))
		gAhead := slices.Clone(d.G)
		behind := slices.Clone(evaluate(-h))
		gBehind := slices.Clone(d.G)
		evaluate(0)
		n := m.NV()
		for k, name := range m.Constraints() {
			slope := floats.Dot(d.Jac[k*n:(k+1)*n], a) + d.Bias[k]
			if x := (gAhead[k] - gBehind[k]) / (2 * h); math.Abs(x-d.GRate[k]) > 1e-7*(1+math.Abs(x)) {
				t.Fatalf("%s: dg/dt = %.9g, difference quotient %.9g", name.Name, d.GRate[k], x)
			}
			if x := (ahead[k] - behind[k]) / (2 * h); math.Abs(x-slope) > 1e-6*(1+math.Abs(x)) {
				t.Fatalf("%s: d²g/dt² = %.9g, difference quotient %.9g", name.Name, slope, x)
			}
		}
	}
}

// fiveBodies is the machine of the source's figure 2 with bodies and joints of this program: 5 bodies in a branched tree, joints 6
// and 7 cut. One joint of each kind is in it.
func fiveBodies() Spec {
	r := rand.New(rand.NewPCG(31, 32))
	vector := func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} }
	s := Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{
		{Name: "B1", Joint: Joint{Kind: Revolute, Axis: r3.Vec{Z: 1}}},
		{Name: "B2", Parent: "B1", Place: At(0.5, 0, 0.2), Joint: Joint{Kind: Spherical}},
		{Name: "B3", Parent: "B1", Place: At(-0.5, 0, 0.2), Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1, Z: 0.5}}},
		{Name: "B4", Parent: "B2", Place: At(0, 0.6, 0), Joint: Joint{Kind: Revolute, Axis: r3.Vec{X: 1}}},
		{Name: "B5", Parent: "B3", Place: At(0, 0.7, 0), Joint: Joint{Kind: Revolute, Axis: r3.Vec{Y: 1, X: 0.2}}},
	}}
	for i := range s.Bodies {
		s.Bodies[i].Inertia = randomInertia(r, vector)
	}
	s.Frames = []Frame{
		{Name: "H6 on B4", Body: "B4", Pose: At(-0.4, 0.2, 0)}, {Name: "H6 on B5", Body: "B5", Pose: At(0.5, 0.1, 0)},
		{Name: "H7 on B4", Body: "B4", Pose: At(0, 0.5, 0.3)}, {Name: "H7", Pose: At(0.5, 1.5, 0.3)},
	}
	s.Cuts = []Cut{{Name: "H6", Kind: CutSpherical, A: "H6 on B4", B: "H6 on B5"},
		{Name: "H7", Kind: CutDistance, A: "H7", B: "H7 on B4", Length: 0.5}}
	return s
}

// By recursion: accelerations by ABA alone, to a unit of each multiplier as a wrench on the bodies, give the multipliers; the KKT form
// by H and the Delassus matrix gives the same, and so does coordinate partitioning.
func TestFiveBodiesByRecursion(t *testing.T) {
	m, d := build(t, fiveBodies())
	q, v, tau := m.Neutral(), make([]float64, m.NV()), make([]float64, m.NV())
	for i := range v {
		v[i], tau[i] = math.Sin(float64(3*i)), math.Cos(float64(2*i))
	}
	a, err := Assemble(m, d, q, v, Assembly{})
	if err != nil || a.DOF != 3 || len(a.Redundant) != 0 {
		t.Fatalf("%v, %v", a, err)
	}
	if st := Dynamics(m, d, q, v, tau); st != OK {
		t.Fatal(st)
	}
	kkt, lambda := slices.Clone(d.QDD), slices.Clone(d.Lambda)
	jac, bias := slices.Clone(d.Jac), slices.Clone(d.Bias)

	// wrenches of unit multipliers, from CutForce
	n, nc := m.NV(), m.NC()
	push := func(x []float64) {
		copy(d.Lambda, x)
		for k := range m.loops.cuts {
			c := &m.loops.cuts[k]
			moment, force := m.CutForce(d, k)
			b := &d.body[c.b]
			p := r3.Add(b.pos, turn(&b.rot, c.pb))
			d.PushAt(c.b, p, force)
			d.Push(c.b, Wrench{M: moment})
			d.PushAt(c.a, p, r3.Scale(-1, force))
			d.Push(c.a, Wrench{M: r3.Scale(-1, moment)})
		}
	}
	accelerations := func(x []float64) []float64 {
		Velocities(m, d, q, v)
		d.Release()
		push(x)
		if st := ABA(m, d, q, v, tau); st != OK {
			t.Fatal(st)
		}
		d.Release()
		return slices.Clone(d.QDD)
	}
	free := accelerations(make([]float64, nc))
	matrix, right := make([]float64, nc*nc), make([]float64, nc)
	for k := range nc {
		unit := make([]float64, nc)
		unit[k] = 1
		response := accelerations(unit)
		floats.Sub(response, free)
		for r := range nc {
			matrix[r*nc+k] = floats.Dot(jac[r*n:(r+1)*n], response)
		}
		right[k] = -bias[k] - floats.Dot(jac[k*n:(k+1)*n], free)
	}
	if !choleskySolve(matrix, nc, right) {
		t.Fatal("Delassus matrix by ABA is not positive definite")
	}
	near(t, "multipliers by recursion", right, lambda, 1e-11)
	near(t, "accelerations by recursion", accelerations(right), kkt, 1e-11)

	p := NewPartition(m)
	if st := p.Dynamics(d, q, v, tau); st != OK {
		t.Fatal(st)
	}
	near(t, "accelerations by partition", d.QDD, kkt, 1e-11)
}

// Redundant equations are named, and those of a planar loop closed by a spatial hinge do not disturb the motion.
func TestRedundant(t *testing.T) {
	m, d := build(t, crankRocker(CutRevolute))
	q, v := []float64{0.5, 0.28, 1.78}, []float64{1, 0, 0}
	a, err := Assemble(m, d, q, v, Assembly{Hold: []string{"crank"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pin.turn x", "pin.turn y", "pin.z"}
	slices.Sort(a.Redundant)
	if a.DOF != 1 || !slices.Equal(a.Redundant, want) || a.Singular || v[0] != 1 || q[0] != 0.5 || a.PositionChange == 0 ||
		a.VelocityChange == 0 {
		t.Errorf("%+v, want 1 degree of freedom, redundant %q, the crank as it was", a, want)
	}
	Dynamics(m, d, q, v, v)
	flat, fd := build(t, crankRocker(CutPoint))
	Dynamics(flat, fd, q, v, v)
	near(t, "dv/dt", d.QDD, fd.QDD, 1e-12)
	_, fa := m.CutForce(d, 0)
	_, fb := flat.CutForce(fd, 0)
	near(t, "pin", []float64{fa.X, fa.Y, fa.Z}, []float64{fb.X, fb.Y, fb.Z}, 1e-11)
	if s := a.String(); !strings.Contains(s, "1 degrees of freedom") || !strings.Contains(s, "redundant: pin.") {
		t.Errorf("told as %q", s)
	}
}

// Initial conditions that cannot be met are refused with the equations that stay open, and left as they were.
func TestAssembleRefuses(t *testing.T) {
	long := crankRocker(CutPoint)
	long.Bodies[2].Place.P.X = 2
	for _, c := range []struct {
		name string
		spec Spec
		how  Assembly
		says string
	}{
		{"too far apart", long, Assembly{}, "pin.x off by"},
		{"everything held", crankRocker(CutPoint), Assembly{Hold: []string{"crank", "coupler", "rocker"}}, "hold fewer joints"},
		{"limit", crankRocker(CutPoint), Assembly{Limit: 1e-3}, `more than the limit of 0.001`},
		{"unknown joint", crankRocker(CutPoint), Assembly{Hold: []string{"krank"}}, `did you mean "crank"?`},
	} {
		m, d := build(t, c.spec)
		q, v := []float64{0.4, 0.3, 1.5}, []float64{1, 2, 3}
		_, err := Assemble(m, d, q, v, c.how)
		if err == nil || !strings.Contains(err.Error(), c.says) || c.name != "unknown joint" && !errors.Is(err, ErrAssembly) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if !slices.Equal(q, []float64{0.4, 0.3, 1.5}) || !slices.Equal(v, []float64{1, 2, 3}) {
			t.Errorf("%s: start changed to %v, %v", c.name, q, v)
		}
	}
	m, d := build(t, crankRocker(CutPoint))
	if _, err := Assemble(m, d, []float64{math.NaN(), 0, 0}, []float64{0, 0, 0}, Assembly{}); !errors.Is(err, ErrAssembly) {
		t.Errorf("no number: %v", err)
	}
	// a hinge whose axes face each other is met by its equations and refused all the same
	s := crankRocker(CutRevolute)
	s.Frames[1].Pose = At(0.3, 0, 0).Turned(r3.Vec{X: math.Pi})
	m, d = build(t, s)
	if _, err := Assemble(m, d, []float64{0.5, 0.28, 1.78}, make([]float64, 3), Assembly{}); err == nil ||
		!strings.Contains(err.Error(), "point against each other") {
		t.Errorf("axes against each other: %v", err)
	}
}

// parallelogram has two equal cranks; folded flat it can go on in two ways.
func parallelogram() Spec {
	s := crankRocker(CutPoint)
	s.Bodies[1].Inertia, s.Bodies[2].Inertia = rod(0.4), rod(0.1)
	s.Frames[0].Pose, s.Frames[1].Pose = At(0.4, 0, 0), At(0.1, 0, 0)
	return s
}

// In a singular position the status says so, the result is finite, and the motion goes on.
func TestSingularPosition(t *testing.T) {
	m, d := build(t, parallelogram())
	q, v := []float64{0, 0, 0}, []float64{1, -1, 1}
	a, err := Assemble(m, d, q, v, Assembly{})
	if err != nil || !a.Singular || a.DOF != 1 || len(a.Redundant) != 0 {
		t.Fatalf("%+v, %v: want a singular position of a machine with 1 degree of freedom", a, err)
	}
	if st := Dynamics(m, d, q, v, []float64{0, 0, 0}); st != Singular || finiteStatus(d.QDD) != OK || finiteStatus(d.Lambda) != OK {
		t.Errorf("%v: dv/dt %v, λ %v", st, d.QDD, d.Lambda)
	}
	if st := Project(m, d, q, v); st != OK || v[0] != 1 {
		t.Errorf("projection: %v, v = %v", st, v)
	}
	p := NewPartition(m)
	if st := p.Dynamics(d, q, v, []float64{0, 0, 0}); st != Singular || finiteStatus(d.QDD) != OK {
		t.Errorf("partition: %v, %v", st, d.QDD)
	}
	q = []float64{0.3, -0.3, 0.3}
	if st := Dynamics(m, d, q, v, []float64{0, 0, 0}); st != OK {
		t.Errorf("beside the singular position: %v", st)
	}
}

// slidesOnString is a mass on two slides at a distance from a point.
func slidesOnString() Spec {
	return Spec{
		Gravity: r3.Vec{Y: -9.81},
		Bodies: []Body{
			{Name: "x", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}, Inertia: Inertia{}},
			{Name: "y", Parent: "x", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{Y: 1}}, Inertia: Inertia{Mass: 2}},
		},
		Cuts: []Cut{{Name: "string", Kind: CutDistance, A: "ground", B: "y", Length: 0.5}},
	}
}

// A mass on two slides at a distance from a point is a pendulum; its independent coordinate changes every quarter of a turn.
func TestPartitionSwitches(t *testing.T) {
	s := slidesOnString()
	m, d := build(t, s)
	p := NewPartition(m)
	energy := func(q, v []float64) float64 {
		Velocities(m, d, q, v)
		k, u := Energy(m, d, q, v)
		return k + u
	}
	q, v := []float64{0, -0.5}, []float64{6, 0} // fast enough to go round
	start := energy(q, v)
	turns, last := 0.0, 0.0
	const h = 1e-4
	for range 20000 {
		// Heun's method
		tau := []float64{0, 0}
		if st := p.Dynamics(d, q, v, tau); st != OK {
			t.Fatal(st)
		}
		a := slices.Clone(d.QDD)
		q1, v1 := slices.Clone(q), slices.Clone(v)
		floats.AddScaled(q1, h, v)
		floats.AddScaled(v1, h, a)
		p.Dynamics(d, q1, v1, tau)
		for i := range q {
			q[i] += h / 2 * (v[i] + v1[i])
			v[i] += h / 2 * (a[i] + d.QDD[i])
		}
		if st := p.Close(d, q, v); st != OK {
			t.Fatal(st)
		}
		angle := math.Atan2(q[0], -q[1])
		turns += math.Remainder(angle-last, 2*math.Pi)
		last = angle
	}
	drift := math.Abs(energy(q, v) - start)
	if n := turns / (2 * math.Pi); n < 2 || p.Switches < int(3.5*n) || p.Switches > int(4.5*n)+1 {
		t.Errorf("%d switches in %.2f turns, want about 4 a turn", p.Switches, n)
	}
	if drift > 1e-4*start {
		t.Errorf("energy %g J moved by %g J", start, drift)
	}
}

// The same mass with the integrator: it meets the pendulum's equation, integrated alone, and chooses other coordinates as it goes round.
func TestPartitionedIntegrator(t *testing.T) {
	s := slidesOnString()
	pendulum := engine.NewDormandPrince(func(_ float64, x, dx []float64) { dx[0], dx[1] = x[1], -9.81/0.5*math.Sin(x[0]) }, 2)
	pendulum.Rtol, pendulum.Atol = 1e-13, 1e-13
	for _, way := range []float64{6, -6} { // m/s: fast enough to go round, either way
		pendulum.Start(0, []float64{0, way / 0.5})
		for pendulum.T < 2 {
			if err := pendulum.Step(2); err != nil {
				t.Fatal(err)
			}
		}
		m, d := build(t, s)
		o, err := NewIntegrator(ByPartition, m, d, 0, func(t float64, q, v, z, tau, dz []float64) { clear(tau) }, nil, 1e-11, 1e-11)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Start(0, []float64{0, -0.5, way, 0}); err != nil {
			t.Fatal(err)
		}
		for at := 0.0; at < 2; at, _ = o.Reached() {
			if err := o.Step(2); err != nil {
				t.Fatal(err)
			}
		}
		_, x := o.Reached()
		a, w := pendulum.X[0], pendulum.X[1]
		near(t, "mass", x, []float64{0.5 * math.Sin(a), -0.5 * math.Cos(a), 0.5 * w * math.Cos(a), 0.5 * w * math.Sin(a)}, 1e-7)
		turns := math.Abs(a) / (2 * math.Pi)
		if k := o.Stats(); k.Gap > 1e-12 || k.Rate > 1e-11 || k.Choices < int(3.5*turns) || k.Choices > int(4.5*turns)+1 {
			t.Errorf("%.2f turns: %d choices, constraints missed by %.2g, %.2g", turns, k.Choices, k.Gap, k.Rate)
		}
	}
}

// What the joints carry: a hinge below a turning and hanging rod, in closed form, in the tree and cut.
func TestLoads(t *testing.T) {
	const l, w = 0.8, 3.0
	s := Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []Body{{Name: "rod", Joint: Joint{Kind: Revolute, Axis: r3.Vec{Z: 1}}, Inertia: rod(l)}}}
	m, d := build(t, s)
	for _, angle := range []float64{-math.Pi / 2, 0, 0.7} {
		q, v := []float64{angle}, []float64{w}
		Dynamics(m, d, q, v, []float64{0})
		Loads(m, d, v)
		// force on the rod = m(a + g); a = l/2(−w²·e + α·n), α = −1.5 g/l·cos
		sin, cos := math.Sincos(angle)
		alpha := -1.5 * 9.81 / l * cos
		want := []float64{l * l / 2 * (-w*w*cos - alpha*sin), l * (l/2*(-w*w*sin+alpha*cos) + 9.81), 0}
		f := d.Load(1).F
		near(t, "force in the hinge", []float64{f.X, f.Y, f.Z}, want, 1e-12)
		if n := m.NormalLoad(d, 1); math.Abs(n-math.Hypot(want[0], want[1])) > 1e-12 {
			t.Errorf("normal load %g N, want %g", n, math.Hypot(want[0], want[1]))
		}
		// the same rod free, its hinge cut
		c := s
		c.Bodies = slices.Clone(s.Bodies)
		c.Bodies[0].Joint = Joint{Kind: Free}
		c.Bodies[0].Inertia.I[0][0] = 1e-3 // a rod without thickness could spin about itself
		c.Cuts = []Cut{{Name: "hinge", Kind: CutRevolute, A: "ground", B: "rod"}}
		cm, cd := build(t, c)
		g := rotation.Exp(r3.Vec{Z: angle})
		q, v = []float64{g.Real, g.Imag, g.Jmag, g.Kmag, 0, 0, 0}, []float64{0, 0, w, 0, 0, 0}
		if st := Dynamics(cm, cd, q, v, make([]float64, 6)); st != OK {
			t.Fatal(st)
		}
		_, f = cm.CutForce(cd, 0)
		near(t, "force in the cut hinge", []float64{f.X, f.Y, f.Z}, want, 1e-12)
		Loads(cm, cd, v)
		if n := cd.Load(1).F; r3.Norm(n) > 1e-11 {
			t.Errorf("the free joint carries %v N", n)
		}
	}
}

// A gear couples two rotors; a drive moves one. Closed forms.
func TestGearAndDrive(t *testing.T) {
	rotor := func(i float64) Inertia {
		return Inertia{Mass: 1, I: rotation.Diag(r3.Vec{X: i, Y: i, Z: i})}
	}
	hinge := Joint{Kind: Revolute, Axis: r3.Vec{Z: 1}}
	s := Spec{
		Bodies:    []Body{{Name: "motor", Joint: hinge, Inertia: rotor(0.01)}, {Name: "load", Joint: hinge, Inertia: rotor(2)}},
		Couplings: []Coupling{{Name: "gear", Terms: []Term{{"motor", 1}, {"load", -10}}}},
	}
	m, d := build(t, s)
	if st := Dynamics(m, d, []float64{0, 0}, []float64{0, 0}, []float64{0.3, -1}); st != OK {
		t.Fatal(st)
	}
	// (0.01·n² + 2)·α = 0.3·n − 1; the tooth force takes the rest of the motor's torque
	alpha := 2.0 / 3
	near(t, "gear", []float64{d.QDD[0], d.QDD[1], d.Lambda[0]}, []float64{10 * alpha, alpha, 0.01*10*alpha - 0.3}, 1e-13)
	s.Drives = []Drive{{Name: "servo", Joint: "motor"}}
	m, d = build(t, s)
	d.Drive(0, Motion{X: 1, V: 2, A: 5})
	q, v := []float64{0.9, 0.1}, []float64{0, 0}
	if a, err := Assemble(m, d, q, v, Assembly{}); err != nil || a.DOF != 0 || math.Abs(q[1]-0.1) > 1e-12 || math.Abs(v[1]-0.2) > 1e-12 ||
		math.Abs(v[0]-2) > 1e-12 {
		t.Fatalf("%v, %v: q = %v, v = %v", a, err, q, v)
	}
	Dynamics(m, d, q, v, []float64{0, 0})
	near(t, "servo", []float64{d.QDD[0], d.QDD[1], d.Lambda[1]}, []float64{5, 0.5, 0.01*5 + 2*0.5/10}, 1e-13)
	if names := fmt.Sprint(m.Constraints()); names != "[{gear N·m} {servo N·m}]" {
		t.Errorf("multipliers are called %s", names)
	}
}

// Baumgarte's terms pull a start that misses the constraints back: g falls as e^−βt(1 + βt) for α = β.
func TestBaumgarte(t *testing.T) {
	m, d := build(t, crankRocker(CutPoint))
	q, v := crankStart(t, m, d)
	q[1] += 1e-6
	d.Alpha, d.Beta = 50, 50
	m.prepare(d, q, v)
	g0 := slices.Clone(d.G)
	const h, n = 1e-5, 4000
	for range n {
		Dynamics(m, d, q, v, []float64{0, 0, 0})
		floats.AddScaled(v, h, d.QDD)
		Integrate(m, q, v, h, q)
	}
	m.prepare(d, q, v)
	x := 50 * h * n
	fall := math.Exp(-x) * (1 + x)
	for i := range g0 {
		if math.Abs(d.G[i]-fall*g0[i]) > 0.03*largest(g0) {
			t.Errorf("g[%d] went from %g to %g, want %g", i, g0[i], d.G[i], fall*g0[i])
		}
	}
}

// Constraints that make no sense are refused by name.
func TestConstraintsRefused(t *testing.T) {
	for says, harm := range map[string]func(s *Spec){
		`constraint "pin": unknown frame "coupler ned" (did you mean "coupler end"?)`: func(s *Spec) { s.Cuts[0].A = "coupler ned" },
		`frames "coupler end" and "coupler" are on the same body`:                     func(s *Spec) { s.Cuts[0].B = "coupler" },
		`constraint "pin": length 0 m, want a positive number`:                        func(s *Spec) { s.Cuts[0].Kind = CutDistance },
		`want fixed, revolute, prismatic, cylindrical`:                                func(s *Spec) { s.Cuts[0].Kind = 99 },
		`number 1 has no name`:                    func(s *Spec) { s.Cuts[0].Name = "" },
		`constraint "pin": the name stands twice`: func(s *Spec) { s.Drives = []Drive{{"pin", "crank"}} },
		`constraint "gear": unknown joint "krank" (did you mean "crank"?)`: func(s *Spec) {
			s.Couplings = []Coupling{{Name: "gear", Terms: []Term{{"krank", 1}}}}
		},
		`constraint "gear": factor 0 of joint "crank"`: func(s *Spec) { s.Couplings = []Coupling{{Name: "gear", Terms: []Term{{"crank", 0}}}} },
		`constraint "gear": no terms`:                  func(s *Spec) { s.Couplings = []Coupling{{Name: "gear"}} },
		`constraint "own": no equations`:               func(s *Spec) { s.Relations = []Relation{{Name: "own"}} },
		`joint "crank" is spherical: name a revolute`: func(s *Spec) {
			s.Bodies[0].Joint = Joint{Kind: Spherical}
			s.Drives = []Drive{{"servo", "crank"}}
		},
	} {
		s := crankRocker(CutPoint)
		harm(&s)
		if _, err := Build(s); !errors.Is(err, ErrConstraint) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
}

func TestLoopAllocations(t *testing.T) {
	for _, s := range []Spec{crankRocker(CutRevolute), fiveBodies()} {
		m, d := build(t, s)
		q, v, tau := m.Neutral(), make([]float64, m.NV()), make([]float64, m.NV())
		if s.Bodies[0].Name == "crank" {
			q, v = crankStart(t, m, d)
		} else if _, err := Assemble(m, d, q, v, Assembly{}); err != nil {
			t.Fatal(err)
		}
		p := NewPartition(m)
		if n := testing.AllocsPerRun(20, func() {
			Dynamics(m, d, q, v, tau)
			Loads(m, d, v)
			m.NormalLoad(d, 1)
			Project(m, d, q, v)
			p.Dynamics(d, q, v, tau)
			p.Close(d, q, v)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
