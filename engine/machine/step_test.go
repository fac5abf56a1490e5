package machine

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
)

var bar = multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.5}, I: rotation.Diag(r3.Vec{X: 0.1, Y: 0.1, Z: 0.1})}

// sledge is two bodies on a line with dry friction, joined by a spring; the first is pushed to and fro, so that both stick and slip.
func sledge() Spec {
	body := func(name string) multibody.Body {
		return multibody.Body{Name: name, Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}, Damping: 0.5},
			Inertia: multibody.Inertia{Mass: 2}}
	}
	return Spec{
		Spec:     multibody.Spec{Bodies: []multibody.Body{body("a"), body("b")}},
		Efforts:  []Effort{{"a", reference.Sine{Tone: reference.Tone{Amplitude: 12, Frequency: 1}}}},
		Friction: []Friction{{Joint: "a", Law: &friction.Coulomb{Fc: 3}}, {Joint: "b", Law: &friction.Coulomb{Fc: 2}}},
		Parts: func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
			return []drivetrain.Part{&drivetrain.Shaft{Label: "spring", Twist: drivetrain.Twist{A: 0, B: 1}, K: 150}}, nil
		},
	}
}

func newStepper(t testing.TB, s Spec, o StepOptions) *Stepper {
	t.Helper()
	m, err := NewStepper(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// follow takes n steps to end and returns the state.
func follow(t testing.TB, s *Stepper, x []float64, end float64, n int) []float64 {
	t.Helper()
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	h := end / float64(n)
	for k := range n {
		if st := s.Step(float64(k)*h, h, x); st != engine.OK {
			t.Fatalf("step %d: %v: %s", k, st, s.StatusText())
		}
	}
	s.Forces(end, h, x)
	return x
}

// Joints that stick and slip go where the integration with located arrests goes, by an order that the arrests leave above one, and stand
// still in between.
func TestStepSticks(t *testing.T) {
	const end = 1.9
	m := build(t, sledge())
	want := m.NewState()
	if _, err := m.Run(context.Background(), want, 0, end, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	var off [2]float64
	for i, n := range []int{1900, 19000} {
		s := newStepper(t, sledge(), StepOptions{Audited: true})
		x := follow(t, s, s.NewState(), end, n)
		for k := range 4 {
			off[i] = math.Max(off[i], math.Abs(x[k]-want[k]))
		}
		if miss := s.BalanceError() / s.Input; math.Abs(miss) > 1e-3/float64(n/1900) {
			t.Errorf("%d steps: energy missed %.3g", n, miss)
		}
	}
	t.Logf("error %.3g at 1 ms, %.3g at 0.1 ms", off[0], off[1])
	if off[0] > 1e-4 || off[1] > off[0]/20 {
		t.Errorf("error %.3g at 1 ms, %.3g at 0.1 ms", off[0], off[1])
	}
}

// A mass on a rope stays where it is when its drum holds it by friction alone, which turns not by a bit; one beyond the friction falls
// with what is left.
func TestStepHolds(t *testing.T) {
	for _, c := range []struct{ level, fall float64 }{{1.5, 0}, {1, (0.05*3*9.81 - 1) / (3*0.05*0.05 + 0.005) * 0.05}} {
		s := newStepper(t, Spec{
			Spec: multibody.Spec{
				Gravity: r3.Vec{Z: -9.81},
				Bodies: []multibody.Body{
					{Name: "drum", Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Y: 1}, Armature: 0.005}},
					{Name: "mass", Joint: multibody.Joint{Kind: multibody.Prismatic}, Inertia: multibody.Inertia{Mass: 3}},
				},
				Couplings: []multibody.Coupling{{Name: "rope", Terms: []multibody.Term{{Joint: "drum", Factor: 0.05}, {Joint: "mass", Factor: -1}}}},
			},
			Friction: []Friction{{Joint: "drum", Law: &friction.Coulomb{Fc: c.level}}},
		}, StepOptions{})
		x := follow(t, s, s.NewState(), 0.1, 100)
		if want := -c.fall * 0.1 * 0.1 / 2; math.Abs(x[1]-want) > 1e-12 || c.fall == 0 &&
			(x[0] != 0 || x[2] != 0 || math.Abs(x[1])+math.Abs(x[3]) > 1e-16) {
			t.Errorf("level %g N·m: %.15g m at %.3g m/s, want %.15g m", c.level, x[1], x[3], want)
		}
	}
}

// A torque that is held from outside does what an effort of the machine does, and a motion that is told what one of the machine does.
func TestStepFromOutside(t *testing.T) {
	chain := func() Spec {
		return Spec{Spec: multibody.Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []multibody.Body{
			{Name: "a", Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: bar},
			{Name: "b", Parent: "a", Place: multibody.At(1, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute, Damping: 0.1, Stiffness: 2},
				Inertia: bar},
		}}}
	}
	within := chain()
	within.Efforts = []Effort{{"b", reference.Constant(1.5)}}
	outside := newStepper(t, chain(), StepOptions{TorqueJoints: []string{"b"}})
	outside.Push(0, 1.5)
	s := newStepper(t, within, StepOptions{})
	want, got := follow(t, s, s.NewState(), 0.3, 300), follow(t, outside, outside.NewState(), 0.3, 300)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("state %d: %.17g with a torque from outside, %.17g with an effort", i, got[i], want[i])
		}
	}

	swing := reference.Sine{Tone: reference.Tone{Amplitude: 0.4, Frequency: 2}}
	within = chain()
	within.Drives, within.Motions = []multibody.Drive{{Name: "a.motion", Joint: "a"}}, []reference.Generator{swing}
	s, told := newStepper(t, within, StepOptions{}), newStepper(t, chain(), StepOptions{MotionJoints: []string{"a"}})
	const h = 1e-3
	x, y := s.NewState(), told.NewState()
	lead := func(t float64) {
		p, v, a := swing.At(t)
		told.SetMotion(0, multibody.Motion{X: p, V: v, A: a})
	}
	lead(0)
	for _, b := range []struct {
		*Stepper
		x []float64
	}{{s, x}, {told, y}} {
		if _, err := b.Begin(0, b.x, multibody.Assembly{}); err != nil {
			t.Fatal(err)
		}
	}
	for k := range 400 {
		lead(float64(k)*h + h)
		s.Step(float64(k)*h, h, x)
		told.Step(float64(k)*h, h, y)
		s.Forces(float64(k)*h+h, h, x)
		told.Forces(float64(k)*h+h, h, y)
		if x[1] != y[1] || x[3] != y[3] || s.M.Data.Lambda[0] != told.M.Data.Lambda[0] {
			t.Fatalf("step %d: %v and %v", k, x, y)
		}
	}
	// what the drive exerts is what the motion of both bodies takes
	q, v, _ := s.M.split(x)
	d := s.M.Model.NewData()
	multibody.RNEA(s.M.Model, d, q, v, s.M.Data.QDD)
	if got := s.M.Data.Lambda[0]; math.Abs(got-d.Tau[0]) > 1e-9 {
		t.Errorf("torque of the drive %.12g N·m, want %.12g", got, d.Tau[0])
	}
}

