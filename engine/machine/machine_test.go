package machine

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
)

func build(t testing.TB, s Spec) *Machine {
	t.Helper()
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// winch is a motor on a drum that lifts a mass on a rope: rotor behind a gear, a coupling q_mass = 0.05·q_drum, friction of bristles.
func winch(t testing.TB, law friction.Model) *Machine {
	return build(t, Spec{
		Spec: multibody.Spec{
			Gravity: r3.Vec{Z: -9.81},
			Bodies: []multibody.Body{
				{Name: "drum", Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Y: 1}, Armature: 0.005, Damping: 0.01}},
				{Name: "mass", Joint: multibody.Joint{Kind: multibody.Prismatic}, Inertia: multibody.Inertia{Mass: 3}},
			},
			Couplings: []multibody.Coupling{{Name: "rope", Terms: []multibody.Term{{Joint: "drum", Factor: 0.05}, {Joint: "mass", Factor: -1}}}},
		},
		Parts: func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
			k, err := axis("drum")
			if err != nil {
				return nil, err
			}
			c, err := circuit.Build(circuit.Spec{Axes: axes, Elements: []circuit.Element{
				&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0",
					U: &circuit.PWM{High: 24, Period: 2e-3, Duty: reference.Constant(0.6)}, R: 0.1},
				&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 0.9, L: 3e-3, K: 0.4}, Axis: k},
			}})
			return []drivetrain.Part{c, &drivetrain.Bearing{Label: "drum.friction", Twist: drivetrain.Twist{A: k, B: drivetrain.Ground}, Law: law}},
				err
		},
	})
}

