package multibody

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/rotation"
)

var _ engine.System = (*Stepper)(nil)

func newStepper(t testing.TB, m *Model, o Options) (*Stepper, []float64) {
	t.Helper()
	s, err := NewStepper(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, make([]float64, len(s.Layout().Outputs))
}

// pendulumOnBall has a spherical joint, a damped and sprung hinge and a slide.
func pendulumOnBall() Spec {
	return Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{
		{Name: "ball", Joint: Joint{Kind: Spherical, Damping: 0.05}, Inertia: Inertia{Mass: 1, Com: r3.Vec{X: 0.2}, I: rotation.Diag(r3.Vec{X: 0.02, Y: 0.03, Z: 0.04})}},
		{Name: "hinge", Parent: "ball", Place: At(0.4, 0, 0), Joint: Joint{Kind: Revolute, Axis: r3.Vec{Y: 1}, Damping: 0.1, Stiffness: 3, Rest: 0.2}, Inertia: rod(0.5)},
		{Name: "slide", Parent: "hinge", Place: At(0.5, 0, 0), Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}, Stiffness: 200}, Inertia: Inertia{Mass: 0.3}},
	}}
}

// The error of a step of Midpoint falls with dt², that of RK4 with dt⁴, in a tree and in a loop, against the offline integrator.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		spec  Spec
		start func(m *Model, d *Data) (q, v []float64)
		tau   float64
	}{
		{"tree", pendulumOnBall(), func(m *Model, d *Data) (q, v []float64) {
			return []float64{1, 0, 0, 0, 0.1, 0}, []float64{1, 0.5, -2, 1, 0}
		}, 0.1},
		{"loop", crankRocker(CutPoint), func(m *Model, d *Data) (q, v []float64) { return crankStart(t, m, d) }, 0.2},
	} {
		m, d := build(t, c.spec)
		q, v := c.start(m, d)
		u := make([]float64, m.NV())
		u[0] = c.tau
		const end = 0.25
		o := NewOffline(m, d, func(t float64, q, v, tau []float64) { copy(tau, u) }, nil)
		o.Rtol, o.Atol = 1e-13, 1e-13
		o.Start(0, q, v)
		if err := o.Run(end); err != nil {
			t.Fatal(err)
		}
		for _, method := range []struct {
			m     Method
			order float64
			steps int
		}{{Midpoint, 2, 250}, {RK4, 4, 100}} {
			var e [3]float64
			for k := range e {
				s, y := newStepper(t, m, Options{Method: method.m})
				x := s.NewState(q, v)
				n := method.steps << k
				for range n {
					if st := s.Step(end/float64(n), x, u, y); st != engine.OK {
						t.Fatal(st, s.Last)
					}
				}
				diff := make([]float64, m.NV())
				Difference(m, o.Q(), x[:m.NQ()], diff)
				e[k] = largest(diff)
				for i, v := range x[m.NQ():] {
					e[k] = max(e[k], math.Abs(v-o.V()[i]))
				}
			}
			for k := range 2 {
				if p := math.Log2(e[k] / e[k+1]); math.Abs(p-method.order) > 0.35 {
					t.Errorf("%s, method %d: errors %.3g, order %.2f, want %g", c.name, method.m, e, p, method.order)
				}
			}
			t.Logf("%s, method %d: dt = %.3g s, errors %.3g", c.name, method.m, end/float64(method.steps), e)
		}
	}
}

// Damping of a joint that is stiffer than the step can follow stays stable with Midpoint, where an explicit method is not.
func TestStiffDamping(t *testing.T) {
	s := chain(2, r3.Vec{Z: 1})
	s.Bodies[1].Joint.Damping, s.Bodies[1].Joint.Stiffness = 200, 1e6 // rates of 1e3 1/s and more
	m, _ := build(t, s)
	step, y := newStepper(t, m, Options{})
	x := step.NewState([]float64{0, 0.01}, []float64{0, 3})
	for range 2000 {
		if st := step.Step(2e-3, x, []float64{0, 0}, y); st != engine.OK {
			t.Fatal(st)
		}
	}
	if math.Abs(x[1]) > 1e-3 || math.Abs(x[3]) > 0.5 {
		t.Errorf("elbow at %g rad, %g rad/s", x[1], x[3])
	}
}

