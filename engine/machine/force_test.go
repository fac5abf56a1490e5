package machine

import (
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// Forces on bodies cost a step no memory.
func TestForcesDoNotAllocate(t *testing.T) {
	spec := Spec{
		Spec: multibody.Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []multibody.Body{
			{Name: "a", Joint: multibody.Joint{Kind: multibody.Revolute, Damping: 0.1}, Inertia: bar},
			{Name: "b", Parent: "a", Place: multibody.At(1, 0, 0), Joint: multibody.Joint{Kind: multibody.Spherical}, Inertia: bar},
		}},
		Forces: []Force{{Name: "f", Frame: "b", Direction: r3.Vec{X: 1, Z: 2}, World: true,
			Force: reference.Sine{Tone: reference.Tone{Amplitude: 3, Frequency: 2}}},
			{Name: "g", Frame: "a", Direction: r3.Vec{Z: 1}, Torque: reference.Constant(0.2)}},
	}
	s := newStepper(t, spec, StepOptions{Audited: true})
	x, k := s.NewState(), 0.0
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if st := s.Step(k, 1e-3, x); st != engine.OK {
			t.Fatal(s.StatusText())
		}
		s.Forces(k+1e-3, 1e-3, x)
		k += 1e-3
	}); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
	m := build(t, spec)
	y := m.NewState()
	dy := make([]float64, len(y))
	if n := testing.AllocsPerRun(100, func() { m.Flow(0.1, y, dy) }); n != 0 {
		t.Errorf("%g allocations in an evaluation", n)
	}
}
