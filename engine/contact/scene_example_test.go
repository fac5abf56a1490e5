package contact_test

import (
	"fmt"

	"hilrig/engine/contact"
)

// A block is thrown along the ground and comes to rest: v²/(2·μ·g) = 0.51 m.
func ExampleScene() {
	box, err := contact.Rectangle(0.1, 0.05, 0.002)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := contact.NewScene(contact.SceneSpec{
		Gravity: [2]float64{0, -9.81},
		Bodies: []contact.BodySpec{
			{Name: "ground", Locked: [3]bool{true, true, true}, Shape: contact.Shape{HalfPlane: true}},
			{
				Name: "block", Mass: 0.5, Inertia: 5e-4, Shape: contact.Shape{Outline: box},
				Pose: [3]float64{0, 0.025, 0}, Speed: [3]float64{1, 0, 0},
			},
		},
		Pairs: []contact.PairSpec{{A: "block", B: "ground", Law: contact.Law{Mu: 0.1}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := contact.NewMoreau(s, contact.MoreauOptions{Step: 1e-3})
	if err != nil {
		fmt.Println(err)
		return
	}
	q, u := make([]float64, s.DOF()), make([]float64, s.DOF())
	s.Start(q, u)
	for k := range 1500 {
		m.Step(float64(k)*1e-3, q, u)
	}
	fmt.Printf("%s of the %s: %.2f m, %.2f m/s\n", s.Coordinates()[0].Axis, s.Coordinates()[0].Body, q[0], u[0])
	// Output: x of the block: 0.51 m, 0.00 m/s
}
