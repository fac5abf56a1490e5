package machine

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/circuit/servo"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// crane is a trolley with a load that hangs on it. A controller moves the trolley; it samples every so often, at no multiple of the steps.
func crane(every float64) Spec {
	return Spec{
		Spec: multibody.Spec{Gravity: r3.Vec{Z: -9.81}, Bodies: []multibody.Body{
			{Name: "trolley", Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}, Damping: 2},
				Inertia: multibody.Inertia{Mass: 2}},
			{Name: "load", Parent: "trolley", Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Y: 1}},
				Inertia: multibody.Inertia{Mass: 1, Com: r3.Vec{Z: -0.5}}},
		}},
		Parts: func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
			p, err := servo.New("drive", nil, axes, []servo.Controller{{Name: "drive", SamplePeriod: every,
				PID: control.PID{Kp: 300, Ki: 200, Kd: 40, Limit: 50},
				Channels: []servo.Channel{{Measured: servo.Measured{Quantity: servo.Position, Axis: 0},
					Reference: reference.Sine{Tone: reference.Tone{Amplitude: 0.2, Frequency: 0.8}}, To: servo.Target{Axis: 0}}}}})
			return []drivetrain.Part{p}, err
		},
	}
}

// The fixed step is cut at the samples and goes where the adaptive one goes, by order two; so do continuous controllers.
func TestSamplesInFixedSteps(t *testing.T) {
	for _, every := range []float64{0, 0.7e-3, 3.3e-3, 0.02} {
		m := build(t, crane(every))
		want := m.NewState()
		r, err := m.Run(context.Background(), want, 0, 0.5, Options{Rtol: 1e-12, Atol: 1e-13}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Audit.Check(1e-9); err != nil {
			t.Error(err)
		}
		off := func(n int) (worst float64) {
			s := newStepper(t, crane(every), StepOptions{})
			x := follow(t, s, s.NewState(), 0.5, n)
			for i := range 4 {
				worst = math.Max(worst, math.Abs(x[i]-want[i]))
			}
			return worst
		}
		coarse, fine := off(250), off(2500)
		order := 50.0
		if every > 0 && every < 2e-3 {
			order = 8 // the long steps are cut to this
		}
		if !(coarse < 2e-4) || !(fine < coarse/order) && fine > 1e-8 {
			t.Errorf("every %g s: error %.3g at 2 ms, %.3g at 0.2 ms", every, coarse, fine)
		}
		t.Logf("every %g s: error %.3g at 2 ms, %.3g at 0.2 ms", every, coarse, fine)
	}
}

// A joint that is led from outside goes on its way through the cuts, and the torque of a controller elsewhere does not depend on the step.
func TestSamplesBesideLedJoint(t *testing.T) {
	way := func(t float64) multibody.Motion {
		sin, cos := math.Sincos(6 * t)
		return multibody.Motion{X: 0.1 * (1 - cos), V: 0.6 * sin, A: 3.6 * cos}
	}
	end := func(n int) []float64 {
		s := newStepper(t, crane(0.7e-3), StepOptions{MotionJoints: []string{"load"}})
		x, h := s.NewState(), 0.4/float64(n)
		s.SetMotion(0, way(0))
		if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
			t.Fatal(err)
		}
		for k := range n {
			s.SetMotion(0, way(float64(k+1)*h))
			if st := s.Step(float64(k)*h, h, x); st != 0 {
				t.Fatal(st, s.StatusText())
			}
			if at := way(float64(k+1) * h); math.Abs(x[1]-at.X) > 1e-12 || math.Abs(x[3]-at.V) > 1e-12 {
				t.Fatalf("led to %g, %g, want %g, %g", x[1], x[3], at.X, at.V)
			}
		}
		return x
	}
	want := end(40000)
	coarse, fine := math.Abs(end(200)[0]-want[0]), math.Abs(end(2000)[0]-want[0])
	if !(coarse < 1e-5) || !(fine < coarse/40) && fine > 1e-9 {
		t.Errorf("error %.3g m at 2 ms, %.3g m at 0.2 ms", coarse, fine)
	}
	t.Logf("error %.3g m at 2 ms, %.3g m at 0.2 ms", coarse, fine)
}

// A step that fails leaves the state and the integrals of controllers as they were, even where a part of it was taken; one that succeeds
// allocates nothing.
func TestSamplesOfAFailedStep(t *testing.T) {
	spec := crane(0.7e-3)
	spec.Efforts = []Effort{{"trolley", after(1e-3)}}
	s := newStepper(t, spec, StepOptions{})
	x := s.NewState()
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	x[0] = 0.05
	was := append([]float64(nil), x...)
	if st := s.Step(0, 2e-3, x); st == 0 {
		t.Fatal("the step goes through")
	}
	for i := range x {
		if x[i] != was[i] {
			t.Errorf("number %d is %g, want %g", i, x[i], was[i])
		}
	}
	if st := s.Step(0, 0.5e-3, x); st != 0 || x[4] == 0 {
		t.Errorf("%v, integral %g", st, x[4])
	}
	s = newStepper(t, crane(0.7e-3), StepOptions{})
	x, k := s.NewState(), 0
	if n := testing.AllocsPerRun(100, func() { s.Step(float64(k)*2e-3, 2e-3, x); k++ }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// after is no number after a time.
type after float64

func (a after) At(t float64) (pos, vel, acc float64) {
	if t > float64(a) {
		return math.NaN(), 0, 0
	}
	return 0, 0, 0
}

// A controller that jumps sets a joint loose that stuck, at the sample.
func TestSampleBreaksAway(t *testing.T) {
	spec := crane(0.05)
	spec.Bodies = spec.Bodies[:1]
	spec.Friction = []Friction{{Joint: "trolley", Law: &friction.Coulomb{Fc: 30}}}
	spec.Parts = func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
		p, err := servo.New("drive", nil, axes, []servo.Controller{{Name: "drive", SamplePeriod: 0.05, PID: control.PID{Kp: 100},
			Channels: []servo.Channel{{Measured: servo.Measured{Quantity: servo.Position, Axis: 0}, Reference: reference.Ramp{Velocity: 1},
				To: servo.Target{Axis: 0}}}}})
		return []drivetrain.Part{p}, err
	}
	m := build(t, spec)
	x := m.NewState()
	// samples at 0.3 s ask for 30 N, which friction holds to rounding, at 0.35 s for 35 N: (35 − 30) N on 2 kg, less damping, for 0.02 s
	if _, err := m.Run(context.Background(), x, 0, 0.37, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	// m·v′ = 5 − 2·v: v = 2.5·(1 − e^{−t})
	if want := -2.5 * math.Expm1(-0.02); math.Abs(x[1]-want) > 1e-9 {
		t.Errorf("speed %.12g m/s, want %.12g", x[1], want)
	}
}
