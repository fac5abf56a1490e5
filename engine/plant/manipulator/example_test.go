package manipulator_test

import (
	"context"
	"errors"
	"fmt"

	"hilrig/engine/beam"
	"hilrig/engine/plant/manipulator"
)

// The example of the source at half a radian per second: the tip sweeps over the beam until it leaves it.
func Example() {
	m, err := manipulator.New(manipulator.Paper(0.5))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := m.Run(context.Background(), manipulator.Options{Duration: 3, SampleInterval: 0.5})
	for _, s := range r.Samples {
		fmt.Printf("%.2f s: tip at %.3f m, presses with %5.2f N, the drive gives %.2f N·m\n", s.T, s.TipX, s.Lambda, s.Torque[0])
	}
	var left *beam.LeftError
	if errors.As(err, &left) {
		fmt.Printf("left the beam at %.4f s\n", left.T)
	}
	// Output:
	// 0.00 s: tip at 0.065 m, presses with  0.75 N, the drive gives 0.33 N·m
	// 0.50 s: tip at 0.115 m, presses with  2.19 N, the drive gives 1.28 N·m
	// 1.00 s: tip at 0.338 m, presses with  2.05 N, the drive gives 0.80 N·m
	// 1.50 s: tip at 0.720 m, presses with  0.55 N, the drive gives -0.28 N·m
	// 1.94 s: tip at 1.000 m, presses with  1.31 N, the drive gives -1.36 N·m
	// left the beam at 1.9374 s
}
