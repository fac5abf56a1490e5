package linkage

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/rotation"
)

// parallelogram is the plant of one of three rods of 1 m and 1 kg, without gravity, whose left post is an axis; its coupler is longer by
// off (m).
func parallelogram(t testing.TB, off float64) *Plant {
	t.Helper()
	rod := func(name, parent string, at float64) multibody.Body {
		return multibody.Body{Name: name, Parent: parent, Place: multibody.At(at, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute},
			Inertia: multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.5}, I: rotation.Diag(r3.Vec{Y: 1.0 / 12, Z: 1.0 / 12})}}
	}
	spec := machine.Spec{Spec: multibody.Spec{
		Bodies: []multibody.Body{rod("left", "", 0), rod("coupler", "left", 1), rod("right", "", 1)},
		Frames: []multibody.Frame{{Name: "c", Body: "coupler", Pose: multibody.At(1+off, 0, 0)},
			{Name: "r", Body: "right", Pose: multibody.At(1, 0, 0)}},
		Cuts: []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "c", B: "r"}},
	}}
	spec.Bodies[0].Joint.Armature = rotor
	axis := plant.AxisSpec{Name: "left", Drive: plant.Drive{Kind: plant.EffortDrive}, Friction: &friction.Coulomb{Fc: 0}}
	axis.Motor.J = rotor
	p, err := New(Spec{Axes: []plant.AxisSpec{axis}, Stepper: func(o machine.StepOptions) (*machine.Stepper, []float64, error) {
		s, err := machine.NewStepper(spec, o)
		if err != nil {
			return nil, nil, err
		}
		x := s.NewState()
		copy(x, []float64{1, -1, 1})
		_, err = s.Begin(0, x, multibody.Assembly{})
		return s, x, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A plant that is driven through its flat positions and back turns as a mass of 5/3 kg·m² and its rotor does: θ″ = τ/J.
func TestPlantThroughFlatPositions(t *testing.T) {
	p := parallelogram(t, 0)
	x, y := p.NewState(), make([]float64, plant.Outputs)
	theta, rate := 1.0, 0.0
	for k := range 6000 {
		torque := -4.0
		if k >= 2000 && k < 5000 {
			torque = 4
		}
		if st := p.Step(1e-3, x, []float64{torque, 1}, y); st != engine.OK {
			t.Fatalf("step %d: %v: %s", k, st, p.StatusText())
		}
		a := torque / (5.0/3 + rotor)
		theta, rate = theta+1e-3*rate+0.5e-6*a, rate+1e-3*a
		if math.Abs(x[0]-theta) > 1e-5 || math.Abs(x[3]-rate) > 1e-5 {
			t.Fatalf("after %d ms at %.7f rad with %.7f rad/s, want %.7f, %.7f", k+1, x[0], x[3], theta, rate)
		}
	}
	if theta > -1.5*math.Pi {
		t.Errorf("only to %g rad", theta)
	}
}

// One whose coupler is 10 nm too long cannot be followed there: it is lost and stays where it is.
func TestPlantIsLost(t *testing.T) {
	p := parallelogram(t, 1e-8)
	x, y := p.NewState(), make([]float64, plant.Outputs)
	lost, at := 0, 0.0
	for k := range 2000 {
		st := p.Step(1e-3, x, []float64{-4, 1}, y)
		if st == engine.Lost {
			if lost++; lost == 1 {
				at = x[0]
			}
		}
		if lost > 0 && (st != engine.Lost || x[0] != at) || lost == 0 && st != engine.OK {
			t.Fatalf("step %d: %v at %g", k, st, x[0])
		}
	}
	if lost < 500 || math.Abs(at) > 0.05 || !strings.Contains(p.StatusText(), "singular position") {
		t.Errorf("lost for %d steps at %g rad: %s", lost, at, p.StatusText())
	}
}
