package multibody_test

import (
	"fmt"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// A pendulum with a rod of 1 kg and 1 m, let go in the horizontal: 3g/2 rad/s².
func ExampleABA() {
	m, err := multibody.Build(multibody.Spec{
		Gravity: r3.Vec{Z: -9.81},
		Bodies: []multibody.Body{{
			Name:  "rod",
			Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Y: 1}},
			Inertia: multibody.Inertia{
				Mass: 1, Com: r3.Vec{X: 0.5}, I: rotation.Diag(r3.Vec{Y: 1.0 / 12, Z: 1.0 / 12}),
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := m.NewData()
	st := multibody.ABA(m, d, []float64{0}, []float64{0}, []float64{0})
	fmt.Printf("%.4f rad/s², %v\n", d.QDD[0], st)
	// Output: 14.7150 rad/s², ok
}