// One rotor under a law moves as friction.Mass moves it: the step of the law is its own.
func TestFrictionOfOneJoint(t *testing.T) {
	const inertia = 0.02
	for _, info := range friction.Laws() {
		law, name := info.New(), info.Name
		m, _ := build(t, Spec{Bodies: []Body{{Name: "rotor", Joint: Joint{Kind: Revolute},
			Inertia: Inertia{Mass: 1, I: rotation.Diag(r3.Vec{X: inertia, Y: inertia, Z: inertia})}}}})
		step, y := newStepper(t, m, Options{Friction: map[string]friction.Model{"rotor": law}})
		x := step.NewState([]float64{0}, []float64{0})
		mass, err := friction.NewMass(inertia, law, friction.Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		mass.N = math.SmallestNonzeroFloat64
		want := mass.NewState()
		for k := range 2000 {
			u := 2 * law.Levels().Rest.Forward * math.Sin(0.01*float64(k))
			step.Step(1e-3, x, []float64{u}, y)
			mass.Step(1e-3, want, &frictionJoint{u: u})
		}
		near(t, name, x[:2], want[:2], 1e-9)
	}
}

// A block on an inclined plane with Coulomb's coefficient sticks below its angle and slides above, under its own weight as the normal
// load: s = ½·g·(sin α − µ·cos α)·t².
func TestBlockOnIncline(t *testing.T) {
	const mu = 0.4
	for _, alpha := range []float64{0.35, 0.40, 0.6} { // atan µ = 0.3805
		m, _ := build(t, Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{{
			Name: "block", Place: Pose{}.Turned(r3.Vec{Y: alpha}), Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}, Inertia: Inertia{Mass: 3},
		}}})
		step, y := newStepper(t, m, Options{Friction: map[string]friction.Model{"block": &friction.Coulomb{Mu: mu}}})
		x := step.NewState([]float64{0}, []float64{0})
		for range 1000 {
			step.Step(1e-3, x, []float64{0}, y)
		}
		sin, cos := math.Sincos(alpha)
		want := math.Max(0, 0.5*9.81*(sin-mu*cos))
		if math.Abs(x[0]-want) > 1e-9 {
			t.Errorf("%g rad: slid %.12g m in 1 s, want %.12g", alpha, x[0], want)
		}
		if f := math.Min(mu*cos, sin) * 3 * 9.81; math.Abs(y[0]-f) > 1e-9 {
			t.Errorf("%g rad: friction %g N, want %g", alpha, y[0], f)
		}
	}
}

// Several rubbing joints of a loop come to rest and stay, and the work of friction is what the energy lost.
func TestFrictionInLoop(t *testing.T) {
	s := crankRocker(CutPoint)
	s.Bodies[0].Joint.Damping = 0
	for i := range s.Bodies {
		s.Bodies[i].Joint.Coulomb = 0.05
	}
	m, d := build(t, s)
	q, v := crankStart(t, m, d)
	v[0] = 20
	if _, err := Assemble(m, d, q, v, Assembly{Hold: []string{"crank"}}); err != nil {
		t.Fatal(err)
	}
	step, y := newStepper(t, m, Options{})
	x := step.NewState(q, v)
	u := make([]float64, 3)
	last, lost := slices.Clone(x), 0.0
	start := 0.0
	for k := range 15000 {
		if st := step.Step(2e-4, x, u, y); st != engine.OK {
			t.Fatalf("step %d: %v, %v", k, st, step.Last)
		}
		if k == 0 {
			start = y[5] + y[6]
		} else {
			for i := range 3 {
				lost += y[2+i] * (x[i] - last[i])
			}
		}
		copy(last, x)
	}
	if math.Abs(x[3]) > 1e-9 {
		t.Errorf("the crank still turns at %g rad/s", x[3])
	}
	if e := start - y[5] - y[6]; e < 0.5 || math.Abs(e-lost) > 2e-4*e {
		t.Errorf("energy fell by %.6g J, friction took %.6g J", e, lost)
	}
	if y[7] > 1e-10 || y[8] > 1e-10 {
		t.Errorf("constraints missed by %g, %g", y[7], y[8])
	}
}

