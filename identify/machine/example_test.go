package machine_test

import (
	"fmt"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
	"hilrig/identify/machine"
)

// What the torques of a hanging arm of two links tell: six sums of the parameters of its bodies.
func ExampleNewBase() {
	link := multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.1}, I: rotation.Eye.Scale(0.01)}
	joint := multibody.Joint{Kind: multibody.Revolute}
	m, err := multibody.Build(multibody.Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []multibody.Body{
		{Name: "upper", Joint: joint, Inertia: link},
		{Name: "lower", Parent: "upper", Place: multibody.At(0.3, 0, 0), Joint: joint, Inertia: link},
	}})
	if err != nil {
		panic(err)
	}
	b := machine.NewBase(m, machine.Spec{Terms: []machine.Term{machine.Inertia}}, nil)
	for i := range b.Pivot {
		fmt.Println(b.Text(i))
	}
	// Output:
	// upper.mcx + 0.3·lower.mass
	// upper.mcy
	// upper.izz + 0.09·lower.mass
	// lower.mcx
	// lower.mcy
	// lower.izz
}
