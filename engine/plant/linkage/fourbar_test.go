package linkage

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
)

const rotor = 1e-3 // kg·m²

// fourBar is a crank-rocker of rods of 1 kg/m: crank 0.1 m, coupler 0.35 m, rocker 0.3 m, ground 0.4 m.
func fourBar() machine.Spec {
	rod := func(name, parent string, at, l float64) multibody.Body {
		i := l * l * l / 12
		return multibody.Body{Name: name, Parent: parent, Place: multibody.At(at, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute},
			Inertia: multibody.Inertia{Mass: l, Com: r3.Vec{X: l / 2}, I: rotation.Diag(r3.Vec{X: i / 2, Y: i / 2, Z: i})}}
	}
	s := machine.Spec{Spec: multibody.Spec{
		Gravity: r3.Vec{Y: -9.81},
		Bodies:  []multibody.Body{rod("crank", "", 0, 0.1), rod("coupler", "crank", 0.1, 0.35), rod("rocker", "", 0.4, 0.3)},
		Frames: []multibody.Frame{{Name: "c", Body: "coupler", Pose: multibody.At(0.35, 0, 0)},
			{Name: "r", Body: "rocker", Pose: multibody.At(0.3, 0, 0)}},
		Cuts: []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "c", B: "r"}},
	}}
	s.Bodies[0].Joint.Armature, s.Bodies[0].Joint.Damping = rotor, 0.002
	return s
}

// assembled is the start of fourBar with its crank at 0.5 rad.
func assembled(t testing.TB, assemble func(x []float64, how multibody.Assembly) (multibody.Assembled, error), x []float64) {
	t.Helper()
	copy(x, []float64{0.5, 0.27711649, 1.78139383})
	if _, err := assemble(x, multibody.Assembly{Hold: []string{"crank"}}); err != nil {
		t.Fatal(err)
	}
}

