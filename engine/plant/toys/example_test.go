package toys_test

import (
	"fmt"

	"hilrig/engine/contact"
	"hilrig/engine/plant/toys"
)

// A block on an incline with μ < tan α, for a second with a fixed step.
func Example() {
	info, _ := toys.Find("block")
	block, err := info.Make(map[string]float64{"slope": 0.3, "ground.mu": 0.2})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := contact.NewMoreau(block, contact.MoreauOptions{Step: 1e-3, Positions: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	q, u := make([]float64, 3), make([]float64, 3)
	block.Start(q, u)
	for k := range 1000 {
		m.Step(float64(k)*1e-3, q, u)
	}
	fmt.Printf("%.3f m/s after %.2f m, %d contacts, %d steps not verified\n", u[0], q[0], len(m.ClosedPlaces), m.Degraded)
	// Output: 1.025 m/s after 0.51 m, 2 contacts, 0 steps not verified
}
