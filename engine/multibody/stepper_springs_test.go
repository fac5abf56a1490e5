package multibody

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// A spring between frames along the axis of a slide moves it as the spring of the joint does, however stiff.
func TestSpringOfFramesIsSpringOfJoint(t *testing.T) {
	for _, k := range []float64{100, 1e8, 1e14} { // 10 rad/s and more than the step can follow
		slide := Body{Name: "slide", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}, Inertia: Inertia{Mass: 1}}
		between := Spec{Bodies: []Body{slide}, Springs: []Spring{{Name: "s", A: "ground", B: "slide", Stiffness: k, Damping: 0.3, Length: 0.5}}}
		slide.Joint.Stiffness, slide.Joint.Rest, slide.Joint.Damping = k, 0.5, 0.3
		var end [2][]float64
		for i, s := range []Spec{between, {Bodies: []Body{slide}}} {
			m, _ := build(t, s)
			step, y := newStepper(t, m, Options{})
			x := step.NewState([]float64{0.6}, []float64{1})
			for range 300 {
				if st := step.Step(1e-3, x, []float64{0.2}, y); st != engine.OK {
					t.Fatal(st)
				}
			}
			end[i] = x
		}
		near(t, "spring", end[0], end[1], 1e-7)
	}
}

// Springs between bodies keep the order of two, with large motions, against the offline integrator.
func TestSpringsAreSecondOrder(t *testing.T) {
	s := chain(3, r3.Vec{Z: 1})
	s.Frames = []Frame{{"tip", s.Bodies[2].Name, At(1, 0, 0)}, {"hook", "", At(1.5, -2, 0)}, {"mid", s.Bodies[0].Name, At(0.5, 0.1, 0)}}
	s.Springs = []Spring{{Name: "a", A: "hook", B: "tip", Stiffness: 40, Damping: 1, Length: 0.7}, {Name: "b", A: "mid", B: "tip", Stiffness: 30, Length: 1}}
	m, d := build(t, s)
	q, v := []float64{0.2, 0.3, -0.5}, []float64{1, 0, -1}
	o := NewOffline(m, d, nil, nil)
	o.Rtol, o.Atol = 1e-12, 1e-12
	o.Start(0, q, v)
	const end = 0.3
	if err := o.Run(end); err != nil {
		t.Fatal(err)
	}
	var e [3]float64
	for k := range e {
		step, y := newStepper(t, m, Options{})
		x, n := step.NewState(q, v), 300<<k
		for range n {
			if st := step.Step(end/float64(n), x, make([]float64, 3), y); st != engine.OK {
				t.Fatal(st)
			}
		}
		for i := range x {
			e[k] = math.Max(e[k], math.Abs(x[i]-o.X[i]))
		}
	}
	for k := range 2 {
		if p := math.Log2(e[k] / e[k+1]); math.Abs(p-2) > 0.35 {
			t.Errorf("errors %.3g, order %.2f, want 2", e, p)
		}
	}
	t.Logf("errors %.3g", e)
}

// The flyball governor, whose dampers have 4e4 1/s, with steps of 1 ms: an explicit step may have 0.05 ms.
func TestGovernorInSteps(t *testing.T) {
	m, _ := build(t, governor())
	table := readMotions(t).Governor
	var e [2]float64
	for k, h := range []float64{1e-3, 2.5e-4} {
		step, y := newStepper(t, m, Options{})
		x := step.NewState([]float64{0, 0.5, math.Pi / 6, math.Pi / 6}, []float64{2 * math.Pi, 0, 0, 0})
		row := 0
		for n := 1; row < len(table); n++ {
			if st := step.Step(h, x, make([]float64, 4), y); st != engine.OK {
				t.Fatalf("%g s: %v", step.T, st)
			}
			if math.Abs(step.T-table[row][0]) < h/2 {
				for i, got := range []float64{x[2], x[1], x[4]} {
					e[k] = math.Max(e[k], math.Abs(got-table[row][1+i]))
				}
				row++
			}
		}
	}
	t.Logf("errors %.2g at 1 ms, %.2g at 0.25 ms", e[0], e[1])
	if e[0] > 0.05 || e[1] > e[0]/8 {
		t.Errorf("errors %.3g at 1 ms and 0.25 ms", e)
	}
	// the explicit method cannot
	step, y := newStepper(t, m, Options{Method: RK4})
	x := step.NewState([]float64{0, 0.5, math.Pi / 6, math.Pi / 6}, []float64{2 * math.Pi, 0, 0, 0})
	st := engine.OK
	for n := 0; n < 1000 && st == engine.OK; n++ {
		st = step.Step(1e-3, x, make([]float64, 4), y)
	}
	if st == engine.OK && math.Abs(x[2]) < 10 {
		t.Error("RK4 follows at 1 ms: this machine is not stiff")
	}
}

