package plant_test

import (
	"fmt"
	"math"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// A small brushed motor is switched on to 5 V for a quarter of a second, then to nothing.
func Example() {
	d, err := plant.NewAxis(plant.AxisSpec{
		Motor:    plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5},
		Friction: &friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5, Vd: 0.3},
		Thermal:  plant.Thermal{Ambient: 20},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := d.NewState(), make([]float64, plant.Outputs)
	for range 2500 {
		d.Step(1e-4, x, []float64{5, 1}, y) // V, enabled
	}
	fmt.Printf("at 5 V: %.1f rad/s, %.2f A, friction %.1f mN·m\n", y[1], y[2], 1e3*y[3])
	for range 5000 {
		d.Step(1e-4, x, []float64{0, 0}, y) // open circuit
	}
	fmt.Printf("half a second after switching off: %.3f rad/s\n", math.Abs(y[1]))
	// Output:
	// at 5 V: 85.6 rad/s, 0.67 A, friction 27.8 mN·m
	// half a second after switching off: 0.000 rad/s
}
