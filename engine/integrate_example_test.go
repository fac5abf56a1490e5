package engine_test

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// A pendulum of 1 m is let go at 90°: when does it first pass the bottom, and how fast?
func ExampleDormandPrince() {
	d := engine.NewDormandPrince(func(_ float64, x, dx []float64) {
		dx[0], dx[1] = x[1], -9.81*math.Sin(x[0])
	}, 2)
	d.Rtol, d.Atol = 1e-9, 1e-9
	d.Events = []engine.Event{{
		Func:     func(_ float64, x []float64) float64 { return x[0] },
		Terminal: true,
	}}
	d.Start(0, []float64{math.Pi / 2, 0})
	if err := d.Run(10, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("after %.4f s with %.4f rad/s\n", d.T, d.X[1])
	// √(2·9.81·1) by energy; a quarter of the period 4·K(sin 45°)/√9.81 by an elliptic integral
	// Output: after 0.5919 s with -4.4294 rad/s
}

// A stiff decay at a step 1000 times its time constant: Radau lands on the slow solution.
func ExampleNewRadauIIA5() {
	x := []float64{1}
	f := func(t float64, x, dx []float64) { dx[0] = -1e4 * (x[0] - math.Cos(t)) }
	end, status := engine.Repeat(engine.NewRadauIIA5(1), f, 0, 0.1, 10, x)
	fmt.Printf("%v at %.0f s: %.4f, cos 1 = %.4f\n", status, end, x[0], math.Cos(1))
	// Output: ok at 1 s: 0.5404, cos 1 = 0.5403
}