// What a machine cannot do is named, and leaves it where it was.
func TestStepFails(t *testing.T) {
	// two arms of 1 m whose end is pulled outwards at 1 m/s: stretched at 0.5 s
	s := newStepper(t, Spec{Spec: multibody.Spec{
		Bodies: []multibody.Body{
			{Name: "a", Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: bar},
			{Name: "b", Parent: "a", Place: multibody.At(1, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: bar},
			{Name: "slide", Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}}, Inertia: multibody.Inertia{Mass: 1}},
		},
		Frames: []multibody.Frame{{Name: "tip", Body: "b", Pose: multibody.At(1, 0, 0)}},
		Cuts:   []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "tip", B: "slide"}},
	}}, StepOptions{MotionJoints: []string{"slide"}})
	x := s.NewState()
	copy(x, []float64{0.72, -1.44, 1.5})
	s.SetMotion(0, multibody.Motion{X: 1.5, V: 1})
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	const h = 1e-3
	for k := range 600 {
		s.SetMotion(0, multibody.Motion{X: 1.5 + float64(k+1)*h, V: 1})
		before := append([]float64(nil), x...)
		st := s.Step(float64(k)*h, h, x)
		if !finite(x) {
			t.Fatalf("step %d: %v", k, x)
		}
		if st == engine.OK || s.LastStatus == multibody.OK {
			continue // nearly stretched the joints fold as fast as they can
		}
		if k < 495 || k > 501 || st != engine.NotConverged || s.LastStatus != multibody.NotConverged ||
			!strings.Contains(s.StatusText(), "pin.") {
			t.Errorf("step %d: %v, %v: %s", k, st, s.LastStatus, s.StatusText())
		}
		for i := range x {
			if x[i] != before[i] {
				t.Errorf("state %d went from %g to %g", i, before[i], x[i])
			}
		}
		// back again it goes on
		s.SetMotion(0, multibody.Motion{X: before[2], V: 0})
		if st := s.Step(0, h, x); st != engine.OK {
			t.Errorf("back again: %v: %s", st, s.StatusText())
		}
		break
	}

	// a parallelogram that lies flat is singular
	flat := newStepper(t, Spec{Spec: multibody.Spec{
		Bodies: []multibody.Body{
			{Name: "left", Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: bar},
			{Name: "coupler", Parent: "left", Place: multibody.At(1, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: bar},
			{Name: "right", Place: multibody.At(1, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: bar},
		},
		Frames: []multibody.Frame{{Name: "end", Body: "coupler", Pose: multibody.At(1, 0, 0)},
			{Name: "tip", Body: "right", Pose: multibody.At(1, 0, 0)}},
		Cuts: []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "end", B: "tip"}},
	}}, StepOptions{})
	x = flat.NewState()
	if a, err := flat.Begin(0, x, multibody.Assembly{}); err != nil || !a.Singular {
		t.Fatal(a, err)
	}
	if st := flat.Step(0, h, x); st != engine.OK || flat.LastStatus != multibody.Singular ||
		!strings.Contains(flat.StatusText(), "singular") || !finite(x) {
		t.Errorf("%v, %v %s: %v", st, flat.LastStatus, flat.StatusText(), x)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		was := x[0]
		x[0] = bad
		if st := flat.Step(0, h, x); st != engine.NonFinite {
			t.Errorf("%g: %v", bad, st)
		}
		x[0] = was
	}
	if st := flat.Step(0, 0, x); st != engine.NonFinite {
		t.Errorf("a step of no length: %v", st)
	}
}