// Lifted by a motor on pulses, the mass comes to the speed at which mean voltage, torque, friction and weight balance, and the energies of
// each part close.
func TestWinch(t *testing.T) {
	m := winch(t, &friction.Dahl{Sigma0: 300, Fc: 0.3, Exponent: 1})
	x := m.NewState()
	if _, err := m.Assemble(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	const end = 1.2
	var height, height1 float64
	r, err := m.Run(context.Background(), x, 0, end, Options{Rtol: 1e-9, Atol: 1e-11, SampleInterval: 0.2}, func(s *Sample) error {
		if math.Abs(s.T-1) < 1e-9 {
			height1 = s.X[1]
		}
		height = s.X[1]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// K·i = 0.05·3·9.81 + 0.3 + 0.01·w,  0.6·24 = 1·i + K·w
	want := (0.4*14.4 - 0.05*3*9.81 - 0.3) / (0.4*0.4 + 0.01)
	if got := (height - height1) / 0.2 / 0.05; math.Abs(got-want) > 1e-4*want {
		t.Errorf("mean speed %.8g, want %.8g rad/s", got, want)
	}
	if err := r.Audit.Check(1e-8); err != nil {
		t.Error(err)
	}
	if r.Residual > 1e-11 || r.Accepted == 0 {
		t.Errorf("%+v", r)
	}
}

// A state, and what Row says of it, have the columns that are named.
func TestColumns(t *testing.T) {
	m := winch(t, &friction.Dahl{Sigma0: 300, Fc: 0.3, Exponent: 1})
	var names []string
	for _, c := range m.Columns() {
		names = append(names, c.Name+" "+c.Unit)
	}
	want := "drum.q rad, mass.q m, drum.v rad/s, mass.v m/s, motor.i A, drum.friction.bristle rad, rope N·m, residual , residual_rate , " +
		"kinetic J, potential J, input J, loss J"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("%s", got)
	}
	free := build(t, Spec{Spec: multibody.Spec{Bodies: []multibody.Body{{Name: "b", Joint: multibody.Joint{Kind: multibody.Free},
		Inertia: brick}}}})
	if n := len(free.Columns()); n != 13+4 {
		t.Errorf("%d columns of a free body", n)
	}
}

var brick = multibody.Inertia{Mass: 2, Com: r3.Vec{X: 0.1}, I: rotation.Diag(r3.Vec{X: 0.01, Y: 0.02, Z: 0.025})}

// A free body without forces keeps momentum, angular momentum and energy over many turns about its middle axis, where it tumbles.
func TestFreeBodyTumbles(t *testing.T) {
	m := build(t, Spec{Spec: multibody.Spec{Bodies: []multibody.Body{{Name: "b", Joint: multibody.Joint{Kind: multibody.Free},
		Inertia: brick}}}})
	x := m.NewState()
	copy(x[7:], []float64{0.01, 8, 0.02, 0.3, 0, -0.1})
	var ang0, lin0 r3.Vec
	_, err := m.Run(context.Background(), x, 0, 10, Options{SampleInterval: 1}, func(s *Sample) error {
		q, v, _ := m.split(s.X)
		multibody.Velocities(m.Model, m.Data, q, v)
		ang, lin := multibody.Momentum(m.Model, m.Data, q, v)
		if s.T == 0 {
			ang0, lin0 = ang, lin
		}
		if d := r3.Norm(r3.Sub(ang, ang0)) + r3.Norm(r3.Sub(lin, lin0)); d > 1e-8 {
			t.Errorf("t = %g s: momenta drift by %.2g", s.T, d)
		}
		if n := q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3]; math.Abs(n-1) > 1e-14 {
			t.Errorf("quaternion of length² %.16g", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A damped spring between two bodies turns into heat what they lose.
func TestDampedSpring(t *testing.T) {
	s := Spec{Spec: multibody.Spec{
		Gravity: r3.Vec{Z: -9.81},
		Bodies: []multibody.Body{
			{Name: "a", Joint: multibody.Joint{Kind: multibody.Free}, Inertia: brick},
			{Name: "b", Joint: multibody.Joint{Kind: multibody.Spherical, Damping: 0.01}, Inertia: brick},
		},
		Frames: []multibody.Frame{{Name: "on a", Body: "a", Pose: multibody.At(0, 0.2, 0)},
			{Name: "on b", Body: "b", Pose: multibody.At(0.3, 0, 0.1)}},
		Springs: []multibody.Spring{{Name: "s", A: "on a", B: "on b", Stiffness: 200, Damping: 3, Length: 0.4}},
	}}
	m := build(t, s)
	x := m.NewState()
	x[4], x[6] = 0.5, -0.3
	r, err := m.Run(context.Background(), x, 0, 2, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Audit.Check(1e-9); err != nil || r.Audit.Lines[0].Loss < 0.1 {
		t.Error(err, r.Audit.Lines)
	}
}

// What a machine cannot do is said with time and place.
func TestFailures(t *testing.T) {
	arm := multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.5}, I: rotation.Diag(r3.Vec{X: 0.1, Y: 0.1, Z: 0.1})}
	// two arms of 1 m whose end is pulled outwards at 1 m/s from 1.5 m: stretched at 0.5 s
	s := Spec{
		Spec: multibody.Spec{
			Bodies: []multibody.Body{
				{Name: "a", Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: arm},
				{Name: "b", Parent: "a", Place: multibody.At(1, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: arm},
				{Name: "slide", Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}}, Inertia: multibody.Inertia{Mass: 1}},
			},
			Frames: []multibody.Frame{{Name: "tip", Body: "b", Pose: multibody.At(1, 0, 0)}},
			Cuts:   []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "tip", B: "slide"}},
			Drives: []multibody.Drive{{Name: "pull", Joint: "slide"}},
		},
		Motions: []reference.Generator{reference.Ramp{Offset: 1.5, Velocity: 1}},
	}
	m := build(t, s)
	x := m.NewState()
	copy(x, []float64{0.72, -1.44, 1.5})
	if _, err := m.Assemble(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	_, err := m.Run(context.Background(), x, 0, 2, Options{}, nil)
	var f *Failure
	if !errors.As(err, &f) || math.Abs(f.T-0.5) > 1e-3 || !strings.Contains(f.Position, "slide = ") {
		t.Errorf("%v", err)
	}
	t.Log(err)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Run(ctx, x, 0, 1, Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	s.Efforts = []Effort{{Joint: "slde"}}
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), `"slide"`) {
		t.Error(err)
	}
	s.Efforts, s.Bodies[2].Joint = nil, multibody.Joint{Kind: multibody.Spherical}
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "spherical") {
		t.Error(err)
	}
}

func TestFlowAllocations(t *testing.T) {
	m := winch(t, &friction.Dahl{Sigma0: 300, Fc: 0.3, Exponent: 1})
	x := m.NewState()
	dx := make([]float64, len(x))
	if a := testing.AllocsPerRun(100, func() { m.Flow(0, x, dx) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}