// crank is the plant whose one axis turns the crank.
func crank(t testing.TB, a plant.AxisSpec, watch ...string) *Plant {
	t.Helper()
	a.Name, a.Motor.J = "crank", rotor
	p, err := New(Spec{Axes: []plant.AxisSpec{a}, Watch: watch, Stepper: func(o machine.StepOptions) (*machine.Stepper, []float64, error) {
		s, err := machine.NewStepper(fourBar(), o)
		if err != nil {
			return nil, nil, err
		}
		x := s.NewState()
		assembled(t, func(x []float64, how multibody.Assembly) (multibody.Assembled, error) { return s.Begin(0, x, how) }, x)
		return s, x, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A crank that an effort drives, against friction that sticks, turns its four-bar as the integrator with located arrests has it, by order
// two, and the numbers that are watched are those of the machine.
func TestFourBarTurns(t *testing.T) {
	const torque, level, end = 0.4, 0.1, 0.5
	spec := fourBar()
	spec.Efforts, spec.Friction = []machine.Effort{{Joint: "crank", Generator: reference.Constant(torque)}},
		[]machine.Friction{{Joint: "crank", Law: &friction.Coulomb{Fc: level}}}
	m, err := machine.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	want := m.NewState()
	assembled(t, func(x []float64, how multibody.Assembly) (multibody.Assembled, error) { return m.Assemble(0, x, how) }, want)
	var pin [2]float64
	if _, err := m.Run(context.Background(), want, 0, end, machine.Options{},
		func(s *machine.Sample) error { copy(pin[:], s.Lambda); return nil }); err != nil {
		t.Fatal(err)
	}
	var off [2]float64
	for i, n := range []int{500, 5000} {
		p := crank(t, plant.AxisSpec{Drive: plant.Drive{Kind: plant.EffortDrive}, Friction: &friction.Coulomb{Fc: level}}, "rocker.q",
			"rocker.v", "pin", "residual")
		x, y := p.NewState(), make([]float64, plant.Outputs+5)
		for range n {
			if st := p.Step(end/float64(n), x, []float64{torque, 1}, y); st != engine.OK {
				t.Fatalf("%v: %s", st, p.StatusText())
			}
			if y[plant.Outputs+4] > 1e-10 {
				t.Fatalf("the pin is off by %.3g m", y[plant.Outputs+4])
			}
		}
		for k := range 6 {
			off[i] = math.Max(off[i], math.Abs(x[k]-want[k]))
		}
		if y[0] != x[0] || y[plant.Outputs] != x[2] || y[plant.Outputs+1] != x[5] || y[plant.OutEffort] != torque ||
			math.Abs(y[plant.OutFriction]-level) > 1e-12 {
			t.Errorf("outputs %v at %v", y, x)
		}
		if i == 1 && math.Abs(y[plant.Outputs+2]-pin[0])+math.Abs(y[plant.Outputs+3]-pin[1]) > 1e-4 {
			t.Errorf("pin carries %g, %g N, want %g, %g N", y[plant.Outputs+2], y[plant.Outputs+3], pin[0], pin[1])
		}
	}
	t.Logf("error %.3g at 1 ms, %.3g at 0.1 ms, crank at %.4g rad", off[0], off[1], want[0])
	if off[0] > 2e-2 || off[1] > off[0]/50 {
		t.Errorf("error %.3g at 1 ms, %.3g at 0.1 ms", off[0], off[1])
	}
}

// Friction that holds the crank holds all of it. A command that is no number moves nothing.
func TestFourBarStands(t *testing.T) {
	p := crank(t, plant.AxisSpec{Drive: plant.Drive{Kind: plant.EffortDrive}, Friction: &friction.Coulomb{Fc: 1}})
	x, y := p.NewState(), make([]float64, plant.Outputs)
	for range 100 {
		if st := p.Step(1e-3, x, []float64{0.2, 1}, y); st != engine.OK {
			t.Fatal(st)
		}
	}
	if x[0] != 0.5 || x[3] != 0 {
		t.Errorf("the crank is at %.17g rad with %g rad/s", x[0], x[3])
	}
	before := append([]float64(nil), x...)
	if st := p.Step(1e-3, x, []float64{math.NaN(), 1}, y); st != engine.NonFinite {
		t.Errorf("status %v", st)
	}
	for i := range x {
		if x[i] != before[i] {
			t.Errorf("state %d went from %g to %g", i, before[i], x[i])
		}
	}
	// load and temperature are those of the axis
	if was := p.Set(1, x, 0.7); was != 0 {
		t.Errorf("load was %g", was)
	}
	if was := p.Set(2, x, 60); was != 0 || x[len(x)-2] != 60 {
		t.Errorf("temperature was %g, is %g", was, x[len(x)-2])
	}
}

func TestAllocations(t *testing.T) {
	p := crank(t, plant.AxisSpec{Motor: plant.Motor{R: 2, L: 5e-3, K: 0.3}, Friction: &friction.Coulomb{Fc: 0.05},
		Supply: [2]float64{-24, 24}}, "pin")
	x, y := p.NewState(), make([]float64, plant.Outputs+2)
	if n := testing.AllocsPerRun(100, func() { p.Step(1e-4, x, []float64{12, 1}, y) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkStep(b *testing.B) {
	for name, p := range map[string]*Plant{
		"four-bar with motor": crank(b, plant.AxisSpec{Motor: plant.Motor{R: 2, L: 5e-3, K: 0.3},
			Friction: &friction.LuGre{Sigma0: 400, Sigma1: 2, Sigma2: 0.002, Fc: 0.05, Fs: 0.07, Vs: 0.1, Vd: 0.1}, Supply: [2]float64{-24, 24}}),
	} {
		b.Run(name, func(b *testing.B) {
			x, y := p.NewState(), make([]float64, plant.Outputs)
			b.ReportAllocs()
			for b.Loop() {
				p.Step(5e-5, x, []float64{12, 1}, y)
			}
		})
	}
}
