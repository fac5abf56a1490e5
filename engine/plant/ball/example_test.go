package ball_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"

	"hilrig/engine/plant/ball"
)

// The body of the source is turned by 0.9 rad from where it hangs and let go on paper: half a second later it swings back.
func Example() {
	m, err := ball.New(ball.Paper())
	if err != nil {
		fmt.Println(err)
		return
	}
	tilt := (math.Pi - 0.9) / 2
	s := ball.State{Q: quat.Number{Real: math.Cos(tilt), Imag: math.Sin(tilt)}}
	m.Place(&s)
	begin := m.Energy(&s)
	for range 500 {
		m.Step(1e-3, &s)
	}
	a := m.Accel(&s)
	fmt.Printf("ω = %.3f rad/s, %.0f %% of the energy lost, N = %.3f N\n", s.W.X, 100*(begin-m.Energy(&s))/(begin+0.054*9.81*0.0109),
		a.Force.Z)
	// Output: ω = -3.204 rad/s, 82 % of the energy lost, N = 0.536 N
}
