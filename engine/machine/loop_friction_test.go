package machine

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
)

// crankRocker is a four-bar linkage with rods of 1 kg/m, 0.1, 0.35 and 0.3 m long, on pins 0.4 m apart, with friction in its four pins, cut
// at one of them: 1 between crank and coupler, 2 between coupler and rocker, 3 at the rocker's foot. levers are µ·r of the pins, from
// that of the crank on, or their levels if the load has no effect.
func crankRocker(cut int, kind multibody.CutKind, levers [4]float64, loaded bool, speed, torque float64) (Spec, func(x []float64)) {
	const crank, coupler, rocker = 0.1, 0.35, 0.3
	rod := func(name, parent string, at, length, side float64) multibody.Body {
		return multibody.Body{Name: name, Parent: parent, Place: multibody.At(at, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute},
			Inertia: multibody.Inertia{Mass: length, Com: r3.Vec{X: side * length / 2},
				I: rotation.Diag(r3.Vec{Y: 1, Z: 1}).Scale(length * length * length / 12)}}
	}
	a := rod("crank", "", 0, crank, 1)
	a.Joint.Armature = 1e-3
	const q1, q2, q3 = 0.5, 0.77711649, 1.78139383
	s := Spec{Spec: multibody.Spec{Gravity: r3.Vec{Y: -9.81}}}
	var q []float64
	pins := [4]string{"crank", "coupler", "rocker", "foot"} // the joints that are these pins
	frame := func(body string, at float64) string {
		name := fmt.Sprint(body, "/", at)
		s.Frames = append(s.Frames, multibody.Frame{Name: name, Body: body, Pose: multibody.At(at, 0, 0)})
		return name
	}
	pin := multibody.Cut{Kind: kind}
	switch cut {
	case 1:
		s.Bodies = []multibody.Body{a, rod("rocker", "", 0.4, rocker, 1), rod("coupler", "rocker", rocker, coupler, -1)}
		q, pins = []float64{q1, q3, q2 - q3}, [4]string{"crank", "pin", "coupler", "rocker"}
		pin.A, pin.B = frame("crank", crank), frame("coupler", -coupler)
	case 2:
		s.Bodies = []multibody.Body{a, rod("coupler", "crank", crank, coupler, 1), rod("rocker", "", 0.4, rocker, 1)}
		q, pins = []float64{q1, q2 - q1, q3}, [4]string{"crank", "coupler", "pin", "rocker"}
		pin.A, pin.B = frame("coupler", coupler), frame("rocker", rocker)
	case 3:
		s.Bodies = []multibody.Body{a, rod("coupler", "crank", crank, coupler, 1), rod("rocker", "coupler", coupler, rocker, -1)}
		q, pins = []float64{q1, q2 - q1, q3 - q2}, [4]string{"crank", "coupler", "rocker", "pin"}
		pin.A, pin.B = frame("", 0.4), frame("rocker", -rocker)
	}
	pin.Name = "pin"
	s.Cuts = []multibody.Cut{pin}
	for k, lever := range levers {
		f := Friction{Joint: pins[k], Law: mu(1), Lever: lever, Speed: speed}
		if !loaded {
			f.Law, f.Lever = mu(lever), 0
		}
		s.Friction = append(s.Friction, f)
	}
	if torque != 0 {
		s.Efforts = []Effort{{"crank", reference.Constant(torque)}}
	}
	return s, func(x []float64) { copy(x, q) }
}

var everyCut = []struct {
	cut  int
	kind multibody.CutKind
}{{1, multibody.CutPoint}, {1, multibody.CutRevolute}, {2, multibody.CutPoint}, {2, multibody.CutRevolute}, {3, multibody.CutPoint},
	{3, multibody.CutRevolute}}

// hold keeps the crank where it is while the loop is closed.
var hold = multibody.Assembly{Hold: []string{"crank"}}

// A linkage goes the same way whichever of its pins is the one that closes the loop, with friction that the force of each pin acts on. The
// numbers are those of an integration in the coordinates of the three bodies, friction µ·r·|F|·tanh(v/0.05) from the multipliers of
// their pins, by scipy's DOP853 to 1e-11: crank after 0.5 s, and the force on it.
func TestLoopFrictionUnderLoad(t *testing.T) {
	const q, v, force, end = 10.329748267, 49.908773847, 109.740832, 0.5
	for _, c := range everyCut {
		s, start := crankRocker(c.cut, c.kind, [4]float64{0.002, 0.003, 0.004, 0.001}, true, 0.05, 0.4)
		m := build(t, s)
		x := m.NewState()
		start(x)
		if _, err := m.Assemble(0, x, hold); err != nil {
			t.Fatal(err)
		}
		r, err := m.Run(t.Context(), x, 0, end, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x[0]-q) > 3e-8 || math.Abs(x[3]-v) > 5e-8 || math.Abs(m.loads[0].force-force) > 1e-5 {
			t.Errorf("cut %d, %v: crank at %.10g rad, %.10g rad/s, %.8g N; want %.10g, %.10g, %.8g", c.cut, c.kind, x[0], x[3], m.loads[0].force, q,
				v, force)
		}
		if err := r.Audit.Check(1e-9); err != nil {
			t.Error(err)
		}
		if c.kind == multibody.CutRevolute {
			continue
		}
		coarse, _ := stepLoop(t, s, start, end, 500)
		fine, _ := stepLoop(t, s, start, end, 5000)
		if e, e10 := math.Abs(fine[0]-q), math.Abs(coarse[0]-q); e > 1e-4 || e > e10/50 {
			t.Errorf("cut %d, %v: error %.3g at 1 ms, %.3g at 0.1 ms", c.cut, c.kind, e10, e)
		}
	}
}