// A spring that presses a block on its plane loads its friction: with Coulomb's coefficient it sticks up to µ·(m·g + F) and slides with
// the rest. The spring hangs from a slide that is far away, so its force stays.
func TestSpringLoadsFriction(t *testing.T) {
	const mu, press = 0.4, 50.0
	for _, pull := range []float64{20, 40} { // µ·(9.81·1 + 50) = 23.9
		s := Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []Body{{Name: "block", Joint: Joint{Kind: Prismatic, Axis: r3.Vec{X: 1}}, Inertia: Inertia{Mass: 1}}},
			Frames:  []Frame{{"below", "", At(0, 0, -1e6)}},
			Springs: []Spring{{Name: "s", A: "below", B: "block", Stiffness: 1, Length: 1e6 - press}}}
		m, _ := build(t, s)
		step, y := newStepper(t, m, Options{Friction: map[string]friction.Model{"block": &friction.Coulomb{Mu: mu}}})
		x := step.NewState([]float64{0}, []float64{0})
		for range 500 {
			if st := step.Step(1e-3, x, []float64{pull}, y); st != engine.OK {
				t.Fatal(st)
			}
		}
		limit := mu * (9.81 + press)
		want := math.Max(0, pull-limit) / 2 * 0.25
		if f := math.Min(pull, limit); math.Abs(x[0]-want) > 1e-5 || math.Abs(y[0]-f) > 1e-4 {
			t.Errorf("pulled with %g N: friction %.9g N, want %.9g; moved %.9g m, want %.9g", pull, y[0], f, x[0], want)
		}
	}
}

// Friction and a stiff spring on joints of a loop: viscous friction as a law and as damping of the joint are the same machine.
func TestSpringAndFrictionInLoop(t *testing.T) {
	spec := func(damping float64) Spec {
		s := crankRocker(CutPoint)
		s.Bodies[0].Joint.Damping = damping
		s.Frames = append(s.Frames, Frame{"hook", "", At(0.2, 0.5, 0)})
		s.Springs = []Spring{{Name: "s", A: "hook", B: "coupler end", Stiffness: 3e4, Damping: 10, Length: 0.2}}
		return s
	}
	var end [2][]float64
	for i, damping := range []float64{0, 0.05} {
		m, d := build(t, spec(damping))
		q, v := crankStart(t, m, d)
		var o Options
		if damping == 0 {
			o.Friction = map[string]friction.Model{"crank": &friction.Viscous{Fv: 0.05, Delta: 1}}
		}
		step, y := newStepper(t, m, o)
		x := step.NewState(q, v)
		for range 4000 {
			if st := step.Step(5e-5, x, []float64{0.5, 0, 0}, y); st != engine.OK {
				t.Fatal(st)
			}
		}
		end[i] = x[:6]
	}
	near(t, "two ways of a damper", end[0], end[1], 1e-4)
	m, d := build(t, spec(0))
	q, v := crankStart(t, m, d)
	step, y := newStepper(t, m, Options{Friction: map[string]friction.Model{"crank": &friction.Coulomb{Fc: 0.1}}})
	x, u := step.NewState(q, v), make([]float64, 3)
	if n := testing.AllocsPerRun(20, func() { step.Step(1e-4, x, u, y) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What has no regressor is named.
func TestRigid(t *testing.T) {
	s := governor()
	s.Bodies = append(s.Bodies, Body{Name: "beam", Flex: &Flex{Stiffness: []float64{400}, Nodes: []Node{{Name: "end", Mass: 1, P: r3.Vec{X: 1}, Shape: []r3.Vec{{Y: 1}}}}}})
	m, _ := build(t, s)
	err := m.Rigid()
	if !errors.Is(err, ErrNotRigid) || !strings.Contains(err.Error(), `body "beam" is flexible`) || !strings.Contains(err.Error(), `spring "right" between bodies`) {
		t.Error(err)
	}
	if m, _ = build(t, chain(2, r3.Vec{Z: 1})); m.Rigid() != nil {
		t.Error(m.Rigid())
	}
}
