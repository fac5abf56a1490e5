package ball_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	plant "hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
	"hilrig/identify/ball"
)

// The body of the source rolls on glass, 1.6e-4 N·m·s; cameras see four markers on it at 200 Hz. Friction is found from them.
func Example() {
	glass := plant.Paper()
	glass.Roll.Linear = 1.6e-4
	m, err := plant.New(glass)
	if err != nil {
		fmt.Println(err)
		return
	}
	tilt := (math.Pi - 0.6) / 2
	s := plant.State{Q: quat.Number{Real: math.Cos(tilt), Imag: math.Sin(tilt)}}
	m.Place(&s)

	markers := []r3.Vec{{X: 0.03}, {Y: 0.03}, {Z: -0.03}, {X: -0.02, Y: -0.02}}
	rec := &ball.Recording{}
	for k := range 400 {
		var points []r3.Vec
		for _, b := range markers {
			points = append(points, r3.Add(r3.Vec{X: s.X, Y: s.Y, Z: glass.Radius}, rotation.Rotate(s.Q, b)))
		}
		rec.Times = append(rec.Times, 0.005*float64(k))
		rec.Points, rec.Visible = append(rec.Points, points), append(rec.Visible, []bool{true, true, true, true})
		m.Step(0.005, &s)
	}

	r, err := ball.Fit(context.Background(), ball.Spec{Body: plant.Paper(), Markers: markers}, rec, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s = %.4g %s, accepted: %v, asks for T/N = %.2f\n", r.Parameters[0].Name, r.Parameters[0].Value, r.Parameters[0].Unit,
		r.Accepted, r.Slip.Ratio)
	// Output: mu_roll = 0.00016 N·m·s, accepted: true, asks for T/N = 0.10
}
