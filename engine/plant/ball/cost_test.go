package ball

import (
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// moving is a ball with everything on, in motion.
func moving(t testing.TB, slips bool) (*Model, State) {
	p := otherBall()
	p.Roll, p.Spin = Friction{3e-4, 5e-5, 2e-4, 3e-4}, Friction{1e-4, 1e-5, 1e-5, 2e-5}
	p.Slips, p.Slide = slips, 0.1
	m := model(t, p)
	s := State{Q: quaternion(r3.Vec{X: 0.4, Y: 1.1, Z: -0.3}), W: r3.Vec{X: 5, Y: -3, Z: 4}, VX: 3}
	m.Place(&s)
	return m, s
}

func TestAllocatesNothing(t *testing.T) {
	for _, slips := range []bool{false, true} {
		m, s := moving(t, slips)
		x, y := make([]float64, States), make([]float64, Outputs)
		Pack(&s, x)
		var sys engine.System = System{m}
		if n := testing.AllocsPerRun(2000, func() { sys.Step(1e-3, x, nil, y) }); n != 0 { // through sliding, rolling and rest
			t.Errorf("a step allocates %g times", n)
		}
	}
}

// The layout names as many numbers as there are, and a state survives being packed.
func TestLayout(t *testing.T) {
	l := System{}.Layout()
	if l.NQ+l.NV+l.NA != States || len(l.States) != States || len(l.Outputs) != Outputs {
		t.Errorf("%d, %d and %d states, %d names; %d outputs, want %d", l.NQ, l.NV, l.NA, len(l.States), len(l.Outputs), Outputs)
	}
	_, s := moving(t, true)
	s.Mode.SpinHeld = true
	x := make([]float64, States)
	if Pack(&s, x); Unpack(x) != s {
		t.Errorf("%+v came back as %+v", s, Unpack(x))
	}
}

// What is no number is told, and the state stays.
func TestNonFinite(t *testing.T) {
	m, s := moving(t, false)
	s.W.Y *= 1e200
	before := s
	if _, st := m.Step(1e-3, &s); st != engine.NonFinite || s != before {
		t.Errorf("%v, %+v", st, s)
	}
}

// A ball whose centre of mass is flung up faster than gravity takes it down would leave the plane: the step says so.
func TestLeavesPlane(t *testing.T) {
	p := Paper()
	for _, c := range []struct {
		share float64
		st    engine.Status
	}{{0.99, engine.OK}, {1.01, engine.Limited}} {
		m := model(t, p)
		s := at(-3.14159265358979) // centre of mass on top, m·c·ω² against m·g
		s.W.X = c.share * 30       // √(9.81/0.0109) = 30.0 rad/s
		m.Place(&s)
		if a, st := m.Step(1e-6, &s); st != c.st {
			t.Errorf("at %g of the speed: %v, N = %g N", c.share, st, a.Force.Z)
		}
	}
}

var sink r3.Vec

// Benchmarks: the right-hand side against a step of 1 ms, which takes six of them and one for the beginning.
func BenchmarkRightHandSide(b *testing.B) {
	m := model(b, Paper())
	s := at(0.9)
	s.W = r3.Vec{X: 3, Y: 1, Z: 2}
	f := s.Frame()
	b.ReportAllocs()
	for b.Loop() {
		sink, _ = m.RollingForce(&f, s.W)
	}
}

func BenchmarkRightHandSideDry(b *testing.B) {
	m, s := moving(b, false)
	f := s.Frame()
	b.ReportAllocs()
	for b.Loop() {
		sink, _ = m.RollingForce(&f, s.W)
	}
}

func BenchmarkStep(b *testing.B) {
	p := Paper()
	p.Roll.Linear = 0
	m, s := model(b, p), at(0.9)
	m.Place(&s)
	b.ReportAllocs()
	for b.Loop() {
		m.Step(1e-3, &s)
	}
}

func BenchmarkStepSlip(b *testing.B) {
	m, begin := moving(b, true)
	b.ReportAllocs()
	for b.Loop() {
		s := begin
		m.Step(1e-3, &s)
	}
}