// The stabilised form of index 2 and the partition go the same way as the projection, and an unknown name is refused.
func TestFormulations(t *testing.T) {
	s, start := crankRocker(2, multibody.CutPoint, [4]float64{0.002, 0.003, 0.004, 0.001}, true, 0.05, 0.4)
	var got [3]float64
	for i, name := range multibody.Formulations() {
		m := build(t, s)
		x := m.NewState()
		start(x)
		if _, err := m.Assemble(0, x, hold); err != nil {
			t.Fatal(err)
		}
		r, err := m.Run(t.Context(), x, 0, 0.2, Options{Rtol: 1e-9, Atol: 1e-11, Formulation: name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Audit.Check(1e-8); err != nil || r.Residual > 1e-10 || r.Residual == 0 || name == "ggl" && r.Drift != 0 {
			t.Errorf("%s: %v, residual %.3g, drift %.3g", name, err, r.Residual, r.Drift)
		}
		got[i] = x[0]
	}
	if math.Abs(got[0]-got[1]) > 1e-8 || math.Abs(got[0]-got[2]) > 1e-8 {
		t.Errorf("crank at %.12g rad", got)
	}
	m := build(t, s)
	if _, err := m.Run(t.Context(), m.NewState(), 0, 1, Options{Formulation: "glg"}, nil); err == nil {
		t.Error("glg was taken")
	}
}

// stepLoop takes n fixed steps to end (s).
func stepLoop(t *testing.T, s Spec, start func(x []float64), end float64, n int) ([]float64, *Stepper) {
	t.Helper()
	st := newStepper(t, s, StepOptions{})
	x := st.NewState()
	start(x)
	if _, err := st.Begin(0, x, hold); err != nil {
		t.Fatal(err)
	}
	h := end / float64(n)
	for k := range n {
		if got := st.Step(float64(k)*h, h, x); got != engine.OK {
			t.Fatalf("step %d: %v: %s", k, got, st.StatusText())
		}
	}
	return x, st
}

// With friction that sticks, a linkage that swings under its weight stops and breaks away at its rocker's turns the same way whichever pin
// closes the loop, and comes to rest at the same place; with fixed steps too, but for their error.
func TestLoopSticks(t *testing.T) {
	for _, loaded := range []bool{true, false} {
		levers := [4]float64{0.008, 0.006, 0.01, 0.006}
		if !loaded {
			levers = [4]float64{0.06, 0.03, 0.03, 0.04}
		}
		const end = 1.5
		var want []float64
		for i, c := range everyCut {
			s, start := crankRocker(c.cut, c.kind, levers, loaded, 0, 0)
			m := build(t, s)
			x := m.NewState()
			start(x)
			if _, err := m.Assemble(0, x, hold); err != nil {
				t.Fatal(err)
			}
			r, err := m.Run(t.Context(), x, 0, end, Options{}, nil)
			if err != nil {
				t.Fatal(c, loaded, err)
			}
			if i == 0 {
				want = append(want, x[0], x[3])
			}
			if math.Abs(x[0]-want[0]) > 1e-8 || math.Abs(x[3]) > 1e-8 || r.Turns < 3 {
				t.Errorf("cut %d, %v, loaded %v: %.12g rad, %.3g rad/s, want %.12g; %d turns", c.cut, c.kind, loaded, x[0], x[3], want[0], r.Turns)
			}
			if c.kind == multibody.CutRevolute {
				continue
			}
			coarse, _ := stepLoop(t, s, start, end, 1500)
			fine, st := stepLoop(t, s, start, end, 6000)
			e10, e := math.Abs(coarse[0]-want[0]), math.Abs(fine[0]-want[0])
			t.Logf("cut %d, %v, loaded %v: rest at %.9g rad, with fixed steps off by %.2g at 1 ms, %.2g at 0.25 ms", c.cut, c.kind, loaded, x[0],
				e10, e)
			if e10 > 1e-4 || e > 2e-5 || math.Abs(fine[3]) > 1e-9 {
				t.Errorf("cut %d, %v, loaded %v: with fixed steps off by %.3g at 1 ms, %.3g at 0.25 ms, speed %.3g", c.cut, c.kind, loaded, e10, e,
					fine[3])
			}
			t0 := 0.0
			if n := testing.AllocsPerRun(20, func() { st.Step(t0, 1e-3, fine); t0 += 1e-3 }); n > 0 {
				t.Errorf("%g allocations", n)
			}
		}
	}
}
