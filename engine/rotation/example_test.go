package rotation_test

import (
	"fmt"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Three markers of a body, seen after a quarter turn about the vertical.
func ExampleAlign() {
	body := []r3.Vec{{X: 0.03}, {Y: 0.03}, {Z: 0.03}}
	world := []r3.Vec{{X: 1, Y: 0.03}, {X: 1 - 0.03}, {X: 1, Z: 0.03}}
	fit, err := rotation.Align(body, world, nil)
	turn := rotation.Log(fit.R)
	fmt.Printf("turn %.4f rad about z, origin at %.2f m, rms %.0f mm, %v\n", turn.Z, fit.P.X, 1e3*fit.Rms, err)
	// Output: turn 1.5708 rad about z, origin at 1.00 m, rms 0 mm, <nil>
}
