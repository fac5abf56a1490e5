package friction_test

import (
	"fmt"

	"hilrig/engine/friction"
)

// A shaft is turned slowly from rest: the bristles load up to the break-away level, then friction settles on the curve.
func Example() {
	law := friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5, Vd: 0.3}
	z := make([]float64, law.StateDim())
	for k := 1; k <= 500; k++ {
		f := law.Step(z, friction.Input{Dt: 1e-3, V: 0.05}) // rad/s
		if k == 1 || k == 10 || k == 500 {
			fmt.Printf("after %3d ms: %.2f mN·m\n", k, 1e3*f)
		}
	}
	fmt.Printf("steady curve: %.2f mN·m\n", 1e3*law.SteadyForce(0.05))
	// Output:
	// after   1 ms: 1.24 mN·m
	// after  10 ms: 5.39 mN·m
	// after 500 ms: 20.95 mN·m
	// steady curve: 20.95 mN·m
}
