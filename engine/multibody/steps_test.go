package multibody_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/machine"
	. "hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// stepped is a machine that is moved with the fixed step.
type stepped struct {
	*machine.Stepper
	t, x []float64 // s; [q | v | …]
	n    int       // of q
}

// step begins at q, v, with torques that stay on joints by name.
func step(t testing.TB, spec machine.Spec, q, v []float64, torques map[string]float64) *stepped {
	t.Helper()
	for joint, x := range torques {
		spec.Efforts = append(spec.Efforts, machine.Effort{Joint: joint, Generator: reference.Constant(x)})
	}
	m, err := machine.NewStepper(spec, machine.StepOptions{Audited: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &stepped{m, []float64{0}, m.NewState(), len(q)}
	copy(s.x, append(slices.Clone(q), v...))
	if _, err := m.Begin(0, s.x, Assembly{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// run takes n steps of h (s).
func (s *stepped) run(t testing.TB, n int, h float64) *stepped {
	t.Helper()
	for range n {
		if st := s.Step(s.t[0], h, s.x); st != engine.OK {
			t.Fatalf("%g s: %v: %s", s.t[0], st, s.StatusText())
		}
		s.t[0] += h
	}
	s.Forces(s.t[0], h, s.x)
	return s
}

func build(t *testing.T, s Spec) (*Model, *Data) {
	t.Helper()
	m, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return m, m.NewData()
}

func mechanics(s Spec) machine.Spec { return machine.Spec{Spec: s} }

// The error of a step falls with its square, in a tree, in a loop, and with springs between bodies, against the offline integrator.
func TestStepOrder(t *testing.T) {
	sprung := Chain(3, r3.Vec{Z: 1})
	sprung.Frames = []Frame{
		{Name: "tip", Body: sprung.Bodies[2].Name, Pose: At(1, 0, 0)}, {Name: "hook", Pose: At(1.5, -2, 0)},
		{Name: "mid", Body: sprung.Bodies[0].Name, Pose: At(0.5, 0.1, 0)},
	}
	sprung.Springs = []Spring{
		{Name: "a", A: "hook", B: "tip", Stiffness: 40, Damping: 1, Length: 0.7},
		{Name: "b", A: "mid", B: "tip", Stiffness: 30, Length: 1},
	}
	for _, c := range []struct {
		name   string
		spec   Spec
		start  func(m *Model, d *Data) (q, v []float64)
		joint  string
		torque float64
	}{
		{"tree", PendulumOnBall(), func(m *Model, d *Data) (q, v []float64) {
			return []float64{1, 0, 0, 0, 0.1, 0}, []float64{1, 0.5, -2, 1, 0}
		}, "hinge", 0.1},
		{"loop", CrankRocker(CutPoint), func(m *Model, d *Data) (q, v []float64) { return CrankStart(t, m, d) }, "crank", 0.2},
		{"springs", sprung, func(m *Model, d *Data) (q, v []float64) {
			return []float64{0.2, 0.3, -0.5}, []float64{1, 0, -1}
		}, sprung.Bodies[0].Name, 0},
	} {
		m, d := build(t, c.spec)
		q, v := c.start(m, d)
		const end = 0.25
		j, _ := m.Joint(c.joint)
		_, _, _, iv := m.JointOf(j)
		o := NewOffline(m, d, func(t float64, q, v, tau []float64) { clear(tau); tau[iv] = c.torque }, nil)
		o.Rtol, o.Atol = 1e-13, 1e-13
		o.Start(0, q, v)
		if err := o.Run(end); err != nil {
			t.Fatal(err)
		}
		var e [3]float64
		for k := range e {
			n := 250 << k
			s := step(t, mechanics(c.spec), q, v, map[string]float64{c.joint: c.torque}).run(t, n, end/float64(n))
			diff := make([]float64, m.NV())
			Difference(m, o.Q(), s.x[:s.n], diff)
			for i, x := range diff {
				e[k] = math.Max(e[k], math.Max(math.Abs(x), math.Abs(s.x[s.n+i]-o.V()[i])))
			}
		}
		for k := range 2 {
			if p := math.Log2(e[k] / e[k+1]); math.Abs(p-2) > 0.35 {
				t.Errorf("%s: errors %.3g, order %.2f, want 2", c.name, e, p)
			}
		}
		t.Logf("%s: dt = %.3g s, errors %.3g", c.name, end/250, e)
	}
}

// A spring between frames along the axis of a slide moves it as the spring of the joint does, however stiff.
func TestSpringOfFramesIsSpringOfJoint(t *testing.T) {
	// 10 rad/s and more than the step can follow; 1e14·1e-16 is 1e-2 N
	for k, rel := range map[float64]float64{100: 1e-7, 1e8: 1e-7, 1e10: 1e-7, 1e14: 1e-7} {
		slide := Body{Name: "slide", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}, Inertia: Inertia{Mass: 1}}
		between := Spec{Bodies: []Body{slide}, Springs: []Spring{{Name: "s", A: "ground", B: "slide", Stiffness: k, Damping: 0.3, Length: 0.5}}}
		slide.Joint.Stiffness, slide.Joint.Rest, slide.Joint.Damping = k, 0.5, 0.3
		var end [2][]float64
		for i, s := range []Spec{between, {Bodies: []Body{slide}}} {
			end[i] = step(t, mechanics(s), []float64{0.6}, []float64{1}, map[string]float64{"slide": 0.2}).run(t, 300, 1e-3).x
		}
		Near(t, "spring", end[0], end[1], rel)
	}
}

// Damping of a joint that is stiffer than the step can follow stays stable.
func TestStiffDamping(t *testing.T) {
	s := Chain(2, r3.Vec{Z: 1})
	s.Bodies[1].Joint.Damping, s.Bodies[1].Joint.Stiffness = 200, 1e6 // rates of 1e3 1/s and more
	x := step(t, mechanics(s), []float64{0, 0.01}, []float64{0, 3}, nil).run(t, 2000, 2e-3).x
	if math.Abs(x[1]) > 1e-3 || math.Abs(x[3]) > 0.5 {
		t.Errorf("elbow at %g rad, %g rad/s", x[1], x[3])
	}
}

// The flyball governor, whose dampers have 4e4 1/s, with steps of 1 ms: an explicit step may have 0.05 ms.
func TestGovernorInSteps(t *testing.T) {
	table := ReadMotions(t).Governor
	var e [2]float64
	for k, h := range []float64{1e-3, 2.5e-4} {
		s := step(t, mechanics(Governor()), []float64{0, 0.5, math.Pi / 6, math.Pi / 6}, []float64{2 * math.Pi, 0, 0, 0}, nil)
		for _, row := range table {
			s.run(t, int(math.Round((row[0]-s.t[0])/h)), h)
			for i, got := range []float64{s.x[2], s.x[1], s.x[4]} {
				e[k] = math.Max(e[k], math.Abs(got-row[1+i]))
			}
		}
	}
	t.Logf("errors %.2g at 1 ms, %.2g at 0.25 ms", e[0], e[1])
	if e[0] > 0.05 || e[1] > e[0]/8 {
		t.Errorf("errors %.3g at 1 ms and 0.25 ms", e)
	}
}

// A double pendulum at 1 ms follows another program's.
func TestDoublePendulumInSteps(t *testing.T) {
	x := step(t, mechanics(Chain(2, r3.Vec{Z: 1})), []float64{0, 0}, []float64{0, 0}, nil).run(t, 1000, 1e-3).x
	Near(t, "1 ms", x[:2], ReadMotions(t).Pendulum[1][1:], 1e-3)
}

// Andrews' squeezer with steps of 10 and 5 µs: what the square of the step leaves out is what its reference says, to 1e-5.
func TestAndrewsInSteps(t *testing.T) {
	m, d := build(t, Squeezer())
	q, v := SqueezerStart(t, m, d)
	var x [2][]float64
	for k := range x {
		x[k] = step(t, mechanics(Squeezer()), q, v, map[string]float64{"K1": 0.033}).run(t, 3000<<k, 1e-5/float64(int(1)<<k)).x[:7]
	}
	for i := range x[1] {
		x[1][i] += (x[1][i] - x[0][i]) / 3
	}
	Near(t, "10 µs", x[0], SqueezerEnd, 2e-3)
	Near(t, "by halves", x[1], SqueezerEnd, 1e-5)
}

// A step far longer than the period of a stiff mode stays stable, and finds the sag under gravity of a damped one.
func TestStiffModeSags(t *testing.T) {
	beam := Body{Name: "beam", Flex: &Flex{Stiffness: []float64{4e6}, Damping: []float64{4e4}}}
	sag := 0.0
	for i := 1; i <= 10; i++ {
		x := float64(i) / 10
		beam.Flex.Nodes = append(beam.Flex.Nodes, Node{Mass: 0.1, P: r3.Vec{X: x}, Shape: []r3.Vec{{Y: x * x}}})
		sag -= 9.81 * 0.1 * x * x / 4e6
	}
	s := step(t, mechanics(Spec{Bodies: []Body{beam}, Gravity: r3.Vec{Y: -9.81}}), []float64{0}, []float64{0}, nil).run(t, 2000, 5e-3)
	if math.Abs(s.x[0]-sag) > 1e-6*math.Abs(sag) {
		t.Errorf("sags by %g m, want %g", s.x[0], sag)
	}
}

// Several rubbing joints of a loop come to rest and stay, and the work of friction is what the energy lost.
func TestFrictionInLoop(t *testing.T) {
	spec := CrankRocker(CutPoint)
	spec.Bodies[0].Joint.Damping = 0
	for i := range spec.Bodies {
		spec.Bodies[i].Joint.Coulomb = 0.05
	}
	m, d := build(t, spec)
	q, v := CrankStart(t, m, d)
	v[0] = 20
	if _, err := Assemble(m, d, q, v, Assembly{Hold: []string{"crank"}}); err != nil {
		t.Fatal(err)
	}
	start := Total(m, d, q, v)
	s := step(t, mechanics(spec), q, v, nil).run(t, 15000, 2e-4)
	if math.Abs(s.x[3]) > 1e-9 {
		t.Errorf("the crank still turns at %g rad/s", s.x[3])
	}
	if e := start - Total(m, d, s.x[:3], s.x[3:6]); e < 0.5 || math.Abs(e-s.Loss) > 2e-4*e {
		t.Errorf("energy fell by %.6g J, friction took %.6g J", e, s.Loss)
	}
}

// A stiff spring and friction on joints of a loop: viscous friction as a law and as damping of the joint are the same machine.
func TestSpringAndFrictionInLoop(t *testing.T) {
	var end [2][]float64
	for i, damping := range []float64{0, 0.05} {
		spec := CrankRocker(CutPoint)
		spec.Bodies[0].Joint.Damping = damping
		spec.Frames = append(spec.Frames, Frame{Name: "hook", Pose: At(0.2, 0.5, 0)})
		spec.Springs = []Spring{{Name: "s", A: "hook", B: "coupler end", Stiffness: 3e4, Damping: 10, Length: 0.2}}
		m, d := build(t, spec)
		q, v := CrankStart(t, m, d)
		all := mechanics(spec)
		if damping == 0 {
			all.Friction = []machine.Friction{{Joint: "crank", Law: &friction.Viscous{Fv: 0.05, Delta: 1}}}
		}
		end[i] = step(t, all, q, v, map[string]float64{"crank": 0.5}).run(t, 4000, 5e-5).x[:6]
	}
	Near(t, "two ways of a damper", end[0], end[1], 1e-4)
}

// A spring that presses a block on its plane loads its friction: with Coulomb's coefficient it sticks up to µ·(m·g + F) and slides with
// the rest. The spring hangs from a slide that is far away, so its force stays.
func TestSpringLoadsFriction(t *testing.T) {
	const mu, press = 0.4, 50.0
	for _, pull := range []float64{20, 40} { // µ·(9.81·1 + 50) = 23.9
		spec := mechanics(Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{
			{Name: "block", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}, Inertia: Inertia{Mass: 1}},
		},
			Frames:  []Frame{{Name: "below", Pose: At(0, 0, -1e6)}},
			Springs: []Spring{{Name: "s", A: "below", B: "block", Stiffness: 1, Length: 1e6 - press}}})
		spec.Friction = []machine.Friction{{Joint: "block", Law: &friction.Coulomb{Fc: mu}, Lever: 1}}
		x := step(t, spec, []float64{0}, []float64{0}, map[string]float64{"block": pull}).run(t, 500, 1e-3).x
		if want := math.Max(0, pull-mu*(9.81+press)) / 2 * 0.25; math.Abs(x[0]-want) > 1e-5 {
			t.Errorf("pulled with %g N: moved %.9g m, want %.9g", pull, x[0], want)
		}
	}
}

// slowed runs the crank-rocker from 15 rad/s of its crank with a law in each joint, and returns the speed of the crank (rad/s) and the
// loss (J) after 0.3 s; the energy has to fall by the loss.
func slowed(t *testing.T, where string, kind CutKind, law func() friction.Model, lever, h float64) (speed, lost float64) {
	t.Helper()
	spec := mechanics(FourBarCutAt(where, kind))
	m, d := build(t, spec.Spec)
	set := Bars(where, 0.5, 0.77711649, 1.78139383)
	q, v := make([]float64, 3), make([]float64, 3)
	names := []string{"cut"}
	for j := 1; j <= 3; j++ {
		name, _, iq, _ := m.JointOf(j)
		q[iq] = set[name]
		names = append(names, name)
	}
	for _, name := range names {
		spec.Friction = append(spec.Friction, machine.Friction{Joint: name, Law: law(), Lever: lever})
	}
	if _, err := Assemble(m, d, q, v, Assembly{}); err != nil {
		t.Fatal(err)
	}
	crank := "A"
	if where == "A" {
		crank = "B" // on the far side of the loop
	}
	Spin(t, m, d, q, v, crank, 15)
	start := Total(m, d, q, v)
	s := step(t, spec, q, v, nil).run(t, int(math.Round(0.3/h)), h)
	if miss := s.BalanceError(); math.Abs(miss) > 1e-3*s.Loss || s.Loss < 1e-3 || start-Total(m, d, s.x[:3], s.x[3:6]) < 1e-3 {
		t.Errorf("cut at %s: friction took %.9g J, %.3g J missing", where, s.Loss, miss)
	}
	Velocities(m, d, s.x[:3], s.x[3:6])
	j, _ := m.Joint(crank)
	w, _ := d.Velocity(j)
	return w.Z, s.Loss
}

// The friction of all four joints, with the load that each carries, does the same wherever the loop is cut, with laws of every kind. What
// differs is the error of the step: it falls with its square.
func TestFrictionOfCuts(t *testing.T) {
	for _, c := range []struct {
		name  string
		law   func() friction.Model
		lever float64
	}{
		{"viscous", func() friction.Model { return &friction.Viscous{Fv: 0.003, Delta: 1} }, 0},
		{"Coulomb of the load", func() friction.Model { return &friction.Coulomb{Fc: 1} }, 2e-3},
		{"bristles", func() friction.Model {
			return &friction.LuGre{Sigma0: 50, Sigma1: 0.05, Sigma2: 1e-3, Fc: 0.03, Fs: 0.04, Vs: 0.1}
		}, 0},
	} {
		var spread [2]float64
		for i, h := range []float64{6e-4, 2e-4} {
			speed, lost := slowed(t, "C", CutPoint, c.law, c.lever, h)
			for _, where := range []string{"A", "B", "D"} {
				w, l := slowed(t, where, CutPoint, c.law, c.lever, h)
				spread[i] = math.Max(spread[i], math.Max(math.Abs(w/speed-1), math.Abs(l/lost-1)))
			}
			t.Logf("%s, %g ms: crank %.9g rad/s, lost %.9g J, other cuts within %.2g", c.name, h*1e3, speed, lost, spread[i])
		}
		if spread[1] > 1e-5 || spread[1] > spread[0]/6 {
			t.Errorf("%s: results differ by %.3g with the place of the cut", c.name, spread)
		}
		// a cut of five equations, three of them redundant
		w, l := slowed(t, "B", CutPoint, c.law, c.lever, 1e-3)
		if a, b := slowed(t, "B", CutRevolute, c.law, c.lever, 1e-3); math.Abs(a/w-1) > 1e-9 || math.Abs(b/l-1) > 1e-9 {
			t.Errorf("%s: revolute cut %.12g rad/s, %.12g J, point %.12g, %.12g", c.name, a, b, w, l)
		}
	}
}

// A block between two slides: the friction of a prismatic cut with its own load is that of the same slide in the tree.
func TestFrictionOfPrismaticCut(t *testing.T) {
	const mu, alpha = 0.3, 0.6
	ramp := Pose{}.Turned(r3.Vec{Y: alpha}).Turned(r3.Vec{Y: math.Pi / 2}) // z down the ramp
	spec := mechanics(Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{
		{Name: "block", Joint: Joint{Kind: Free}, Inertia: Inertia{Mass: 3, I: Rod(1).I.Add(0.1, [3][3]float64{{1}, {0, 1}, {0, 0, 1}})}},
	},
		Frames: []Frame{{Name: "ramp", Pose: ramp}, {Name: "foot", Body: "block", Pose: ramp}},
		Cuts:   []Cut{{Name: "slide", Kind: CutPrismatic, A: "ramp", B: "foot"}}})
	spec.Friction = []machine.Friction{{Joint: "slide", Law: &friction.Coulomb{Fc: mu}, Lever: 1}}
	m, _ := build(t, spec.Spec)
	s := step(t, spec, m.Neutral(), make([]float64, 6), nil).run(t, 1000, 1e-3)
	sin, cos := math.Sincos(alpha)
	if x, want := math.Hypot(s.x[4], s.x[6]), 0.5*9.81*(sin-mu*cos); math.Abs(x-want) > 1e-6 {
		t.Errorf("slid %.9g m, want %.9g", x, want)
	}
	w, err := s.Watch("slide.friction")
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, 1)
	if w.Read(s.Stepper, s.x, y); math.Abs(y[0]-mu*cos*3*9.81) > 1e-6 {
		t.Errorf("friction %.9g N, want %.9g", y[0], mu*cos*3*9.81)
	}
	if n := testing.AllocsPerRun(20, func() { s.Step(1, 1e-3, s.x) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// turning is a motion that goes on and to and fro.
type turning struct{}

func (turning) At(t float64) (x, v, a float64) {
	return 0.5 + 10*t + 5*math.Sin(t), 10 + 5*math.Cos(t), -5 * math.Sin(t)
}

// A driven crank follows its motion, and its multiplier does the work that the machine takes.
func TestDrivenCrank(t *testing.T) {
	spec := mechanics(CrankRocker(CutPoint))
	spec.Drives, spec.Motions = []Drive{{Name: "servo", Joint: "crank"}}, []reference.Generator{turning{}}
	s := step(t, spec, []float64{0.5, 0.28, 1.78}, make([]float64, 3), nil)
	for range 1000 {
		s.run(t, 1, 1e-3) // the work of a servo is taken from step to step
	}
	if x, v, _ := (turning{}).At(1); math.Abs(s.x[0]-x) > 1e-11 || math.Abs(s.x[3]-v) > 1e-10 {
		t.Errorf("crank at %.12g, %.12g, want %.12g, %.12g", s.x[0], s.x[3], x, v)
	}
	if miss := s.BalanceError(); s.Input == 0 || math.Abs(miss) > 1e-3*math.Abs(s.Input)+1e-3*s.Loss {
		t.Errorf("the servo gave %g J, friction took %g J, %g J are missing", s.Input, s.Loss, miss)
	}
}