// A driven crank follows its motion, and its multiplier does the work that the machine takes.
func TestDrivenCrank(t *testing.T) {
	s := crankRocker(CutPoint)
	s.Drives = []Drive{{Name: "servo", Joint: "crank"}}
	m, d := build(t, s)
	q, v := []float64{0.5, 0.28, 1.78}, make([]float64, 3)
	turn := func(t float64) Motion {
		return Motion{X: 0.5 + 10*t + 5*math.Sin(t), V: 10 + 5*math.Cos(t), A: -5 * math.Sin(t)}
	}
	d.Drive(0, turn(0))
	if a, err := Assemble(m, d, q, v, Assembly{}); err != nil || a.DOF != 0 {
		t.Fatal(a, err)
	}
	step, y := newStepper(t, m, Options{Method: RK4, Drives: []func(float64) Motion{turn}})
	x := step.NewState(q, v)
	for range 1000 {
		if st := step.Step(1e-3, x, make([]float64, 3), y); st != engine.OK {
			t.Fatal(st)
		}
	}
	if w := turn(1); math.Abs(x[0]-w.X) > 1e-11 || math.Abs(x[3]-w.V) > 1e-10 {
		t.Errorf("crank at %.12g, %.12g, want %.12g, %.12g", x[0], x[3], w.X, w.V)
	}
	if names := step.Layout().Outputs; names[2].Name != "servo" || names[0].Name != "pin.x" || y[2] == 0 {
		t.Errorf("outputs %v, %v", names, y)
	}
}

// What a stepper cannot do is refused by name.
func TestStepperRefuses(t *testing.T) {
	s := crankRocker(CutPoint)
	s.Bodies[1].Joint.Coulomb = 1
	s.Bodies = append(s.Bodies, Body{Name: "free", Joint: Joint{Kind: Free}, Inertia: Inertia{Mass: 1, I: rotation.Diag(r3.Vec{X: 1, Y: 1, Z: 1})}})
	s.Drives = []Drive{{Name: "servo", Joint: "crank"}}
	m, _ := build(t, s)
	law := &friction.Coulomb{Fc: 1}
	for says, o := range map[string]Options{
		"0 motions for 1 drives":                  {},
		`unknown joint "krank"`:                   {Friction: map[string]friction.Model{"krank": law}},
		`joint "coupler" has a Coulomb level too`: {Friction: map[string]friction.Model{"coupler": law}},
		`joint "free" is free: a law belongs`:     {Friction: map[string]friction.Model{"free": law}},
		"stepped by the method Midpoint only":     {Method: RK4},
		`friction of joint "crank": `:             {Friction: map[string]friction.Model{"crank": &friction.Coulomb{Fc: -1}}},
	} {
		if _, err := NewStepper(m, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
}

func TestStepAllocations(t *testing.T) {
	s := crankRocker(CutRevolute)
	s.Bodies[0].Joint.Coulomb = 0.1
	m, d := build(t, s)
	q, v := crankStart(t, m, d)
	for _, o := range []Options{{}, {Friction: map[string]friction.Model{"rocker": friction.Laws()[0].New()}}} {
		step, y := newStepper(t, m, o)
		x, u := step.NewState(q, v), make([]float64, 3)
		if n := testing.AllocsPerRun(50, func() { step.Step(1e-3, x, u, y) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
	plain, _ := build(t, crankRocker(CutPoint))
	step, y := newStepper(t, plain, Options{Method: RK4})
	x, u := step.NewState(q, v), make([]float64, 3)
	if n := testing.AllocsPerRun(50, func() { step.Step(1e-3, x, u, y) }); n != 0 {
		t.Errorf("RK4: %v allocations", n)
	}
	// a start that is no number leaves the state alone
	x[4] = math.NaN()
	if st := step.Step(1e-3, x, u, y); st != engine.NonFinite || !math.IsNaN(x[4]) || math.IsNaN(x[0]) {
		t.Errorf("NaN as a speed: %v, x = %v", st, x)
	}
}