func finite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// What does not fit a machine is refused.
func TestStepperRefuses(t *testing.T) {
	for _, c := range []struct {
		o    StepOptions
		want string
	}{
		{StepOptions{MotionJoints: []string{"c"}}, `"c"`}, {StepOptions{TorqueJoints: []string{"c"}}, `"c"`},
		{StepOptions{Movers: map[string]Mover{"c": &sticking{}}}, `"c"`},
		{StepOptions{Movers: map[string]Mover{"a": &sticking{}}}, "twice"},
	} {
		if _, err := NewStepper(sledge(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A motor on pulses under a law of bristles, and sledges that stick, take no memory.
func TestStepAllocations(t *testing.T) {
	for name, spec := range map[string]Spec{"sledge": sledge(), "winch": {
		Spec: multibody.Spec{Bodies: []multibody.Body{{Name: "drum",
			Joint: multibody.Joint{Kind: multibody.Revolute, Armature: 0.005, Damping: 0.01}}}},
		Parts: func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
			c, err := circuit.Build(circuit.Spec{Axes: axes, Elements: []circuit.Element{
				&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0",
					U: &circuit.PWM{High: 24, Period: 2e-3, Duty: reference.Constant(0.6)}, R: 0.1},
				&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 0.9, L: 3e-3, K: 0.4}, Axis: 0},
			}})
			return []drivetrain.Part{c, &drivetrain.Bearing{Label: "drum.friction", Twist: drivetrain.Twist{A: 0, B: drivetrain.Ground},
				Law: &friction.Dahl{Sigma0: 300, Fc: 0.3, Exponent: 1}}}, err
		},
	}} {
		stepTakesNoMemory(t, name, spec)
	}
}

// stepTakesNoMemory steps a machine and balances its energies, without an allocation.
func stepTakesNoMemory(t *testing.T, name string, spec Spec) {
	t.Helper()
	s := newStepper(t, spec, StepOptions{Audited: true})
	x := s.NewState()
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	at := 0.0
	if a := testing.AllocsPerRun(200, func() { s.Step(at, 1e-3, x); s.Forces(at+1e-3, 1e-3, x); at += 1e-3 }); a != 0 {
		t.Errorf("%s: %g allocations", name, a)
	}
}
